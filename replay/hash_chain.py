"""The chain of digests over raw bytes: what a remembered proof looks at again (ADR 60).

Nothing is decoded but the beginning of each append, and no cause is executed. The digest of an
append leaves out the tags beside its rows and the order of several replicas: `order` holds both.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from domain.append import envelope
from domain.append.envelope import ERASED, Row, RowPlace

AppendSeen = Callable[[str, int, str], None]
"""``seen(replica, n, digest)``: one append."""


class HashChain:
    """One log as far as it was read; `n` is of the last append."""

    def __init__(self, log: str) -> None:
        self.rows = 0
        self.causes = 0
        self.wakes = 0
        self.n = 0
        self.heads: dict[str, str] = {}  # "log:replica" -> chain head
        self.last: dict[str, int] = {}  # replica -> n
        self._log = log
        self._order = hashlib.sha256()

    def take(self, rows: Iterator[Row], seen: AppendSeen) -> bool:
        """One more append; whether there is one, whole, and the chain holds."""
        first = next(rows, None)
        place = self.next_place(first) if first is not None else None
        if first is None or place is None:
            return False
        replica = first.stream.rpartition("@")[2]
        name = f"{self._log}:{replica}"
        taken = [first, *islice(rows, max(place.rows - 1, 0))]
        digest = envelope.digest(taken)
        tags = [row.topic for row in taken]
        self._order.update(f"{digest} {' '.join(tags)}\n".encode())
        for row in taken:
            if row.topic == ERASED:  # whose time the digest of its append does not hold
                self._order.update(row.state)
        self.rows += len(taken)
        self.causes += 1
        self.wakes += [envelope.tag_then(row) for row in taken].count("wake.started.1")
        self.n = self.last[replica] = place.n
        self.heads[name] = digest
        seen(replica, place.n, digest)
        return len(taken) == place.rows

    def next_place(self, first: Row) -> RowPlace | None:
        """Where the next append stands, if this row begins it and the chain holds."""
        try:
            place = envelope.place_of(first.state)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        head = self.heads.get(f"{self._log}:{first.stream.rpartition('@')[2]}", "")
        is_next = place.n > self.n and place.row == 0 and place.prev == head
        return place if is_next else None

    def until(self, rows: Iterator[Row], count: int, seen: AppendSeen) -> bool:
        """Read on up to so many rows; whether all of them are there and the chain holds."""
        while self.rows < count:  # bounded by the log
            if not self.take(rows, seen):
                return False
        return self.rows == count

    @property
    def order(self) -> str:
        """The digest of all that was read, in order and with its tags."""
        return self._order.hexdigest()
