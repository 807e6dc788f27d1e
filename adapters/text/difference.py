"""Lines of a difference: which of its two sides each is of, for a terminal, a page or a pipe."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Mark = Literal["-", "+", "@", ""]
STYLES: dict[Mark, str] = {
    "-": "red",
    "+": "cyan",
}  # told apart by who cannot see red or green, too
_MARKS: dict[str, Mark] = {"-": "-", "+": "+", "@": "@"}


class Line(NamedTuple):
    """A line, and what it is: on the first side only (``-``), on the second only (``+``), where in
    a text it is (``@``), or none of it. The sign stands in the text, too: colours are only added.
    """

    text: str
    mark: Mark = ""


def marked(told: str) -> Line:
    """A line of a unified difference.

    >>> marked("+new"), marked(" - an item of a list")
    (Line(text='+new', mark='+'), Line(text=' - an item of a list', mark=''))
    """
    return Line(told, _MARKS.get(told[:1], ""))


def deeper(lines: Iterable[Line], by: int = 2) -> Iterator[Line]:
    """Lines further to the right, by so many characters."""
    yield from (Line(" " * by + one.text, one.mark) for one in lines)
