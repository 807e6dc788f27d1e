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
            file = Upload(_plain(names["filename"]), data)
    return MultipartForm(fields, file)


def _plain(name: str) -> str:
    for quoted, plain in _QUOTED:
        name = name.replace(quoted, plain)
    alone = canonical.clean(re.split(r"[/\\]", name)[-1]).strip()
    return alone[-NAME_MAX:] or "file"


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
            because = f"the form has no field {name!r}"
            raise Refused("invalid_input", because=because, instead="send it from the page")
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
            raise Refused("invalid_input", because="a form's nonce is none", instead="reload it")
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
    """What is refused in here stands at this field, unless something else has changed meanwhile.

    Raises:
        AtField: For what was Refused.
    """
    try:
        yield
    except Refused as error:
        if isinstance(error, AtField) or status_of(error.code) == HTTPStatus.CONFLICT:
            raise
        raise AtField(name, error) from error


_STATUS = {
    "decided": 409,
    "stale": 409,
    "key_reused": 409,
    "agent_running": 409,
    "agent_exists": 409,
    "agent_dormant": 409,
    "unknown_agent": 404,
    "unknown_category": 404,
    "unknown_digest": 404,
    "unknown_field": 404,
    "unknown_fork": 404,
    "unknown_item": 404,
    "unknown_label": 404,
    "unknown_set": 404,
    "unknown_task": 404,
    "unknown_template": 404,
    "unknown_wake": 404,
    "no_page": 404,
    "read_only": 503,
    "replaced": 503,
}


def status_of(code: str) -> int:
    """The HTTP status of a refusal."""
    return _STATUS.get(code, 422)


def made_from(*parts: str) -> str:
    """What a form carries of a text that it was made from: another one is found changed.

    >>> made_from("a") == made_from("a"), made_from("a") == made_from("b")
    (True, False)
    """
    return key("made from", *parts)[:VERSION_SHOWN]


class FormChanges(NamedTuple):
    """A form beside what is there now: all fields, those it changes, and those that moved."""

    given: Mapping[str, str]
    now: Mapping[str, str]
    changed: tuple[str, ...]
    moved: tuple[str, ...]


def form_changes(
    asked: FormRequest, given: Mapping[str, str], now: Mapping[str, str]
) -> FormChanges:
    """What a form changes, and what of it was changed elsewhere since the form was made.

    Args:
        asked: The form; ``was.NAME`` is what the field NAME was made from.
        given: Its fields, as they are kept.
        now: The same as they are now.

    Raises:
        Refused: Code ``invalid_input``: it does not say what it was made from.
    """
    was = {name: in_lines(asked.needed(f"was.{name}")) for name in given}
    changed = tuple(name for name, text in given.items() if text != was[name])
    moved = tuple(name for name in changed if now[name] not in (was[name], given[name]))
    return FormChanges(given, now, changed, moved)


def clashing(
    asked: FormRequest, found: FormChanges, labels: Mapping[str, str], forms: Mapping[str, Form]
) -> Notice:
    """Nothing was changed: both texts, and the form once more with what was typed in it.

    Args:
        asked: The form.
        found: What moved.
        labels: What its fields are called, where that is not their name.
        forms: How they are edited, where that is not in a line.
    """
    now, given = found.now, found.given
    clashes = [
        Clash(labels.get(name, name), now[name], given[name], name, forms.get(name, "line"))
        for name in found.moved
    ]
    left = {name: now[name] for name in given if name not in found.changed}
    return clash_of(asked, clashes, {**left, **{f"was.{name}": now[name] for name in given}})


def clash_of(asked: FormRequest, clashes: Sequence[Clash], now: Mapping[str, str]) -> Notice:
    """The same of what was compared already; `now` goes before what the form said besides."""
    names = {one.name for one in clashes}
    again = _besides({**asked.form, **now}, names)
    told = " and ".join(one.label.lower() for one in clashes)
    were = "was" if len(clashes) == 1 else "were"
    text = f"{told} {were} changed elsewhere. Nothing was saved; what you typed is here."
    return Notice(
        text[:1].upper() + text[1:], "conflict", clashes=clashes, action=asked.path, again=again
    )


LONG = (
    *("categories", "edit.description", "general", "goal", "loops", "preferences", "report"),
    "text",
)
TYPED = (
    *LONG,
    *(
        "agent",
        "allowed",
        "began",
        "comment",
        "due",
        "after",
        "before",
        "end",
        "ended",
        "estimate",
        "language",
        "model",
        "name",
        "reason",
        "schedule",
        "start",
        "sub",
    ),
    *("summary", "target", "task", "title", "turns", "until", "words", "zone"),
)
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


def in_lines(text: str) -> str:
    """A text of a form with the line ends that are kept."""
    return text.replace("\r\n", "\n")


def missing(code: str, what: str, wanted: str) -> Refused:
    """There is no such thing under this address."""
    because = f"there is no {what} {wanted[:40]!r}"
    return Refused(code, because=because, instead="it may have been deleted, or the link is old")
