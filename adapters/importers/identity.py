"""Which task of a file is one that was in it before under another title or heading (ADR 48).

A pure function; who might be two is none: a second task is seen and mended, two that became one
are not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from domain.journal.imported import ImportedTask
from domain.text import fold

BY_TITLE = ("markdown", "todotxt")  # formats whose tasks have no id of their own
SIMILAR = 0.75
MOST = 0.5
PAIRS_MAX = 40_000  # beyond, a file was replaced, not edited
_SUREST = 4
_CLOSED = ("DONE", "REJECTED")


def same(gone: Sequence[ImportedTask], new: Sequence[ImportedTask]) -> dict[str, str]:
    """The id of a gone task by that of the new one which it became; each at most once.

    Args:
        gone: What the file said last of tasks that it has no more.
        new: What it says of tasks that it did not have.

    >>> was = ImportedTask("old", "Paint the dor", category="Home")
    >>> same([was], [ImportedTask("new", "Paint the door", category="Home")])
    {'new': 'old'}
    >>> same([was], [ImportedTask("new", "Call Ann", category="Home")])
    {}
    """
    if len(gone) * len(new) > PAIRS_MAX:
        return {}
    ranks = {
        (one.task_id, other.task_id): rank
        for one in gone
        for other in new
        if (rank := _rank(one, other))
    }
    return unambiguous(ranks)


def unambiguous(ranks: Mapping[tuple[str, str], int]) -> dict[str, str]:
    """Of pairs of what was and what is, by how sure it is that both are one: what was by what is,
    where only one can be."""
    found: dict[str, str] = {}
    seen: set[str] = set()  # found, or tied with another
    for wanted in sorted({*ranks.values()}, reverse=True):  # what is surer goes first
        pairs = [pair for pair in ranks if ranks[pair] == wanted and seen.isdisjoint(pair)]
        olds, news = Counter(was for was, _ in pairs), Counter(now for _, now in pairs)
        found |= {now: was for was, now in pairs if olds[was] == news[now] == 1}
        seen.update(one for pair in pairs for one in pair)
    return found


def _rank(was: ImportedTask, now: ImportedTask) -> int:
    """How sure it is that both are one; 0: they are two."""
    is_titled = fold(was.title) == fold(now.title)
    if was.status in _CLOSED and now.status not in _CLOSED and not is_titled:
        return 0
    was_body, now_body = set(_body(was)), set(_body(now))
    shared, every = len(was_body & now_body), len(was_body | now_body)
    agrees = every > 0 and shared / every >= MOST
    if is_titled:
        return _SUREST if agrees else 3
    if not same_numbers(was.title, now.title):
        return 0
    is_near = fold(was.category) == fold(now.category) and is_similar(was.title, now.title)
    if agrees:
        return 2
    return 1 if is_near and (not every or shared or not (was_body and now_body)) else 0


def _body(task: ImportedTask) -> Iterator[str]:
    """What a task says below its title."""
    if task.description:
        yield fold(task.description)
    yield from (f"item {fold(item.title)}" for item in task.items)
    yield from (f"note {fold(note.text)}" for note in task.notes)


def is_similar(one: str, other: str) -> bool:
    """Whether two titles are hardly different."""
    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio() >= SIMILAR


def same_numbers(one: str, other: str) -> bool:
    """Whether both have the same numbers in them: `week 1` is not `week 2`."""
    return _numbers(one) == _numbers(other)


def _numbers(title: str) -> list[str]:
    return [word for word in fold(title).split() if any(sign.isdigit() for sign in word)]
