"""From the JSON that a model or a person sent to a tool's Struct, or a refusal (SPEC 5).

Forgiving where the meaning is plain: snake_case keys, null for "not given", numbers as text,
other case in enumerations, a list sent as text. Since scaffold 3 (`loosened`) also what can mean
one thing only, which is told. Strict in all else: an unknown name or a wrong type is refused with
its path. The messages are our own, because they are recorded and those of a library change with
its version."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, get_args

import msgspec
from msgspec import Struct

from domain.errors import Refused
from domain.journal.day import minutes_of
from domain.log import canonical
from domain.log.timestamps import is_date, is_moment
from domain.scaffold import Features
from domain.text import LANGUAGES, cut, fold, squeeze
from domain.tools.arguments import (
    ObservationCategory,
    ObservationPriority,
    ObservationTarget,
    Retract,
    Schema,
    rules,
)
from domain.tools.base import OF_NO_CATEGORY, Proposal, Tool, ToolRefusal, quoted

OBSERVATION_LENGTH_MAX = 4_000
OF_PERSON = ("DONE", "REJECTED")
"""Statuses that only a person sets (SPEC 1)."""

S = TypeVar("S", bound=Struct)

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.0{1,9})?")
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::00)?")
_SEPARATORS = ("T", "t", " ")
YEARS = ("1970", "9000")  # of a local time
_SAFE_INTEGER = 10**15  # a larger one is not written out in a message


class _Wrong(Exception):
    """Why a value does not fit, and where; it never leaves this module."""

    def __init__(self, message: str, code: str = "invalid_arguments") -> None:
        super().__init__(message)
        self.code = code


def decoded(shape: type[S], value: object) -> S | ToolRefusal:
    """Decoded JSON as a tool's arguments; never raises.

    >>> from domain.tools.arguments import UpdateTaskEstimate
    >>> decoded(UpdateTaskEstimate, {"minutes": "60"})
    UpdateTaskEstimate(minutes=60)
    >>> decoded(UpdateTaskEstimate, {"minutes": 0}).message
    'minutes: expected a whole number from 1 to 60000, got 0'
    """
    try:
        return msgspec.convert(_object(rules(shape), value, ""), shape)
    except _Wrong as wrong:
        return ToolRefusal(wrong.code, str(wrong))


# ------------------------------------------------------------------------------ one value by type


def _value(schema: Schema, value: object, path: str) -> object:
    return _BY_TYPE[schema["type"]](schema, value, path)


def _object(schema: Schema, value: object, path: str) -> dict[str, Any]:
    value = unpacked(value)
    if not isinstance(value, dict):
        raise _Wrong(f"{path or 'arguments'}: expected an object, got {_shown(value)}")
    fields = schema["properties"]
    given = _known_names(value, fields, path)
    found = {}
    for name, field in fields.items():
        here = f"{path}.{name}" if path else name
        is_needed = name in schema["required"]
        if name not in given:
            if is_needed:
                raise _Wrong(f"{here}: is missing")
        elif is_needed or not _is_blank(given[name]):
            found[name] = _value(field, given[name], here)
    return found


def _known_names(value: dict[str, Any], fields: Schema, path: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    unknown = []
    for name, one in value.items():
        known = name if name in fields else _camel(name)
        if known not in fields:
            unknown.append(quoted(canonical.clean(name)))
        elif known in given:
            raise _Wrong(f"{f'{path}.' if path else ''}{known}: is given twice")
        else:
            given[known] = one
    if unknown:
        where = f" in {path}" if path else ""
        names = ", ".join(unknown[:3])
        raise _Wrong(f"unknown argument {names}{where}; known are {', '.join(fields)}")
    return given


def _array(schema: Schema, value: object, path: str) -> list[Any]:
    if isinstance(value := unpacked(value), dict):
        value = [value]  # one element, sent without its list
    if not isinstance(value, list):
        raise _Wrong(f"{path}: expected a list, got {_shown(value)}")
    if len(value) < schema["minItems"]:
        raise _Wrong(f"{path}: expected at least {schema['minItems']}, got none")
    if len(value) > (most := schema["maxItems"]):
        raise _Wrong(f"{path}: at most {most} in one call, got {len(value)}", "limit")
    if "x-elements" in schema:
        kept = map(_ELEMENTS[schema["x-elements"]], value)
        return [element for element in kept if element is not None]
    return [_value(schema["items"], one, f"{path}[{n}]") for n, one in enumerate(value)]


def _string(schema: Schema, value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"{path}: expected {_expected(schema)}, got {_shown(value)}")
    tidy = _tidy(schema, canonical.clean(value), path)
    if "enum" in schema:
        if not (same := [known for known in schema["enum"] if fold(known) == fold(tidy)]):
            raise _Wrong(f"{path}: expected {_expected(schema)}, got {_shown(value)}")
        return str(same[0])
    if len(tidy) < schema.get("minLength", 0):
        raise _Wrong(f"{path}: expected {_expected(schema)}, got a blank one")
    if len(tidy) > schema.get("maxLength", len(tidy)):
        raise _Wrong(f"{path}: expected {_expected(schema)}, got {len(tidy)} characters")
    return tidy


def _integer(schema: Schema, value: object, path: str) -> int:
    number = value
    if isinstance(number, str) and _NUMBER.fullmatch(squeeze(number)):
        number = int(squeeze(number).partition(".")[0])
    elif isinstance(number, float) and number.is_integer():
        number = int(number)
    low, high = schema["minimum"], schema["maximum"]
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
        whole = f"a whole number from {low} to {high}"
        raise _Wrong(f"{path}: expected {whole}, got {_shown(value)}")
    return number


def _boolean(schema: Schema, value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"{path}: expected true or false, got {_shown(value)}")
    return value


_BY_TYPE: Mapping[str, Callable[[Schema, object, str], object]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
}


# ------------------------------------------------------------------------------------- tidying


def _tidy(schema: Schema, text: str, path: str) -> str:
    match schema.get("x-clean"):
        case "words":
            return squeeze(text)
        case "date" if not is_date(text.strip()):
            raise _Wrong(f"{path}: expected a real date YYYY-MM-DD, got {quoted(text)}")
        case "local_time":
            return _wall(text.strip(), path)
        case "clock":
            return _clock(text.strip(), path)
        case "instant" if not is_moment(text):
            raise _Wrong(f"{path}: expected a UTC instant as it is stored, got {quoted(text)}")
        case "language" if fold(text) not in LANGUAGES:
            raise _Wrong(f"{path}: expected an ISO 639-1 code of two letters, got {quoted(text)}")
        case "language":
            return fold(text)
        case "status" if fold(text) in map(fold, OF_PERSON):
            raise _Wrong(f"{path}: only the person sets DONE or REJECTED", "sovereignty")
        case _:
            return text.strip()


def _clock(text: str, path: str) -> str:
    """A time of day; the zero before an hour of one digit may be missing."""
    clock = text if len(text) != len("9:30") else f"0{text}"
    try:
        minutes_of(clock)
    except Refused:
        raise _Wrong(f"{path}: expected a time of day HH:MM, got {quoted(text)}") from None
    return clock


def _wall(text: str, path: str) -> str:
    """A local time in its one spelling; which instant it is, an adapter knows."""
    day, clock = text[:10], text[11:]
    is_day = is_date(day) and YEARS[0] <= day[:4] <= YEARS[1]
    if not (is_day and text[10:11] in _SEPARATORS and _CLOCK.fullmatch(clock)):
        raise _Wrong(f"{path}: expected a local time YYYY-MM-DDTHH:MM, got {quoted(text)}")
    return f"{day}T{clock[:5]}"


def _observation(value: object) -> dict[str, str] | None:
    """An observation in its full form; None if there is no text. What is unknown is left out."""
    given = {_camel(name): value[name] for name in value} if isinstance(value, dict) else {}
    text = value if isinstance(value, str) else given.get("text")
    if not isinstance(text, str) or not squeeze(text := canonical.clean(text)):
        return None
    found = {"text": cut(text.strip(), length_max=OBSERVATION_LENGTH_MAX)}
    for name, known in _OBSERVATION_WORDS.items():
        wanted = given.get(name)
        if isinstance(wanted, str) and (word := fold(wanted)) in known:
            found[name] = word
    return found


def _retraction(value: object) -> dict[str, Any] | None:
    """A retraction; None if it is malformed."""
    if not isinstance(value, dict):
        return None
    known = rules(Retract)
    wanted = {name: value[name] for name in value if _camel(name) in known["properties"]}
    try:
        return _object(known, wanted, "")
    except _Wrong:
        return None


_OBSERVATION_WORDS: Mapping[str, tuple[str, ...]] = {
    "priority": get_args(ObservationPriority),
    "category": get_args(ObservationCategory),
    "target": get_args(ObservationTarget),
}
_ELEMENTS: Mapping[str, Callable[[object], dict[str, Any] | None]] = {
    "observation": _observation,
    "retraction": _retraction,
}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not squeeze(value))


def unpacked(value: object) -> object:
    """A list or object that was sent as text."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    try:
        return canonical.read(value)
    except Refused:
        return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def _expected(schema: Schema) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if "maxLength" in schema:
        return f"a text of {schema['minLength']} to {schema['maxLength']} characters"
    return "a text"


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float() if abs(value) < _SAFE_INTEGER:
            return str(value)
        case int() | float():
            return "a number out of range"
        case str():
            return quoted(canonical.clean(value))
        case list():
            return "a list"
        case _:
            return "an object"


# ------------------------------------------------------------------------------------ taken loosely
# What models send that is not what was asked for, and can mean one thing only.

EXTRA = ("reason", "confidence", "note")
REMARKS_MAX = 3
_MIDNIGHT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]00:00(?::00(?:\.0{1,9})?)?(?:[Zz]|\+00:00)?"
)
_TO_BLANK = str.maketrans("_-", "  ")


def loosened(shape: type[Struct], value: object) -> tuple[object, str]:
    """Decoded JSON as it was asked for, where it can mean one thing only; and what the model is
    told of it, empty where it came so.

    >>> from domain.tools.arguments import UpdateTaskDueDate
    >>> loosened(UpdateTaskDueDate, {"dueDate": "2027-03-01 00:00", "note": "Rent."})
    ({'dueDate': '2027-03-01'}, 'Taken: dueDate "2027-03-01 00:00" as 2027-03-01; note left out.')
    """
    told: list[str] = []
    meant = _loosened(rules(shape), value, "", told)
    more = [f"{len(told) - REMARKS_MAX} more"] if len(told) > REMARKS_MAX else []
    return meant, f"Taken: {'; '.join([*told[:REMARKS_MAX], *more])}." if told else ""


def _loosened(schema: Schema, value: object, path: str, told: list[str]) -> object:
    match schema["type"], value:
        case "object", _:
            return _loose_object(schema, unpacked(value), path, told)
        case "array", _ if "x-elements" not in schema:
            listed = unpacked(value)
            each = [listed] if isinstance(listed, dict) else listed
            if not isinstance(each, list):
                return value
            inner = schema["items"]
            return [_loosened(inner, one, f"{path}[{n}]", told) for n, one in enumerate(each)]
        case "string", str():
            if (meant := _meant(schema, value)) != value:
                told.append(f"{path} {quoted(canonical.clean(value))} as {meant}")
            return meant
        case _:
            return value


def _loose_object(schema: Schema, value: object, path: str, told: list[str]) -> object:
    fields, needed = schema["properties"], schema["required"]
    line = value.strip() if isinstance(value, str) else ""
    is_one = line[:1] not in "[{" and "\n" not in line  # no list, no JSON that is broken
    if is_one and len(needed) == 1 and fields[needed[0]]["type"] != "array":
        told.append(f"{path or 'the text'} as {needed[0]}")
        value = {needed[0]: value}
    if not isinstance(value, dict):
        return value
    found = {}
    for name, one in value.items():
        known = name if name in fields else _camel(name)
        here = f"{path}.{known}" if path else known
        if known in fields:
            found[name] = _loosened(fields[known], one, here, told)
        elif name in EXTRA:
            told.append(f"{here} left out")
        else:
            found[name] = one
    return found


def _meant(schema: Schema, text: str) -> str:
    """A day that was sent as its midnight, a word of a list that has other signs between its
    parts; else the text as it is."""
    if schema.get("x-clean") == "date":
        found = _MIDNIGHT.fullmatch(text.strip())
        return found[1] if found and is_date(found[1]) else text
    parts = fold(text.translate(_TO_BLANK))
    known = [str(one) for one in schema.get("enum", ()) if fold(one.translate(_TO_BLANK)) == parts]
    return known[0] if len(known) == 1 and fold(known[0]) != fold(text) else text


# ---------------------------------------------------------------------------------------- citations
# The words that a proposal rests on: asked for beside its arguments, and taken out before those
# are read, so that a quote decides nothing (ADR 43).

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


def asks(tool: Tool, features: Features) -> bool:
    """Whether a tool takes a quote in a wake."""
    return features.quotes and tool.mode == "deferred" and tool.scope not in OF_NO_CATEGORY


def with_quote(tool: Tool, offered: Schema, features: Features) -> Schema:
    """The schema of a tool's arguments, which it changes: a quote beside each change."""
    holder = offered["properties"][tool.array]["items"] if tool.array else offered
    holder["properties"][BECAUSE] = {"type": "string"} if features.is_brief else dict(_ASKED)
    if features.needs_quotes:
        holder["required"] = [*holder["required"], BECAUSE]
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

    An element is known by its first argument, which of two equal ones is the first one's."""
    if not any(quotes.each):
        return quotes.whole
    elements: tuple[Struct, ...] = getattr(arguments, tool.array)
    known: dict[str, Any] = canonical.read(proposal.arguments)
    for one, said in zip(elements, quotes.each, strict=True):
        attribute, name = one.__struct_fields__[0], one.__struct_encode_fields__[0]
        if said and getattr(one, attribute) == known.get(name):
            return said
    return quotes.whole
