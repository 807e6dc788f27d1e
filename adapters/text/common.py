"""What every text has: times as a person reads them, and nothing that a terminal would obey."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

UNITS = ((86_400 * 365, "y"), (86_400, "d"), (3_600, "h"), (60, "min"))
ID_SHOWN = 8  # characters; enough to tell the ids of a home apart at a glance
UNSEEN = "\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff"
"""What turns a text, or stands in it, and is not seen: of a regular expression's class."""
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_KEPT = "\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def safe(text: str) -> str:
    """A text of several lines without control characters that a terminal would obey. Joiners stay:
    Persian, Hindi and emoji are made with them. What would turn the text unseen is a sign.

    >>> safe("a\\x1b[2J\\u200db"), safe("gpj.\\u202eexe")
    ('a [2J\\u200db', 'gpj.�exe')
    """
    if text.isprintable():
        return text
    told = _UNSEEN.sub("\ufffd", text)
    return "".join(char if char.isprintable() or char in _KEPT else " " for char in told)


def one_line(text: str) -> str:
    """A text as one line, without control characters that a terminal would obey."""
    return safe(text).replace("\n", " ")


def lasting(seconds: float) -> str:
    """A length of time in the coarsest unit that says something.

    >>> lasting(0.1346), lasting(90), lasting(86_400 * 3)
    ('0.13 s', '1 min', '3 d')
    """
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def local_time(at: str, zone: str) -> str:
    """A stored time as a person in a zone reads it; empty stays empty.

    >>> local_time("2027-01-01T06:00:00.000000Z", "Europe/Berlin")
    '2027-01-01 07:00'
    """
    from zoneinfo import ZoneInfo

    from domain.log.timestamps import instant

    return instant(at).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M") if at else ""


def ago(at: str, now: str) -> str:
    """How far a time is from now, in the coarsest unit that says something.

    >>> ago("2027-01-01T00:00:00.000000Z", "2027-01-01T02:30:00.000000Z")
    '2 h ago'
    >>> ago("2027-01-01T00:02:00.000000Z", "2027-01-01T00:00:00.000000Z")
    'in 2 min'
    """
    from domain.log.timestamps import instant

    seconds = int((instant(now) - instant(at)).total_seconds())
    for size, unit in UNITS:
        if abs(seconds) >= size:
            told = f"{abs(seconds) // size} {unit}"
            return f"{told} ago" if seconds > 0 else f"in {told}"
    return "just now" if seconds >= 0 else "in a moment"


def run_shown(run_key: str, length: int = ID_SHOWN) -> str:
    """The beginning of a run key, and whose wake it is where that belongs to its name.

    >>> run_shown("nb5evlz4abcd"), run_shown("nb5evlz4abcd@r2")
    ('nb5evlz4', 'nb5evlz4@r2')
    """
    key, at, replica = run_key.partition("@")
    return f"{key[:length]}{at}{replica}"


def typed(word: str) -> str:
    """A word as a person types it: in quotes where it has a blank or a sign.

    >>> typed("desk/1.1"), typed("my desk/1.1")
    ('desk/1.1', "'my desk/1.1'")
    """
    from shlex import quote

    return quote(word)


# ---------------------------------------------------------------------------- lines of a difference
# Lines of a difference: which of its two sides each is of, for a terminal, a page or a pipe.

DiffMark = Literal["-", "+", "@", ""]
DIFF_STYLES: dict[DiffMark, str] = {
    "-": "red",
    "+": "cyan",
}  # told apart by who cannot see red or green, too
_MARKS: dict[str, DiffMark] = {"-": "-", "+": "+", "@": "@"}


class DiffLine(NamedTuple):
    """A line, and what it is: on the first side only (``-``), on the second only (``+``), where in
    a text it is (``@``), or none of it. The sign stands in the text, too: colours are only added.
    """

    text: str
    mark: DiffMark = ""


def diff_line(told: str) -> DiffLine:
    """A line of a unified difference.

    >>> diff_line("+new"), diff_line(" - an item of a list")
    (DiffLine(text='+new', mark='+'), DiffLine(text=' - an item of a list', mark=''))
    """
    return DiffLine(told, _MARKS.get(told[:1], ""))


def indented(lines: Iterable[DiffLine], by: int = 2) -> Iterator[DiffLine]:
    """Lines further to the right, by so many characters."""
    yield from (DiffLine(" " * by + one.text, one.mark) for one in lines)


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
