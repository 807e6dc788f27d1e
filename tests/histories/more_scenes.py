"""Scenes of what a person edits and steers, and of what cannot be done any more."""

from adapters.runtime import review, watcher
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE, next_wake
from domain.journal import commands as do
from domain.log import canonical
from domain.log.timestamps import later
from domain.log.wire import SHARED, Words, payload, words
from domain.templates import commands as templates
from domain.wake.commands import DeferWake
from tests.histories.acting import (
    ESTIMATE,
    ITEMS,
    REPORT,
    Scene,
    answers,
    changed,
    pass_time,
    woken,
)
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply


def watchers() -> Services:
    """An agent that listens to more than its task: to categories, and to another agent's writes."""
    language = ("set_task_language", '{"languageCode":"de","confidence":"high"}')
    at = services(
        [reply(REPORT, language), reply(), reply(text="Seen."), reply(text="Seen again.")]
    )
    roof, first = task_with_agent(at, "Mend the roof")
    _, second = task_with_agent(at, "Buy tiles")
    at.append_agent(agents.WatchTokens(second, ("key:CATEGORY", f"id:{roof}"), hears_agents=True))
    at.append_agent(
        agents.WatchTokens(second, ("sub:note:transcript",), status="OPEN", category="no")
    )
    watcher.catch_up(at)
    woken(at, first)
    at.append_journal(do.AddCategory("Garden", "de"))
    watcher.catch_up(at)
    woken(at, second)
    for one in at.agent(second).subscriptions[1:]:
        at.append_agent(agents.UnwatchTokens(second, one.id))
    at.append_journal(do.AddCategory("House"))
    at.append_agent(
        agents.ConfigureAgent(second, AgentSettings(mode="interactive", is_automatic=False))
    )
    at.append_journal(do.EditTask(at.agent(second).task, title="Buy many tiles"))
    watcher.catch_up(at)
    return at


def hopeless() -> Services:
    """What was proposed cannot be done any more: redundant, out of scope, gone, stale, expired."""
    moved = ("update_task_due_date", '{"dueDate":"2027-02-12"}')
    title = ("set_task_title", '{"title":"Fix it all"}')
    at = services([reply(ITEMS, ESTIMATE, moved, title), reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    item = at.append_journal(do.AddItems(task, ("Old one",))).result.ids[0]
    change = {"items": [{"id": item, "isChecked": True}, {"id": "b" * 32, "isChecked": True}]}
    answers(
        at,
        [
            reply(ITEMS, ITEMS, ESTIMATE, moved, title),
            reply(("update_checklist_items", canonical.text(change)), REPORT),
            reply(),
        ],
    )
    changed(at, agent)
    (set_id,) = at.agent(agent).sets
    at.append_journal(do.AddItems(task, ("Buy nails",)))
    at.append_journal(do.EditTask(task, estimate=45))
    at.append_journal(do.EditItem(task, item, is_archived=True))
    for number in (1, 3, 6):
        review.confirm(at, set_id, number)
    at.append_journal(do.AddCategory("Secret"))
    at.append_journal(do.EditTask(task, category="Secret", due="2027-03-01"))
    review.confirm(at, set_id, 5)
    at.append_journal(do.EditTask(task, category="Inbox"))
    review.confirm(at, set_id, 4)
    review.confirm(at, set_id, 5)
    review.expire(at, set_id, "too old")
    return at


def every_edit() -> Services:
    """All that a person can do to tasks, catalog and agents, before and between two wakes."""
    at = services([reply(REPORT), reply(), reply(text="Much has changed.")])
    task, agent = task_with_agent(at)
    changed(at, agent)
    _edit_all(at, task)
    _steer_all(at, agent)
    at.append_journal(do.VoidOperation("v" * 32, task, "given up"), key="v" * 32)
    changed(at, agent)
    return at


def _edit_all(at: Services, task: str) -> None:
    said = words(task, "Buy nales")[0]
    texts = [payload(SHARED, one) for one in (b"nales", b"nails")]
    for one in ("garden", "house", "old"):
        at.append_journal(do.AddLabel(one))
    at.append_journal(do.AddLabel("scoped", ("Inbox",)))
    at.append_journal(do.AddCategory("Garden", "de"))
    at.append_journal(do.RenameCategory("Garden", "The garden"))
    at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
    at.append_journal(do.DeleteLabel("old"))
    at.append_journal(do.ChangeLabels(task, ("garden", "house"), suppress=("scoped",)))
    at.append_journal(do.ChangeLabels(task, remove=("house",), allow=("scoped",)))
    note, gone = (
        at.append_journal(do.AddNote(task, kind, said)).result.ids[0]
        for kind in ("transcript", "note")
    )
    at.append_journal(do.AddNote(task, "image_analysis", Words("A nail, bent.")))
    at.append_journal(do.EditNote(task, note, Words("Buy nails")))
    at.append_journal(do.RemoveNote(task, gone))
    first, second = at.append_journal(do.AddItems(task, ("Saw", "Nail"), "Tools")).result.ids
    at.append_journal(do.EditItem(task, first, title="A saw", is_checked=True))
    at.append_journal(do.EditItem(task, first, is_checked=False))
    at.append_journal(do.EditItem(task, second, is_archived=True))
    at.append_journal(do.EditItem(task, second, is_archived=False))
    at.append_journal(do.AddItems(task, ("Paint",)))
    at.append_journal(do.StartTimer(task))
    pass_time(at, 900)
    at.append_journal(do.StopTimer("looked at it"))
    start, end = (later(at.clock.now(), seconds=-back) for back in (7200, 3600))
    at.append_journal(do.LogTime(task, start, end, "thought about it"))
    edits: list[do.EditTask] = [
        do.EditTask(task, "Fix the old sink", Words("It drips."), "IN PROGRESS", priority="P1"),
        do.EditTask(task, estimate=90, due="2027-03-01", language="de"),
        do.EditTask(task, status="ON HOLD", reason="no tools"),
        do.EditTask(task, status="GROOMED", estimate=0, due="", language=""),
    ]
    for edit in edits:
        at.append_journal(edit)
    made = do.CreateTask("Paint the wall", "The garden", "BLOCKED", "it rains", "P0", 60,
                         "2027-04-01", "en", ("garden",))  # fmt: skip
    other = at.append_journal(made, key="my own key").result.ids[0]
    for phrase in ("blocks", "relates_to", "is_fixed_by", "follows_up_on"):
        at.append_journal(do.LinkTask(task, phrase, other))
    at.append_journal(do.UnlinkTask(task, "relates_to", other))
    at.append_journal(do.StartTimer(other))
    at.append_journal(do.DeleteTask(other))


def _steer_all(at: Services, agent: str) -> None:
    watcher.catch_up(at)
    for wanted in (
        AgentSettings(name="Plumber", goal="Done by spring", turn_max=3, model="tape:x"),
        AgentSettings(
            open_loops=("ask Kim", "buy nails"), preferences=(("tone", "short"), ("days", ""))
        ),
        AgentSettings(close_loops=("ask Kim",), preferences=(("tone", ""), ("size", "big"))),
        AgentSettings(mode="autonomous", is_automatic=False, goal=""),
        AgentSettings(mode="hybrid", is_automatic=True, model=""),
    ):
        at.append_agent(agents.ConfigureAgent(agent, wanted))
    with at.agents.reading() as world:
        queued = next_wake(world.load(WAKE_QUEUE, agent))
    if queued is not None:
        at.append_agent(
            DeferWake(agent, queued.run_key, later(at.clock.now(), seconds=60), "budget")
        )
    pass_time(at, 3600)


def template_versions() -> Services:
    """Directives in versions: assigned, changed, rolled back, taken away."""
    at = services([reply(REPORT), reply(), reply(text="Seen."), reply(text="Seen again."), reply()])
    task, agent = task_with_agent(at)
    general, report = Words("Be kind."), Words("In one line.")
    made = at.append_agent(templates.CreateTemplate("Kind", general, report, "rules")).result.ids[0]
    at.append_agent(templates.AssignTemplate(agent, made))
    changed(at, agent)
    at.append_agent(templates.AddVersion(made, Words("Be brief."), report, "user"))
    at.append_journal(do.EditTask(task, priority="P1"))
    changed(at, agent)
    at.append_agent(templates.RollBackTemplate(made, 1))
    at.append_agent(templates.ChangeTemplate(made, "Kinder"))
    at.append_journal(do.EditTask(task, priority="P2"))
    changed(at, agent)
    at.append_agent(templates.AssignTemplate(agent, ""))
    at.append_agent(templates.DeleteTemplate(made))
    return at


SCENES: tuple[Scene, ...] = (watchers, hopeless, template_versions, every_edit)
