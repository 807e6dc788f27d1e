"""A segment: neighbouring appends of one replica in one file, which is whole or not there.

Lines of JSON, compressed: a header, the payloads and rows as they are stored, and an end with the
sum of all before it. The same appends make the same bytes. FILE FORMAT: it only grows, see
`domain.log.wire`."""

import gzip
import io
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import Struct

from adapters.store.log_copy import NAMED
from adapters.store.recorder import by_append, line, numbered
from adapters.store.remote_appends import RemoteAppend, chain_link
from domain.append import envelope
from domain.append.envelope import Row
from domain.log.keys import payload_id, sha
from domain.log.rules import FORMAT_MAX, RULES, SHARED_FORMAT
from domain.log.state import entity_of
from domain.log.wire import SHARED, Payload

SEGMENT_MAX_BYTES = 8 * 1024 * 1024  # before compression
READ_MAX_BYTES = 512 * 1024 * 1024  # of one file, decompressed
SMALL_BYTES = 1024 * 1024
SEGMENT = 1
FORMAT = FORMAT_MAX
LEVEL = 6
UNITS_TRIED = 8
ENDING = ".jsonl.gz"
_CHAIN_ID = re.compile(r"(journal|agent):[a-z][a-z0-9]{0,15}")
_FILE_NAME = re.compile(
    r"(journal|agent)-([a-z][a-z0-9]{0,15})-(\d+)-(\d+)-([a-z2-7]{32})\.jsonl\.gz"
)


class ChainId(NamedTuple):
    """Whose appends, in which log."""

    log: str
    replica: str

    @property
    def is_named(self) -> bool:
        """Whether both are names that a home can have: files are called by them."""
        return _CHAIN_ID.fullmatch(f"{self.log}:{self.replica}") is not None


class SegmentHeader(Struct, frozen=True):
    """`after`, `prev`: the append before the first, its n and digest; `head`: the last's."""

    segment: int
    log: str
    replica: str
    after: int
    prev: str
    first: int
    last: int
    rules: int
    format: int
    head: str

    @property
    def place(self) -> ChainId:
        return ChainId(self.log, self.replica)

    @property
    def is_newer(self) -> bool:
        """Whether this version cannot read what follows."""
        return self.segment > SEGMENT or self.rules > RULES or self.format > FORMAT

    @property
    def name(self) -> str:
        """What the file is called, without its writer's place."""
        return f"{self.log}-{self.replica}-{self.first}-{self.last}-{self.head}{ENDING}"


class Segment(NamedTuple):
    """What a file holds; no appends where it is of a newer version."""

    header: SegmentHeader
    appends: tuple[RemoteAppend, ...] = ()


class SegmentName(NamedTuple):
    """What a file's name says."""

    place: ChainId
    first: int
    last: int
    head: str


class IncompleteSegment(Exception):
    """A file is no segment, or not a whole one, by now."""


class _PayloadLine(Struct, frozen=True, omit_defaults=True):
    payload: str
    unit: str
    text: str | None = None
    base64: str = ""


class _RowLine(Struct, frozen=True):
    stream: str
    version: int
    tag: str
    state: msgspec.Raw


class _EndLine(Struct, frozen=True):
    end: int
    sha256: str


_encode = msgspec.json.Encoder().encode
_decode_header = msgspec.json.Decoder(SegmentHeader).decode
_decode_payload = msgspec.json.Decoder(_PayloadLine).decode
_decode_row = msgspec.json.Decoder(_RowLine).decode
_decode_end = msgspec.json.Decoder(_EndLine).decode


def parse_segment_name(name: str) -> SegmentName | None:
    """What a file's name says of it; None where it is called otherwise.

    >>> parse_segment_name("r1/journal-r1-2-17-" + 32 * "a" + ".jsonl.gz").last
    17
    >>> parse_segment_name("r1/have.json")
    """
    found = _FILE_NAME.fullmatch(name.rpartition("/")[2])
    if found is None:
        return None
    return SegmentName(ChainId(found[1], found[2]), int(found[3]), int(found[4]), found[5])


def encode_segments(
    place: ChainId, after: int, appends: Iterable[RemoteAppend], most: int = SEGMENT_MAX_BYTES
) -> Iterator[tuple[SegmentHeader, bytes]]:
    """Files of neighbouring appends in the order of their chain, each with its header. `after`: the
    number of the append before the first, 0: there is none; `most`: how many bytes a file has
    before compression, unless one append has more."""
    lines, size, first, last, written = list[bytes](), 0, 0, after, SHARED_FORMAT
    prev = head = ""
    for one in appends:
        made = [_payload_line(kept, _unit_of(kept, one.rows)) for kept in one.payloads]
        made += map(line, one.rows)
        more = sum(len(text) + 1 for text in made)
        if lines and size + more > most:
            header = SegmentHeader(1, *place, after, prev, first, last, RULES, written, head)
            yield _file(header, lines)
            lines, size, first, after, written = [], 0, 0, last, SHARED_FORMAT
        lines += made
        size += more
        if any(row.topic == envelope.ERASED for row in one.rows):
            written = FORMAT_MAX
        begins = chain_link(one.rows[0].state)
        last, head = begins.n, envelope.digest(one.rows)
        if not first:
            first, prev = last, begins.prev
    if lines:
        yield _file(SegmentHeader(1, *place, after, prev, first, last, RULES, written, head), lines)


def decode_segment(data: bytes, name: str = "") -> Segment:
    """What a file holds, if it is whole: the sum, every link of the chain, and its head. `name`:
    what it is called; a name like ours must say what is in it. Raises IncompleteSegment: something
    is missing, or is other than it was written."""
    lines, header = _summed(_unzipped(data))
    said = parse_segment_name(name)
    if said and said != SegmentName(header.place, header.first, header.last, header.head):
        raise IncompleteSegment("its name says another thing")
    if not header.place.is_named:
        raise IncompleteSegment("it is of no replica")
    if header.is_newer:
        return Segment(header)
    try:
        appends = tuple(_appends(lines))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        raise IncompleteSegment(str(error)) from None
    _check_chain(header, appends)
    return Segment(header, appends)


def is_small(data: bytes) -> bool:
    """Whether a whole file has room for more, by its own size and by that before compression."""
    before = int.from_bytes(data[-4:], "little")  # as gzip tells it
    return len(data) < SMALL_BYTES and before < SEGMENT_MAX_BYTES // 2


def _file(header: SegmentHeader, lines: Sequence[bytes]) -> tuple[SegmentHeader, bytes]:
    body = b"\n".join([_encode(header), *lines, b""])
    whole = body + _encode(_EndLine(len(lines), sha(body))) + b"\n"
    return header, gzip.compress(whole, LEVEL, mtime=0)


def _unzipped(data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            whole = file.read(READ_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise IncompleteSegment(str(error)) from None
    if len(whole) > READ_MAX_BYTES:
        raise IncompleteSegment("it is too large")
    return whole


def _summed(whole: bytes) -> tuple[Sequence[bytes], SegmentHeader]:
    """The lines between header and end, and the header."""
    first, *lines, last, rest = whole.split(b"\n") if whole.count(b"\n") > 1 else [b""] * 3
    try:
        end, header = _decode_end(last), _decode_header(first)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IncompleteSegment(str(error)) from None
    if rest or end.end != len(lines) or end.sha256 != sha(whole[: -len(last) - 1]):
        raise IncompleteSegment("its end does not fit")
    return lines, header


def _appends(lines: Sequence[bytes]) -> Iterator[RemoteAppend]:
    payloads = [_payload(text) for text in lines if text.startswith(b'{"payload"')]
    by_id = {one.id: one for one in payloads}
    read = [_decode_row(text) for text in lines if not text.startswith(b'{"payload"')]
    rows = [Row(one.stream, one.version, one.tag, bytes(one.state)) for one in read]
    for append in by_append(rows):
        found = {one.decode() for row in append for one in NAMED.findall(row.state)}
        named = [by_id.pop(one) for one in sorted(found & by_id.keys())]
        yield RemoteAppend(tuple(append), tuple(named))
    if by_id:
        raise ValueError("a payload stands in it that no row names")


def _check_chain(header: SegmentHeader, appends: Sequence[RemoteAppend]) -> None:
    n, prev, end = header.after, header.prev, f"@{header.replica}"
    for rows, _ in appends:
        places = [chain_link(row.state) for row in rows]
        begins = places[0]
        if begins.prev != prev or begins.n <= n:
            raise IncompleteSegment(f"append {begins.n} does not follow append {n}")
        if begins.rows != len(rows) or not all(row.stream.endswith(end) for row in rows):
            raise IncompleteSegment(f"append {begins.n} is not whole")
        if [(one.n, one.row) for one in places] != [(begins.n, nth) for nth in range(len(rows))]:
            raise IncompleteSegment(f"append {begins.n} is not in order")
        n, prev = begins.n, envelope.digest(rows)
    first = numbered(appends[0].rows[0].state).n if appends else 0
    if (first, n, prev) != (header.first, header.last, header.head):
        raise IncompleteSegment("its header does not fit")


def _payload(text: bytes) -> Payload:
    kept = _decode_payload(text)
    data = b64decode(kept.base64) if kept.text is None else kept.text.encode()
    if kept.unit and payload_id(kept.unit, data) != kept.payload:
        raise ValueError("a payload is not what its id says")
    return Payload(kept.payload, data)


def _payload_line(kept: Payload, unit: str) -> bytes:
    try:
        return _encode(_PayloadLine(kept.id, unit, text=kept.data.decode()))
    except UnicodeDecodeError:
        return _encode(_PayloadLine(kept.id, unit, base64=b64encode(kept.data).decode()))


def _unit_of(kept: Payload, rows: Sequence[Row]) -> str:
    """The task that the bytes belong to, where it stands near their name; else empty."""
    naming = [row for row in rows if kept.id.encode() in row.state]
    units = dict.fromkeys(unit for row in naming for unit in _units_near(row))
    return next((one for one in units if payload_id(one, kept.data) == kept.id), "")


def _units_near(row: Row) -> list[str]:
    words = islice(NAMED.finditer(row.state), UNITS_TRIED)
    return [SHARED, entity_of(row.stream), *(one[0].decode() for one in words)]
