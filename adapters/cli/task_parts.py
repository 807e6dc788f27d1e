"""`wakelog task check`, `uncheck`, `item`, `note`, `link` and `unlink`: the parts of a task."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from adapters.actions import tasks
from adapters.actions.tasks import (
    add_items,
    add_note,
    edit_note,
    mark_items,
    remove_note,
    rename_item,
)
from adapters.cli.editing import Editing
from adapters.cli.entering import TEXT, long_text, warn_of_secrets
from adapters.cli.shared import Session, key_option
from adapters.documents.tasks import task_page
from domain.errors import Refused
from domain.journal import edits
from domain.journal.document import task_line

if TYPE_CHECKING:
    from domain.journal.task import NoteKind

ITEM_HELP = (
    "ITEM is its number in `task show`, its id, the beginning of one, or words of its title."
)
KINDS = ("note", "transcript", "image_analysis")


@click.command("check", epilog=f'Example: wakelog task check "Book the flight" 1 2. {ITEM_HELP}')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def check(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Tick checklist items off."""
    _mark(session, task, item, key, is_checked=True)


@click.command("uncheck", epilog=f'Example: wakelog task uncheck "Book the flight" 2. {ITEM_HELP}')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def uncheck(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Take the tick off checklist items."""
    _mark(session, task, item, key, is_checked=False)


def _mark(
    session: Session,
    task: str,
    items: Sequence[str],
    key: str,
    *,
    is_checked: bool | None = None,
    is_archived: bool | None = None,
) -> None:
    """Tick, untick, archive or restore items; if one is unknown, none is touched."""
    editing = Editing(session, key)
    found = editing.task(task)
    named = dict.fromkeys(editing.item(found, item).id for item in items)
    how = {"is_checked": is_checked, "is_archived": is_archived}
    editing.did(mark_items(editing.home, found.id, named, editing.key, **how))
    done = {True: "Checked", False: "Unchecked", None: "Archived" if is_archived else "Restored"}
    _tell_items(editing, done[is_checked], found.id)


def _tell_items(editing: Editing, done: str, task_id: str) -> None:
    """Say what was done, and how far the checklist is."""
    page = task_page(editing.session.reading(), task_id)
    told = task_line(page.task, page.catalog, "").checklist
    editing.tell(f"{done} ({told.done} of {told.total} done)", task_id)


@click.group("item", epilog=ITEM_HELP)
def item_group() -> None:
    """Add, rename, archive and restore checklist items."""


@item_group.command(
    "add", epilog='Example: wakelog task item add "Book the flight" "Compare fares"'
)
@click.argument("task", type=TEXT)
@click.argument("title", type=TEXT, nargs=-1, required=True)
@click.option("--checklist", type=TEXT, default="", metavar="C", help="Title of the checklist.")
@key_option
@click.pass_obj
def item_add(session: Session, task: str, title: Sequence[str], checklist: str, key: str) -> None:
    """Add items at the end of a checklist."""
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(add_items(editing.home, found.id, title, checklist=checklist, key=editing.key))
    _tell_items(editing, "Added", found.id)


@item_group.command(
    "rename", epilog='Example: wakelog task item rename "Book the flight" 1 "Compare fares"'
)
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT)
@click.argument("title", type=TEXT)
@key_option
@click.pass_obj
def item_rename(session: Session, task: str, item: str, title: str, key: str) -> None:
    """Rename an item; agents learn from it if it was not you who wrote it."""
    title = edits.titled(title, edits.ITEM_TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    item_id = editing.item(found, item).id
    editing.did(rename_item(editing.home, found.id, item_id, title, key=editing.key))
    editing.tell("Renamed the item", found.id)


@item_group.command("archive", epilog='Example: wakelog task item archive "Book the flight" 2')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def item_archive(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Put items aside; they no longer count."""
    _mark(session, task, item, key, is_archived=True)


@item_group.command("restore", epilog='Example: wakelog task item restore "Book the flight" 2')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def item_restore(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Bring archived items back."""
    _mark(session, task, item, key, is_archived=False)


@click.command("note", epilog='Example: wakelog task note "Book the flight" "Ann prefers trains"')
@click.argument("task", type=TEXT)
@click.argument("text", type=TEXT, required=False)
@click.option("--file", type=TEXT, metavar="PATH", help="Read the text from a file.")
@click.option(
    "--kind",
    "note_kind",
    type=click.Choice(KINDS),
    default="note",
    show_default=True,
    help="What it is.",
)
@click.option("--edit", type=TEXT, metavar="NOTE", help="Replace the text of this note.")
@click.option("--remove", type=TEXT, metavar="NOTE", help="Remove this note.")
@key_option
@click.pass_obj
def note(
    session: Session,
    /,
    task: str,
    text: str | None,
    file: str | None,
    note_kind: str,
    key: str,
    **which: str | None,
) -> None:
    """Add a note: a TEXT, `-` for stdin, or --file. NOTE is a number in `task show`, or an id."""
    editing = Editing(session, key)
    edit, remove = which["edit"], which["remove"]
    if remove is not None:
        if text is not None or file is not None or edit is not None:
            because = "--remove takes no text and no --edit"
            raise Refused("invalid_value", because=because, instead="do one after the other")
        found = editing.task(task)
        note_id = editing.note(found, remove)
        editing.did(remove_note(editing.home, found.id, note_id, key=editing.key))
        editing.tell("Removed the note", found.id)
        return
    said = long_text(text, file, "note")
    warn_of_secrets(said, "the note")
    found = editing.task(task)
    if edit is None:
        kind = cast("NoteKind", note_kind)  # click has checked it
        editing.did(add_note(editing.home, found.id, said, key=editing.key, kind=kind))
    else:
        note_id = editing.note(found, edit)
        editing.did(edit_note(editing.home, found.id, note_id, said, key=editing.key))
    editing.tell("Noted" if edit is None else "Changed the note", found.id)


@click.command("link", epilog='Example: wakelog task link "Book the flight" blocks "Pack"')
@click.argument("task", type=TEXT)
@click.argument("relation_", metavar="RELATION", type=TEXT)
@click.argument("other", type=TEXT)
@key_option
@click.pass_obj
def link(session: Session, task: str, relation_: str, other: str, key: str) -> None:
    """Link a task to another one.

    RELATION is relates-to, blocks, follows-up-on, duplicates, fixes or supersedes, or the same
    from the other end: blocked-by, has-follow-up, duplicated-by, fixed-by or superseded-by.
    """
    _link(session, task, relation_, other, key, is_new=True)


@click.command("unlink", epilog='Example: wakelog task unlink "Book the flight" blocks "Pack"')
@click.argument("task", type=TEXT)
@click.argument("relation_", metavar="RELATION", type=TEXT)
@click.argument("other", type=TEXT)
@key_option
@click.pass_obj
def unlink(session: Session, task: str, relation_: str, other: str, key: str) -> None:
    """Remove a link; RELATION is named as in `task link`."""
    _link(session, task, relation_, other, key, is_new=False)


def _link(session: Session, task: str, phrase: str, other: str, key: str, *, is_new: bool) -> None:
    editing = Editing(session, key)
    here, there = editing.task(task), editing.task(other)
    deed = tasks.link if is_new else tasks.unlink
    editing.did(deed(editing.home, here.id, phrase, there.id, editing.key))
    editing.tell("Linked" if is_new else "Unlinked", here.id)


COMMANDS: tuple[click.Command, ...] = (check, uncheck, item_group, note, link, unlink)
