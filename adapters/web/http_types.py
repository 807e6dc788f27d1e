"""What a visitor asks, and what a page answers: the words between the pages and the server.

A form with a file is read as a browser sends it (RFC 7578): Starlette does that only with one more
package, and ours hold one small file and a few fields (ADR 67).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode

from msgspec import Struct

from domain.errors import Refused
from domain.log import canonical
from domain.log.keys import key

PARTS_MAX = 100  # of a form with a file
NAME_MAX = 200  # characters of a file's name
_BOUNDARY = re.compile(r'multipart/form-data\s*;.*?boundary="?([^";,\s]{1,70})"?', re.IGNORECASE)
_NAMES = re.compile(r'[;\s](name|filename)="([^"\r\n]*)"', re.IGNORECASE)
_QUOTED = (("%22", '"'), ("%0D", " "), ("%0A", " "))  # as browsers write a name


class Upload(NamedTuple):
    """A file that came with a form; its name is without folders."""

    name: str
    data: bytes


class MultipartForm(NamedTuple):
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


def multipart_form(body: bytes, boundary: str) -> MultipartForm | None:
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
            name = names["filename"]
            for quoted, plain in _QUOTED:
                name = name.replace(quoted, plain)
            alone = canonical.clean(re.split(r"[/\\]", name)[-1]).strip()
            file = Upload(alone[-NAME_MAX:] or "file", data)
    return MultipartForm(fields, file)


# --------------------------------------------------------- requests, pages, and what came of a form

FIELDS_MAX = 2_000  # of a form
PARAMETERS_MAX = 100  # of an address
_NONE: Mapping[str, str] = MappingProxyType({})
VISIT = 8  # characters of a nonce that say which visit of a tab it is of
VERSION_SHOWN = 12  # characters of what a form was made from


class FormRequest(NamedTuple):
    """A request, read. `names` are the parts of the address, `lists` all values of a field."""

    path: str
    names: Mapping[str, str] = _NONE
    query: Mapping[str, str] = _NONE
    form: Mapping[str, str] = _NONE
    lists: Mapping[str, list[str]] = MappingProxyType({})
    replaced: tuple[str, ...] = ()  # names of keys whose values stood in the form
    is_beside: bool = False  # a script sent the form: the page that holds it stays
    file: Upload | None = None

    def field(self, name: str) -> str:
        """A field of the form, or of the query; empty where there is none."""
        return self.form.get(name, "") or self.query.get(name, "")

    def needed(self, name: str) -> str:
        """A field of the form that no page of ours leaves out."""
        if name not in self.form:
            raise missent(f"the form has no field {name!r}", "send it from the page")
        return self.form[name]

    def with_query(self, **changes: str) -> str:
        """This address with other parameters; an empty one is left out."""
        query = {name: value for name, value in {**self.query, **changes}.items() if value}
        for name in ("told", "kept", "part", "was"):
            query.pop(name, None)
        return f"{self.path}?{urlencode(query)}" if query else self.path

    def after(self, place: str) -> str | None:
        """Where a list that is shown up to a place goes on; None at its end."""
        return self.with_query(before=place) if place else None

    def number(self, name: str) -> int:
        """A number of the address; 0 where there is none."""
        return whole(self.query.get(name, "")) or 0

    @property
    def newest(self) -> str:
        """The first page of a list that is shown further on; empty on that page itself."""
        is_later = self.query.get("before") or self.query.get("skip")
        return self.with_query(before="", skip="", at="") if is_later else ""

    @property
    def key(self) -> str:
        """The idempotency key of a form: drawn when its page was made."""
        nonce = self.needed("nonce")
        if not 8 <= len(nonce) <= 64 or not nonce.replace("-", "").replace("_", "").isalnum():
            raise missent("a form's nonce is none", "reload it")
        return f"web-{nonce}"

    @property
    def visit(self) -> str:
        """Of which visit of a tab a form is: what its nonce begins with."""
        return self.form.get("nonce", "")[:VISIT]


def fields_of(body: bytes) -> dict[str, list[str]] | None:
    """The fields of a form as a browser sends them; None where there are too many.

    >>> fields_of(b"a=1&a=%20&b="), fields_of(b"a&" * 3_000)
    ({'a': ['1', ' '], 'b': ['']}, None)
    """
    text = body.decode("utf-8", "replace")
    if text.count("&") >= FIELDS_MAX:
        return None
    found = parse_qs(text, keep_blank_values=True)
    return {
        canonical.clean(name): [canonical.clean(one) for one in values]
        for name, values in found.items()
    }


def parameters_of(query: str) -> dict[str, str]:
    """The parameters of an address; none where there are too many."""
    found = parse_qsl(query) if query.count("&") < PARAMETERS_MAX else []
    return {canonical.clean(name): canonical.clean(value) for name, value in found}


class Page(Struct):
    """An answer: a template with its values, and the same as a JSON document."""

    template: str
    title: str
    document: Any
    values: dict[str, Any] = {}
    status: int = 200


class UndoOffer(Struct, frozen=True):
    """What takes back what was just done, in words, and which deed that is."""

    what: str
    deed: str


Form = Literal["line", "text", "hidden"]


class Clash(Struct, frozen=True):
    """A field that was changed elsewhere while a form was filled in: both texts.

    `name` is the field that the form is sent again with, empty where it cannot be; `form` how it
    is edited then, ``hidden``: not at all.
    """

    label: str
    now: str
    yours: str
    name: str = ""
    form: Form = "line"


class Notice(Struct):
    """What came of a form. `kind`: ``done``, ``problem`` or ``conflict``.

    `kept` are the proposals that were decided, set and number: the next page leaves them in their
    place. `clashes` are what was changed meanwhile; `again`, with the `action` of the form, holds
    what it is sent again with besides, made from what is there now; `button` sends it. `leads`: a
    task to look at next, id and title; `rates`: what may be rated now, ids of a task and an entry.
    `field`: the one that the form got wrong, at which the problem stands, and `at` the address of
    that form. `to`: the page that goes on from here, where that is not the one of the form.
    """

    text: str
    kind: str = "done"
    undo: UndoOffer | None = None
    lines: Sequence[str] = ()
    status: int = 200
    kept: Sequence[tuple[str, int]] = ()
    clashes: Sequence[Clash] = ()
    action: str = ""
    again: Mapping[str, str] = _NONE
    button: str = "Save yours"
    leads: tuple[str, str] | None = None
    rates: tuple[str, str] | None = None
    field: str = ""
    at: str = ""
    to: str = ""


class AtField(Refused):
    """A refusal of what one field of a form says."""

    def __init__(self, field: str, error: Refused) -> None:
        super().__init__(error.code, because=error.whole, instead=error.remedy or error.instead)
        self.field = field


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """What is refused in here stands at this field, unless something else has changed meanwhile."""
    try:
        yield
    except Refused as error:
        if isinstance(error, AtField) or status_of(error.code) == HTTPStatus.CONFLICT:
            raise
        raise AtField(name, error) from error


_CONFLICTS = "decided stale key_reused agent_running agent_exists agent_dormant".split()
_UNKNOWN = "agent category digest field fork item label set task template wake".split()
_STATUS = {
    **dict.fromkeys(_CONFLICTS, 409),
    **dict.fromkeys(("no_page", *(f"unknown_{one}" for one in _UNKNOWN)), 404),
    **dict.fromkeys(("read_only", "replaced"), 503),
}


def status_of(code: str) -> int:
    """The HTTP status of a refusal."""
    return _STATUS.get(code, 422)


def stale(because: str, instead: str = "look at the page again") -> Refused:
    """A form was made from what is no longer there."""
    return Refused("stale", because=because, instead=instead)


def missent(because: str, instead: str) -> Refused:
    """A form says what no page of ours sends, or lacks what it needs."""
    return Refused("invalid_input", because=because, instead=instead)


def made_from(*parts: str) -> str:
    """What a form carries of a text that it was made from: another one is found changed.

    >>> made_from("a") == made_from("a"), made_from("a") == made_from("b")
    (True, False)
    """
    return key("made from", *parts)[:VERSION_SHOWN]


class Answered(Exception):
    """What a form comes to is clear before anything is done."""

    def __init__(self, told: Notice) -> None:
        self.told = told


class FormChanges(NamedTuple):
    """A form beside what is there now: all fields, those it changes, and those that moved."""

    given: Mapping[str, str]
    now: Mapping[str, str]
    changed: tuple[str, ...]
    moved: tuple[str, ...]


def form_changes(
    asked: FormRequest, given: Mapping[str, str], now: Mapping[str, str]
) -> FormChanges:
    """What a form changes of the fields `given`, and what of it was changed elsewhere since it was
    made: ``was.NAME`` is what the field NAME was made from, `now` tells them as they are. Raises
    Refused: it does not say what it was made from.
    """
    was = {name: in_lines(asked.needed(f"was.{name}")) for name in given}
    changed = tuple(name for name, text in given.items() if text != was[name])
    moved = tuple(name for name in changed if now[name] not in (was[name], given[name]))
    return FormChanges(given, now, changed, moved)


def clash_of(asked: FormRequest, clashes: Sequence[Clash], now: Mapping[str, str]) -> Notice:
    """Nothing was changed: both texts, and the form once more with what was typed in it; `now` goes
    before what the form said besides."""
    names = {one.name for one in clashes}
    again = _besides({**asked.form, **now}, names)
    told = " and ".join(one.label.lower() for one in clashes)
    were = "was" if len(clashes) == 1 else "were"
    text = f"{told} {were} changed elsewhere. Nothing was saved; what you typed is here."
    return Notice(
        text[:1].upper() + text[1:], "conflict", clashes=clashes, action=asked.path, again=again
    )


LONG = "categories edit.description general goal loops preferences report text".split()
_SHORT = """
agent allowed began comment due after before end ended estimate language model name reason schedule
start sub summary target task title turns until words zone
"""
TYPED = [*LONG, *_SHORT.split()]
"""Fields that a person types in; an item's arguments are ``edit.NAME``."""


def keep_typed(told: Notice, asked: FormRequest) -> None:
    """Give back the form of what was not possible, filled in, to a browser that has left it."""
    typed = {
        name: text
        for name, text in asked.form.items()
        if text != asked.form.get(f"was.{name}", "") and (name in TYPED or name.startswith("edit."))
    }
    told.clashes = [
        Clash(name.removeprefix("edit."), "", text, name, "text" if name in LONG else "line")
        for name, text in typed.items()
    ]
    if typed:
        told.action, told.button = asked.path, "Send it again"
        told.again = _besides(asked.form, typed)


def _besides(form: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """What a form said besides some fields, and besides what is made anew for each form."""
    without = {*names, "csrf", "nonce"}
    return {name: value for name, value in form.items() if name not in without}


def whole(given: str, digits: int = 9) -> int | None:
    """A number as an address or a form has it; None where it is none, or longer.

    >>> whole("42"), whole("-1"), whole("1000", 3)
    (42, None, None)
    """
    return int(given) if given.isascii() and given.isdigit() and len(given) <= digits else None


def in_lines(text: str) -> str:
    """A text of a form with the line ends that are kept."""
    return text.replace("\r\n", "\n")


def missing(code: str, what: str, wanted: str) -> Refused:
    """There is no such thing under this address."""
    because = f"there is no {what} {wanted[:40]!r}"
    return Refused(code, because=because, instead="it may have been deleted, or the link is old")
