"""Rows as appends, as far as they can be read: prove looks at damaged logs too."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from domain import envelope
from domain.envelope import Row
from domain.errors import WakelogError
from domain.world import Recorded


class Place(Struct, frozen=True):
    """Where a row says that it stands; read without its fact."""

    n: int
    row: int = 0
    rows: int = 0
    prev: str = ""
    at: str = ""


_place = msgspec.json.Decoder(Place)


class Append:
    """Rows that belong together: of one replica and one `n`, beginning where a row is the 0th.

    `facts`: of the rows that can be read; `unread`: index and reason of the others.
    """

    def __init__(self, row: Row, place: Place) -> None:
        self.rows = [row]
        self.places = [place]
        self.facts: list[Recorded] = []
        self.unread: list[tuple[int, str]] = []

    @property
    def first(self) -> Place:
        return self.places[0]

    @property
    def n(self) -> int:
        return self.first.n

    @property
    def replica(self) -> str:
        return _replica(self.rows[0])

    def takes(self, row: Row, place: Place) -> bool:
        """Whether a row is one more of this append."""
        if (_replica(row), place.n) != (self.replica, self.n):
            return False
        return place.row != 0 or row == self.rows[-1]

    def read(self) -> None:
        """Decode every row that can be decoded."""
        for index, row in enumerate(self.rows):
            try:
                one = envelope.read(row)
            except WakelogError as error:
                self.unread.append((index, str(error)))
                continue
            self.facts.append(envelope.recorded(row, self.first.at, one))


def appends(rows: Iterable[Row]) -> Iterator[Append]:
    """Rows, append by append, whatever is missing, doubled or out of order."""
    found: Append | None = None
    for row in rows:
        place = _placed(row, found)
        if found is not None and found.takes(row, place):
            found.rows.append(row)
            found.places.append(place)
            continue
        if found is not None:
            found.read()
            yield found
        found = Append(row, place)
    if found is not None:
        found.read()
        yield found


def _placed(row: Row, found: Append | None) -> Place:
    """A row's own place; of one that is no JSON at all the next one of the append before."""
    try:
        return _place.decode(row.state)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Place(found.n, len(found.rows)) if found else Place(0)


def _replica(row: Row) -> str:
    return row.stream.rpartition("@")[2]
