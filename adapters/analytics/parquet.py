"""The analytics tables as Parquet files, for tools that do not read DuckDB's own."""

from pathlib import Path

import duckdb

from adapters.analytics.query_limits import refused_query
from adapters.analytics.rows import SCHEMA_VERSION, documentation, number
from adapters.home.files import close_to_others
from domain.errors import Refused, invalid
from domain.log import canonical

README = "README.md"
_HEAD = f"<!-- wakelog analytics export, schema {SCHEMA_VERSION} -->\n"
_PARTITIONED = {
    "events": ("log, month", "occurred_at"),
    "causes": ("log, month", "occurred_at"),
    "wakes": ("month", "queued_at"),
}
"""By what a big table is split, and the time its month is taken from; others are one file."""


def export_parquet(
    connection: duckdb.DuckDBPyConnection, folder: Path, holds: str = ""
) -> dict[str, int]:
    """Write every table below a folder, with a README of the schema; how many rows each has. An
    earlier export in it is replaced. `holds`: what is personal in it, for its README. Raises
    Refused, code ``invalid_value`` or ``read_only``: the folder holds something else, or cannot be
    written; or as `analytics_bounds` says."""
    if canonical.clean(str(folder)) != str(folder):
        raise invalid(f"the path {folder} is no UTF-8, as DuckDB needs it", "name another folder")
    try:
        _prepare(folder)
        counts: dict[str, int] = {}
        for table in _tables(connection):
            counts[table] = number(connection, f"SELECT count(*) FROM {table}")
            _copy(connection, table, folder)
        (folder / README).write_text(f"{_HEAD}{holds}\n\n{documentation()}", "utf-8")
        close_to_others(folder.rglob("*"))
    except (duckdb.InterruptException, duckdb.OutOfMemoryException) as error:
        raise refused_query(error) from None
    except (OSError, duckdb.IOException) as error:
        because = f"{folder} cannot be written: {error}"
        instead = "free space, give yourself permission, or name another folder"
        raise Refused("read_only", because=" ".join(because.split()), instead=instead) from None
    return counts


def _prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        (folder / README).write_text(_HEAD, "utf-8")  # from here on the folder is ours
    readme = folder / README
    head = "<!-- wakelog analytics export"
    if not readme.is_file() or not readme.read_text("utf-8", "replace").startswith(head):
        instead = "name a folder that is empty, new, or an earlier export"
        raise invalid(f"{folder} holds other files", instead)


def _tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    sql = "SELECT table_name FROM duckdb_tables() WHERE NOT temporary ORDER BY table_name"
    return [str(row[0]) for row in connection.execute(sql).fetchall()]


def _copy(connection: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
    named = str(folder / table).replace("'", "''")
    if table not in _PARTITIONED:
        (folder / table).mkdir(exist_ok=True)
        connection.execute(f"COPY {table} TO '{named}/{table}.parquet' (FORMAT parquet)")
        return
    keys, time = _PARTITIONED[table]
    connection.execute(
        f"COPY (SELECT *, strftime({time}, '%Y-%m') AS month FROM {table}) TO '{named}' "
        f"(FORMAT parquet, PARTITION_BY ({keys}), OVERWRITE)"
    )
