"""What changed in a task since the report that stands beside it, for both doors.

A confirmed change wakes nobody, so a report says nothing of it until its agent wakes for another
reason. What a wake itself set at once, before it reported, is in its report.
"""

from collections import Counter

from msgspec import Struct

from adapters.wiring import Home
from domain.journal import task as t
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import category_name, label_name
from domain.journal.fold import TASK
from domain.text import cut
from domain.world import MAIN
from projections import wakes
from projections.agents import AgentDocument
from projections.reports import ReportDocument

TITLE_MAX = 80


class ChangeSince(Struct, frozen=True):
    """`what` in words; `by` is ``you``, ``confirmed`` (it was this agent's proposal), ``import`` or
    ``another agent``; `at` is when it happened last, of `times`."""

    what: str
    by: str
    at: str
    times: int


def changes_since(home: Home, agent: AgentDocument, report: ReportDocument) -> list[ChangeSince]:
    """What its task's facts say since the agent's current report, each once, the oldest first."""
    own = f"agent:{agent.id}"
    wake = home.views.get(wakes.VIEW, report.run_key)
    of = wake.replica if wake else home.services.agents.replica
    seen = agent.agent.fresh_seen or {of: agent.agent.fresh_position}
    with home.services.journal.reading() as world:
        rows = [
            row
            for row in world.recorded("task", agent.task_id, agent.agent.fresh_position, seen)
            if getattr(row.fact, "by", "") != own or row.at > report.at
        ]
        if not rows:
            return []
        task, catalog = world.load(TASK, agent.task_id), world.load(CATALOG, MAIN)
    told = [(fact_told(row.fact, task, catalog), _by(row.fact, own), row.at) for row in rows]
    times = Counter((what, by) for what, by, _ in told)
    newest = {(what, by): at for what, by, at in told}
    return [ChangeSince(*key, at, times[key]) for key, at in newest.items()]


def _by(fact: object, own: str) -> str:
    by = str(getattr(fact, "by", ""))
    if by == own:
        return "confirmed"
    return {"agent": "another agent", "import": "import"}.get(by.partition(":")[0], "you")


def fact_told(fact: object, task: t.Task, catalog: Catalog) -> str:
    """What a fact of a task says, in a few words."""
    item = t.item_of(task, getattr(fact, "item", ""))
    title = f'"{cut(item.title, length_max=TITLE_MAX)}"' if item else "an item"
    label = label_name(catalog, getattr(fact, "label", ""))
    match fact:
        case t.TaskRetitled(title=new):
            return f'title: "{cut(new, length_max=TITLE_MAX)}"'
        case t.StatusSet(status=value) | t.PrioritySet(priority=value):
            return f"{'status' if isinstance(fact, t.StatusSet) else 'priority'}: {value}"
        case t.DueSet(due=value):
            return f"due: {value or 'no date any more'}"
        case t.EstimateSet(minutes=minutes):
            return f"estimate: {minutes} min" if minutes else "estimate: none any more"
        case t.LanguageSet(language=value):
            return f"language: {value or 'none any more'}"
        case t.CategorySet(category=category):
            return f"category: {category_name(catalog, category)}"
        case t.LabelAssigned():
            return f"label added: {label}"
        case t.LabelRemoved():
            return f"label removed: {label}"
        case t.ItemAdded():
            return f"item added: {title}"
        case t.ItemChecked():
            return f"item ticked: {title}"
        case t.ItemUnchecked():
            return f"item unticked: {title}"
        case _:
            return _plainly(fact, title)


_PLAINLY: dict[type[object], str] = {
    t.TaskCreated: "task made",
    t.TaskDescribed: "description changed",
    t.LabelSuppressed: "label not to be proposed",
    t.LabelAllowed: "label may be proposed again",
    t.ChecklistAdded: "checklist added",
    t.ItemRetitled: "item renamed",
    t.ItemArchived: "item archived",
    t.ItemRestored: "item brought back",
    t.NoteAdded: "note added",
    t.NoteEdited: "note edited",
    t.NoteRemoved: "note removed",
    t.TimeStarted: "timer started",
    t.TimeStopped: "timer stopped",
    t.TimeLogged: "time logged",
    t.TimeEdited: "time edited",
    t.TimeReopened: "timer runs on",
    t.TimeRemoved: "time removed",
    t.TaskRated: "rated",
    t.TaskLinked: "link added",
    t.TaskUnlinked: "link removed",
    t.TaskDeleted: "task deleted",
    t.TaskRestored: "task brought back",
    t.TaskImported: "imported again",
    t.DifferenceSettled: "conflict with the file settled",
    t.DeedUndone: "no longer said by the file",
}


def _plainly(fact: object, title: str) -> str:
    what = _PLAINLY[type(fact)]
    return f"{what}: {title}" if what.startswith("item ") else what
