"""A rescue that is cut off, refused, or told of: what it leaves, and what it says."""

from pathlib import Path
from shutil import copytree

import pytest

from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal import commands as do
from tests.support import cli
from tests.support.rescuing import (
    CUT,
    Machine,
    diverged,
    files_of,
    journal_rows,
    marks,
    met,
    rounds,
)


def test_a_rescue_that_is_killed_at_any_step_is_ended_or_begun_anew(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    done = marks(twin.home).keys() | marks(home.desk.home).keys()
    for at in range(50):
        tried = Machine(Path(copytree(twin.home, tmp_path / f"twin{at}")), "desk")
        folder = Path(copytree(home.folder, tmp_path / f"folder{at}"))
        status = tried.status_when_cut(folder, "desk2", at)
        if status != CUT:
            break
        held, tried.name = tried.home / "hold", "desk2"
        if held.exists():
            said = cli.refused(["task", "add", "Between"], tried.home, env=tried.environ)
            assert "repeat `wakelog replicas rescue`" in said
            assert "replicas rescue" in cli.refused(["home", "thaw"], tried.home, env=tried.environ)
            assert tried.rescue(folder, "desk2").redone == 5
        assert not held.exists()
        tried.sync(folder)
        there = marks(tried.home)
        assert (done, set(there.values())) == ({*there}, {1})
        assert not (tried.home / ".rescue").exists()
        copies = [*(tried.home / "forks").iterdir()]
        assert all(marks(one) == marks(twin.home) for one in copies)
        assert tried.proves()
    assert (status, at > 12) == (0, True)


def test_a_new_name_alone_is_drawn_whole_wherever_that_is_cut_off(tmp_path: Path) -> None:
    home = met(tmp_path)
    image = home.desk.image(tmp_path / "image")
    home.desk.do(do.CreateTask("m100m"))
    home.sync()
    for at in range(9):
        tried = Machine(Path(copytree(image, tmp_path / f"image{at}")), "desk")
        folder = Path(copytree(home.folder, tmp_path / f"folder{at}"))
        if (status := tried.status_when_cut(folder, "desk2", at)) != CUT:
            break
        tried.name = "desk2"
        if (tried.home / "hold").exists():
            assert tried.rescue(folder, "desk2").replica == "desk2"
        assert tried.sync(folder).replica == "desk2"
        assert marks(tried.home) == marks(home.desk.home)
    assert (status, at) == (0, 2)


def test_a_home_is_open_again_where_a_rescue_was_cut_off_and_its_folder_is_gone(
    tmp_path: Path,
) -> None:
    home, twin = diverged(tmp_path)
    before = journal_rows(twin.home)
    assert twin.status_when_cut(home.folder, "desk2", 3) == CUT
    assert (twin.home / "hold").exists()
    with pytest.raises(Refused, match="there is no folder"):
        twin.rescue(tmp_path / "gone", "desk2")
    assert ((twin.home / "hold").exists(), journal_rows(twin.home)) == (False, before)


def test_what_cannot_be_rescued_says_why_and_changes_nothing(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    before = journal_rows(twin.home)
    late = tmp_path / "late"
    (late / "desk").mkdir(parents=True)
    (late / "desk" / "have.json").write_bytes((home.folder / "desk" / "have.json").read_bytes())
    for folder, name, code, words in (
        (home.folder, "desk", "invalid_value", "which has written in this home"),
        (late, "desk2", "forked_replica", "is not here yet"),
    ):
        with pytest.raises(Refused) as refused:
            twin.rescue(folder, name)
        assert refused.value.code == code
        assert words in refused.value.because
        assert (journal_rows(twin.home), (twin.home / "hold").exists()) == (before, False)
    with pytest.raises(Refused) as refused:
        home.laptop.rescue(home.folder, "laptop2")
    assert (refused.value.code, home.laptop.is_forked(home.folder)) == ("nothing_to_rescue", False)


def test_the_command_tells_what_was_done_and_what_was_not_possible(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    (task,) = home.desk.do(do.CreateTask("Old one"), "k1")
    home.desk.do(do.DeleteTask(task))
    twin.do(do.CreateTask("Old one"), "k1")
    twin.do(do.EditTask(task, title="Older"))
    home.sync()
    env = {**twin.environ, "WAKELOG_REPLICA": "desk2", "WAKELOG_NOW": cli.NOW}
    command = ["replicas", "rescue", str(home.folder)]
    before = files_of(twin.home)
    done = cli.done([*command, "--dry-run"], twin.home, env=env)
    assert "8 appends would be given up, 8 commands handed in again." in done
    assert files_of(twin.home).keys() - {"sync.lock"} == before.keys() - {"sync.lock"}
    result = cli.run(command, twin.home, env=env)
    assert result.exit_code == 1
    said = result.output.splitlines()
    assert said[0] == "This machine wrote as desk, and is desk2 now."
    assert said[1] == f"As it was, it is in {twin.home}/forks/desk-4."
    assert said[2] == "Of 8 commands, 5 were done again; 2 were there already."
    assert said[3].startswith("Took 6 rows of desk, ")
    assert said[4].startswith(f"Not possible any more: edit task of {task[:8]}, ")
    assert said[4].endswith("the task 'Old one' is deleted.")
    assert said[5].startswith("Took nothing; gave ")
    assert marks(twin.home / "forks" / "desk-4")["m101m"] == 1
    assert "nothing_to_rescue" in cli.refused(command, twin.home, env=env)


def test_a_home_that_is_in_use_or_is_none_is_not_rescued(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    with open_home(twin.home, twin.environ, is_writing=True), pytest.raises(Refused) as refused:
        twin.rescue(home.folder, "desk2")
    assert (refused.value.code, (twin.home / "hold").exists()) == ("read_only", False)
    assert "in use by another process" in refused.value.because
    missing = Machine(tmp_path / "missing")
    with pytest.raises(Refused, match="there is no home"):
        missing.rescue(home.folder, "desk2")
    assert not missing.home.exists()
    assert twin.rescue(home.folder, "desk2").redone == 5


def test_a_folder_that_cannot_be_written_is_told_of_the_rescue_later(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    stranger = tmp_path / "closed"
    copytree(home.folder, stranger)
    (stranger / "desk2").write_text("a file in the way")
    report = twin.rescue(stranger, "desk2")
    assert (report.redone, report.synced) == (5, None)
    assert "cannot be written" in report.sync_refused
    rounds([*home.all, twin], home.folder)
