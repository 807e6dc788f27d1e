"""`wakelog conflicts` and `wakelog settle`: what a file and the person, or two machines, both said
(ADR 48, ADR 71)."""

from typing import get_args

from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import command, keyed
from adapters.cli.shared import Session, flag, option
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.replica_conflicts import AGENTS, CYCLE, replica_conflicts
from adapters.documents.tasks import task_page
from adapters.text.common import ID_SHOWN, safe, typed
from adapters.text.conflicts import conflict_lines
from adapters.usecases.resolve_conflict import (
    CATALOG,
    Side,
    numbered,
    open_conflicts,
    settle_named,
)


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
    session.printed(found)
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
@option("--keep side", "What stands: `file`, `mine` or a machine.", default="")
@flag("--both", "Between machines, of a text: the other becomes a note.")
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
    editing = Editing(session, key)
    task_id, field, done = settle_named(
        session.reading(), session.writing, task, field or "", side, key, is_both=both
    )
    editing.did(done)
    kept = f"Kept what {safe(side)} said" if side else "Kept both"
    if not task_id:
        if session.as_json:
            session.document(replica_conflicts(session.reading()))
        session.say(f"{editing.outcome(kept)}: {safe(field)}")
    elif side in get_args(Side) and not both:
        editing.tell("Took the file's" if side == "file" else "Kept", task_id)
    else:
        editing.tell(f"Took the link of {safe(side)} away" if field == CYCLE else kept, task_id)


def _sides(one: ConflictDetails) -> str:
    return (
        "file|mine"
        if one.is_of_file
        else "|".join(sorted({typed(safe(side.label)) for side in one.values}))
    )
