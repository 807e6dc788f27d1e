"""Names that are derived, never drawn (DESIGN 2, law 3, and 6).

``key("what it is", part, ...)`` is the one way to make an id: SHA-256 over length-prefixed
UTF-8 parts, of which the first 160 bits stand as 32 characters of lower-case base32."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

KEY_LENGTH = 32
COMMANDS_KEPT = 16  # keys of commands
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_TWO = [high + low for high in _LETTERS for low in _LETTERS]  # of ten bits


def key(what: str, *parts: str | bytes) -> str:
    """Name a thing by what it is made of.

    `what`: what the key names, ``"operation"`` for example; no two kinds share a key. `parts`: the
    values it is made of. Numbers enter as decimal text, lists as canonical JSON. Returns 32
    characters of ``a-z2-7``.

    >>> key("item", "task-1", "buy milk", "0")
    'muu66rqunl7umhg7gxzt3xxv5cbd6dt5'
    >>> key("item", "ab", "c") == key("item", "a", "bc")
    False
    """
    digest = hashlib.sha256()
    for part in (what, *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return _letters(digest.digest())


def _letters(digest: bytes) -> str:
    """The first 160 bits as letters. Written out, as a loop takes half as long again, and
    base64's several times as long; an import makes a key a row."""
    n, two = int.from_bytes(digest[:20], "big"), _TWO
    return (
        f"{two[n >> 150]}{two[n >> 140 & 1023]}{two[n >> 130 & 1023]}{two[n >> 120 & 1023]}"
        f"{two[n >> 110 & 1023]}{two[n >> 100 & 1023]}{two[n >> 90 & 1023]}{two[n >> 80 & 1023]}"
        f"{two[n >> 70 & 1023]}{two[n >> 60 & 1023]}{two[n >> 50 & 1023]}{two[n >> 40 & 1023]}"
        f"{two[n >> 30 & 1023]}{two[n >> 20 & 1023]}{two[n >> 10 & 1023]}{two[n & 1023]}"
    )


def sha(data: bytes) -> str:
    """SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def chain(rows: Iterable[tuple[str, int, str]]) -> str:
    """Digest of one append: its rows as ``(stream, version, sha(state))`` in order (DESIGN 4).

    It is ``key("append", stream, version, sha(state), ...)``, put together a row at a time."""
    framed = ["6:append"]
    for stream, version, digest in rows:
        length, digits = len(stream.encode()), str(version)
        framed.append(f"{length}:{stream}{len(digits)}:{digits}64:{digest}")
    return _letters(hashlib.sha256("".join(framed).encode()).digest())


@lru_cache(COMMANDS_KEPT)
def command_key(log: str, replica: str, n: int) -> str:
    """The key of a command for which its caller brought none, in append `n` (DESIGN 6)."""
    return key("command", log, replica, str(n))


def log_digest(heads: Mapping[str, str]) -> str:
    """One digest for a whole home: `H` over each log's and replica's chain head, sorted. `heads`:
    ``"journal:r1"`` to the digest of its newest append."""
    return key("log", *(f"{name}={head}" for name, head in sorted(heads.items())))


def shared_digest(telling: Mapping[str, str]) -> str:
    """What two machines that hold the same of the logs that they share have in common. `telling`:
    ``"journal:r1"`` to the digest of the newest append there that says more than the log of itself.
    Empty: nothing is shared, and so is what is returned."""
    heads = sorted(f"{name}={digest}" for name, digest in telling.items())
    return key("shared", *heads) if heads else ""


def payload_id(unit: str, data: bytes) -> str:
    """Id of a payload; the unit is part of it, so no two units share one (DESIGN 4)."""
    return key("payload", unit, data)
