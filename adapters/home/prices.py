"""What models cost: the prices of `settings.toml`, and `cost`, which says what a turn costs.

In SQL the macro `cost_of` says the same; a test holds the two together."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from adapters.home.settings_toml import invalid_setting, unknown_setting
from domain.errors import Refused
from domain.log.state import RecordedEvent
from domain.policy.gate import is_leaving
from domain.ports import Usage
from domain.wake.wake import used

MICRO = 1_000_000
WHOLE = MICRO * MICRO
"""So many parts of a cost are one of the person's currency: a price of a million tokens is in
millionths, and what a token costs in millionths of those. So costs are added exactly, and rounded
where they are shown."""
BYTES_PER_TOKEN = 3  # of a prompt whose tokens nobody told: rather too many than too few
_KEYS = ("input", "output", "cached", "since")


class Price(Struct, frozen=True):
    """Price of a million tokens in millionths of the person's currency. `cached`: of input from a
    cache, None: as other input; `since`: the day, UTC, from which on it holds, empty: ever."""

    input: int
    output: int
    cached: int | None = None
    since: str = ""


Prices = Mapping[str, tuple[Price, ...]]
"""By model, as it is named on a wake; oldest first."""


CostOf = Callable[[str, Usage], int | None]
"""What an answer of a model costs, of `WHOLE`; None: not known."""


def price_at(prices: Prices, model: str, at: str) -> Price | None:
    """The price that holds for a model at an instant; None: there is none."""
    held = [one for one in prices.get(model, ()) if one.since <= at[: len("2027-01-01")]]
    return held[-1] if held else None


def cost(usage: Usage, price: Price | None) -> int | None:
    """What a turn costs, of `WHOLE`; thoughts are paid as output; unknown stays unknown.

    >>> cost(Usage(1000, 20, 300), Price(1_250_000, 10_000_000))
    4450000000
    >>> cost(Usage(1000, 20, 300, 800), Price(1_250_000, 10_000_000, 250_000))
    3650000000
    """
    if price is None or usage.tokens_in is None or usage.written is None:
        return None
    kept = 0 if price.cached is None else min(usage.tokens_cached or 0, usage.tokens_in)
    read = (usage.tokens_in - kept) * price.input + kept * (price.cached or 0)
    return read + usage.written * price.output


def known_usage(usage: Usage, size: int, model: str) -> Usage:
    """What an answer took where it was told, else about what its prompt of `size` bytes took."""
    read = usage.tokens_in or 0
    if usage.tokens_in is None and is_leaving(model):
        read = size // BYTES_PER_TOKEN
    return replace(usage, tokens_in=read, tokens_out=usage.tokens_out or 0)


def costs_at(prices: Prices, asked_at: Callable[[], str]) -> CostOf:
    """What answers cost to questions of the time that `asked_at` tells: to ask the clock would give
    what is recorded next another time than without whoever wants to know."""
    return lambda model, usage: cost(usage, price_at(prices, model, asked_at()))


def cost_of_rows(prices: Prices, model: str, rows: Iterable[RecordedEvent]) -> int | None:
    """What the answers among a wake's rows cost together, of `WHOLE`; None: there is none, or one's
    cost is not known."""
    usages = [(usage, row.at) for row in rows if (usage := used(row.fact))]
    costs = [cost(usage, price_at(prices, model, at)) for usage, at in usages]
    known = [one for one in costs if one is not None]
    return sum(known) if costs and len(known) == len(costs) else None


# ---------------------------------------------------------------------------------- in settings


def read_prices(given: Any, path: str) -> dict[str, tuple[Price, ...]]:
    """The prices that the table `prices` of settings holds: of each model a table, or several with
    dates. Raises Refused, code ``unknown_setting`` or ``invalid_value``."""
    if not isinstance(given, dict):
        told = f"{path}: prices: expected a table of models"
        raise invalid_setting(told, 'write [prices."MODEL"] and input and output below it')
    return {
        model: _dated_prices(tables, f"{path}: prices.{model}") for model, tables in given.items()
    }


def by_full_names(prices: Prices, whole: Callable[[str], str], source: str) -> Prices:
    """Prices by the names that wakes are recorded with, which `whole` gives for those that a person
    gave. Raises Refused, code ``invalid_value``: two are of one model, or one is of no model."""
    found: dict[str, tuple[Price, ...]] = {}
    for name, dated in prices.items():
        try:
            model = whole(name)
        except Refused as refused:
            raise invalid_setting(f"{source}: {refused.because}", refused.instead) from None
        if model in found:
            raise invalid_setting(f"{source}: two tables are of {model}", "keep one of both")
        found[model] = dated
    return found


def _dated_prices(given: Any, source: str) -> tuple[Price, ...]:
    tables = given if isinstance(given, list) else [given]
    found = sorted((_read_price(one, source) for one in tables), key=lambda one: one.since)
    if len({one.since for one in found}) < len(found):
        told = f"{source}: two prices hold since the same day"
        raise invalid_setting(told, 'give each a day of its own, as in since = "2027-01-01"')
    return tuple(found)


def _read_price(given: Any, source: str) -> Price:
    instead = "give input and output, the prices of a million tokens, as in input = 1.25"
    if not isinstance(given, dict):
        raise invalid_setting(f"{source}: expected a table", instead)
    for name in given:
        if name not in _KEYS:
            raise unknown_setting(f"{source}: the key {name}", name, _KEYS)
    if missing := [name for name in ("input", "output") if name not in given]:
        raise invalid_setting(f"{source}: {missing[0]} is missing", instead)
    read, written = (read_micros(given[name], f"{source}.{name}") for name in ("input", "output"))
    cached = read_micros(given["cached"], f"{source}.cached") if "cached" in given else None
    return Price(read, written, cached, _read_day(given.get("since", ""), f"{source}.since"))


def _read_day(given: Any, source: str) -> str:
    try:
        return date.fromisoformat(str(given)).isoformat() if given != "" else ""
    except ValueError:
        told = f"{source}: {str(given)!r} is no day"
        raise invalid_setting(told, 'write it like "2027-01-01"') from None


def read_micros(given: Any, source: str, is_not: str = "no price") -> int:
    """An amount, written as a number or as text, in millionths. Raises Refused, code
    ``invalid_value``."""
    text = "" if isinstance(given, bool) else str(given)
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text) is None:
        told = f"{source}: {str(given)!r} is {is_not}"
        raise invalid_setting(told, "use digits, at most six of them behind the point")
    return int(Decimal(text) * MICRO)
