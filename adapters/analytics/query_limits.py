"""How long DuckDB may take, and in how much memory: what passes it is told in one line.

Time is given by whoever asks (`--timeout`; less where a person waits for a page), memory by the
setting `analytics.memory_mb`. DuckDB itself counts memory; for time it is told to stop."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from threading import Event, Thread

import duckdb

from domain.errors import Refused

LOOK_SECONDS = 0.05
MORE_TIME = "ask for less, or on the command line with a longer --timeout"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class QueryLimit:
    """Ends what DuckDB does, when its time is over or when it is told to stop."""

    def __init__(self) -> None:
        self._is_told = Event()

    def stop(self) -> None:
        """End it all, now and from now on; may be called from any thread."""
        self._is_told.set()

    @contextmanager
    def over(self, connection: duckdb.DuckDBPyConnection, seconds: float = inf) -> Iterator[None]:
        """Interrupt what the connection still does after so many seconds. Raises Refused, code
        ``timed_out``."""
        ends, is_done = time.monotonic() + seconds, Event()

        def watch() -> None:
            while not is_done.wait(LOOK_SECONDS):  # until what it does has ended
                if self._is_told.is_set() or time.monotonic() >= ends:
                    connection.interrupt()  # lost between two statements, so it is said again

        thread = Thread(target=watch, daemon=True, name="wakelog-bound")
        thread.start()
        try:
            yield
        except duckdb.InterruptException:
            if self._is_told.is_set():
                because, instead = "it was stopped", "ask again"
                raise Refused("timed_out", because=because, instead=instead) from None
            raise timed_out(seconds) from None
        finally:
            is_done.set()
            thread.join()


def limit_memory(
    connection: duckdb.DuckDBPyConnection, megabytes: int, spill: Path | None = None
) -> None:
    """Give a connection its memory. What needs more is written below `spill`, or refused."""
    connection.execute(f"SET memory_limit = '{megabytes}MiB'")
    folder = str(spill or "").replace("'", "''")
    connection.execute(f"SET temp_directory = '{folder}'")  # else it were below the working folder


def refused_query(error: duckdb.Error) -> Exception:
    """DuckDB's error in one line; where in the query it is stays out. An interruption is left to
    the `QueryLimit`, which knows why."""
    if isinstance(error, duckdb.InterruptException):
        return error
    told = " ".join(str(error).partition("\n\nLINE ")[0].split()).rstrip(".!")
    if isinstance(error, duckdb.OutOfMemoryException):
        return out_of_memory()
    if is_disk_full(error):
        return Refused("read_only", because=told, instead="free space, and ask again")
    instead = "see the tables with `SHOW TABLES`, their columns with `DESCRIBE wakes`"
    return Refused("invalid_value", because=told, instead=instead)


def timed_out(seconds: float) -> Refused:
    because = f"it took longer than {seconds:g} seconds"
    return Refused("timed_out", because=because, instead=MORE_TIME)


def out_of_memory() -> Refused:
    because = "it needs more memory than it may have"
    instead = "ask for less, or raise analytics.memory_mb in settings.toml"
    return Refused("out_of_memory", because=because, instead=instead)


def is_disk_full(error: Exception) -> bool:
    """Whether it is for want of space that something could not be written."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return isinstance(error, duckdb.Error) and any(os.strerror(one) in str(error) for one in _FULL)
