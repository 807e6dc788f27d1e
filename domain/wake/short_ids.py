"""Ids as models are told them since scaffold 3: the first letters, as on the command line.

A model may answer with them or in full, as it likes. Which one is meant is found among what its
wake was shown, and nowhere else, so that a wrong id never names something (ADR 97)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from domain.log.keys import KEY_LENGTH
from domain.tools.arguments import Schema
from domain.tools.snapshot import Snapshot

SHOWN = 8
LEAST = 6
"""So many letters may name something."""

_ID = re.compile(rf"[a-z2-7]{{{KEY_LENGTH}}}")
_WORD = re.compile(rf"(?<![0-9A-Za-z_])[a-z2-7]{{{SHOWN},}}(?![0-9A-Za-z_])", re.ASCII)


def shortened(ids: Iterable[str]) -> dict[str, str]:
    """Each id by its first letters: 8, more where two begin alike. What is no id stays.

    >>> shortened([30 * "a" + "bc", 30 * "a" + "cc", 32 * "z", "key:CATEGORY"])[32 * "z"]
    'zzzzzzzz'
    """
    every = sorted({one for one in ids if _ID.fullmatch(one)})
    found = {}
    for nth, one in enumerate(every):
        others = (*every[max(0, nth - 1) : nth], *every[nth + 1 : nth + 2])
        shared = max((_alike(one, other) for other in others), default=0)
        found[one] = one[: max(SHOWN, shared + 1)]
    return found


def _alike(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((nth for nth, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def of_snapshot(seen: Snapshot) -> Iterator[str]:
    """The ids of a task and of all that a wake may name of it."""
    yield seen.task
    for part in (seen.items, seen.time, seen.available, seen.linked):
        yield from (one.id for one in part)
    yield from (*seen.labels, *seen.suppressed)
    yield from (one.id for one in seen.others)
    yield from (one.id for one in (seen.day.blocks if seen.day else ()))


def completed(schema: Schema, given: Any, known: Callable[[], Iterable[str]]) -> Any:
    """Decoded arguments with the ids in full that name one thing of those that were shown; the
    others as they came, so that their tool says that there is none."""
    if "properties" in schema and isinstance(given, Mapping):
        fields = {_plain(name): field for name, field in schema["properties"].items()}
        return {
            name: completed(fields[_plain(name)], value, known) if _plain(name) in fields else value
            for name, value in given.items()
        }
    if "items" in schema and isinstance(given, list):
        return [completed(schema["items"], one, known) for one in given]
    if not isinstance(given, str) or schema.get("x-clean") not in ("id", "label"):
        return given
    wanted = given.strip()
    if len(wanted) < LEAST:
        return given
    begun = {one for one in known() if one.startswith(wanted)}
    return wanted if wanted in begun else begun.pop() if len(begun) == 1 else given


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def in_full(text: str, known: Iterable[str]) -> str:
    """A text in which what is shown of these ids stands in full, so that it is found as one."""
    short = {told: id_ for id_, told in shortened(known).items()}
    return _WORD.sub(lambda found: short.get(found[0], found[0]), text)
