"""What a visitor asks, and what a page answers: the words between the pages and the server."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

from msgspec import Struct

from domain.errors import Refused

_NONE: Mapping[str, str] = MappingProxyType({})


class Asked(NamedTuple):
    """A request, read. `names` are the parts of the address, `lists` all values of a field."""

    path: str
    names: Mapping[str, str] = _NONE
    query: Mapping[str, str] = _NONE
    form: Mapping[str, str] = _NONE
    lists: Mapping[str, list[str]] = MappingProxyType({})
    replaced: tuple[str, ...] = ()  # names of keys whose values stood in the form

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
        query.pop("told", None)
        return f"{self.path}?{urlencode(query)}" if query else self.path

    @property
    def key(self) -> str:
        """The idempotency key of a form: drawn when its page was made."""
        nonce = self.needed("nonce")
        if not 8 <= len(nonce) <= 64 or not nonce.replace("-", "").replace("_", "").isalnum():
            raise Refused("invalid_input", because="a form's nonce is none", instead="reload it")
        return f"web-{nonce}"


class Page(Struct):
    """An answer: a template with its values, and the same as a JSON document."""

    template: str
    title: str
    document: Any
    values: dict[str, Any] = {}
    status: int = 200


class Undo(Struct, frozen=True):
    """The inverse of a change that was just made: a command, and what it would find."""

    what: str
    command: Any
    task: str
    expects: tuple[Any, ...]


class Told(Struct):
    """What came of a form. `kind`: ``done``, ``problem`` or ``conflict``."""

    text: str
    kind: str = "done"
    undo: Undo | None = None
    lines: Sequence[str] = ()
    status: int = 200


_STATUS = {
    "decided": 409,
    "stale": 409,
    "key_reused": 409,
    "agent_running": 409,
    "agent_exists": 409,
    "agent_dormant": 409,
    "unknown_agent": 404,
    "unknown_category": 404,
    "unknown_item": 404,
    "unknown_label": 404,
    "unknown_set": 404,
    "unknown_task": 404,
    "unknown_template": 404,
    "unknown_wake": 404,
    "no_page": 404,
    "read_only": 503,
}


def status_of(code: str) -> int:
    """The HTTP status of a refusal."""
    return _STATUS.get(code, 422)


def missing(code: str, what: str, wanted: str) -> Refused:
    """There is no such thing under this address."""
    because = f"there is no {what} {wanted[:40]!r}"
    return Refused(code, because=because, instead="it may have been deleted, or the link is old")
