"""How many appends the server takes in a second: writers that share one home, and writers that each
have homes of their own. The client is `pgbench`, so that nothing of Python's is measured.

python tests/bench/pg_commits.py [--seconds 4] [--rounds 3] [--writers 64]
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.store.postgres.statements import ENTER, statements_of
from tests.bench.common import machine
from tests.support.postgres import database, server

HOMES = 1_000
ROWS = 3  # of an append, each of 330 bytes
MADE = """
INSERT INTO wakelog.homes (name, replica)
SELECT 'h' || one, 'r1' FROM generate_series(1, %s) AS one;
"""
HEADS = "INSERT INTO agent.heads (home) SELECT home FROM wakelog.homes ON CONFLICT DO NOTHING"


def script(homes: int, sleep: str = "") -> str:
    """One append as the recorder does it: home and role, the head, rows, the head, commit."""
    enter = ENTER.replace("%s", "(:home)::text")
    lock = statements_of("agent").lock.replace("%s", ":home")
    values = ", ".join(
        f"(:home, :m, {row}, {row + 1}, 'r1', 'wake:' || (:m)::bigint || '@r1', 'wake.started.1',"
        " convert_to(repeat('w', 330), 'UTF8'))"
        for row in range(ROWS)
    ).replace(":' ||", "' || chr(58) ||")
    return f"""\\set home random(1, {homes})
begin;
{enter};
{lock} \\gset
{sleep}
\\set m :n + 1
insert into agent.events (home, n, row, version, replica, stream, topic, state) values {values};
update agent.heads set n = :m, row_count = row_count + {ROWS} where home = :home;
end;
"""


def a_second(url: str, file: Path, writers: int, seconds: int) -> float:
    """Appends a second of so many writers, into empty logs."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("TRUNCATE agent.events")
        connection.execute("UPDATE agent.heads SET n = 0, row_count = 0")
    pgbench = shutil.which("pgbench")
    if pgbench is None:
        raise SystemExit("there is no pgbench; it comes with Debian's postgresql")
    words = [
        "-n",
        "-M",
        "prepared",
        "-c",
        str(writers),
        "-j",
        "1",
        "-T",
        str(seconds),
        "-f",
        str(file),
    ]
    done = subprocess.run([pgbench, *words, url], capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found is not None, done.stdout
    return float(found[1])


def measured(url: str, given: argparse.Namespace) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(MADE, (HOMES,))
        connection.execute(HEADS)
    net = "\\sleep 500 us"  # a network, or a decision, while the head is held
    ways = {"one home": script(1), "homes of their own": script(HOMES)}
    ways |= {"one home, 0.5 ms held": script(1, net), "own, 0.5 ms held": script(HOMES, net)}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{nth}.sql" for nth, name in enumerate(ways)}
        for name, file in files.items():
            file.write_text(ways[name], "utf-8")
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, file in files.items():
                found[name].append(a_second(url, file, given.writers, given.seconds))
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    for name, rate in medians.items():
        print(f"{name}: {rate:,.0f} appends a second of {given.writers} writers")
    shared, own, held, own_held = medians.values()
    print(f"own homes over one: {own / shared:.1f} times; {own_held / held:.1f} with 0.5 ms held")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--writers", type=int, default=64)
    given = parser.parse_args()
    print(machine(), flush=True)
    with server() as address, database(address) as url:
        measured(url, given)


if __name__ == "__main__":
    main()
