"""The JSON Schema of a tool's arguments, generated from its Struct (SPEC 5)."""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

Schema = dict[str, Any]


@cache
def rules(shape: type[Struct]) -> Schema:
    """The schema with references written out and keys of ours left in. Not to be changed.

    "Not given" is an absent key, so null and defaults do not appear in it.
    """
    document = msgspec.json.schema(shape)
    plain = _plain(document, document.get("$defs", {}))
    plain.pop("description", None)  # the tool has its own
    return plain


def public(shape: type[Struct]) -> Schema:
    """The schema as a model is offered it: always an object, nothing but standard keys.

    >>> from domain.tools.arguments import UpdateTaskPriority
    >>> public(UpdateTaskPriority)["properties"]["priority"]["enum"]
    ['P0', 'P1', 'P2', 'P3']
    """
    return _standard(rules(shape))  # type: ignore[no-any-return]  # a schema of an object is one


def _plain(node: Schema, definitions: Schema) -> Schema:
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{name: node[name] for name in node if name != "$ref"}}
    kept = {name: node[name] for name in node if name not in ("$defs", "default", "title")}
    if "anyOf" in kept:
        options = [_plain(option, definitions) for option in kept.pop("anyOf")]
        options = [option for option in options if option.get("type") != "null"]
        kept = {**options[0], **kept} if len(options) == 1 else {**kept, "anyOf": options}
    if "enum" in kept:
        kept["type"] = "string"
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: _plain(field, definitions) for name, field in fields}
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    return kept


def _standard(node: Any) -> Any:
    match node:
        case dict():
            kept = {name: node[name] for name in node if not name.startswith("x-")}
            if "x-asked" in node:
                kept["maxItems"] = node["x-asked"]
            return {name: _standard(value) for name, value in kept.items()}
        case list():
            return [_standard(value) for value in node]
        case _:
            return node
