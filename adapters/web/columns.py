"""Two texts as two columns: what was recorded, and what today's code made again."""

import difflib
import re
from collections.abc import Sequence

from msgspec import Struct

LINES_MAX = 400  # of each side
WORDS_MAX = 4_000  # characters of a line whose words are compared
LINE_MAX = 2_000  # characters of a line that are shown
AROUND = 2
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Pieces = tuple[tuple[str, bool], ...]


class Pair(Struct, frozen=True):
    """A line of both columns in pieces, each with whether it differs. None: that side has no such
    line. `skipped`: so many lines before it are the same on both sides."""

    recorded: Pieces | None
    again: Pieces | None
    skipped: int = 0

    @property
    def is_same(self) -> bool:
        return self.recorded == self.again


def pairs(recorded: str, again: str) -> list[Pair]:
    """Both sides line by line, with a little of what is the same around what differs.

    >>> one = pairs("the cat", "the dog")[0]
    >>> one.recorded, one.again
    ((('the ', False), ('cat', True)), (('the ', False), ('dog', True)))
    """
    from adapters.proof.prove import told_lines  # slow to load, and seldom needed

    left, right = (told_lines(one)[:LINES_MAX] for one in (recorded, again))
    found: list[Pair] = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, at, end, other, stop in matcher.get_opcodes():
        if tag == "equal":
            found += [Pair(pieces := ((one[:LINE_MAX], False),), pieces) for one in left[at:end]]
            continue
        sides = (left[at:end], right[other:stop])
        for nth in range(max(map(len, sides))):
            one, two = (side[nth] if nth < len(side) else None for side in sides)
            found.append(_pair(one, two))
    return _near(found)


def _pair(one: str | None, other: str | None) -> Pair:
    if one is None or other is None or max(len(one), len(other)) > WORDS_MAX:
        return Pair(_whole(one), _whole(other))
    left, right = _WORDS.findall(one), _WORDS.findall(other)
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    codes = matcher.get_opcodes()
    return Pair(
        tuple(("".join(left[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a),
        tuple(("".join(right[a:b]), tag != "equal") for tag, _, _, a, b in codes if b > a),
    )


def _whole(side: str | None) -> Pieces | None:
    return None if side is None else ((side[:LINE_MAX], True),)


def _near(found: Sequence[Pair]) -> list[Pair]:
    differing = [nth for nth, one in enumerate(found) if not one.is_same]
    near = {nth for at in differing for nth in range(at - AROUND, at + AROUND + 1)}
    kept, last = list[Pair](), -1
    for nth in sorted(near & set(range(len(found)))):
        one = found[nth]
        kept.append(Pair(one.recorded, one.again, nth - last - 1))
        last = nth
    return kept
