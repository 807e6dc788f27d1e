"""Tasks from Taskwarrior's `task export` (SPEC 1, Importers): a pure function of its bytes.

Both shapes are read, one list or an object per line. Deleted tasks and the templates of
recurring ones are left out and counted. A task that depends on an open one of the same file is
BLOCKED. A `wait` is the day until which a task is hidden (ADR 92); readers before 0.3 had the task
ON HOLD while that day was behind the file's own latest change.
Dates that have no field here are a note; what else has no place is named once for the file."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, tzinfo

from msgspec.structs import replace

from adapters.importers import common
from adapters.importers.json_records import Record, records
from adapters.importers.marks import closed_on
from domain.journal.imported import ImportedFile, ImportedNote, ImportedTask, Unreadable
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import moment
from domain.text import cut, squeeze

_PRIORITIES = {"H": "P1", "M": "P2", "L": "P3"}
_NO_TASKS = {"deleted": "deleted task", "recurring": "template of a recurring task"}
_OPEN = ("pending", "waiting")
_READ = frozenset(
    "uuid description status entry modified start end due wait depends priority project tags "
    "annotations id urgency mask imask parent rtype scheduled until recur".split()
)
_DATES = {"scheduled": "scheduled for", "until": "expires"}
_ID_LENGTH_MAX = 100
_DAY_ENDS = ("00:00", "23:59")  # what a day without a time is written as


def read(data: bytes, *, source: str, zone: tzinfo = UTC) -> ImportedFile:
    """Read a file whole, see `formats.read`. Taskwarrior writes a due date as the instant of
    midnight in the person's `zone`, which is another day in UTC.

    >>> file = read(b'{"uuid": "1", "description": "Paint", "priority": "H"}', source="tw")
    >>> [(task.title, task.priority) for task in file.tasks]
    [('Paint', 'P1')]
    """
    problems = common.Problems()
    source = canonical.clean(source)
    found = _named(records(common.decoded(data, problems), problems))
    reader = _Reader(source, zone, found)
    skipped = Counter(status for one in found.values() if (status := _status(one)) in _NO_TASKS)
    read = {uuid: one for uuid, one in found.items() if _status(one) not in _NO_TASKS}
    tasks = tuple(reader.task(uuid, one) for uuid, one in read.items())
    needs = [(uuid, other) for uuid, one in read.items() for other in _needed(one.quiet())]
    links = ((_id(source, uuid), common.NEEDS, _id(source, to)) for uuid, to in needs if to in read)
    return ImportedFile(
        "taskwarrior",
        source,
        tasks,
        common.bounded(problems),
        tuple(common.counted(count, _NO_TASKS[status]) for status, count in skipped.items()),
        deleted=tuple(_id(source, uuid) for uuid in found if _status(found[uuid]) == "deleted"),
        named=common.bounded(_unread(read.values(), found), "have no place here"),
        earlier=tuple(reader.earlier),
        links=tuple(links),
        formulas=tuple(("task", source, "taskwarrior", uuid) for uuid in read),
    )


def _unread(records: Iterable[Record], found: Collection[str]) -> list[Unreadable]:
    """What has no place here, each key once: what repeats, and what the person defined."""
    named: dict[str, Unreadable] = {}
    for record in records:
        for uuid in _needed(record.quiet()):
            if uuid not in found:
                told = f"`depends`: {cut(uuid, length_max=40)} is not in this file"
                named.setdefault("depends", Unreadable(record.line, told))
        for name in record.values:
            shown = cut(squeeze(name), length_max=40)
            if name == "recur":
                told = "`recur`: Taskwarrior makes the next ones; each that it made is read"
            elif name not in _READ:
                told = f"`{shown}` has no place here and is left out; further ones are not told"
            else:
                continue
            named.setdefault(name, Unreadable(record.line, told))
    return [*named.values()]


def _id(source: str, uuid: str) -> str:
    return key("task", source, "taskwarrior", uuid)


def _named(found: Iterable[Record]) -> dict[str, Record]:
    """The tasks by their uuid, in the order of the file."""
    named: dict[str, Record] = {}
    for record in found:
        uuid = record.title("uuid").lower()
        if not uuid or len(uuid) > _ID_LENGTH_MAX:
            record.report("the task has no uuid; write the file with `task export`")
        elif not record.title("description"):
            record.report("the task has no description; it was left out")
        elif uuid in named:
            record.report(f"the task {uuid} is in the file twice; the first one was taken")
        else:
            named[uuid] = record
    return named


def _status(record: Record) -> str:
    """The status as Taskwarrior names it; a value that is no text is reported by the reader."""
    value = record.values.get("status")
    return value if isinstance(value, str) else ""


class _Reader:
    def __init__(self, source: str, zone: tzinfo, found: dict[str, Record]) -> None:
        self._source, self._zone = source, zone
        open_ones = ((uuid, one) for uuid, one in found.items() if _status(one) in _OPEN)
        self._open = {uuid: one.title("description") for uuid, one in open_ones}
        changes = (_quiet_time(record, "modified", "entry") for record in found.values())
        self._latest = max(filter(None, changes), default=None)
        self.earlier: list[ImportedTask] = []  # as they were read without dates, or on hold

    def task(self, uuid: str, record: Record) -> ImportedTask:
        title = record.title("description")
        priority = record.title("priority")
        if priority and priority not in _PRIORITIES:
            shown = cut(priority, length_max=40)
            record.report(f"the priority {shown!r} is none of H, M and L; it was left out")
        wait = self._day(record, "wait")
        status, reason = self._status_of(record, is_held=not wait)
        task = ImportedTask(
            _id(self._source, uuid),
            cut(title, length_max=common.TITLE_LENGTH_MAX),
            category=cut(record.title("project"), length_max=common.CATEGORY_LENGTH_MAX),
            status=status,
            status_reason=cut(reason, length_max=common.REASON_LENGTH_MAX),
            priority=_PRIORITIES.get(priority, ""),
            due=self._day(record, "due"),
            labels=common.labels_of(record.titles("tags"), record.report),
            notes=(*common.whole_title(title), *_annotations(record)),
            wait_until=wait,
        )
        noted = task
        if dates := self._dates(record):
            noted = replace(task, notes=(*task.notes, ImportedNote(dates, key=common.DATES_KEY)))
        if wait:
            status, reason = self._status_of(record.quiet(), is_held=True)
            reason = cut(reason, length_max=common.REASON_LENGTH_MAX)
            was = {"status": status, "status_reason": reason, "wait_until": ""}
            task = replace(task, **was)
            self.earlier.append(replace(noted, **was))
        self.earlier += [task] if dates else []
        return noted

    def _dates(self, record: Record) -> str:
        """What of its dates has no field here: the time of day it is due at, and others."""
        told: list[str] = []
        due = _quiet_time(record, "due")
        if due and (day := self._day(record, "due")):
            time = due.astimezone(self._zone).strftime("%H:%M")
            told += [f"due {day} {time}"] if time not in _DAY_ENDS else []
        days = {words: self._day(record, name) for name, words in _DATES.items()}
        return ", ".join([*told, *(f"{words} {day}" for words, day in days.items() if day)])

    def _status_of(self, record: Record, *, is_held: bool) -> tuple[str, str]:
        """Status and its reason; the first that applies. `is_held`: what waits is ON HOLD."""
        told = record.title("status")
        if told == "completed":
            return "DONE", closed_on("DONE", self._day(record, "end"))
        if told and told not in _OPEN:
            shown = cut(told, length_max=40)
            record.report(f"the status {shown!r} is not known; the task was read as pending")
        if is_held and (told == "waiting" or self._waits(record)):
            day = self._day(record, "wait")
            return "ON HOLD", f"waiting until {day}" if day else "waiting"
        if record.has("start"):
            return "IN PROGRESS", ""
        if blockers := [self._open[uuid] for uuid in _needed(record) if uuid in self._open]:
            return "BLOCKED", f"waiting for: {'; '.join(blockers)}"
        return "", ""

    def _waits(self, record: Record) -> bool:
        """Whether the time it waits for lies behind the file's latest change."""
        until = _quiet_time(record, "wait")
        return until is not None and self._latest is not None and until > self._latest

    def _day(self, record: Record, name: str) -> str:
        """The day of a time where the person is; empty if there is none."""
        found = record.time(name)
        try:
            return found.astimezone(self._zone).date().isoformat() if found else ""
        except OverflowError:
            record.report(f"`{name}` is out of range; it was left out")
            return ""


def _quiet_time(record: Record, *names: str) -> datetime | None:
    """The first of these that is there and a time; nothing is reported."""
    return next((found for name in names if (found := record.quiet().time(name))), None)


def _needed(record: Record) -> list[str]:
    """The uuids it depends on: a list, in older versions a text with commas."""
    if isinstance(record.values.get("depends"), str):
        return [one.strip().lower() for one in record.title("depends").split(",")]
    return [one.lower() for one in record.titles("depends")]


def _annotations(record: Record) -> list[ImportedNote]:
    """The annotations as notes; Taskwarrior gives each of a task a time of its own."""
    notes: list[ImportedNote] = []
    for one in record.inners("annotations"):
        text, at = one.text("description").strip(), one.time("entry")
        if text:
            notes.append(ImportedNote(text, moment(at) if at else "", one.title("entry")))
        else:
            one.report("an annotation without a text was left out")
    return notes
