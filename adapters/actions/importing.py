"""Tasks from files, as often as you like (SPEC 1, Importers), for both doors and the demo."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from adapters.actions import gone, linking
from adapters.actions.agents import Wish, assign_all
from adapters.actions.differing import Side, settle
from adapters.actions.halving import in_halves
from adapters.actions.identifying import (
    Identified,
    Known,
    identified,
    known_tasks,
    lines_payload,
    remember_lines,
    said_last,
)
from adapters.actions.naming import nth_key
from adapters.actions.sources import Found, Given, Source, remember_path
from adapters.documents.conflicts import ConflictDetails, conflicts
from adapters.documents.tasks import ImportReport
from adapters.home.api_keys import SECRETS
from adapters.home.settings import Gone
from adapters.importers.formats import READERS
from adapters.importers.identity import BY_TITLE
from adapters.importers.spelling import CLOSED
from adapters.text.common import safe
from domain import canonical
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedFile, ImportedTask
from domain.journal.imported import Unreadable as UnreadableLine
from domain.journal.importing import gone_reason
from domain.keys import key as make_key
from domain.wire import Payload
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

TASKS_MAX = 200  # of one append
TasksDone = Callable[[int], None]
"""``told(count)``: so many more tasks are done with."""


class _Told(msgspec.Struct):
    """What is kept of an import that changed nothing, and what its report was made of."""

    made_of: list[str]
    report: ImportReport


# --------------------------------------------------------------------------- what was told before


def told_before(home: "Home", given: Given, made_of: list[str]) -> ImportReport | None:
    """The report of a file that changed nothing when it was imported last, where neither it nor
    its reader nor the journal has changed since. It is a cache: without it the file is read."""
    kept = home.views.remembered(_name(given))
    try:
        known = msgspec.json.decode(kept or b"", type=_Told)
    except msgspec.MsgspecError:  # nothing, or what another version kept
        return None
    if known.made_of != made_of:
        return None
    return msgspec.structs.replace(known.report, file=safe(given.file))


def remember(home: "Home", given: Given, made_of: list[str], report: ImportReport) -> None:
    """Keep a report for `told_before`, where the next one would be the same: nothing changed, and
    nothing of the file was refused. `made_of` was asked before the tasks were looked at: what
    others append meanwhile is not in the report."""
    is_same = report.unchanged and not (report.created or report.changed or report.events)
    if is_same and not report.unreadable and not report.keys_replaced:
        home.views.remember(_name(given), msgspec.json.encode(_Told(made_of, report)))
    elif home.views.remembered(_name(given)):  # the file was another one in between
        home.views.remember(_name(given), b"")


def _name(given: Given) -> str:
    return f"import {given.source}"


def made_of(home: "Home", given: Given, environ: Mapping[str, str]) -> list[str]:
    """All that the report of a file is made of now."""
    from hashlib import blake2b

    tail, how = home.services.journal.tail(), (given.form, str(given.by_heading))
    names = (*SECRETS, *home.settings.key_variables)
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


class Importing:
    """The appends of one import over all its files, the nth under ``K:n``.

    Of several appends that nobody gave a key, the key is derived: what one command did is one deed.
    """

    def __init__(
        self,
        key: str = "",
        prefer: Side | None = None,
        gone: Gone | None = None,
        *,
        agents: bool | None = None,
        restores: bool = False,
        is_one_of_many: bool = False,
        sure: gone.Sure = lambda _: False,
    ) -> None:
        self._key = self._name = key
        self._agents = agents  # whether new tasks get an agent; None: as the settings say
        self._gone = gone  # what becomes of tasks that their file has no more
        self._prefer = prefer  # what shall stand where the file and the person differ
        self._restores = restores  # whether what was deleted here, and is in the file, comes back
        self._is_one_of_many = is_one_of_many
        self._sure = sure
        self._nth = 0

    def remember(self, home: "Home", given: Given) -> None:
        """Remember of a file that is as it was what was said of it, and where it is."""
        gone.keep(home, given.source, self._gone)
        remember_path(home, given.place)

    def settles(self, report: ImportReport) -> bool:
        """Whether there is something to settle in a file that says nothing new."""
        is_gone = report.gone_held or (report.gone and self._gone)
        is_back = report.deleted_here and self._restores
        return bool((report.conflicts and self._prefer) or is_gone or is_back)

    def take(
        self,
        home: "Home",
        file: str,
        found: Found,
        told: TasksDone = lambda _: None,
        place: Source | None = None,
    ) -> ImportReport:
        """Take a file's tasks over. What the rules refuse is reported, the rest is kept.

        Args:
            home: Open to write; one without tasks to take need not be.
            file: What the file is called in the report.
            found: What was read from it.
            told: Is told how far it has come.
            place: Which file of this machine it is, to be remembered.

        Raises:
            Refused: What no single task is the reason of: ``key_reused`` or ``read_only``.
        """
        known = known_tasks(home)
        one = identified(home, found.file, known)
        report = report_of(file, found, one, known)
        if place is not None:  # at once: a process may end in between
            remember_path(home, place)
        report.moved_from = place.was if place else ""
        restores = {*one.restores, *(report.deleted_here if self._restores else ())}
        if self._restores:
            report.deleted_here = ()
        tasks = one.file.tasks if self._key else differing(one, known, restores)
        report.unchanged = len(one.file.tasks) - len(tasks)
        told(report.unchanged)
        more = self._more(home, one, report, known, restores)
        written = self._append(home, one, tasks, known, more, report, told)
        home.views.catch_up()
        report.new = tuple(dict.fromkeys(report.new))
        report.restored = tuple(task.task_id for task in one.file.tasks if task.task_id in restores)
        report.unreadable += circles(home, one)
        report.conflicts = open_conflicts(home, one.file, known, written)
        if self._prefer is not None:
            self._settle(home, report, self._prefer)
        if report.new and (home.settings.import_.agents if self._agents is None else self._agents):
            report.agents = len(assign_all(home, Wish(), self._key, among=report.new).made)
        remember_lines(home, one)
        return report

    def _more(
        self,
        home: "Home",
        one: Identified,
        report: ImportReport,
        known: Known,
        restores: Collection[str],
    ) -> ImportTasks:
        """What an import says besides its tasks."""
        new = {task.task_id for task in one.file.tasks} - known.keys() | {*restores}
        gone.keep(home, one.file.source, self._gone)
        closing, report.gone_held = gone.planned(home, one, report.gone, self._gone, self._sure)
        report.gone_settled = tuple(each.task for each in closing)
        left = {*report.gone_settled, *report.gone_held}
        report.gone = tuple(each for each in report.gone if each not in left)
        return ImportTasks(
            one.file.source,
            (),
            lines="" if one.is_kept else lines_payload(one.lines).id,
            links=linking.wanted(one.file, new),
            gone=closing,
            restores=tuple(sorted(restores)),
            stops_timers=any(each.how == "reject" and _runs(known, each.task) for each in closing),
        )

    def _append(
        self,
        home: "Home",
        one: Identified,
        tasks: Sequence[ImportedTask],
        known: Known,
        more: ImportTasks,
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
                said = ImportTasks("", (), links=tuple(links), restores=tuple(restores))
            stops = command.stops_timers or said.stops_timers
            more_said = {name: getattr(said, name) for name in MORE}
            command = replace(command, stops_timers=stops, **more_said)
            is_alone = is_whole and not (self._is_one_of_many or self._prefer)
            key = self._key_of(home, command, is_alone=is_alone)
            appended = home.services.append_journal(command, key=key, payloads=payloads)
            left = _without(left, said)
            self._nth += 1
            changed = set(appended.result.ids) if appended.rows else set[str]()
            written.update(changed)
            report.events += len(appended.rows)
            report.new += tuple(id_ for id_ in appended.result.ids if id_ in changed - known.keys())
            report.created = len(report.new)
            report.changed += sum(id_ in known for id_ in changed)
            report.unchanged += len(here - changed) - len(changed - here)

        for batch in batches:
            in_halves(batch, append, report)
            told(len(batch))
        if left.links or left.gone or left.restores or (left.lines and written):
            append(())
        return written

    def _key_of(self, home: "Home", command: ImportTasks, *, is_alone: bool) -> str:
        """The key of the next append; one that is the whole deed needs none."""
        if not self._name and not is_alone:
            tail = home.services.journal.tail()
            self._name = make_key("import", tail.digest, canonical.encode(command).decode())
        return nth_key(self._name, self._nth + 1)

    def _settle(self, home: "Home", report: ImportReport, side: Side) -> None:
        """Settle all that is open in the file's tasks."""
        for one in report.conflicts:
            self._nth += 1
            settle(home, one.task, one.field, side, self._name, nth=self._nth)
        report.settled, report.conflicts = len(report.conflicts), ()


def _without(more: ImportTasks, said: ImportTasks) -> ImportTasks:
    """What is still to be said."""
    return replace(
        more,
        lines="" if said.lines else more.lines,
        links=tuple(one for one in more.links if one not in said.links),
        gone=() if said.gone else more.gone,
        restores=tuple(one for one in more.restores if one not in said.restores),
    )


def open_conflicts(
    home: "Home", read: ImportedFile, known: Known, written: Collection[str] = ()
) -> tuple[ConflictDetails, ...]:
    """What is open in a file's tasks; those that were written are looked up anew."""
    there = [known[one.task_id] for one in read.tasks if one.task_id in known]
    now = (home.views.get(VIEW, one.id) if one.id in written else one for one in there)
    return tuple(conflicts(home, [one for one in now if one is not None]))


def differing(
    one: Identified, known: Known, restores: Collection[str] = ()
) -> Sequence[ImportedTask]:
    """The tasks of a file that are new here, or of which it says something else than before."""
    return [
        each
        for each, said in zip(one.file.tasks, one.documents, strict=True)
        if (task := known.get(each.task_id)) is None
        or not (
            (task.is_deleted and each.task_id not in restores)
            or said.id in said_last(task, one.file.source)
        )
    ]


def circles(home: "Home", one: Identified) -> tuple[UnreadableLine, ...]:
    """Links that the file names and that cannot be, for they would close a circle."""
    lines = {task.task_id: at for at, task in enumerate(one.file.tasks)}
    found: list[UnreadableLine] = []
    for link, because in linking.left_out(home, one.file) if one.file.links else ():
        line = one.file.line_of(lines[link.task])
        found.append(UnreadableLine(line, f"⛔ would close a circle: {because}; it was left out"))
    return tuple(found)


def report_of(file: str, found: Found, one: Identified, known: Known) -> ImportReport:
    """What can be said of a file before any of it is taken over."""
    read = one.file
    here = {task.task_id: task for task in read.tasks}
    left = tuple(
        task.id
        for task in sorted(known.values(), key=lambda task: task.place)
        if read.source in task.sources and task.id not in here and not task.is_deleted
        if task.task.status_reason != gone_reason(read.source)
    )
    open_there = [
        known[id_] for id_, said in here.items() if said.status not in CLOSED if id_ in known
    ]
    is_written = read.format in BY_TITLE
    return ImportReport(
        file,
        read.format,
        gone=left,
        unreadable=read.unreadable,
        left_out=read.left_out,
        gone_items=tuple(gone.items(read, known)),
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
        done_here=tuple(
            task.id
            for task in open_there
            if is_written and task.status == "DONE" and not task.is_deleted
        ),
        added_here=tuple(_in_no_file(read.source, known)) if is_written else (),
    )


def _in_no_file(source: str, known: Known) -> Sequence[str]:
    """Open tasks that are in no file, where there is no other file that they might belong in."""
    sources = {name for task in known.values() for name in task.sources}
    alone = [task for task in known.values() if task.is_open and not task.is_deleted]
    return [task.id for task in alone if not task.sources] if sources == {source} else ()


def command_of(
    source: str, tasks: Sequence[ImportedTask], documents: Sequence[Payload], known: Known
) -> ImportTasks:
    """What imports tasks of a source."""
    refs = [ImportedRef(one.task_id, kept.id) for one, kept in zip(tasks, documents, strict=True)]
    sources = (known[task.task_id].sources for task in tasks if task.task_id in known)
    is_shared = any(name != source for names in sources for name in names)
    is_again = any(task.task_id in known for task in tasks)
    has_items = any(task.items for task in tasks if task.task_id in known)
    return ImportTasks(
        source,
        tuple(refs),
        across_sources=is_shared,
        is_three_way=is_again,
        renames_items=has_items,
        stops_timers=any(one.status in CLOSED and _runs(known, one.task_id) for one in tasks),
        scopes_labels=any(one.labels for one in tasks),
    )


def _runs(known: Known, task_id: str) -> bool:
    return task_id in known and bool(known[task_id].task.running)
