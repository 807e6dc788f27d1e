"""Tasks from files, as often as you like (SPEC 1, Importers), for both doors and the demo."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from adapters.actions import gone, linking
from adapters.actions.agents import Wish, assign_all
from adapters.actions.differing import Side, settle
from adapters.actions.halving import in_halves
from adapters.actions.identifying import Retitled, identified
from adapters.actions.naming import nth_key
from adapters.documents.conflicts import ConflictDetails, conflicts
from adapters.documents.tasks import ImportReport
from adapters.home.api_keys import SECRETS, without_keys
from adapters.home.entering import entering, entering_by, json_entering
from adapters.home.given import STDIN, Unreadable, as_text, read_given
from adapters.home.settings import Gone
from adapters.importers.formats import ALIASES, FORMATS, FORMATS_TOLD, READERS
from adapters.importers.spelling import CLOSED, as_before, closings, items_as_before
from adapters.text.common import safe
from domain import canonical
from domain.errors import Refused
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.fold import TASK
from domain.journal.imported import ImportedFile, ImportedTask
from domain.wire import Payload, PayloadId, payload
from projections.tasks import VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

TASKS_MAX = 200  # of one append
FILE_BYTES_MAX = 64_000_000
Known = Mapping[str, TaskDocument]
TasksDone = Callable[[int], None]
"""``told(count)``: so many more tasks are done with."""


class Given(NamedTuple):
    """A file's bytes, and how they are to be read: see `given_file`."""

    file: str
    source: str
    form: str
    by_heading: bool
    data: bytes
    is_utf16: bool = False  # it was, before it was read as `data`


class Found(NamedTuple):
    """A file, read, and the names of keys whose values stood in it, one for each time."""

    file: ImportedFile
    replaced: tuple[str, ...] = ()


class _Told(msgspec.Struct):
    """What is kept of an import that changed nothing, and what its report was made of."""

    made_of: list[str]
    report: ImportReport


# ------------------------------------------------------------------------------------ reading files


def format_named(form: str) -> str:
    """A format as the importers know it; empty stays empty.

    Raises:
        Refused: Code ``invalid_value``.
    """
    form = ALIASES.get(form.lower(), form.lower())
    if form and form not in FORMATS:
        because = f"the format {form!r} is not known to this version"
        raise Refused("invalid_value", because=because, instead=f"use {FORMATS_TOLD}")
    return form


def sources_of(files: Sequence[str], source: str, environ: Mapping[str, str]) -> list[str]:
    """The name under which each file is known; ids are made of it, so no two may share it.

    Raises:
        Refused: Code ``invalid_value``.
    """
    if source and len(files) > 1:
        because = f"--source names one source, and {len(files)} files are given"
        raise Refused("invalid_value", because=because, instead="import them one by one")
    if source and not source.strip():
        raise Refused("invalid_value", because="--source is blank", instead="give it a name")
    if STDIN in files and not source:
        because = "what comes from stdin has no name"
        raise Refused("invalid_value", because=because, instead="give it one with --source NAME")
    names = [source or without_keys(Path(file).name, environ)[0] for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        because = f"two files are named {twice!r}, and tasks are known by their file's name"
        instead = "import them one by one, each with a --source of its own"
        raise Refused("invalid_value", because=because, instead=instead)
    return names


def given_file(file: str, source: str, *, form: str = "", by_heading: bool = False) -> Given:
    """A file's bytes, and how they are to be read.

    Args:
        file: Its path, or `given.STDIN`.
        source: The name under which it is known.
        form: Its format; empty: by its name and content.
        by_heading: In Markdown a heading is a task.

    Raises:
        Unreadable: It cannot be read.
    """
    return Given(file, source, form, by_heading, *as_text(read_given(file, FILE_BYTES_MAX)))


def read_file(home: "Home", given: Given, environ: Mapping[str, str]) -> Found:
    """The tasks that a file holds.

    Args:
        home: Its time zone says which day a moment is, and a setting whether secrets are kept.
        given: The file.
        environ: Environment variables: the values of keys are left out.

    Raises:
        Unreadable: Its format is not known.
    """
    from zoneinfo import ZoneInfo

    from adapters.importers import formats

    file, source, form, by_heading, data, _ = given
    zone = ZoneInfo(home.settings.timezone)
    is_scrubbed, keys = home.settings.policy.scrub_entry, home.settings.key_variables
    form = form or formats.guess(data, file)
    enter = json_entering if form in formats.JSON else entering
    text, replaced = enter(
        data.decode("utf-8", "surrogateescape"), environ, is_scrubbed=is_scrubbed, keys=keys
    )
    data = text.encode("utf-8", "surrogateescape") if replaced else data
    read = formats.read(data, file, form, source, headings_are_tasks=by_heading, zone=zone)
    if read is None:
        raise Unreadable("its format is not known", f"name it with --format: {FORMATS_TOLD}")
    # once more: what only its format had hidden, as escaped characters
    plain, more = entering_by(home.settings, msgspec.to_builtins(read), environ)
    read = msgspec.convert(plain, ImportedFile) if more else read
    return Found(read, replaced + more)


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
        Path(given.file).name,  # a format may be guessed by it
        *(str(READERS), *how, home.settings.timezone, str(home.settings.policy.scrub_entry)),
        blake2b(secrets, digest_size=2).hexdigest(),  # tells a change, and is of no use to guess
        *(str(tail.n), tail.digest),
    ]


# ------------------------------------------------------------------------------------------ writing


class Importing:
    """The appends of one import over all its files, the nth under ``K:n``."""

    def __init__(
        self,
        key: str = "",
        prefer: Side | None = None,
        gone: Gone | None = None,
        *,
        agents: bool | None = None,
    ) -> None:
        self._key = key
        self._agents = agents  # whether new tasks get an agent; None: as the settings say
        self._gone = gone  # what becomes of tasks that their file has no more
        self._prefer = prefer  # what shall stand where the file and the person differ
        self._nth = 0

    def settles(self, report: ImportReport) -> bool:
        """Whether there is something to settle in a file that says nothing new."""
        return bool((report.conflicts and self._prefer) or (report.gone and self._gone))

    def take(
        self, home: "Home", file: str, found: Found, told: TasksDone = lambda _: None
    ) -> ImportReport:
        """Take a file's tasks over. What the rules refuse is reported, the rest is kept.

        Args:
            home: Open to write; one without tasks to take need not be.
            file: What the file is called in the report.
            found: What was read from it.
            told: Is told how far it has come.

        Raises:
            Refused: What no single task is the reason of: ``key_reused`` or ``read_only``.
        """
        known = known_tasks(home)
        found, retitled = identified_in(home, found, known)
        read, report = found.file, report_of(file, found, known)
        report.retitled = retitled
        tasks = read.tasks if self._key else differing(home, found, known)
        report.unchanged = len(read.tasks) - len(tasks)
        told(report.unchanged)
        written: set[str] = set()

        def append(tasks: Sequence[ImportedTask]) -> None:
            """Append these tasks; halves of what is refused, down to the one that is the reason."""
            command, payloads = command_of(home, tasks, read.source, known)
            key = nth_key(self._key, self._nth + 1)
            appended = home.services.append_journal(command, key=key, payloads=payloads)
            self._nth += 1
            changed = set(appended.result.ids) if appended.rows else set[str]()
            written.update(changed)
            report.events += len(appended.rows)
            report.new += tuple(one for one in appended.result.ids if one in changed - known.keys())
            report.created = len(report.new)
            report.changed += sum(one in known for one in changed)
            report.unchanged += len(tasks) - len(changed)

        for first in range(0, len(tasks), TASKS_MAX):
            batch = tasks[first : first + TASKS_MAX]
            in_halves(batch, append, report)
            told(len(batch))
        report.events += linking.link(home, read, written - known.keys(), self._next_key)
        home.views.catch_up()
        report.conflicts = open_conflicts(home, read, known, written)
        if self._prefer is not None:
            self._settle(home, report, self._prefer)
        how = gone.chosen(home, read.source, self._gone)
        done = gone.settle(home, read, report.gone, how, self._next_key)
        report.gone_settled = done
        report.gone = tuple(one for one in report.gone if one not in done)
        if report.new and (home.settings.import_.agents if self._agents is None else self._agents):
            report.agents = len(assign_all(home, Wish(), self._key, among=report.new).made)
        return report

    def _next_key(self) -> str:
        self._nth += 1
        return nth_key(self._key, self._nth)

    def _settle(self, home: "Home", report: ImportReport, side: Side) -> None:
        """Settle all that is open in the file's tasks."""
        for one in report.conflicts:
            self._nth += 1
            settle(home, one.task, one.field, side, self._key, nth=self._nth)
        report.settled, report.conflicts = len(report.conflicts), ()


def open_conflicts(
    home: "Home", read: ImportedFile, known: Known, written: Collection[str] = ()
) -> tuple[ConflictDetails, ...]:
    """What is open in a file's tasks; those that were written are looked up anew."""
    there = [known[one.task_id] for one in read.tasks if one.task_id in known]
    now = (home.views.get(VIEW, one.id) if one.id in written else one for one in there)
    return tuple(conflicts(home, [one for one in now if one is not None]))


def differing(home: "Home", found: Found, known: Known) -> Sequence[ImportedTask]:
    """The tasks of a file that are new here, or of which it says something else than before."""
    read = found.file
    made = zip(read.tasks, documents_of(home, read.tasks, known), strict=True)
    return [
        one
        for one, said in made
        if (task := known.get(one.task_id)) is None
        or not (task.is_deleted or said.id in _said(task, read.source))
    ]


def identified_in(home: "Home", found: Found, known: Known) -> tuple[Found, Retitled]:
    file, retitled = identified(home, found.file, known)
    return found._replace(file=as_read_before(home, file, known)), retitled


def as_read_before(home: "Home", read: ImportedFile, known: Known) -> ImportedFile:
    """The file with tasks as older readers read them, where that is what it said last: a better
    reader changes no task of a file that nobody has edited."""
    earlier = [one for one in read.earlier if one.task_id in known]
    made = zip(earlier, documents_of(home, earlier, known), strict=True)
    same = {
        one.task_id: one for one, kept in made if kept.id in _said(known[one.task_id], read.source)
    }
    tasks = tuple(same.get(one.task_id, one) for one in read.tasks)
    return msgspec.structs.replace(read, tasks=tasks)


def known_tasks(home: "Home") -> dict[str, TaskDocument]:
    """All tasks there are, by id."""
    return {task.id: task for task in home.views.all(VIEW)}


def report_of(file: str, found: Found, known: Known) -> ImportReport:
    """What can be said of a file before any of it is taken over."""
    read = found.file
    here = {task.task_id for task in read.tasks}
    left = tuple(
        task.id
        for task in sorted(known.values(), key=lambda task: task.place)
        if read.source in task.sources and task.id not in here and not task.is_deleted
    )
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
    )


def command_of(
    home: "Home", tasks: Sequence[ImportedTask], source: str, known: Known
) -> tuple[ImportTasks, list[Payload]]:
    """What imports tasks of a source."""
    payloads = documents_of(home, tasks, known)
    refs = [ImportedRef(task.task_id, kept.id) for task, kept in zip(tasks, payloads, strict=True)]
    sources = (known[task.task_id].sources for task in tasks if task.task_id in known)
    is_shared = any(name != source for names in sources for name in names)
    is_again = any(task.task_id in known for task in tasks)
    has_items = any(task.items for task in tasks if task.task_id in known)
    command = ImportTasks(
        source,
        tuple(refs),
        across_sources=is_shared,
        is_three_way=is_again,
        renames_items=has_items,
    )
    return command, payloads


def documents_of(home: "Home", tasks: Sequence[ImportedTask], known: Known) -> list[Payload]:
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
            now = known[was.task_id].task
            is_closed = now.status in CLOSED
            task = as_before(
                tasks[nth], was, is_closed=is_closed, closed=closed.get(was.task_id, ())
            )
            task = items_as_before(task, was, now.items)
            made[nth] = payload(task.task_id, canonical.encode(task))
    return made


def _closings(home: "Home", tasks: Sequence[ImportedTask]) -> dict[str, Collection[str]]:
    """How a file might say, by task, when each that it says is closed was closed here."""
    dated = [one.task_id for one in tasks if one.status in CLOSED and one.status_reason]
    if not dated:
        return {}
    with home.services.journal.reading() as world:
        return {one: closings(world.load(TASK, one)) for one in dated}


def _said(task: TaskDocument, source: str) -> set[PayloadId]:
    """What this source, and what any source, said of a task last."""
    imported_last = task.task.imported
    return {
        *dict(imported_last[-1:]).values(),
        *(said for name, said in imported_last if name == source),
    }
