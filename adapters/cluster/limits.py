"""Limits for all homes of a database: how often models are asked in a minute, over all and of one
home, and what they may cost in a day. All workers share them, as rows of the database (ADR 68)."""

from contextlib import suppress
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from adapters.home.prices import WHOLE
from adapters.store.postgres.database import Database
from domain.errors import Refused

WAIT_LEAST = 5  # seconds: each wait is a row of a log
MINUTE = 60
ALL = "all"
_MAKE = """
INSERT INTO runtime.buckets SELECT name, level, clock_timestamp()
FROM unnest(%s::text[], %s::float8[]) AS one (name, level) ON CONFLICT DO NOTHING"""
_TAKE = """
SELECT name, level, extract(epoch FROM clock_timestamp() - at)::float8 FROM runtime.buckets
WHERE name = ANY (%s) ORDER BY name FOR UPDATE"""
_LEAVE = "UPDATE runtime.buckets SET level = %s, at = clock_timestamp() WHERE name = %s"
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
        asked = {ALL: self._limits.requests, f"home {home}": self._limits.home_requests}
        rates = {name: rate for name, rate in asked.items() if rate}
        return max(self._unpaid(), self._take(rates) if rates else 0)

    def spend(self, currency: str, cost: int) -> None:
        """Count what an answer cost, of `WHOLE`; nothing while the database cannot be reached: the
        answer is not lost by it, and no other is asked for."""
        if self._limits.cost:
            with suppress(Refused), self._database.connection() as connection:
                connection.execute(_SPEND, (currency, Decimal(cost) / WHOLE))

    def _unpaid(self) -> int:
        if not self._limits.cost:
            return 0
        with self._database.connection() as connection:
            ((spent, left),) = connection.execute(_SPENT).fetchall()
        return max(int(left), WAIT_LEAST) if spent >= self._limits.cost else 0

    def _take(self, rates: dict[str, int]) -> int:
        names = sorted(rates)
        with self._database.connection() as connection, connection.transaction():
            connection.execute(_MAKE, (names, [float(rates[one]) for one in names]))
            levels = {
                name: min(float(rates[name]), level + max(passed, 0.0) * rates[name] / MINUTE)
                for name, level, passed in connection.execute(_TAKE, (names,)).fetchall()
            }
            missing = [(1 - level) * MINUTE / rates[name] for name, level in levels.items()]
            is_there = all(one <= 0 for one in missing)
            for name, level in levels.items():
                connection.execute(_LEAVE, (level - is_there, name))
        return 0 if is_there else max(ceil(max(missing)), WAIT_LEAST)
