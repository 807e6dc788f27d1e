"""Lessons in words."""

from typing import TYPE_CHECKING

from adapters.text.common import ID_SHOWN
from adapters.text.reading import counted
from domain.lessons.lessons import STARS_MAX

if TYPE_CHECKING:
    from adapters.documents.lessons import RanDetails

REASONS_SHOWN = 3


def heading(scope: str, name: str) -> str:
    """What a scope is called; one that is gone by the beginning of its id.

    >>> heading("category:xyz", "Work"), heading("template:abcdefghijkl", "")
    ('Category Work', 'Template abcdefgh')
    """
    what, _, known = scope.partition(":")
    return f"{what.capitalize()} {name or known[:ID_SHOWN]}"


def ran_words(one: "RanDetails") -> str:
    """What became of the wakes of a template; empty where none ended and none was rated."""
    told = f"{counted(one.wakes, 'wake')} ended, {one.noops} with nothing to do"
    if not one.ratings:
        return told if one.wakes else ""
    mean = sum(rated.stars for rated in one.ratings) / len(one.ratings)
    rated = f"{len(one.ratings)} rated, {mean:.1f} of {STARS_MAX} on average"
    return f"{told}; {rated}" if one.wakes else rated
