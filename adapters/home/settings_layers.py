"""What counts of a home's settings and of the defaults of its database, which stand below them.

A key of the home's counts before the same key of the defaults, unless these lock it. The table of
an endpoint (`[openai]`, `[models.NAME]`) counts whole: a key of the one goes to no address of the
other.
"""

import tomllib
from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from adapters.home.settings_refusals import invalid

LOCKED = "locked"
_WHOLE = ("openai",)


class Defaults(NamedTuple):
    """What all homes of a database have. `locked`: keys that no home may set."""

    table: Mapping[str, Any] = {}
    locked: Collection[str] = ()


NOTHING = Defaults()


def read(text: str, path: str) -> dict[str, Any]:
    """The tables of a text. Raises Refused, code ``invalid_value``: it is not TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, InvalidOperation) as error:
        instead = "correct it, or delete the line"
        raise invalid(f"{path} is not TOML: {error}", instead) from None


def defaults_in(text: str, path: str) -> Defaults:
    """What a text says for all homes. Raises Refused, code ``invalid_value``."""
    table = read(text, path)
    locked = _locks(table.pop(LOCKED, {}), path)
    return Defaults(table, locked)


def over(table: Mapping[str, Any], below: Defaults) -> dict[str, Any]:
    """What counts.

    >>> below = Defaults({"model": "gemini", "agents": {"parallel": 2}}, ["model"])
    >>> over({"model": "rules", "agents": {"mode": "hybrid"}}, below)
    {'model': 'gemini', 'agents': {'parallel': 2, 'mode': 'hybrid'}}
    """
    found = dict(below.table)
    for name, value in table.items():
        under = found.get(name)
        is_mixed = isinstance(under, dict) and isinstance(value, dict) and name not in _WHOLE
        found[name] = {**under, **value} if is_mixed and under else value
    for name in below.locked:
        _set(found, name, at(below.table, name))
    return found


def check_locks(before: str, after: str, below: Defaults, where: str) -> None:
    """See that a home's text sets no key anew that the defaults lock.

    Raises:
        Refused: Code ``invalid_value``; `where` says which defaults.
    """
    was, now = read(before, where), read(after, where)
    for name in below.locked:
        if at(now, name) not in (None, at(was, name)):
            raise invalid(
                f"{name} is locked by {where}",
                "ask who runs it; `wakelog settings --defaults show` tells what counts",
            )


def at(table: Mapping[str, Any], name: str) -> Any:
    """The value of a key, like ``agents.parallel``; None where there is none."""
    first, _, rest = name.partition(".")
    found = table.get(first)
    return at(found, rest) if rest and isinstance(found, dict) else None if rest else found


def _set(table: dict[str, Any], name: str, value: Any) -> None:
    """Put the value of a key; None takes it away."""
    first, _, rest = name.partition(".")
    if rest:
        inner = dict(table[first]) if isinstance(table.get(first), dict) else {}
        _set(inner, rest, value)
        value = inner
    if value is None:
        table.pop(first, None)
    else:
        table[first] = value


def _locks(given: Any, path: str) -> list[str]:
    """The keys that are said to be locked, in whichever way TOML may write them."""
    if not isinstance(given, dict):
        raise invalid(f"{path}: {LOCKED} is no table", "write [locked], and below it KEY = true")
    found = []
    for name, value in given.items():
        if isinstance(value, dict):
            found += [f"{name}.{one}" for one in _locks(value, path)]
        elif value is True:
            found.append(name)
        elif value is not False:
            raise invalid(f"{path}: {LOCKED}.{name} is {value!r}", "write true, or delete the line")
    return found
