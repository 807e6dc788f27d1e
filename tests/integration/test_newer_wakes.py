"""A wake that a newer wakelog made, of a scaffold that nobody here knows: it is told of and not
proved, and never taken for a forged one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.machines import pair
from tests.support.pages import text_of, visiting
from tests.support.process import until
from tests.support.rows import made_newer

TASK = "Fix the sink"
MADE = "made by a newer wakelog (scaffold 9)"
FIELD = ',"tellsDays":true'
"""What a newer one writes besides: with it, nobody here can read the row."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose agent woke twice."""
    home = tmp_path / "home"
    done(["add", TASK, "--category", "House"], home)
    done(["agent", "create", TASK], home)
    done(["wake"], home)
    done(["note", TASK, "It takes about 2 hours. Due by 2027-03-04."], home)
    done(["wake"], home)
    assert proved(home)
    return home


def test_a_wake_of_a_newer_scaffold_is_not_proved_and_all_else_is(home: Path) -> None:
    key = made_newer(home, 9)
    for _ in range(2):  # and life goes on
        document = not_proved(home)
        assert document["divergences"] == []
        assert document["newer"] == {"9": 1}
        assert 0 < document["folded"] < document["causes"]
        assert document["executed"] == document["causes"] - document["folded"]
        assert f"Not proved: 1 wake, {MADE}" in run(["prove"], home).stdout
        assert MADE in done(["show", "--wake", key], home)
        assert TASK in done(["at", key], home)
        done(["note", TASK, "Buy a washer."], home)
        done(["wake"], home)
    for words in (["replay", key], ["fork", key, "--out", str(home / "fork")]):
        assert MADE in refused(words, home)
    assert MADE in refused(["export-history", "--all", "--out", str(home / "out.jsonl")], home)
    assert MADE not in done(["show", "--wake", told(["wakes"], home)[0]["run_key"]], home)


def test_a_row_that_a_newer_wakelog_wrote_says_so_at_each_door(home: Path) -> None:
    key = made_newer(home, 9, FIELD)
    document = not_proved(home)
    assert (document["divergences"], document["newer"]) == ([], {"9": 1})
    for words in (["show", TASK], ["show", "--wake", key], ["at", key], ["wake"], ["inbox"]):
        assert MADE in refused(words, home), words


@pytest.mark.parametrize("more", ["", FIELD])
def test_what_comes_after_it_is_no_difference_and_what_is_forged_there_is_one(
    home: Path, more: str
) -> None:
    done(["add", "Sell the car", "--category", "Work"], home)
    for allowed in (["House", "--category", "Work"], ["House"]):  # what may it read of before?
        done(["agent", "set", TASK, "--category", *allowed], home)
    done(["note", TASK, "Buy a washer."], home)
    done(["wake"], home)
    made_newer(home, 9, more, ago=1)
    assert not_proved(home)["divergences"] == []
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        last = "(SELECT max(rowid) FROM payloads)"
        file.execute(f"UPDATE payloads SET bytes = 'Forged' WHERE rowid = {last}")
    document = not_proved(home)
    assert {one["class"] for one in document["divergences"]} == {"data altered"}
    assert document["newer"] == {"9": 1}
    assert "divergence" in run(["prove"], home).stdout


def test_what_was_proved_before_a_newer_wakelog_came_is_told_by_doctor(home: Path) -> None:
    done(["note", TASK, "Buy a washer."], home)
    done(["wake"], home)
    made_newer(home, 9)
    assert f"not proved: 1 wake, {MADE}" in done(["doctor"], home)


def test_the_page_tells_which_wake_is_not_proved(home: Path) -> None:
    key = made_newer(home, 9)
    other = told(["wakes"], home)[-1]["run_key"]
    with visiting(home) as visitor:
        visitor.send(visitor.form("/proof", "/prove"))
        until(lambda: visitor.json("/proof")["state"] == "done")
        for path in ("/proof", "/health", f"/wakes/{key}", f"/wakes/{key}/proof"):
            page = text_of(visitor.page(path))
            assert MADE in page, path
            assert "not proved" in page, path
        assert not visitor.json("/proof")["ok"]
        assert visitor.json(f"/wakes/{other}/proof")["ok"]
        for path in (f"/wakes/{other}", f"/wakes/{other}/proof"):
            page = text_of(visitor.page(path))
            assert MADE not in page, path
            assert "Every byte of this wake is what today" in page, path


def test_a_sync_leaves_to_a_newer_wakelog_what_only_that_one_knows(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("add", TASK, "--category", "House")
    desk.said("agent", "create", TASK)
    desk.said("wake")
    made_newer(desk.home, 9)
    desk.sync()
    assert f"was {MADE}: upgrade this one" in laptop.said("sync", str(laptop.folder), status=1)
    (waiting,) = json.loads(laptop.said("--json", "sync", str(laptop.folder), status=1))["waiting"]
    assert (waiting["log"], waiting["for"], waiting["scaffold"]) == ("agent", "newer", 9)
    assert laptop.titles() == {TASK}
    assert "Proved" in laptop.said("prove")


def not_proved(home: Path) -> Any:
    """The document of a proof that does not end well."""
    result = run(["--json", "prove"], home)
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert not document["ok"]
    return document
