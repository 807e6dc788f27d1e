"""A conflict between a file and the person, in words."""

from typing import TYPE_CHECKING

from adapters.text.common import safe
from domain.text import cut, squeeze

if TYPE_CHECKING:
    from adapters.documents.conflicts import ConflictDetails


def told(one: "ConflictDetails") -> str:
    """Both values in one line."""
    mine, theirs = one.values
    said = f"{shown(theirs.value)} in {safe(theirs.label)}"
    return f"{one.field}: {shown(mine.value)} here, {said}"


def shown(value: str) -> str:
    """A value in one line; one that is empty is told as ``none``."""
    return safe(cut(squeeze(value), length_max=60)) or "none"
