"""The tasks: a list, a page for each, what a person changes on it, and where a task comes from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from msgspec.structs import asdict

from adapters.documents.agents import agent_line
from adapters.documents.import_conflicts import conflicts_of
from adapters.documents.inbox import sets_under
from adapters.documents.tasks import (
    FoundLine,
    HistoryEntry,
    TaskPage,
    WhyLead,
    catalog_of,
    categories_below,
    task_lines,
    task_page,
)
from adapters.text.common import counted
from adapters.text.erasure import IN_DATABASE, searched_text
from adapters.text.task import stopped
from adapters.text.task_facts import KINDS, WHO, concerns, who
from adapters.upkeep.erase import erase as erase_for_good
from adapters.upkeep.erase import plan_erasure
from adapters.usecases import resolve_conflict, undoing
from adapters.usecases import tasks as deeds
from adapters.usecases import tasks as use_cases
from adapters.usecases.inputs import NONE, TEXT_BYTES_MAX, first_instant, typed
from adapters.usecases.resolve import Titles, is_fuzzy_match, pick_task
from adapters.usecases.search import excerpt, search
from adapters.usecases.task_history import HistoryFilter, TaskPast, history, why_field
from adapters.usecases.undoing import undo_document
from adapters.web import replica_conflicts
from adapters.web.filters import local, one_line, wall
from adapters.web.http_types import (
    Answered,
    AtField,
    Clash,
    FormRequest,
    Notice,
    Page,
    UndoOffer,
    clash_of,
    in_lines,
    made_from,
    missent,
    missing,
    stale,
)
from adapters.web.inbox import OPEN_SHOWN, open_cards
from adapters.web.policy import consents_of, is_held
from adapters.web.reports import report_of
from adapters.web.site import SCAN_MAX, Site, check_sure, page_size
from domain.errors import Refused, invalid
from domain.journal import repeat
from domain.journal.catalog import Catalog, with_inbox
from domain.journal.document import TaskLine, task_line
from domain.journal.links import INVERSE, PHRASE_OF
from domain.journal.task import FIELDS, RATING_MAX, STATUSES, TASK, ChecklistItem, NoteKind, Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN
from domain.log.timestamps import seconds_between
from domain.log.wire import Words
from domain.text import tokens
from projections import reports, tasks
from projections.agents import AgentDocument
from projections.tasks import TaskDocument

PHRASES = (*sorted({"relates_to", *PHRASE_OF}), *sorted(INVERSE))
PARTS = tasks.MARKS["all"]
NOTES_SHOWN = 50  # the newest, of a page
SHOWN = {
    "notes": slice(-NOTES_SHOWN, None),
    "time": slice(-50, None),
    "history": slice(-50, None),
    "items": slice(500),
}
ITEM_SHOWN = 400  # characters of an item's title in its form
NOTE_EDITED = 50_000  # characters; a longer note is edited on the whole page
SEARCHED_MAX = 200
FILTERS = ("status", "category", "agent", "q")


class TaskRow(TaskLine, frozen=True):
    """A task of the page `/tasks`, with what its living agent reports, if it has one, and how many
    of its proposals wait. `overdue`: it is open, and its due date is over."""

    deleted: bool
    updated_at: str
    one_liner: str | None
    stale: bool | None
    run_status: str | None
    overdue: bool
    open_proposals: int


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/tasks`: open ones, those that are over, deleted ones; each the newest first."""
    catalog, today = catalog_of(site.home), today_of(site)
    size = page_size(asked)
    within = categories_below(catalog, asked.query.get("category", ""))
    rows: list[TaskRow] = []
    older, scanned = "", 0
    for place, one in _open_first(site, asked.query.get("before", "")):
        if len(rows) == size or scanned == SCAN_MAX:
            break
        older, scanned = place, scanned + 1
        if not _is_wanted(one, asked.query, today, within):
            continue
        agent = site.living_agent(one.id)
        has_wanted = {
            "yes": agent is not None,
            "no": agent is None,
            "stale": agent is not None and agent.is_stale,
        }
        if has_wanted.get(asked.query.get("agent", ""), True):
            rows.append(_row(site, one, agent, catalog))
    else:
        older = ""
    categories = [(one.id, one.name) for one in with_inbox(catalog).categories.values()]
    return Page(
        "tasks.html",
        "Tasks",
        {"tasks": rows, "next": asked.after(older)},
        {
            "categories": categories,
            "statuses": STATUSES,
            "filters": {name: asked.query.get(name, "") for name in FILTERS},
            "scanned": scanned if len(rows) < size and older else 0,
        },
    )


def show_search(site: Site, asked: FormRequest) -> Page:
    """The page `/search`: tasks by the words in them, the best first."""
    words, size = asked.query.get("q", ""), page_size(asked)
    found = []
    if tokens(words):  # where much is new to it, other pages are made meanwhile
        found = search(site.home, words, limit=size + 1, progress=lambda *_: site.give_way())
    lines = task_lines(site.home, (one.task for one in found[:size]))
    rows = [
        FoundLine(**asdict(line), where=one.piece.where, text=one.piece.text)
        for line, one in zip(lines, found, strict=False)
    ]
    more = asked.with_query(limit=str(2 * size)) if len(found) > size < SEARCHED_MAX else None
    told = {"tasks": rows, "next": more}
    return Page("search.html", "Search", told, {"sought": words, "excerpt": excerpt})


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
        found = site.newest_first(tasks.VIEW, (mark,), before=before)
        yield from ((f"{mark}:{one.place}", one) for one in found)
        before = ""


def _is_wanted(
    one: TaskDocument, query: Mapping[str, str], today: str, within: Collection[str]
) -> bool:
    status, words = query.get("status", ""), query.get("q", "")
    is_status = {
        "": not one.is_deleted,
        "open": one.is_open,
        "overdue": is_overdue(one.task, today),
        "deleted": one.is_deleted,
    }.get(status, one.status == status and not one.is_deleted)
    is_category = not query.get("category") or one.category in within
    return (
        is_status
        and is_category
        and (not words.strip() or is_fuzzy_match(words, Titles(one.id, (one.title,))))
    )


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
        open_proposals=sum(
            item.status == "pending"
            for found in (sets_under(site.home, "waiting", task=one.id) if agent else ())
            for item in found.items
        ),
    )


# ------------------------------------------------------------------------------------------ one


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of a task: its report and proposals on top, then all that a person may edit."""
    page = task_page(site.home, task_by_id(site, asked.names["id"]).id)
    agent = site.living_agent(page.task.id)
    now, told = site.now, page.document()
    document = {
        **asdict(told),
        "deleted": page.task.is_deleted,
        "status_reason": page.task.status_reason or None,
        "created_at": page.task.created_at,
        "updated_at": page.task.updated_at,
        "agent": agent_line(agent, now) if agent else None,
        "time": [
            {
                **asdict(one),
                "minutes": seconds_between(one.start, one.end) // 60 if one.end else None,
            }
            for one in told.time
        ],
        "report": report_of(site, agent.id) if agent else None,
        "proposals": open_cards(site, asked, page.task.id),
        "needed": consents_of(site, agent),
    }
    if asked.query.get("full") != "1":
        _shorten(document)
    more = {**_more(site, page, document, now), "is_held": is_held(agent)}
    return Page("task.html", page.task.title, document, more)


def task_by_id(site: Site, task_id: str) -> TaskDocument:
    """A task by its whole id, or Refused."""
    found = site.home.views.get(tasks.VIEW, task_id)
    if found is None:
        raise missing("unknown_task", "task", task_id)
    return found


def _shorten(document: dict[str, Any]) -> None:
    """Long parts show their newest; the rest is asked for with ``?full=1``."""
    document["more"] = {}
    for name, shown in SHOWN.items():
        left = document[name][shown]
        if len(left) < len(document[name]):
            document["more"][name] = len(document[name]) - len(left)
            document[name] = left


def _more(site: Site, page: TaskPage, document: dict[str, Any], now: str) -> dict[str, Any]:
    task = page.task
    running = next((one for one in task.time if not one.end), None)
    spent = sum(seconds_between(one.start, one.end or now) for one in task.time) // 60
    links = []
    for one in document["links"]:
        told = one.relation if one.direction == "out" else PHRASE_OF.get(one.relation, one.relation)
        more = {"title": page.titles.get(one.task_id, ""), "phrase": told.replace("_", " ")}
        links.append({**asdict(one), **more})
    labels = [(one, name) for one, name in site.labels() if one not in task.labels]
    names = dict(zip(task.labels, document["labels"], strict=True))
    return {
        "categories": [(one.id, one.name) for one in with_inbox(page.catalog).categories.values()],
        "filled": present(task),
        "by_agents": _by_agents(site, task.id),
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
        "conflicts": [replica_conflicts.shown(one) for one in page.conflicts],
        "described": page.text(task.description),
        "made_from": made_from,
        "item_shown": ITEM_SHOWN,
        "note_edited": NOTE_EDITED,
        "sets_shown": OPEN_SHOWN,
    }


def present(task: Task) -> dict[str, str]:
    """The fields as a form shows them."""
    rule = {"repeat": repeat.told(task.repeat)} if task.repeat else {}
    return {
        "title": task.title,
        "status": task.status,
        "reason": task.status_reason,
        **{one.name: str(getattr(task, one.name) or "") for one in FIELDS},
        **rule,
        "category": task.category,
    }


def _by_agents(site: Site, task_id: str) -> dict[str, str]:
    """When an agent set a field as it is, by the field; what a person set last is not among it."""
    happened = TaskPast(site.home, task_id).happened
    last = {field: one for one in happened for field in concerns(one.row.fact)}
    return {field: one.row.at for field, one in last.items() if who(one.by) == "agent"}


# -------------------------------------------------------------------------------------------- edits
# What a person changes on a task's page. A field that moved meanwhile is not overwritten.

MARKS = {
    "check": {"is_checked": True},
    "uncheck": {"is_checked": False},
    "archive": {"is_archived": True},
    "restore": {"is_archived": False},
}
NOTE_KINDS = ("note", "transcript", "image_analysis")


def task_of(site: Site, asked: FormRequest) -> Task:
    """The task that an address names, as it is now; or Refused."""
    task_id = task_by_id(site, asked.names["id"]).id
    with site.home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def create(site: Site, asked: FormRequest) -> Notice:
    """A new task."""
    title, category = asked.needed("title").strip(), asked.form.get("category", "").strip()
    try:
        use_cases.add_task(site.home, title, {"category": category}, asked.key)
    except Refused as error:
        raise AtField("title", error) from error
    return Notice(f"Added “{title}”.")


# --------------------------------------------------------------------------------------- fields


def edit(site: Site, asked: FormRequest) -> Notice:
    """Change the fields that the form says otherwise than it was made with."""
    task = task_of(site, asked)
    now = present(task)
    given = {name: asked.form[name] for name in now if name in asked.form}
    found = site.changes(asked, given, now)
    changed = {name: given[name] for name in found.changed}
    if "reason" in changed:
        changed.setdefault("status", given.get("status", task.status))
        del changed["reason"]
    try:
        kept = use_cases.edit_task(site.home, task.id, _fields(site, changed, asked), asked.key)
    except Refused as error:
        raise AtField(_wrong(site, changed, asked), error) from error
    timer = stopped(task_of(site, asked), kept.stopped)
    return Notice(f"Changed: {', '.join(changed)}{timer}.")


def _wrong(site: Site, changed: dict[str, str], asked: FormRequest) -> str:
    """The field that a form got wrong: the first that cannot be by itself; else its status asks for
    a reason."""
    for name, value in changed.items():
        try:
            _fields(site, {name: value}, asked)
        except Refused:
            return name
    return "reason" if "status" in changed else next(iter(changed))


def _fields(site: Site, changed: dict[str, str], asked: FormRequest) -> dict[str, Any]:
    """The fields that a form changes, as they are stored."""
    given: dict[str, Any] = {name: value.strip() for name, value in changed.items()}
    if given.get("title") == "":
        raise invalid("the title is empty", "give it one")
    if "status" in given:
        given["reason"] = asked.form.get("reason", "").strip()
    for field in FIELDS:
        if field.name in given:
            text = given[field.name] or (NONE if field.can_be_empty else "")
            given[field.name] = typed(field, text, lambda: site.home)
    return given


def settle(site: Site, asked: FormRequest) -> Notice:
    """Let the file's value, the person's or what a machine said stand, as the form shows them;
    refused where the file says something else by now.
    """
    task = task_of(site, asked)
    field, side = asked.needed("field"), asked.needed("keep")
    if side not in ("file", "mine"):
        return replica_conflicts.settle(site, asked, task.id, field, side)
    with site.home.services.journal.reading() as world:
        said = [one.values[1].value for one in conflicts_of(world, task.id) if one.field == field]
    is_known = site.knows(asked)
    if not is_known and [made_from(one) for one in said] != [asked.needed("was.file")]:
        raise stale("what the file says was changed or settled since")
    resolve_conflict.settle(
        site.home, task.id, field, "file" if side == "file" else "mine", asked.key
    )
    return Notice(f"Took the file's {field}." if side == "file" else f"Kept your {field}.")


def describe(site: Site, asked: FormRequest) -> Notice:
    """Replace the description."""
    task = task_of(site, asked)
    text = _long(asked.needed("text"))
    _check_same(site, asked, text, task.description, "The description")
    use_cases.describe(site.home, task.id, text, asked.key)
    return Notice("Changed the description.")


def _check_same(site: Site, asked: FormRequest, text: str | None, now: Words, label: str) -> None:
    """Raises Answered: another text stands there than the form was made from. `text`: what the form
    says, None where it takes the other one away; `label`: what `now` is the text of."""
    with site.home.services.journal.reading() as world:
        stands = world.text(now)
    if asked.needed("was.text") == made_from(stands) or text == stands or site.knows(asked):
        return
    clash = Clash(label, stands, "") if text is None else Clash(label, stands, text, "text", "text")
    raise Answered(clash_of(asked, [clash], {"was.text": made_from(stands)}))


def _long(text: str) -> str:
    told = in_lines(text).rstrip()
    if len(told.encode()) > TEXT_BYTES_MAX:
        raise invalid(f"the text is longer than {TEXT_BYTES_MAX:,} bytes", "part it into several")
    return told


# ---------------------------------------------------------------------------------------- parts


def item(site: Site, asked: FormRequest) -> Notice:
    """Tick, untick, rename, put away or bring back an item."""
    task = task_of(site, asked)
    item_id, verb = asked.needed("item"), asked.needed("verb")
    title = asked.form.get("title", asked.needed("was.title")).strip()
    if verb not in (*MARKS, "rename"):
        raise missent(f"{verb[:20]!r} is no deed of an item", "send the form of the page")
    known = next((one for one in task.items if one.id == item_id), None)
    if known is not None:
        _check_title(site, asked, title, known)
    if verb == "rename" and title == asked.needed("was.title"):
        return Notice("Nothing was changed.")
    if verb == "rename":
        use_cases.rename_item(site.home, task.id, item_id, title, asked.key)
    else:
        use_cases.mark_items(site.home, task.id, [item_id], asked.key, **MARKS[verb])
    done = {"check": "Ticked", "uncheck": "Unticked", "archive": "Put away"}
    return Notice(f"{done.get(verb, 'Changed')}.")


def _check_title(site: Site, asked: FormRequest, title: str, known: ChecklistItem) -> None:
    """Raises Answered: an item has another title than the page showed."""
    was, now = asked.needed("was.title"), one_line(known.title, ITEM_SHOWN)
    if was == now or title == known.title or site.knows(asked):
        return
    is_named = asked.needed("verb") == "rename"
    clash = Clash("The item", now, title, "title") if is_named else Clash("The item", now, "")
    raise Answered(clash_of(asked, [clash], {"was.title": now}))


def add_item(site: Site, asked: FormRequest) -> Notice:
    """Add an item to the checklist."""
    task = task_of(site, asked)
    use_cases.add_items(site.home, task.id, [asked.needed("title").strip()], asked.key)
    return Notice("Added the item.")


def note(site: Site, asked: FormRequest) -> Notice:
    """Add, change or remove a note."""
    task = task_of(site, asked)
    verb = asked.form.get("verb", "add")
    known = next((one for one in task.notes if one.id == asked.form.get("note")), None)
    if verb == "remove":
        check_sure(asked, "removing the note")
        if known:
            _check_same(site, asked, None, known.words, "The note")
        use_cases.remove_note(site.home, task.id, asked.needed("note"), asked.key)
        return Notice("Removed the note.")
    text = _long(asked.needed("text"))
    if verb == "edit":
        if known:
            _check_same(site, asked, text, known.words, "The note")
        use_cases.edit_note(site.home, task.id, asked.needed("note"), text, asked.key)
        return Notice("Changed the note.")
    kind = asked.form.get("kind", "note")
    chosen = cast("NoteKind", kind if kind in NOTE_KINDS else "note")
    use_cases.add_note(site.home, task.id, text, asked.key, kind=chosen)
    return Notice("Noted.")


def label(site: Site, asked: FormRequest) -> Notice:
    """Assign or remove a label."""
    task = task_of(site, asked)
    one = (asked.needed("label"),)
    if asked.form.get("verb") == "remove":
        use_cases.remove_labels(site.home, task.id, one, asked.key)
        return Notice("Removed the label.")
    use_cases.assign_labels(site.home, task.id, one, asked.key)
    return Notice("Assigned the label.")


def link(site: Site, asked: FormRequest) -> Notice:
    """Link to another task, or take a link away."""
    task = task_of(site, asked)
    phrase = asked.needed("phrase")
    other = pick_task(site.home, asked.needed("target").strip())
    if asked.form.get("verb") == "remove":
        use_cases.unlink(site.home, task.id, phrase, other, asked.key)
        return Notice("Removed the link.")
    use_cases.link(site.home, task.id, phrase, other, asked.key)
    return Notice("Linked.")


def timer(site: Site, asked: FormRequest) -> Notice:
    """Start the timer on the task, or stop it there; refused where it does not run on it."""
    task = task_of(site, asked)
    if asked.needed("verb") == "start":
        use_cases.start_timer(site.home, task.id, asked.key)
        return Notice("The timer runs.")
    with site.home.services.journal.reading() as world:
        runs_on = world.load(TIMER, MAIN).task
    if runs_on != task.id and not site.knows(asked):
        raise stale("the timer does not run on this task any more", "look where it runs")
    kept = use_cases.stop_timer(site.home, asked.form.get("summary", "").strip(), asked.key)
    return Notice("The timer stopped.", rates=(task.id, kept.ids[0]))


def delete(site: Site, asked: FormRequest) -> Notice:
    """Delete the task, or bring it back."""
    task = task_of(site, asked)
    if asked.needed("verb") == "restore":
        use_cases.restore_task(site.home, task.id, asked.key)
        return Notice("Restored.")
    check_sure(asked, "deleting the task")
    use_cases.delete_task(site.home, task.id, asked.key)
    return Notice("Deleted; it can be restored here.")


def show_erase(site: Site, asked: FormRequest) -> Page:
    """What erasing the task would take, and what of it stays; its title is to be typed."""
    task = task_by_id(site, asked.names["id"])
    site.home.place.check_erasing()
    return Page(
        "erase.html", f"Erase {task.title}", plan_erasure(site.home, "task", task.id).document()
    )


def erase(site: Site, asked: FormRequest) -> Notice:
    """Take the words of the task out of the home for good. Raises Refused."""
    task = task_by_id(site, asked.names["id"])
    if asked.needed("title").strip() != task.title.strip():
        because = f"that is not its title, {task.title!r}; nothing was erased"
        raise Refused("not_sure", because=because, instead="type it as it stands there")
    did = erase_for_good(site.home, "task", task.id)
    if did.left:
        because = f"a text still stands in {', '.join(did.left)}"
        raise Refused("erased", because=because, instead="see `wakelog erase --list`")
    rows, where = counted(did.rows, "row"), searched_text(did.files, did.tables)
    beyond = f" {IN_DATABASE}" if did.tables else ""
    return Notice(f"Erased: {rows} are marks now; searched {where}, no text was found.{beyond}")


# ----------------------------------------------------------------------------- its end and its time
# What a person changes on a task's page about its end and its time: a follow-up for the rest,
# entries, and how it went.

LABELS = {"began": "when it began", "ended": "when it ended", "summary": "what was done"}


def conclude(site: Site, asked: FormRequest) -> Notice:
    """Set the task done and let a new one follow it, with its open items or without."""
    task = task_of(site, asked)
    title = asked.needed("title").strip()
    keeps_items = asked.form.get("keep") == "yes"
    made = deeds.conclude_task(site.home, task.id, title, asked.key, keeps_items=keeps_items)
    timer = stopped(task_of(site, asked), made.stopped)
    return Notice(f"The task is DONE{timer}; what follows it:", leads=(made.ids[0], title))


def log(site: Site, asked: FormRequest) -> Notice:
    """Enter time that the task took."""
    task = task_of(site, asked)
    began, ended = (_instant(site, asked.needed(name)) for name in ("began", "ended"))
    summary = asked.form.get("summary", "").strip()
    deeds.log_time(site.home, task.id, began, ended, asked.key, summary=summary)
    return Notice("Entered the time.")


def retime(site: Site, asked: FormRequest) -> Notice:
    """Correct a time entry: what of it the form says otherwise than it was made with."""
    task, wanted = task_of(site, asked), asked.needed("entry")
    entry = next((one for one in task.time if one.id == wanted), None)
    if entry is None:
        raise missing("unknown_item", "time entry", wanted)
    now = {
        "began": wall(entry.start, site.zone),
        "ended": wall(entry.end, site.zone),
        "summary": entry.summary,
    }
    given = {name: asked.form.get(name, asked.needed(f"was.{name}")).strip() for name in now}
    found = site.changes(asked, given, now, LABELS)
    times = {name: _instant(site, given[name]) for name in found.changed if name != "summary"}
    summary = given["summary"] if "summary" in found.changed else None
    deeds.retime(site.home, task.id, entry.id, asked.key, summary=summary, **times)
    return Notice("Corrected the time.")


def _instant(site: Site, given: str) -> str:
    return first_instant(given, site.zone, site.home.services.clock.now)


def stars_of(asked: FormRequest, most: int) -> int:
    """How many stars a form gives."""
    score = asked.form.get("score", "")
    if score not in map(str, range(1, most + 1)):
        raise invalid("no stars are chosen", f"choose 1 to {most}")
    return int(score)


def rate(site: Site, asked: FormRequest) -> Notice:
    """Say how well the task, or an entry of it, went."""
    task, score = task_of(site, asked), stars_of(asked, RATING_MAX)
    comment, entry = asked.form.get("comment", ""), asked.form.get("entry", "")
    deeds.rate(site.home, task.id, score, asked.key, entry_id=entry, comment=comment)
    return Notice(f"Rated {score} of {RATING_MAX}.")


# ----------------------------------------------------------------------------------------- its past
# Where a task comes from: why a field is as it is, and its whole history with undo.

HISTORY_FILTERS = ("kind", "who", "q")


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
    query, task = asked.query, task_by_id(site, asked.names["id"])
    wanted = HistoryFilter(
        query.get("kind", ""),
        query.get("who", ""),
        query.get("q", ""),
        query.get("from", ""),
        page_size(asked),
    )
    found, deeds = history(site.home, task.id, wanted)
    shown = {one.undo for one in found.entries}
    does = {one.ref: undo_document(site.home, one).does for one in deeds if one.ref in shown}
    older = asked.with_query(**{"from": found.next}) if found.next else None
    return Page(
        "task_history.html",
        f"History of {task.title}",
        {**asdict(found), "next": older},
        {
            "rows": together(found.entries),
            "does": {ref: "; ".join(lines) for ref, lines in does.items()},
            "spread": {one.ref: len(one.tasks) for one in deeds},
            "kinds": KINDS,
            "who": WHO,
            "filters": {name: query.get(name, "") for name in HISTORY_FILTERS},
            "newest": asked.with_query(**{"from": ""}) if wanted.since else "",
            "is_cut": found.next is not None and len(found.entries) < wanted.limit,  # not all
        },
    )


def together(entries: Sequence[HistoryEntry]) -> list[list[HistoryEntry]]:
    """The entries, those that one import made at once together, the oldest of them first."""

    def once(one: HistoryEntry) -> str:
        return one.entry.rpartition(".")[0] if one.who == "file" else one.entry

    return [list(made)[::-1] for _, made in groupby(entries, once)]


def undo(site: Site, asked: FormRequest) -> Notice:
    """Take a deed of the history back; `wakelog undo REF` does the same."""
    task = task_by_id(site, asked.names["id"])
    if "many" in asked.form:
        check_sure(asked, "undoing it in other tasks, too,")
    found = undoing.undo(site.home, asked.needed("deed"), asked.key)
    again = UndoOffer("do it again", found.redo) if found.redo else None
    return Notice(f"Undone, in “{task.title}”.", undo=again)
