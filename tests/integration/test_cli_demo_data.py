"""`wakelog demo-data`: a home of its own, whole or not there, and never somebody's."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, run, told

pytestmark = pytest.mark.slow

SMALL = ["demo-data", "--agents", "2", "--months", "1"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "home"
    document = told(SMALL, path)
    assert document["proof"]["ok"] is True
    assert (document["agents"], document["days"]) == (2, 30)
    return path


def test_what_it_made_can_be_proved_and_lived_on(home: Path) -> None:
    proved(home)
    assert {one["outcome"] for one in told(["wakes"], home)} >= {"completed"}
    text = done(["sql", "SELECT timezone FROM home"], home)
    assert "Europe/Berlin" in text


def test_a_second_time_it_leaves_the_home_alone(home: Path) -> None:
    rows = proved(home)
    assert "is there already" in done(SMALL, home)
    assert told(SMALL, home)["is_there"] is True
    assert proved(home) == rows


def test_a_fork_with_another_verdict_is_lived_to_a_later_wake_and_proves(
    home: Path, tmp_path: Path
) -> None:
    for nth, (ref, tool, later) in enumerate(islice(confirmed(home), 2)):
        branch = tmp_path / str(nth)
        other = ["--verdict", f"{ref}=reject", "--model", "rules", "--out", str(branch)]
        document = told(["fork", later, *other], home)
        is_task = tool == "create_follow_up_task"  # without it, its agent's wakes are left out
        assert (document["stopped"], document["left_out"] > 0) == (None, is_task)
        assert proved(branch) > 0
    assert nth == 1


def confirmed(home: Path) -> Iterator[tuple[str, str, str]]:
    """Confirmed items, their tools, and the agent's third wake after each was proposed."""
    wakes = [one for one in reversed(told(["wakes", "--limit", "500"], home)) if one["started_at"]]
    for made in told(["inbox", "--all"], home):
        mine = [one for one in wakes if one["agent_id"] == made["agent_id"]]
        later = [one["run_key"] for one in mine if one["started_at"] > made["created_at"]]
        for item in made["items"]:
            if item["status"] == "confirmed" and len(later) > 2:
                yield item["ref"], item["tool"], later[2]


def test_fresh_makes_the_same_anew(tmp_path: Path, home: Path) -> None:
    first = told(["prove"], home)["digest"]
    assert told([*SMALL, "--home", str(tmp_path / "there")], home)["proof"]["digest"] == first
    again = told([*SMALL, "--fresh", "--home", str(tmp_path / "there")], home)
    assert again["proof"]["digest"] == first


@pytest.mark.parametrize("arguments", [SMALL, [*SMALL, "--fresh"]])
def test_it_leaves_a_persons_own_home_alone(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home"
    done(["task", "add", "My own"], home)
    rows = proved(home)
    assert "holds tasks of yours" in refused(arguments, home)
    assert proved(home) == rows


def test_it_leaves_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "diary.txt").write_text("dear diary")
    assert "holds other files" in refused(SMALL, tmp_path / "home")
    assert [one.name for one in tmp_path.rglob("*")] == ["home", "diary.txt"]


def test_where_nothing_can_be_made_it_says_so(tmp_path: Path) -> None:
    assert "is missing" in refused(SMALL, tmp_path / "no" / "home")
    assert run(["demo-data", "--agents", "51"], tmp_path / "home").exit_code == 2
