"""The log in memory: that of a file, in a database of SQLite's that is over with its recorder."""

from pathlib import Path
from weakref import finalize

from adapters.store import sqlite_files
from adapters.store.sqlite import SQLiteLogRecorder


class MemoryLogRecorder(SQLiteLogRecorder):
    """Keeps rows and payloads for as long as it lives."""

    is_file = False
    _path = Path(":memory:")

    def __init__(self) -> None:
        self._connection = sqlite_files.connected(":memory:")
        finalize(self, self._connection.close)
        self._make_tables()

    def close(self) -> None:
        """Who has it may read on."""
