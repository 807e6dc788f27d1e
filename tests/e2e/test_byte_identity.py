"""The same commands under the same clock and replica name write the same bytes (DESIGN 9).

Two homes are made by the real command line, each in a process under another hash seed, time zone
and locale. What they print is compared, and every stored row and payload.
"""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import proved

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
TODO = """\
# Home

- [ ] Fix the sink #plumbing ~30m
  - [ ] buy sealant
  It takes about 60 minutes. Due by 2027-02-12. Urgent! Call the plumber.
- [ ] Küche streichen
  Bis zum 12.3.2027 erledigen, dauert etwa drei Stunden.

# Travel

- [ ] Plan the trip due:2027-03-01
  We need to book the flight.
"""
COMMANDS = (
    ("import", "todo.md"),
    ("agent", "create", "--all"),
    ("agent", "timer", "Plan the trip", "set", "every day 07:00"),
    ("wake",),
    ("confirm", "1", "--all"),
    ("reject", "2", "--all", "--reason", "Später"),
    ("defer", "--all"),
    ("task", "note", "Fix the sink", "Blocked: waiting for the plumber"),
    ("wake",),
    ("agent", "ask", "Fix the sink", "What is left?"),
    ("wake", "Plan the trip"),
    ("agent", "pause", "Küche streichen"),
    ("inbox", "--all"),
)


ALL = """
import sys
from adapters.cli.main import cli

for command in sys.argv[1:]:
    try:
        cli.main(args=command.split("|"), prog_name="wakelog")
    except SystemExit as ended:
        if ended.code:
            raise
"""


def begun(folder: Path, seed: str, zone: str, locale: str) -> "subprocess.Popen[str]":
    """Run all commands in a fresh folder."""
    folder.mkdir()
    (folder / "todo.md").write_text(TODO, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
    environ = kept | {
        "HOME": str(folder),
        "LC_ALL": locale,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
        "TZ": zone,
        "WAKELOG_HOME": str(folder / "home"),
        "WAKELOG_NOW": "2027-01-01T08:00:00+01:00",
        "WAKELOG_REPLICA": "r1",
    }
    return subprocess.Popen(
        [sys.executable, "-c", ALL, *("|".join(one) for one in COMMANDS)],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def stored(home: Path, log: str) -> tuple[list[object], list[object]]:
    """All rows of a log in the order they were written, and all its payloads."""
    with sqlite3.connect(home / f"{log}.db") as connection:
        (table,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%events%'"
        ).fetchone()
        rows = connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        payloads = connection.execute("SELECT * FROM payloads ORDER BY id").fetchall()
    connection.close()
    return rows, payloads


def test_two_homes_made_by_the_same_commands_are_the_same_bytes(tmp_path: Path) -> None:
    both = (
        begun(tmp_path / "one", "0", "UTC", "C.UTF-8"),
        begun(tmp_path / "two", "4321", "Pacific/Chatham", "de_DE.UTF-8"),
    )
    one, two = (home.communicate(timeout=120) for home in both)
    assert [home.returncode for home in both] == [0, 0], (one, two)
    assert one == two
    assert len(one[0].splitlines()) > 30
    for log in ("journal", "agent"):
        first = stored(tmp_path / "one" / "home", log)
        second = stored(tmp_path / "two" / "home", log)
        assert first == second
        assert len(first[0]) > 20
    assert proved(tmp_path / "one" / "home")
