"""Scenes of agents' lives: every change of life in every state of a wake, every mode and reason,
every setting at its limit and beyond it.
"""

from itertools import pairwise

from msgspec.structs import replace

from adapters.home.settings import AgentsSettings, Settings
from adapters.runtime import review, timers, watcher
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent import deciders
from domain.agent.agent import TURN_MAX_LIMIT
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append.causes import Replied
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.log.timestamps import later
from domain.log.wire import INLINE_MAX_BYTES, SHARED, Words, payload
from domain.ports import ModelFault
from domain.wake.commands import RetakeWake
from domain.wake.wake import ModelAnswered, ModelFailed
from tests.histories.acting import (
    ESTIMATE,
    NOBODY,
    REPORT,
    Scene,
    answers,
    asked,
    begun,
    pass_time,
    refused,
    told,
    twice,
    woken,
)
from tests.histories.tool_scenes import call, wake
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

WAIT = ModelFault("overloaded", "503", of_provider=True)
STATES = ("queued", "idle", "waiting", "answered", "failed", "deferred", "retaken")
LANGUAGE = ("set_task_language", '{"languageCode":"de","confidence":"medium"}')


def ways_of_life() -> Services:
    """Paused and destroyed in every state of a wake, resumed and deleted; each of it twice."""
    at = services()
    life = agents.PauseAgent, agents.ResumeAgent, agents.DestroyAgent, agents.DeleteAgent
    told(at, do.CreateTask("First"))
    refused(at, "unknown_agent", *(one(NOBODY) for one in life))
    for state in STATES:
        for ends in (False, True):
            _, agent = task_with_agent(at, f"{state} {ends}")
            run_key = _brought(at, agent, state)
            refused(at, "not_destroyed", agents.DeleteAgent(agent))
            twice(at, agents.DestroyAgent(agent) if ends else agents.PauseAgent(agent))
            _goes_on(at, run_key, state)
            _afterwards(at, agent, ends=ends)
    return at


def _brought(at: Services, agent: str, state: str) -> str:
    """An agent's first wake, brought into a state; its run key."""
    run_key = queued_key(at, agent)
    if state == "queued":
        return run_key
    answers(at, [WAIT] if state in ("waiting", "deferred") else [reply(REPORT), reply()])
    if state in ("idle", "waiting", "deferred"):
        return woken(at, agent)
    captured = begun(at, agent, run_key)
    told(at, captured, key=f"begun {run_key}")
    return run_key


def _goes_on(at: Services, run_key: str, state: str) -> None:
    """What comes of a running wake whose agent may not wake any more."""
    if state == "answered":
        raw = payload(SHARED, b"an answer")
        at.append_reply(Replied("wake", run_key, ModelAnswered(1, 1, raw.id)), [raw])
    elif state == "failed":
        at.append_reply(Replied("wake", run_key, ModelFailed(1, 1, "blocked", "unsafe")))
    elif state in ("retaken", "deferred"):
        told(at, RetakeWake(run_key), key=f"retaken {run_key}")


def _afterwards(at: Services, agent: str, *, ends: bool) -> None:
    request = at.request(agent)
    if not ends:
        refused(at, "agent_dormant", request)
        twice(at, agents.ResumeAgent(agent, is_enabled=True))
        answers(at, [reply(REPORT), reply()])
        woken(at, agent)
        return
    refused(at, "unknown_agent", request, agents.PauseAgent(agent), agents.ResumeAgent(agent))
    configure = agents.ConfigureAgent(agent, AgentSettings(goal="x"))
    refused(at, "unknown_agent", configure)
    told(at, agents.DeleteAgent(agent))
    refused(at, "unknown_agent", agents.DeleteAgent(agent), configure)


def modes_and_reasons() -> Services:
    """Every mode meets every reason; automation and the master switch go off; a wake that was
    queued may not begin any more."""
    at = services()
    found = {
        mode: task_with_agent(at, mode, mode) for mode in ("autonomous", "interactive", "hybrid")
    }
    for name, is_automatic in (("off", False), ("on", True)):
        for mode, (task, agent) in found.items():
            twice(at, agents.ConfigureAgent(agent, AgentSettings(is_automatic=is_automatic)))
            _every_reason(at, task, agent, mode, f"{name} {mode}")
    off = Settings(agents=AgentsSettings(enabled=False))
    for mode, (task, agent) in found.items():
        told(at, do.EditTask(task, title=f"Queued {mode}"))
        watcher.catch_up(at)
        at.settings, on = off, at.settings
        told(at, do.EditTask(task, title=f"Off {mode}"))
        watcher.catch_up(at)
        request = agents.RequestWake(agent, "manual"), agents.RequestWake(agent, "user", "s", 9)
        refused(at, "switched_off", *request)
        pass_time(at, 4000)
        timers.fire(at, [agent])
        if key := queued_key(at, agent):
            begun(at, agent, key)
        at.settings = on
    _may_not_begin(at, *found["hybrid"])
    return at


def _every_reason(at: Services, task: str, agent: str, mode: str, name: str) -> None:
    told(at, timers.timer_command(agent, "every hour", "UTC", at.clock.now()))
    told(at, do.EditTask(task, title=f"Told {name}"))
    watcher.catch_up(at)
    pass_time(at, 4000)
    timers.fire(at, [agent])
    twice(at, at.request(agent))
    answers(at, [reply(REPORT), reply()] * 3)
    woken(at, agent)
    if mode == "autonomous":
        question = at.request(agent, "user", name, 1)
        refused(at, "invalid_value", question)
    else:
        asked(at, agent, "How is it?", name, 1)
        repeated = at.request(agent, "user", name, 1)
        told(at, repeated, key=f"asked again {name}")
    told(at, agents.PauseAgent(agent))
    told(at, agents.ResumeAgent(agent))
    told(at, agents.PauseAgent(agent))
    told(at, agents.ResumeAgent(agent, is_enabled=True))
    if queued_key(at, agent):
        woken(at, agent)


def _may_not_begin(at: Services, task: str, agent: str) -> None:
    """A change is queued; then the mode or the automation is another one when it is due."""
    for nth, (wanted, back) in enumerate(
        (
            (AgentSettings(mode="interactive"), AgentSettings(mode="hybrid")),
            (AgentSettings(is_automatic=False), AgentSettings(is_automatic=True)),
        )
    ):
        for is_now in (False, True):
            told(at, do.EditTask(task, title=f"Changed {nth} {is_now}"))
            watcher.catch_up(at)
            told(at, agents.ConfigureAgent(agent, wanted))
            pass_time(at, 130)
            begun(at, agent, queued_key(at, agent), is_now=is_now)
            with at.agents.reading() as world:
                running = world.load(WAKE_QUEUE, agent).running
            if running:
                raw = payload(task, b"enough")
                at.append_reply(Replied("wake", running, ModelAnswered(1, 1, raw.id)), [raw])
            told(at, agents.ConfigureAgent(agent, back))


def hearsay() -> Services:
    """Agents that hear each other's writes, one after the other, until there were too many."""
    at = services()
    known = [task_with_agent(at, f"Task {nth}") for nth in range(6)]
    for _, agent in known:
        answers(at, [reply(REPORT), reply()])
        woken(at, agent)
    for (task, _), (_, agent) in pairwise(known):
        twice(at, agents.WatchTokens(agent, (f"id:{task}",), hears_agents=True))
    (first, one), (_, deaf) = known[0], known[-1]
    told(at, agents.WatchTokens(deaf, (f"id:{first}", "key:NOTE")))
    told(at, at.request(one))
    for _, agent in known:
        if queued_key(at, agent):
            answers(at, [reply(LANGUAGE), reply(REPORT), reply()])
            woken(at, agent)
        watcher.catch_up(at)
    told(at, do.AddNote(known[0][0], "note", Words("A person's note")))
    watcher.catch_up(at)
    woken(at, deaf)
    return at


def settings_of_agents() -> Services:
    """Every setting, slot, subscription and timer at its limit, beyond it, twice, and undone."""
    at = services()
    task, agent = task_with_agent(at)
    _named(at, agent)
    _slots(at, agent)
    _subscriptions(at, task, agent)
    _timers(at, agent)
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    twice(at, agents.DestroyAgent(agent))
    told(at, agents.DeleteAgent(agent))
    return at


def _configured(at: Services, agent: str, *wanted: AgentSettings) -> None:
    for one in wanted:
        twice(at, agents.ConfigureAgent(agent, one))


def _wrong(at: Services, agent: str, *wanted: AgentSettings) -> None:
    refused(at, "invalid_value", *(agents.ConfigureAgent(agent, one) for one in wanted))


def _named(at: Services, agent: str) -> None:
    name, many = (
        "n" * deciders.NAME_MAX,
        tuple(f"c{nth:02}" for nth in range(deciders.CATEGORIES_MAX)),
    )
    _configured(
        at,
        agent,
        AgentSettings(name=f" {name} "),
        AgentSettings(name=" Plumber "),
        AgentSettings(turn_max=1),
    )
    _wrong(
        at,
        agent,
        AgentSettings(name=name + "n"),
        AgentSettings(name=" "),
        AgentSettings(mode="loud"),
    )
    _configured(
        at,
        agent,
        AgentSettings(turn_max=TURN_MAX_LIMIT),
        AgentSettings(turn_max=5),
        AgentSettings(mode="hybrid"),
    )
    _wrong(at, agent, AgentSettings(turn_max=0), AgentSettings(turn_max=TURN_MAX_LIMIT + 1))
    with_inbox = (*many[1:], at.agent(agent).categories[0])
    _configured(
        at,
        agent,
        AgentSettings(categories=(*with_inbox, *with_inbox)),
        AgentSettings(mode="autonomous"),
    )
    _wrong(at, agent, AgentSettings(categories=()), AgentSettings(categories=("", "a")))
    _wrong(at, agent, AgentSettings(categories=(*many, "one more")))
    longest = f"gemini:{'m' * 100}", f"tape:{'t' * 200}"
    for model in ("rules", "gemini", "gemini:a.b_c/d-9", *longest, ""):
        _configured(at, agent, AgentSettings(model=model))
    wrong = (f"{longest[0]}m", f"{longest[1]}t", "gemini:", "gemini:-a", "tape:", "tape:\n", "gpt")
    _wrong(at, agent, *(AgentSettings(model=model) for model in (*wrong, "xrules", "rulesx")))
    other = told(at, do.CreateTask("Other"))[0]
    n = at.journal.tail().n

    made = agents.CreateAgent(other, "Other", "c", n, "hybrid")
    refused(at, "out_of_scope", replace(made, category=""))
    refused(at, "unknown_template", replace(made, template=NOBODY))
    refused(at, "invalid_value", replace(made, model="gpt"), replace(made, name=name + "n"))
    refused(at, "invalid_value", replace(made, turn_max=TURN_MAX_LIMIT + 1))
    told(at, replace(made, name="Ann", model="rules", turn_max=7))
    refused(at, "agent_exists", replace(made, is_enabled=True))


def _slots(at: Services, agent: str) -> None:
    goal, loop = "g" * INLINE_MAX_BYTES, "l" * deciders.LOOP_MAX
    _configured(
        at,
        agent,
        AgentSettings(goal=f" \r\n{goal}\t"),
        AgentSettings(goal="Done"),
        AgentSettings(goal=" "),
    )
    _wrong(at, agent, AgentSettings(goal=goal + "g"), AgentSettings(open_loops=(loop + "l",)))
    many = tuple(f"loop {nth}" for nth in range(deciders.LOOPS_MAX - 1))
    _configured(
        at,
        agent,
        AgentSettings(open_loops=(*many, f" {loop} ")),
        AgentSettings(open_loops=many[2:4]),
    )
    _wrong(
        at, agent, AgentSettings(open_loops=("one more",)), AgentSettings(open_loops=("a", " a "))
    )
    _wrong(
        at,
        agent,
        AgentSettings(close_loops=("unknown",)),
        AgentSettings(close_loops=("loop 1", "loop  1")),
    )
    _wrong(at, agent, AgentSettings(open_loops=("loop 1",), close_loops=("loop 1",)))
    _wrong(at, agent, AgentSettings(open_loops=("a", "b"), close_loops=("loop 1",)))
    change = AgentSettings(open_loops=("a", "b"), close_loops=(" loop  1", "loop 0"))
    told(at, agents.ConfigureAgent(agent, change))
    name, value = "p" * deciders.PREFERENCE_NAME_MAX, "v" * deciders.PREFERENCE_MAX
    some = tuple((f"p{nth:02}", "x") for nth in range(deciders.PREFERENCES_MAX - 1))
    _configured(at, agent, AgentSettings(preferences=(*some, (f" {name} ", f" {value} "))))
    for wrong in ((name + "p", "x"), (name, value + "v"), ("one more", "x"), ("", "x")):
        _wrong(at, agent, AgentSettings(preferences=(wrong,)))
    _wrong(at, agent, AgentSettings(preferences=(("p00", "x"), (" p00", "y"))))
    _configured(at, agent, AgentSettings(preferences=(("p00", " "), ("p01", "y"), ("nothing", ""))))
    told(at, agents.ConfigureAgent(agent, AgentSettings(preferences=(("p00", "again"),))))
    _wrong(at, agent, AgentSettings(preferences=(("one more", "x"),)))
    told(
        at,
        agents.ConfigureAgent(agent, AgentSettings(preferences=(("p02", ""), ("one more", "x")))),
    )


KEYS = "TASK CHECKLIST CHECKLIST_ITEM NOTE TIME_ENTRY LINK CATEGORY LABEL".split()
"""Those that there were when the scene was recorded."""


def _subscriptions(at: Services, task: str, agent: str) -> None:
    own = at.agent(agent).subscriptions[0].id
    forms = (*(f"key:{name}" for name in KEYS), "sub:note:transcript", f"id:{task}")
    many = tuple(f"sub:task:a{nth}" for nth in range(deciders.TOKENS_MAX - len(forms)))
    twice(at, agents.WatchTokens(agent, (*forms, *many, *forms)))
    for wrong in ((), (*forms, *many, "sub:task:b"), ("key:CAR",), ("id:1",), ("sub:note:",)):
        refused(at, "invalid_value", agents.WatchTokens(agent, wrong))
    for wrong_one in (
        "sub:note:9a",
        f"sub:note:{'a' * 41}",
        "xkey:TASK",
        "key:TASKS",
        "id:" + "A" * 32,
    ):
        refused(at, "invalid_value", agents.WatchTokens(agent, (wrong_one,)))
    twice(at, agents.WatchTokens(agent, (f"sub:note:{'a' * 40}",), category="chore", status="OPEN"))
    refused(at, "invalid_value", agents.WatchTokens(agent, forms, status="ASLEEP"))
    refused(at, "invalid_value", agents.UnwatchTokens(agent, own))
    token = ("key:NOTE",)
    left = deciders.SUBSCRIPTIONS_MAX - len(at.agent(agent).subscriptions)
    for nth in range(left):
        told(at, agents.WatchTokens(agent, token, category=f"c{nth}"))
    refused(at, "invalid_value", agents.WatchTokens(agent, token, category="one more"))
    for flags in ((True, False), (False, True), (False, False)):
        twice(at, agents.WatchTokens(agent, token, "c0", "", *flags))
    ids = [one.id for one in at.agent(agent).subscriptions[1:]]
    refused(at, "invalid_value", agents.UnwatchTokens(agent, ""), agents.UnwatchTokens(agent, "1"))
    shared = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    refused(at, "ambiguous", agents.UnwatchTokens(agent, shared))
    told(at, agents.UnwatchTokens(agent, ids[0])), told(at, agents.UnwatchTokens(agent, ids[1][:9]))


def _timers(at: Services, agent: str) -> None:
    soon, zone, long = later(at.clock.now(), seconds=60), "Etc/GMT-14", "s" * deciders.SCHEDULE_MAX
    wrong_zones = ("", "1UTC", "Europe Berlin", "Z" * 65)
    for wrong in (
        *(agents.SetTimer(agent, "every hour", one, soon) for one in wrong_zones),
        agents.SetTimer(agent, long + "s", zone, soon),
        agents.SetTimer(agent, " ", zone, soon),
        *(agents.SetTimer(agent, "every hour", zone, one) for one in ("", soon[:-1], "soon")),
    ):
        refused(at, "invalid_value", wrong)
    many = (
        agents.SetTimer(agent, f"every {n}", zone, soon) for n in range(deciders.TIMERS_MAX - 1)
    )
    longest = agents.SetTimer(agent, long, "Z" * 64, soon)
    ids = [twice(at, longest), *(told(at, one)[0] for one in many)]
    refused(at, "invalid_value", agents.SetTimer(agent, "one more", zone, soon))
    told(at, agents.SetTimer(agent, long, "Z" * 64, later(soon, seconds=9)), key="the same timer")
    ticks = tuple(later(soon, seconds=60 * nth) for nth in range(deciders.TICKS_MAX + 1))
    after = later(ticks[-1], seconds=1)
    refused(at, "invalid_value", agents.TickTimer(agent, ids[0], ticks, ticks[-1]))
    twice(at, agents.TickTimer(agent, ids[0], ticks[::-1], after, is_enabled=True))
    twice(at, agents.TickTimer(agent, ids[1], (soon, soon, *ticks[1:-1]), after, is_enabled=True))
    twice(at, agents.TickTimer(agent, ids[2], (later(soon, seconds=-1), soon), "", is_enabled=True))
    for one in ids[3:8]:
        told(at, agents.TickTimer(agent, one, (soon,), after, is_enabled=True))
    told(at, agents.TickTimer(agent, NOBODY, ticks, after), key="no such timer")
    refused(at, "invalid_value", agents.RemoveTimer(agent, ids[2]), agents.RemoveTimer(agent, ""))
    told(at, agents.RemoveTimer(agent, ids[1])), told(at, agents.RemoveTimer(agent, ids[3][:12]))


def second_generation() -> Services:
    """A task's second agent, after its first one was destroyed: what that one proposed is taken,
    and a neighbour sees who is there now."""
    at = services()
    task, first = task_with_agent(at)
    next_to, neighbour = task_with_agent(at, "Next door")
    told(at, do.LinkTask(next_to, "blocks", task))
    answers(at, [reply(ESTIMATE), reply(REPORT), reply()])
    made = set_id(woken(at, first))
    told(at, agents.DestroyAgent(first))
    for generation in (2, 3):
        n = at.journal.tail().n
        category = at.agent(first).categories[0]
        name = f"Generation {generation}"
        create = agents.CreateAgent(task, name, category, n, "hybrid", is_enabled=True)
        agent = told(at, create)[0]
        if generation == 2:
            review.confirm(at, made, 1)
        report = call("update_report", content=name, tldr=name, oneLiner=name)
        wake(at, agent, [report])
        wake(at, neighbour, [])
        told(at, agents.DestroyAgent(agent))
        if generation == 3:
            told(at, agents.DeleteAgent(agent))
    wake(at, neighbour, [])
    return at


SCENES: tuple[Scene, ...] = (
    ways_of_life,
    second_generation,
    modes_and_reasons,
    hearsay,
    settings_of_agents,
)
