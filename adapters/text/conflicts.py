"""A conflict between a file and the person, in words."""

from typing import TYPE_CHECKING

from adapters.text.common import local_time, safe
from domain.text import cut, squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.documents.import_conflicts import ConflictDetails, ConflictValue

_NAMES = {
    "note": "a note",
    "item": "a checklist item",
    "label": "a label",
    "suppressed": "a label that is not wanted",
    "entry": "a time entry",
    "rating": "a rating",
    "due": "the due date",
    "link": "a link",
    "timer": "which timer runs",
    "blocks": "what blocks what",
    "deleted": "whether the task goes",
}

_WHO = {"agent": "an agent", "import": "the file"}
_OF_NONE = ("category", "label", "template")  # what has a name


def as_text(one: "ConflictDetails") -> str:
    """All values in one line."""
    if not one.is_of_file:
        said = ", ".join(_side(one, side) for side in one.values)
        about = f" ({safe(one.about)})" if one.about else ""
        return f"{safe(one.field)}{about}: {said}"
    mine, theirs = one.values
    said = f"{value_text(theirs.value)} in {safe(theirs.label)}"
    return f"{one.field}: {value_text(mine.value)} here, {said}"


def conflict_lines(one: "ConflictDetails", place: str, zone: str) -> "Iterator[str]":
    """A conflict with its number, and each side with who said it and when."""
    about = f" ({safe(one.about)})" if one.about else ""
    yield f"{one.number}  {place} {safe(one.title)}"
    yield f"     {safe(one.field)}{about}"
    for side in one.values:
        value = value_text(side.value)
        said = f'"{value}"' if side.value and one.kind == "values" else value
        place_of = {"file": "in ", "mine": ""}.get(side.replica, "on ")
        where = f"{place_of}{safe(side.label)}"
        by = _WHO.get(side.by.partition(":")[0], "you")
        yield f"       {said} {where}{_stands(one, side)} ({by}, {local_time(side.at, zone)})"


def _side(one: "ConflictDetails", side: "ConflictValue") -> str:
    return f"{value_text(side.value)} on {safe(side.label)}{_stands(one, side)}"


def _stands(one: "ConflictDetails", side: "ConflictValue") -> str:
    is_last = side.replica == one.stands and one.kind != "timers"  # all of them run
    return ", which stands" if is_last else ""


def subject_of(one: "ConflictDetails") -> str:
    """What a conflict between machines is about, as it is called in a sentence."""
    if one.kind == "verdicts":
        return "a proposal"
    kind = one.field.partition(":")[0]
    if not one.task and kind in _OF_NONE:
        return f"{safe(one.about) or f'the {kind}'} {safe(one.title)!r}"
    return safe(one.about) or field_named(one.field)


def field_named(field: str) -> str:
    """A field of a task, as it is called in a sentence.

    >>> field_named("title"), field_named("item:x1:checked"), field_named("deleted")
    ('the title', 'a checklist item', 'whether the task goes')
    """
    return _NAMES.get(field.partition(":")[0], f"the {field}")


def value_text(value: str) -> str:
    """A value in one line; one that is empty is told as ``none``."""
    return safe(cut(squeeze(value), length_max=60)) or "none"
