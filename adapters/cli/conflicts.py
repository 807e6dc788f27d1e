"""`wakelog conflicts` and `wakelog settle`: what a file and the person, or two machines, both said
(ADR 48, ADR 71)."""

from typing import cast, get_args

import click

from adapters.cli.editing import Editing
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.import_conflicts import ConflictDetails, conflicts
from adapters.documents.replica_conflicts import AGENTS, CYCLE, replica_conflicts
from adapters.documents.tasks import task_page
from adapters.text.common import ID_SHOWN, safe, typed
from adapters.text.conflicts import as_text
from adapters.usecases.resolve_conflict import Side, settle, settle_machines

CATALOG = "catalog"
"""Stands for a task where categories and labels differ."""
OF_CATALOG = ("category:", "label:")
OF_AGENTS = ("template:", "models:", "consent:", "receipt:", "rating:")
OF_NONE = {CATALOG: OF_CATALOG, AGENTS: OF_AGENTS}


@click.command("conflicts", epilog="Example: wakelog conflicts")
@click.argument("task", type=TEXT, required=False)
@click.pass_obj
def conflicts_command(session: Session, task: str | None) -> None:
    """List what a file and you, or two of your machines, changed both; of one TASK if it is named.

    Against a file, what is yours stands until you settle it; between machines, what is marked.
    Timers that run at once, links that block in a circle and categories of one name stay until you
    choose.
    """
    if task is None:
        home = session.reading()
        found = [*conflicts(home), *replica_conflicts(home)]
    else:
        task_id = Editing(session, "").task(task).id
        found = list(task_page(session.reading(), task_id).conflicts)
    if session.as_json:
        session.document(found)
        return
    for one in found:
        place = AGENTS if one.about else CATALOG
        session.say(f"{one.task[:ID_SHOWN] or place} {safe(one.title)}")
        session.say(f"  {as_text(one)}")
    if found:
        sides = " or ".join(sorted({_sides(one) for one in found}))
        session.note(f"Settle one with `wakelog settle TASK FIELD --keep {sides}`.")
    else:
        session.say("No conflicts: no file and no other machine says otherwise.")


@click.command("settle", epilog='Example: wakelog settle "Book the flight" due --keep file')
@click.argument("task", type=TEXT)
@click.argument("field", type=TEXT)
@click.option(
    "--keep",
    "side",
    type=TEXT,
    required=True,
    help="What stands: `file`, `mine` or a machine.",
)
@click.option("--both", is_flag=True, help="Between machines, of a text: the other becomes a note.")
@key_option
@click.pass_obj
def settle_command(
    session: Session, /, task: str, field: str, side: str, key: str, *, both: bool
) -> None:
    """Settle a conflict: take what the file says of a field, keep what stands here, or let what a
    machine said stand, which is named as `wakelog conflicts` names it.

    Of `timer` the other machines' timers end now; of `blocks` the link that the machine made goes.
    TASK is `catalog` for what differs of a category or label, `agents` for templates and models; of
    categories with one name give one another, with `wakelog category rename`. Of verdicts on an
    item the one that stands is kept.
    """
    editing = Editing(session, key)
    if task in OF_NONE and field.startswith(OF_NONE[task]):
        editing.did(settle_machines(editing.home, "", field, side, editing.key, is_both=both))
        if session.as_json:
            session.document(replica_conflicts(editing.home))
        session.say(f"{editing.outcome(f'Kept what {safe(side)} said')}: {safe(field)}")
        return
    task_id = editing.task(task).id
    if side in get_args(Side) and not both:
        editing.did(settle(editing.home, task_id, field.lower(), cast("Side", side), editing.key))
        editing.tell("Took the file's" if side == "file" else "Kept", task_id)
        return
    editing.did(settle_machines(editing.home, task_id, field, side, editing.key, is_both=both))
    done = "Took the link of {} away" if field == CYCLE else "Kept what {} said"
    editing.tell(done.format(safe(side)), task_id)


def _sides(one: ConflictDetails) -> str:
    return (
        "file|mine"
        if one.is_of_file
        else "|".join(sorted({typed(safe(side.label)) for side in one.values}))
    )
