"""`Work/Site` is below `Work`: a name, and no new fact; each filter by category finds it."""

import json
from pathlib import Path

import pytest

from tests.support import process
from tests.support.cli import done, proved, refused, told
from tests.support.pages import visiting


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The same names from three files, and on the fly."""
    home = tmp_path / "home"
    (tmp_path / "a.md").write_text("# Work\n\n- [ ] Plan\n\n# work/Site\n\n- [ ] Dig\n")
    (tmp_path / "todo.txt").write_text("Pour +Work/Site due:2026-12-30\nCarve +Workshop\n")
    task = {"uuid": "0b1f7a6e-6a6c-4f0e-8d1a-000000000001", "status": "pending",
            "description": "Bill", "project": "Work.Site", "entry": "20261201T120000Z"}  # fmt: skip
    (tmp_path / "tw.json").write_text(json.dumps([task]))
    for name in ("a.md", "todo.txt", "tw.json"):
        done(["import", str(tmp_path / name)], home)
    done(["add", "Survey", "--category", "Work/Site/North", "--due", "2026-12-31"], home)
    return home


def titles(home: Path, *args: str) -> list[str]:
    return [one["title"] for one in told([*args], home)]


def test_a_filter_finds_what_is_below_and_no_longer_names(home: Path) -> None:
    names = {one["name"] for one in told(["category", "list"], home)}
    assert names >= {"Work", "work/Site", "Workshop", "Work.Site", "Work/Site/North"}
    assert "Work/Site" not in names  # it is the one that was there in another case
    every = ["Plan", "Dig", "Pour", "Survey"]
    assert titles(home, "list", "--category", "WORK") == every
    assert titles(home, "list", "--category", "Work/site") == every[1:]
    assert titles(home, "list", "--category", "Work.Site") == ["Bill"]
    assert titles(home, "today", "--category", "work") == ["Pour", "Survey"]
    assert titles(home, "today", "--category", "Work.Site") == []
    assert sorted(titles(home, "search", "p", "--category", "Work")) == ["Plan", "Pour"]
    assert titles(home, "search", "b", "--category", "Work", "--limit", "1") == []
    exported = done(["export", "--markdown", "-", "--category", "Work/Site"], home)
    assert [line for line in exported.splitlines() if line.startswith("#")] == [
        "# work/Site",
        "# Work/Site/North",
    ]
    for command in (["list"], ["today"], ["search", "p"], ["summary"]):
        assert "there is no category 'Wor'" in refused([*command, "--category", "Wor"], home)
    assert proved(home)


def test_what_is_above_need_not_be_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["add", "Sow", "--category", "Garden/Beds"], home)
    assert titles(home, "list", "--category", "garden") == ["Sow"]
    done(["add", "Mow", "--category", "Garden"], home)
    assert titles(home, "list", "--category", "Garden") == ["Sow", "Mow"]


def test_the_pages_list_and_completion_know_them_by_their_full_names(home: Path) -> None:
    ids = {one["name"]: one["id"] for one in told(["category", "list"], home)}
    with visiting(home) as visitor:
        found = visitor.get(f"/tasks.json?category={ids['Work']}").json()["tasks"]
    assert {one["title"] for one in found} == {"Plan", "Dig", "Pour", "Survey"}
    asked = {"COMP_WORDS": "wakelog list --category site", "COMP_CWORD": "3",
             "_WAKELOG_COMPLETE": "bash_complete"}  # fmt: skip
    offered = process.ran(home, more=asked).splitlines()
    assert offered == ["plain,work/Site", "plain,Work.Site", "plain,Work/Site/North"]
