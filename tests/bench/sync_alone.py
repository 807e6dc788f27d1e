"""What homes that never sync have of it that machines can share one: nothing, not a byte.

    .venv/bin/python tests/bench/sync_alone.py [--before 54887efa] [--appends 1000] [--rounds 8]

The same commands are run by a revision from before it and by this one, on the same day and under
the same name. Compared are what they printed, the files of the home, and of each database all
tables, `user_version` and rows. Then both write the same notes and open the same home, in turns.
Needs git, and the revision in this clone. Ends with 1 where something differs that is not named
in `KNOWN`.
"""

import argparse
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import machine, table

HERE = Path(__file__).parents[2]
BEFORE = "54887efa"  # the last revision that knew nothing of several machines
CLI = "import sys; from adapters.cli.main import main; sys.exit(main())"
PIECE = """
import shutil, sys, time
from pathlib import Path
from tests.bench.opening import made, opened
home, count, times = Path(sys.argv[1]), int(sys.argv[2]), 50
begun = time.process_time()
made(home, count, 0)
wrote = time.process_time()
for _ in range(times):
    with opened(home):
        pass
print((wrote - begun) / count, (time.process_time() - wrote) / times)
"""
TODO = """# House

- [ ] Fix the kitchen tap !p2 #home
  - [x] Buy a seal
  - [ ] Turn off the water

  The landlord wants it done by 2027-02-12. It takes about 2 hours.
  Need to call the plumber. Waiting for the quote from Meyer.
- [ ] Renew the passport due:2027-03-01
"""
COMMANDS = (
    "import TODO.md",
    "agent create --all",
    "wake",
    "inbox",
    "confirm 1.1 1.2",
    "reject 1.3 --reason no",
    "task edit kitchen --title Tap",
    "task note Tap The-plumber-comes-on-2027-02-10",
    "wake Tap",
    "confirm --all --yes",
    "undo",
    "done passport",
    "task list --all",
    "task show Tap",
    "report Tap",
    "wakes",
    "status",
    "conflicts",
    "prove",
    "sql SELECT|count(*)|AS|rows|FROM|events",
    "backup saved",
    "doctor",
)
KNOWN = {
    "views.db": "the view of templates is version 2: whose version of a number it is (ADR 73)",
    "settings.toml": "the new home's list of settings names those of [sync], each as a comment",
    "conflicts": "it says that other machines were looked at, too",
    "backup saved": "settings.toml, and its number of bytes",
}
NOT_KNOWN = "NOT KNOWN WHY"
UNLIKE = re.compile(
    r"in [0-9.]+ s\b|/[^ ]*\.json"
)  # how long it took; a file of this code's proofs


class Side:
    """A revision, and a home of its own."""

    def __init__(self, code: Path, root: Path) -> None:
        self.code, self.root, self.home = code, root, root / "home"
        self.home.mkdir(parents=True)
        (root / "TODO.md").write_text(TODO)

    def run(self, command: str) -> str:
        """One command; what it printed, and how it ended."""
        words = [word.replace("|", " ") for word in command.split()]
        done = self._python(CLI, *words)
        printed = f"{done.stdout}{done.stderr}[{done.returncode}]".replace(str(self.root), "ROOT")
        return UNLIKE.sub("...", printed)

    def pieces(self, name: str, appends: int) -> list[float]:
        """Processor seconds of one append, and of one opening."""
        return [float(one) for one in self._python(PIECE, name, str(appends)).stdout.split()]

    def _python(self, code: str, *words: str) -> "subprocess.CompletedProcess[str]":
        environ = {
            **{name: value for name, value in os.environ.items() if "API_KEY" not in name},
            "PYTHONPATH": str(self.code),
            "WAKELOG_HOME": str(self.home),
            "WAKELOG_NOW": "2027-01-04T09:00:00Z",
            "WAKELOG_REPLICA": "rsame0001",
        }
        command = [sys.executable, "-P", "-c", code, *words]
        return subprocess.run(
            command, env=environ, cwd=self.root, capture_output=True, text=True, check=False
        )


def told(path: Path) -> dict[str, str]:
    """What a file holds: a digest of it, and of a database one of each of its parts."""
    if path.suffix != ".db":
        return {"bytes": hashlib.sha256(path.read_bytes()).hexdigest()}
    with sqlite3.connect(path) as opened:
        made: list[tuple[str, str]] = opened.execute(
            "SELECT name, sql FROM sqlite_master ORDER BY name"
        ).fetchall()
        found = {"tables": _sha(made), "version": _sha(opened.execute("PRAGMA user_version"))}
        for name, sql in made:
            if (sql or "").startswith("CREATE TABLE"):
                rows: list[tuple[Any, ...]] = opened.execute(f"SELECT * FROM {name}").fetchall()
                found[f"rows of {name}"] = _sha(sorted(map(repr, rows)))
        return found


def _sha(of: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps([*of], default=str).encode()).hexdigest()


def held(home: Path) -> Mapping[str, Mapping[str, str]]:
    """All files of a home, but for DuckDB's, which writes no two alike and is made of the logs."""
    files = sorted(one for one in home.rglob("*") if one.is_file() and one.suffix != ".duckdb")
    return {str(one.relative_to(home)): told(one) for one in files}


def compared(before: Side, now: Side) -> list[str]:
    """What differs, a line each."""
    found = []
    for command in COMMANDS:
        was, is_now = before.run(command), now.run(command)
        if was != is_now:
            why = KNOWN.get(command, NOT_KNOWN)
            found.append(f"`wakelog {command}` prints something else: {why}\n{was}\n{is_now}")
    was_held, is_held = held(before.home), held(now.home)
    found += [
        f"{name} is in one home only: {NOT_KNOWN}" for name in sorted({*was_held} ^ {*is_held})
    ]
    for name in sorted({*was_held} & {*is_held}):
        one, other = was_held[name], is_held[name]
        parts = sorted(part for part in {*one, *other} if one.get(part) != other.get(part))
        found += [f"{name}: {part} differ: {KNOWN.get(name, NOT_KNOWN)}" for part in parts]
    same = len(COMMANDS), len(is_held), sum(map(len, is_held.values()))
    print("{} commands, {} files, {} parts of them were compared".format(*same))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default=BEFORE, help="a revision of this clone")
    parser.add_argument("--appends", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "before"
        old.mkdir()
        packed = subprocess.run(
            ["git", "archive", given.before], cwd=HERE, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", old], input=packed, check=True)
        before, now = Side(old, Path(folder) / "a"), Side(HERE, Path(folder) / "b")
        found = compared(before, now)
        print("\n".join(found) or "Nothing differs.")
        print(machine())
        ratios(before, now, given.appends, given.rounds)
    return 1 if any(NOT_KNOWN in one for one in found) else 0


def ratios(before: Side, now: Side, appends: int, rounds: int) -> None:
    """What an append and an opening cost the processor, in turns."""
    seconds: list[Sequence[list[float]]] = []
    for nth in range(rounds):
        sides = (before, now) if nth % 2 else (now, before)
        one = {side: side.pieces(f"{side.root}/{nth}", appends) for side in sides}
        seconds.append((one[before], one[now]))
    rows = []
    for nth, what in enumerate(("an append of one note", "opening both logs")):
        was, is_now = (median(one[side][nth] for one in seconds) for side in (0, 1))
        rows.append((what, f"{was * 1e6:.0f} µs", f"{is_now * 1e6:.0f} µs", f"{was / is_now:.2f}"))
    table(("processor time of", "before", "now", "before / now"), rows)


if __name__ == "__main__":
    sys.exit(main())
