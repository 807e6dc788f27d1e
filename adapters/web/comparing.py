"""Two texts beside each other, word by word: what one has more, and what it has less."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from functools import cached_property, partial
from itertools import accumulate
from typing import Literal, NamedTuple

WORDS_MAX = 800  # of each text that are compared word by word; longer ones by lines
LINES_MAX = 800  # of texts that are not told as two wholes
STEPS_MAX = 1_000_000  # of one comparison; what is left then counts as differing
GAP = "⋯"  # stands for lines that are the same
_WORDS = re.compile(r"\w+[ \t]*|[^\w\s][ \t]*|\s+")  # an end of line is a word of its own
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Part(NamedTuple):
    """A piece of two texts: it stands in both, or in one of them."""

    kind: Literal["both", "added", "removed"]
    text: str


class Later:
    """What differs, found when it is shown: a page is put together under the home's lock, and
    nobody waits for somebody else's comparison."""

    def __init__(self, find: Callable[[], Sequence[Part]]) -> None:
        self._find = find

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    @cached_property
    def _parts(self) -> Sequence[Part]:
        return self._find()


class Bounded(SequenceMatcher[str]):
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


def differences(old: str, new: str) -> Sequence[Part]:
    """What of two texts is the same, and what is not, in the order of the newer one.

    >>> [tuple(one) for one in differences("due on Monday", "due on Friday")]
    [('both', 'due on '), ('removed', 'Monday'), ('added', 'Friday')]
    """
    before, after = _parted(old, new)
    if max(len(before), len(after)) > LINES_MAX:
        return [Part("removed", old), Part("added", new)]
    found: list[Part] = []
    for _, first, last, begin, end in Bounded(before, after).get_opcodes():
        gone, come = "".join(before[first:last]), "".join(after[begin:end])
        if gone == come:
            found.append(Part("both", come))
            continue
        found += [Part("removed", gone)] if gone else []
        found += [Part("added", come)] if come else []
    return found


def near(old: str, new: str) -> list[Part]:
    """What differs with the rest of its lines, and one line around; the others are left out.

    >>> "".join(one.text for one in near("a\\nb\\nc\\nd\\ne", "a\\nb\\nc\\nd\\nf"))
    '⋯\\nd\\nef'
    """
    parts = differences(old, new)
    kept = list[Part]()
    for nth, one in enumerate(parts):
        lines = one.text.split("\n")
        head = lines[:2] if nth else []
        tail = lines[-2:] if nth < len(parts) - 1 else []
        if one.kind != "both" or len(lines) <= len(head) + len(tail) + 1:
            kept.append(one)
        else:
            kept.append(Part("both", "\n".join((*head, GAP, *tail))))
    return kept


def near_later(old: str, new: str) -> Later:
    """What `near` finds, when it is shown."""
    return Later(partial(near, old, new))


def _parted(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both texts in words, or in lines where they are long."""
    words = _WORDS.findall(old), _WORDS.findall(new)
    if max(map(len, words)) <= WORDS_MAX:
        return words
    return _LINES.findall(old), _LINES.findall(new)
