"""`wakelog conflicts` and `wakelog settle`: what a file and the person both changed (ADR 48)."""

import click

from adapters.actions.differing import Side, settle
from adapters.cli.editing import Editing
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.conflicts import conflicts
from adapters.text.common import ID_SHOWN, safe
from adapters.text.conflicts import told


@click.command("conflicts", epilog="Example: wakelog conflicts")
@click.pass_obj
def conflicts_command(session: Session) -> None:
    """List what a file and you changed both; what is yours stands until you settle it."""
    found = conflicts(session.reading())
    if session.as_json:
        session.document(found)
        return
    for one in found:
        session.say(f"{one.task[:ID_SHOWN]} {safe(one.title)}")
        session.say(f"  {told(one)}")
    if found:
        session.note("Settle one with `wakelog settle TASK FIELD --keep file|mine`.")
    else:
        session.say("No conflicts: no file says otherwise than you.")


@click.command("settle", epilog='Example: wakelog settle "Book the flight" due --keep file')
@click.argument("task", type=TEXT)
@click.argument("field", type=TEXT)
@click.option(
    "--keep", "side", type=click.Choice(["file", "mine"]), required=True, help="What shall stand."
)
@key_option
@click.pass_obj
def settle_command(session: Session, /, task: str, field: str, side: Side, key: str) -> None:
    """Settle a conflict: take what the file says of a field, or keep what stands here."""
    editing = Editing(session, key)
    task_id = editing.task(task).id
    editing.did(settle(editing.home, task_id, field.lower(), side, editing.key))
    editing.tell("Took the file's" if side == "file" else "Kept", task_id)
