"""How a difference is told: what should stand there, what does, where, and of which class."""

import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from domain.append import envelope
from domain.append.envelope import ERASED, Row
from domain.errors import WakelogError
from domain.log import canonical

ALTERED = "data altered"
CHANGED = "rule changed"
DICE = "nondeterminism"
FORMAT = "event format changed"
MISSING = "payload missing"
PROMPT = "prompt changed"
VIEW = "view differs"

DAMAGE = (ALTERED, MISSING)  # of the log itself: today's code has nothing to do with it
TEXT_MAX = 20_000  # characters of `expected` and `actual` that are told


class Divergence(Struct, frozen=True):
    """One difference between a log and what today's code makes of its causes.

    `position` is ``log:replica:n``. `kind_of` is its class:

    - ``data altered``: the chain of digests is broken there too, rows are gone or doubled, or the
      tag beside a row is not the one in it;
    - ``rule changed``: the chain is whole, and today's code decides something else, or cannot
      fold a row (of a log's last append nobody can tell the two apart);
    - ``prompt changed``: only what the model was shown differs, rendered again today;
    - ``event format changed``: a row that cannot be read, or a fact that is written otherwise;
    - ``payload missing``;
    - ``nondeterminism``: today's code, run twice, differs from itself;
    - ``view differs``: a stored view is not what the log makes.

    `path` names what differs first: within a row as in ``data.command.title``, a section as in
    ``user.task``, else ``row``, ``rows``, ``order``, ``n``, ``prev``, ``payload``, ``cause``,
    ``fold``, ``digest``, ``anchor``, ``tail``, ``position``, ``receipt``, ``outcome``,
    ``operation`` or ``reply``. `expected` is what should stand there, `actual` what does. `wake`
    and `step` say which wake it belongs to and at which row of its stream; `cause` is the tag of
    the append's cause, `upstream` the position of what led to it."""

    log: str
    position: str
    stream: str
    version: int
    kind_of: str
    path: str
    expected: str
    actual: str
    wake: str = ""
    step: int = 0
    cause: str = ""
    upstream: str = ""


class RowDifference(Struct, frozen=True):
    """What differs at a row of an append: `row` counts from 0; beyond its end it is new.
    `upstream`: the position of what it comes of, where that is known."""

    row: int
    kind_of: str
    path: str
    expected: str
    actual: str
    upstream: str = ""


def compare_rows(was: Sequence[Row], today: Sequence[Row]) -> list[RowDifference]:
    """Row by row: rows as recorded beside those that today's code writes."""
    pairs = enumerate(zip_longest(was, today))
    return [_of_rows(nth, *both) for nth, both in pairs if not _are_same(*both)]


def _are_same(was: Row | None, today: Row | None) -> bool:
    """Whether today's code writes a row as it stands; of one that was erased, its digest tells."""
    if was is not None and was.topic == ERASED and today is not None:
        return was == envelope.erased(today)
    return was == today


def _of_rows(index: int, was: Row | None, today: Row | None) -> RowDifference:
    if was is None or today is None:
        texts = (row_text(row) if row else "" for row in (today, was))
        return RowDifference(index, CHANGED, "row", *texts)
    kind_of = FORMAT if _means_the_same(was, today) else CHANGED
    # No code ever wrote another tag beside a row than the one in it, which the digests are of.
    if was.topic != today.topic and f'"kind":"{was.topic}"'.encode() not in was.state:
        kind_of = ALTERED
    return RowDifference(index, kind_of, path_of(was, today), row_text(today), row_text(was))


def _means_the_same(was: Row, today: Row) -> bool:
    """Whether one fact is written in two ways."""
    if was[:3] != today[:3]:
        return False
    try:
        return envelope.read(was) == envelope.read(today)
    except WakelogError:
        return False


def path_of(was: Row, today: Row) -> str:
    """Where two rows differ first."""
    for name, one, other in zip(Row._fields[:3], was, today, strict=False):
        if one != other:
            return name
    try:
        found = path_within(json.loads(was.state), json.loads(today.state))
    except ValueError:
        return "row"
    return found or "state"


def path_within(one: Any, other: Any) -> str:
    """The path to the first difference of two JSON values; empty where they are equal.

    >>> path_within({"data": {"ids": ["a", "b"]}}, {"data": {"ids": ["a", "c"]}})
    'data.ids[1]'
    """
    return _path(one, other).removeprefix(".")


def _path(one: Any, other: Any) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in (*one, *(name for name in other if name not in one)):
            if name not in one or name not in other:
                return f".{name}"
            if one[name] != other[name]:
                return f".{name}{_path(one[name], other[name])}"
        return ""
    if isinstance(one, list) and isinstance(other, list):
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            if left != right:
                return f"[{index}]{_path(left, right)}"
        return "" if len(one) == len(other) else f"[{min(len(one), len(other))}]"
    return ""


def changed(path: str, today: object, was: object) -> RowDifference:
    """A value of an append's cause that today's code makes otherwise, told where it differs."""
    expected, actual = canonical.encode(today), canonical.encode(was)
    path += path_within(canonical.read(expected), canonical.read(actual))
    return RowDifference(0, CHANGED, path, expected.decode(), actual.decode())


def row_text(row: Row) -> str:
    """A row as it is told."""
    state = row.state.decode("utf-8", "backslashreplace")
    return f"{row.stream} {row.version} {row.topic} {state}"


def shortened(told: str) -> str:
    """A text that is told, of bounded length."""
    return told if len(told) <= TEXT_MAX else told[: TEXT_MAX - 1] + "…"


def as_altered(kind_of: str) -> str:
    """The class of a difference where the chain of digests is broken, too."""
    return ALTERED if kind_of in (CHANGED, FORMAT, PROMPT) else kind_of
