"""No database of a home is opened by hand, whatever is done: Python itself tells of each opening.

Closing such a file would drop the locks of this process on it (ADR 20).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.home.files import is_database
from adapters.wiring import open_home
from tests.support.cli import done, refused, run, told
from tests.support.pages import visiting
from tests.support.waking import agent

OPENED: list[list[str]] = []
"""Who listens, and what was opened since."""


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if OPENED and event == "open" and isinstance(args[0], str | bytes):
        name = os.fsdecode(args[0])
        if is_database(name):
            OPENED[-1].append(name)


sys.addaudithook(_hear)  # it cannot be taken away again, but hears nothing outside of `listening`


@contextmanager
def listening() -> Iterator[list[str]]:
    """The databases that were opened by hand meanwhile."""
    found: list[str] = []
    OPENED.append(found)
    try:
        yield found
    finally:
        OPENED.remove(found)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    agent(home)
    done(["wake"], home)
    done(["task", "note", "Fix the sink", "Takes about 2 hours."], home)
    return home


def test_no_command_opens_a_database_by_hand(home: Path) -> None:
    file = home.parent / "TODO.md"
    file.write_text("- [ ] Mow the lawn\n", encoding="utf-8")
    with listening() as found:
        done(["import", str(file)], home)
        done(["wake", "Fix the sink"], home)
        for command in (
            ["sql", "SELECT count(*) FROM wakes"],
            ["metrics"],
            ["export", "--parquet", str(home.parent / "exported")],
            ["fork", told(["wakes"], home)[0]["run_key"], "--out", str(home.parent / "fork")],
            ["backup", str(home.parent / "copy")],
            ["prove"],
            ["rebuild"],
            ["recover"],
            ["status"],
            ["doctor"],
            ["export-history", "--all"],
        ):
            done(command, home)
        done(["task", "note", "Fix the sink", "Takes about 3 hours."], home)
        done(["sql", "SELECT count(*) FROM wakes"], home)  # onto the file that is there
    assert found == []


def test_no_page_and_no_job_opens_a_database_by_hand(home: Path) -> None:
    with listening() as found, visiting(home) as visitor:
        (listed,) = visitor.json("/agents")["agents"]
        page = f"/agents/{listed['id']}"
        visitor.page("/templates")
        visitor.send(visitor.form(page, f"{page}/wake"))
        visitor.send(visitor.form("/health", "/prove"))
    assert found == []


@pytest.mark.parametrize("name", ["journal.db", "agent.db-wal", "analytics.duckdb"])
def test_a_database_that_a_person_names_as_a_text_is_refused_unread(home: Path, name: str) -> None:
    done(["sql", "SELECT 1"], home)
    hidden, file = home.parent / "TODO.md", str(home / name)
    hidden.symlink_to(home / name)
    task = "Fix the sink"
    with open_home(home, {}), listening() as found:  # so that each of the files is there
        for one in (file, str(hidden)):
            imported = run(["import", one], home)
            assert (imported.exit_code, imported.stderr.count("is a database of a home")) == (2, 1)
        assert "cannot be watched" in refused(["run", "--until-idle", "--watch", file], home)
        for command in (
            ["task", "note", task, "--file", file],
            ["template", "create", "Calm", "--general-file", file],
            ["prove", "--anchor", file],
            ["export-history", "--all", "--out", file],
            ["--model", f"tape:{file}", "wake", task],
        ):
            assert "is a database of a home" in refused(command, home)
    assert found == []


def test_a_hand_that_opens_one_is_heard(home: Path) -> None:
    with listening() as found:
        (home / "agent.db").read_bytes()
    assert found == [str(home / "agent.db")]
