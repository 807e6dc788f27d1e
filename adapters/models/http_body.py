"""A body as it comes over the wire: unpacked here, and broken off where it grows too large.

Packed bytes are not asked for. Something on the way may pack them all the same, and then the
client would unpack them without a bound."""

import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import cache

import httpx2

from adapters.models import faults
from adapters.models.faults import Trouble

PIECE_BYTES = 65_536
GZIP_OR_ZLIB = zlib.MAX_WBITS + 32  # `zlib` sees by itself which of the two it is
PACKINGS = ("gzip", "x-gzip", "deflate")

Take = Callable[[bytes], None]


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that the machine trusts: reading them takes longer than all else here."""
    return httpx2.create_ssl_context()


@contextmanager
def troubles(host: str, seconds: float) -> Iterator[None]:
    """What the client raises on the way, as troubles that repeat none of its words."""
    try:
        yield
    except httpx2.TimeoutException:
        raise faults.timed_out(seconds) from None
    except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise unsendable(error) from None
    except httpx2.HTTPError as error:
        raise faults.unreachable(host, type(error).__name__) from None


def unsendable(error: Exception) -> Trouble:
    """The client would not send a request: a model's name or an address cannot be such a one."""
    told = f"the request cannot be sent ({type(error).__name__}); check model and base URL"
    return Trouble(faults.wrong("bad_request", told), again=False)


def bound(
    response: httpx2.Response, take: Take | None, sent_max: int = faults.SENT_MAX_BYTES
) -> None:
    """Have a response, which is not read yet, read within the bounds: `sent_max` bytes as they are
    sent. `take` is given them as they come, unpacked. Raises `Trouble`: it is packed in a way that
    was not asked for and is not known here."""
    packing = response.headers.pop("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", *PACKINGS):
        told = f"the answer is packed as {faults.one_line(packing)!r}, which was not asked for"
        raise Trouble(faults.provider("bad_reply", told), again=False)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(response.stream, take, sent_max, is_packed=packing in PACKINGS)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of another stream, unpacked."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, take: Take | None, sent_max: int, *, is_packed: bool
    ) -> None:
        self._inner, self._take, self._sent_max = inner, take, sent_max
        self._unpacker = Unpacker() if is_packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._sent_max:
                raise Trouble(faults.too_large(f"{self._sent_max} bytes"), again=False)
            for piece in self._unpacker.take(chunk) if self._unpacker else (chunk,):
                if self._take is not None:
                    self._take(piece)
                yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class Unpacker:
    """Unpacks a stream of bytes piece by piece, up to the bound and no byte further."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(GZIP_OR_ZLIB)
        self._size = 0

    def take(self, packed: bytes) -> Iterator[bytes]:
        """What some more bytes unpack to. Raises `Trouble`: too much, or it cannot be unpacked."""
        while packed:  # bounded: each round takes bytes away, or brings some up to the bound
            if self._inflate.eof:  # one packed part may follow the other
                self._inflate = zlib.decompressobj(GZIP_OR_ZLIB)
            try:
                piece = self._inflate.decompress(packed, PIECE_BYTES)
            except zlib.error:
                told = "the answer is packed, and cannot be unpacked"
                raise Trouble(faults.provider("bad_reply", told), again=True) from None
            self._size += len(piece)
            if self._size > faults.UNPACKED_MAX_BYTES:
                told = f"{faults.UNPACKED_MAX_BYTES} bytes, unpacked"
                raise Trouble(faults.too_large(told), again=False)
            packed = self._inflate.unconsumed_tail or self._inflate.unused_data
            yield piece
