"""The chain of digests over raw bytes: what a remembered proof looks at again (ADR 60).

Nothing is decoded but the beginning of each append, and no cause is executed. The digest of an
append leaves out the tags beside its rows, which `ends` holds; the order of several replicas is
that of their numbers."""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from domain.append import envelope
from domain.append.envelope import ERASED, Row, RowPlace

AppendSeen = Callable[[str, int, str], None]
"""``seen(replica, n, digest)``: one append."""


class ChainEnd(Struct, frozen=True):
    """What one replica wrote of a log, up to its append `n`: rows, causes, and a digest of the
    rows with their tags."""

    n: int
    rows: int
    causes: int
    order: str


class HashChain:
    """One log as far as it was read."""

    def __init__(self, log: str) -> None:
        self.rows = self.causes = self.wakes = 0
        self.heads: dict[str, str] = {}  # "log:replica" -> chain head
        self.telling: dict[str, str] = {}  # of appends that say more than the log of itself
        self.is_all = False  # whether nothing stands behind what was read
        self.last: dict[str, int] = {}  # replica -> n
        self._log = log
        self._place = 0, ""  # of the last append
        self._rows: dict[str, int] = {}
        self._causes: dict[str, int] = {}
        self._orders: dict[str, Any] = {}

    def take(self, rows: Iterator[Row], seen: AppendSeen) -> bool:
        """One more append; whether there is one, whole, and the chain holds."""
        first = next(rows, None)
        self.is_all = first is None
        place = self.next_place(first) if first is not None else None
        if first is None or place is None:
            return False
        replica = first.stream.rpartition("@")[2]
        taken = [first, *islice(rows, max(place.rows - 1, 0))]
        digest = envelope.digest(taken)
        order = self._orders.setdefault(replica, hashlib.sha256())
        order.update(f"{digest} {' '.join(row.topic for row in taken)}\n".encode())
        for row in taken:
            if row.topic == ERASED:  # whose time the digest of its append does not hold
                order.update(row.state)
        self.rows += len(taken)
        self.causes += 1
        self.wakes += [envelope.tag_then(row) for row in taken].count("wake.started.1")
        self._rows[replica] = self._rows.get(replica, 0) + len(taken)
        self._causes[replica] = self._causes.get(replica, 0) + 1
        self.last[replica] = place.n
        self._place = place.n, replica
        self.heads[f"{self._log}:{replica}"] = digest
        if not first.stream.startswith("log:"):
            self.telling[f"{self._log}:{replica}"] = digest
        seen(replica, place.n, digest)
        return len(taken) == place.rows

    def next_place(self, first: Row) -> RowPlace | None:
        """Where the next append stands, if this row begins it and the chain holds."""
        try:
            place = envelope.place_of(first.state)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        replica = first.stream.rpartition("@")[2]
        is_after = (place.n, replica) > self._place and place.row == 0
        head = self.heads.get(f"{self._log}:{replica}", "")
        return place if is_after and place.prev == head else None

    def read(self, rows: Iterator[Row], seen: AppendSeen) -> bool:
        """Read all that is there; whether the chain holds to its end."""
        while self.take(rows, seen):  # bounded by the log
            pass
        return self.is_all

    def end(self, replica: str) -> ChainEnd:
        """What was read of a replica that has written here."""
        order = self._orders[replica].hexdigest()
        return ChainEnd(self.last[replica], self._rows[replica], self._causes[replica], order)
