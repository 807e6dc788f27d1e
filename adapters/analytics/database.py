"""The analytics file: both logs as tables for SQL and notebooks, always thrown away gladly.

One process at a time may write a DuckDB file, and it shuts out readers meanwhile. So nobody writes
into `analytics.duckdb`: a refresh copies it, brings the copy up to date in one transaction with the
position it has come to, and puts the copy in its place. A reader keeps the file it has opened,
whole and unmoved; of two refreshes at once the later one's file stays, and both are right."""

import errno
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duckdb

from adapters.analytics.query_limits import QueryLimit, is_disk_full, limit_memory, refused_query
from adapters.analytics.rows import (
    LOGS,
    SCHEMA_VERSION,
    TablesPosition,
    create,
    digest_at,
    fill,
    home_line,
    keep_settings,
    price_lines,
)
from adapters.home import files
from adapters.home.home_location import location_of
from adapters.home.settings import Settings
from adapters.store.log import Log
from adapters.wiring import Home, open_home
from domain.errors import Refused

LOAD_MB = 256  # a load writes what needs more to the disk, and is hardly slower for it
LEFT_SECONDS = 3600  # after which a copy that a crash left is removed
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,  # a query never reaches for the network
    "autoload_known_extensions": False,
}


class _Known(NamedTuple):
    """What a file says of itself."""

    schema_version: int
    settings: tuple[object, ...]
    positions: dict[str, TablesPosition]


def connect(
    home: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    may_reach_files: bool = False,
) -> duckdb.DuckDBPyConnection:
    """A read-only connection to a home's analytics, brought up to date first. Later changes are
    seen by connecting again. Temporary tables and views may be made. `home`: the folder, or
    ``pg:NAME``; None: as the command line finds it. `environ`: None: this process's variables.
    `may_reach_files`: it may read and write other files, see `lock`. Raises Refused: a bad setting,
    or a home that cannot be used; Damaged: a log that cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     connect(folder, {}).execute("SELECT count(*) FROM wakes").fetchone()
    (0,)
    """
    environ = os.environ if environ is None else environ
    place = location_of(None if home is None else str(home), environ)
    with open_home(place, environ) as found:
        return connection_of(found, may_reach_files=may_reach_files)


def connection_of(home: Home, *, may_reach_files: bool = False) -> duckdb.DuckDBPyConnection:
    """The same of a home that is open."""
    logs = {"journal": home.services.journal, "agent": home.services.agents}
    connection = opened(home.path if home.exists else None, logs, home.settings)
    if not may_reach_files:
        lock(connection)
    return connection


def opened(
    home: Path | None, logs: Mapping[str, Log], settings: Settings, bound: QueryLimit | None = None
) -> duckdb.DuckDBPyConnection:
    """As `connect`, of a home that is open already; None, or one that may not be written, is
    answered from memory. `bound` is told where it is not waited for any more. Raises Refused, code
    ``read_only``: there is no space left; ``out_of_memory``; or as `bound` says."""
    try:
        connection = None if home is None else _refreshed(home, logs, settings, bound)
        if connection is None:
            connection = _connected()
            limit_memory(connection, settings.analytics.memory_mb)
            _filled(connection, logs, settings, None)
        limit_memory(connection, settings.analytics.memory_mb)
    except duckdb.OutOfMemoryException as error:
        raise refused_query(error) from None
    return connection


def _refreshed(
    home: Path, logs: Mapping[str, Log], settings: Settings, bound: QueryLimit | None
) -> duckdb.DuckDBPyConnection | None:
    """A connection to the file, brought up to date; None where it cannot be written."""
    try:
        refresh(home, logs, settings, bound)
        return _reading(home / files.ANALYTICS)
    except (OSError, duckdb.IOException) as error:
        if not is_disk_full(error):
            return None
        told = " ".join(str(error).split())
        because = f"the tables to ask could not be brought up to date: {told}"
        raise Refused("read_only", because=because, instead="free space, and try again") from None


@contextmanager
def asking(home: Home, seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to an open home's analytics, brought up to date; from then on it has
    so much time. Raises Refused as `opened`, or with code ``timed_out``."""
    logs = {"journal": home.services.journal, "agent": home.services.agents}
    connection = opened(home.path if home.exists else None, logs, home.settings)
    with closing(connection), QueryLimit().over(connection, seconds):
        yield connection


def refresh(
    home: Path, logs: Mapping[str, Log], settings: Settings, bound: QueryLimit | None = None
) -> bool:
    """Bring a home's analytics up to date; whether there was anything to do. See `opened`. Raises
    OSError: the home cannot be written."""
    path = home / files.ANALYTICS
    known = _known(path)
    after = _trusted(known, logs, settings)
    if known is not None and after is not None and _is_current(known, logs, settings):
        return False
    remove_left(home)
    load = partial(_load, path, logs, settings, after, bound or QueryLimit())
    try:
        load(LOAD_MB)
    except duckdb.OutOfMemoryException:  # not all that it needs can be written to the disk
        load(settings.analytics.memory_mb)
    return True


def _load(
    path: Path, logs: Mapping[str, Log], settings: Settings,
    after: Mapping[str, TablesPosition] | None, bound: QueryLimit, megabytes: int,
) -> None:  # fmt: skip
    """Add what is new to a copy that takes the file's place; or make it anew, where it has to be
    or there is none."""

    def is_filled(after: Mapping[str, TablesPosition] | None) -> bool:
        with closing(_writing(copy, megabytes)) as connection, bound.over(connection):
            is_done = _filled(connection, logs, settings, after)
            if is_done:
                connection.execute("CHECKPOINT analytics")  # all of it is on the disk
            return is_done

    with _replacing(path) as copy:
        if after is not None:
            _copy(path, copy)
            if is_filled(after):
                return
            copy.unlink()
        is_filled(None)


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Let nobody's query reach other files, or frames of the program, or change what it may do; for
    good."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


# ---------------------------------------------------------------------------------- the content


def _filled(
    connection: duckdb.DuckDBPyConnection,
    logs: Mapping[str, Log],
    settings: Settings,
    after: Mapping[str, TablesPosition] | None,
) -> bool:
    """Add what is new, or, after None, make it all; False, and nothing done, where it has to be
    made anew."""
    connection.execute("BEGIN")
    if after is None:
        create(connection)
    keep_settings(connection, settings)
    is_done = fill(connection, logs, after or {name: TablesPosition() for name in LOGS})
    connection.execute("COMMIT" if is_done else "ROLLBACK")
    return is_done


def _is_current(known: _Known, logs: Mapping[str, Log], settings: Settings) -> bool:
    """Whether there is nothing to add to a file that is trusted."""
    is_at_end = all(known.positions[name].n == log.tail().n for name, log in logs.items())
    return is_at_end and known.settings == _settings(settings)


def _settings(settings: Settings) -> tuple[object, ...]:
    return (home_line(settings), *price_lines(settings))


def _trusted(
    known: _Known | None, logs: Mapping[str, Log], settings: Settings
) -> dict[str, TablesPosition] | None:
    """The positions to go on from; None where the tables are to be made anew: costs in them are
    by the prices of then."""
    if known is None or known.schema_version != SCHEMA_VERSION or set(known.positions) != {*LOGS}:
        return None
    if known.settings[1:] != _settings(settings)[1:]:
        return None
    for name, position in known.positions.items():
        if digest_at(logs[name], position.n) != position.digest:
            return None
    return known.positions if any(one.n for one in known.positions.values()) else None


def _known(path: Path) -> _Known | None:
    """What a file says of itself; None where there is none or it cannot be read."""
    if not path.exists():
        return None
    try:
        with closing(_reading(path)) as connection:
            version, *told = connection.execute("FROM home").fetchall()[0]
            prices = connection.execute("FROM prices ORDER BY model, since NULLS FIRST").fetchall()
            positions = connection.execute("SELECT log, n, digest FROM positions").fetchall()
    except (duckdb.Error, OSError, IndexError):
        return None
    reached = {name: TablesPosition(n, digest) for name, n, digest in positions}
    return _Known(version, (tuple(told), *prices), reached)


# ------------------------------------------------------------------------------------- the file


def _reading(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection of its own to the file that stands there now: DuckDB would hand out an older
    one that is open still, if it were opened by its name."""
    return _attached(path, "READ_ONLY")


def _writing(path: Path, megabytes: int) -> duckdb.DuckDBPyConnection:
    """To a copy that a crash makes worthless anyway: without a log of its own to write first."""
    connection = _attached(path, "RECOVERY_MODE no_wal_writes")
    limit_memory(connection, megabytes, _spill(path))
    return connection


def _spill(path: Path) -> Path:
    """Where a load that needs more memory than it may have writes, for as long as it lasts."""
    return path.with_name(f"{path.name}.spill")


def _attached(path: Path, how: str) -> duckdb.DuckDBPyConnection:
    connection = _connected()
    try:
        name = str(path).replace("'", "''")
        connection.execute(f"ATTACH '{name}' AS analytics ({how})")
        connection.execute("USE analytics")
    except BaseException:
        connection.close()
        raise
    return connection


def _connected() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config=_CONFIG)
    connection.execute("SET TimeZone = 'UTC'")  # whatever the machine's is
    return connection


def _copy(path: Path, copy: Path) -> None:
    """Copy the file in a process of its own: closing it by hand here would drop the locks of all
    connections that this process has to it, of a notebook for example (ADR 20)."""
    command, plain = ["cp", "--", str(path), str(copy)], {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    if done.returncode:
        is_full = os.strerror(errno.ENOSPC) in done.stderr
        raise OSError(errno.ENOSPC if is_full else errno.EIO, done.stderr.strip())


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of another one at the end, if all went well."""
    copy = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    copy.touch(mode=0o600)
    copy.unlink()  # it was only to see whether the folder can be written
    try:
        yield copy
        copy.chmod(0o600)
        copy.replace(path)
    finally:
        for left in (copy, copy.with_name(f"{copy.name}.wal")):
            left.unlink(missing_ok=True)
        shutil.rmtree(_spill(copy), ignore_errors=True)


def remove_left(home: Path, age_min: float = LEFT_SECONDS) -> None:
    """Remove what a crash left behind, once it is so many seconds old: somebody may still write."""
    for left in home.glob(f".{files.ANALYTICS}.*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > age_min:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
