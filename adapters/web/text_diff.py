"""Two texts beside each other: word by word, and line by line in two columns."""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from functools import cached_property, partial
from itertools import accumulate
from typing import Literal, NamedTuple

from msgspec import Struct

WORDS_MAX = 800  # of each text that are compared word by word; longer ones by lines
LINES_MAX = 800  # of texts that are not told as two wholes
STEPS_MAX = 1_000_000  # of one comparison; what is left then counts as differing
GAP = "⋯"  # stands for lines that are the same
_WORDS = re.compile(r"\w+[ \t]*|[^\w\s][ \t]*|\s+")  # an end of line is a word of its own
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class DiffPart(NamedTuple):
    """A piece of two texts: it stands in both, or in one of them."""

    kind: Literal["both", "added", "removed"]
    text: str


class LazyDiff:
    """What differs, found when it is shown: a page is put together under the home's lock, and
    nobody waits for somebody else's comparison."""

    def __init__(self, find: Callable[[], Sequence[DiffPart]]) -> None:
        self._find = find

    def __iter__(self) -> Iterator[DiffPart]:
        return iter(self._parts)

    @cached_property
    def _parts(self) -> Sequence[DiffPart]:
        return self._find()


class BoundedMatcher(SequenceMatcher[str]):
    """Finds what is the same for a number of steps: few words, often repeated, take very many."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)  # a word that fills a long text anchors nothing
        places = self.b2j  # type: ignore[attr-defined]  # documented, but not in its stub
        self._until = [0, *accumulate(1 + len(places.get(one, ())) for one in before)]
        self.steps = 0

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end = len(self._until) - 1 if ahi is None else ahi
        taken = self._until[end] - self._until[alo]
        if self.steps + taken > STEPS_MAX:
            return Match(alo, blo, 0)
        self.steps += taken
        return super().find_longest_match(alo, ahi, blo, bhi)


def differences(old: str, new: str) -> Sequence[DiffPart]:
    """What of two texts is the same, and what is not, in the order of the newer one.

    >>> [tuple(one) for one in differences("due on Monday", "due on Friday")]
    [('both', 'due on '), ('removed', 'Monday'), ('added', 'Friday')]
    """
    before, after = _parted(old, new)
    if max(len(before), len(after)) > LINES_MAX:
        return [DiffPart("removed", old), DiffPart("added", new)]
    found: list[DiffPart] = []
    for _, first, last, begin, end in BoundedMatcher(before, after).get_opcodes():
        gone, come = "".join(before[first:last]), "".join(after[begin:end])
        if gone == come:
            found.append(DiffPart("both", come))
            continue
        found += [DiffPart("removed", gone)] if gone else []
        found += [DiffPart("added", come)] if come else []
    return found


def near(old: str, new: str) -> list[DiffPart]:
    """What differs with the rest of its lines, and one line around; the others are left out.

    >>> "".join(one.text for one in near("a\\nb\\nc\\nd\\ne", "a\\nb\\nc\\nd\\nf"))
    '⋯\\nd\\nef'
    """
    parts = differences(old, new)
    kept = list[DiffPart]()
    for nth, one in enumerate(parts):
        lines = one.text.split("\n")
        head = lines[:2] if nth else []
        tail = lines[-2:] if nth < len(parts) - 1 else []
        if one.kind != "both" or len(lines) <= len(head) + len(tail) + 1:
            kept.append(one)
        else:
            kept.append(DiffPart("both", "\n".join((*head, GAP, *tail))))
    return kept


def near_later(old: str, new: str) -> LazyDiff:
    """What `near` finds, when it is shown."""
    return LazyDiff(partial(near, old, new))


def _parted(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts in words, or in lines where they are long."""
    words = _WORDS.findall(old), _WORDS.findall(new)
    if max(map(len, words)) <= WORDS_MAX:
        return words
    return _LINES.findall(old), _LINES.findall(new)


# -------------------------------------------------------------------------------------- two columns
# Two texts as two columns: what was recorded, and what today's code made again.

SIDE_LINES_MAX = 400  # of each side
LINE_WORDS_MAX = 4_000  # characters of a line whose words are compared
LINE_MAX = 2_000  # characters of a line that are shown
AROUND = 2
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")

LinePieces = tuple[tuple[str, bool], ...]


class LinePair(Struct, frozen=True):
    """A line of both columns in pieces, each with whether it differs. None: that side has no such
    line. `skipped`: so many lines before it are the same on both sides."""

    recorded: LinePieces | None
    again: LinePieces | None
    skipped: int = 0

    @property
    def is_same(self) -> bool:
        return self.recorded == self.again


def line_pairs(recorded: str, again: str) -> list[LinePair]:
    """Both sides line by line, with a little of what is the same around what differs.

    >>> one = line_pairs("the cat", "the dog")[0]
    >>> one.recorded, one.again
    ((('the ', False), ('cat', True)), (('the ', False), ('dog', True)))
    """
    from adapters.proof.prove import told_lines  # slow to load, and seldom needed

    left, right = (told_lines(one)[:SIDE_LINES_MAX] for one in (recorded, again))
    found: list[LinePair] = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, at, end, other, stop in matcher.get_opcodes():
        if tag == "equal":
            found += [
                LinePair(pieces := ((one[:LINE_MAX], False),), pieces) for one in left[at:end]
            ]
            continue
        sides = (left[at:end], right[other:stop])
        for nth in range(max(map(len, sides))):
            one, two = (side[nth] if nth < len(side) else None for side in sides)
            found.append(_line_pair(one, two))
    return _near_lines(found)


def _line_pair(one: str | None, other: str | None) -> LinePair:
    if one is None or other is None or max(len(one), len(other)) > LINE_WORDS_MAX:
        return LinePair(_whole_line(one), _whole_line(other))
    left, right = _TOKENS.findall(one), _TOKENS.findall(other)
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    codes = matcher.get_opcodes()
    return LinePair(
        tuple(("".join(left[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a),
        tuple(("".join(right[a:b]), tag != "equal") for tag, _, _, a, b in codes if b > a),
    )


def _whole_line(side: str | None) -> LinePieces | None:
    return None if side is None else ((side[:LINE_MAX], True),)


def _near_lines(found: Sequence[LinePair]) -> list[LinePair]:
    differing = [nth for nth, one in enumerate(found) if not one.is_same]
    return [
        LinePair(found[nth].recorded, found[nth].again, skipped)
        for nth, skipped in around(differing, len(found), AROUND)
    ]


def around(hits: Sequence[int], count: int, lines: int) -> Iterator[tuple[int, int]]:
    """What was found of so many lines, and some lines around each: its number, and how many are
    left out before it.

    >>> list(around([3, 4], 9, 1))
    [(2, 2), (3, 0), (4, 0), (5, 0)]
    """
    near = {nth for hit in hits for nth in range(hit - lines, hit + lines + 1)}
    last = -1
    for nth in sorted(near & set(range(count))):
        yield nth, nth - last - 1
        last = nth
