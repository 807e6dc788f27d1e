"""A journal that replicas share, in memory: their appends, and a marker for each bringing."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from adapters.store.log import Tail
from adapters.store.recorder import numbered
from adapters.sync.logs import ForeignAppend
from domain import envelope
from domain.causes import Imported, ReplicasImported
from domain.envelope import Envelope, Row
from domain.journal.catalog import LabelAdded
from domain.vocabulary import Fact
from domain.wire import Payload, PayloadId, tag_of
from tests.support.services import START


def rows_of(
    replica: str, n: int, prev: str, facts: Sequence[tuple[str, int, Fact]]
) -> tuple[Row, ...]:
    """An append of facts, each with its stream's kind and entity and its version."""
    rows: list[Row] = []
    for nth, (stream, version, fact) in enumerate(facts):
        if nth:
            state = Envelope(n=n, row=nth, data=fact)
        else:
            state = Envelope(at=START, n=n, rows=len(facts), prev=prev, data=fact)
        rows.append(Row(f"{stream}@{replica}", version, tag_of(fact), msgspec.json.encode(state)))
    return tuple(rows)


class SharedInMemory:
    """A shared log that writes labels and markers, and decides nothing."""

    name = "journal"

    def __init__(self, replica: str) -> None:
        self.replica = replica
        self.is_shared = False
        self.chains: dict[str, list[tuple[Row, ...]]] = {}
        self.held: dict[PayloadId, bytes] = {}
        self._versions: dict[str, int] = {}

    def share(self, now: str) -> None:
        self.is_shared = True

    def add(self, name: str, *payloads: Payload) -> None:
        """Append two labels; the second one's name is that of the payloads."""
        names = [name, *(one.id for one in payloads)]
        self._append([("catalog:main", LabelAdded(one, one)) for one in names])
        self.held |= {one.id: one.data for one in payloads}

    def heads(self) -> Mapping[str, Tail]:
        return {name: _tail(name, chain[-1]) for name, chain in sorted(self.chains.items())}

    def telling_heads(self) -> Mapping[str, Tail]:
        told = {
            name: [one for one in chain if not one[0].stream.startswith("log:")]
            for name, chain in sorted(self.chains.items())
        }
        return {name: _tail(name, chain[-1]) for name, chain in told.items() if chain}

    def appends_of(self, replica: str, after: int) -> Iterator[Sequence[Row]]:
        return (one for one in self.chains.get(replica, []) if numbered(one[0].state).n > after)

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        return [(one, self.held[one]) for one in ids if one in self.held]

    def bring(self, appends: Sequence[ForeignAppend], now: str) -> int:
        brought: dict[str, int] = {}
        for rows, payloads in appends:
            replica = rows[0].stream.rpartition("@")[2]
            chain = self.chains.setdefault(replica, [])
            assert envelope.read(rows[0]).prev == (envelope.digest(chain[-1]) if chain else "")
            chain.append(rows)
            self.held |= {one.id: one.data for one in payloads}
            if not rows[0].stream.startswith("log:"):
                brought[replica] = numbered(rows[0].state).n
        if brought:
            named = tuple(Imported(*one) for one in sorted(brought.items()))
            self._append([("log:main", ReplicasImported(named))])
        return sum(len(one.rows) for one in appends)

    def _append(self, facts: Sequence[tuple[str, Fact]]) -> None:
        numbered_facts: list[tuple[str, int, Fact]] = []
        for stream, fact in facts:
            self._versions[stream] = self._versions.get(stream, 0) + 1
            numbered_facts.append((stream, self._versions[stream], fact))
        chain = self.chains.setdefault(self.replica, [])
        n = max(one.n for one in self.heads().values() if one.n) + 1 if chain else 1
        prev = envelope.digest(chain[-1]) if chain else ""
        chain.append(rows_of(self.replica, n, prev, numbered_facts))


def _tail(name: str, rows: Sequence[Row]) -> Tail:
    return Tail(numbered(rows[0].state).n, START, envelope.digest(rows), name)
