"""What was decided here goes into the file it came from (ADR 48): by `wakelog write-back`, and by
`run --watch`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, UserError, flag, option
from adapters.documents.results import FileBack, FilesBack
from adapters.documents.tasks import titles_among
from adapters.home.read_input import UnreadableInput
from adapters.text import conflicts
from adapters.text.common import safe
from adapters.usecases import import_tasks
from adapters.usecases.import_sources import Paths, sources_of
from adapters.usecases.match_imported import known_tasks
from adapters.usecases.write_back import (
    WrittenBack,
    can_be_written,
    file_back,
    in_no_file,
    write_back,
)
from domain.errors import Refused, WakelogError, invalid

if TYPE_CHECKING:
    from adapters.wiring import Home


@command("write-back", example="TODO.md")
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE...]")
@option("--source=S", "Name of the source; else the file's.", default="")
@flag("--add", "Open tasks that are in no file get a line in this one.")
@flag("--dry-run", "Say what would be written, and write nothing.")
def write_back_command(
    session: Session, files: Sequence[str], source: str, *, add: bool, dry_run: bool
) -> None:
    """Put what was done here into Markdown and todo.txt files; without FILE, into those of this
    folder that were imported.

    Ticks, status, due date, priority, estimate, rules, waits, title and new items go back, and what
    repeats gets its next line; all else stays as it is, byte for byte. FILE.bak keeps the file as
    it was, once a day.
    """
    home = session.reading() if dry_run else session.writing()
    if not files:
        files = _of_this_folder(home)
    if add and len(files) != 1:
        raise invalid(f"--add belongs to one file, and there are {len(files)}", "name it")
    more = in_no_file(home) if add else []
    documents: list[FileBack] = []
    refused: WakelogError | None = None
    for file, one in zip(files, sources_of(home, files, source, os.environ), strict=True):
        try:
            done = write_back(home, file, one, os.environ, more, is_dry=dry_run)
        except UnreadableInput as error:
            raise UserError(f"{safe(file)}: {error} [unreadable_file]") from error
        except WakelogError as error:  # the other files are written all the same
            refused = refused or error
            continue
        documents.append(file_back(file, done))
        if not session.as_json:
            _tell(session, file, done, is_dry=dry_run)
    if session.as_json and (documents or not refused):
        session.document(FilesBack(documents))
    elif not files:
        session.say("No file of this folder was imported; name one.")
    if refused:
        raise refused


def _of_this_folder(home: "Home") -> list[str]:
    """The files of this folder that were imported: as they are remembered, else by their names."""
    paths, known = (
        Paths.of(home),
        {one for task in known_tasks(home).values() for one in task.sources},
    )
    here = Path.cwd().resolve()
    named = {Path(one.path).name for one in paths.values() if Path(one.path).parent == here}
    return sorted(one for one in named | (known - paths.keys()) if can_be_written(one))


def _tell(session: Session, file: str, done: WrittenBack, *, is_dry: bool) -> None:
    left = len(done.left) + len(done.differ) + len(done.others)
    would = "would be " if is_dry else ""
    added = f"{len(done.added)} {would}added, " if done.added else ""
    session.say(f"{safe(file)}: {added}{len(done.written)} {would}written, {left} left out")
    tasks = {one.task for one in (*done.written, *done.left)}
    more = {*done.anew, *done.added, *done.unsaid, *done.others}
    titles = titles_among(session.reading(), tasks | more)
    for task in done.added:
        session.say(f"  {safe(titles[task])}: added")
    for task in done.unsaid:
        session.say(f"  {safe(titles[task])} cannot be said in the file", style="yellow")
    for task in done.anew:
        said = "its line changes, and says more to this version: that {} imported, too"
        session.say(f"  {safe(titles[task])}: {said.format('would be' if is_dry else 'was')}")
    for one in done.written:
        session.say(f"  {safe(titles[one.task])}: {safe(one.named)}")
    for one in done.left:
        told = f"{safe(titles[one.task])}: {safe(one.named)} cannot be said in the file"
        session.say(f"  {told}", style="yellow")
    for task in done.others:
        told = "closed here when its line had another title or day; tick it there, or open it here"
        session.say(f"  {safe(titles[task])}: {told}", style="yellow")
    for both in done.differ:
        session.say(f"  {safe(both.title)}: {conflicts.as_text(both)}", style="yellow")
    if done.differ:
        session.note("Settle each with `wakelog settle TASK FIELD --keep file|mine`.")
    if is_dry and (done.added or done.written):
        session.note("Nothing was written; leave --dry-run out to do it.")


# --------------------------------------------------------------------------------- beside an engine
# Files that `run --watch` follows are told what was decided here, once for each decision.


class FollowedFiles(Struct):
    """How far each file was told: up to which append of the journal, and what it was refused."""

    _session: Session
    _told: dict[str, int] = {}
    _stale: set[str] = set()
    _refused: dict[str, str] = {}

    def taken(self, file: str) -> None:
        """A file has another content, which was imported: it is looked at anew."""
        self._told.pop(file, None)
        self._stale.discard(file)

    def write(self, file: str) -> "WrittenBack | None":
        """Write a file back, if anything was decided since; None: there was nothing to do, or
        another machine of the home leads, which does it. Why it cannot be written is raised
        once."""
        home = self._session.opened()
        if not home.settings.import_.write_back or not home.services.leads:
            return None
        n = home.services.journal.tail().n
        if self._told.get(file) == n:
            return None
        self._told[file] = n
        try:
            done = self._written(file)
        except WakelogError as error:
            if self._may_be_passing(file, error) or self._refused.get(file) == str(error):
                return None
            self._refused[file] = str(error)
            raise
        self._refused.pop(file, None)
        self._stale.discard(file)
        self._told[file] = home.services.journal.tail().n
        return done

    def _written(self, file: str) -> "WrittenBack":

        (source,) = sources_of(self._session.opened(), [file], "", os.environ)
        try:
            home = self._session.writing()
            done = write_back(home, file, source, os.environ)
        except UnreadableInput as error:
            because = f"{file} cannot be written back: {error.because}"
            raise Refused("unreadable_file", because=because, instead=error.instead) from None
        if done.written or done.added:
            import_tasks.keep_copy(home, file, done.data)
        return done

    def _may_be_passing(self, file: str, error: WakelogError) -> bool:
        """Whether the file may just be changing: then it is imported first, and tried again."""
        is_first = error.code == "stale" and file not in self._stale
        if is_first:
            self._stale.add(file)
            self._told.pop(file, None)
        return is_first
