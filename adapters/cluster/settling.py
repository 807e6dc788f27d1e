"""How a home is left once it was tended: when it is due again, or until when it is held off."""

from adapters.cluster.tending import Tended
from adapters.store.postgres.database import Database
from adapters.store.postgres.schema import LOGS
from adapters.store.postgres.statements import ENTER

HOLD_MAX_SECONDS = 300
_DONE = """
UPDATE runtime.homes SET next_at = %s, hold_until = '-infinity', faults = 0 WHERE home = %s"""
_FAULTY = f"""
UPDATE runtime.homes SET faults = faults + 1, hold_until = now()
    + least({HOLD_MAX_SECONDS}, 2 ^ least(faults + 1, 9)) * interval '1 second'
WHERE home = %s"""


def keep(database: Database, home: int, tended: Tended) -> None:
    """Say how it was left. Raises Refused."""
    if tended.is_in_trouble:
        hold_off(database, home)
    else:
        _done(database, home, tended)


def _done(database: Database, home: int, tended: Tended) -> None:
    """Nothing is due up to `next_at`, unless something new came in meanwhile."""
    with database.connection() as connection, connection.transaction():
        connection.execute(_DONE, (tended.next_at or "infinity", home))
        connection.execute(ENTER, (str(home),))
        for log, n in zip(LOGS, tended.reached, strict=True):
            sql = f"UPDATE {log}.heads SET is_news = false WHERE home = %s AND n = %s"
            connection.execute(sql.encode(), (home, n))


def hold_off(database: Database, home: int) -> None:
    """Hold a home off that is in trouble: 2, 4, 8 ... seconds, up to five minutes. Raises
    Refused."""
    with database.connection() as connection:
        connection.execute(_FAULTY.encode(), (home,))
