"""Who gave the newest commands, in `runtime.db`: it may be thrown away at any time, for what is not
known was done elsewhere."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from adapters.store.sqlite_files import anew

KEPT = 100
WAIT_SECONDS = 0.5  # for another process; then it is not kept
_SCHEMA = """
CREATE TABLE IF NOT EXISTS doers (
    log TEXT, first INTEGER, last INTEGER, began TEXT, ended TEXT, who TEXT, asked TEXT, task TEXT
)
"""
_TRIM = f"DELETE FROM doers WHERE rowid <= (SELECT max(rowid) FROM doers) - {KEPT}"


class DoneCommand(NamedTuple):
    """Appends of one log, without a gap, and who did them: ``terminal ...``, ``page ...``,
    ``program`` or ``watch``. `nothing`: what was asked of `task` where it was so already; then the
    log only ended there."""

    log: str
    first: int
    last: int
    began: str
    ended: str
    who: str
    nothing: str = ""
    task: str = ""

    def holds(self, log: str, n: int, at: str) -> bool:
        """Whether an append is one of these, and not of the same number in another past."""
        is_there = self.log == log and self.first <= n <= self.last
        return is_there and self.began <= at <= self.ended and not self.nothing


def keep(path: Path, done: Sequence[DoneCommand]) -> None:
    """Keep them, where the file can be written; one that is broken is made anew."""
    with suppress(sqlite3.Error):
        anew(path, lambda: _keep(path, done))


def _keep(path: Path, done: Sequence[DoneCommand]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=WAIT_SECONDS)) as file:
        file.execute("PRAGMA synchronous=OFF")
        file.execute("BEGIN IMMEDIATE")
        file.execute(_SCHEMA)
        file.executemany(f"INSERT INTO doers VALUES ({', '.join('?' * 8)})", done)
        file.execute(_TRIM)
        file.execute("COMMIT")


def kept(path: Path) -> list[DoneCommand]:
    """The newest ones, the newest first; none where nothing can be read."""
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as file:
            rows = file.execute("SELECT * FROM doers ORDER BY rowid DESC").fetchall()
    except sqlite3.Error:
        return []
    return [DoneCommand(*row) for row in rows]
