"""What settles a conflict in a field of a task: the chosen value's fact once more, though it may
stand already, so that a row which knows both sides stands above them (ADR 71)."""

from collections.abc import Callable
from typing import Any

from domain.journal import task as t
from domain.journal.fields import FIELDS
from domain.journal.task import PERSON, TaskFact

_WHOLE: dict[str, Callable[[Any], TaskFact]] = {
    "title": lambda value: t.TaskRetitled(PERSON, value),
    "description": lambda value: t.TaskDescribed(PERSON, value),
    "status": lambda value: t.StatusSet(PERSON, *value),
    "category": lambda value: t.CategorySet(PERSON, value),
    "rating": lambda value: t.TaskRated(PERSON, "", *value),
    "deleted": lambda value: (t.TaskDeleted if value else t.TaskRestored)(PERSON),
}
_OF_PART: dict[str, Callable[[str, Any], TaskFact]] = {
    "label:": lambda one, value: (t.LabelAssigned if value else t.LabelRemoved)(PERSON, one),
    "suppressed:": lambda one, value: (t.LabelSuppressed if value else t.LabelAllowed)(PERSON, one),
    "item:title": lambda one, value: t.ItemRetitled(PERSON, one, value),
    "item:checked": lambda one, value: (t.ItemChecked if value else t.ItemUnchecked)(PERSON, one),
    "item:archived": lambda one, value: (t.ItemArchived if value else t.ItemRestored)(PERSON, one),
    "note:": lambda one, value: t.NoteEdited(PERSON, one, value),
    "entry:start": lambda one, value: t.TimeEdited(PERSON, one, start=value),
    "entry:end": lambda one, value: t.TimeEdited(PERSON, one, end=value),
    "entry:summary": lambda one, value: t.TimeEdited(PERSON, one, summary=value),
    "rating:": lambda one, value: t.TaskRated(PERSON, one, *value),
}


def settled(field: str, value: Any) -> TaskFact | None:
    """The fact that gives a field of a task a value.

    Args:
        field: As a conflict of kind ``values`` names it, ``deleted`` of one of kind ``removal``.
        value: A side's; of ``deleted`` whether it shall go.

    Returns:
        None for links, which are kept at both ends, and for what is no field of a task.
    """
    plain = next((one for one in FIELDS if one.name == field), None)
    if plain is not None:
        fact: TaskFact = plain.fact(PERSON, value)
        return fact
    if field in _WHOLE:
        return _WHOLE[field](value)
    of, _, rest = field.partition(":")
    one, _, name = rest.partition(":")
    made = _OF_PART.get(f"{of}:{name}")
    return made(one, value) if made else None
