"""What takes one fact back: the inverse fact, by the person, where nothing moved since."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from domain.journal import edits
from domain.journal import task as t
from domain.journal.task import FIELDS, PERSON, Task, TaskFact, item_of, rating_of

UndoOutcome = Literal["undone", "same", "moved", "stays"]


class Inverse(NamedTuple):
    """What became of the wish to take a fact back: the facts that do; ``same``: it changed
    nothing; ``moved``: something else stands there now; ``stays``: nothing can take it back."""

    outcome: UndoOutcome
    facts: tuple[TaskFact, ...] = ()


def inverse(
    fact: Any, before: Task, after: Task, now: Task, at: str, *, reopens: bool = False
) -> Inverse:
    """What takes a fact of a task back.

    Args:
        fact: What happened.
        before: The task before it.
        after: Right after it.
        now: As it is.
        at: When it is taken back.
        reopens: Stopped timers may run on, and entered time may go.
    """
    kind = type(fact)
    if kind not in _HELD or (kind in TIMED and not reopens):
        return Inverse("same" if kind in _IGNORED else "stays")
    was, made, held = (_HELD[kind](one, fact) for one in (before, after, now))
    if was == made:
        return Inverse("same")
    if made != held:
        return Inverse("moved")
    facts = _BACK[kind](fact, before, now, at)
    return Inverse("undone", tuple(facts)) if facts else Inverse("stays")


def is_as_before(fact: Any, before: Task, now: Task) -> bool:
    """Whether what a fact changed is as it was before it."""
    held = _HELD[type(fact)]
    return held(before, fact) == held(now, fact)


def in_order(now: Task, labels: Sequence[str]) -> list[TaskFact]:
    """What puts labels into an order again, those that are not among them behind."""
    kept = [one for one in labels if one in now.labels]
    wanted = [*kept, *(one for one in now.labels if one not in labels)]
    pairs = zip(wanted, now.labels, strict=True)
    first = next((nth for nth, (one, held) in enumerate(pairs) if one != held), len(wanted))
    return [t.LabelAssigned(PERSON, one) for one in wanted[first:]]


def shape(task: Task) -> object:
    """What a task says, whoever said it and however often; what was put away, it does not."""
    items = [(one.title, one.is_checked) for one in task.items if not one.is_archived]
    notes = {(one.note_kind, one.words) for one in task.notes}
    times = [(one.start, one.end, one.summary) for one in task.time]
    plain = [getattr(task, name) for name in _PLAIN]
    sets = [set(one) for one in (task.labels, task.suppressed, task.links)]
    return plain, items, notes, times, sets, {(one.entry, one.score) for one in task.ratings}


Held = Callable[[Task, Any], object]
Back = Callable[[Any, Task, Task, str], list[TaskFact]]


def _field(name: str) -> Held:
    return lambda task, _: getattr(task, name)


def _of_item(name: str) -> Held:
    return lambda task, fact: getattr(item_of(task, fact.item), name, None)


def _item(task: Task, fact: Any) -> object:
    item = item_of(task, fact.item)
    return None if item is None else (item.title, item.is_checked, item.is_archived)


def _note(task: Task, fact: Any) -> t.Note | None:
    return next((one for one in task.notes if one.id == fact.note), None)


def _words(task: Task, fact: Any) -> object:
    note = _note(task, fact)
    return None if note is None else note.words


def _times(task: Task, fact: Any) -> object:
    entry = next((one for one in task.time if one.id == fact.entry), None)
    return None if entry is None else (entry.start, entry.end, entry.summary)


def _edge(task: Task, fact: Any) -> object:
    return t.Link(fact.relation, fact.target) in task.links


def _is(fact: Callable[..., TaskFact], *names: str) -> Back:
    """A fact about the same thing."""
    return lambda done, *_: [fact(PERSON, *(getattr(done, name) for name in names))]


def _value(fact: Callable[..., TaskFact], *names: str) -> Back:
    """A fact with the values before."""
    return lambda _, before, *__: [fact(PERSON, *(getattr(before, name) for name in names))]


def _retitled_item(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    item = item_of(before, fact.item)
    return [t.ItemRetitled(PERSON, fact.item, item.title)] if item else []


def _unedited_note(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    note = _note(before, fact)
    return [t.NoteEdited(PERSON, fact.note, note.words)] if note else []


def _put_back_note(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    note = _note(before, fact)
    return [t.NoteAdded(PERSON, note.id, note.note_kind, note.words, note.at)] if note else []


def _timed(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was, entry = edits.known_entry(before, fact.entry), edits.known_entry(now, fact.entry)
    return edits.retime(now, entry, was.start, was.end, was.summary, at)


def _removed_entry(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    return [t.TimeRemoved(PERSON, fact.entry)]


def _reopened(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was, held = edits.known_entry(before, fact.entry), edits.known_entry(now, fact.entry)
    summary = None if was.summary == held.summary else was.summary
    return [t.TimeReopened(PERSON, was.id, was.start, summary)]


def _stopped_again(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = edits.known_entry(before, fact.entry)
    return [t.TimeStopped(PERSON, was.id, was.end, was.summary)]


def _put_back_entry(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = edits.known_entry(before, fact.entry)
    if was.end:
        return [t.TimeLogged(PERSON, was.id, was.start, was.end, was.summary)]
    noted = [t.TimeEdited(PERSON, was.id, summary=was.summary)] if was.summary else []
    return [t.TimeStarted(PERSON, was.id, was.start), *noted]


def _rated(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = rating_of(before, fact.entry)
    return [t.TaskRated(PERSON, fact.entry, was.score, was.comment)] if was else []


def _rated_times(task: Task, fact: Any) -> object:
    """An entry with what was thought of it, which would go with it."""
    return _times(task, fact), _rating(task, fact)


def _rating(task: Task, fact: Any) -> object:
    held = rating_of(task, fact.entry)
    return None if held is None else (held.score, held.comment)


def _label(task: Task, fact: Any) -> object:
    return fact.label in task.labels


def _suppressed(task: Task, fact: Any) -> object:
    return fact.label in task.suppressed


_UNDO: dict[type, tuple[Held, Back]] = {
    t.TaskRetitled: (_field("title"), _value(t.TaskRetitled, "title")),
    t.TaskDescribed: (_field("description"), _value(t.TaskDescribed, "description")),
    t.CategorySet: (_field("category"), _value(t.CategorySet, "category")),
    t.StatusSet: (
        lambda task, _: (task.status, task.status_reason),
        _value(t.StatusSet, "status", "status_reason"),
    ),
    **{one.fact: (_field(one.name), _value(one.fact, one.name)) for one in FIELDS},
    t.LabelAssigned: (_label, _is(t.LabelRemoved, "label")),
    t.LabelRemoved: (_label, _is(t.LabelAssigned, "label")),
    t.LabelSuppressed: (_suppressed, _is(t.LabelAllowed, "label")),
    t.LabelAllowed: (_suppressed, _is(t.LabelSuppressed, "label")),
    t.ItemAdded: (_item, _is(t.ItemArchived, "item")),
    t.ItemRetitled: (_of_item("title"), _retitled_item),
    t.ItemChecked: (_of_item("is_checked"), _is(t.ItemUnchecked, "item")),
    t.ItemUnchecked: (_of_item("is_checked"), _is(t.ItemChecked, "item")),
    t.ItemArchived: (_of_item("is_archived"), _is(t.ItemRestored, "item")),
    t.ItemRestored: (_of_item("is_archived"), _is(t.ItemArchived, "item")),
    t.NoteAdded: (_words, _is(t.NoteRemoved, "note")),
    t.NoteEdited: (_words, _unedited_note),
    t.NoteRemoved: (_words, _put_back_note),
    t.TimeEdited: (_times, _timed),
    t.TimeStarted: (_rated_times, _removed_entry),
    t.TimeLogged: (_rated_times, _removed_entry),
    t.TimeStopped: (_times, _reopened),
    t.TimeReopened: (_times, _stopped_again),
    t.TimeRemoved: (_times, _put_back_entry),
    t.TaskRated: (_rating, _rated),
    t.TaskLinked: (_edge, _is(t.TaskUnlinked, "relation", "target")),
    t.TaskUnlinked: (_edge, _is(t.TaskLinked, "relation", "target")),
    t.TaskDeleted: (_field("is_deleted"), _is(t.TaskRestored)),
    t.TaskRestored: (_field("is_deleted"), _is(t.TaskDeleted)),
}
TIMED = (t.TimeStarted, t.TimeLogged, t.TimeStopped, t.TimeReopened, t.TimeRemoved)
"""What only an undo that reopens takes back: one of 0.2.0 did not."""
_PLAIN = (
    "title", "description", "status", "status_reason", "category", *(one.name for one in FIELDS)
)  # fmt: skip
_HELD = {kind: held for kind, (held, _) in _UNDO.items()}
_BACK = {kind: back for kind, (_, back) in _UNDO.items()}
_IGNORED = (t.ChecklistAdded,)  # a list without items is shown nowhere
