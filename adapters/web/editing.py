"""The fields of a proposal that a person may change before they confirm it.

Which they are stands in the tool's record, how they are asked for follows from its arguments.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from adapters.web.asking import in_lines
from domain.errors import Refused
from domain.tools import registry
from domain.tools.schema import rules

PREFIX = "edit."


def fields_of(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The inputs of an item's form, filled with what is proposed."""
    if tool not in registry.CHANGES:
        return []
    shape, effect = registry.CHANGES[tool]
    schema = rules(shape)
    types = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
    found = []
    for name, label in effect.form.items():
        rule = schema["properties"][name]
        form = _form(rule)
        most = rule.get("maximum", rule.get("maxLength"))
        found.append(
            {
                "name": PREFIX + name,
                "label": label,
                "form": form,
                "most": most if form in ("text", "long", "number") else None,
                "choices": _choices(types[name]) if form == "choice" else [],
                "needed": name in schema["required"],
                "value": arguments.get(name, ""),
            }
        )
    return found


def _choices(hint: object) -> list[str]:
    """The values of a choice as its type names them: a schema has them sorted."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [choice for one in get_args(hint) for choice in _choices(one)]


def _form(rule: Mapping[str, Any]) -> str:
    """``number``, ``choice``, ``date``, ``time``, ``label``, ``task``, ``text`` or ``long``."""
    if rule["type"] == "integer":
        return "number"
    if "enum" in rule:
        return "choice"
    return _FORMS.get(rule["x-clean"], "text")


_FORMS = {"date": "date", "label": "label", "local_time": "time", "id": "task", "text": "long"}


def edited(tool: str, arguments: dict[str, Any], form: Mapping[str, str]) -> dict[str, Any] | None:
    """The arguments as the form says them; None where it says what was proposed.

    Raises:
        Refused: Code ``invalid_value``.
    """
    after = dict(arguments)
    for field in fields_of(tool, arguments):
        given = form.get(field["name"])
        if given is None:
            continue
        name, value = field["name"].removeprefix(PREFIX), _read(field["form"], given)
        if value in ("", None):
            after.pop(name, None)
        else:
            after[name] = value
    return None if after == arguments else after


def _read(form: str, given: str) -> str | int:
    told = in_lines(given).strip()
    if form != "number" or not told:
        return told
    if not (told.isascii() and told.isdigit() and len(told) < 10):
        because = f"{told[:20]!r} is no number"
        raise Refused("invalid_value", because=because, instead="write digits, 45 for example")
    return int(told)
