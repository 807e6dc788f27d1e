"""Deciders of a person's commands on one task: facts, none (already so), or `Refused` (SPEC 1).

A person's values are checked here as strictly as an agent's; what differs is that a person may
do what sovereignty keeps from agents."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from domain.errors import Refused, Remedy, RemedyName, invalid
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.task import FIELDS, PERSON, Task, TaskFact
from domain.log.keys import key
from domain.log.timestamps import is_moment
from domain.log.wire import Words
from domain.text import fold, squeeze

TITLE_MAX = 200
ITEM_TITLE_MAX = 400
REASON_MAX = 500
SUMMARY_MAX = 500
ITEMS_MAX = 500  # of one command of a person
DEFAULT_CHECKLIST = "Checklist"
NEEDS_REASON = ("BLOCKED", "ON HOLD")


class _Entry(Protocol):
    """A time entry, as a task or a snapshot has it."""

    @property
    def id(self) -> str: ...
    @property
    def start(self) -> str: ...
    @property
    def end(self) -> str: ...


S = TypeVar("S", bound=_Entry)
P = TypeVar("P", t.ChecklistItem, t.Note, t.TimeEntry)


def living(task: Task, wanted: str) -> Task:
    """The task, if it exists and is not deleted."""
    if not task.exists:
        because = f"there is no task {wanted!r}"
        raise Refused("unknown_task", because=because, instead=Remedy("see_tasks"))
    if task.is_deleted:
        because = f"the task {task.title!r} is deleted"
        instead = Remedy("restore_task", task.id[:8])
        raise Refused("task_deleted", because=because, instead=instead)
    return task


def retitle(task: Task, title: str, by: str) -> list[TaskFact]:
    title = titled(title, TITLE_MAX)
    return [] if title == task.title else [t.TaskRetitled(by, title)]


def describe(task: Task, description: Words, by: str) -> list[TaskFact]:
    return [] if description == task.description else [t.TaskDescribed(by, description)]


def set_status(task: Task, status: str, reason: str, by: str) -> list[TaskFact]:
    wanted = t.chosen("status", t.STATUSES, status)
    reason = _bounded(reason, REASON_MAX, "a reason")
    if wanted in NEEDS_REASON and not reason:
        raise invalid(f"{wanted} needs a reason", 'say why, with `--reason "..."`')
    is_same = wanted == task.status and reason in ("", task.status_reason)
    return [] if is_same else [t.StatusSet(by, wanted, reason)]


def set_field(task: Task, field: t.TaskField, value: Any, by: str) -> list[TaskFact]:
    """A plain field as a person or a file wants it; a language says who set it, too."""
    value = t.checked(field, value)
    is_same = value == getattr(task, field.name)
    if field.kind == "language":
        is_same = is_same and task.language_by == (by if value else "")
    return [] if is_same else [field.fact(by, value)]


def set_fields(task: Task, said: do.CreateTask | do.EditTask, by: str = PERSON) -> list[TaskFact]:
    """The plain fields that a command says."""
    facts: list[TaskFact] = []
    for field in FIELDS:
        value = getattr(said, field.name)
        if value or (value is not None and field.can_be_empty):
            facts += set_field(task, field, value, by)
    return facts


def set_category(task: Task, category: str, by: str) -> list[TaskFact]:
    return [] if category == task.category else [t.CategorySet(by, category)]


def add_items(task: Task, titles: Sequence[str], checklist: str, by: str) -> list[TaskFact]:
    """Items at the end of a checklist, which is made if the task has none of that title."""
    facts, home = checklist_for(task, checklist, by)
    known = {item.id for item in task.items}
    for wanted in titles:
        title = titled(wanted, ITEM_TITLE_MAX)
        item = fresh_item_id(task.id, title, known)
        known.add(item)
        facts.append(t.ItemAdded(by, home, item, title))
    return facts if titles else []


def item_id(task: str, folded: str, nth: int) -> str:
    """Id of the nth item of that folded title in a task (DESIGN 6)."""
    return key("item", task, folded, str(nth))


def few(titles: Sequence[str]) -> Sequence[str]:
    """The titles, or Refused if they are more than one command may bring."""
    if len(titles) > ITEMS_MAX:
        raise invalid(f"{len(titles)} items are too many", f"add at most {ITEMS_MAX} at once")
    return titles


def fresh_item_id(task: str, title: str, known: Collection[str]) -> str:
    """The first id of that title which the task does not have yet."""
    folded, nth = fold(title), 0
    while (item := item_id(task, folded, nth)) in known:  # bounded by the known ids
        nth += 1
    return item


def checklist_for(task: Task, title: str, by: str) -> tuple[list[TaskFact], str]:
    """The id of the checklist of a title, or the first one, and the fact that makes it."""
    if not title and task.checklists:
        return [], task.checklists[0].id
    title = titled(title or DEFAULT_CHECKLIST, TITLE_MAX)
    if known := next((one for one in task.checklists if fold(one.title) == fold(title)), None):
        return [], known.id
    made = key("checklist", task.id, fold(title))
    return [t.ChecklistAdded(by, made, title)], made


def _known(task: Task, parts: Iterable[P], wanted: str, what: str, see: RemedyName) -> P:
    part = next((one for one in parts if one.id == wanted), None)
    if part is None:
        because = f"the task {task.title!r} has no {what} {wanted!r}"
        raise Refused("unknown_item", because=because, instead=Remedy(see, task.id[:8]))
    return part


def known_item(task: Task, wanted: str) -> t.ChecklistItem:
    """The item of that id, or Refused."""
    return _known(task, task.items, wanted, "item", "see_task_items")


def edit_item(
    task: Task,
    item: t.ChecklistItem,
    *,
    title: str = "",
    is_checked: bool | None = None,
    is_archived: bool | None = None,
    by: str = PERSON,
) -> list[TaskFact]:
    facts: list[TaskFact] = []
    if title and (title := titled(title, ITEM_TITLE_MAX)) != item.title:
        facts.append(t.ItemRetitled(by, item.id, title))
    if is_checked is not None and is_checked != item.is_checked:
        facts.append(t.ItemChecked(by, item.id) if is_checked else t.ItemUnchecked(by, item.id))
    if is_archived is not None and is_archived != item.is_archived:
        facts.append(t.ItemArchived(by, item.id) if is_archived else t.ItemRestored(by, item.id))
    return facts


def known_note(task: Task, wanted: str) -> t.Note:
    """The note of that id, or Refused."""
    return _known(task, task.notes, wanted, "note", "see_task_notes")


def add_note(task: Task, note: str, note_kind: t.NoteKind, words: Words) -> list[TaskFact]:
    _said(words)
    return [t.NoteAdded(PERSON, note, note_kind, words)]


def edit_note(task: Task, note: t.Note, words: Words) -> list[TaskFact]:
    _said(words)
    return [] if words == note.words else [t.NoteEdited(PERSON, note.id, words)]


def log_time(task: Task, entry: str, start: str, end: str, summary: str) -> list[TaskFact]:
    _check_span(start, end)
    return [t.TimeLogged(PERSON, entry, start, end, summarised(summary))]


def _check_span(start: str, end: str) -> None:
    if not (is_moment(start) and is_moment(end)):
        raise invalid("start or end is no time", "give both as times")
    if end <= start:
        raise invalid("the time ends before it starts", "give an end later than the start")


def overlapping(entries: Iterable[S], start: str, end: str, but: str = "") -> list[S]:
    """The time entries, one left out, that share time with a span; one that runs has no end yet."""
    others = (one for one in entries if one.id != but)
    return [one for one in others if one.start < end and (not one.end or start < one.end)]


def known_entry(task: Task, wanted: str) -> t.TimeEntry:
    """The time entry of that id, or Refused."""
    return _known(task, task.time, wanted, "time entry", "see_task_time")


def retime(
    task: Task, entry: t.TimeEntry, start: str, end: str, summary: str | None, at: str
) -> list[TaskFact]:
    """Other times or another summary of an entry; its times meet no other's, and are over."""
    start, end = ("" if start == entry.start else start), ("" if end == entry.end else end)
    if start or end:
        _may_be_timed(task, entry, start or entry.start, end or entry.end, at)
    if summary is not None and (summary := summarised(summary)) == entry.summary:
        summary = None
    is_same = not start and not end and summary is None
    return [] if is_same else [t.TimeEdited(PERSON, entry.id, start, end, summary)]


def _may_be_timed(task: Task, entry: t.TimeEntry, start: str, end: str, at: str) -> None:
    if not entry.end:
        raise invalid("its timer runs", "stop the timer before you set other times")
    _check_span(start, end)
    if end > at:
        raise invalid("the time ends in the future", "give an end that is over")
    for one in overlapping(task.time, start, end, entry.id):
        named = f" {one.summary!r}" if one.summary else ""
        because = f"the time overlaps with the entry {one.id[:8]}{named}"
        raise invalid(because, "give times that meet no other entry of the task")


def rate(task: Task, entry: str, score: int, comment: str) -> list[TaskFact]:
    """How well a task or an entry of it went; a later rating replaces an earlier one."""
    comment = scored(score, comment)
    known = t.rating_of(task, entry)
    if known and (known.score, known.comment) == (score, comment):
        return []
    return [t.TaskRated(PERSON, entry, score, comment)]


def scored(score: int, comment: str) -> str:
    """What is noted with a rating, or Refused if it is too long, or the rating is none."""
    if not 1 <= score <= t.RATING_MAX:
        raise invalid(f"{score} is no rating", f"give one from 1 to {t.RATING_MAX}, the best")
    return _bounded(comment, SUMMARY_MAX, "a note")


def summarised(summary: str) -> str:
    """A time entry's summary, or Refused if it is too long."""
    return _bounded(summary, SUMMARY_MAX, "a summary")


def titled(title: str, length_max: int, what: str = "title") -> str:
    """A title (or name) without spare white space, or Refused if it is empty or too long."""
    if not (title := _bounded(title, length_max, f"a {what}")):
        raise invalid(f"the {what} is empty", "give it at least one character")
    return title


def _said(words: Words) -> None:
    if not words.payload and not squeeze(words.text):
        raise invalid("the note is empty", "write at least one character")


def _bounded(text: str, length_max: int, what: str) -> str:
    text = squeeze(text)
    if len(text) > length_max:
        raise invalid(f"{what} of {len(text)} characters is too long", f"use at most {length_max}")
    return text


# ----------------------------------------------------------------------- what moves to another task
# Its open items to a follow-up, for example (ADR 40). Items keep title and tick. On the task that
# they leave they are archived, so nothing is lost there and nothing stands twice.


class Moved(NamedTuple):
    """The facts of both tasks."""

    source: list[TaskFact]
    target: list[TaskFact]


class FollowUp(Struct, frozen=True):
    """A task that shall follow: what is empty, it does not get."""

    title: str
    description: Words | None = None
    due: str = ""
    priority: t.Priority | None = None
    relation: t.Relation = "follows_up_on"


def moved(source: Task, items: Iterable[t.ChecklistItem], target: Task, by: str) -> Moved:
    """Items of a task as items of another one: on its first checklist, else on new ones that are
    called like those they come from."""
    gone: list[TaskFact] = []
    come: list[TaskFact] = []
    known = {item.id for item in target.items}
    titles = {one.id: one.title for one in source.checklists}
    homes: dict[str, str] = {}
    for item in items:
        if item.checklist not in homes:
            wanted = "" if target.checklists else titles.get(item.checklist, "")
            made, homes[item.checklist] = checklist_for(target, wanted, by)
            come += [one for one in made if one not in come]
        fresh = fresh_item_id(target.id, item.title, known)
        known.add(fresh)
        gone.append(t.ItemArchived(by, item.id))
        home = homes[item.checklist]
        come.append(t.ItemAdded(by, home, fresh, item.title, item.is_checked, item.id))
        if item.checked_by not in ("", by):  # against a person's tick agents need a reason
            ticked = t.ItemChecked if item.is_checked else t.ItemUnchecked
            come.append(ticked(item.checked_by, fresh))
    return Moved(gone, come)


def again(
    source: Task, made: Task, wanted: FollowUp, items: Iterable[t.ChecklistItem], by: str
) -> Moved:
    """A follow-up that was deleted, as it would be made now; its links are there still."""
    facts: list[TaskFact] = [t.TaskRestored(by)]
    facts += [t.TaskRetitled(by, wanted.title)] if wanted.title != made.title else []
    if wanted.description not in (None, made.description):
        facts.append(t.TaskDescribed(by, wanted.description))
    facts += [t.DueSet(by, wanted.due)] if wanted.due not in ("", made.due) else []
    if wanted.priority not in (None, made.priority):
        facts.append(t.PrioritySet(by, wanted.priority))
    facts += [t.ItemArchived(by, one.id) for one in made.items if not one.is_archived]
    gone, come = moved(source, items, made, by)
    return Moved(gone, [*facts, *come])


def made_or_again(
    made: Task, wanted: do.CreateTask, description: Words, items: Sequence[str], by: str
) -> list[TaskFact]:
    """A task as it is wanted, with a checklist; one that was deleted is there again, and so."""
    title = titled(wanted.title, TITLE_MAX)
    facts: list[TaskFact] = [t.TaskCreated(by, title, wanted.category)]
    if made.exists:
        facts = [t.TaskRestored(by), *retitle(made, title, by)]
        facts += [t.ItemArchived(by, one.id) for one in made.items if not one.is_archived]
    else:
        made = Task(made.id, exists=True, title=title, category=wanted.category)
    facts += describe(made, description, by) if description != Words() else []
    return [*facts, *set_fields(made, wanted, by), *add_items(made, items, "", by)]


FOLLOWS: t.Relation = "follows_up_on"


class Next(Struct, frozen=True):
    """What the task that follows one that repeats has of its own."""

    due: str
    wait_until: str
    description: Words


def next_of(task: Task, made: Task, own: Next, by: str) -> list[TaskFact]:
    """A task as one that repeats was, with its items open again.

    `task`: the one that is closed. `made`: the other: it is not there yet, or deleted, or its file
    just brought it: then it gets what the file does not say. `by`: who closed it."""
    is_there = made.is_there
    facts: list[TaskFact] = [] if is_there else [t.TaskCreated(by, task.title, task.category)]
    if made.is_deleted:
        facts = [t.TaskRestored(by), *retitle(made, task.title, by)]
        facts += set_category(made, task.category, by) + set_status(made, "OPEN", "", by)
    if not (is_there and made.description != Words()):
        facts += describe(made, own.description, by)
    for field in FIELDS:
        is_said = is_there and getattr(made, field.name) != getattr(Task(""), field.name)
        if field.name not in ("due", "wait_until", "language") and not is_said:
            facts += set_field(made, field, getattr(task, field.name), by)
    if not is_there and own.due != made.due:
        facts.append(t.DueSet(by, own.due, is_next=True))
    if not is_there and own.wait_until != made.wait_until:
        facts.append(t.WaitSet(by, own.wait_until, is_next=True))
    facts += [t.LabelAssigned(by, one) for one in task.labels if one not in made.labels]
    if made.is_deleted:
        return [*facts, *(t.ItemUnchecked(by, one.id) for one in made.items if one.is_checked)]
    if made.items:
        return facts
    known, titles = set[str](), {one.id: one.title for one in task.checklists}
    for item in (one for one in task.items if not one.is_archived):
        new, home = checklist_for(made, titles.get(item.checklist, ""), by)
        facts += [one for one in new if one not in facts]
        fresh = fresh_item_id(made.id, item.title, known)
        known.add(fresh)
        facts.append(t.ItemAdded(by, home, fresh, item.title))
    return facts


def follow_up(
    source: Task, made: str, wanted: FollowUp, items: Iterable[t.ChecklistItem], by: str
) -> Moved:
    """A new task of the id `made`, in the source's category, with its labels, and the items that
    go there."""
    facts: list[TaskFact] = [t.TaskCreated(by, wanted.title, source.category)]
    facts += [t.LabelAssigned(by, label) for label in source.labels]
    facts += [t.TaskDescribed(by, wanted.description)] if wanted.description else []
    facts += [t.DueSet(by, wanted.due)] if wanted.due else []
    facts += [t.PrioritySet(by, wanted.priority)] if wanted.priority else []
    facts.append(t.TaskLinked(by, wanted.relation, source.id))
    gone, come = moved(source, items, Task(made), by)
    return Moved(gone, [*facts, *come])
