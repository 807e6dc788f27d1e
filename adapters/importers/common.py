"""What the readers share: bytes as text, names within their limits, a bounded list of reports."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from adapters.importers.markdown_line import nths
from adapters.importers.marks import LABEL_LENGTH_MAX, DialectMarks
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask, Unreadable
from domain.journal.task import CLOSED
from domain.text import cut, fold, squeeze

TITLE_LENGTH_MAX = 200
ITEM_LENGTH_MAX = 400
CATEGORY_LENGTH_MAX = 100
REASON_LENGTH_MAX = 500  # of a status, and of a report
UNREADABLE_MAX = 1000

TITLE_KEY = "title"  # of the note that keeps a title which is too long
DATES_KEY = "dates"  # of the note that keeps the dates which a task has no field for
STAYS = "{} has no place here and stays in the title; further ones are not told"


class Problems(list[Unreadable]):
    """Reports of a reader that goes through a file in order; very many are only counted."""

    dropped = 0

    def append(self, problem: Unreadable) -> None:
        """Keep a report, or count it."""
        if len(self) > UNREADABLE_MAX:
            self.dropped += 1
        else:
            super().append(problem)


def decoded(data: bytes, problems: list[Unreadable]) -> str:
    """Text with line feeds only, without byte order mark and NUL."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        line = lines_ended(data[: error.start].decode()).count("\n") + 1
        problems.append(Unreadable(line, "this is not UTF-8; what could not be read is now \ufffd"))
    return lines_ended(text).replace("\0", "\ufffd")


def lines_ended(text: str) -> str:
    """The text with line feeds only.

    >>> lines_ended("one\\r\\ntwo\\rthree")
    'one\\ntwo\\nthree'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def bounded(problems: list[Unreadable], what: str = "could not be read") -> tuple[Unreadable, ...]:
    """In the order of lines; of very many the first, and how many more there are."""
    problems.sort(key=lambda problem: problem.line)
    kept, more = problems[:UNREADABLE_MAX], problems[UNREADABLE_MAX:]
    if more:
        count = len(more) + (problems.dropped if isinstance(problems, Problems) else 0)
        kept.append(Unreadable(more[0].line, f"{count} more from here on {what}"))
    told = ((one.line, cut(one.reason, length_max=REASON_LENGTH_MAX)) for one in kept)
    return tuple(Unreadable(*one) for one in told)


def extra_notes(title: str, length_max: int, links: Iterable[tuple[str, str]]) -> list[str]:
    """What a title line says that the title cannot hold: its whole text, addresses."""
    whole = [title] if len(title) > length_max else []
    return [*whole, *(f"{text}: {url}" for text, url in links)]


def file_order(items: Sequence[tuple[ImportedItem, bool]]) -> tuple[ImportedItem, ...]:
    """Items, each with whether it is late, as the file has them; but among equal titles late ones
    come last: ids are made of a title's place among its equals.

    >>> late, first = ImportedItem("a", is_checked=True), ImportedItem("a")
    >>> [item.is_checked for item in file_order([(late, True), (first, False)])]
    [False, True]
    """
    named = [(fold(item.title), is_late) for item, is_late in items]
    places = zip(named, nths(named), strict=True)
    found = {(title, nth): item for ((title, _), nth), (item, _) in zip(places, items, strict=True)}
    in_file = nths([(title, False) for title, _ in named])
    return tuple(found[title, nth] for (title, _), nth in zip(named, in_file, strict=True))


def whole_title(title: str) -> tuple[ImportedNote, ...]:
    """The note that keeps a title too long for a task; it follows the title, by its key."""
    notes = extra_notes(title, TITLE_LENGTH_MAX, ())
    return tuple(ImportedNote(text, key=TITLE_KEY) for text in notes)


def labels_of(names: Iterable[str], report: Callable[[str], None]) -> tuple[str, ...]:
    """Labels without repetition, in their order; one that is too long is reported."""
    labels: dict[str, str] = {}
    for name in map(squeeze, names):
        if len(name) > LABEL_LENGTH_MAX:
            shown = cut(name, length_max=40)
            report(f"the label {shown!r} is over {LABEL_LENGTH_MAX} long; it was left out")
        elif name:
            labels.setdefault(fold(name), name)
    return tuple(labels.values())


def time_of(text: str) -> datetime | None:
    """The UTC instant of an ISO 8601 time that names its zone; None if the text is none.

    >>> time_of("20270212T173000Z"), time_of("2027-02-12T17:30:00Z") == time_of("20270212T173000Z")
    (datetime.datetime(2027, 2, 12, 17, 30, tzinfo=datetime.timezone.utc), True)
    >>> time_of("2027-02-12"), time_of("tomorrow")
    (None, None)
    """
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def counted(count: int, what: str) -> str:
    """A count with its noun.

    >>> counted(1, "deleted task"), counted(2, "deleted task")
    ('1 deleted task', '2 deleted tasks')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# ----------------------------------------------------------------------- tasks that wait for others

NEEDS = "is_blocked_by"  # the relation of a link


def needed_tasks(
    tasks: Sequence[ImportedTask], said: Sequence[DialectMarks]
) -> Iterator[tuple[ImportedTask, ImportedTask]]:
    """Each task that needs another one of the file, with that."""
    named = {one.id: task for one, task in zip(said, tasks, strict=True) if one.id}
    for task, one in zip(tasks, said, strict=True):
        yield from ((task, named[name]) for name in one.needs if name in named)


def unknown_needs(said: Sequence[DialectMarks]) -> Iterator[tuple[int, str]]:
    """What is needed and not in the file: by which task, counted from 0, and its name."""
    named = {one.id for one in said}
    for nth, one in enumerate(said):
        yield from ((nth, name) for name in one.needs if name not in named)


def with_blocked(
    tasks: Sequence[ImportedTask], said: Sequence[DialectMarks]
) -> tuple[ImportedTask, ...]:
    """The tasks, but open ones that need open ones are BLOCKED."""
    waits: dict[str, list[str]] = {}
    for task, other in needed_tasks(tasks, said):
        if other.status not in CLOSED and not task.status:
            waits.setdefault(task.task_id, []).append(other.title)

    def as_it_waits(task: ImportedTask) -> ImportedTask:
        if not (titles := waits.get(task.task_id)):
            return task
        told = cut(f"waiting for: {'; '.join(titles)}", length_max=REASON_LENGTH_MAX)
        return replace(task, status="BLOCKED", status_reason=told)

    return tuple(map(as_it_waits, tasks))
