"""Scenes of what a person edits and steers, and of what cannot be done any more."""

from adapters.runtime import review, watcher
from adapters.runtime.desk import Desk
from domain import canonical
from domain.agent import commands as agents
from domain.agent.alertness import ALERT, next_wake
from domain.agent.identity import Wanted
from domain.journal import commands as do
from domain.moments import later
from domain.templates import commands as templates
from domain.wake.commands import DeferWake
from domain.wire import SHARED, Words, payload, words
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
from tests.support.desks import desk, reply, task_with_agent


def watchers() -> Desk:
    """An agent that listens to more than its task: to categories, and to another agent's writes."""
    language = ("set_task_language", '{"languageCode":"de","confidence":"high"}')
    at = desk([reply(REPORT, language), reply(), reply(text="Seen."), reply(text="Seen again.")])
    roof, first = task_with_agent(at, "Mend the roof")
    _, second = task_with_agent(at, "Buy tiles")
    at.note(agents.WatchTokens(second, ("key:CATEGORY", f"id:{roof}"), hears_agents=True))
    at.note(agents.WatchTokens(second, ("sub:note:transcript",), status="OPEN", category="no"))
    watcher.catch_up(at)
    woken(at, first)
    at.keep(do.AddCategory("Garden", "de"))
    watcher.catch_up(at)
    woken(at, second)
    for one in at.agent(second).subscriptions[1:]:
        at.note(agents.UnwatchTokens(second, one.id))
    at.keep(do.AddCategory("House"))
    at.note(agents.ConfigureAgent(second, Wanted(mode="interactive", is_automatic=False)))
    at.keep(do.EditTask(at.agent(second).task, title="Buy many tiles"))
    watcher.catch_up(at)
    return at


def hopeless() -> Desk:
    """What was proposed cannot be done any more: redundant, out of scope, gone, stale, expired."""
    moved = ("update_task_due_date", '{"dueDate":"2027-02-12"}')
    title = ("set_task_title", '{"title":"Fix it all"}')
    at = desk([reply(ITEMS, ESTIMATE, moved, title), reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    item = at.keep(do.AddItems(task, ("Old one",))).result.ids[0]
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
    at.keep(do.AddItems(task, ("Buy nails",)))
    at.keep(do.EditTask(task, estimate=45))
    at.keep(do.EditItem(task, item, is_archived=True))
    for number in (1, 3, 6):
        review.confirm(at, set_id, number)
    at.keep(do.AddCategory("Secret"))
    at.keep(do.EditTask(task, category="Secret", due="2027-03-01"))
    review.confirm(at, set_id, 5)
    at.keep(do.EditTask(task, category="Inbox"))
    review.confirm(at, set_id, 4)
    review.confirm(at, set_id, 5)
    review.expire(at, set_id, "too old")
    return at


def every_edit() -> Desk:
    """All that a person can do to tasks, catalog and agents, before and between two wakes."""
    at = desk([reply(REPORT), reply(), reply(text="Much has changed.")])
    task, agent = task_with_agent(at)
    changed(at, agent)
    _edit_all(at, task)
    _steer_all(at, agent)
    at.keep(do.VoidOperation("v" * 32, task, "given up"), key="v" * 32)
    changed(at, agent)
    return at


def _edit_all(at: Desk, task: str) -> None:
    said = words(task, "Buy nales")[0]
    texts = [payload(SHARED, one) for one in (b"nales", b"nails")]
    for one in ("garden", "house", "old"):
        at.keep(do.AddLabel(one))
    at.keep(do.AddLabel("scoped", ("Inbox",)))
    at.keep(do.AddCategory("Garden", "de"))
    at.keep(do.RenameCategory("Garden", "The garden"))
    at.keep(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
    at.keep(do.DeleteLabel("old"))
    at.keep(do.ChangeLabels(task, ("garden", "house"), suppress=("scoped",)))
    at.keep(do.ChangeLabels(task, remove=("house",), allow=("scoped",)))
    note, gone = (
        at.keep(do.AddNote(task, kind, said)).result.ids[0] for kind in ("transcript", "note")
    )
    at.keep(do.AddNote(task, "image_analysis", Words("A nail, bent.")))
    at.keep(do.EditNote(task, note, Words("Buy nails")))
    at.keep(do.RemoveNote(task, gone))
    first, second = at.keep(do.AddItems(task, ("Saw", "Nail"), "Tools")).result.ids
    at.keep(do.EditItem(task, first, title="A saw", is_checked=True))
    at.keep(do.EditItem(task, first, is_checked=False))
    at.keep(do.EditItem(task, second, is_archived=True))
    at.keep(do.EditItem(task, second, is_archived=False))
    at.keep(do.AddItems(task, ("Paint",)))
    at.keep(do.StartTimer(task))
    pass_time(at, 900)
    at.keep(do.StopTimer("looked at it"))
    start, end = (later(at.clock.now(), seconds=-back) for back in (7200, 3600))
    at.keep(do.LogTime(task, start, end, "thought about it"))
    edits: list[do.EditTask] = [
        do.EditTask(task, "Fix the old sink", Words("It drips."), "IN PROGRESS", priority="P1"),
        do.EditTask(task, estimate=90, due="2027-03-01", language="de"),
        do.EditTask(task, status="ON HOLD", reason="no tools"),
        do.EditTask(task, status="GROOMED", estimate=0, due="", language=""),
    ]
    for edit in edits:
        at.keep(edit)
    made = do.CreateTask("Paint the wall", "The garden", "BLOCKED", "it rains", "P0", 60,
                         "2027-04-01", "en", ("garden",))  # fmt: skip
    other = at.keep(made, key="my own key").result.ids[0]
    for phrase in ("blocks", "relates_to", "is_fixed_by", "follows_up_on"):
        at.keep(do.LinkTask(task, phrase, other))
    at.keep(do.UnlinkTask(task, "relates_to", other))
    at.keep(do.StartTimer(other))
    at.keep(do.DeleteTask(other))


def _steer_all(at: Desk, agent: str) -> None:
    watcher.catch_up(at)
    for wanted in (
        Wanted(name="Plumber", goal="Done by spring", turn_max=3, model="tape:x"),
        Wanted(open_loops=("ask Kim", "buy nails"), preferences=(("tone", "short"), ("days", ""))),
        Wanted(close_loops=("ask Kim",), preferences=(("tone", ""), ("size", "big"))),
        Wanted(mode="autonomous", is_automatic=False, goal=""),
        Wanted(mode="hybrid", is_automatic=True, model=""),
    ):
        at.note(agents.ConfigureAgent(agent, wanted))
    with at.agents.reading() as world:
        queued = next_wake(world.load(ALERT, agent))
    if queued is not None:
        at.note(DeferWake(agent, queued.run_key, later(at.clock.now(), seconds=60), "budget"))
    pass_time(at, 3600)


def template_versions() -> Desk:
    """Directives in versions: assigned, changed, rolled back, taken away."""
    at = desk([reply(REPORT), reply(), reply(text="Seen."), reply(text="Seen again."), reply()])
    task, agent = task_with_agent(at)
    general, report = Words("Be kind."), Words("In one line.")
    made = at.note(templates.CreateTemplate("Kind", general, report, "rules")).result.ids[0]
    at.note(templates.AssignTemplate(agent, made))
    changed(at, agent)
    at.note(templates.AddVersion(made, Words("Be brief."), report, "user"))
    at.keep(do.EditTask(task, priority="P1"))
    changed(at, agent)
    at.note(templates.RollBackTemplate(made, 1))
    at.note(templates.ChangeTemplate(made, "Kinder"))
    at.keep(do.EditTask(task, priority="P2"))
    changed(at, agent)
    at.note(templates.AssignTemplate(agent, ""))
    at.note(templates.DeleteTemplate(made))
    return at


SCENES: tuple[Scene, ...] = (watchers, hopeless, template_versions, every_edit)
