"""`wakelog write-back`: what was decided here goes into the file it came from (ADR 48)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.actions.identifying import known_tasks
from adapters.actions.sources import Paths, sources_of
from adapters.actions.writing_back import WrittenBack, can_be_written, in_no_file, write_back
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, UserError
from adapters.documents.deeds import ChangeBack, FileBack, FilesBack
from adapters.documents.tasks import titles_among
from adapters.home.given import Unreadable
from adapters.text import conflicts
from adapters.text.common import safe
from domain.errors import Refused, WakelogError

if TYPE_CHECKING:
    from adapters.wiring import Home


@click.command("write-back", epilog="Example: wakelog write-back TODO.md")
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE...]")
@click.option(
    "--source", type=TEXT, default="", metavar="S", help="Name of the source; else the file's."
)
@click.option("--add", is_flag=True, help="Open tasks that are in no file get a line in this one.")
@click.pass_obj
def write_back_command(session: Session, files: Sequence[str], source: str, *, add: bool) -> None:
    """Put what was done here into Markdown and todo.txt files; without FILE, into those of this
    folder that were imported.

    Ticks, status, due date, priority, estimate, title and new items go back, all else stays as
    it is, byte for byte; FILE.bak keeps the file as it was, once a day.
    """
    home = session.writing()
    if not files:
        files = _of_this_folder(home)
    if add and len(files) != 1:
        because = f"--add belongs to one file, and there are {len(files)}"
        raise Refused("invalid_value", because=because, instead="name it")
    more = in_no_file(home) if add else []
    documents: list[FileBack] = []
    refused: WakelogError | None = None
    for file, one in zip(files, sources_of(home, files, source, os.environ), strict=True):
        try:
            done = write_back(home, file, one, os.environ, more)
        except Unreadable as error:
            raise UserError(f"{safe(file)}: {error} [unreadable_file]") from error
        except WakelogError as error:  # the other files are written all the same
            refused = refused or error
            continue
        documents.append(_document(file, done))
        if not session.as_json:
            _tell(session, file, done)
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


def _document(file: str, done: WrittenBack) -> FileBack:
    left = [ChangeBack(one.task, one.named, "cannot_be_said") for one in done.left]
    left += (ChangeBack(one.task, one.field, "both_changed") for one in done.differ)
    written = [ChangeBack(one.task, one.named) for one in done.written]
    return FileBack(file, written, left, [*done.anew], [*done.added], [*done.unsaid])


def _tell(session: Session, file: str, done: WrittenBack) -> None:
    left = len(done.left) + len(done.differ)
    added = f"{len(done.added)} added, " if done.added else ""
    session.say(f"{safe(file)}: {added}{len(done.written)} written, {left} left out")
    tasks = {one.task for one in (*done.written, *done.left)}
    more = {*done.anew, *done.added, *done.unsaid}
    titles = titles_among(session.reading(), tasks | more)
    for task in done.added:
        session.say(f"  {safe(titles[task])}: added")
    for task in done.unsaid:
        session.say(f"  {safe(titles[task])} cannot be said in the file", style="yellow")
    for task in done.anew:
        said = "its line changes, and says more to this version: that was imported, too"
        session.say(f"  {safe(titles[task])}: {said}")
    for one in done.written:
        session.say(f"  {safe(titles[one.task])}: {safe(one.named)}")
    for one in done.left:
        told = f"{safe(titles[one.task])}: {safe(one.named)} cannot be said in the file"
        session.say(f"  {told}", style="yellow")
    for both in done.differ:
        session.say(f"  {safe(both.title)}: {conflicts.told(both)}", style="yellow")
    if done.differ:
        session.note("Settle each with `wakelog settle TASK FIELD --keep file|mine`.")
