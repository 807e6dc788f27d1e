"""Days as a calendar for other programs (RFC 5545), out only: of one log always the same bytes."""

from collections.abc import Iterable, Iterator

from adapters.documents.day import DayBlock, DayDetails
from adapters.home.schedules import shown_on
from adapters.text.common import one_line

OCTETS_MAX = 75  # of a line, its end not counted


def calendar(days: Iterable[DayDetails]) -> str:
    """The blocks of days as events in UTC, each by an id that it keeps when it is moved."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//wakelog//day//EN"]
    for day in days:
        for one in day.blocks:
            lines += ["BEGIN:VEVENT", *_event(day, one), "END:VEVENT"]
    return "".join(f"{_folded(one)}\r\n" for one in (*lines, "END:VCALENDAR"))


def _event(day: DayDetails, block: DayBlock) -> Iterator[str]:
    start, end = (_utc(shown_on(day.date, at, day.zone)) for at in (block.start, block.end))
    yield f"UID:{block.id}@{day.date}.wakelog"
    yield f"DTSTAMP:{_utc(block.at)}"
    yield f"DTSTART:{start}"
    if start < end:  # else a change of clocks skips it
        yield f"DTEND:{end}"
    yield f"SUMMARY:{_escaped(block.title)}"
    if block.category:
        yield f"CATEGORIES:{_escaped(block.category)}"


def _utc(at: str) -> str:
    """A stored time in the form of RFC 5545, to the second.

    >>> _utc("2026-11-24T08:00:00.123456Z")
    '20261124T080000Z'
    """
    return f"{at[:19].replace('-', '').replace(':', '')}Z"


def _escaped(text: str) -> str:
    r"""A text as a value.

    >>> print(_escaped("Nails, screws; C:\\"))
    Nails\, screws\; C:\\
    """
    told = one_line(text).replace("\\", "\\\\")
    return told.replace(";", "\\;").replace(",", "\\,")


def _folded(line: str) -> str:
    """A line in pieces of so many octets, none of which ends within a character."""
    pieces, octets = [""], 0
    for char in line:
        size = len(char.encode())
        if octets + size > OCTETS_MAX:
            pieces.append(" ")
            octets = 1
        pieces[-1] += char
        octets += size
    return "\r\n".join(pieces)
