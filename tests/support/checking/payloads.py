"""Law 6 on payloads: each is there, is what its id says, and belongs to its row's unit; and no
secret of the environment stands anywhere in a home."""

import os
import re
import sqlite3
from collections.abc import Container, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

from tests.support.checking.erasing import gone
from tests.support.checking.logs import (
    SHARED,
    Append,
    Finding,
    Home,
    Log,
    Row,
    connected,
    entries,
    key,
)

NAMES = {
    "payload",
    "snapshot",
    "specs",
    "document",
    "lines",
    "reply",
    "before",
    "after",
    "words",
    "listed",
}
ID = re.compile(r"[a-z2-7]{32}")
INLINE_MAX_BYTES = 1024
SECRET_MIN = 16  # characters; a shorter value may stand in a text by chance
SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|HEADERS)$")
DATABASES = ("journal.db", "agent.db", "views.db", "runtime.db")
TEXT_MAX_BYTES = 1 << 20


def check(home: Home) -> Iterator[Finding]:
    """All payloads of both logs."""
    tasks = _tasks(home)
    units = sorted({row.entity for _, row in home.journal.rows if row.kind == "task"})
    for log in home.logs:
        yield from _named(log, tasks, [SHARED, *units])
    together = home.journal.payloads is home.agents.payloads  # of a history
    for log in home.logs:
        names = {one for known in (home.logs if together else (log,)) for one in _all(known)}
        for wanted in log.payloads.keys() - names:
            yield Finding(6, log.name, f"no row names the payload {wanted}")


def _all(log: Log) -> Iterator[str]:
    return (wanted for _, row in log.rows for wanted in named(row))


def named(row: Row) -> Iterator[str]:
    """The ids of the payloads that a row names."""
    for name, value in entries(row.data):
        if name in NAMES and isinstance(value, str) and ID.fullmatch(value):
            yield value


def _tasks(home: Home) -> dict[str, str]:
    """Which task an agent, a wake or a change set is about."""
    found: dict[str, str] = {}
    for _, row in home.agents.rows:
        if row.topic == "agent.created.1":
            found[row.entity] = row.data["task"] or f"agent:{row.entity}"
        elif row.topic == "wake.started.1":
            unit = row.data["task"] or f"agent:{row.data['agent']}"
            found[row.entity] = found[key("changes", row.entity)] = unit
    return found


def _named(log: Log, tasks: Mapping[str, str], units: list[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    erased = gone(log)
    for one in log.appends:
        yield from _inline(one)
        for wanted, topic in {
            wanted: row.topic for row in one.rows for wanted in named(row)
        }.items():
            if wanted not in seen and (
                fault := _fault(log, wanted, _units(one, tasks), units, erased)
            ):
                yield Finding(6, one.where, f"the payload {wanted} of {topic} {fault}")
            seen.add(wanted)


def _fault(log: Log, wanted: str, own: list[str], units: list[str], erased: Container[str]) -> str:
    data = log.payloads.get(wanted)
    if data is None:
        return "" if wanted in erased else "is gone"
    if any(key("payload", unit, data) == wanted for unit in own):
        return ""
    other = next((unit for unit in units if key("payload", unit, data) == wanted), "")
    return f"belongs to the unit {other}" if other else "is not what its id says"


def _units(one: Append, tasks: Mapping[str, str]) -> list[str]:
    """The units that an append is about."""
    found: list[str] = [SHARED]
    for row in one.rows:
        found.append(row.entity if row.kind in ("task", "links") else tasks.get(row.entity, ""))
        for name, value in entries(row.data):
            if name in ("task", "target"):
                found.append(str(value))
            elif name in ("agent", "runKey", "changes") and isinstance(value, str):
                found.append(tasks.get(value, ""))
    return [unit for unit in dict.fromkeys(found) if unit]


def _inline(one: Append) -> Iterator[Finding]:
    """Words of more than 1 KiB do not stand in a row."""
    for row in one.rows:
        for name, value in entries(row.data):
            is_words = isinstance(value, dict) and set(value) == {"text"}
            if is_words and len(str(value["text"]).encode()) > INLINE_MAX_BYTES:
                yield Finding(10, one.where, f"{name} of {row.topic} stands in the row")


# --------------------------------------------------------------------------------------- secrets


def secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """What must not stand in a home: values of variables that are called like a secret."""
    return {
        name: value
        for name, value in environ.items()
        if SECRET.search(name.upper()) and len(value) >= SECRET_MIN
    }


def check_secrets(home: Home, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """No value of a secret stands in any table or file of a home."""
    known = {name: value.encode() for name, value in secrets(environ).items()}
    if not known or home.folder.is_file():
        return
    for where, data in _contents(home.folder):
        for name, value in known.items():
            if value in data:
                yield Finding(8, where, f"the value of {name} stands in it")


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in DATABASES:
        if (folder / name).exists():
            yield from _cells(folder / name)
    for file in sorted(folder.glob("*")):
        is_text = file.is_file() and file.stem.partition(".")[0] not in ("journal", "agent")
        if is_text and ".db" not in file.name and "duckdb" not in file.name:
            with file.open("rb") as opened:
                yield file.name, opened.read(TEXT_MAX_BYTES)


def _cells(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every text and blob of a database. It is asked, not read: closing a file that this process
    has open elsewhere would drop its locks."""
    with (
        closing(connected(path)) as file,
        suppress(sqlite3.DatabaseError),  # of a file that is just being made
    ):
        tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            cells = chain.from_iterable(file.execute(f'SELECT * FROM "{table}"'))
            for cell in (cell for cell in cells if isinstance(cell, str | bytes)):
                yield f"{path.name}: {table}", cell if isinstance(cell, bytes) else cell.encode()
