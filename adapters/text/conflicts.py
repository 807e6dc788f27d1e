"""A conflict between a file and the person, in words."""

from typing import TYPE_CHECKING

from adapters.text.common import safe
from domain.text import cut, squeeze

if TYPE_CHECKING:
    from adapters.documents.conflicts import ConflictDetails, ConflictValue


def told(one: "ConflictDetails") -> str:
    """All values in one line."""
    if not one.is_of_file:
        said = ", ".join(_side(one, side) for side in one.values)
        return f"{safe(one.field)}: {said}"
    mine, theirs = one.values
    said = f"{shown(theirs.value)} in {safe(theirs.label)}"
    return f"{one.field}: {shown(mine.value)} here, {said}"


def _side(one: "ConflictDetails", side: "ConflictValue") -> str:
    stands = ", which stands" if side.replica == one.stands else ""
    return f"{shown(side.value)} on {safe(side.label)}{stands}"


def shown(value: str) -> str:
    """A value in one line; one that is empty is told as ``none``."""
    return safe(cut(squeeze(value), length_max=60)) or "none"
