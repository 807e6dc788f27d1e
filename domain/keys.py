"""Names that are derived, never drawn (DESIGN 2, law 3, and 6).

``key("what it is", part, ...)`` is the one way to make an id: SHA-256 over length-prefixed
UTF-8 parts, of which the first 160 bits stand as 32 characters of lower-case base32.
"""

import hashlib
from collections.abc import Iterable

KEY_LENGTH = 32
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [high + low for high in _LETTERS for low in _LETTERS]
_SHIFTS = range(150, -1, -10)  # of 160 bits, ten at a time: several times faster than base64's


def key(what: str, *parts: str | bytes) -> str:
    """Name a thing by what it is made of.

    Args:
        what: What the key names, ``"operation"`` for example; no two kinds share a key.
        parts: The values it is made of. Numbers enter as decimal text, lists as canonical JSON.

    Returns:
        32 characters of ``a-z2-7``.

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
    number = int.from_bytes(digest.digest()[:20], "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def sha(data: bytes) -> str:
    """SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def chain(rows: Iterable[tuple[str, int, bytes]]) -> str:
    """Digest of one append: its rows as ``(stream, version, state)`` in order (DESIGN 4)."""
    parts: list[str] = []
    for stream, version, state in rows:
        parts += (stream, str(version), sha(state))
    return key("append", *parts)


def payload_id(unit: str, data: bytes) -> str:
    """Id of a payload; the unit is part of it, so no two units share one (DESIGN 4)."""
    return key("payload", unit, data)
