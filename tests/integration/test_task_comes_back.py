"""A task that was deleted and comes back has its agent again, however it comes back."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, told

TITLE = "Fix the sink"
LIST = f"# House\n\n- [ ] {TITLE}\n\n  Takes about 2 hours.\n"


def brought(home: Path) -> str:
    file = home.parent / "TODO.md"
    file.write_text(LIST, "utf-8")
    done(["import", str(file), "--agents"], home)
    done(["wake"], home)
    return str(file)


def gone(home: Path, *deed: str) -> None:
    done([*deed], home)
    done(["wake"], home)
    (agent,) = told(["agent", "list"], home)
    assert (agent["lifecycle"], agent["pause_reason"]) == ("dormant", "task_deleted")


@pytest.mark.parametrize(
    ("goes", "comes"),
    [
        (("undo", "--yes"), ("import", "FILE")),
        (("delete", TITLE), ("undo", "--yes")),
        (("delete", TITLE), ("task", "restore", TITLE)),
        (("delete", TITLE), ("import", "FILE", "--restore")),
        (("import", "FILE", "--undo"), ("import", "FILE")),
        (("undo", "--yes"), ("undo", "--yes", "j3")),
    ],
    ids=" ".join,
)
def test_its_agent_wakes_and_proposes_again(
    goes: tuple[str, ...], comes: tuple[str, ...], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    file = brought(home)
    gone(home, *(file if word == "FILE" else word for word in goes))
    assert told(["inbox"], home) == []
    done([file if word == "FILE" else word for word in comes], home)
    done(["wake"], home)
    (agent,) = told(["agent", "list"], home)
    assert (agent["lifecycle"], agent["pause_reason"]) == ("active", None)
    assert [item["status"] for one in told(["inbox"], home) for item in one["items"]] == ["pending"]
    assert proved(home)


def test_one_that_the_person_paused_stays_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    brought(home)
    done(["agent", "pause", TITLE], home)
    done(["delete", TITLE], home)
    done(["undo", "--yes"], home)
    (agent,) = told(["agent", "list"], home)
    assert agent["lifecycle"] == "dormant"
