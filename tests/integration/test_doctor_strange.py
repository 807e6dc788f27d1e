"""What another program put into a log file is a finding of doctor; prove reads rows alone."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.upkeep.doctor import CheckOutcome, examine
from tests.support.cli import done

pytestmark = pytest.mark.slow  # a home on disk for each

TRIGGER = "CREATE TRIGGER spy AFTER INSERT ON stored_events BEGIN DELETE FROM payloads; END"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("doctor") / "home"
    done(["task", "add", "Fix the sink"], path)
    return path


def findings(path: Path) -> Iterator[CheckOutcome]:
    return (one for one in examine(path, {}) if one.check == "journal.db" and not one.is_ok)


def test_a_file_as_wakelog_makes_it_is_no_finding(home: Path) -> None:
    assert list(findings(home)) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (TRIGGER, "the trigger 'spy', which is not wakelog's"),
        ("CREATE TABLE notes (text)", "the table 'notes'"),
        ("CREATE VIEW rows AS SELECT 1", "the view 'rows'"),
        ("UPDATE stored_events SET state = CAST(state AS TEXT)", "hold state that is no bytes"),
        ("INSERT INTO payloads VALUES ('a', 'text')", "1 of its payloads hold bytes"),
        ("PRAGMA user_version = 0", "format 0, and this wakelog knows 1"),
        ("PRAGMA user_version = -7", "format -7, and this wakelog knows 1"),
    ],
)
def test_what_is_not_ours_is_a_finding(
    home: Path, tmp_path: Path, statement: str, told: str
) -> None:
    path = tmp_path / "home"
    shutil.copytree(home, path)
    with closing(sqlite3.connect(path / "journal.db")) as connection:
        connection.execute(statement)
        connection.commit()
    (one,) = findings(path)
    assert told in one.told


def test_a_text_that_no_row_names_is_a_finding(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "home"
    shutil.copytree(home, path)
    with closing(sqlite3.connect(path / "journal.db")) as connection:
        connection.execute("INSERT INTO payloads VALUES (?, x'00')", ("a" * 32,))
        connection.commit()
    told = [one.told for one in examine(path, {}) if one.check == "orphans" and not one.is_ok]
    assert told == ["1 texts of the journal log are named by no row"]
