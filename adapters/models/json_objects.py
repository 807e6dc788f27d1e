"""JSON objects of providers, in which a key may stand twice."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from adapters.models.faults import Trouble, one_line, provider, wrong

Answer = TypeVar("Answer", bound=Struct)

Count = Annotated[int, Meta(ge=0, lt=2**53)] | None
"""Tokens; another number is none."""
NESTING_MAX = 128
"""Of a document. Of a deeper one it would hang on the stack of who reads it whether it is one, and
prove would not read what a wake had."""


class RepeatedKeyObject(dict[str, Any]):
    """An object that has a key twice, and has it twice again where it is written as JSON."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> Any:
        return self.pairs

    @property
    def name(self) -> str:
        """The key."""
        return Counter(name for name, _ in self.pairs).most_common(1)[0][0]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else RepeatedKeyObject(pairs)


def loads(raw: bytes, *, keeps_twice: bool = True) -> dict[str, Any] | None:
    """A JSON object, with both of two equal keys or the last one; None where this is none."""
    try:
        document = json.loads(raw, object_pairs_hook=_object if keeps_twice else None)
    except (ValueError, RecursionError):
        return None
    may_be_deep = raw.count(b"[") + raw.count(b"{") > NESTING_MAX
    if not isinstance(document, dict) or (may_be_deep and _is_deep(document)):
        return None
    return document


def _is_deep(document: object) -> bool:
    level = [document]
    for _ in range(NESTING_MAX):
        known = [one if isinstance(one, list) else [inner for _, inner in one.items()]
                 for one in level if isinstance(one, dict | list)]  # fmt: skip
        level = [one for values in known for one in values]
    return bool(level)


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def first_dict(value: object) -> dict[str, Any]:
    """The first element of a list, if it is an object, else an empty one."""
    return (dicts(value[:1]) or [{}])[0] if isinstance(value, list) else {}


def repeated_keys(document: dict[str, Any], arguments: str) -> Iterator[RepeatedKeyObject]:
    """The objects that have a key twice, outside of the values of the key `arguments`."""
    left: list[Any] = [document]
    while left:  # bounded: each round takes one value of the document
        value = left.pop()
        if isinstance(value, RepeatedKeyObject):
            yield value
        elif isinstance(value, dict):
            left += (one for name, one in value.items() if name != arguments)
        elif isinstance(value, list):
            left += value


def decoded(
    raw: bytes, form: type[Answer], arguments: str,
    check: Callable[[dict[str, Any]], None] | None = None, *, keeps_twice: bool = True,
) -> Answer:  # fmt: skip
    """The answer that a body with status 200 holds. `arguments`: the key of a call's arguments, of
    which all is left to who decodes them; `check` raises `Trouble` where a document is no answer,
    whatever its form. Raises `Trouble`: it is no JSON object (a page of something on the way), or
    has a key twice."""
    document = loads(raw, keeps_twice=keeps_twice)
    if document is None:
        told = "the endpoint answered with something else than a JSON object"
        raise Trouble(provider("bad_reply", told), again=True)
    if check is not None:
        check(document)
    if double := next(repeated_keys(document, arguments), None):
        told = f"the answer has the key {one_line(repr(double.name))} twice in one object"
        raise Trouble(wrong("bad_reply", told), again=True)
    found: Answer = fitting(document, form)
    return found


def fitting(value: object, form: Any) -> Any:
    """A value in a form whose fields are all optional: what does not fit is left out, and no more
    of it; what fits as a whole is read as a whole."""
    try:
        return msgspec.convert(value, form, strict=False)
    except msgspec.ValidationError:
        pass
    inner, *_ = get_args(form) or (form,)  # of ``Form | None``
    if isinstance(value, list) and get_origin(inner) is tuple:
        of, _ = get_args(inner)
        return tuple(one for one in (fitting(one, of) for one in value) if one is not None)
    if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, Struct):
        known = fields(inner)
        return inner(**{one.name: fitting(value.get(one.encode_name), one.type) for one in known})
    return None
