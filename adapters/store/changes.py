"""Whether a log has changed, by a cheap look."""

import sqlite3
from pathlib import Path
from typing import Protocol
from urllib.parse import quote


class Probe(Protocol):
    """Gives another value once something has changed."""

    def __call__(self) -> object: ...

    def close(self) -> None: ...


class FileProbe:
    """Tells whether a SQLite file was written, by any process: one pragma, no query."""

    def __init__(self, path: Path) -> None:
        name = f"file:{quote(str(path))}?mode=ro"
        self._connection = sqlite3.connect(
            name, uri=True, isolation_level=None, check_same_thread=False
        )

    def __call__(self) -> object:
        try:
            return self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.OperationalError:  # it is being moved or locked: look again
            return None

    def close(self) -> None:
        self._connection.close()
