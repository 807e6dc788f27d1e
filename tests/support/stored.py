"""Every stored type, and a sample of each, made from its field types alone."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from domain.append.envelope import Command, Fact
from domain.journal.imported import ImportedTask
from domain.log.wire import Part, Stored
from domain.tools.snapshot import Snapshot


def members(union: Any) -> list[Any]:
    """The types of a union, nested ones flattened."""
    if get_origin(union) in (Union, UnionType):
        return [one for member in get_args(union) for one in members(member)]
    return [union]


def stored_types() -> list[type[Stored]]:
    """All facts and commands that a log may hold, by tag."""
    found: dict[str, type[Stored]] = {}
    for one in (*members(Fact), *members(Command)):
        found[str(one.__struct_config__.tag)] = one
    return [found[tag] for tag in sorted(found)]


def part_types() -> list[type[Part]]:
    """All Structs that stand inside stored ones, and those kept as payloads."""
    found: set[type[Part]] = {ImportedTask, Snapshot}
    roots: list[type[Struct]] = [*stored_types(), ImportedTask, Snapshot]
    for one in roots:
        _collect(one, found)
    return sorted(found, key=lambda part: part.__name__)


def _collect(struct: type[Struct], found: set[type[Part]]) -> None:
    for hint in get_type_hints(struct).values():
        for one in leaves(hint):
            is_part = isinstance(one, type) and issubclass(one, Part)
            if is_part and not issubclass(one, Stored) and one not in found:
                found.add(one)
                _collect(one, found)


def leaves(hint: Any) -> list[Any]:
    """The types that a field's type is made of, a choice of words as one."""
    arguments = [one for one in get_args(hint) if one is not Ellipsis]
    if not arguments or get_origin(hint) is Literal:
        return [hint]
    return [leaf for one in arguments for leaf in leaves(one)]


def sample(struct: type[Struct], *, is_full: bool) -> Any:
    """An example: all fields set to something that is no default, or only the required ones."""
    hints = get_type_hints(struct)
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        is_required = field.default is msgspec.NODEFAULT
        if is_full or is_required:
            values[field.name] = _value(hints[field.name], field.name, is_full=is_full)
    return struct(**values)


def _value(hint: Any, name: str, *, is_full: bool) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return next(value for value in arguments if value)
    if origin is tuple:
        return tuple(_value(one, name, is_full=is_full) for one in arguments if one is not Ellipsis)
    if origin in (Union, UnionType):
        concrete = [one for one in members(hint) if one is not type(None)]
        return _value(concrete[0], name, is_full=is_full)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return sample(hint, is_full=is_full)
    return {str: name, int: 7, bool: True, float: 0.5}[hint]
