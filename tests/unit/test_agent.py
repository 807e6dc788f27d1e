"""An agent's life, settings, loops, subscriptions and timers, and which changes concern it."""

from collections.abc import Callable
from functools import partial

import pytest

from adapters.runtime.services import Services
from domain.agent import agent as a
from domain.agent import deciders
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import (
    LOOPS_MAX,
    OWN_LOOPS_MAX,
    AgentSettings,
    agent_id,
    configure,
    create,
    delete,
    destroy,
    pause,
    remove_timer,
    resume,
    set_timer,
    tick,
    unwatch,
    update_loops,
    watch,
)
from domain.agent.subscriptions import (
    SUBSCRIBERS,
    is_token,
)
from domain.errors import REFUSAL_CODES, Refused
from domain.log.keys import key
from domain.wake.wake import ToolReturned
from tests.support.agents import AGENT_ID, BUILT_IN, START, TASK, after, agent_of, born, row
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import divergences, one_agent, queued_key
from wakelog.testing import calls as reply

DESTROYED, DELETED = a.AgentDestroyed(), a.AgentDeleted()


def refusal(decide: Callable[[], object]) -> str:
    """The code of a refusal, which is one of the list."""
    with pytest.raises(Refused) as refused:
        decide()
    assert refused.value.code in REFUSAL_CODES
    assert refused.value.instead or refused.value.remedy
    return refused.value.code


# ------------------------------------------------------------------------------------- lifecycle


def test_two_replicas_make_the_same_agent_of_a_task() -> None:
    assert agent_id("task_agent", "t1", 1) == key("agent", "task_agent", "t1", "1")
    assert agent_id("task_agent", "t1", 2) != agent_id("task_agent", "t1", 1)


def test_a_new_agent_is_active_and_hears_of_its_task() -> None:
    facts = create(
        a.Agent(AGENT_ID), task=TASK, generation=1, name=" The  report ", categories=("c2", "c1")
    )
    assert facts == [
        a.AgentCreated("task_agent", TASK, 1, "The report", "autonomous", ("c1", "c2")),
        a.AgentActivated(),
        a.Subscribed(key("subscription", AGENT_ID, "task"), (f"id:{TASK}",)),
    ]
    agent = agent_of(facts)
    assert (agent.lifecycle, agent.created_at, agent.turn_max) == ("active", START, 5)
    assert agent.subscriptions[0].tokens == (f"id:{TASK}",)


def test_an_agent_is_made_once() -> None:
    for agent in (born(), born("hybrid", DESTROYED), born("hybrid", DESTROYED, DELETED)):
        code = refusal(partial(create, agent, task=TASK, generation=1, name="A", categories=("c",)))
        assert code == "agent_exists"


def test_destroyed_is_final_and_takes_the_timers_along() -> None:
    agent = born("hybrid", a.TimerSet("timer-1", "every day 07:00", "UTC", after(60)))
    facts = destroy(agent)
    assert facts == [a.TimerRemoved("timer-1"), a.AgentDestroyed()]
    gone = agent_of([*facts, a.AgentActivated(), a.AgentPaused()], agent)
    assert (gone.lifecycle, gone.timers) == ("destroyed", ())
    assert destroy(gone) == []


def test_delete_needs_destroyed_and_ends_the_subscriptions() -> None:
    assert refusal(lambda: delete(born())) == "not_destroyed"
    gone = born("hybrid", DESTROYED)
    facts = delete(gone)
    assert facts == [a.Unsubscribed(BUILT_IN), a.AgentDeleted()]
    assert delete(agent_of(facts, gone)) == []


@pytest.mark.parametrize(
    "agent",
    [a.Agent(AGENT_ID), born("hybrid", DESTROYED), born("hybrid", DESTROYED, DELETED)],
    ids=["unknown", "destroyed", "deleted"],
)
@pytest.mark.parametrize(
    "decide",
    [
        pause,
        resume,
        lambda agent: configure(agent, AgentSettings(name="B")),
        lambda agent: watch(agent, ["key:TASK"]),
        lambda agent: unwatch(agent, BUILT_IN),
        lambda agent: set_timer(agent, "t", "every day 07:00", "UTC", START),
        lambda agent: remove_timer(agent, "t"),
    ],
)
def test_nothing_is_done_with_an_agent_that_is_not(
    decide: Callable[[a.Agent], list[a.AgentFact]], agent: a.Agent
) -> None:
    assert refusal(lambda: decide(agent)) == "unknown_agent"


def test_there_is_nothing_to_destroy_or_delete_of_an_unknown_agent() -> None:
    assert refusal(lambda: destroy(a.Agent(AGENT_ID))) == "unknown_agent"
    assert refusal(lambda: delete(a.Agent(AGENT_ID))) == "unknown_agent"
    with pytest.raises(Refused, match="there is no agent"):
        destroy(born("hybrid", DESTROYED, DELETED))
    with pytest.raises(Refused, match="is destroyed"):
        pause(born("hybrid", DESTROYED))


# ----------------------------------------------------------------------------- settings and slots


def test_an_older_version_of_a_slot_does_not_win() -> None:
    facts = [a.GoalSet(3, "new"), a.GoalSet(2, "old"), a.PreferenceSet(2, "k", "new")]
    agent = born("hybrid", *facts, a.PreferenceSet(1, "k", "old"), a.LoopOpened(4, "x"))
    agent = agent_of([a.LoopClosed(2, "x")], agent)
    assert (agent.goal.value, agent.preferences["k"].value) == ("new", "new")
    assert (agent.loops, agent.loops_version) == ((), 4)


@pytest.mark.parametrize(
    "wanted",
    [
        AgentSettings(name=" "),
        AgentSettings(name="x" * 201),
        AgentSettings(mode="lazy"),
        AgentSettings(categories=()),
        AgentSettings(categories=("",)),
        AgentSettings(categories=tuple(map(str, range(deciders.CATEGORIES_MAX + 1)))),
        AgentSettings(model="gpt"),
        AgentSettings(model="gemini:"),
        AgentSettings(turn_max=0),
        AgentSettings(turn_max=21),
        AgentSettings(goal="ü" * 513),
        AgentSettings(open_loops=("a",), close_loops=("a",)),
        AgentSettings(open_loops=("a", " a")),
        AgentSettings(open_loops=("",)),
        AgentSettings(close_loops=("never opened",)),
        AgentSettings(open_loops=tuple(map(str, range(deciders.LOOPS_MAX + 1)))),
        AgentSettings(preferences=(("", "x"),)),
        AgentSettings(preferences=(("k", "x"), ("k ", "y"))),
        AgentSettings(preferences=(("k", "x" * 201),)),
        AgentSettings(
            preferences=tuple((str(n), "x") for n in range(deciders.PREFERENCES_MAX + 1))
        ),
    ],
)
def test_what_cannot_be_set_is_refused(wanted: AgentSettings) -> None:
    assert refusal(lambda: configure(born(), wanted)) == "invalid_value"


# -------------------------------------------------------------------------- subscriptions, timers


@pytest.mark.parametrize(
    "token",
    ["key:TASK", "key:CHECKLIST_ITEM", "sub:note:transcript", "sub:note:a1_b", f"id:{TASK}"],
)
def test_a_well_formed_token_is_watched(token: str) -> None:
    assert is_token(token)
    assert isinstance(watch(born(), [token])[0], a.Subscribed)


@pytest.mark.parametrize(
    "token",
    [
        *"|key:|key:CAR|key:task|TASK|sub:note|sub:car:x|sub:note:|sub:note:X|key:TASK\n".split(
            "|"
        ),
        *["id:" + "a" * 31, f"id:{TASK}x", f" id:{TASK}", f"id:{TASK.upper()}", TASK],
    ],
)
def test_a_malformed_token_is_refused(token: str) -> None:
    assert not is_token(token)
    assert refusal(lambda: watch(born(), ["key:TASK", token])) == "invalid_value"


def test_timers_are_bounded() -> None:
    timers = [a.TimerSet(str(n), "every day", "UTC", START) for n in range(deciders.TIMERS_MAX)]
    agent = born("hybrid", *timers)
    assert refusal(lambda: set_timer(agent, "x", "every day", "UTC", START)) == "invalid_value"
    assert len(set_timer(agent, "1", "every week", "UTC", START)) == 1


def test_a_very_long_downtime_names_the_first_tick_and_the_newest() -> None:
    agent = born("hybrid", a.TimerSet("t", "* * * * *", "UTC", after(0)))
    ticks = [after(60 * nth) for nth in range(500)]
    _, trigger = tick(agent, "t", ticks, after(60 * 500))
    assert trigger is not None
    assert trigger.ticks == (ticks[0], *ticks[-99:])


# ------------------------------------------------------------------------ what its facts make of it


def test_failures_count_in_a_row_and_only_wakes_that_ran_count() -> None:
    agent = born(
        "hybrid",
        a.AgentSettled("r1", "failed", "internal", 3),
        a.AgentSettled("r2", "failed", "internal", 5),
        a.AgentSettled("r3", "skipped", "dormant"),
        a.AgentSettled("r4", "superseded"),
    )
    assert (agent.wakes, agent.failures, agent.position) == (2, 2, 5)
    assert (agent.last_run, agent.last_outcome, agent.last_code) == ("r3", "skipped", "dormant")
    agent = agent_of([a.AgentSettled("r5", "completed", "", 9, is_fresh=True)], agent)
    assert (agent.wakes, agent.failures, agent.position, agent.fresh_position) == (3, 0, 9, 9)


# ------------------------------------------------------------------------- subscriptions that match


def test_subscribers_come_and_go_once() -> None:
    subs = SUBSCRIBERS.initial("key:TASK")
    assert SUBSCRIBERS.evolve(subs, row(a.SubscriberRemoved("a", "s"))) == subs
    for fact in [
        a.SubscriberAdded("a", "s"),
        a.SubscriberAdded("a", "s"),
        a.SubscriberAdded("b", "s"),
    ]:
        subs = SUBSCRIBERS.evolve(subs, row(fact))
    assert subs.subscribers == (("a", "s"), ("b", "s"))
    subs = SUBSCRIBERS.evolve(subs, row(a.SubscriberRemoved("a", "s")))
    assert subs.subscribers == (("b", "s"),)
    assert SUBSCRIBERS.evolve(subs, row(a.AgentDestroyed())) == subs


# --------------------------------------------------------------------------------- loops of its own


def told(at: Services, agent: str, **wish: object) -> tuple[str, str]:
    """What a wish is answered with, and its code."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, reply(call("update_loops", **wish)), *ended())
    facts = (row.fact for row in at.agents.facts(f"wake:{run_key}@r1"))
    one = next(fact for fact in facts if isinstance(fact, ToolReturned))
    return one.code, one.message.text


def known(at: Services, agent: str) -> a.Agent:
    with at.agents.reading() as world:
        return world.load(a.AGENT, agent)


def test_an_agent_opens_loops_and_closes_its_own() -> None:
    at, _, agent = one_agent()
    assert told(at, agent, add=["Ask  Kim", "Await the seal"]) == ("", "2 loop(s) updated.")
    assert told(at, agent, close=["Ask Kim"], add=["Await the seal"]) == (
        "",
        '1 loop(s) updated.\nThe loop "Await the seal" is open already.',
    )
    now = known(at, agent)
    assert (now.loops, now.own_loops) == (("Await the seal",), ("Await the seal",))
    made = [row.fact for row in at.agents.facts(f"agent:{agent}@r1")]
    by = {one.by for one in made if isinstance(one, a.LoopOpened | a.LoopClosed)}
    assert by == {f"agent:{agent}"}
    assert divergences(at) == []


def test_an_agent_never_closes_what_the_person_keeps_open() -> None:
    at, _, agent = one_agent()
    at.append_agent(ConfigureAgent(agent, AgentSettings(open_loops=("Ask Kim",))))
    code, message = told(at, agent, close=["Ask Kim"])
    assert (code, message) == ("sovereignty", 'The person keeps the loop "Ask Kim" open.')
    assert known(at, agent).loops == ("Ask Kim",)
    assert told(at, agent, close=["Ask Ann"])[0] == "not_found"
    assert told(at, agent)[0] == "invalid_arguments"
    assert divergences(at) == []


def test_a_second_wish_of_one_turn_knows_of_the_first() -> None:
    at, _, agent = one_agent()
    wish = call("update_loops", add=["Ask Kim"])
    woken(at, agent, reply(wish, wish), *ended())
    assert known(at, agent).loops == ("Ask Kim",)


def test_an_agent_has_ten_loops_and_both_together_fifty() -> None:
    many = tuple(map(str, range(LOOPS_MAX - 1)))
    own = tuple(f"own {nth}" for nth in range(OWN_LOOPS_MAX))
    assert (
        update_loops(a.Agent("a", loops=own, own_loops=own), ["more"], []).refused[0][0] == "limit"
    )
    swapped = update_loops(a.Agent("a", loops=own, own_loops=own), ["more"], [own[0]])
    assert [type(one) for one in swapped.facts] == [a.LoopClosed, a.LoopOpened]
    assert [one.version for one in swapped.facts] == [1, 2]
    full = update_loops(a.Agent("a", loops=many), ["one", "two"], [])
    assert ([one.loop for one in full.facts], full.refused[0][0]) == (["one"], "limit")
