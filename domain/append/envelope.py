"""Rows, what stands in them, the union of every fact that a log may hold, by which they are
decoded, and every type of stream (DESIGN 4); `domain.handlers.execute.execute` makes rows."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from domain.agent.agent import AGENT, AgentFact, SubsFact
from domain.agent.memory import MEMORY, MemoryFolded
from domain.agent.subscriptions import SUBSCRIBERS, WATCH
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueueFact, WatchFact
from domain.append.causes import (
    Cause,
    Command,
    EpochBegan,
    LogFact,
    LogShared,
    Receipt,
    ReplicasImported,
    Replied,
)
from domain.changes.change_set import CHANGES, ChangesFact
from domain.erasure import ErasureMade
from domain.errors import UnknownFact
from domain.journal.catalog import CATALOG, CatalogFact
from domain.journal.day import DAY, DayFact
from domain.journal.links import LINKS, LinksFact
from domain.journal.task import TASK, TaskFact
from domain.journal.timer import TIMER, TimerFact
from domain.lessons.lessons import LESSONS, LessonsFact
from domain.log.keys import chain, sha
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Erased, upcast
from domain.machines.machines import HOME, MachinesFact
from domain.policy.policy import POLICY, PolicyFact
from domain.retention import Retained
from domain.scaffold import is_newer, made_by
from domain.templates.template import TEMPLATE, TemplateFact
from domain.wake.wake import WAKE, WakeFact, unwrapped

JournalFact = TaskFact | CatalogFact | TimerFact | LinksFact | DayFact
AgentLogFact = (
    AgentFact | SubsFact | WakeQueueFact | WatchFact | WakeFact | ChangesFact | TemplateFact
    | PolicyFact | LessonsFact | MemoryFolded | MachinesFact
)  # fmt: skip
Fact = JournalFact | AgentLogFact | Receipt | LogFact | ErasureMade | Retained | Erased
ERASED = "erased.1"


# --------------------------------------------------------------------------------------------- rows


class Row(NamedTuple):
    """What stands in the recorder: `topic` is the fact's tag, `state` the envelope's bytes."""

    stream: str
    version: int
    topic: str
    state: bytes


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """``{"at", "n", "rows", "prev", "data"}`` on the first row, ``{"n", "row", "data"}`` after."""

    at: str = ""
    n: int
    row: int = 0  # 0 is the first row of its append
    rows: int = 0
    prev: str = ""  # digest of the replica's previous append
    data: Fact


class RowPlace(Struct, frozen=True):
    """Where a row says that it stands; read without its fact."""

    n: int
    row: int = 0
    rows: int = 0
    prev: str = ""
    at: str = ""


_decoder = msgspec.json.Decoder(Envelope)
place_of = msgspec.json.Decoder(RowPlace).decode


def read(row: Row) -> Envelope:
    """Decode a row. Raises UnknownFact, naming the row: its bytes are no fact that this version
    knows."""
    try:
        return _decoder.decode(row.state)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        because = f"row {row.version} of {row.stream} ({row.topic}) cannot be read: {error}"
        instead = "use the version of wakelog that wrote it, or restore the file"
        if number := newer_scaffold(row):
            because = f"row {row.version} of {row.stream} was {made_by(number)}"
            instead = "use that one"
        raise UnknownFact("unknown_fact", because=because, instead=instead) from None


_SCAFFOLD = re.compile(rb'"scaffold":([0-9]{1,9})\b')  # within a text of a fact a quote is escaped


def newer_scaffold(row: Row) -> int:
    """The scaffold that a row names, where it is a newer one; else 0. The row need not be one
    that can be read."""
    found = _SCAFFOLD.search(row.state)
    return number if found and is_newer(number := int(found[1])) else 0


def recorded(row: Row, at: str, envelope: Envelope) -> RecordedEvent:
    """A row as folds and views know it; `at` is its append's."""
    stream, version, _, _ = row
    replica = stream.rpartition("@")[2]
    fact = upcast(envelope.data)
    return RecordedEvent(stream, version, replica, envelope.n, envelope.row, at, fact)


def cause_of(first: RecordedEvent) -> tuple[Cause, str]:
    """The cause that an append's first row is or holds, and its receipt's key (else empty)."""
    match first.fact:
        case Receipt(command=command):
            return command, first.entity
        case EpochBegan() | ReplicasImported() | LogShared() as alone:
            return alone, ""
        case fact:
            return Replied(first.of_kind, first.entity, unwrapped(fact)), ""


def who_of(first: RecordedEvent) -> str:
    """Whose deed the append of a first row is, see `Receipt`."""
    return first.fact.who if isinstance(first.fact, Receipt) else ""


def digest(rows: Iterable[Row]) -> str:
    """Digest of one append, which the next one carries as `prev`."""
    return chain(
        (stream, version, sha(state) if topic != ERASED else row_sha(state))
        for stream, version, topic, state in rows
    )


_SHA = re.compile(rb'"sha256":"([0-9a-f]{64})"')


def row_sha(state: bytes) -> str:
    """The digest of the bytes that a mark stands for."""
    found = _SHA.search(state)
    return found[1].decode() if found else sha(state)


_WAS = re.compile(rb'"was":"([a-z0-9_.]+)"')


def tag_then(row: Row) -> str:
    """The tag of a row as it was before anybody erased it."""
    found = _WAS.search(row.state) if row.topic == ERASED else None
    return found[1].decode() if found else row.topic


_encoder = msgspec.json.Encoder()


def erased(row: Row) -> Row:
    """The mark that stands where a row stood; a mark stays as it is."""
    if row.topic == ERASED:
        return row
    return mark(row, place_of(row.state), Erased(row.topic, sha(row.state)))


def mark(row: Row, place: "RowPlace | Envelope", fact: Any) -> Row:
    """A row with the mark that stands there, as it is written."""
    data = Envelope(
        at=place.at, n=place.n, row=place.row, rows=place.rows, prev=place.prev, data=fact
    )
    return row._replace(topic=ERASED, state=_encoder.encode(data))


# ------------------------------------------------------------------------------------- stream types
# Every kind of stream that folds, by the name that its streams begin with.

_TYPES: tuple[StreamType[Any], ...] = (
    TASK, LINKS, CATALOG, TIMER, DAY, AGENT, WAKE_QUEUE, SUBSCRIBERS, WATCH, WAKE, CHANGES,
    TEMPLATE, POLICY, LESSONS, MEMORY, HOME,
)  # fmt: skip
STREAM_TYPES: dict[str, StreamType[Any]] = {kind.name: kind for kind in _TYPES}


__all__ = ["Command"]
