"""What was confirmed and done here goes back into the file it came from (ADR 48).

Each change is tried on the lines, and the result is read again: it is taken only where the file
then says that, and all else as before. What cannot be said there is named. Nothing is written
where the file says something that was not imported.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from adapters.actions.identifying import identified
from adapters.actions.importing import (
    Found,
    Given,
    Importing,
    as_read_before,
    differing,
    given_file,
    known_tasks,
    read_file,
)
from adapters.documents.conflicts import conflicts_of
from adapters.home.files import check_no_database
from adapters.home.given import STDIN
from adapters.importers.identity import BY_TITLE
from adapters.importers.writing import lines_of, with_field, with_item, with_tick
from domain.errors import Refused
from domain.journal.fold import TASK
from domain.journal.imported import ImportedFile, ImportedItem, ImportedTask
from domain.journal.importing import numbered
from domain.journal.task import Task
from domain.text import fold
from domain.timestamps import instant

if TYPE_CHECKING:
    from adapters.wiring import Home

BOM = b"\xef\xbb\xbf"
FIELDS = ("status", "due", "priority", "estimate", "title")  # the title last: lines are found by it


class Change(NamedTuple):
    """A change of a task that its file does not say yet. `nth`: of items of one title."""

    task: str
    field: str  # or ``item`` or ``tick``
    value: Any
    title: str = ""
    nth: int = 0

    @property
    def named(self) -> str:
        """The field, or the item, for a person."""
        return f"{self.field} {self.title}".strip()


class WrittenBack(NamedTuple):
    """What a file says now, and what cannot be said in it."""

    source: str
    written: tuple[Change, ...]
    left: tuple[Change, ...]


def write_back(home: "Home", file: str, source: str, environ: Mapping[str, str]) -> WrittenBack:
    """Put into a file what its tasks are here.

    Raises:
        Unreadable: It cannot be read.
        Refused: Code ``invalid_value`` or ``stale``: it is no file of these, or says what was not
            imported.
    """
    if file == STDIN or "://" in file:
        because = f"{file!r} is no file that could be written"
        raise Refused("invalid_value", because=because, instead="name a file of tasks")
    given = given_file(file, source)
    if given.is_utf16:
        because = f"{file} is UTF-16, and what is written is UTF-8"
        raise Refused("invalid_value", because=because, instead="save it as UTF-8 first")
    home.views.catch_up()
    known = known_tasks(home)
    found = read_file(home, given, environ)
    read, _ = identified(home, found.file, known)
    if read.format not in BY_TITLE:
        because = f"a file of {read.format} cannot be written back"
        raise Refused("invalid_value", because=because, instead="use Markdown or todo.txt")
    said = as_read_before(home, read, known)
    if differing(home, Found(said), known):
        because = f"{file} says what was not imported yet"
        raise Refused("stale", because=because, instead="import it first")
    pen = _Pen(home, given, read, environ)
    written: list[Change] = []
    left: list[Change] = []
    for change in _changes(home, said):
        (written if pen.wrote(change) else left).append(change)
    if written:
        _replace(home, Path(file), given.data, pen.data)
        Importing().take(home, file, Found(pen.read))
    return WrittenBack(read.source, tuple(written), tuple(left))


def _changes(home: "Home", read: ImportedFile) -> Iterator[Change]:
    with home.services.journal.reading() as world:
        for said in read.tasks:
            task = world.load(TASK, said.task_id)
            if not task.is_deleted:
                yield from _of_items(task, said)
                differ = [one.field for one in conflicts_of(world, task.id)]
                yield from _of_fields(task, said, differ)


def _of_fields(task: Task, said: ImportedTask, differ: Sequence[str]) -> Iterator[Change]:
    for field in FIELDS:
        value = getattr(task, field)
        if field not in differ and value != _said(said, field):
            yield Change(task.id, field, value)


def _said(said: ImportedTask, field: str) -> Any:
    default = {"status": "OPEN", "priority": "P2"}.get(field)
    return getattr(said, field) or default or getattr(said, field)


def _of_items(task: Task, said: ImportedTask) -> Iterator[Change]:
    before = numbered(said)
    nths: dict[str, int] = {}
    titles = dict(zip(before, said.items, strict=True))
    known = {item.id: item for item in task.items}
    for item_id, was in titles.items():
        folded = fold(was.title)
        nth = nths[folded] = nths.get(folded, -1) + 1
        now = known.get(item_id)
        if now is not None and not now.is_archived and now.is_checked != was.is_checked:
            yield Change(task.id, "tick", now.is_checked, was.title, nth)
    for item in task.items:
        if item.id not in before and not item.is_archived and not item.by.startswith("import:"):
            yield Change(task.id, "item", item.is_checked, item.title)


class _Pen:
    """The lines of a file while they are changed."""

    def __init__(
        self, home: "Home", given: Given, read: ImportedFile, environ: Mapping[str, str]
    ) -> None:
        self._home = home
        self._given = given._replace(form=read.format)
        self._environ = environ
        self._bom = BOM if given.data.startswith(BOM) else b""
        try:
            self._lines = lines_of(given.data.removeprefix(BOM).decode())
        except UnicodeDecodeError:
            because = f"{given.file} is not UTF-8"
            raise Refused("invalid_value", because=because, instead="save it as UTF-8") from None
        self.read = read

    @property
    def data(self) -> bytes:
        """The file as it shall be."""
        return self._bom + "".join(self._lines).encode()

    def wrote(self, change: Change) -> bool:
        """Whether a change could be made, and the file says nothing else otherwise."""
        at = next(n for n, one in enumerate(self.read.tasks) if one.task_id == change.task)
        lines = self._tried(change, at)
        if lines == self._lines:
            return False
        data = self._bom + "".join(lines).encode()
        read = read_file(self._home, self._given._replace(data=data), self._environ).file
        wanted = [*self.read.tasks]
        wanted[at] = _wanted(wanted[at], change)
        if [replace(one, task_id="") for one in read.tasks] != [
            replace(one, task_id="") for one in wanted
        ]:
            return False
        self._lines = lines
        self.read = replace(read, tasks=tuple(wanted))
        return True

    def _tried(self, change: Change, at: int) -> list[str]:
        line, lines = self.read.lines[at], self._lines
        end = next((one for one in self.read.lines if one > line), len(lines))
        match change.field:
            case "tick":
                mark = "x" if change.value else " "
                return with_tick(lines, line + 1, end, change.title, change.nth, mark)
            case "item":
                return with_item(lines, line, end, change.title, is_checked=change.value)
            case field:
                was = self.read.tasks[at].title
                changed = with_field(self.read.format, lines[line], field, was, change.value)
                return [*lines[:line], changed, *lines[line + 1 :]]


def _wanted(said: ImportedTask, change: Change) -> ImportedTask:
    """What the file shall say of a task."""
    match change.field:
        case "tick":
            nths = _places(said.items, change.title)
            return replace(
                said,
                items=tuple(
                    replace(item, is_checked=change.value) if n == nths[change.nth] else item
                    for n, item in enumerate(said.items)
                ),
            )
        case "item":
            return replace(said, items=(*said.items, ImportedItem(change.title, change.value)))
        case "status":
            status = "" if change.value == "OPEN" else change.value
            return replace(said, status=status, status_reason="")
        case field:
            return replace(said, **{field: change.value})


def _places(items: Sequence[ImportedItem], title: str) -> list[int]:
    return [n for n, item in enumerate(items) if fold(item.title) == fold(title)]


def _replace(home: "Home", file: Path, before: bytes, after: bytes) -> None:
    """Put another content into a file, in one step, where it is still what was read."""
    target = file.resolve()
    check_no_database(target)
    status = target.stat()
    _keep(home, target, before)
    beside = target.with_name(f".{target.name}.wakelog")
    try:
        beside.write_bytes(after)
        beside.chmod(status.st_mode & 0o7777)
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(beside, status.st_uid, status.st_gid)
        if target.read_bytes() != before:
            because = f"{file} was changed while it was written"
            raise Refused("stale", because=because, instead="import it first")
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _keep(home: "Home", target: Path, data: bytes) -> None:
    """A copy of a file beside it, once a day."""
    copy, now = target.with_name(f"{target.name}.bak"), instant(home.services.clock.now())
    is_there = copy.exists()
    if is_there and int(copy.stat().st_mtime // 86_400) == int(now.timestamp() // 86_400):
        return
    copy.write_bytes(data)
    copy.chmod(target.stat().st_mode & 0o7777)
    os.utime(copy, (now.timestamp(), now.timestamp()))
