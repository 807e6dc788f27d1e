"""Whether a machine's clock is that of the database, by which homes are due and leases lapse."""

from collections.abc import Callable
from datetime import UTC, datetime

from adapters.store.postgres.database import Database
from domain.errors import invalid

SKEW_MAX_SECONDS = 5
Wall = Callable[[], datetime]


def wall() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def check_clock(database: Database, clock: Wall = wall) -> None:
    """Look whether this machine's clock is the server's. Raises Refused."""
    with database.connection() as connection:
        before = clock()
        ((there,),) = connection.execute("SELECT clock_timestamp()").fetchall()
        after = clock()
    ahead = max(before - there, there - after).total_seconds()
    if ahead > SKEW_MAX_SECONDS:
        because = f"this machine's clock and that of {database.name} are {ahead:.0f} seconds apart"
        raise invalid(because, "set both right, then start it again")
