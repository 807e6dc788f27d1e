"""`wakelog task add`, `set`, `conclude`, `delete` and `restore`: a task and its fields."""

import os
from collections.abc import Sequence
from typing import Any

import click

from adapters.actions.inputs import NONE, status_named, typed
from adapters.actions.tasks import (
    add_task,
    conclude_task,
    delete_task,
    edit_task,
    restore_task,
)
from adapters.cli.editing import Editing, named
from adapters.cli.entering import TEXT, long_text
from adapters.cli.shared import F, Session, complain, key_option
from adapters.documents.tasks import task_page
from adapters.text.task import stopped
from domain.errors import Refused
from domain.journal import edits
from domain.journal.fields import FIELDS


def _field_options(command: F) -> F:
    options = (
        click.option("--description", type=TEXT, metavar="TEXT", help="Or `-` for stdin."),
        click.option(
            "--status", type=TEXT, metavar="S", help="open, groomed, in-progress, blocked, ..."
        ),
        click.option("--reason", type=TEXT, metavar="R", help="Why; needed for blocked, on-hold."),
        *(
            click.option(f"--{one.name}", type=TEXT, metavar=one.metavar, help=one.help)
            for one in FIELDS
        ),
        click.option("--category", type=TEXT, metavar="C", help="A category's name."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _fields(session: Session, given: dict[str, str | None]) -> dict[str, Any]:
    """The options that were given, as the journal's commands take them."""
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "reason" in fields and "status" not in fields:
        because = "--reason is given without --status"
        raise Refused("invalid_value", because=because, instead="say which status it is for")
    if "status" in fields:
        fields["status"] = status_named(fields["status"])
    for field in FIELDS:
        if field.name in fields:
            fields[field.name] = typed(field, fields[field.name], session.reading)
    return fields


@click.command(
    "add", epilog='Example: wakelog task add "Book the flight" --due 2027-02-12 --item "Compare"'
)
@click.argument("title", type=TEXT)
@_field_options
@click.option("--label", "labels", type=TEXT, multiple=True, metavar="L", help="A label's name.")
@click.option("--item", "items", type=TEXT, multiple=True, metavar="I", help="A checklist item.")
@click.option(
    "--file",
    type=click.Path(),
    default="",
    metavar="FILE",
    help="Give it a line in this file, too.",
)
@key_option
@click.pass_obj
def add(
    session: Session,
    /,
    title: str,
    labels: Sequence[str],
    items: Sequence[str],
    file: str,
    key: str,
    description: str | None,
    **given: str | None,
) -> None:
    """Add a task, with a checklist if you like; with --file also to a file that was imported."""
    fields = _fields(session, given)
    titles = tuple(edits.titled(item, edits.ITEM_TITLE_MAX) for item in items)
    said = None if description is None else long_text(description, None, "description")
    editing = Editing(session, key)
    made = add_task(
        editing.home,
        title,
        fields,
        editing.key,
        labels=labels,
        items=titles,
        description=said,
    )
    task_id = editing.did(made).ids[0]
    editing.tell("Added", task_id)
    if file:
        _into(session, file, task_id)


def _into(session: Session, file: str, task_id: str) -> None:
    """Give a new task a line in a file; it is here in any case, and the exit status 1 without."""
    from adapters.actions.sources import sources_of
    from adapters.actions.writing_back import write_back
    from adapters.home.given import Unreadable

    home, why = session.writing(), ""
    try:
        (source,) = sources_of(home, [file], "", os.environ)
        if write_back(home, file, source, os.environ, [task_id]).unsaid:
            why = "its line cannot be said there; change the title, then `wakelog write-back --add`"
    except (Unreadable, Refused) as error:
        why = str(error)
    if why:
        complain(f"the task is here, and not in {file}: {why}")
        raise SystemExit(1)


@click.command(
    "set", epilog='Example: wakelog task set "Book the flight" --status done --estimate none'
)
@click.argument("task", type=TEXT)
@click.option("--title", type=TEXT, metavar="T", help="A new title.")
@_field_options
@key_option
@click.pass_obj
def edit(
    session: Session,
    /,
    task: str,
    title: str | None,
    key: str,
    description: str | None,
    **given: str | None,
) -> None:
    """Change fields of a task; what is not named stays as it is."""
    fields = _fields(session, given)
    if title is not None:
        fields["title"] = edits.titled(title, edits.TITLE_MAX)
    if description is None and not fields:
        because = "nothing is named that shall change"
        instead = "give an option, as in --status done; see `wakelog task set --help`"
        raise Refused("invalid_value", because=because, instead=instead)
    said = None if description is None else long_text(description, None, "description")
    editing = Editing(session, key)
    found = editing.task(task)
    text = "" if said == NONE else said
    editing.did(edit_task(editing.home, found.id, fields, editing.key, description=text))
    editing.tell("Changed", found.id)


@click.command(
    "conclude",
    epilog='Example: wakelog task conclude "Book the flight" --follow-up "Pack for the flight"',
)
@click.argument("task", type=TEXT)
@click.option(
    "--follow-up", "title", type=TEXT, metavar="TITLE", required=True, help="The new task's title."
)
@click.option("--keep-items", "keeps_items", is_flag=True, help="Leave open items where they are.")
@key_option
@click.pass_obj
def conclude(session: Session, task: str, title: str, key: str, *, keeps_items: bool) -> None:
    """Set a task done, and let a new one follow it with its open items."""
    title = edits.titled(title, edits.TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    made = conclude_task(editing.home, found.id, title, editing.key, keeps_items=keeps_items)
    timer = stopped(task_page(editing.home, found.id).task, made.stopped)
    editing.tell(f"Concluded {named(found)}{timer}; added", editing.did(made).ids[0])


@click.command("delete", epilog='Example: wakelog task delete "Book the flight"')
@click.argument("task", type=TEXT)
@key_option
@click.pass_obj
def delete(session: Session, task: str, key: str) -> None:
    """Delete a task; `task restore` brings it back with all it had."""
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(delete_task(editing.home, found.id, key=editing.key))
    editing.tell("Deleted", found.id)


@click.command("restore", epilog='Example: wakelog task restore "Book the flight"')
@click.argument("task", type=TEXT)
@key_option
@click.pass_obj
def restore(session: Session, task: str, key: str) -> None:
    """Bring a deleted task back; `task list --deleted` shows them."""
    editing = Editing(session, key)
    found = editing.task(task, is_deleted=True)
    editing.did(restore_task(editing.home, found.id, key=editing.key))
    editing.tell("Restored", found.id)


COMMANDS: tuple[click.Command, ...] = (add, edit, conclude, delete, restore)
