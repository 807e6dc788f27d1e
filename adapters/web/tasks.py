"""The tasks: a list that is searched piece by piece, and a page for each."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from adapters.actions.likeness import Name, is_meant
from adapters.documents.agents import agent_line
from adapters.documents.tasks import TaskPage, catalog_of, task_page
from adapters.web import disputes
from adapters.web.asking import FormRequest, Page, made_from, missing
from adapters.web.inbox import OPEN_SHOWN, open_cards
from adapters.web.policy import consents_of, is_held
from adapters.web.reports import report_of
from adapters.web.site import SCAN_MAX, Site, page_size
from adapters.web.words import local
from domain.journal.catalog import Catalog
from domain.journal.document import LinkDetails, TaskLine, TimeDetails, task_line
from domain.journal.fields import FIELDS
from domain.journal.links import INVERSE, PHRASE_OF
from domain.journal.task import STATUSES, Task
from domain.timestamps import seconds_between
from projections import reports, tasks
from projections.agents import AgentDocument
from projections.tasks import TaskDocument

PHRASES = (*sorted({"relates_to", *PHRASE_OF}), *sorted(INVERSE))
CHUNK = 250
PARTS = tasks.MARKS["all"]
NOTES_SHOWN = 50  # the newest, of a page
ITEMS_SHOWN = 500
ITEM_SHOWN = 400  # characters of an item's title in its form
NOTE_EDITED = 50_000  # characters; a longer note is edited on the whole page
ENTRIES_SHOWN = 50
HISTORY_SHOWN = 50
FILTERS = ("status", "category", "agent", "q")


class TaskRow(TaskLine, frozen=True):
    """A task of the page `/tasks`, with what its living agent reports, if it has one. `overdue`: it
    is open, and its due date is over."""

    deleted: bool
    updated_at: str
    one_liner: str | None
    stale: bool | None
    run_status: str | None
    overdue: bool


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/tasks`: open ones, those that are over, deleted ones; each the newest first."""
    catalog, today = catalog_of(site.home), today_of(site)
    size = page_size(asked)
    rows: list[TaskRow] = []
    older, scanned = "", 0
    for place, one in _open_first(site, asked.query.get("before", "")):
        if len(rows) == size or scanned == SCAN_MAX:
            break
        older, scanned = place, scanned + 1
        is_wanted = _is_wanted(one, asked.query, today)
        agent = site.living_agent(one.id) if is_wanted else None
        if is_wanted and _has_wanted(agent, asked.query):
            rows.append(_row(site, one, agent, catalog))
    else:
        older = ""
    categories = [(one.id, one.name) for one in catalog.categories.values()]
    return Page(
        "tasks.html",
        "Tasks",
        {"tasks": rows, "next": asked.with_query(before=older) if older else None},
        {
            "categories": categories,
            "statuses": STATUSES,
            "filters": {name: asked.query.get(name, "") for name in FILTERS},
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if asked.query.get("before") else "",
            "scanned": scanned if len(rows) < size and older else 0,
        },
    )


def today_of(site: Site) -> str:
    """The day that it is at home."""
    return local(site.now, site.zone).date().isoformat()


def is_overdue(one: Task, today: str) -> bool:
    """Whether an open task should have been done by now."""
    return one.is_open and "" < one.due < today


def _open_first(site: Site, after: str) -> Iterator[tuple[str, TaskDocument]]:
    """The tasks of one mark after the other, each with the place that the list goes on behind."""
    name, _, before = after.rpartition(":")
    for mark in PARTS[PARTS.index(name) :] if name in PARTS else PARTS:
        while True:  # bounded by who takes them
            chunk = site.home.views.page(
                tasks.VIEW, mark=mark, before=before, newest_first=True, limit=CHUNK
            )
            yield from ((f"{mark}:{one.place}", one) for one in chunk)
            if len(chunk) < CHUNK:
                break
            before = chunk[-1].place
        before = ""


def _is_wanted(one: TaskDocument, query: Mapping[str, str], today: str) -> bool:
    status, words = query.get("status", ""), query.get("q", "")
    is_status = {
        "": not one.is_deleted,
        "open": one.is_open,
        "overdue": is_overdue(one.task, today),
        "deleted": one.is_deleted,
    }.get(status, one.status == status and not one.is_deleted)
    is_category = query.get("category", "") in ("", one.category)
    return (
        is_status
        and is_category
        and (not words.strip() or is_meant(words, Name(one.id, (one.title,))))
    )


def _has_wanted(agent: AgentDocument | None, query: Mapping[str, str]) -> bool:
    match query.get("agent", ""):
        case "yes":
            return agent is not None
        case "no":
            return agent is None
        case "stale":
            return agent is not None and agent.is_stale
        case _:
            return True


def _row(site: Site, one: TaskDocument, agent: AgentDocument | None, catalog: Catalog) -> TaskRow:
    found = (
        site.home.views.page(reports.VIEW, shelf=agent.id, newest_first=True, limit=1)
        if agent
        else []
    )
    return TaskRow(
        **asdict(task_line(one.task, catalog, agent.id if agent else "")),
        deleted=one.is_deleted,
        updated_at=one.updated_at,
        one_liner=found[0].one_liner if found else None,
        stale=agent.is_stale if agent else None,
        run_status=agent.run_status if agent else None,
        overdue=is_overdue(one.task, today_of(site)),
    )


# ------------------------------------------------------------------------------------------ one


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of a task: its report and proposals on top, then all that a person may edit."""
    page = task_page(site.home, known(site, asked.names["id"]).id)
    agent = site.living_agent(page.task.id)
    now, told = site.now, page.document()
    document = {
        **asdict(told),
        "deleted": page.task.is_deleted,
        "status_reason": page.task.status_reason or None,
        "created_at": page.task.created_at,
        "updated_at": page.task.updated_at,
        "agent": agent_line(agent, now) if agent else None,
        "time": [_entry(one) for one in told.time],
        "report": report_of(site, agent.id) if agent else None,
        "proposals": open_cards(site, asked, page.task.id),
        "needed": consents_of(site, agent),
    }
    if asked.query.get("full") != "1":
        _shorten(document)
    more = {**_more(site, page, document, now), "is_held": is_held(agent)}
    return Page("task.html", page.task.title, document, more)


def _entry(one: TimeDetails) -> dict[str, Any]:
    minutes = seconds_between(one.start, one.end) // 60 if one.end else None
    return {**asdict(one), "minutes": minutes}


def known(site: Site, task_id: str) -> TaskDocument:
    """A task by its whole id, or Refused."""
    found = site.home.views.get(tasks.VIEW, task_id)
    if found is None:
        raise missing("unknown_task", "task", task_id)
    return found


def _shorten(document: dict[str, Any]) -> None:
    """Long parts show their newest; the rest is asked for with ``?full=1``."""
    document["more"] = {}
    for name, most in (
        ("notes", NOTES_SHOWN),
        ("time", ENTRIES_SHOWN),
        ("history", HISTORY_SHOWN),
    ):
        left = len(document[name]) - most
        if left > 0:
            document["more"][name] = left
            document[name] = document[name][-most:]
    left = len(document["items"]) - ITEMS_SHOWN
    if left > 0:
        document["more"]["items"] = left
        document["items"] = document["items"][:ITEMS_SHOWN]


def _more(site: Site, page: TaskPage, document: dict[str, Any], now: str) -> dict[str, Any]:
    task = page.task
    running = next((one for one in task.time if not one.end), None)
    spent = sum(seconds_between(one.start, one.end or now) for one in task.time) // 60
    links = [
        {**asdict(one), "title": page.titles.get(one.task_id, ""), "phrase": _phrase(one)}
        for one in document["links"]
    ]
    labels = [(one, name) for one, name in site.labels() if one not in task.labels]
    names = dict(zip(task.labels, document["labels"], strict=True))
    return {
        "categories": [(one.id, one.name) for one in page.catalog.categories.values()],
        "filled": present(task),
        "fields": FIELDS,
        "statuses": STATUSES,
        "phrases": [(one, one.replace("_", " ")) for one in PHRASES],
        "is_open": task.is_open and not task.is_deleted,
        "is_overdue": is_overdue(task, today_of(site)),
        "running_since": running.start if running else "",
        "spent": max(spent, 0),
        "links": links,
        "labels": site.labels(),
        "labels_here": list(names.items()),
        "labels_left": labels,
        "conflicts": [disputes.shown(one) for one in page.conflicts],
        "described": page.text(task.description),
        "made_from": made_from,
        "item_shown": ITEM_SHOWN,
        "note_edited": NOTE_EDITED,
        "sets_shown": OPEN_SHOWN,
    }


def present(task: Task) -> dict[str, str]:
    """The fields as a form shows them."""
    return {
        "title": task.title,
        "status": task.status,
        "reason": task.status_reason,
        **{one.name: str(getattr(task, one.name) or "") for one in FIELDS},
        "category": task.category,
    }


def _phrase(link: LinkDetails) -> str:
    told: str = (
        link.relation if link.direction == "out" else PHRASE_OF.get(link.relation, link.relation)
    )
    return told.replace("_", " ")
