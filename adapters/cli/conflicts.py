"""`wakelog conflicts` and `wakelog settle`: what a file and the person, or two machines, both said
(ADR 48, ADR 71)."""

from typing import cast, get_args

import click

from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import command, keyed
from adapters.cli.shared import Session
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import AGENTS, CYCLE, replica_conflicts
from adapters.documents.tasks import task_page
from adapters.text.common import ID_SHOWN, safe, typed
from adapters.text.conflicts import conflict_lines
from adapters.usecases.resolve_conflict import (
    Side,
    conflict_numbered,
    numbered,
    open_conflicts,
    settle,
    settle_machines,
)
from domain.errors import invalid

CATALOG = "catalog"
"""Stands for a task where categories and labels differ."""
OF_CATALOG = ("category:", "label:")
OF_AGENTS = ("template:", "models:", "consent:", "receipt:", "rating:")
OF_NONE = {CATALOG: OF_CATALOG, AGENTS: OF_AGENTS}


@command("conflicts", "[task]")
def conflicts_command(session: Session, task: str | None) -> None:
    """List what a file and you, or two of your machines, changed both; of one TASK if it is named.

    Against a file, what is yours stands until you settle it; between machines, what is marked.
    Timers that run at once, links that block in a circle and categories of one name stay until you
    choose.
    """
    if task is None:
        found = open_conflicts(session.reading())
    else:
        task_id = Editing(session, "").task(task).id
        found = numbered(task_page(session.reading(), task_id).conflicts)
    if session.printed(found):
        return
    for one in found:
        place = AGENTS if one.about else CATALOG
        session.say_each(
            conflict_lines(one, one.task[:ID_SHOWN] or place, session.settings().timezone)
        )
    if found:
        sides = " or ".join(sorted({_sides(one) for one in found}))
        session.note(f"Settle one with `wakelog settle NUMBER --keep {sides}`.")
    else:
        session.say("No conflicts: no file and no other machine says otherwise.")


@keyed(
    "settle",
    "task=NUMBER|TASK",
    "[field]",
    example=("412 --keep laptop", '"Book the flight" due --keep file'),
)
@click.option("--keep", "side", default="", help="What stands: `file`, `mine` or a machine.")
@click.option("--both", is_flag=True, help="Between machines, of a text: the other becomes a note.")
def settle_command(
    session: Session, /, task: str, field: str | None, side: str, key: str, *, both: bool
) -> None:
    """Settle a conflict: take what the file says of a field, keep what stands here, or let what a
    machine said stand. NUMBER is the one in `wakelog conflicts`, or name TASK and FIELD as it does.
    --both alone keeps what stands.

    Of `timer` the other machines' timers end now; of `blocks` the link that the machine made goes.
    TASK is `catalog` for what differs of a category or label, `agents` for templates and models; of
    categories with one name give one another, with `wakelog category rename`. Of verdicts on an
    item the one that stands is kept.
    """
    if not side and not both:
        raise invalid("nothing says what is to stand", "add --keep NAME, or --both for two texts")
    editing = Editing(session, key)
    if field is None:
        task_id, field = conflict_numbered(editing.home, task, editing.key)
    else:
        is_of_none = task in OF_NONE and field.startswith(OF_NONE[task])
        task_id = "" if is_of_none else editing.task(task).id
    kept = f"Kept what {safe(side)} said" if side else "Kept both"
    if not task_id:
        editing.did(settle_machines(editing.home, "", field, side, editing.key, is_both=both))
        if session.as_json:
            session.document(replica_conflicts(editing.home))
        session.say(f"{editing.outcome(kept)}: {safe(field)}")
        return
    if side in get_args(Side) and not both:
        editing.did(settle(editing.home, task_id, field.lower(), cast("Side", side), editing.key))
        editing.tell("Took the file's" if side == "file" else "Kept", task_id)
        return
    editing.did(settle_machines(editing.home, task_id, field, side, editing.key, is_both=both))
    editing.tell(f"Took the link of {safe(side)} away" if field == CYCLE else kept, task_id)


def _sides(one: ConflictDetails) -> str:
    return (
        "file|mine"
        if one.is_of_file
        else "|".join(sorted({typed(safe(side.label)) for side in one.values}))
    )
