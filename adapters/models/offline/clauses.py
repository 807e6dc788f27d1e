"""Sentences as clauses, and what is said of a clause: polarity, time, actor, whose speech it is.

A clause ends at a mark or a conjunction where both sides have something that makes a clause: a
verb, or a word like "not" or "still". "Paint, brushes and rollers bought" is one clause, "the
paint is bought and the chain is still open" are two.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from msgspec import Struct

from adapters.models.offline import lemmas
from adapters.models.offline.phrasing import grammar, meanings, pattern, phrases, vocabulary
from adapters.models.offline.sentences import (
    CONDITIONAL,
    NEGATIVE,
    is_question,
    is_quoted,
    sentences,
    words,
)

CACHE_MAX = 512
SENTENCE_CHARS_MAX = 1_000
"""Of a longer one only the beginning is read: nobody writes such a sentence."""

FINITE, POLAR, STATES = vocabulary("finite"), vocabulary("polar"), vocabulary("states")
AHEAD = vocabulary("ahead")
_MAKES = FINITE | POLAR | STATES

_DATE_COMMA = re.compile(r",? ?(?:\d|[a-z]{3} \d|[A-Z][a-zä]{2,8}\.? \d)")


class Clause(Struct, frozen=True):
    """A part of a sentence; `words` are folded, `start` is where it begins."""

    text: str
    start: int
    words: tuple[str, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_negative(self) -> bool:
        return not NEGATIVE.isdisjoint(self.words)

    @property
    def is_conditional(self) -> bool:
        months = meanings("months")
        around = zip(self.words, ("", *self.words), (*self.words[1:], ""), strict=False)
        return any(
            one in CONDITIONAL and not (one in months and (before.isdecimal() or after.isdecimal()))
            for one, before, after in around
        )


class Sentence(Struct, frozen=True):
    """A sentence with its clauses. `is_asked`: a question; of questions nothing is read."""

    text: str
    clauses: tuple[Clause, ...]
    words: tuple[str, ...]
    is_asked: bool = False

    def clause(self, position: int) -> Clause:
        """The clause at a position."""
        found = [one for one in self.clauses if one.start <= position]
        return found[-1] if found else self.clauses[0]

    def is_others(self, position: int) -> bool:
        """Whether what stands at a position is quoted, or said by another."""
        return is_quoted(self.text, position)


def read(text: str) -> Iterator[Sentence]:
    """The sentences of one line."""
    for one in sentences(text):
        yield sentence(one)


@lru_cache(maxsize=CACHE_MAX)
def sentence(text: str) -> Sentence:
    """One sentence, with its clauses."""
    text = text[:SENTENCE_CHARS_MAX]
    is_asked = is_question(text) and not grammar("tag").search(text)
    return Sentence(text, tuple(_clauses(text)), tuple(words(text)), is_asked)


@cache
def _breaks() -> re.Pattern[str]:
    """Marks that end a clause, and conjunctions that do before or behind one."""
    return pattern(
        rf"(?P<hard>; ?| [-–—] |—| ?\(|\)[,;:]? ?|\.{{3}} ?|… ?|: |"
        rf",? (?=(?:{phrases('breaks')}) ))|"
        rf"(?P<soft>, ?|(?<=\w) (?=(?:{phrases('joins')}) ))"
    )


def _clauses(text: str) -> Iterator[Clause]:
    """Pieces between marks, joined as long as they do not make a clause."""
    pieces = list(_pieces(text))
    kept: list[tuple[int, int]] = []
    for start, end, is_hard in pieces:
        is_whole = _is_clause(text[start:end])
        if kept and not is_hard and not (is_whole and _is_clause(text[slice(*kept[-1])])):
            kept[-1] = kept[-1][0], end
        else:
            kept.append((start, end))
    for start, end in kept:
        part = text[start:end]
        yield Clause(part, start, tuple(words(part)))


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each, and whether the mark before it always ends a clause."""
    start, is_hard = 0, False
    for mark in _breaks().finditer(text):
        if mark["soft"] and mark["soft"][0] == "," and _DATE_COMMA.match(text, mark.start()):
            continue
        if text[start : mark.start()].strip():
            yield start, mark.start(), is_hard
            is_hard = False
        start, is_hard = mark.end(), is_hard or mark["hard"] is not None
    if start < len(text) or not start:
        yield start, len(text), is_hard


def _is_clause(text: str) -> bool:
    said = words(text)
    is_read = len(said) == 2 and said[1] in vocabulary("unchanged")  # "meter read"
    return is_read or any(one in _MAKES or lemmas.is_past(one) for one in said)
