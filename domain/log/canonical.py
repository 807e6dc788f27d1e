"""Canonical JSON, and the one boundary that everything from outside passes (DESIGN 4).

Canonical: UTF-8, keys sorted, no spaces, ``-0.0`` as ``0.0``, no NaN. Digests and keys are
taken of it. ``read`` uses the standard library because msgspec keeps the last of two equal
keys in silence."""

import json
import math
from typing import Any

import msgspec

from domain.errors import Refused

NESTING_MAX = 64

_encoder = msgspec.json.Encoder(order="sorted")


def encode(value: object) -> bytes:
    """Canonical JSON of plain values or Structs.

    >>> encode({"b": [1, 2.5], "a": "ä"}).decode()
    '{"a":"ä","b":[1,2.5]}'
    """
    return _encoder.encode(value)


def text(value: object) -> str:
    """`encode`, as text."""
    return encode(value).decode()


def read(data: str | bytes) -> Any:
    """Decode JSON from outside and make it safe to store.

    Lone surrogates become U+FFFD, integral floats stay floats, ``-0.0`` becomes ``0.0``. Returns
    ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` or ``None``. Raises Refused, code
    ``invalid_input``: not JSON, a key twice in one object, NaN or an infinity, a number out of
    range, or nesting over 64.

    >>> read('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    domain.errors.Refused: the JSON has the key 'a' twice in one object; send each key once
    """
    try:
        if isinstance(data, bytes):
            data = data.decode("utf-8", "replace")
        is_marked = data.startswith("\ufeff")  # of which `loads` says what it is
        value = json.loads(data) if is_marked else _decoder.decode(data)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Refused(
            "invalid_input", because=f"this is not JSON ({error})", instead="send one JSON document"
        ) from None
    return _clean(value, 0)


def clean(words: str) -> str:
    """Text from outside: lone surrogates become U+FFFD."""
    if words.isascii():
        return words
    return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            because = f"the JSON has the key {name!r} twice in one object"
            raise Refused("invalid_input", because=because, instead="send each key once")
        found[name] = value
    return found


def _no_constant(name: str) -> float:
    raise _no_number(name)


def _no_number(name: str) -> Refused:
    because = f"the JSON holds the number {name}"
    instead = "send finite numbers of at most 64 bits"
    return Refused("invalid_input", because=because, instead=instead)


def _too_deep() -> Refused:
    because = f"the JSON is nested deeper than {NESTING_MAX} levels"
    return Refused("invalid_input", because=because, instead="send a flatter document")


_decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _clean(value: Any, depth: int) -> Any:
    if depth > NESTING_MAX:
        raise _too_deep()
    match value:
        case str():
            return clean(value)
        case bool() | None:
            return value
        case int():
            if not -(2**63) <= value < 2**64:
                raise _no_number(f"with {len(str(abs(value)))} digits")
            return value
        case float():
            if not math.isfinite(value):
                raise _no_number(str(value))
            return value or 0.0
        case list():
            return [_clean(element, depth + 1) for element in value]
        case _:
            return {clean(name): _clean(element, depth + 1) for name, element in value.items()}
