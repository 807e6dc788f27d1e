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
    """What takes a fact of a task back, at `at`: the task was `before`, and right `after` it.
    `reopens`: stopped timers may run on, and entered time may go."""
    kind = type(fact)
    if kind not in _UNDO or (kind in TIMED and not reopens):
        return Inverse("same" if kind in _IGNORED else "stays")
    held_by, back = _UNDO[kind]
    was, made, held = (held_by(one, fact) for one in (before, after, now))
    if was == made:
        return Inverse("same")
    if made != held:
        return Inverse("moved")
    facts = back(fact, before, now, at)
    return Inverse("undone", tuple(facts)) if facts else Inverse("stays")


def is_as_before(fact: Any, before: Task, now: Task) -> bool:
    """Whether what a fact changed is as it was before it."""
    held, _ = _UNDO[type(fact)]
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


def _has(field: str, of: str) -> Held:
    """Whether a field of the task has what a field of the fact names."""
    return lambda task, fact: getattr(fact, of) in getattr(task, field)


def _of(find: Held, *names: str) -> Held:
    """These fields of the part that a fact is about; None where that is not there."""

    def held(task: Task, fact: Any) -> object:
        part = find(task, fact)
        return None if part is None else [getattr(part, name) for name in names]

    return held


def _item(task: Task, fact: Any) -> t.ChecklistItem | None:
    return item_of(task, fact.item)


def _note(task: Task, fact: Any) -> t.Note | None:
    return next((one for one in task.notes if one.id == fact.note), None)


def _entry(task: Task, fact: Any) -> t.TimeEntry | None:
    return next((one for one in task.time if one.id == fact.entry), None)


def _rating(task: Task, fact: Any) -> t.Rating | None:
    return rating_of(task, fact.entry)


_words, _score = _of(_note, "words"), _of(_rating, "score", "comment")
_times = _of(_entry, "start", "end", "summary")


def _rated_times(task: Task, fact: Any) -> object:
    """An entry with what was thought of it, which would go with it."""
    return _times(task, fact), _score(task, fact)


def _edge(task: Task, fact: Any) -> object:
    return t.Link(fact.relation, fact.target) in task.links


def _is(fact: Callable[..., TaskFact], *names: str) -> Back:
    """A fact about the same thing."""
    return lambda done, *_: [fact(PERSON, *(getattr(done, name) for name in names))]


def _value(fact: Callable[..., TaskFact], *names: str) -> Back:
    """A fact with the values before."""
    return lambda _, before, *__: [fact(PERSON, *(getattr(before, name) for name in names))]


def _part(find: Held, fact: Callable[..., TaskFact], *names: str) -> Back:
    """A fact with the values that its part had before; none where it was not there."""

    def back(done: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
        was = find(before, done)
        return [fact(PERSON, *(getattr(was, name) for name in names))] if was else []

    return back


def _known(task: Task, fact: Any) -> t.TimeEntry:
    return edits.known_entry(task, fact.entry)


def _timed(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = _known(before, fact)
    return edits.retime(now, _known(now, fact), was.start, was.end, was.summary, at)


def _reopened(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = _known(before, fact)
    summary = None if was.summary == _known(now, fact).summary else was.summary
    return [t.TimeReopened(PERSON, was.id, was.start, summary)]


def _put_back_entry(fact: Any, before: Task, now: Task, at: str) -> list[TaskFact]:
    was = _known(before, fact)
    if was.end:
        return [t.TimeLogged(PERSON, was.id, was.start, was.end, was.summary)]
    noted = [t.TimeEdited(PERSON, was.id, summary=was.summary)] if was.summary else []
    return [t.TimeStarted(PERSON, was.id, was.start), *noted]


_UNDO: dict[type, tuple[Held, Back]] = {
    t.TaskRetitled: (_field("title"), _value(t.TaskRetitled, "title")),
    t.TaskDescribed: (_field("description"), _value(t.TaskDescribed, "description")),
    t.CategorySet: (_field("category"), _value(t.CategorySet, "category")),
    t.StatusSet: (
        lambda task, _: (task.status, task.status_reason),
        _value(t.StatusSet, "status", "status_reason"),
    ),
    **{one.fact: (_field(one.name), _value(one.fact, one.name)) for one in FIELDS},
    t.LabelAssigned: (_has("labels", "label"), _is(t.LabelRemoved, "label")),
    t.LabelRemoved: (_has("labels", "label"), _is(t.LabelAssigned, "label")),
    t.LabelSuppressed: (_has("suppressed", "label"), _is(t.LabelAllowed, "label")),
    t.LabelAllowed: (_has("suppressed", "label"), _is(t.LabelSuppressed, "label")),
    t.ItemAdded: (_of(_item, "title", "is_checked", "is_archived"), _is(t.ItemArchived, "item")),
    t.ItemRetitled: (_of(_item, "title"), _part(_item, t.ItemRetitled, "id", "title")),
    t.ItemChecked: (_of(_item, "is_checked"), _is(t.ItemUnchecked, "item")),
    t.ItemUnchecked: (_of(_item, "is_checked"), _is(t.ItemChecked, "item")),
    t.ItemArchived: (_of(_item, "is_archived"), _is(t.ItemRestored, "item")),
    t.ItemRestored: (_of(_item, "is_archived"), _is(t.ItemArchived, "item")),
    t.NoteAdded: (_words, _is(t.NoteRemoved, "note")),
    t.NoteEdited: (_words, _part(_note, t.NoteEdited, "id", "words")),
    t.NoteRemoved: (_words, _part(_note, t.NoteAdded, "id", "note_kind", "words", "at")),
    t.TimeEdited: (_times, _timed),
    t.TimeStarted: (_rated_times, _is(t.TimeRemoved, "entry")),
    t.TimeLogged: (_rated_times, _is(t.TimeRemoved, "entry")),
    t.TimeStopped: (_times, _reopened),
    t.TimeReopened: (_times, _part(_known, t.TimeStopped, "id", "end", "summary")),
    t.TimeRemoved: (_times, _put_back_entry),
    t.TaskRated: (_score, _part(_rating, t.TaskRated, "entry", "score", "comment")),
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
_IGNORED = (t.ChecklistAdded,)  # a list without items is shown nowhere
