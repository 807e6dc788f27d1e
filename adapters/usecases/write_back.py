"""What was confirmed and done here goes back into the file it came from (ADR 48).

Changes are tried on the lines, and the result is read again: all together, and halves of what
does not come out, down to the one that is the reason. A change is taken only where the file then
says that, and all else as before, and where its import would change nothing. What cannot be said
there is named. Nothing is written where the file says something that was not imported."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from adapters.documents.import_conflicts import ConflictDetails, conflicts_of
from adapters.documents.results import ChangeBack, FileBack
from adapters.home.atomic_write import replace_if_unchanged
from adapters.home.read_input import STDIN, UnreadableInput
from adapters.importers import formats, writing
from adapters.importers.alignment import BY_TITLE, content
from adapters.importers.marks import closed_on
from adapters.text.common import local_time
from adapters.usecases.import_sources import FileInput, FileSource, given_file, read_file
from adapters.usecases.import_tasks import TASKS_MAX, changed_tasks, command_of
from adapters.usecases.match_imported import (
    KnownTasks,
    MatchedFile,
    as_read_before,
    documents_of,
    known_tasks,
    lines_payload,
    match_imported,
)
from adapters.usecases.task_lists import task_and_document
from domain.errors import Refused, invalid
from domain.journal import catalog as c
from domain.journal import imports
from domain.journal.catalog import CATALOG
from domain.journal.import_conflicts import COMPARED, value_of
from domain.journal.imported import ImportedFile, ImportedItem, ImportedTask, decoded, line_kept
from domain.journal.imports import ImportNames, numbered
from domain.journal.repeat import next_id
from domain.journal.task import CLOSED, TASK, NoteAdded, StatusSet, Task
from domain.log.state import MAIN, LogState
from domain.log.timestamps import instant
from domain.text import fold
from projections.tasks import MARKS, VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

BOM = b"\xef\xbb\xbf"
FIELDS = ("status", "due", "priority", "estimate", "wait_until", "repeat", "title")
"""The title last: lines are found by it."""


class FileChange(NamedTuple):
    """A change of a task that its file does not say yet. `nth`: of items of one title; `day`: when
    a task was closed here."""

    task: str
    field: str  # or ``item``, ``tick`` or ``item title``
    value: Any
    title: str = ""
    nth: int = 0
    reason: str = ""  # of a status
    day: str = ""

    @property
    def named(self) -> str:
        """The field, or the item, for a person."""
        return f"{self.field} {self.title}".strip()


class WrittenBack(NamedTuple):
    """What a file says now, what cannot be said in it, and where it and the person differ. `anew`:
    tasks whose lines say more to this version than to the one that imported them; that was
    imported, too. `data`: its bytes. `added`: tasks that it has now, `unsaid`: those that it cannot
    be given. `others`: tasks that were closed here when their lines said something else."""

    source: str
    written: tuple[FileChange, ...]
    left: tuple[FileChange, ...]
    differ: tuple[ConflictDetails, ...]
    anew: tuple[str, ...]
    data: bytes = b""
    added: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def can_be_written(name: str) -> bool:
    """Whether there is such a file here, in a format that is written back."""
    if not Path(name).is_file():
        return False
    try:
        return formats.guess(given_file(name, name).data, name) in BY_TITLE
    except UnreadableInput:
        return False


def write_back(
    home: "Home",
    file: str,
    source: FileSource | str,
    environ: Mapping[str, str],
    more: Collection[str] = (),
    *,
    is_dry: bool = False,
) -> WrittenBack:
    """Put into a file, known as `source`, what its tasks are here; `more`: tasks that are in no
    file, and shall be in this one; `is_dry`: only say what would be written. Raises Unreadable: it
    cannot be read; Refused, code ``invalid_value`` or ``stale``: it is no file of these, or says
    what was not imported."""
    if file == STDIN or "://" in file:
        raise invalid(f"{file!r} is no file that could be written", "name a file of tasks")
    given = given_file(file, source)._replace(archive=b"")  # that is written by its client alone
    if given.is_utf16:
        raise invalid(f"{file} is UTF-16, and what is written is UTF-8", "save it as UTF-8 first")
    if not Path(file).is_file():
        because = f"{file} is a pipe, and no file that could be written"
        raise invalid(because, "name a file of tasks")
    home.views.catch_up()
    known = known_tasks(home)
    found = read_file(home, given, environ)
    one = match_imported(home, found.file, known)
    read, said = one.read, one.file
    if read.format not in BY_TITLE:
        raise invalid(f"a file of {read.format} cannot be written back", "use Markdown or todo.txt")
    if changed_tasks(one, known):
        because = f"{file} says what was not imported yet"
        raise Refused("stale", because=because, instead="import it first")
    pen = _FileEditor(home, given, read, environ)
    others = _for_others(home, said, known)
    changes, differ = _changes(home, pen, said, others)
    if anew := _read_anew(home, pen, said, changes, is_dry=is_dry):
        pen = _FileEditor(home, given, read, environ)
        changes, differ = _changes(home, pen, as_read_before(home, read, pen.known), others)
    left = pen.write(changes)
    written = [one for one in changes if not any(one is other for other in left)]
    added, unsaid = _nexts_added(home, pen)
    if added:  # with what their lines do not say yet, like items
        new = tuple(one for one in pen.read.tasks if one.task_id in added)
        left += pen.write(_changes(home, pen, replace(pen.read, tasks=new), others)[0])
    added += [task for task in more if task not in added and _added(home, pen, task)]
    if (written or added) and not is_dry:
        now = instant(home.services.clock.now())
        replace_if_unchanged(Path(file), given.data, pen.data, now)
        changed = dict.fromkeys((*(each.task for each in written), *added))
        _record(home, pen, [*changed], added, one)
    unsaid += [task for task in more if task not in added]
    said_there = read.source, tuple(written), tuple(left), differ, anew, pen.data
    return WrittenBack(*said_there, tuple(added), tuple(unsaid), tuple(sorted(others)))


def file_back(file: str, done: WrittenBack) -> FileBack:
    """What was written into a file, as its document."""
    left = [ChangeBack(one.task, one.named, "cannot_be_said") for one in done.left]
    left += (ChangeBack(one.task, one.field, "both_changed") for one in done.differ)
    left += (ChangeBack(one, "status", "closed_as_another") for one in done.others)
    written = [ChangeBack(one.task, one.named) for one in done.written]
    return FileBack(file, written, left, [*done.anew], [*done.added], [*done.unsaid])


def in_no_file(home: "Home") -> list[str]:
    """Open tasks that came from no file, in the order in which they were made."""
    home.views.catch_up()
    found = [one for one in home.views.marked(VIEW, MARKS["open"]) if not one.sources]
    return [one.id for one in sorted(found, key=lambda one: one.place)]


def _read_anew(
    home: "Home", pen: "_FileEditor", said: ImportedFile, changes: Sequence[FileChange],
    *, is_dry: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Import first what lines that are to be edited say to this reader and did not say to the one
    that read them last: so does each edit of such a line, whoever makes it."""
    edited = {one.task for one in changes if pen.can_say(one)}
    both = zip(pen.read.tasks, said.tasks, strict=True)
    tasks = [now for now, was in both if now != was and now.task_id in edited]
    for first in range(0, 0 if is_dry else len(tasks), TASKS_MAX):
        batch = tasks[first : first + TASKS_MAX]
        payloads = documents_of(home, batch, pen.known)
        command = command_of(pen.read.source, batch, payloads, pen.known)
        home.services.append_journal(command, payloads=payloads)
    home.views.catch_up()
    return tuple(one.task_id for one in tasks)


def _nexts_added(home: "Home", pen: "_FileEditor") -> tuple[list[str], list[str]]:
    """The tasks that follow what the file has closed, of a series the one that is open, and that
    are in no file: those that this one could be given, and those that it could not."""
    found, left = list[str](), list[str]()
    here = {one.task_id for one in pen.read.tasks}
    for said in [one for one in pen.read.tasks if one.status in CLOSED]:
        one = next_id(said.task_id)
        while one in pen.known and one not in here and not pen.known[one].is_open:
            one = next_id(one)
        if one not in pen.known or pen.known[one].sources or one in here:
            continue
        here.add(one)
        is_added = pen.add(*task_and_document(home, one), after=said) or _added(home, pen, one)
        (found if is_added else left).append(one)
    return found, left


def _added(home: "Home", pen: "_FileEditor", task_id: str) -> bool:
    """Whether a task could be put into the file; what a line cannot say of it stays here alone."""
    task, said = task_and_document(home, task_id)
    status = said.status if said.status in writing.BOXES else ""
    said = replace(said, description="", notes=(), status=status, status_reason="")
    said = replace(said, category="") if fold(said.category) == fold(c.INBOX) else said
    return pen.add(task, said) or (said.items != () and pen.add(task, replace(said, items=())))


def _record(
    home: "Home",
    pen: "_FileEditor",
    changed: Sequence[str],
    added: Sequence[str],
    one: MatchedFile,
) -> None:
    """Keep what the file says now as what it said last. The lines that are gone leave it with the
    next import, which says what becomes of their tasks; of those that were erased no name stays."""
    said = {task.task_id: task for task in pen.read.tasks}
    lines = [
        line_kept(task.task_id, "" if task.task_id in one.erased else anchor)
        for task, anchor in zip(pen.read.tasks, pen.read.anchors, strict=True)
    ]
    lines += [line_kept(task, "") for task in one.gone]
    kept = lines_payload(lines)
    for first in range(0, len(changed), TASKS_MAX):
        tasks = [said[one] for one in changed[first : first + TASKS_MAX]]
        payloads = documents_of(home, tasks, pen.known)
        command = command_of(pen.read.source, tasks, payloads, pen.known)
        command = replace(command, is_written_back=True, lines=kept.id if added else "")
        home.services.append_journal(command, payloads=[*payloads, *[kept] * bool(added)])
    home.views.catch_up()


def _changes(
    home: "Home", pen: "_FileEditor", read: ImportedFile, others: Collection[str]
) -> tuple[list[FileChange], tuple[ConflictDetails, ...]]:
    """What the file does not say yet, and what is open between it and the person; `others`: tasks
    that were closed as something else than what their line says."""
    found, both = list[FileChange](), list[ConflictDetails]()
    zone = home.settings.timezone if pen.has_days else ""
    kept = [pen.as_kept(said) for said in read.tasks]
    with home.services.journal.reading() as world:
        for said, was in zip(read.tasks, kept, strict=True):
            task = world.load(TASK, said.task_id)
            if task.exists and not task.is_deleted:
                found += _of_items(task, said, was, is_new=task.id in pen.nexts)
                differ = conflicts_of(world, task.id)
                fields = [*(one.field for one in differ), *["status"] * (task.id in others)]
                found += _of_fields(task, said, fields, zone)
                both += differ
    return found, tuple(both)


def _for_others(home: "Home", read: ImportedFile, known: KnownTasks) -> set[str]:
    """Tasks that were closed here when their lines had another title or due date: who repeats one
    by moving its day has it open again, and nobody ticked that."""
    here = [one for one in read.tasks if one.status not in CLOSED and one.task_id in known]
    lines = [one for one in here if known[one.task_id].status in CLOSED]
    with home.services.journal.reading() as world:
        return {one.task_id for one in lines if _is_for_another(world, one)}


def _is_for_another(world: LogState, said: ImportedTask) -> bool:
    then = before = TASK.initial(said.task_id)
    for row in world.rows(TASK, said.task_id):
        before = TASK.evolve(before, row)
        then = before if isinstance(row.fact, StatusSet) else then
    lines = [decoded(world.payload(document)) for _, document in then.imported]
    known = {(fold(then.title), then.due), *((fold(one.title), one.due) for one in lines)}
    return (fold(said.title), said.due) not in known


def _of_fields(
    task: Task, said: ImportedTask, differ: Sequence[str], zone: str
) -> Iterator[FileChange]:
    """`zone`: of the person, if the file says days."""
    for field in FIELDS:
        value, default = getattr(task, field), {"status": "OPEN", "priority": "P2"}.get(field)
        given = getattr(said, field)
        if field in differ or value == (given or default or given):
            continue
        if field == "status":
            day = local_time(task.history[-1].at, zone).partition(" ")[0] if zone else ""
            yield FileChange(task.id, field, value, "", 0, task.status_reason, day)
        else:
            yield FileChange(task.id, field, value)


def _of_items(
    task: Task, said: ImportedTask, kept: ImportedTask, *, is_new: bool
) -> Iterator[FileChange]:
    """`is_new`: the line was just made; of others, what the file brought and has no more stays
    out."""
    before = numbered(kept)
    nths: dict[str, int] = {}
    known = {item.id: item for item in task.items}
    for item_id, was in zip(before, said.items, strict=True):
        folded = fold(was.title)
        nth = nths[folded] = nths.get(folded, -1) + 1
        now = known.get(item_id)
        if now is None or now.is_archived:
            continue
        if now.is_checked != was.is_checked:
            yield FileChange(task.id, "tick", now.is_checked, was.title, nth)
        if now.title != was.title:
            yield FileChange(task.id, "item title", now.title, was.title, nth)
    for item in task.items:
        is_own = is_new or not item.by.startswith("import:")
        if item.id not in before and not item.is_archived and is_own:
            yield FileChange(task.id, "item", item.is_checked, item.title)


class _DraftLines(NamedTuple):
    """The lines as they may be, what is wanted of them, and the places of the tasks that change."""

    lines: list[str]
    read: ImportedFile
    ats: set[int]


class _FileEditor:
    """The lines of a file while they are changed; `read` is the file with the ids of its tasks."""

    def __init__(
        self, home: "Home", given: FileInput, read: ImportedFile, environ: Mapping[str, str]
    ) -> None:
        self._home = home
        self._given = given._replace(form=read.format)
        self._environ = environ
        self._bom = BOM if given.data.startswith(BOM) else b""
        try:
            self._lines = writing.lines_of(given.data.removeprefix(BOM).decode())
        except UnicodeDecodeError:
            raise invalid(f"{given.file} is not UTF-8", "save it as UTF-8") from None
        self.read = read
        self._places = {one.task_id: at for at, one in enumerate(read.tasks)}
        self.known = known_tasks(home)
        self.nexts: set[str] = set()  # tasks whose lines are copied, and may bring a note

    @property
    def _has_reasons(self) -> bool:
        """Whether the file is one of `export --markdown`, which can say all of a status."""
        return self._lines[:1] != [] and self._lines[0].startswith(writing.FIRST)

    @property
    def has_days(self) -> bool:
        """Whether the file says of what is closed when that was."""
        if self._has_reasons:
            return False
        signed = (writing.has_signs(self._lines[line]) for line in self.read.lines)
        return self.read.format == "todotxt" or any(signed)

    @property
    def data(self) -> bytes:
        return self._bom + "".join(self._lines).encode()

    def as_kept(self, said: ImportedTask) -> ImportedTask:
        """What an import would keep of what the file says of a task."""
        (document,) = documents_of(self._home, [said], self.known)
        return decoded(document.data)

    def can_say(self, change: FileChange) -> bool:
        """Whether there is a way to say it in the file at all."""
        return bool(self._draft([change]).ats)

    def write(self, changes: Sequence[FileChange]) -> list[FileChange]:
        """Make the changes that can be made; those that cannot be said, or not without the file
        saying something else otherwise."""
        if not changes or self._took(self._draft(changes)):
            return []
        if len(changes) > 1:
            middle = len(changes) // 2
            return self.write(changes[:middle]) + self.write(changes[middle:])
        (change,) = changes
        nth = 1
        while (draft := self._draft(changes, nth)).ats:
            if self._took(draft):
                return []
            nth += 1
        return [change]

    def _draft(self, changes: Sequence[FileChange], nth: int = 0) -> _DraftLines:
        """The lines and the tasks with all changes, each said in the nth way there is."""
        lines, read, ats = self._lines, self.read, set[int]()
        for change in changes:
            at = self._places[change.task]
            ways = (one for one in _tried(lines, read, change, at, self._has_reasons))
            said = next(islice((one for one in ways if one != lines), nth, None), None)
            if said is None:
                return _DraftLines(lines, read, set())
            more = len(said) - len(lines)
            tasks = [*read.tasks]
            tasks[at] = _wanted_task(tasks[at], change, has_reasons=self._has_reasons)
            places = tuple(one + more * (one > read.lines[at]) for one in read.lines)
            lines, read = said, replace(read, tasks=tuple(tasks), lines=places)
            ats.add(at)
        return _DraftLines(lines, read, ats)

    def _took(self, draft: _DraftLines) -> bool:
        """Whether the file would say just that, and its import change nothing: then it shall."""
        lines, wanted, ats = draft
        if not ats or not all(self._is_no_news(wanted.tasks[at]) for at in ats):
            return False
        data = self._bom + "".join(lines).encode()
        read = read_file(self._home, self._given._replace(data=data), self._environ).file
        says = [content(one) for one in read.tasks]
        if says != [content(one) for one in wanted.tasks]:
            return False
        self._lines = lines
        self.read = replace(read, tasks=wanted.tasks)
        return True

    def add(self, task: Task, said: ImportedTask, after: ImportedTask | None = None) -> bool:
        """Put a task into the file that was in none; whether the file then says just that more, and
        the import of its line changes nothing. `after`: one of the file whose next time it is; its
        line may bring a note."""
        form, at = self.read.format, self._places.get(after.task_id if after else "", -1)
        if after and at < len(self.read.lines):
            line = self.read.lines[at]
            lines = writing.with_next(form, self._lines, line, after, said)
        else:
            lines = writing.with_task(form, self._lines, self.read, said)
        data = self._bom + "".join(lines).encode()
        read = read_file(self._home, self._given._replace(data=data), self._environ).file
        before = Counter(content(one) for one in self.read.tasks)
        new = [at for at, one in enumerate(read.tasks) if content(one) not in before]
        if len(new) != 1 or len(read.tasks) != len(self.read.tasks) + 1:
            return False
        ids = [one.task_id for one in self.read.tasks]
        ids.insert(new[0], task.id)
        tasks = [replace(one, task_id=id_) for one, id_ in zip(read.tasks, ids, strict=True)]
        others = [content(one) for at, one in enumerate(tasks) if at != new[0]]
        is_same = others == [content(one) for one in self.read.tasks]
        if after:
            self.nexts.add(task.id)
            is_same = is_same and self._says_no_other(task, tasks[new[0]])
        if not (is_same and self._is_no_news(tasks[new[0]])):
            return False
        self._lines = lines
        self.read = replace(read, tasks=tuple(tasks))
        self._places = {one.task_id: at for at, one in enumerate(tasks)}
        return True

    def _says_no_other(self, task: Task, said: ImportedTask) -> bool:
        """Whether a task holds all that a line says of it: what was set here would differ."""
        with self._home.services.journal.reading() as world:
            meant = partial(c.category_meant, world.load(CATALOG, MAIN))
        says = [field for field in COMPARED if getattr(said, field)]
        return all(value_of(said, field, meant) == getattr(task, field) for field in says)

    def _is_no_news(self, said: ImportedTask) -> bool:
        """Whether the import of a task as the file shall say it changes nothing."""
        source, kept = self.read.source, self.as_kept(said)
        with self._home.services.journal.reading() as world:
            task, catalog = world.load(TASK, said.task_id), world.load(CATALOG, MAIN)
            last = dict(task.imported).get(source)
            before = decoded(world.payload(last)) if last else None
            meant = partial(c.category_meant, catalog)
            names = ImportNames(meant, c.label_id, meant)
            facts, _ = imports.decide(task, before, kept, names, source, is_three_way=True)
            may_note = said.task_id in self.nexts
            return all(may_note and isinstance(fact, NoteAdded) for fact in facts)


def _tried(
    lines: Sequence[str], read: ImportedFile, change: FileChange, at: int, has_reasons: bool
) -> Iterator[list[str]]:
    """The lines with a change of the task at that place, in each way it may be said."""
    line, was = read.lines[at], read.tasks[at].title
    end = next((one for one in read.lines if one > line), len(lines))
    match change.field:
        case "tick":
            mark = "x" if change.value else " "
            yield writing.with_tick(lines, line + 1, end, change.title, change.nth, mark)
        case "item":
            for title in writing.ways(change.title):
                yield writing.with_item(lines, line, end, title, is_checked=change.value)
        case "item title":
            for one in writing.item_at(lines, line + 1, end, change.title, change.nth):
                changed = writing.with_title(lines[one], change.title, change.value)
                yield from _with_line(lines, one, changed)
        case "title":
            yield from _with_line(lines, line, writing.with_title(lines[line], was, change.value))
        case "status" if has_reasons:
            yield writing.with_whole_status(lines, line, change.value, change.reason)
        case "status":
            new = writing.with_status(read.format, lines[line], change.value, change.day)
            yield from _with_line(lines, line, [new])
        case field:
            new = writing.with_field(read.format, lines[line], field, change.value)
            yield from _with_line(lines, line, [new])


def _with_line(lines: Sequence[str], at: int, changed: Iterable[str]) -> Iterator[list[str]]:
    return ([*lines[:at], one, *lines[at + 1 :]] for one in changed)


def _wanted_task(said: ImportedTask, change: FileChange, *, has_reasons: bool) -> ImportedTask:
    match change.field:
        case "tick" | "item title":
            at = [n for n, one in enumerate(said.items) if fold(one.title) == fold(change.title)]
            new = {"is_checked" if change.field == "tick" else "title": change.value}
            items = [*said.items]
            items[at[change.nth]] = replace(items[at[change.nth]], **new)
            return replace(said, items=tuple(items))
        case "item":
            return replace(said, items=(*said.items, ImportedItem(change.title, change.value)))
        case "status":
            status = "" if change.value == "OPEN" else change.value
            day = closed_on(status, change.day)
            return replace(said, status=status, status_reason=change.reason * has_reasons or day)
        case field:
            return replace(said, **{field: change.value})
