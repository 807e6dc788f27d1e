"""How foreign text enters a prompt: bounded, and unable to pass for a heading.

A section starts with a line ``## Title``. No other line of a prompt may start so, by any way of
counting lines: Unicode has ten characters that end one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from domain.ports import Section
from domain.text import squeeze

T = TypeVar("T")

_ENDS_OF_LINE = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_TO_NEWLINE = {ord(end): "\n" for end in _ENDS_OF_LINE}
_ESCAPED = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""Line ends that JSON lets stand; the others it escapes by itself."""

_WIDEST = 4  # bytes of a character in UTF-8
_HEADING = re.compile(r"^([ \t]*)(#+(?:[ \t]|$))", re.MULTILINE)

_encoder = msgspec.json.Encoder()


def section(name: str, title: str, body: str, units: Iterable[str] = ()) -> Section:
    """A section; `body` has to be made of the functions below, or of fixed text."""
    return Section(name, f"## {title}\n\n{body}", tuple(sorted(set(units))))


def size(text: str) -> int:
    """UTF-8 bytes."""
    return len(text.encode())


def clip(text: str, bytes_max: int) -> str:
    """The text, or its beginning and how much was cut; the note is not counted.

    >>> clip("Grüße an alle", 8)
    'Grüße … [cut: 7 more bytes]'
    """
    if len(text) * _WIDEST <= bytes_max:
        return text  # whatever it is made of
    data = text.encode()
    if len(data) <= bytes_max:
        return text
    kept = data[:bytes_max].decode("utf-8", "ignore")
    return f"{kept.rstrip(' ')} … [cut: {len(data) - size(kept)} more bytes]"


def line(text: str, bytes_max: int) -> str:
    """A text as one line.

    >>> line("one\\n## two", 100)
    'one ## two'
    """
    return squeeze(text if len(text) * _WIDEST <= bytes_max else clip(text, bytes_max))


def block(text: str, bytes_max: int) -> str:
    """A text of several lines as it is, but that its headings go two levels down.

    >>> block("one\\r\\n## two\\n#three", 100)
    'one\\n#### two\\n#three'
    """
    bounded = clip(text, bytes_max).replace("\r\n", "\n").translate(_TO_NEWLINE)
    return _HEADING.sub(r"\1##\2", bounded)


def dump(value: object) -> str:
    """Compact JSON of plain values, keys in the order given, no end of line within.

    >>> dump({"b": "one\\u2028## two", "a": None})
    '{"b":"one\\\\u2028## two","a":null}'
    """
    text = _encoder.encode(value).decode()
    return text if text.isascii() else text.translate(_ESCAPED)


def rows(texts: Sequence[str]) -> str:
    """A JSON list of elements that are JSON already, each on a line of its own."""
    return "[\n" + ",\n".join(texts) + "\n]" if texts else "[]"


def newest_of(values: Sequence[T], count: int) -> Sequence[T]:
    """The last `count` values; a bare negative slice would take all for 0."""
    return values[max(0, len(values) - count) :]


def cut_note(count: int, what: str) -> list[str]:
    """The line that says what was left out; none where nothing was."""
    return [f"[cut: {count} {what}]"] if count else []
