"""Tasks as JSON records, of whatever tool writes them: what `export --json-tasks` writes and what
`import --format tasks` reads, a list or an object a line (`wakelog schema import-task`).

A record is the whole task: what is left out is none. One that is not as the schema says is left out
and named by its line and field."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from adapters.importers import common
from adapters.importers.json_records import Record, records
from domain.errors import Refused, invalid
from domain.journal.edits import ITEM_TITLE_MAX, REASON_MAX, TITLE_MAX
from domain.journal.imported import ImportedFile, ImportedItem, ImportedNote, ImportedTask
from domain.journal.repeat import checked_rule
from domain.journal.task import MINUTES_MAX, Priority, Relation, Status
from domain.log import canonical
from domain.log.keys import KEY_LENGTH, key
from domain.log.timestamps import moment
from domain.text import fold, squeeze

WORD = r"\S"
Text = Annotated[str, Meta(pattern=WORD)]
_OWN_ID = re.compile(rf"[a-z2-7]{{{KEY_LENGTH}}}")  # of a task of a home, as an export writes it


class ItemRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An item of the checklist."""

    title: Annotated[str, Meta(max_length=ITEM_TITLE_MAX, pattern=WORD)]
    checked: bool = False


class NoteRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A note; `at` is its own time, with a zone, else that of the import stands. `id`: what its
    tool calls it, so that it stays the same note when its text changes."""

    text: Text
    at: Annotated[datetime, Meta(tz=True)] | None = None
    id: str = ""


class LinkRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A link to the task with that `id` in the same file."""

    relation: Relation
    id: Text


class TaskRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A whole task. `id` is what its tool calls it, by which it is found again, that of a task of a
    home is its own; without one the title finds it. `repeat` is a rule, ``FREQ=WEEKLY;BYDAY=MO``;
    before the day `wait_until` it is hidden. `as_of`: an export's own, to be left as it is: what
    was changed in the home since then stays."""

    title: Annotated[str, Meta(max_length=TITLE_MAX, pattern=WORD)]
    id: str = ""
    status: Status = "OPEN"
    status_reason: Annotated[str, Meta(max_length=REASON_MAX)] = ""
    priority: Priority = "P2"
    due_date: date | None = None
    estimate_minutes: Annotated[int, Meta(ge=0, le=MINUTES_MAX)] = 0
    category: Annotated[str, Meta(max_length=common.CATEGORY_LENGTH_MAX)] = ""
    labels: tuple[str, ...] = ()
    description: str = ""
    items: tuple[ItemRecord, ...] = ()
    notes: tuple[NoteRecord, ...] = ()
    links: tuple[LinkRecord, ...] = ()
    repeat: str = ""
    wait_until: date | None = None
    as_of: Annotated[str, Meta(pattern=r"^([a-z][a-z0-9]{0,15}:[1-9][0-9]{0,17})?$")] = ""


# ----------------------------------------------------------------------------------------- reading


def read(data: bytes, *, source: str) -> ImportedFile:
    """Read a file whole, see `formats.read`.

    >>> data = b'[{"title": "Tap", "due_date": "2027-03-01"}, {"title": "x", "due": 1}]'
    >>> file = read(data, source="list.json")
    >>> [(task.title, task.due) for task in file.tasks], file.unreadable[0].reason
    ([('Tap', '2027-03-01')], 'Object contains unknown field `due`; the task was left out')
    """
    problems = common.Problems()
    source = canonical.clean(source)
    found: dict[str, tuple[Record, TaskRecord]] = {}
    ids: dict[str, str] = {}  # of tasks by what the file calls them
    titles: dict[str, int] = {}
    formulas: list[tuple[str, ...]] = []
    for record in records(common.decoded(data, problems), problems):
        one = _checked(record)
        if one is None:
            continue
        if one.id and one.id in ids:
            record.report("the task is in the file twice; the first one was taken")
            continue
        folded = fold(one.title)
        called = ("id", one.id)
        if not one.id:
            titles[folded] = titles.get(folded, 0) + 1
            called = (folded, str(titles[folded]))
        formula = ("task", source, "tasks", *called)
        task = one.id if _OWN_ID.fullmatch(one.id) else key(*formula)
        ids |= {one.id: task} if one.id else {}
        found[task] = record, one
        formulas.append(formula)
    tasks = tuple(_task(task, *said) for task, said in found.items())
    links = tuple(_links(found, ids))
    told = common.bounded(problems)
    as_of = tuple(one.as_of for _, one in found.values())
    return ImportedFile(
        "tasks", source, tasks, told, links=links, formulas=tuple(formulas), as_of=as_of
    )


def _checked(record: Record) -> TaskRecord | None:
    """What a record says; None, and it is told: it is not as it is to be."""
    try:
        one = msgspec.convert(_cleaned(record.values), TaskRecord)
        rule = checked_rule(one.repeat) if one.repeat else ""
        _check_whole(one)
    except (msgspec.ValidationError, Refused) as error:
        because = error.because if isinstance(error, Refused) else error
        record.report(f"{because}; the task was left out")
        return None
    return replace(one, id=squeeze(one.id), title=squeeze(one.title), repeat=rule)


def _check_whole(one: TaskRecord) -> None:
    if _OWN_ID.fullmatch(one.id) and not one.as_of:
        raise invalid("a home's own `id` needs the `as_of` of its export", "export it again")
    if one.status in ("BLOCKED", "ON HOLD") and not one.status_reason.strip():
        raise invalid(f"{one.status} needs a `status_reason`", "say why")


def _cleaned(value: Any) -> Any:
    """A value with its texts as the journal keeps them."""
    if isinstance(value, str):
        return canonical.clean(value).replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    return {one: _cleaned(of) for one, of in value.items()} if isinstance(value, dict) else value


def _task(task: str, record: Record, one: TaskRecord) -> ImportedTask:
    return ImportedTask(
        task,
        one.title,
        category=squeeze(one.category),
        status="" if one.status == "OPEN" else one.status,
        status_reason=one.status_reason,
        priority="" if one.priority == "P2" else one.priority,
        estimate=one.estimate_minutes,
        due=one.due_date.isoformat() if one.due_date else "",
        labels=common.labels_of(one.labels, record.report),
        description=one.description,
        items=tuple(ImportedItem(squeeze(item.title), item.checked) for item in one.items),
        notes=tuple(
            ImportedNote(note.text, moment(note.at) if note.at else "", note.id)
            for note in one.notes
        ),
        repeat=one.repeat,
        wait_until=one.wait_until.isoformat() if one.wait_until else "",
    )


def _links(
    found: dict[str, tuple[Record, TaskRecord]], ids: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    for task, (record, one) in found.items():
        for link in one.links:
            if link.id in ids:
                yield task, link.relation, ids[link.id]
            else:
                record.report(f"the link leads to {link.id[:40]!r}, which is not in the file")


# ----------------------------------------------------------------------------------------- writing


def written(
    tasks: Iterable[ImportedTask], links: Sequence[tuple[str, str, str]], as_of: str = ""
) -> str:
    """Tasks as records, a line each, with the links that lead to another one of them."""
    every = {one.task_id: one for one in tasks}
    encode = msgspec.json.Encoder().encode
    found = (
        _record(one, as_of, [link[1:] for link in links if link[0] == task and link[2] in every])
        for task, one in every.items()
    )
    return "".join(f"{encode(one).decode()}\n" for one in found)


def _record(task: ImportedTask, as_of: str, links: Iterable[Sequence[str]]) -> TaskRecord:
    plain = {
        "title": task.title, "id": task.task_id, "status": task.status or "OPEN",
        "status_reason": task.status_reason, "priority": task.priority or "P2",
        "due_date": task.due or None, "estimate_minutes": task.estimate, "category": task.category,
        "labels": task.labels, "description": task.description,
        "items": [{"title": item.title, "checked": item.is_checked} for item in task.items],
        "notes": [{"text": one.text, "at": one.at or None, "id": one.key} for one in task.notes],
        "links": [{"relation": relation, "id": target} for relation, target in links],
        "repeat": task.repeat, "wait_until": task.wait_until or None, "as_of": as_of,
    }  # fmt: skip
    return msgspec.convert(plain, TaskRecord)
