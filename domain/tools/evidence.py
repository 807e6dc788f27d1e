"""The words that a proposal rests on: asked for beside its arguments, and taken out before those
are read, so that a quote decides nothing (ADR 43)."""

from typing import Any, NamedTuple

from msgspec import Struct

from domain import canonical
from domain.tools.base import Proposal
from domain.tools.decoding import unpacked
from domain.tools.definitions import Tool
from domain.tools.schema import Schema

SINCE = 2
"""The scaffold whose tools first ask for a quote."""
BECAUSE = "because"
BECAUSE_MAX = 300

_ASKED: Schema = {
    "type": "string",
    "maxLength": BECAUSE_MAX,
    "description": "The words that it rests on, quoted.",
}


class Quotes(NamedTuple):
    """The quotes of a call as they came: of all of it, and of each element."""

    whole: str = ""
    each: tuple[str, ...] = ()


def asks(tool: Tool, scaffold: int) -> bool:
    """Whether a tool takes a quote in a wake of a scaffold."""
    return scaffold >= SINCE and tool.mode == "deferred"


def with_quote(tool: Tool, offered: Schema) -> Schema:
    """The schema of a tool's arguments, which it changes: a quote beside each change."""
    holder = offered["properties"][tool.array]["items"] if tool.array else offered
    holder["properties"][BECAUSE] = dict(_ASKED)
    return offered


def parted(tool: Tool, given: object) -> tuple[object, Quotes]:
    """Decoded JSON without its quotes, itself where it has none; and the quotes."""
    rest, whole = _parted(given)
    if not isinstance(rest, dict) or tool.array not in rest:
        return rest, Quotes(whole)
    listed = unpacked(rest[tool.array])
    elements = listed if isinstance(listed, list) else [listed]
    found = [_parted(one) for one in elements]
    if all(bare is one for one, (bare, _) in zip(elements, found, strict=True)):
        return rest, Quotes(whole)
    each = tuple(said for _, said in found)
    return {**rest, tool.array: [bare for bare, _ in found]}, Quotes(whole, each)


def _parted(given: object) -> tuple[object, str]:
    value = unpacked(given)
    if not isinstance(value, dict) or BECAUSE not in value:
        return given, ""
    said = value[BECAUSE]
    bare = {name: value[name] for name in value if name != BECAUSE}
    return bare, said if isinstance(said, str) else ""


def quote_of(tool: Tool, quotes: Quotes, arguments: Struct, proposal: Proposal) -> str:
    """What a proposal of a call rests on: its element's own quote, else that of the call.

    An element is known by its first argument, which of two equal ones is the first one's.
    """
    if not any(quotes.each):
        return quotes.whole
    elements: tuple[Struct, ...] = getattr(arguments, tool.array)
    known: dict[str, Any] = canonical.read(proposal.arguments)
    for one, said in zip(elements, quotes.each, strict=True):
        attribute, name = one.__struct_fields__[0], one.__struct_encode_fields__[0]
        if said and getattr(one, attribute) == known.get(name):
            return said
    return quotes.whole
