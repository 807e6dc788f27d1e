"""Which payloads and which words stand in facts and commands: the types of fields alone do not
tell."""

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from domain.agent.commands import RequestWake
from domain.agent.wake_queue import Trigger
from domain.erasure import Erase, ErasureMade
from domain.journal.catalog import CorrectionCaptured
from domain.journal.commands import AddCorrection, ImportedRef, ImportTasks
from domain.journal.task import FIELDS, DeedUndone, DifferenceSettled, TaskImported
from domain.log.wire import PayloadId, Words
from domain.wake.commands import BeginWake
from domain.wake.wake import ModelAnswered, SectionRef, WakeStarted

PAYLOAD_FIELDS: dict[type[Struct], tuple[str, ...]] = {
    AddCorrection: ("before", "after"),
    BeginWake: ("snapshot",),
    CorrectionCaptured: ("before", "after"),
    DeedUndone: ("document",),
    DifferenceSettled: ("document",),
    Erase: ("listed",),
    ErasureMade: ("listed",),
    ImportedRef: ("document",),
    ImportTasks: ("lines",),
    ModelAnswered: ("reply",),
    RequestWake: ("words",),
    SectionRef: ("payload",),
    TaskImported: ("document",),
    Trigger: ("words",),
    WakeStarted: ("snapshot", "specs"),
    Words: ("payload",),
}
"""Fields that hold a payload's id."""

NO_WORDS = frozenset(name for one in FIELDS for name in (one.name, one.value)) | frozenset(
    """
    status task field item note target phrase start end operation agent tool base
    run_key model code subscription schedule zone next_at timer ticks mode replica propagated_due
    tokens until action changes changed fingerprint reproposed call_id at kind thread seed template
    entry instants others scope of restores day days block agent_kind subject about who
    """.split()
)
"""Fields of stored types whose text is no person's."""


def payloads_named(fact: Struct) -> list[PayloadId]:
    """The ids of all payloads that a fact or command names, at any depth."""
    found: list[PayloadId] = []
    _look(fact, found)
    return found


def _look(value: Any, found: list[PayloadId]) -> None:
    if isinstance(value, Struct):
        for name in _fields(type(value)):
            if inner := getattr(value, name):
                _look(inner, found)
    elif isinstance(value, tuple):
        for one in value:
            _look(one, found)
    else:
        found.append(value)


@cache
def _fields(struct: type[Struct]) -> tuple[str, ...]:
    """The fields of a type that hold a payload's id, or something that does."""
    own = PAYLOAD_FIELDS.get(struct, ())
    hints = get_type_hints(struct)
    return tuple(
        name
        for name in struct.__struct_fields__
        if name in own or any(_fields(inner) for inner in _structs(hints[name]))
    )


def _structs(hint: Any) -> Iterator[type[Struct]]:
    if get_origin(hint) in (Union, UnionType, tuple):
        for one in get_args(hint):
            yield from _structs(one)
    elif isinstance(hint, type) and issubclass(hint, Struct):
        yield hint


def is_literal(hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return True
    inner = [one for one in get_args(hint) if one is not type(None)]
    return get_origin(hint) is Union and all(is_literal(one) for one in inner)


def words_in(value: Struct) -> Iterator[Words]:
    """The words of people and models that stand in a fact or a command, at any depth; those of
    documents by their payloads are not looked into."""
    if isinstance(value, Words):
        yield value
        return
    hints = get_type_hints(type(value))
    for name in value.__struct_fields__:
        if name in PAYLOAD_FIELDS.get(type(value), ()) or is_literal(hints[name]):
            continue
        known = getattr(value, name)
        for one in known if isinstance(known, tuple) else (known,):
            if isinstance(one, Struct):
                yield from words_in(one)
            elif isinstance(one, str) and name not in NO_WORDS:
                yield Words(one)
