"""Folds every view anew and compares it with what is stored; the home's own file is only read.

Views bring themselves up to date, so a copy of the file may do so before it is compared: what is
found then was not made from this log."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from adapters.home.views import Views
from adapters.proof.prove import Proved
from adapters.store.document_store import SharedDocumentStore
from adapters.store.log import LogProgress
from adapters.store.sqlite_documents import SqliteDocumentStore
from adapters.wiring import Home
from projections.all_views import VIEWS
from replay.divergence import VIEW, Divergence, path_within, shortened

SHOWN_MAX = 100  # documents that are named
BATCH_APPENDS = 5_000  # nobody waits for the lock: what changes often is written less often

_SAME = " AND ".join(
    f"one.{name} IS other.{name}"
    for name in ("document", "shelf", "place", "mark", "due", "tally", "turn")
)
# Both are read in the order of their keys: nothing is sorted, and no document is copied.
_EITHER = """
SELECT one.view AS view, one.key AS key FROM {one}.documents AS one
LEFT JOIN {other}.documents AS other ON other.view = one.view AND other.key = one.key
WHERE {lacks}
"""
_DIFFERENT = f"""
{_EITHER.format(one="fresh", other="stored", lacks=f"NOT ({_SAME})")}
UNION
{_EITHER.format(one="stored", other="fresh", lacks="other.key IS NULL")}
ORDER BY 1, 2 LIMIT {SHOWN_MAX}
"""


def with_views(home: Home, proved: Proved) -> Proved:
    """A proof of both logs that found nothing, and what is to be said of the views."""
    return replace(proved, divergences=tuple(differing_views(home)))


def differing_views(home: Home, progress: LogProgress | None = None) -> list[Divergence]:
    """The documents that are not what the logs make, at most `SHOWN_MAX` of them."""
    where = home.place.documents()
    if not home.exists or (isinstance(where, Path) and not where.exists()):
        return []
    logs = {"journal": home.services.journal, "agent": home.services.agents}
    with tempfile.TemporaryDirectory(prefix="wakelog-prove-") as folder:
        stored, fresh = Path(folder) / "stored.db", Path(folder) / "fresh.db"
        if not _copied(where, stored):
            return []
        for file in (stored, fresh):
            views = Views(file, logs, batch_appends=BATCH_APPENDS)
            views.catch_up(progress)
            views.close()
        return list(_compared(stored, fresh))


def _copied(where: SharedDocumentStore | Path, to: Path) -> bool:
    """Whether it could be read; what cannot is made anew by the next command."""
    if not isinstance(where, Path):
        try:
            with closing(SqliteDocumentStore(to, VIEWS)) as target:
                where.copy(target, VIEWS)
        except where.broken:
            return False
        return True
    try:
        with (
            closing(sqlite3.connect(f"{where.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(to)) as target,
        ):
            source.backup(target)
    except sqlite3.Error:
        return False
    return True


def _compared(stored: Path, fresh: Path) -> Iterator[Divergence]:
    logs = {view.name: view.log for view in VIEWS}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("ATTACH ? AS stored", (str(stored),))
        connection.execute("ATTACH ? AS fresh", (str(fresh),))
        for view, key in connection.execute(_DIFFERENT).fetchall():
            expected, actual = (
                _document(connection, name, view, key) for name in ("fresh", "stored")
            )
            log = str(logs.get(view, ""))
            yield Divergence(
                log, log, f"view:{view}", 0, VIEW, _path(view, key, expected, actual),
                shortened(expected), shortened(actual),
            )  # fmt: skip


def _document(connection: sqlite3.Connection, name: str, view: str, key: str) -> str:
    # the name is one of two written above
    sql = f"SELECT shelf, place, document FROM {name}.documents WHERE view = ? AND key = ?"
    found = connection.execute(sql, (view, key)).fetchone()
    if found is None:
        return ""
    shelf, place, document = found
    told = document.decode("utf-8", "replace") if isinstance(document, bytes) else str(document)
    return f"{shelf} {place} {told}"


def _path(view: str, key: str, expected: str, actual: str) -> str:
    def document(told: str) -> Any:
        try:
            return json.loads("{" + told.partition("{")[2])
        except ValueError:
            return None

    inner = path_within(document(expected), document(actual))
    return f"{view}.{key}{'.' if inner else ''}{inner}"
