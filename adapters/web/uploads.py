"""A form with a file, as a browser sends it (RFC 7578). Starlette reads these only with one more
package; ours hold one small file and a few fields, and are read here (ADR 67)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from domain import canonical

PARTS_MAX = 100  # of a form with a file
NAME_MAX = 200  # characters of a file's name
_BOUNDARY = re.compile(r'multipart/form-data\s*;.*?boundary="?([^";,\s]{1,70})"?', re.IGNORECASE)
_NAMES = re.compile(r'[;\s](name|filename)="([^"\r\n]*)"', re.IGNORECASE)
_QUOTED = (("%22", '"'), ("%0D", " "), ("%0A", " "))  # as browsers write a name


class Upload(NamedTuple):
    """A file that came with a form; its name is without folders."""

    name: str
    data: bytes


class Sent(NamedTuple):
    """A form: its fields, and the first file that was chosen in it."""

    fields: Mapping[str, list[str]]
    file: Upload | None = None


def boundary_of(content_type: str) -> str:
    """What parts a form with a file; empty: it is another kind of form.

    >>> boundary_of("multipart/form-data; boundary=abc"), boundary_of("text/plain")
    ('abc', '')
    """
    found = _BOUNDARY.match(content_type)
    return found.group(1) if found else ""


def sent_in(body: bytes, boundary: str) -> Sent | None:
    """The fields and the file of a form; None where it has too many parts.

    What is no part of a form is passed over: a form that is cut off lacks its last fields.
    """
    line = rb"\r\n--" + re.escape(boundary.encode("latin-1", "replace")) + rb"(?=--|[ \t]*\r\n)"
    pieces = re.split(line, b"\r\n" + body, maxsplit=PARTS_MAX)
    if len(pieces) > PARTS_MAX:
        return None
    fields: dict[str, list[str]] = {}
    file: Upload | None = None
    for piece in pieces[1:-1]:
        head, _, data = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        names = dict(_NAMES.findall(head.decode("utf-8", "replace")))
        if "filename" not in names:
            text = canonical.clean(data.decode("utf-8", "replace"))
            fields.setdefault(canonical.clean(names.get("name", "")), []).append(text)
        elif file is None and names["filename"]:
            file = Upload(_plain(names["filename"]), data)
    return Sent(fields, file)


def _plain(name: str) -> str:
    for quoted, plain in _QUOTED:
        name = name.replace(quoted, plain)
    alone = canonical.clean(re.split(r"[/\\]", name)[-1]).strip()
    return alone[-NAME_MAX:] or "file"
