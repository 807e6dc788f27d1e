"""The analytics file: filled, refreshed, thrown away, read while it changes."""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pytest

from adapters.analytics.database import connect, opened, refresh
from adapters.analytics.rows import LINE_BYTES, SCHEMA_VERSION, TablesPosition, create, statements
from adapters.home.files import ANALYTICS
from adapters.home.prices import Price
from adapters.home.settings import Settings
from adapters.store.log import Log
from domain.append.envelope import Row
from domain.journal.commands import CreateTask
from tests.support.analysed import Tables, template
from tests.support.lives import PROPOSE, REPORT, Life

BERLIN = Settings(timezone="Europe/Berlin", prices={"rules": (Price(1_250_000, 10_000_000),)})


class Kept:
    """A home's logs in files, with one agent's life in them."""

    def __init__(self, home: Path, task: str = "mend the roof") -> None:
        home.mkdir(exist_ok=True)
        self.home = home
        self.logs = {
            name: Log.open(name, home / f"{name}.db", "r1") for name in ("journal", "agent")
        }
        self.life = Life(self.logs["agent"], task)
        self.life.create()

    def refresh(self, settings: Settings = BERLIN) -> bool:
        return refresh(self.home, self.logs, settings)

    # quoted, or at the exit DuckDB counts the classes that this annotation leads to as leaked
    def connect(self, settings: Settings = BERLIN) -> "duckdb.DuckDBPyConnection":
        return opened(self.home, self.logs, settings)

    def ask(self, sql: str, settings: Settings = BERLIN) -> list[Any]:
        with self.connect(settings) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    for log in made.logs.values():
        log.close()


def fresh(kept: Kept) -> list[Any]:
    """All events and wakes."""
    return kept.ask("SELECT log, n, row_n, tag FROM events ORDER BY ALL") + kept.ask(
        "FROM wakes ORDER BY ALL"
    )


# -------------------------------------------------------------------------------------- the file


def test_a_file_that_is_thrown_away_is_made_again(kept: Kept) -> None:
    kept.life.run(PROPOSE)
    before = fresh(kept)
    (kept.home / ANALYTICS).unlink()
    assert fresh(kept) == before


def test_nothing_is_written_where_nothing_is_new(kept: Kept) -> None:
    assert kept.refresh()
    before = (kept.home / ANALYTICS).stat()
    assert not kept.refresh()
    after = (kept.home / ANALYTICS).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("content", [b"", b"This is no database.", b"\0" * 20_000])
def test_a_file_that_cannot_be_read_is_made_anew(kept: Kept, content: bytes) -> None:
    before = fresh(kept)
    (kept.home / ANALYTICS).write_bytes(content)
    assert fresh(kept) == before


def test_a_file_of_another_schema_is_made_anew(kept: Kept) -> None:
    kept.refresh()
    with duckdb.connect(str(kept.home / ANALYTICS)) as connection:
        connection.execute("UPDATE home SET schema_version = ?", [SCHEMA_VERSION + 1])
        connection.execute("DROP TABLE wakes CASCADE")
    assert kept.ask("SELECT count(*) FROM wakes") == [(1,)]


def test_a_log_with_another_past_is_read_from_its_beginning(tmp_path: Path) -> None:
    one, two = Kept(tmp_path / "one"), Kept(tmp_path / "two", "paint the fence")
    one.refresh()
    two.life.run(PROPOSE)
    (tmp_path / "one" / ANALYTICS).rename(tmp_path / "two" / ANALYTICS)
    expected = {row.stream for row in two.logs["agent"].rows()}
    assert {stream for (stream,) in two.ask("SELECT stream FROM events")} == expected


def test_a_reader_keeps_what_it_has_opened_and_blocks_nobody(kept: Kept) -> None:
    with kept.connect() as reader:
        kept.life.run(PROPOSE)
        assert kept.refresh()
        counted = reader.execute("SELECT count(*) FROM wakes WHERE outcome = 'completed'")
        assert counted.fetchall() == [(0,)]
        assert kept.ask("SELECT count(*) FROM wakes WHERE outcome = 'completed'") == [(1,)]


class Torn(Log):
    """A log whose disk fails while it is read."""

    def rows(self, after: int = 0) -> Iterator[Row]:
        yield from islice(super().rows(after), 2)
        raise ConnectionError("the disk is gone")


def test_a_refresh_that_fails_leaves_the_file_as_it_was(kept: Kept) -> None:
    kept.refresh()
    before = (kept.home / ANALYTICS).read_bytes()
    kept.life.run(PROPOSE)
    kept.logs["agent"].close()
    kept.logs["agent"] = Torn.open("agent", kept.home / "agent.db", "r1")
    with pytest.raises(ConnectionError):
        kept.refresh()
    assert (kept.home / ANALYTICS).read_bytes() == before
    assert [one.name for one in kept.home.glob(f".{ANALYTICS}*")] == []


def contents(kept: Kept) -> dict[str, list[Any]]:
    """All rows of all tables."""
    with kept.connect() as reader:
        names = reader.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary")
        return {
            name: reader.execute(f"FROM {name} ORDER BY ALL").fetchall()
            for (name,) in names.fetchall()
        }


def test_a_tail_of_one_log_alone_leaves_the_tables_that_all_at_once_would_make(kept: Kept) -> None:
    def grown() -> dict[str, list[Any]]:
        found = contents(kept)
        (kept.home / ANALYTICS).unlink()
        assert found == contents(kept)
        return found

    kept.life.run(PROPOSE)
    before = grown()
    kept.logs["journal"].append(CreateTask("a new task"), "2026-03-01T09:00:00.000000Z")
    tasks = grown()
    assert tasks["tasks"] != before["tasks"]
    assert tasks["wakes"] == before["wakes"]
    template(kept.logs["agent"], "Laura")
    templates = grown()
    assert templates["templates"] != tasks["templates"]
    kept.life.ask()
    kept.life.run(REPORT)
    assert grown()["wakes"] != templates["wakes"]


def test_a_tail_runs_only_the_sql_that_its_kinds_of_rows_concern(kept: Kept) -> None:
    kept.logs["journal"].append(CreateTask("a task"), "2026-03-01T09:00:00.000000Z")
    tables = Tables(kept.logs["agent"], kept.logs["journal"])
    tables.connection.execute("DROP TABLE tool_rows")
    kept.logs["journal"].append(CreateTask("another"), "2026-03-01T09:00:01.000000Z")
    tables.catch_up()
    assert tables.one("SELECT count(*) FROM tasks") == 2
    assert not tables.ask("FROM duckdb_tables() WHERE table_name = 'tool_rows'")


def test_a_reader_cannot_write(kept: Kept) -> None:
    with kept.connect() as reader, pytest.raises(duckdb.Error, match="read-only"):
        reader.execute("DELETE FROM wakes")


def test_a_home_that_is_not_there_answers_with_nothing(tmp_path: Path) -> None:
    with connect(tmp_path / "none", {}) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchall() == [(0,)]
    assert not (tmp_path / "none").exists()


def test_other_settings_are_heeded_without_a_new_row_in_the_log(kept: Kept) -> None:
    kept.refresh()
    assert kept.ask("SELECT timezone FROM home") == [("Europe/Berlin",)]
    assert kept.ask("SELECT timezone FROM home", Settings()) == [("UTC",)]
    assert kept.ask("FROM prices", Settings()) == []


# ----------------------------------------------------------------------------- days and zones


SPRING_IN_BERLIN = {
    "2027-03-27T22:59:59": "2027-03-27",
    "2027-03-27T23:00:00": "2027-03-28",  # midnight, still winter time
    "2027-03-28T21:59:59": "2027-03-28",  # the day has 23 hours
    "2027-03-28T22:00:00": "2027-03-29",
    "2027-03-30T22:00:00": "2027-03-31",
}
AUTUMN_IN_BERLIN = {
    "2027-10-30T21:59:59": "2027-10-30",
    "2027-10-30T22:00:00": "2027-10-31",
    "2027-10-31T22:59:59": "2027-10-31",  # the day has 25 hours
    "2027-10-31T23:00:00": "2027-11-01",
    "2027-11-02T23:00:00": "2027-11-03",
}
SPRING_IN_NEW_YORK = {
    "2027-03-14T04:59:59": "2027-03-13",
    "2027-03-14T05:00:00": "2027-03-14",
    "2027-03-15T03:59:59": "2027-03-14",
    "2027-03-15T04:00:00": "2027-03-15",
    "2027-03-17T04:00:00": "2027-03-17",
}
AUTUMN_IN_NEW_YORK = {
    "2027-11-07T03:59:59": "2027-11-06",
    "2027-11-07T04:00:00": "2027-11-07",
    "2027-11-08T04:59:59": "2027-11-07",
    "2027-11-08T05:00:00": "2027-11-08",
    "2027-11-10T05:00:00": "2027-11-10",
}


@pytest.mark.parametrize(
    ("zone", "times"),
    [
        ("Europe/Berlin", SPRING_IN_BERLIN),
        ("Europe/Berlin", AUTUMN_IN_BERLIN),
        ("America/New_York", SPRING_IN_NEW_YORK),
        ("America/New_York", AUTUMN_IN_NEW_YORK),
    ],
)
def test_a_wake_stands_on_its_day_where_the_clocks_change(zone: str, times: dict[str, str]) -> None:
    with duckdb.connect() as connection:
        create(connection)
        connection.execute("UPDATE home SET timezone = ?", [zone])
        for nth, time in enumerate(times):
            connection.execute(
                "INSERT INTO wakes (run_key, started_at, ended_at, duration_seconds, outcome) "
                "VALUES ($1, $2, $2::TIMESTAMP + INTERVAL 10 SECOND, 10, 'completed')",
                [str(nth), time],
            )
        found = connection.execute("SELECT day, total_wakes FROM wake_series").fetchall()
    expected = [date.fromisoformat(day) for day in times.values()]
    first, last = min(expected), max(expected)
    days = [date.fromordinal(one) for one in range(first.toordinal(), last.toordinal() + 1)]
    assert found == [(day, expected.count(day)) for day in days]
    assert 0 in [count for _, count in found]  # the gap is filled


# ------------------------------------------------------------------------------ where it is from


def test_no_statement_names_a_row_by_its_rowid() -> None:
    for name in ("tables", "rows", "touched", "entities", "proposals", "journal", "questions"):
        assert "rowid" not in statements(name).lower()


def test_a_position_is_kept_with_the_rows_it_stands_for() -> None:
    life = Life()
    life.create()
    tables = Tables(life.log)
    tail = life.log.tail()
    assert tables.reached["agent"] == TablesPosition(tail.n, tail.digest)
    assert tables.one("SELECT events FROM positions WHERE log = 'agent'") == life.log.count()


def test_a_row_may_be_longer_than_duckdb_takes_unasked() -> None:
    log = Log.in_memory("journal")
    key = "long" * (LINE_BYTES // 4)
    log.append(CreateTask("mend the roof"), "2027-01-01T00:00:00.000000Z", key=key)
    tables = Tables(Log.in_memory("agent"), log)
    assert tables.one("SELECT key FROM causes WHERE kind = 'command'") == key
    assert tables.one("SELECT count(*) FROM events") == log.count()
