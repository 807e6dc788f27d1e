"""Rows as appends, as far as they can be read: prove looks at damaged logs too."""

from collections.abc import Iterable, Iterator

import msgspec

from domain.append import envelope
from domain.append.envelope import Envelope, Row, RowPlace
from domain.errors import WakelogError
from domain.log.state import RecordedEvent


class Append:
    """Rows that belong together: of one replica and one `n`, beginning where a row is the 0th.

    `facts`: of the rows that can be read; `unread`: index and reason of the others."""

    def __init__(self, replica: str, first: RowPlace | Envelope) -> None:
        self.replica, self.first, self.n = replica, first, first.n
        self.rows: list[Row] = []
        self.places: list[RowPlace | Envelope] = []
        self.facts: list[RecordedEvent] = []
        self.unread: list[tuple[int, str]] = []

    def add(self, row: Row, place: RowPlace | Envelope, reason: str) -> None:
        """One more row, as a fact if it can be read."""
        if isinstance(place, Envelope):
            self.facts.append(envelope.recorded(row, self.first.at, place))
        else:
            self.unread.append((len(self.rows), reason))
        self.rows.append(row)
        self.places.append(place)

    def takes(self, row: Row, replica: str, place: RowPlace | Envelope) -> bool:
        """Whether a row is one more of this append."""
        is_of_it = place.n == self.n and replica == self.replica
        return is_of_it and (place.row != 0 or row == self.rows[-1])


class AppendsAhead(Iterator[Append]):
    """Appends, one after another; `n` is of the next one, which is read when somebody asks."""

    def __init__(self, found: Iterator[Append]) -> None:
        self._found = found
        self._next: Append | None = None

    def __next__(self) -> Append:
        one, self._next = self._next, None
        return next(self._found) if one is None else one

    @property
    def n(self) -> int | None:
        self._next = self._next or next(self._found, None)
        return self._next.n if self._next else None


def appends(rows: Iterable[Row]) -> Iterator[Append]:
    """Rows, append by append, whatever is missing, doubled or out of order."""
    found: Append | None = None
    for row in rows:
        reason = ""
        place: RowPlace | Envelope
        try:
            place = envelope.read(row)
        except WakelogError as error:
            place, reason = _placed(row, found), str(error)
        replica = row.stream.rpartition("@")[2]
        if found is None or not found.takes(row, replica, place):
            if found is not None:
                yield found
            found = Append(replica, place)
        found.add(row, place, reason)
    if found is not None:
        yield found


def _placed(row: Row, found: Append | None) -> RowPlace:
    """A row's own place; of one that is no JSON at all the next one of the append before."""
    try:
        return envelope.place_of(row.state)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return RowPlace(found.n, len(found.rows)) if found else RowPlace(0)
