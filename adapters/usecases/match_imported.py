"""Which task each line of a file is, as things stand here (ADR 80): what the file said last is
looked up, the lines are aligned with it, and who is new gets an id of its own."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.documents.tasks import RetitledTask
from adapters.importers import alignment
from adapters.importers.alignment import BY_TITLE, FileLine
from adapters.importers.marks import closed_on
from adapters.usecases.task_lists import document_of
from domain.erasure import line_key
from domain.journal.catalog import CATALOG
from domain.journal.imported import (
    ID_KEPT,
    ImportedFile,
    ImportedTask,
    Unreadable,
    decoded,
    line_kept,
    lines_of,
)
from domain.journal.imports import gone_reason, is_unmade
from domain.journal.repeat import next_id
from domain.journal.task import CLOSED, TASK, TaskDeleted, TaskImported
from domain.journal.undo import shape
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN
from domain.log.timestamps import instant
from domain.log.wire import Payload, PayloadId, payload
from domain.text import fold
from projections import import_sources
from projections.agents import VIEW as AGENTS
from projections.tasks import VIEW, TaskDocument
from projections.view import placed

if TYPE_CHECKING:
    from adapters.wiring import Home

KnownTasks = Mapping[str, TaskDocument]
SEEN_KEPT = 3  # of a source, for imports may be taken back
SHARED = "shared"  # the unit of what is kept of a source's lines


class MatchedFile(NamedTuple):
    """A file with the ids of its tasks, and as older readers read what nobody has edited since.

    `read`: as it is read now. `documents`: those of its tasks. `retitled`: what was found again
    under another title or heading. `told`: lines of which nobody can tell which task they are.
    `restores`: tasks that come back. `lines`: what is to be kept of the lines, and `is_kept` that
    it is. `gone`: tasks that it had when it was imported last, and has no more; `before`: how many
    it had. `erased`: tasks that a person had erased here, who wants them from no file again.
    `stood`: what an export said of tasks of which no file of that name has said anything yet."""

    file: ImportedFile
    read: ImportedFile
    documents: Sequence[Payload] = ()
    retitled: tuple[RetitledTask, ...] = ()
    told: tuple[Unreadable, ...] = ()
    restores: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    is_kept: bool = True
    gone: tuple[str, ...] = ()
    before: int = 0
    erased: tuple[str, ...] = ()
    stood: Mapping[str, ImportedTask] = {}

    @property
    def documents_by_id(self) -> dict[str, Payload]:
        ids = (task.task_id for task in self.file.tasks)
        return dict(zip(ids, self.documents, strict=True))


def match_imported(home: "Home", read: ImportedFile, known: KnownTasks) -> MatchedFile:
    """Find the tasks of a file again. `read`: the file, with ids as its reader makes them; `known`:
    all tasks that are here."""
    return _Lines(home, read, known).found()


class _Lines:
    """The lines of a file while they are found again."""

    def __init__(self, home: "Home", read: ImportedFile, known: KnownTasks) -> None:
        self.home, self.read, self.known = home, read, known
        self.source = read.source
        self.anchors = read.anchors or ("",) * len(read.tasks)
        self.kept = _kept_sources(home)
        self._of_source = self.kept.sources.get(self.source, import_sources.ImportSource())
        imported = [(task.id, *one) for task in known.values() for one in task.task.imported]
        self.ours = {task: said for task, name, said in imported if name == read.source}
        self.order, self.named = self._before()
        self.stood = self._stood()
        self.ids = [task.task_id for task in read.tasks]
        self.restores: dict[str, None] = {}
        self.tied: set[str] = set()  # tasks that some line may be, or not
        self.told: list[Unreadable] = []

    def found(self) -> MatchedFile:
        read, known = self.read, self.known
        documents = documents_of(self.home, read.tasks, known)
        if read.format in BY_TITLE:
            self._align(documents)
        elif read.formulas:
            self._elsewhere()
        self._come_back()
        ids = dict(zip((task.task_id for task in read.tasks), self.ids, strict=True))
        changed = {was: now for was, now in ids.items() if was != now}
        now = file = with_items_of(self.home, _with_ids(read, changed) if changed else read, known)
        file = as_read_before(self.home, file, known)
        other = [one for one, was in zip(file.tasks, read.tasks, strict=True) if one is not was]
        anew = iter(documents_of(self.home, other, known))
        documents = [
            made if one is was else next(anew)
            for one, was, made in zip(file.tasks, read.tasks, documents, strict=True)
        ]
        here = set(self.ids)
        gone = [one for one in self.order if one not in here and not known[one].is_deleted]
        lines, had = self._kept_lines(), self._had_when_undone if gone else None
        left = [one for one in gone if one not in self.tied]
        return MatchedFile(
            file, now, documents, tuple(self._retitled(changed)), tuple(self.told),
            tuple(self.restores), lines, lines == self._by_default(gone),
            tuple(one for one in left if had is None or one[:ID_KEPT] in had),
            sum(not known[one].is_deleted for one in self.order),
            tuple(one for one in self.ids if one in self._erased), self._exported(),
        )  # fmt: skip

    def _exported(self) -> dict[str, ImportedTask]:
        """Tasks of this home as they stood when they were exported: what changed since stays."""
        journal, found = self.home.services.journal, dict[str, ImportedTask]()
        for one, as_of in zip(self.ids, self.read.as_of, strict=bool(self.read.as_of)):
            replica, _, n = as_of.partition(":")
            if one in self.ours or one not in self.known or replica not in journal.writers():
                continue
            if journal.digest_at(int(n), replica):
                world = journal.world_at(int(n), replica)
                found[one] = document_of(world.load(TASK, one), world, world.load(CATALOG, MAIN))
        return found

    # --------------------------------------------------------------------------------- what was

    def _before(self) -> tuple[list[str], dict[str, str]]:
        """The ids of the lines that the file had, in its order, and what it called them. Where
        nothing was kept, all tasks of the source in the order in which they came."""
        every = sorted(self.ours, key=lambda one: self.known[one].place)
        lines, since = self._kept()
        if lines is None:
            return every, {}
        begins = {one[:ID_KEPT]: one for one in every}
        parts = [line.partition(" ") for line in lines]
        order = [begins[begin] for begin, _, _ in parts if begin in begins]
        named = {begins[begin]: anchor for begin, _, anchor in parts if begin in begins}
        seen = set(order)
        # those of a machine or version that keeps no lines
        order += [one for one in every if one not in seen and self.known[one].place > since]
        return order, named

    def _stood(self) -> list[int] | None:
        """The places of the lines that this machine saw last, in their order; None: as kept."""
        seen = seen_last(self.home, self.source)
        if seen is None:
            return None
        places = {one[:ID_KEPT]: at for at, one in enumerate(self.order)}
        parts = (line.partition(" ")[0] for line in seen.lines)
        stood = [places[begin] for begin in parts if begin in places]
        later = [
            at for at, one in enumerate(self.order) if self.known[one].place > f"{seen.n:012d} ~"
        ]
        return [*stood, *(at for at in later if at not in stood)]

    def _kept(self) -> tuple[list[str] | None, str]:
        for n, replica, name in self.kept.standing(self.source):
            if (lines := self._payload(name)) is not None:
                return lines, placed(n, replica, 10**6)
        return None, ""

    @cached_property
    def _had_when_undone(self) -> Collection[str] | None:
        """How the lines begin that the file had when it was imported last, if that was taken back:
        what it closed had left the file then. None: they are as they are kept."""
        kept = self._of_source.kept[-1:]
        if not kept or kept[0] in self.kept.standing(self.source):
            return None
        seen = _seen_lines(self.home, self.source)[-1:]
        is_later = seen and seen[0].n >= kept[0].n
        lines = seen[0].lines if is_later else self._payload(kept[0].lines) or ()
        return {line.partition(" ")[0] for line in lines}

    def _payload(self, name: PayloadId) -> list[str] | None:
        data = dict(self.home.services.journal.payloads([name])).get(name)
        return lines_of(data) if data else None

    @cached_property
    def _erased(self) -> set[str]:
        """The lines that a person had erased as tasks, by their ids: also under another title than
        the first, by which an id is made."""
        made = [one for _, one in self.home.services.journal.erasures().made]
        units = {unit for one in made for unit in one.units}
        lines = {line for one in made for line in one.lines}
        said = zip(self.ids, self.read.tasks, self.anchors, strict=True) if made else ()

        def is_gone(one: str, *names: str) -> bool:
            is_new = one not in self.known
            is_line = is_new and any(line_key(self.source, each) in lines for each in names)
            return f"task:{one}" in units or is_line

        return {one for one, task, anchor in said if is_gone(one, task.title, anchor)}

    def _kept_lines(self) -> tuple[str, ...]:
        unnamed = alignment.anchors_twice(self.anchors)
        return tuple(
            line_kept(one, "" if anchor in unnamed or one in self._erased else anchor)
            for one, anchor in zip(self.ids, self.anchors, strict=True)
        )

    def _by_default(self, gone: Sequence[str]) -> tuple[str, ...] | None:
        """What would be found without keeping the lines once more; None: something else."""
        if name := self.kept.newest(self.source):
            lines = self._payload(name)
            return None if lines is None else tuple(lines)
        if gone or any(self.named.values()):
            return None
        new = [one for one in self.ids if one not in self.ours]
        return tuple(one[:ID_KEPT] for one in (*self.order, *new))

    # -------------------------------------------------------------------------------- of no title

    def _elsewhere(self) -> None:
        """Tasks with an id of their own, that came in under another source."""
        names = {name for task in self.known.values() for name in task.sources} - {self.source}
        for at, formula in enumerate(self.read.formulas):
            if self.ids[at] not in self.known:
                made = (key(formula[0], name, *formula[2:]) for name in sorted(names))
                self.ids[at] = next((one for one in made if one in self.known), self.ids[at])

    # ---------------------------------------------------------------------------------- by title

    def _align(self, documents: Sequence[Payload]) -> None:
        places = {one: at for at, one in enumerate(self.order)}
        sure = self._sure(documents, places)
        free = [at for at in range(len(self.ids)) if at not in sure]
        lost = set(self.order) - {self.order[at] for at in sure.values()}
        if free and lost:
            was = self._said(lost)
            earlier: dict[str, list[ImportedTask]] = {}
            for each in self.read.earlier:
                earlier.setdefault(each.task_id, []).append(each)
            now = [
                FileLine(task, anchor, earlier=tuple(earlier.get(task.task_id, ())))
                for task, anchor in zip(self.read.tasks, self.anchors, strict=True)
            ]
            since = self._day(self._of_source.at) if self._of_source.at else ""
            aligned = alignment.align(was, now, sure, since, self._are_alike, self.stood)
            for at, before in aligned.found.items():
                self.ids[at] = self.order[before]
            self.told += [self._tied(at) for at in aligned.tied]
            self.tied.update(self.order[at] for at in aligned.tied_was)
            free = [at for at in free if at not in aligned.found]
        nexts = self._nexts({*free})
        for at, one in nexts.items():
            self.ids[at] = one
        free = [at for at in free if at not in nexts]
        self._anchors_told()
        used = {self.ids[at] for at in {*range(len(self.ids))}.difference(free)}
        for at in free:
            self.ids[at] = self._own_id(at, used, lost)
            used.add(self.ids[at])

    def _sure(self, documents: Sequence[Payload], places: Mapping[str, int]) -> dict[int, int]:
        """Lines that say of the only task of their title what they said last."""
        titles = [fold(task.title) for task in self.read.tasks]
        counts = Counter(titles)
        earlier = [one for one in self.read.earlier if one.task_id in places]
        read_before = {one.id for one in documents_of(self.home, earlier, self.known)}
        found: dict[int, int] = {}
        for at, (task_id, made) in enumerate(zip(self.ids, documents, strict=True)):
            formula = self.read.formulas[at]
            if task_id not in places or counts[titles[at]] > 1:
                continue
            said = said_last(self.known[task_id], self.source)
            same = made.id in said or not read_before.isdisjoint(said)
            is_called = not self.named or self.named.get(task_id, "") == self.anchors[at]
            if same and is_called and key(*formula, "1") not in self.ours:
                found[at] = places[task_id]
        return found

    def _said(self, wanted: Iterable[str]) -> list[FileLine]:
        """The lines that were there, with what the file said of those that are wanted."""
        names = {one: self.ours[one] for one in wanted}
        said = dict(self.home.services.journal.payloads([*names.values()]))
        decode = msgspec.json.Decoder(ImportedTask).decode
        blank = ImportedTask("", "")
        found: list[FileLine] = []
        for one in self.order:
            task = self.known[one]
            document = decode(said[names[one]]) if names.get(one) in said else blank
            is_undated = document.status in CLOSED and not document.status_reason
            days = self._closed_on(one) if is_undated else frozenset()
            is_closed, anchor = task.status in CLOSED, self.named.get(one, "")
            found.append(FileLine(document, anchor, is_closed, task.is_deleted, days))
        return found

    def _closed_on(self, task_id: str) -> frozenset[str]:
        """How a file might say when a task got each status here."""
        with self.home.services.journal.reading() as world:
            history = world.load(TASK, task_id).history
        said = {closed_on(one.status, self._day(one.at)) for one in history}
        return frozenset(said - {""})  # of an open one nothing is said

    def _day(self, at: str) -> str:
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(self.home.settings.timezone)
        return instant(at).astimezone(zone).date().isoformat()

    @cached_property
    def _tended(self) -> set[str]:
        """The tasks that have an agent."""
        return {one.agent.task for one in self.home.views.all(AGENTS)}

    def _are_alike(self, places: Sequence[int]) -> bool:
        """Whether these tasks say the same here, and none has an agent."""
        ids = [self.order[at] for at in places]
        with self.home.services.journal.reading() as world:
            shapes = [shape(world.load(TASK, one)) for one in ids]
        return self._tended.isdisjoint(ids) and all(one == shapes[0] for one in shapes)

    def _nexts(self, free: Collection[int]) -> dict[int, str]:
        """Lines that are none of those that were there, but the next times of one that repeats, and
        that is closed in the file or left it so, by their ids: what is made here, and by other
        machines, has them as well (ADR 92). Which of several open lines it is nobody can tell, but
        for its day."""
        lines = {one: self.read.tasks[at] for at, one in enumerate(self.ids) if at not in free}
        closed: dict[str, list[tuple[str, str]]] = {}  # by title: what it is, and its due date
        for one in self.order if free else ():
            task, line = self.known[one].task, lines.get(one)
            is_closed = (line or task).status in CLOSED and not task.is_deleted
            if is_closed and (task.repeat or (line and line.repeat)):
                title, due = line.title if line else task.title, (line and line.due) or task.due
                closed.setdefault(fold(title), []).append((one, due))
        new = [
            (at, self.read.tasks[at]) for at in free if fold(self.read.tasks[at].title) in closed
        ]
        still = Counter(fold(now.title) for _, now in new if now.status not in CLOSED)
        found: dict[int, str] = {}
        for at, now in sorted(new, key=lambda pair: (pair[1].due, pair[0])):
            before = closed[fold(now.title)]
            nexts = {
                self._next_in(one, now.due, lines)
                for one, due in before
                if (now.due > due or now.due == due == "") and next_id(one) not in lines
            } - {""}
            if still[fold(now.title)] > 1:
                nexts = {one for one in nexts if self._is_due(one, now.due)}
            if len(nexts) == 1:
                (found[at],) = nexts
                lines[found[at]] = now
                before.append((found[at], now.due))
        return found

    def _is_due(self, one: str, due: str) -> bool:
        return one in self.known and self.known[one].task.due == due

    def _next_in(self, one: str, due: str, lines: Collection[str]) -> str:
        """The task of a series that a line is: the first behind `one` that the file has not, and
        that is open here, or due on its day; or is not there yet. Empty: that was another line."""
        one = next_id(one)
        while one in lines or (
            (task := self.known.get(one)) and not task.is_open and not self._is_due(one, due)
        ):
            one = next_id(one)
        is_other = task is not None and task.sources and not self._is_due(one, due)
        return "" if is_other else one

    def _own_id(self, at: int, used: set[str], lost: set[str]) -> str:
        """The id of a line that is none of those that were there: the one that it is given by what
        it says, unless that is another task's."""
        one, nth = self.read.tasks[at].task_id, 0
        if one not in self.known:
            unmade = self._unmade.get(fold(self.read.tasks[at].title), ())
            one = next((task for task in unmade if task not in used), one)
        while one in used or one in lost or not self._may_return(at, one):
            one, nth = key(*self.read.formulas[at], str(nth)), nth + 1
        return one

    @cached_property
    def _unmade(self) -> dict[str, list[str]]:
        """The tasks that went with the undo of an import of this file, by their titles."""
        found: dict[str, list[str]] = {}
        new = {fold(task.title) for task in self.read.tasks if task.task_id not in self.known}
        gone = (one for one in self.known.values() if one.is_deleted and not one.sources)
        with self.home.services.journal.reading() as world:
            for task in gone if new else ():
                rows = world.rows(TASK, task.id) if fold(task.title) in new else ()
                said = [row.fact.by for row in rows if isinstance(row.fact, TaskImported)]
                if said[-1:] == [f"import:{self.source}"] and is_unmade(rows):
                    found.setdefault(fold(task.title), []).append(task.id)
        return found

    def _may_return(self, at: int, given: str) -> bool:
        """Whether a line is a task that its file did not have when it was imported last."""
        task, now = self.known.get(given), self.read.tasks[at]
        if task is None or given not in self.ours:  # new, or its import was taken back
            return True
        said = dict(self.home.services.journal.payloads([self.ours[given]]))
        before = msgspec.json.decode(said[self.ours[given]], type=ImportedTask)
        if before.due != now.due:
            return False
        is_closed = task.status in CLOSED
        if not (task.is_deleted or is_closed):
            return True
        return self._was_gone(task) or (not task.is_deleted and now.status in CLOSED)

    def _was_gone(self, task: TaskDocument) -> bool:
        """Whether a task was rejected or deleted because its file had it no more, or because its
        import was taken back."""
        if not task.is_deleted:
            return task.task.status_reason == gone_reason(self.source)
        with self.home.services.journal.reading() as world:
            rows = world.rows(TASK, task.id)
        ends = [row.fact.by for row in rows if isinstance(row.fact, TaskDeleted)]
        return is_unmade(rows) or ends[-1:] == [f"import:{self.source}"]

    def _come_back(self) -> None:
        """Tasks of the file that are closed or deleted here because of what it once said."""
        said = dict(zip(self.ids, self.read.tasks, strict=True))
        for one, now in said.items():
            task = self.known.get(one)
            if task is None or not (task.is_deleted or task.status == "REJECTED"):
                continue
            is_open = task.is_deleted or now.status not in CLOSED
            if is_open and self._was_gone(task):
                self.restores[one] = None

    # ------------------------------------------------------------------------------------- told

    def _retitled(self, changed: Mapping[str, str]) -> Iterable[RetitledTask]:
        """What is not where its title and heading say; what only changed its place is not told."""
        said = {now: was for was, now in changed.items() if now in self.ours}
        new = {task.task_id: task for task in self.read.tasks}
        kept = dict(self.home.services.journal.payloads([self.ours[one] for one in said]))
        for one, given in said.items():
            if self.ours[one] not in kept:
                continue
            before, now = msgspec.json.decode(kept[self.ours[one]], type=ImportedTask), new[given]
            is_same = fold(before.title) == fold(now.title)
            if not (is_same and fold(before.category) == fold(now.category)):
                yield RetitledTask(one, before.title, now.title)

    def _tied(self, at: int) -> Unreadable:
        title = self.read.tasks[at].title
        told = f"which of the tasks {title!r} this is cannot be told; it was taken as a new one"
        return Unreadable(self.read.line_of(at), told)

    def _anchors_told(self) -> None:
        for name in alignment.anchors_twice(self.anchors):
            at = [nth for nth, one in enumerate(self.anchors) if one == name][1]
            shown = name.removeprefix("id:") if name.startswith("id:") else name.replace("~", "^")
            told = f"{shown} names several tasks of this file; none is known by it"
            self.told.append(Unreadable(self.read.line_of(at), told))


class SeenLines(Struct):
    """The lines of a file as this machine saw them last, which no import may have kept: a line that
    only went is no fact. `base`: what was kept then; `n`: the journal's end."""

    base: str
    n: int
    lines: list[str]


def _seen_lines(home: "Home", source: str) -> list[SeenLines]:
    try:
        return msgspec.json.decode(
            home.views.remembered(f"lines {source}") or b"", type=list[SeenLines]
        )
    except msgspec.MsgspecError:  # nothing, or what another version remembered
        return []


def seen_last(home: "Home", source: str) -> SeenLines | None:
    """The lines of a file as this machine saw them last; None where that is not known."""
    base = _kept_sources(home).newest(source)
    return next((one for one in _seen_lines(home, source) if one.base == base), None)


def _kept_sources(home: "Home") -> import_sources.SourcesDocument:
    found = home.views.get(import_sources.VIEW, import_sources.ALL)
    return found or import_sources.SourcesDocument()


def remember_lines(home: "Home", one: MatchedFile) -> None:
    """Remember the lines of a file that was imported, where they are not what is kept of them. An
    empty one tells nothing of the lines that it had: it may be empty for a moment."""
    if one.file.format not in BY_TITLE or not one.lines:
        return
    base = _kept_sources(home).newest(one.file.source)
    now = SeenLines(base, home.services.journal.tail().n, list(one.lines))
    was = _seen_lines(home, one.file.source)
    if (now.base, now.lines) not in [(each.base, each.lines) for each in was[-1:]]:
        others = [each for each in was if each.base != base][1 - SEEN_KEPT :]
        home.views.remember(f"lines {one.file.source}", msgspec.json.encode([*others, now]))


def lines_payload(lines: Sequence[str]) -> Payload:
    """What is kept of a source's lines, as an import names it."""
    return payload(SHARED, canonical.encode(list(lines)))


def _with_ids(read: ImportedFile, ids: Mapping[str, str]) -> ImportedFile:
    tasks, earlier = (
        tuple(replace(one, task_id=ids.get(one.task_id, one.task_id)) for one in ones)
        for ones in (read.tasks, read.earlier)
    )
    links = tuple((ids.get(at, at), relation, ids.get(to, to)) for at, relation, to in read.links)
    return replace(read, tasks=tasks, earlier=earlier, links=links)


# ------------------------------------------------------------------------------ what was said last


def with_items_of(home: "Home", read: ImportedFile, known: KnownTasks) -> ImportedFile:
    """The file with items by their old ids, where they are only renamed; looked up for tasks of
    which it says something else than before."""
    last: dict[str, PayloadId] = {}
    for task in read.tasks:
        there = known[task.task_id].task.imported if task.task_id in known and task.items else ()
        if there and there[-1][1] != payload(task.task_id, canonical.encode(task)).id:
            last[task.task_id] = there[-1][1]
    kept = dict(home.services.journal.payloads([*last.values()])) if last else {}
    said = {one: decoded(kept[name]) for one, name in last.items() if name in kept}
    if not said:
        return read
    tasks, earlier = (
        tuple(
            alignment.with_items(one, said[one.task_id], known[one.task_id].task.items)
            if one.task_id in said
            else one
            for one in ones
        )
        for ones in (read.tasks, read.earlier)
    )
    return replace(read, tasks=tasks, earlier=earlier)


def as_read_before(home: "Home", read: ImportedFile, known: KnownTasks) -> ImportedFile:
    """The file with tasks as older readers read them, where that is what it said last: a better
    reader changes no task of a file that nobody has edited."""
    earlier = [one for one in read.earlier if one.task_id in known]
    if not earlier:
        return read
    same: dict[str, ImportedTask] = {}
    for one, kept in zip(earlier, documents_of(home, earlier, known), strict=True):
        if kept.id in said_last(known[one.task_id], read.source):
            same[one.task_id] = one
    tasks = tuple(same.get(one.task_id, one) for one in read.tasks)
    return replace(read, tasks=tasks) if same else read


def documents_of(home: "Home", tasks: Sequence[ImportedTask], known: KnownTasks) -> list[Payload]:
    """The documents of tasks, with names as they were spelled when they were imported last; that
    is looked up for what differs from it."""
    made = [payload(task.task_id, canonical.encode(task)) for task in tasks]
    last: dict[int, PayloadId] = {}
    for nth, task in enumerate(tasks):
        before = known[task.task_id].task.imported if task.task_id in known else ()
        if before and before[-1][1] != made[nth].id:
            last[nth] = before[-1][1]
    said = dict(home.services.journal.payloads([*last.values()])) if last else {}
    closed = _closings(home, [tasks[nth] for nth in last])
    for nth, name in last.items():
        if name in said:
            was = msgspec.json.decode(said[name], type=ImportedTask)
            now, closings = known[was.task_id].task, closed.get(was.task_id, ())
            is_closed = now.status in CLOSED
            task = alignment.as_before(tasks[nth], was, is_closed=is_closed, closed=closings)
            task = alignment.items_as_before(task, was, now.items)
            made[nth] = payload(task.task_id, canonical.encode(task))
    return made


def _closings(home: "Home", tasks: Sequence[ImportedTask]) -> dict[str, Collection[str]]:
    """How a file might say, by task, when each that it says is closed was closed here."""
    dated = [one.task_id for one in tasks if one.status in CLOSED and one.status_reason]
    if not dated:
        return {}
    with home.services.journal.reading() as world:
        return {one: alignment.closings(world.load(TASK, one)) for one in dated}


def said_last(task: TaskDocument, source: str) -> set[PayloadId]:
    """What this source, and what any source, said of a task last."""
    last = task.task.imported
    return {said for name, said in last if name == source} | {said for _, said in last[-1:]}


def known_tasks(home: "Home") -> dict[str, TaskDocument]:
    return {task.id: task for task in home.views.all(VIEW)}
