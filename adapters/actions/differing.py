"""Settles what a file and the person said differently of a field: one deed for command line, page
and `import --prefer`."""

from typing import TYPE_CHECKING, Literal

from adapters.actions.tasks import keep
from domain.errors import Refused
from domain.journal.commands import SettleDifference
from domain.journal.differences import COMPARED

if TYPE_CHECKING:
    from adapters.actions.tasks import Kept
    from adapters.wiring import Home

Side = Literal["file", "mine"]


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
