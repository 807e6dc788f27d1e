"""Where a task comes from: why a field is as it is, and its whole history with undo."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import asdict

from adapters.actions import undoing
from adapters.actions.field_why import why_field
from adapters.actions.task_history import Wanted, history
from adapters.actions.telling_deeds import deed_document
from adapters.documents.task_past import HistoryEntry, TaskHistory, WhyLead
from adapters.text.happened import KINDS, WHO
from adapters.web.asking import FormRequest, Notice, Page, Undo
from adapters.web.site import Site, check_sure, page_size
from adapters.web.task_edits import task_of
from adapters.web.tasks import NOTES_SHOWN, known

FILTERS = ("kind", "who", "q")


def show_why(site: Site, asked: FormRequest) -> Page:
    """The page `/tasks/ID/why/FIELD`, whose answer stands below the field, too."""
    task = task_of(site, asked)
    found = why_field(site.home, task.id, asked.names["field"])
    notes = [one.at for one in task.notes[-NOTES_SHOWN:]]
    steps: list[dict[str, Any]] = [
        {**asdict(one), "href": _address(one.lead, notes) if one.lead else None}
        for one in found.steps
    ]
    document = {**asdict(found), "steps": steps}
    return Page("why.html", f"Why: {found.label}", document, {"task_title": task.title})


def _address(lead: WhyLead, notes: list[str]) -> str:
    """Where a step leads; `notes` are those that the task's page shows at once, by their times.

    >>> _address(WhyLead("proposal", "1.2", "t", "run"), [])
    '/wakes/run#item-1-2'
    """
    match lead.kind:
        case "proposal":
            return f"/wakes/{lead.run_key}#item-{lead.id.replace('.', '-')}"
        case "wake":
            return f"/wakes/{lead.id}"
        case "note":
            more = "" if lead.id in notes else "?full=1"
            return f"/tasks/{lead.task_id}{more}#note:{lead.id}"
        case "entry":
            return f"/tasks/{lead.task_id}/history?from={lead.id}#e{lead.id}"


def show_history(site: Site, asked: FormRequest) -> Page:
    """The page `/tasks/ID/history`, the newest first."""
    query, task = asked.query, known(site, asked.names["id"])
    wanted = Wanted(
        query.get("kind", ""),
        query.get("who", ""),
        query.get("q", ""),
        query.get("from", ""),
        page_size(asked),
    )
    found, deeds = history(site.home, task.id, wanted)
    shown = {one.undo for one in found.entries}
    does = {one.ref: deed_document(site.home, one).does for one in deeds if one.ref in shown}
    older = asked.with_query(**{"from": found.next}) if found.next else ""
    return Page(
        "task_history.html",
        f"History of {task.title}",
        {**asdict(found), "next": older or None},
        {
            "rows": together(found.entries),
            "does": {ref: "; ".join(lines) for ref, lines in does.items()},
            "spread": {one.ref: len(one.tasks) for one in deeds},
            "kinds": KINDS,
            "who": WHO,
            "filters": {name: query.get(name, "") for name in FILTERS},
            "older": older,
            "newest": asked.with_query(**{"from": ""}) if wanted.since else "",
            "is_cut": _is_cut(found, wanted),
        },
    )


def together(entries: Sequence[HistoryEntry]) -> list[list[HistoryEntry]]:
    """The entries, those that one import made at once together, the oldest of them first."""

    def once(one: HistoryEntry) -> str:
        return one.entry.rpartition(".")[0] if one.who == "file" else one.entry

    return [list(made)[::-1] for _, made in groupby(entries, once)]


def _is_cut(found: TaskHistory, wanted: Wanted) -> bool:
    """Whether older entries were not looked at, though there was room for them."""
    return found.next is not None and len(found.entries) < wanted.limit


def undo(site: Site, asked: FormRequest) -> Notice:
    """Take a deed of the history back; `wakelog undo REF` does the same."""
    task = known(site, asked.names["id"])
    if "many" in asked.form:
        check_sure(asked, "undoing it in other tasks, too,")
    found = undoing.undo(site.home, asked.needed("deed"), asked.key)
    again = Undo("do it again", found.redo) if found.redo else None
    return Notice(f"Undone, in “{task.title}”.", undo=again)
