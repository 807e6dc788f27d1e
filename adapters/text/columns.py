"""How wide things are on a terminal: tables and lines that fit, so that no id, date or reference
is broken at its edge. All widths stand here, in cells: a wide character takes two.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size

GAP: Final = "  "
CUTS: Final = (
    ("Category", 12), ("Labels", 12), ("Title", 24), ("Name", 24), ("Agent", 24), ("About", 24),
    ("Bar", 0), ("Category", 0), ("Labels", 0), ("Model", 0), ("Calls", 0), ("Wakes", 0),
    ("Mode", 0), ("Items", 0), ("Est", 0), ("Last wake", 0), ("Reason", 0), ("Outcome", 10),
    ("Life", 6), ("Status", 11), ("Title", 10), ("Name", 10), ("Agent", 10),
)  # fmt: skip
"""What is cut where a table is too wide, one after another, and to how many cells; 0: the whole
column is left out, as empty ones are before. A column of a heading that is neither here nor in
`WHOLE` is wrapped."""
WHOLE: Final = frozenset(
    {"ID", "Deed", "Run", "Wake", "When", "Where", "Due", "Prio", "Next wake", "Next"}
)
"""Columns that stay as they are: ids, dates, references."""
WRAPPED_AT = 24  # cells; narrower only where nothing else is left to cut
LABEL_CELLS = 24  # cells; what stands behind a longer one is no column

_UNIT = re.compile(
    r"`[^`]*`\S*|\S*[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}\S*"
    r"|[0-9]+ (?:d|h|min) ago\S*|just now|\S+"
)
_LABEL = re.compile(r" *(?:[0-9]+ \[[ x]\] |\S+(?: \S+)* {2,}(?:\x1b\[0m +)?)?")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CUTTING = frozenset(heading for heading, _ in CUTS)


def cut(text: str, width: int) -> str:
    """A text of at most so many cells; what is gone is told by an ellipsis.

    >>> cut("Fix the sink", 8), cut("東京へ行く", 6)
    ('Fix the…', '東京…')
    """
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def wrapped(text: str, width: int) -> list[str]:
    """A line as lines of at most so many cells, broken between words, further lines below where
    its text begins: behind its indentation, a number and box, and a label and two spaces. What is
    bold or in a colour is as wide as what is not.

    >>> wrapped("  3.1    Set the due date to 2027-03-01 now", 30)
    ['  3.1    Set the due date to', '         2027-03-01 now']
    """
    if _cells(text) <= width:
        return [text]
    label = _LABEL.match(text)
    head = label[0] if label and _cells(label[0]) <= min(LABEL_CELLS, width // 2) else ""
    indent = " " * _cells(head)
    first, *others = _folded(text[len(head) :], width - len(indent))
    return [head + first, *(indent + one for one in others)]


def _folded(text: str, width: int) -> list[str]:
    """The words of a text in lines of so many cells; a word that is longer has lines of its own."""
    lines = [""]
    for word in _units(text, width):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if _cells(joined) <= width:
            lines[-1] = joined
        else:
            lines[-1:] = [one for one in (lines[-1], *_pieces(word, width)) if one]
    return lines


def _units(text: str, width: int) -> Iterator[str]:
    """What is not broken: words, and commands and times where a line can hold them."""
    for unit in _UNIT.findall(text):
        yield from [unit] if _cells(unit) <= width else unit.split()


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word that no line can hold, Japanese for example, in parts."""
    while _cells(word) > width:
        piece = set_cell_size(word, width).rstrip(" ") or word[:1]
        yield piece
        word = word[len(piece) :]
    yield word


def _cells(text: str) -> int:
    return cell_len(_STYLE.sub("", text))


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> Iterator[tuple[int, str]]:
    """The lines of a table that a terminal of so many columns can show, each with the number of
    its row, -1 of the head; where not even its least widths fit, each row as lines of heading and
    cell. Each cell is one line."""
    widths = _fitting(headings, rows, width)
    if widths is None:
        yield from _records(headings, rows, width)
        return
    yield -1, _row([cut(one, wide) for one, wide in zip(headings, widths, strict=True)], widths)
    yield -1, GAP.join("─" * wide for wide in widths if wide)
    for number, row in enumerate(rows):
        cells = [
            [cut(cell, wide)] if _is_one_line(heading) else _folded(cell, wide)
            for heading, cell, wide in zip(headings, row, widths, strict=True)
            if wide
        ]
        kept = [wide for wide in widths if wide]
        for nth in range(max(map(len, cells), default=0)):
            yield number, _row([one[nth] if nth < len(one) else "" for one in cells], kept)


def _row(cells: Iterable[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return GAP.join(set_cell_size(cell, wide) for cell, wide in pairs if wide).rstrip()


def _is_one_line(heading: str) -> bool:
    return heading in WHOLE or heading in _CUTTING


def _fitting(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> list[int] | None:
    """The width of each column, 0 where it is left out; None where nothing fits."""
    natural = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    widths, folding = list(natural), _least(headings, rows)
    _fold(widths, folding, width, WRAPPED_AT)
    if _total(widths) > width:  # what says nothing goes first
        widths = [wide * any(row[nth] for row in rows) for nth, wide in enumerate(widths)]
    for heading, least in CUTS:
        if heading in headings:
            nth, over = headings.index(heading), _total(widths) - width
            if over > 0 and widths[nth] > least:
                widths[nth] = max(least, widths[nth] - over) if least else 0
    _fold(widths, folding, width, 1)
    if _total(widths) > width:
        return None
    for heading, _ in reversed(CUTS):  # what a column that was left out had is given back
        if heading in headings and widths[headings.index(heading)]:
            nth = headings.index(heading)
            widths[nth] = min(natural[nth], widths[nth] + width - _total(widths))
    return widths


def _least(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, int]:
    """Of the columns that are wrapped, which one, and the cells of its longest word."""
    return {
        nth: max(cell_len(unit) for cell in column for unit in _UNIT.findall(cell) or [""])
        for nth, column in enumerate(zip(headings, *rows, strict=True))
        if not _is_one_line(headings[nth])
    }


def _fold(widths: list[int], folding: dict[int, int], width: int, floor: int) -> None:
    """Make the widest of the columns that are wrapped narrower, until the table fits."""
    while folding and _total(widths) > width:
        room = {
            nth: widths[nth] for nth, least in folding.items() if widths[nth] > max(least, floor)
        }
        if not room:
            return
        widest = max(room, key=lambda nth: room[nth])
        widths[widest] -= 1


def _total(widths: Sequence[int]) -> int:
    kept = [one for one in widths if one]
    return sum(kept) + len(GAP) * (len(kept) - 1)


def _records(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> Iterator[tuple[int, str]]:
    """Each row as lines of heading and cell, an empty line between two rows."""
    label = min(max(map(cell_len, headings)), LABEL_CELLS)
    for nth, row in enumerate(rows):
        if nth:
            yield nth, ""
        told = (pair for pair in zip(headings, row, strict=True) if pair[1])
        for heading, cell in told:
            lines = wrapped(set_cell_size(heading, label) + GAP + cell, width)
            yield from ((nth, line) for line in lines)
