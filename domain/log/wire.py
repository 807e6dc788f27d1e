"""The base of what is stored.

STORAGE FORMAT. Logs outlive this code. A tag, a field's name, order, type and default never
change; a new field is optional and last; a changed meaning is a new tag with an upcaster
(DESIGN 4). `tests/unit/test_wire_rules.py` holds these rules over every stored type."""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from msgspec import Struct

from domain.log.keys import payload_id

INLINE_MAX_BYTES = 1024
"""A longer text stands once in the payload table, not in a row."""

SHARED = "shared"
"""The unit of what belongs to no task."""

PayloadId = str


class Part(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Defaults are None, False, 0, "" and () only: others are not reliably omitted."""


class Stored(Part, frozen=True, tag_field="kind"):
    """A fact or a command. Stream, number and time are the row's, not its own.

    `said`: the fields of a command that its caller said, by which a repeat under its key is known,
    whatever the others are by then (ADR 31); empty: all of them. It is never stored."""

    said: ClassVar[tuple[str, ...]] = ()


class Erased(Stored, frozen=True, tag="erased.1"):
    """Stands where a row stood that a person had erased: its tag and the digest of its bytes, which
    the chain of its log goes on to hold (ADR 107). Nothing folds it; it counts as a version."""

    was: str
    sha256: str


class Imported(Part, frozen=True):
    """A replica's rows, up to its append `n`, are part of a world."""

    replica: str
    n: int


VersionVector = tuple[Imported, ...]
"""What is known of each machine that shares a log, by replica; empty of one that is alone."""


class Payload(Struct, frozen=True):
    """Bytes that stand once in the payload table, under an id that names unit and bytes."""

    id: PayloadId
    data: bytes


def payload(unit: str, data: bytes) -> Payload:
    """Bytes with the id that names them within a unit."""
    return Payload(payload_id(unit, data), data)


class Words(Part, frozen=True):
    """A text of any length: inline up to 1 KiB, else the id of its payload."""

    text: str = ""
    payload: PayloadId = ""


def words(unit: str, text: str) -> tuple[Words, tuple[Payload, ...]]:
    """A text as it is stored, with the payload it needs, if any."""
    data = text.encode()
    if len(data) <= INLINE_MAX_BYTES:
        return Words(text), ()
    kept = payload(unit, data)
    return Words(payload=kept.id), (kept,)


def tag_of(fact: Stored) -> str:
    """The tag under which a fact is stored, ``"task.created.1"`` for example."""
    return _tag(type(fact))


@cache
def _tag(stored: type[Stored]) -> str:
    return str(stored.__struct_config__.tag)  # made anew by msgspec each time it is asked for


Upcaster = Callable[[Any], Stored]
UPCASTERS: dict[type[Stored], Upcaster] = {}
"""For a retired tag: from its fact to the fact that means the same today. Bytes stay as
they are; only folds see the new one. Empty until a meaning changes."""


def upcast(fact: Stored) -> Stored:
    """The fact as today's folds know it."""
    while (upcaster := UPCASTERS.get(type(fact))) is not None:  # bounded: a tag never returns
        fact = upcaster(fact)
    return fact
