"""What a sync needs of a log: whose rows it holds, and a way to take in those of others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from adapters.store.log import Tail
from domain.envelope import Row
from domain.wire import Payload, PayloadId


class ForeignAppend(NamedTuple):
    """An append of another replica as it stands there, with the payloads that it names."""

    rows: tuple[Row, ...]
    payloads: tuple[Payload, ...]


class SharedLog(Protocol):
    """A log that replicas share."""

    name: str
    replica: str

    @property
    def is_shared(self) -> bool:
        """Whether it has begun to be shared."""

    def share(self, now: str) -> None:
        """Begin to share it; nothing happens where that is so."""

    def heads(self) -> Mapping[str, Tail]:
        """The newest append of each replica."""

    def telling_heads(self) -> Mapping[str, Tail]:
        """The newest append of each that says more than the log of itself."""

    def appends_of(self, replica: str, after: int) -> Iterator[Sequence[Row]]:
        """A replica's appends above n `after`, in its chain's order."""

    def payloads(self, ids: Sequence[PayloadId]) -> Sequence[tuple[PayloadId, bytes]]:
        """Those of the named payloads that are there."""

    def bring(self, appends: Sequence[ForeignAppend], now: str) -> int:
        """Take in appends of others, all or none; how many rows."""
