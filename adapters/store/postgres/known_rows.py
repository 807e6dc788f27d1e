"""What is known of one log as it ends now, so that the server is not asked for it again."""

from collections.abc import Sequence

from adapters.store.recorder import TimedRow, numbered
from domain.append.envelope import Row
from domain.log.wire import Payload, PayloadId

NEWEST_MAX = 256  # rows of the log's end
STREAMS_MAX = 512
ROWS_MAX = 64  # of one stream
PAYLOADS_MAX_BYTES = 1_000_000  # that were just written


class KnownRows:
    """Ends of streams, the end of the log, and texts that were just written. Rows never change but
    by an erasure, and a stream has its versions without a gap: so what is known stays so until the
    log ends elsewhere, and then all of it is forgotten (`clear`)."""

    def __init__(self) -> None:
        self.newest: list[Row] = []
        self._streams: dict[str, tuple[int, list[TimedRow]]] = {}
        self._payloads: dict[PayloadId, bytes] = {}

    def clear(self) -> None:
        self.newest = []
        self._streams.clear()
        self._payloads.clear()

    def put(self, stream: str, after: int, rows: Sequence[TimedRow]) -> None:
        """All rows of a stream with a version above `after`."""
        if len(self._streams) >= STREAMS_MAX:
            self._streams.clear()
        if len(rows) > ROWS_MAX:
            after, rows = rows[-2].row.version, rows[-1:]
        self._streams[stream] = after, list(rows)

    def grow(self, rows: Sequence[Row], at: str, payloads: Sequence[Payload]) -> None:
        """Rows and texts that this process appends."""
        for row in rows:
            after, known = self._streams.get(row.stream, (row.version - 1, []))
            self.put(row.stream, after, [*known, TimedRow(row, at)])
        self.newest = [*self.newest, *rows][-NEWEST_MAX:] if self.newest else []
        if sum(map(len, self._payloads.values())) > PAYLOADS_MAX_BYTES:
            self._payloads.clear()
        self._payloads |= {one.id: one.data for one in payloads}

    def stream(self, stream: str, after: int, but: Sequence[str]) -> Sequence[TimedRow] | None:
        """The later rows of a stream but for some tags'; None: they are not known."""
        begun, rows = self._streams.get(stream, (after + 1, []))
        if begun > after:
            return None
        return [one for one in rows if one.row.version > after and one.row.topic not in but]

    def last_version(self, stream: str) -> int | None:
        if stream not in self._streams:
            return None
        after, rows = self._streams[stream]
        return after + len(rows)

    def payload(self, payload_id: PayloadId) -> bytes | None:
        return self._payloads.get(payload_id)

    def after(self, n: int) -> list[Row] | None:
        """All rows of appends above n; None: they are not known."""
        if not self.newest or numbered(self.newest[0].state).n > n:
            return None
        return [row for row in self.newest if numbered(row.state).n > n]

    def append_at(self, n: int) -> list[Row] | None:
        """The rows of append n; None: they are not known."""
        if n < 1:
            return []
        rows = self.after(n - 1)
        return None if rows is None else [row for row in rows if numbered(row.state).n == n]
