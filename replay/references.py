"""What rows of the agent log say of the journal: positions, digests, and what they ask for."""

from collections.abc import Iterable, Iterator

from domain.agent.commands import CreateAgent, TakeJournal
from domain.append.causes import GivenUp, Receipt, ReplicasImported
from domain.changes import change_set as c
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem, UndoItem
from domain.log import canonical
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from domain.replication.version_vectors import stored_vector
from domain.wake.commands import BeginWake, ProposeChanges, SkipWake, begun_of
from domain.wake.wake import ToolAsked, ToolReturned
from replay.causal_views import CausalViews
from replay.divergence import CHANGED, RowDifference

INTENTS = (ToolAsked, c.ItemConfirming, c.SuppressionAsked, c.LiftAsked, c.UndoAsked)
"""Facts of the agent log that ask for an operation on the journal."""

_POSITIONED: tuple[type[Stored], ...] = (
    CreateAgent, ConfirmItem, RejectItem, DeferItem, ReopenItem, UndoItem, ToolReturned,
    c.ItemConfirmed, c.ItemUndone,
)  # fmt: skip
POSITIONS: dict[type[Stored], str] = {
    BeginWake: "journal_position",
    ProposeChanges: "journal_position",
    SkipWake: "journal_position",
    TakeJournal: "last",
    **dict.fromkeys(_POSITIONED, "position"),
}
"""Causes and facts of the agent log that name a position of the journal, and where."""


def journal_position(fact: Stored) -> int:
    """The position of the journal that a row of the agent log names; 0 where it names none."""
    return position_named(fact.command if isinstance(fact, Receipt) else fact)


def position_named(told: object) -> int:
    """The position that a cause or a fact names; 0 where it names none."""
    name = POSITIONS.get(type(told))  # type: ignore[arg-type]  # what names none is no key of it
    return getattr(told, name) if name else 0


def horizon_differs(cause: object, replica: str, viewers: CausalViews) -> Iterator[RowDifference]:
    """What a replica's cause says otherwise of what its position of a shared journal knows of each
    machine. `viewers`: of the journal, at least up to that position."""
    said = begun_of(cause) or cause
    if not isinstance(said, BeginWake | CreateAgent | RejectItem | DeferItem):
        return
    n = position_named(cause)
    is_shared = 0 < viewers.since.get(replica, 0) <= n
    today = stored_vector(viewers.horizons.until(replica, n + 1)) if is_shared else ()
    if today != said.seen:
        expected, actual = canonical.encode(today), canonical.encode(said.seen)
        yield RowDifference(0, CHANGED, "data.command.seen", expected.decode(), actual.decode())


def journal_digest(fact: Stored) -> str:
    """The digest of the append at that position, where the row names it; else empty."""
    told = fact.command if isinstance(fact, Receipt) else fact
    return getattr(told, "journal_digest", "")


def given_up(rows: Iterable[RecordedEvent]) -> tuple[GivenUp, ...]:
    """What markers among a journal's rows give up."""
    facts = [row.fact for row in rows]
    return tuple(
        one for fact in facts if isinstance(fact, ReplicasImported) for one in fact.given_up
    )


def is_given_up(ranges: Iterable[GivenUp], replica: str, n: int) -> bool:
    """Whether what a replica said of the journal at n is of another past."""
    return any(one.replica == replica and one.after < n <= one.until for one in ranges)


def last_named_position(rows: Iterable[RecordedEvent]) -> int:
    """The last position of the journal that an append of the agent log names; else 0."""
    return max((journal_position(row.fact) for row in rows), default=0)


def operation_of(fact: object) -> str:
    """The operation on the journal that a fact is the intent of; empty where it is none, as that
    of a read."""
    is_read = isinstance(fact, ToolAsked) and fact.action_type == "read"
    return fact.operation if isinstance(fact, INTENTS) and not is_read else ""


def asked_operations(rows: Iterable[RecordedEvent]) -> set[str]:
    """The operations on the journal that rows are the intents of."""
    return {found for row in rows if (found := operation_of(row.fact))}
