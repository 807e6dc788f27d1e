"""Settles what a file and the person said differently of a field: one deed for command line, page
and `import --prefer`."""

from typing import TYPE_CHECKING, Literal

from adapters.actions.tasks import is_done, keep
from adapters.documents.disputes import disputes_of, disputes_of_catalog, names_of
from domain.errors import Refused, invalid
from domain.journal.commands import AddNote, SettleConflict, SettleDifference
from domain.journal.differences import COMPARED
from domain.wire import words

if TYPE_CHECKING:
    from adapters.actions.tasks import Kept
    from adapters.wiring import Home

Side = Literal["file", "mine"]

TEXTS = ("title", "description")  # of which the other value may be kept as a note


def settle(
    home: "Home", task_id: str, field: str, side: Side, key: str = "", *, nth: int = 1
) -> "Kept":
    """Let the file's value or the person's stand.

    Raises:
        Refused: Code ``invalid_value``: they do not differ in this field.
    """
    if field not in COMPARED:
        because = f"{field!r} is no field in which a file and a task can differ"
        raise Refused("invalid_value", because=because, instead=f"use one of {', '.join(COMPARED)}")
    return keep(home, SettleDifference(task_id, field, side), key, nth=nth)


def settle_machines(
    home: "Home", task_id: str, field: str, machine: str, key: str = "", *, is_both: bool = False
) -> "Kept":
    """Let what a machine said of a field stand; of a circle of links, take its link away.

    Args:
        home: Open to write.
        task_id: Whose field; empty of what the catalog holds.
        field: As `conflicts` names it.
        machine: What it is called, or its replica.
        key: The caller's idempotency key.
        is_both: Of a text: what the others said becomes a note.

    Raises:
        Refused: Code ``invalid_value``: there is no such conflict or side, or it is no text.
    """
    names = names_of(home)
    if is_done(home, key):
        replica = next((one for one, label in names.items() if label == machine), machine)
        return keep(home, SettleConflict(task_id, field, replica), key)
    with home.services.journal.reading() as world:
        every = disputes_of(world, task_id, names) if task_id else disputes_of_catalog(world, names)
        found = [one for one in every if one.field == field]
    if not found:
        because = f"no two machines differ in {field!r}, or not any more"
        raise invalid(because, "see `wakelog conflicts`")
    values = found[0].values
    sides = sorted({one.replica for one in values if machine in (one.replica, one.label)})
    if len(sides) != 1:
        is_double = f"{machine!r} is the name of {len(sides)} machines"
        because = is_double if sides else f"{machine!r} is no side of a conflict in {field!r}"
        known = ", ".join(sides or dict.fromkeys(one.label for one in values))
        raise Refused(
            "ambiguous" if sides else "invalid_value",
            because=because,
            instead=f"name one of {known}",
        )
    command = SettleConflict(task_id, field, sides[0])
    if is_both and field not in TEXTS:
        raise invalid(f"{field!r} is no text", "choose one of both, without --both")
    others = [one for one in values if one.replica not in sides and one.value] if is_both else []
    for nth, one in enumerate(others, start=2):
        said, payloads = words(task_id, f"{field.capitalize()} on {one.label}: {one.value}")
        keep(home, AddNote(task_id, "note", said), key, nth=nth, payloads=payloads)
    return keep(home, command, key)
