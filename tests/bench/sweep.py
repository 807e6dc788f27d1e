"""What a worker's look at all homes costs, as they grow: the few that are due among the many.

python tests/bench/sweep.py [--homes 1000 100000] [--due 20]
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.cluster.scheduler import DUE, STALLED
from adapters.store.postgres.schema import LOGS
from tests.support.postgres import database, server

TIMES = 200


def filled(connection: psycopg.Connection[tuple[object, ...]], homes: int, due: int) -> None:
    """So many homes without rows, all asleep but a few that have news."""
    connection.execute(
        "INSERT INTO wakelog.homes (name, replica) SELECT 'home-' || one, 'r1'"
        " FROM generate_series(1, %s) AS one",
        (homes,),
    )
    connection.execute(
        "INSERT INTO runtime.homes (home, next_at) SELECT home, 'infinity' FROM wakelog.homes"
    )
    for log in LOGS:
        sql = f"INSERT INTO {log}.heads (home, n) SELECT home, 40 FROM wakelog.homes"
        connection.execute(sql.encode())
    connection.execute("UPDATE agent.heads SET is_news = true WHERE home <= %s", (due,))
    connection.execute("ANALYZE")


def look(connection: psycopg.Connection[tuple[object, ...]], due: int) -> float:
    """Milliseconds of a look, the median."""
    taken = []
    for _ in range(TIMES):
        start = time.perf_counter()
        found = connection.execute(DUE.encode(), {"only": None}).fetchall()
        connection.execute(STALLED.encode(), {"lease": 30}).fetchall()
        taken.append(time.perf_counter() - start)
        assert len(found) == due
    return 1_000 * statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--homes", type=int, nargs=2, default=[1_000, 100_000])
    parser.add_argument("--due", type=int, default=20)
    given = parser.parse_args()
    found = []
    with server() as address:
        for homes in given.homes:
            with database(address) as url, psycopg.connect(url, autocommit=True) as connection:
                filled(connection, homes, given.due)
                found.append(look(connection, given.due))
                print(f"{homes} homes: {found[-1]:.2f} ms a look, {given.due} due")
    print(f"{found[1] / found[0]:.2f} times")


if __name__ == "__main__":
    main()
