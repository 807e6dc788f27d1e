"""Which titles a person's words mean: in any case, by any part of them; and which ones are near."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from domain.text import fold, tokens

NEAR = 0.6  # how alike two words are that one may be mistyped for the other
NEAREST_MAX = 3


class Name(NamedTuple):
    """What can be named: its id, and each title that it goes by."""

    id: str
    titles: tuple[str, ...]


def meant(words: str, known: Iterable[Name]) -> list[Name]:
    """Those that words mean: as a title in any case, else as a part of one, else word by word, each
    the beginning of a word of it.

    >>> shed, sink = Name("1", ("Paint the shed",)), Name("2", ("Fix the sink",))
    >>> [one.id for one in meant("THE SH", [shed, sink])], meant("fix shed", [shed, sink])
    (['1'], [])
    """
    told, parts = fold(words), tokens(words)
    if not told:
        return []
    known = list(known)
    fits: tuple[Callable[[str], bool], ...] = (
        lambda title: fold(title) == told,
        lambda title: told in fold(title),
        lambda title: bool(parts) and _has_each(tokens(title), parts),
    )
    for one_fits in fits:
        if found := [one for one in known if any(map(one_fits, one.titles))]:
            return found
    return []


def is_meant(words: str, one: Name) -> bool:
    """Whether a search for words shows it: by the beginning of its id, or as `meant` does."""
    told = words.strip().lower()
    return bool(told) and (one.id.startswith(told) or bool(meant(words, [one])))


def _has_each(title: Sequence[str], parts: Sequence[str]) -> bool:
    return all(any(word.startswith(part) for word in title) for part in parts)


def nearest(words: str, known: Iterable[Name]) -> list[Name]:
    """At most three that may have been meant by words that mean none, the nearest first."""
    from difflib import get_close_matches  # only who mistyped a name waits for it

    titled = [(one, {word for title in one.titles for word in tokens(title)}) for one in known]
    every = sorted({word for _, title in titled for word in title})
    parts = tokens(words)
    near = [get_close_matches(part, every, n=10, cutoff=NEAR) for part in parts]
    scored = [(_score(title, near), one) for one, title in titled]
    found = [pair for pair in scored if 2 * pair[0] > 10 * len(parts)]
    found.sort(key=lambda pair: -pair[0])
    return [one for _, one in found[:NEAREST_MAX]]


def _score(title: set[str], near: Sequence[Sequence[str]]) -> int:
    """For each typed word up to ten, by how near the nearest word of a title is."""
    return sum(
        max((10 - place for place, word in enumerate(words) if word in title), default=0)
        for words in near
    )
