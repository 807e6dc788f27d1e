"""Tasks from files, as often as you like (SPEC 1, Importers), for both doors and the demo.

What becomes of tasks that their file has no more comes first: kept, rejected or deleted, as the
person said for the source; and which of them were told already. Then the import itself, the same
without writing, and what is known of a watched file.

A file that several machines watch is a copy that some tool carries, or one and the same. What
another machine imported of it, or wrote into it, comes with the journal, perhaps before this copy
does. Then the file is behind what is known here, and its old words are no change of anybody. So a
machine of a shared home remembers what its copy said last, and takes it again only where that is
another text by now. It is a cache: without it, what a task's file said at some earlier import is
taken for old once. In a home that is alone nothing is kept."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from adapters.documents.import_conflicts import ConflictDetails, conflicts, conflicts_after
from adapters.documents.tasks import GoneItem, ImportReport
from adapters.home.api_keys import SECRET_VARIABLES
from adapters.home.settings import GoneMode
from adapters.importers.alignment import BY_TITLE
from adapters.importers.formats import READERS
from adapters.store.reader import read_append
from adapters.text.common import safe
from adapters.text.remedies import in_words
from adapters.usecases.agents import AgentOptions, assign_all
from adapters.usecases.import_sources import (
    FileInput,
    FileSource,
    ParsedFile,
    read_file,
    remember_path,
)
from adapters.usecases.inputs import day
from adapters.usecases.match_imported import (
    KnownTasks,
    MatchedFile,
    known_tasks,
    lines_payload,
    match_imported,
    remember_lines,
    said_last,
)
from adapters.usecases.repeating import next_fields
from adapters.usecases.resolve import nth_key
from adapters.usecases.resolve_conflict import Side, settle
from adapters.usecases.tasks import accompany_next, append_command, resume_restored
from domain.append.causes import Receipt
from domain.errors import Refused, invalid
from domain.handlers import execute
from domain.handlers.imports import not_linked
from domain.handlers.undo import import_undone_in_task
from domain.journal import commands as do
from domain.journal import imports
from domain.journal.imported import ImportedFile, ImportedTask, Unreadable, decoded
from domain.journal.repeat import next_id
from domain.journal.task import CLOSED, TASK, TaskImported
from domain.log import canonical
from domain.log.keys import key as make_key
from domain.log.state import RecordedEvent, entity_of
from domain.log.wire import Payload, payload
from domain.text import fold
from projections.tasks import VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

ConfirmClosing = Callable[[Sequence[str]], bool]
"""``sure(tasks)``: whether a person wants so many tasks closed that are gone from their file."""

GONE_MANY = 10  # tasks; more are not closed unasked
GONE_FEW = 3  # tasks that are, though they are a fifth of their source


def keep_choice(home: "Home", source: str, said: GoneMode | None) -> None:
    if said is not None:
        home.views.remember(f"gone {source}", said.encode())


def kept_choice(home: "Home", source: str) -> GoneMode:
    """What was said of this source before, else what the settings say."""
    kept = (home.views.remembered(f"gone {source}") or b"").decode()
    return next((one for one in get_args(GoneMode) if one == kept), home.settings.import_.gone)


def plan_missing(
    home: "Home",
    one: "MatchedFile",
    report: ImportReport,
    said: GoneMode | None,
    sure: ConfirmClosing,
) -> tuple[do.GoneTask, ...]:
    """What is to be closed of the tasks that a file has no more. The report's `gone` is parted:
    what is closed is settled, and what is much, and nobody was sure of, is held back. `said`: in
    this command; None: what was said before holds, of those alone that the file had when it was
    imported last, and never because it is empty."""
    how = said or kept_choice(home, one.file.source)
    every = [do.GoneTask(task, "delete") for task in dict.fromkeys(one.file.deleted)]
    closing = [each for each in every if _may_close(home, each)]
    more: list[do.GoneTask] = []
    if how != "keep":
        wanted = [task for task in report.gone if said is not None or task in one.gone]
        every = [do.GoneTask(task, how) for task in wanted if task not in one.file.deleted]
        more = [each for each in every if _may_close(home, each)]
    ids = tuple(each.task for each in more)
    lines = one.file.lines if one.file.format in BY_TITLE else one.file.tasks  # no archive's
    is_empty = said is None and not lines
    is_much = len(ids) > GONE_MANY or (len(ids) >= GONE_FEW and len(ids) * 5 >= one.before)
    if ids and (is_empty or (is_much and not sure(ids))):
        report.gone_held = ids
    else:
        closing += more
    report.gone_settled = tuple(each.task for each in closing)
    left = {*report.gone_settled, *report.gone_held}
    report.gone = tuple(each for each in report.gone if each not in left)
    return tuple(closing)


def _may_close(home: "Home", gone: do.GoneTask) -> bool:
    task = home.views.get(VIEW, gone.task)
    return task is not None and not task.is_deleted and (gone.how == "delete" or task.is_open)


def missing_items(read: "ImportedFile", known: Mapping[str, "TaskDocument"]) -> Iterator[GoneItem]:
    """Items that the file once had in tasks that it still has."""
    for said in read.tasks:
        task = known.get(said.task_id)
        if task is None or task.is_deleted:
            continue
        present = imports.numbered(said)
        for item in task.items:
            if item.by == f"import:{read.source}" and item.id not in present:
                yield GoneItem(task.id, item.id, item.title)


def newly_missing(home: "Home", source: str, gone: Collection[str]) -> list[str]:
    """Those of the tasks and items that were not told of as gone before; they are now."""
    name = f"gone told {source}"
    before = msgspec.json.decode(home.views.remembered(name) or b"[]", type=list[str])
    home.views.remember(name, msgspec.json.encode(sorted(gone)))
    return [one for one in gone if one not in before]


# --------------------------------------------------------------------------------------- the import

TASKS_MAX = 200  # of one append
TasksDone = Callable[[int], None]
"""``told(count)``: so many more tasks are done with."""


class _KeptReport(msgspec.Struct):
    """What is kept of an import that changed nothing, and what its report was made of."""

    made_of: list[str]
    report: ImportReport


# --------------------------------------------------------------------------- what was told before


def kept_report(home: "Home", given: FileInput, made_of: list[str]) -> ImportReport | None:
    """The report of a file that changed nothing when it was imported last, where neither it nor
    its reader nor the journal has changed since. It is a cache: without it the file is read."""
    kept = home.views.remembered(_report_name(given))
    try:
        known = msgspec.json.decode(kept or b"", type=_KeptReport)
    except msgspec.MsgspecError:  # nothing, or what another version kept
        return None
    return replace(known.report, file=safe(given.file)) if known.made_of == made_of else None


def keep_report(home: "Home", given: FileInput, made_of: list[str], report: ImportReport) -> None:
    """Keep a report for `kept_report`, where the next one would be the same: nothing changed, and
    nothing of the file was refused. `made_of` was asked before the tasks were looked at: what
    others append meanwhile is not in the report."""
    is_same = report.unchanged and not (report.created or report.changed or report.events)
    if is_same and not report.unreadable and not report.keys_replaced:
        home.views.remember(_report_name(given), msgspec.json.encode(_KeptReport(made_of, report)))
    elif home.views.remembered(_report_name(given)):  # the file was another one in between
        home.views.remember(_report_name(given), b"")


def _report_name(given: FileInput) -> str:
    return f"import {given.source}"


def made_of(home: "Home", given: FileInput, environ: Mapping[str, str]) -> list[str]:
    """All that the report of a file is made of now."""
    tail, how = home.services.journal.tail(), (given.form, str(given.by_heading))
    names = (*SECRET_VARIABLES, *home.settings.key_variables)
    secrets = "\n".join(environ.get(name, "") for name in names).encode("utf-8", "replace")
    return [
        blake2b(given.data).hexdigest(),
        *([blake2b(given.archive).hexdigest()] if given.archive else ()),
        Path(given.file).name,  # a format may be guessed by it
        *(str(READERS), *how, home.settings.timezone, str(home.settings.policy.scrub_entry)),
        blake2b(secrets, digest_size=2).hexdigest(),  # tells a change, and is of no use to guess
        *(str(tail.n), tail.digest),
    ]


# ------------------------------------------------------------------------------------------ writing


MORE = ("lines", "links", "gone", "restores")
"""What an import says besides its tasks: fields of `ImportTasks`."""


class Importing(msgspec.Struct):
    """The appends of one import over all its files, the nth under ``K:n``.

    Of several appends that nobody gave a key, the key is derived: what one command did is one deed.
    """

    key: str = ""
    prefer: Side | None = None  # what shall stand where the file and the person differ
    gone: GoneMode | None = None  # what becomes of tasks that their file has no more
    agents: bool | None = None  # whether new tasks get an agent; None: as the settings say
    restores: bool = False  # whether what was deleted here, and is in the file, comes back
    is_one_of_many: bool = False
    sure: ConfirmClosing = lambda _: False
    _nth: int = 0
    _name: str = ""

    def __post_init__(self) -> None:
        self._name = self.key

    def remember(self, home: "Home", given: FileInput) -> None:
        """Remember of a file that is as it was what was said of it, and where it is."""
        keep_choice(home, given.source, self.gone)
        remember_path(home, given.place)

    def settles(self, report: ImportReport) -> bool:
        """Whether there is something to settle in a file that says nothing new."""
        is_gone = report.gone_held or (report.gone and self.gone)
        is_back = report.deleted_here and self.restores
        return bool((report.conflicts and self.prefer) or is_gone or is_back)

    def take(
        self,
        home: "Home",
        file: str,
        found: ParsedFile,
        told: TasksDone = lambda _: None,
        place: FileSource | None = None,
    ) -> ImportReport:
        """Take a file's tasks over. What the rules refuse is reported, the rest is kept.

        Args:
            home: Open to write; one without tasks to take need not be.
            file: What the file is called in the report.
            told: Is told how far it has come.
            place: Which file of this machine it is, to be remembered.

        Raises:
            Refused: What no single task is the reason of: ``key_reused`` or ``read_only``.
        """
        known = known_tasks(home)
        one = match_imported(home, found.file, known)
        report = report_of(home, file, found, one, known)
        if place is not None:  # at once: a process may end in between
            remember_path(home, place)
        report.moved_from = place.was if place else ""
        restores = {*one.restores, *(report.deleted_here if self.restores else ())}
        if self.restores:
            report.deleted_here = ()
        tasks = one.file.tasks if self.key else changed_tasks(one, known, restores)
        tasks = [task for task in tasks if task.task_id not in one.erased]
        report.unchanged = len(one.file.tasks) - len(tasks)
        told(report.unchanged)
        more = self._more(home, one, report, known, restores)
        written = self._append(home, one, tasks, known, more, report, told)
        home.views.catch_up()
        report.new = tuple(dict.fromkeys(report.new))
        report.restored = tuple(task.task_id for task in one.file.tasks if task.task_id in restores)
        report.unreadable += circles(home, one)
        report.conflicts = open_conflicts(home, one.file, known, written)
        if self.prefer is not None:
            for each in report.conflicts:
                self._nth += 1
                settle(home, each.task, each.field, self.prefer, self._name, nth=self._nth)
            report.settled, report.conflicts = len(report.conflicts), ()
        if report.new and (home.settings.import_.agents if self.agents is None else self.agents):
            report.agents = len(assign_all(home, AgentOptions(), self.key, among=report.new).made)
        remember_lines(home, one)
        return report

    def _more(
        self,
        home: "Home",
        one: MatchedFile,
        report: ImportReport,
        known: KnownTasks,
        restores: Collection[str],
    ) -> do.ImportTasks:
        """What an import says besides its tasks."""
        new = {task.task_id for task in one.file.tasks} - known.keys() | {*restores}
        keep_choice(home, one.file.source, self.gone)
        closing = plan_missing(home, one, report, self.gone, self.sure)
        # made in the last append, when both ends are there; one that was taken away stays so
        links = (
            do.ImportedLink(*each)
            for each in one.file.links
            if new & {each[0], each[2]} and not {each[0], each[2]} & {*one.erased}
        )
        return do.ImportTasks(
            one.file.source,
            (),
            lines="" if one.is_kept else lines_payload(one.lines).id,
            links=tuple(links),
            gone=closing,
            restores=tuple(sorted(restores)),
            stops_timers=any(each.how == "reject" and _runs(known, each.task) for each in closing),
        )

    def _append(
        self,
        home: "Home",
        one: MatchedFile,
        tasks: Sequence[ImportedTask],
        known: KnownTasks,
        more: do.ImportTasks,
        report: ImportReport,
        told: TasksDone,
    ) -> set[str]:
        """Write it, in appends of so many tasks, and what else it says with the last of them; the
        tasks that it changed."""
        batches = [tasks[at : at + TASKS_MAX] for at in range(0, len(tasks), TASKS_MAX)]
        documents = one.documents_by_id
        written: set[str] = set()
        left = more

        def append(tasks: Sequence[ImportedTask]) -> None:
            """Append these tasks, with the links of which both ends are there then, so that nothing
            is lost with a process; where they are all, with what else is said."""
            nonlocal left
            is_whole = not tasks or (len(batches) == 1 and tasks is batches[0])
            payloads = [documents[task.task_id] for task in tasks]
            command = command_of(one.file.source, tasks, payloads, known)
            here = {task.task_id for task in tasks}
            said = left
            if is_whole:
                payloads += [lines_payload(one.lines)] if left.lines else []
            else:
                there = known.keys() | written | here
                links = [each for each in left.links if {each.task, each.target} <= there]
                restores = [each for each in left.restores if each in here]
                said = do.ImportTasks("", (), links=tuple(links), restores=tuple(restores))
            command = replace(
                command,
                nexts=next_tasks(tasks, one.file.tasks, known, day("today", home)),
                stops_timers=command.stops_timers or said.stops_timers,
                bases=_bases(home, here, known),
                **{name: getattr(said, name) for name in MORE},
            )
            command = _on_bases(command, here, one.stood, payloads)
            is_alone = is_whole and not (self.is_one_of_many or self.prefer)
            key = self._key_of(home, command, is_alone=is_alone)
            appended = home.services.append_journal(command, key=key, payloads=payloads)
            resume_restored(home, appended)
            left = _without(left, said)
            self._nth += 1
            changed = set(appended.result.ids) if appended.rows else set[str]()
            for each in command.nexts:
                accompany_next(home, each.task)
            written.update(changed)
            report.events += len(appended.rows)
            report.new += tuple(id_ for id_ in appended.result.ids if id_ in changed - known.keys())
            report.created = len(report.new)
            report.changed += sum(id_ in known for id_ in changed)
            report.unchanged += len(here - changed) - len(changed - here)

        for batch in batches:
            bisect_batch(batch, append, report)
            told(len(batch))
        if left.links or left.gone or left.restores or (left.lines and written):
            append(())
        return written

    def _key_of(self, home: "Home", command: do.ImportTasks, *, is_alone: bool) -> str:
        """The key of the next append; one that is the whole deed needs none."""
        if not self._name and not is_alone:
            tail = home.services.journal.tail()
            self._name = make_key("import", tail.digest, canonical.encode(command).decode())
        return nth_key(self._name, self._nth + 1)


def _without(more: do.ImportTasks, said: do.ImportTasks) -> do.ImportTasks:
    """What is still to be said."""
    return replace(
        more,
        lines="" if said.lines else more.lines,
        links=tuple(one for one in more.links if one not in said.links),
        gone=() if said.gone else more.gone,
        restores=tuple(one for one in more.restores if one not in said.restores),
    )


def open_conflicts(
    home: "Home", read: ImportedFile, known: KnownTasks, written: Collection[str] = ()
) -> tuple[ConflictDetails, ...]:
    """What is open in a file's tasks; those that were written are looked up anew."""
    there = [known[one.task_id] for one in read.tasks if one.task_id in known]
    now = (home.views.get(VIEW, one.id) if one.id in written else one for one in there)
    return tuple(conflicts(home, [one for one in now if one is not None]))


def changed_tasks(
    one: MatchedFile, known: KnownTasks, restores: Collection[str] = ()
) -> Sequence[ImportedTask]:
    """The tasks of a file that are new here, or of which it says something else than before."""
    return [
        each
        for each, said in zip(one.file.tasks, one.documents, strict=True)
        if each.task_id not in one.erased and one.stood.get(each.task_id) != each
        if (task := known.get(each.task_id)) is None
        or not (
            (task.is_deleted and each.task_id not in restores)
            or said.id in said_last(task, one.file.source)
        )
    ]


def circles(home: "Home", one: MatchedFile) -> tuple[Unreadable, ...]:
    """Links between tasks that the file names and that cannot be, for they would close a circle:
    told by each import. The others are made with the tasks, and the person's from then on."""
    if not one.file.links:
        return ()
    lines = {task.task_id: at for at, task in enumerate(one.file.tasks)}
    with home.services.journal.reading() as world:
        left = not_linked(world, [do.ImportedLink(*link) for link in one.file.links])
    found: list[Unreadable] = []
    for link, refused in left:
        if refused.code == "cycle":
            told = f"⛔ would close a circle: {refused.because}; it was left out"
            found.append(Unreadable(one.file.line_of(lines[link.task]), told))
    return tuple(found)


def report_of(
    home: "Home", file: str, found: ParsedFile, one: MatchedFile, known: KnownTasks
) -> ImportReport:
    """What can be said of a file before any of it is taken over."""
    read = one.file
    here = {task.task_id: task for task in read.tasks}
    left = tuple(
        task.id
        for task in sorted(known.values(), key=lambda task: task.place)
        if read.source in task.sources and task.id not in here and not task.is_deleted
        if task.task.status_reason != imports.gone_reason(read.source)
    )
    still_open = [one for one, said in here.items() if said.status not in CLOSED]
    open_there = [known[one] for one in still_open if one in known]
    is_written = read.format in BY_TITLE
    return ImportReport(
        file,
        read.format,
        gone=left,
        unreadable=read.unreadable,
        left_out=read.left_out,
        gone_items=tuple(missing_items(read, known)),
        remarks=read.remarks,
        boxes_as_open=read.boxes_as_open,
        boxes_left_out=read.boxes_left_out,
        named=read.named,
        keys_replaced=Counter(found.replaced),
        retitled=one.retitled,
        told=one.told,
        deleted_here=tuple(
            task.id for task in open_there if task.is_deleted and task.id not in one.restores
        ),
        erased_here=one.erased,
        done_here=_done_here(home, open_there) if is_written else (),
        added_here=_in_no_file(read.source, known) if is_written else (),
    )


def _done_here(home: "Home", open_there: Iterable[TaskDocument]) -> tuple[str, ...]:
    """Tasks that are done here and that their file still calls open; not those of which it said
    before that they are closed: it opens them again."""
    done = [one for one in open_there if one.status == "DONE" and not one.is_deleted]
    said = {one.id: one.task.imported[-1][1] for one in done if one.sources}
    kept = dict(home.services.journal.payloads([*said.values()])) if said else {}
    was = {one: decoded(kept[name]).status for one, name in said.items() if name in kept}
    return tuple(one.id for one in done if was.get(one.id) not in CLOSED)


def _in_no_file(source: str, known: KnownTasks) -> tuple[str, ...]:
    """Open tasks that are in no file, where there is no other file that they might belong in."""
    if {name for task in known.values() for name in task.sources} != {source}:
        return ()
    open_ones = (task for task in known.values() if task.is_open and not task.is_deleted)
    return tuple(task.id for task in open_ones if not task.sources)


def command_of(
    source: str, tasks: Sequence[ImportedTask], documents: Sequence[Payload], known: KnownTasks
) -> do.ImportTasks:
    pairs = zip(tasks, documents, strict=True)
    refs = [do.ImportedRef(one.task_id, kept.id) for one, kept in pairs]
    sources = (known[task.task_id].sources for task in tasks if task.task_id in known)
    is_shared = any(name != source for names in sources for name in names)
    is_again = any(task.task_id in known for task in tasks)
    has_items = any(task.items for task in tasks if task.task_id in known)
    return do.ImportTasks(
        source,
        tuple(refs),
        across_sources=is_shared,
        is_three_way=is_again,
        renames_items=has_items,
        stops_timers=any(one.status in CLOSED and _runs(known, one.task_id) for one in tasks),
        scopes_labels=any(one.labels for one in tasks),
    )


def _bases(home: "Home", ids: Iterable[str], known: KnownTasks) -> tuple[do.ImportedRef, ...]:
    """What those of tasks are made of that went with the undo of all their imports."""
    there = (known[one] for one in sorted(ids) if one in known)
    unmade = [one.id for one in there if one.is_deleted and not one.sources]
    if not unmade:
        return ()
    with home.services.journal.reading() as world:
        every = {one: world.rows(TASK, one) for one in unmade}
    made = {one: imports.made_of(rows) for one, rows in every.items()}
    made = {one: base for one, base in made.items() if base != imports.said_last(every[one])}
    return tuple(do.ImportedRef(one, base) for one, base in made.items() if base)


def _on_bases(
    command: do.ImportTasks, here: Collection[str], stood: Mapping[str, ImportedTask],
    payloads: list[Payload],
) -> do.ImportTasks:  # fmt: skip
    """A command that compares tasks with how they `stood`; `payloads` gets what it names."""
    made = {one: payload(one, canonical.encode(stood[one])) for one in sorted({*here} & {*stood})}
    payloads += made.values()
    refs = (do.ImportedRef(one, kept.id) for one, kept in made.items())
    return replace(command, bases=(*command.bases, *refs), is_on_bases=bool(made))


def next_tasks(
    tasks: Iterable[ImportedTask], file: Sequence[ImportedTask], known: KnownTasks, today: str
) -> tuple[do.NextTask, ...]:
    """What follows the tasks that repeat and that these close; nothing where the file has an open
    line of that title, due later, that may be it: one that is has its id."""
    found: list[do.NextTask] = []
    here = {one.task_id for one in file}
    for one in tasks:
        task = known[one.task_id].task if one.task_id in known else None
        if one.status not in CLOSED or task is None or not task.is_open:
            continue
        task = replace(task, due=one.due or task.due, repeat=one.repeat or task.repeat)
        may_be_there = next_id(task.id) not in here and any(
            other.status not in CLOSED
            and fold(other.title) == fold(one.title)
            and other.due > task.due
            for other in file
        )
        said = {} if may_be_there else next_fields(task, today)
        found += [do.NextTask(task.id, said["next_due"], said["next_wait"])] if said else []
    return tuple(found)


def _runs(known: KnownTasks, task_id: str) -> bool:
    return task_id in known and bool(known[task_id].task.running)


# ------------------------------------------------------------------------------------------ dry run
# What an import would do, without writing: `import --dry-run`. The rules that decide an import are
# asked, so that both count alike.

ConflictsAfter = dict[str, list[ConflictDetails]]


def dry_run(
    home: "Home",
    file: str,
    found: ParsedFile,
    prefer: Side | None = None,
    how: GoneMode | None = None,
) -> ImportReport:
    """What `Importing.take` would report; `events` stays 0, for nothing is written."""
    known = known_tasks(home)
    one = match_imported(home, found.file, known)
    read, report = one.file, report_of(home, file, found, one, known)
    new = changed_tasks(one, known, one.restores)
    report.unchanged = len(read.tasks) - len(new)
    foreseen: ConflictsAfter = {}

    def decide(tasks: Sequence[ImportedTask]) -> None:
        changed = _conflicts_after(home, one, tasks, known)
        foreseen.update(changed)
        report.unchanged += len(tasks) - len(changed)

    for first in range(0, len(new), TASKS_MAX):
        bisect_batch(new[first : first + TASKS_MAX], decide, report)
    report.new = tuple(one for one in foreseen if one not in known)
    report.created = len(report.new)
    report.changed = len(foreseen) - report.created
    now = [one for one in open_conflicts(home, read, known) if one.task not in foreseen]
    places = {one.task_id: nth for nth, one in enumerate(read.tasks)}
    both = [*now, *(one for found in foreseen.values() for one in found)]
    report.conflicts = tuple(sorted(both, key=lambda one: places[one.task]))
    if prefer is not None:
        report.settled, report.conflicts = len(report.conflicts), ()
    plan_missing(home, one, report, how, lambda _: False)
    report.restored = one.restores
    return report


def _conflicts_after(
    home: "Home", one: MatchedFile, tasks: Sequence[ImportedTask], known: KnownTasks
) -> ConflictsAfter:
    """The tasks that an append would change, each with what would be open of it then."""
    documents = one.documents_by_id
    payloads = [documents[task.task_id] for task in tasks]
    command = command_of(one.file.source, tasks, payloads, known)
    here = {task.task_id for task in tasks}
    restores = tuple(id_ for id_ in one.restores if id_ in here)
    command = replace(command, restores=restores, bases=_bases(home, here, known))
    command = _on_bases(command, here, one.stood, payloads)
    at = home.services.clock.now()
    with home.services.journal.reading() as world:
        world.bring(payloads)
        decided = execute.handle(command, "", at, world)
        world.bring(decided.payloads)
        facts: dict[str, list[Any]] = {task_id: [] for task_id in decided.result.ids}
        for stream, fact in decided.events:
            if entity_of(stream) in facts:
                facts[entity_of(stream)].append(fact)
        return {one: conflicts_after(world, one, said, at) for one, said in facts.items()}


# -------------------------------------------------------------------------------- bisecting a batch
# Some tasks of a file may be refused, and the others are taken.

NOT_A_TASKS = ("key_reused", "read_only", "replaced")
"""Codes of what no single task is the reason of: a full disk, for example."""


def bisect_batch(
    tasks: Sequence[ImportedTask],
    take: Callable[[Sequence[ImportedTask]], None],
    report: ImportReport,
) -> None:
    """Do something with tasks; with halves of what is refused, down to the one that is the reason.
    Raises Refused: what no single task is the reason of."""
    try:
        take(tasks)
    except Refused as refused:
        if refused.code in NOT_A_TASKS:
            raise
        if len(tasks) == 1:
            why = f"{tasks[0].title!r} was left out: {in_words(refused)}"
            report.unreadable = (*report.unreadable, Unreadable(0, why))
            return
        middle = len(tasks) // 2
        bisect_batch(tasks[:middle], take, report)
        bisect_batch(tasks[middle:], take, report)


# ---------------------------------------------------------------- files that several machines watch


def is_known_copy(home: "Home", given: FileInput, environ: Mapping[str, str]) -> bool:
    """Whether what a watched file says was taken here before, or is behind what is known here.
    Raises Unreadable: its format is not known."""
    if not home.services.journal.is_shared:
        return False
    kept = home.views.remembered(_copy_name(given.file))
    return kept == _digest(given.data) if kept else _is_old_copy(home, given, environ)


def keep_copy(home: "Home", file: str, data: bytes) -> None:
    """What a watched file says here now."""
    if home.services.journal.is_shared:
        home.views.remember(_copy_name(file), _digest(data))


def _is_old_copy(home: "Home", given: FileInput, environ: Mapping[str, str]) -> bool:
    """Whether all that a file says otherwise was imported from one like it before."""
    home.views.catch_up()
    known = known_tasks(home)
    found = match_imported(home, read_file(home, given, environ).file, known)
    other, documents = changed_tasks(found, known), found.documents_by_id
    with home.services.journal.reading() as world:
        return bool(other) and all(
            documents[one.task_id].id
            in {row.fact.document for row in rows if isinstance(row.fact, TaskImported)}
            for one in other
            for rows in [world.rows(TASK, one.task_id)]
        )


def _copy_name(file: str) -> str:
    return f"watched {Path(file).absolute()}"


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).hexdigest().encode()


# ---------------------------------------------------------------------------- taking an import back
# Takes an import back: one deed, one append; what was changed since stays.

if TYPE_CHECKING:
    Append = Sequence[RecordedEvent]

LOOK_FIRST = 64  # appends from the end


class ImportUndoResult(NamedTuple):
    """The tasks that were brought back, and those of which something was changed since."""

    tasks: tuple[str, ...]
    kept: tuple[str, ...]


def undo_import(home: "Home", source: str, key: str = "") -> ImportUndoResult:
    """Take back the newest import of a source. Raises Refused, code ``invalid_value``: there is
    none."""
    return take_back(home, _newest_import(home, source), key)


def undo_command(tasks: "Iterable[str]", appends: "Iterable[int]") -> do.UndoImport:
    """What takes an import back."""
    ns = tuple(sorted(appends))
    return do.UndoImport(tuple(tasks), ns[0], ns[-1], reopens=True, appends=ns)


def take_back(home: "Home", command: do.UndoImport, key: str = "") -> ImportUndoResult:
    """Take one import back; what was changed since stays."""
    now, appends = home.services.clock.now(), command.appends
    with home.services.journal.reading() as world:
        found = {one: import_undone_in_task(world, one, appends, now) for one in command.tasks}
    kept = tuple(one for one in command.tasks if found[one][1])
    if not any(facts for facts, _ in found.values()):
        return ImportUndoResult((), kept)
    return ImportUndoResult(append_command(home, command, key).ids, kept)


def _newest_import(home: "Home", source: str) -> do.UndoImport:
    journal = home.services.journal
    tail = journal.tail().n
    length = LOOK_FIRST
    while True:  # bounded: grows to the whole log
        every = [*journal.appends(max(tail - length, 0))]
        own = [one for one in every if one[0].replica == journal.replica]
        parts = _parts(home, [one for one in own if _is_import(one, source)], source)
        if parts and (length >= tail or parts[0][0].n > every[0][0].n):
            changed = [one for one in parts if any(row.of_kind == "task" for row in one)]
            tasks = (row.entity for one in changed for row in one if row.of_kind == "task")
            return undo_command(dict.fromkeys(tasks), [one[0].n for one in changed or parts])
        if length >= tail:
            raise invalid(f"nothing was imported from {source!r}", "name a file that was")
        length *= 8


def _command(append: "Sequence[RecordedEvent]") -> Any:
    fact = append[0].fact
    return fact.command if isinstance(fact, Receipt) else fact


def _is_import(append: "Sequence[RecordedEvent]", source: str) -> bool:
    command = _command(append)
    is_it = isinstance(command, do.ImportTasks) and command.source == source
    return is_it and not command.is_written_back


def _parts(home: "Home", imports: "list[Append]", source: str) -> "list[Append]":
    """The appends of the newest import: all of its name, ``K:1``, ``K:2`` and so on; without a name
    those before it, one after another, that are full."""
    parts = imports[-1:]
    base, _, nth = parts[0][0].entity.rpartition(":") if parts else ("", "", "")
    if base and nth.isdigit():
        return [*_appends_under(home, base, source)]
    for one in reversed(imports[:-1]):
        if one[0].n + 1 != parts[0][0].n or len(_command(one).tasks) < TASKS_MAX:
            break
        parts.insert(0, one)
    return parts


def _appends_under(home: "Home", name: str, source: str) -> "Iterator[Append]":
    """The appends of a deed that import a source, and what was done with it then; of several files
    each comes after the other."""
    journal, of = home.services.journal, ""
    names = (nth_key(name, nth) for nth in count(1))
    every = (journal.receipts(one) or journal.receipts(nth_key(one, 1)) for one in names)
    for receipt, *_ in takewhile(bool, every):
        append = read_append(journal.append_at(receipt.n))
        command = _command(append)
        of = command.source if isinstance(command, do.ImportTasks) else of
        if of == source:
            yield append
