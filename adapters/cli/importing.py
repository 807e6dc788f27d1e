"""`wakelog import`: tasks from files, as often as you like (SPEC 1, Importers)."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from adapters.actions.naming import nth_key
from adapters.cli import importing_text
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, Told, complain, json_option, key_option
from adapters.given import STDIN, Unreadable, read_given
from adapters.importers.formats import ALIASES, FORMATS
from adapters.keys import without_keys, without_keys_in
from adapters.text.common import safe
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.documents.tasks import GoneItem, ImportReport
    from domain.journal.commands import ImportTasks
    from domain.journal.imported import ImportedFile, ImportedTask
    from domain.wire import Payload, PayloadId
    from projections.tasks import TaskDocument

TASKS_MAX = 200  # of one append
FILE_BYTES_MAX = 64_000_000
PROGRESS_FROM = 400  # tasks; fewer need no progress bar
_FORMATS = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"


class Progress(Protocol):
    def update(self, n_steps: int) -> None: ...


@click.command(
    "import",
    epilog="Example: wakelog import TODO.md plans/*.md --dry-run",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--format", "form", type=TEXT, default="", metavar="F", help=f"{_FORMATS}; else guessed."
)
@click.option(
    "--source", type=TEXT, default="", metavar="S", help="Name of the source; else the file's."
)
@click.option(
    "--headings",
    type=click.Choice(["tasks"]),
    help="In Markdown: a heading is a task, its boxes its checklist.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@key_option
@json_option
@click.pass_obj
def import_command(
    session: Session,
    /,
    files: Sequence[str],
    form: str,
    source: str,
    headings: str | None,
    key: str,
    *,
    dry_run: bool,
) -> None:
    """Bring tasks in from files; `-` is stdin.

    In Markdown, `- [ ] Paint the door ~2h !p1 #home due:2027-02-12` is a task. todo.txt, what
    `task export` and `gh issue list --json number,title,body,labels,state,url` write, and issues
    of GitHub's REST interface are read, too. Importing a file again takes over what changed in
    it: a field that the file changes takes the file's value, the others stay as they are here.
    """
    from adapters.documents.tasks import ImportReport, import_document

    form = _known_format(form)
    sources = _sources(files, source)
    batches = _Batches(session, key)
    reports: list[ImportReport] = []
    for file, name in zip(files, sources, strict=True):
        try:
            found = _read(session, file, name, form, by_heading=headings is not None)
        except Unreadable as error:
            reports.append(ImportReport(safe(file), failure=str(error)))
            continue
        reports.append(_planned(session, file, found) if dry_run else batches.keep(file, found))
    if session.as_json:
        session.document(import_document(reports))
    is_short = any(report.gone or report.gone_items for report in reports)
    titles = {task.id: task.title for task in _known(session).values()} if is_short else {}
    for report in reports:
        importing_text.tell(session, report, titles, is_dry_run=dry_run)
    importing_text.tell_next(session, reports, is_dry_run=dry_run)
    failures = [report for report in reports if report.failure]
    for report in failures:
        complain(f"{report.file}: {report.failure} [unreadable_file]")
    if failures:
        raise SystemExit(Told.exit_code)
    if any(report.unreadable for report in reports):
        raise SystemExit(1)


def import_again(session: Session, file: str) -> "ImportReport":
    """Take over what changed in a file that is watched; `failure` says why it cannot be read."""
    from adapters.documents.tasks import ImportReport

    try:
        found = _read(session, file, _name(file), "", by_heading=False)
    except Unreadable as error:
        return ImportReport(safe(file), failure=str(error))
    return _Batches(session, "").keep(file, found)


def check_sources(files: Sequence[str]) -> None:
    """Refuse two files of one name: the ids of tasks are made of it."""
    _sources(files, "")


# ------------------------------------------------------------------------------------ reading files


def _known_format(form: str) -> str:
    form = ALIASES.get(form.lower(), form.lower())
    if form and form not in FORMATS:
        because = f"the format {form!r} is not known to this version"
        raise Refused("invalid_value", because=because, instead=f"use {_FORMATS}")
    return form


def _sources(files: Sequence[str], source: str) -> list[str]:
    """The name under which each file is known; ids are made of it, so no two may share it."""
    if source and len(files) > 1:
        because = f"--source names one source, and {len(files)} files are given"
        raise Refused("invalid_value", because=because, instead="import them one by one")
    if source and not source.strip():
        raise Refused("invalid_value", because="--source is blank", instead="give it a name")
    if STDIN in files and not source:
        because = "what comes from stdin has no name"
        raise Refused("invalid_value", because=because, instead="give it one with --source NAME")
    names = [source or _name(file) for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        because = f"two files are named {twice!r}, and tasks are known by their file's name"
        instead = "import them one by one, each with a --source of its own"
        raise Refused("invalid_value", because=because, instead=instead)
    return names


def _name(file: str) -> str:
    return without_keys(Path(file).name, os.environ)[0]


class _Found(NamedTuple):
    """A file, read, and the names of keys whose values stood in it, one for each time."""

    file: "ImportedFile"
    replaced: tuple[str, ...]


def _read(session: Session, file: str, source: str, form: str, *, by_heading: bool) -> _Found:
    from zoneinfo import ZoneInfo

    from adapters.importers import formats

    data = read_given(file, FILE_BYTES_MAX)
    if b"\0" in data[:8192]:
        raise Unreadable("it is no text", "save it as UTF-8 text")
    zone = ZoneInfo(session.opened().settings.timezone)
    text, replaced = without_keys(data.decode("utf-8", "surrogateescape"), os.environ)
    data = text.encode("utf-8", "surrogateescape") if replaced else data
    read = formats.read(data, file, form, source, headings_are_tasks=by_heading, zone=zone)
    if read is None:
        raise Unreadable("its format is not known", f"name it with --format: {_FORMATS}")
    return _found(read, replaced)


def _found(read: "ImportedFile", replaced: tuple[str, ...]) -> _Found:
    """A file without the keys that only its format had hidden: as escaped characters."""
    import msgspec

    from domain.journal.imported import ImportedFile

    plain, more = without_keys_in(msgspec.to_builtins(read), os.environ)
    read = msgspec.convert(plain, ImportedFile) if more else read
    return _Found(read, replaced + more)


# ------------------------------------------------------------------------------------------ writing


NOT_A_TASKS = ("key_reused", "read_only")
"""Codes of what no single task is the reason of: a full disk, for example."""


class _Batches:
    """The appends of one run over all its files, the nth under ``K:n``."""

    def __init__(self, session: Session, key: str) -> None:
        self._session = session
        self._key = key
        self._nth = 0

    def keep(self, file: str, found: _Found) -> "ImportReport":
        """Take a file's tasks over. What the rules refuse is reported, the rest is kept."""
        known = _known(self._session)
        read, report = found.file, _report(file, found, known)
        with _progress(self._session, len(read.tasks)) as bar:
            for first in range(0, len(read.tasks), TASKS_MAX):
                batch = read.tasks[first : first + TASKS_MAX]
                self._append(batch, read.source, known, report)
                bar.update(len(batch))
        return report

    def _append(
        self,
        tasks: Sequence["ImportedTask"],
        source: str,
        known: Mapping[str, "TaskDocument"],
        report: "ImportReport",
    ) -> None:
        command, payloads = _command(self._session, tasks, source, known)
        desk = self._session.writing().desk
        try:
            appended = desk.keep(command, key=nth_key(self._key, self._nth + 1), payloads=payloads)
        except Refused as refused:
            if refused.code in NOT_A_TASKS:
                raise
            self._part(tasks, source, known, report, refused)
            return
        self._nth += 1
        changed = set(appended.result.ids) if appended.rows else set[str]()
        report.events += len(appended.rows)
        report.created += sum(one not in known for one in changed)
        report.changed += sum(one in known for one in changed)
        report.unchanged += len(tasks) - len(changed)

    def _part(
        self,
        tasks: Sequence["ImportedTask"],
        source: str,
        known: Mapping[str, "TaskDocument"],
        report: "ImportReport",
        refused: Refused,
    ) -> None:
        """Try the halves of a refused batch, down to the one task that is the reason."""
        from domain.journal.imported import Unreadable

        if len(tasks) == 1:
            told = f"{tasks[0].title!r} was left out: {refused}"
            report.unreadable = (*report.unreadable, Unreadable(0, told))
            return
        middle = len(tasks) // 2
        self._append(tasks[:middle], source, known, report)
        self._append(tasks[middle:], source, known, report)


def _known(session: Session) -> dict[str, "TaskDocument"]:
    from projections.tasks import VIEW

    return {task.id: task for task in session.reading().views.all(VIEW)}


def _report(file: str, found: _Found, known: Mapping[str, "TaskDocument"]) -> "ImportReport":
    """What can be said of a file before any of it is taken over."""
    from adapters.documents.tasks import ImportReport

    read = found.file
    here = {task.task_id for task in read.tasks}
    gone = tuple(
        task.id
        for task in sorted(known.values(), key=lambda task: task.place)
        if read.source in task.sources and task.id not in here and not task.is_deleted
    )
    return ImportReport(
        safe(file),
        read.format,
        gone=gone,
        unreadable=read.unreadable,
        left_out=read.left_out,
        gone_items=tuple(_gone_items(read, known)),
        remarks=read.remarks,
        boxes_as_open=read.boxes_as_open,
        boxes_left_out=read.boxes_left_out,
        keys_replaced=Counter(found.replaced),
    )


def _gone_items(read: "ImportedFile", known: Mapping[str, "TaskDocument"]) -> Iterator["GoneItem"]:
    """Items that the file once had in tasks that it still has."""
    from adapters.documents.tasks import GoneItem
    from domain.journal.importing import numbered

    for said in read.tasks:
        task = known.get(said.task_id)
        if task is None or task.is_deleted:
            continue
        present = numbered(said)
        for item in task.items:
            if item.by == f"import:{read.source}" and item.id not in present:
                yield GoneItem(task.id, item.id, item.title)


def _command(
    session: Session,
    tasks: Sequence["ImportedTask"],
    source: str,
    known: Mapping[str, "TaskDocument"],
) -> tuple["ImportTasks", list["Payload"]]:
    from domain.journal.commands import ImportedRef, ImportTasks

    payloads = _payloads(session, tasks, known)
    refs = [ImportedRef(task.task_id, kept.id) for task, kept in zip(tasks, payloads, strict=True)]
    sources = (known[task.task_id].sources for task in tasks if task.task_id in known)
    is_shared = any(name != source for names in sources for name in names)
    return ImportTasks(source, tuple(refs), across_sources=is_shared), payloads


def _planned(session: Session, file: str, found: _Found) -> "ImportReport":
    """What `_Batches.keep` would report, without writing."""
    known = _known(session)
    read, report = found.file, _report(file, found, known)
    command, _ = _command(session, read.tasks, read.source, known)
    for ref in command.tasks:
        task = known.get(ref.task)
        if task is None:
            report.created += 1
        elif task.is_deleted or ref.document in _said(task, read.source):
            report.unchanged += 1
        else:
            report.changed += 1
    return report


def _payloads(
    session: Session, tasks: Sequence["ImportedTask"], known: Mapping[str, "TaskDocument"]
) -> list["Payload"]:
    """The documents of tasks, with names as they were spelled when they were imported last; that
    is looked up for what differs from it."""
    import msgspec

    from adapters.importers.spelling import as_before
    from domain import canonical
    from domain.journal.imported import ImportedTask
    from domain.wire import payload

    made = [payload(task.task_id, canonical.encode(task)) for task in tasks]
    last: dict[int, PayloadId] = {}
    for nth, task in enumerate(tasks):
        imported = known[task.task_id].task.imported if task.task_id in known else ()
        if imported and imported[-1][1] != made[nth].id:
            last[nth] = imported[-1][1]
    said = dict(session.opened().desk.journal.payloads([*last.values()])) if last else {}
    for nth, name in last.items():
        if name in said:
            before = msgspec.json.decode(said[name], type=ImportedTask)
            is_closed = known[before.task_id].task.status in ("DONE", "REJECTED")
            task = as_before(tasks[nth], before, is_closed=is_closed)
            made[nth] = payload(task.task_id, canonical.encode(task))
    return made


def _said(task: "TaskDocument", source: str) -> set["PayloadId"]:
    """What this source, and what any source, said of a task last."""
    imported = task.task.imported
    return {*dict(imported[-1:]).values(), *(said for name, said in imported if name == source)}


@contextmanager
def _progress(session: Session, count: int) -> Iterator[Progress]:
    """A bar on stderr, where somebody looks at it and it takes a while."""
    is_wanted = count >= PROGRESS_FROM and sys.stderr.isatty()
    is_hidden = not is_wanted or session.is_quiet or session.as_json
    with click.progressbar(
        length=count, label="Importing", file=sys.stderr, hidden=is_hidden
    ) as bar:
        yield bar
