"""The fields of a proposal that a person may change before they confirm it."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from domain.errors import Refused
from domain.tools.arguments import ESTIMATE_MAX, ITEM_TITLE_MAX, REASON_MAX, TITLE_MAX

PRIORITIES = ("P0", "P1", "P2", "P3")
STATUSES = ("OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD")
PREFIX = "edit."


class Field(Struct, frozen=True):
    """One input. `most`: of a number its limit, of a text its length."""

    name: str
    label: str
    form: Literal["text", "number", "date", "choice", "label"] = "text"
    most: int = 0
    choices: tuple[str, ...] = ()
    is_needed: bool = True


FIELDS: dict[str, tuple[Field, ...]] = {
    "set_task_title": (Field("title", "Title", most=TITLE_MAX),),
    "update_task_estimate": (Field("minutes", "Minutes", "number", ESTIMATE_MAX),),
    "update_task_due_date": (Field("dueDate", "Due on", "date"),),
    "update_task_priority": (Field("priority", "Priority", "choice", choices=PRIORITIES),),
    "set_task_status": (
        Field("status", "Status", "choice", choices=STATUSES),
        Field("reason", "Because", most=REASON_MAX, is_needed=False),
    ),
    "add_checklist_item": (Field("title", "Item", most=ITEM_TITLE_MAX),),
    "update_checklist_item": (
        Field("title", "Item", most=ITEM_TITLE_MAX, is_needed=False),
        Field("reason", "Because", most=REASON_MAX, is_needed=False),
    ),
    "assign_task_label": (Field("id", "Label", "label"),),
}


def fields_of(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The inputs of an item's form, filled with what is proposed."""
    return [
        {
            "name": PREFIX + field.name,
            "label": field.label,
            "form": field.form,
            "most": field.most or None,
            "choices": list(field.choices),
            "needed": field.is_needed,
            "value": arguments.get(field.name, ""),
        }
        for field in FIELDS.get(tool, ())
    ]


def edited(tool: str, arguments: dict[str, Any], form: Mapping[str, str]) -> dict[str, Any] | None:
    """The arguments as the form says them; None where it says what was proposed.

    Raises:
        Refused: Code ``invalid_value``.
    """
    after = dict(arguments)
    for field in FIELDS.get(tool, ()):
        given = form.get(PREFIX + field.name)
        if given is None:
            continue
        value = _read(field, given)
        if value in ("", None):
            after.pop(field.name, None)
        else:
            after[field.name] = value
    return None if after == arguments else after


def _read(field: Field, given: str) -> str | int:
    told = given.strip()
    if field.form != "number" or not told:
        return told
    if not (told.isascii() and told.isdigit() and len(told) < 10):
        because = f"{told[:20]!r} is no number"
        raise Refused("invalid_value", because=because, instead="write digits, 45 for example")
    return int(told)
