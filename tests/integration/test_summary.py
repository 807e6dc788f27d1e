"""`wakelog summary`: what was open, made and done, by week and by category."""

from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.support.cli import done, proved, refused, run, told
from tests.support.terminal import on_terminal

LONG = "長い名前のカテゴリー" * 6


def on(day: str, *args: str, home: Path, at: str = "12:00") -> None:
    done([*args], home, env={"WAKELOG_NOW": f"2026-{day}T{at}:00Z"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Four weeks of Berlin; 2026-12-07 is a Monday, of week 50."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('timezone = "Europe/Berlin"\n')
    on("11-20", "add", "Old", "--category", "Work", home=home)
    on("12-06", "add", "Sunday", "--category", "Work/Site", at="22:30", home=home)
    on("12-06", "add", "Monday", "--category", LONG, at="23:30", home=home)
    on("12-08", "add", "Twice", "--category", "Workshop", home=home)
    on("12-08", "add", "Gone", "--category", "Work", home=home)
    on("12-09", "done", "Twice", "Gone", home=home)
    on("12-10", "delete", "Gone", home=home)
    on("12-15", "edit", "Twice", "--status", "open", home=home)
    on("12-16", "done", "Sunday", home=home)
    on("12-22", "done", "Twice", "Monday", home=home)
    on("12-22", "undo", at="12:10", home=home)
    on("12-23", "edit", "Twice", "--status", "rejected", home=home)
    return home


def weeks(found: Any) -> dict[str, tuple[int, int, int]]:
    return {one["name"]: (one["open"], one["created"], one["done"]) for one in found["weeks"]}


def test_each_week_has_what_was_open_at_its_end_made_and_done_in_it(home: Path) -> None:
    then = {"WAKELOG_NOW": "2026-12-27T22:59:00Z"}
    found = told(["summary", "--weeks", "5"], home, env=then)
    assert weeks(found) == {
        "2026-W48": (1, 0, 0),
        "2026-W49": (2, 1, 0),  # on Sunday, late
        "2026-W50": (3, 2, 1),  # what was made and done, and deleted, does not count
        "2026-W51": (3, 0, 1),
        "2026-W52": (2, 0, 0),  # what was undone, and what was rejected, was not done
    }
    assert list(weeks(told(["summary"], home)))[-1] == "2026-W53"
    late = {"WAKELOG_NOW": "2026-12-27T23:01:00Z"}  # Monday where the home is
    assert list(weeks(told(["summary"], home, env=late)))[-1] == "2026-W53"
    assert len(weeks(told(["summary"], home))) == 8
    assert proved(home)


def test_categories_have_what_is_open_and_what_these_weeks_brought(home: Path) -> None:
    then = {"WAKELOG_NOW": "2026-12-27T12:00:00Z"}
    found = told(["summary", "--weeks", "3"], home, env=then)["categories"]
    assert [tuple(one.values()) for one in found] == [
        ("Work", 1, 0, 0),
        ("Work/Site", 0, 0, 1),
        ("Workshop", 0, 1, 1),
        (LONG, 1, 1, 0),
    ]
    below = told(["summary", "--category", "WORK"], home, env=then)
    assert [one["name"] for one in below["categories"]] == ["Work", "Work/Site"]
    assert weeks(below)["2026-W51"] == (1, 0, 1)
    assert "there is no category 'Wor'" in refused(["summary", "--category", "Wor"], home)


def test_it_is_a_table_that_fits_and_plain_in_a_pipe(home: Path) -> None:
    then = {"WAKELOG_NOW": "2026-12-27T12:00:00Z"}
    piped = done(["summary", "--weeks", "3"], home, env=then).splitlines()
    assert piped[1] == f"2026-W50\t3\t2\t1\t{'#' * 20}"
    assert piped[5] == "Category\tOpen\tCreated\tDone\tBar"
    assert f"{LONG}\t1\t1\t0\t{'#' * 20}" in piped
    for columns in (80, 40):
        with on_terminal(home, "summary", env={**then, "COLUMNS": str(columns)}) as terminal:
            status, shown = terminal.ended()
        assert status == 0
        assert max(map(cell_len, shown.splitlines())) <= columns
        assert "Work/Site" in shown
        assert ("█" * 20 in shown) is (columns == 80)


def test_an_empty_home_is_helped(tmp_path: Path) -> None:
    assert "wakelog import" in done(["summary"], tmp_path / "none")
    assert told(["summary"], tmp_path / "none")["categories"] == []
    assert not (tmp_path / "none").exists()
    assert run(["summary", "--weeks", "0"], tmp_path).exit_code == 2
