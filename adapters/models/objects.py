"""JSON objects of providers, in which a key may stand twice."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any


class Twice(dict[str, Any]):
    """An object that has a key twice, and has it twice again where it is written as JSON."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> Any:
        return self.pairs

    @property
    def name(self) -> str:
        """The key."""
        return Counter(name for name, _ in self.pairs).most_common(1)[0][0]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Twice(pairs)


def loads(raw: bytes, *, keeps_twice: bool = True) -> dict[str, Any] | None:
    """A JSON object; None where this is none.

    Args:
        raw: Its bytes.
        keeps_twice: Keep both of two equal keys, else the last one.
    """
    hook = _object if keeps_twice else None
    try:
        document = json.loads(raw, object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def twice(document: dict[str, Any], arguments: str) -> Iterator[Twice]:
    """The objects that have a key twice, outside of the values of the key `arguments`."""
    left: list[Any] = [document]
    while left:  # bounded: each round takes one value of the document
        value = left.pop()
        if isinstance(value, Twice):
            yield value
        elif isinstance(value, dict):
            left += (one for name, one in value.items() if name != arguments)
        elif isinstance(value, list):
            left += value
