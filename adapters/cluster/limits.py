"""Limits for all homes of a database: how often models are asked in a minute, over all and of one
home, and what they may cost in a day. All workers share them, as rows of the database (ADR 68)."""

from contextlib import suppress
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from adapters.home.prices import WHOLE
from adapters.runtime.services import Allowance
from adapters.store.postgres.database import Database
from domain.errors import Refused

WAIT_LEAST = 5  # seconds until a home is opened again in vain, at least
MINUTE = 60
ALL = "all"
_MAKE = """
INSERT INTO runtime.buckets SELECT name, level, clock_timestamp()
FROM unnest(%s::text[], %s::float8[]) AS one (name, level) ON CONFLICT DO NOTHING"""
_TAKE = """
SELECT name, level, extract(epoch FROM clock_timestamp() - at)::float8 FROM runtime.buckets
WHERE name = ANY (%s) ORDER BY name FOR UPDATE"""
_LEAVE = "UPDATE runtime.buckets SET level = %s, at = clock_timestamp() WHERE name = %s"
_GIVE_BACK = "UPDATE runtime.buckets SET level = level + %s WHERE name = ANY (%s)"
_WAITING = "SELECT count(*) FROM runtime.homes WHERE limited_until > now() AND home <> %s"
_LIMITED = """
UPDATE runtime.homes SET limited_until = now() + %s * interval '1 second' WHERE home = %s"""
_SPENT = """
SELECT coalesce(max(amount), 0), extract(epoch FROM
    date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day' - now() AT TIME ZONE 'UTC')::int
FROM runtime.spent WHERE day = (now() AT TIME ZONE 'UTC')::date"""
_SPEND = """
INSERT INTO runtime.spent VALUES ((now() AT TIME ZONE 'UTC')::date, %s, %s)
ON CONFLICT (day, currency) DO UPDATE SET amount = spent.amount + excluded.amount"""


class Limits(NamedTuple):
    """Questions to models a minute, over all homes and of each; money a UTC day, of each currency;
    0: no limit. Workers of one database are started with the same ones."""

    requests: int = 0
    home_requests: int = 0
    cost: float = 0.0


class SharedLimits:
    def __init__(self, database: Database, limits: Limits) -> None:
        self._database, self._limits = database, limits

    def wait(self, home: int) -> int:
        """For how many seconds a model may not be asked for a home; 0: it may, and that counts. A
        bucket holds what may be asked in a minute, and is refilled by the database's clock.
        Raises Refused: the database cannot be reached."""
        rates = self._rates(home)
        seconds = self._unpaid() or (self._take(home, rates) if rates else 0)
        if seconds:
            with self._database.connection() as connection:
                connection.execute(_LIMITED, (seconds, home))
        return seconds

    def give_back(self, home: int, count: int) -> None:
        """So many questions were not asked after all. Raises Refused."""
        if count and (rates := self._rates(home)):
            with self._database.connection() as connection:
                connection.execute(_GIVE_BACK, (count, list(rates)))

    def spend(self, currency: str, cost: int) -> None:
        """Count what an answer cost, of `WHOLE`; nothing while the database cannot be reached: the
        answer is not lost by it, and no other is asked for."""
        if self._limits.cost:
            with suppress(Refused), self._database.connection() as connection:
                connection.execute(_SPEND, (currency, Decimal(cost) / WHOLE))

    def _rates(self, home: int) -> dict[str, int]:
        asked = {ALL: self._limits.requests, f"home {home}": self._limits.home_requests}
        return {name: rate for name, rate in asked.items() if rate}

    def _unpaid(self) -> int:
        if not self._limits.cost:
            return 0
        with self._database.connection() as connection:
            ((spent, left),) = connection.execute(_SPENT).fetchall()
        return max(int(left), WAIT_LEAST) if spent >= self._limits.cost else 0

    def _take(self, home: int, rates: dict[str, int]) -> int:
        names = sorted(rates)
        with self._database.connection() as connection, connection.transaction():
            connection.execute(_MAKE, (names, [float(rates[one]) for one in names]))
            levels = {
                name: min(float(rates[name]), level + max(passed, 0.0) * rates[name] / MINUTE)
                for name, level, passed in connection.execute(_TAKE, (names,)).fetchall()
            }
            missing = {name: (1 - level) * MINUTE / rates[name] for name, level in levels.items()}
            is_there = all(one <= 0 for one in missing.values())
            for name, level in levels.items():
                connection.execute(_LEAVE, (level - is_there, name))
            if missing.get(ALL, 0) > 0:  # those who wait come one after another, not all at once
                ((waiting,),) = connection.execute(_WAITING, (home,)).fetchall()
                missing[ALL] += min(waiting * MINUTE / rates[ALL], MINUTE)
        return 0 if is_there else max(ceil(max(missing.values())), WAIT_LEAST)


class HomeAllowance(Allowance):
    """What the limits allow one home."""

    def __init__(self, limits: SharedLimits, home: int) -> None:
        self._limits, self._home = limits, home

    def take(self) -> int:
        return self._limits.wait(self._home)

    def give_back(self, count: int) -> None:
        self._limits.give_back(self._home, count)
