"""A home that was moved, copied or mounted elsewhere: two must not write under one name. Both logs
are gone: nobody begins anew. The clock is years from where a log ends: that is asked about."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.home import files, write_guard
from tests.support.cli import done, refused, run, told
from tests.support.terminal import on_terminal

OWN = {"WAKELOG_REPLICA": ""}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A home that has written once."""
    home = tmp_path / "home"
    done(["task", "add", "First"], home, env=OWN)
    return home


def kept(home: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads((home / "installation").read_bytes())
    return document


def name(home: Path) -> str:
    return (home / "replica").read_text()


def test_the_first_command_that_writes_keeps_where_the_home_is(made: Path) -> None:
    found = made.stat()
    assert (kept(made)["inode"], kept(made)["device"]) == (found.st_ino, found.st_dev)
    assert str(kept(made)["id"]).startswith("i")
    before = kept(made)
    done(["task", "add", "Second"], made, env=OWN)
    assert kept(made) == before
    assert (made / "installation").stat().st_mode & 0o777 == 0o600


def test_a_home_of_an_older_version_is_told_nothing(made: Path) -> None:
    (made / "installation").unlink()
    assert run(["task", "list"], made, env=OWN).stderr == ""
    assert not (made / "installation").exists()
    assert run(["task", "add", "Second"], made, env=OWN).stderr == ""
    assert kept(made)["inode"] == made.stat().st_ino


def test_a_folder_that_is_renamed_is_the_same_home(made: Path) -> None:
    there = made.rename(made.with_name("elsewhere"))
    assert run(["task", "add", "Second"], there, env=OWN).exit_code == 0


def test_another_device_alone_is_kept_in_silence(made: Path) -> None:
    """The same folder, mounted anew."""
    before = kept(made)
    (made / "installation").write_text(json.dumps({**before, "device": 1}))
    result = run(["task", "add", "Second"], made, env=OWN)
    assert (result.exit_code, result.stderr) == (0, "")
    assert kept(made) == before


def test_a_copied_home_is_read_and_not_written(made: Path) -> None:
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    before = (copy / "journal.db").read_bytes()
    for command in (["task", "add", "x"], ["wake"], ["run", "--until-idle"], ["serve"]):
        line = refused(command, copy, env=OWN)
        assert f"{copy} is not the folder where its writer's name was drawn" in line
        assert "`wakelog home adopt moved`" in line
        assert "`wakelog home adopt copy`" in line
        assert line.endswith("[moved_home]")
    assert (copy / "journal.db").read_bytes() == before
    assert "First" in done(["task", "list"], copy, env=OWN)
    assert told(["prove"], copy, env=OWN)["ok"]
    found = run(["doctor"], copy, env=OWN)
    assert found.exit_code == 1
    assert "FIND  folder: it is not the folder where" in found.stdout


def test_a_copy_writes_under_a_name_of_its_own(made: Path) -> None:
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    adopted = told(["home", "adopt", "copy"], copy, env=OWN)
    assert adopted["was"] == name(made)
    assert adopted["replica"] == name(copy) != name(made)
    assert kept(copy)["id"] != kept(made)["id"]
    for home in (made, copy):
        done(["task", "add", f"In {home.name}"], home, env=OWN)
        assert told(["prove"], home, env=OWN)["ok"]
        assert told(["doctor"], home, env=OWN)["ok"]
    line = refused(["home", "adopt", "copy"], copy, env=OWN)
    assert line.endswith("[nothing_to_adopt]")
    assert adopted["replica"] == name(copy)


def test_a_moved_home_keeps_its_name(made: Path) -> None:
    there = Path(shutil.copytree(made, made.with_name("there")))
    was = kept(made)["id"]
    shutil.rmtree(made)
    adopted = told(["home", "adopt", "moved"], there, env=OWN)
    assert adopted["replica"] == adopted["was"] == name(there)
    assert kept(there)["id"] == was
    done(["task", "add", "Second"], there, env=OWN)
    assert told(["doctor"], there, env=OWN)["ok"]
    assert "nothing_to_adopt" in refused(["home", "adopt", "moved"], there, env=OWN)


def test_a_copy_of_an_older_home_can_be_told_to_be_one(made: Path) -> None:
    (made / "installation").unlink()
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    assert "nothing is kept yet" in refused(["home", "adopt", "moved"], copy, env=OWN)
    assert told(["home", "adopt", "copy"], copy, env=OWN)["replica"] != name(made)
    assert "nothing_to_adopt" in refused(["home", "adopt", "copy"], copy, env=OWN)


def test_a_name_that_is_given_is_not_looked_at(made: Path) -> None:
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    before = kept(copy)
    done(["task", "add", "Second"], copy, env={"WAKELOG_REPLICA": "laptop"})
    assert kept(copy) == before
    line = refused(["home", "adopt", "copy"], copy, env={"WAKELOG_REPLICA": "laptop"})
    assert "WAKELOG_REPLICA names who writes" in line
    fresh = made.with_name("fresh")
    done(["task", "add", "First"], fresh, env={"WAKELOG_REPLICA": "laptop"})
    assert not (fresh / "installation").exists()


def test_copies_of_ours_leave_it_out(made: Path) -> None:
    backup = made.with_name("backup")
    done(["backup", str(backup)], made, env=OWN)
    assert not (backup / "installation").exists()
    assert not (backup / "replica").exists()
    done(["task", "add", "Second"], backup, env=OWN)
    assert name(backup) != name(made)
    assert kept(backup)["id"] != kept(made)["id"]


def test_a_name_drawn_anew_is_of_a_new_installation(made: Path) -> None:
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    (copy / "replica").unlink()
    done(["task", "add", "Second"], copy, env=OWN)
    assert name(copy) != name(made)
    assert kept(copy)["id"] != kept(made)["id"]


def test_what_cannot_be_read_is_asked_about(made: Path) -> None:
    for content in (b"", b"{}", b"\xff", b'{"id":"i"'):
        (made / "installation").write_bytes(content)
        assert "moved_home" in refused(["task", "add", "x"], made, env=OWN)
    done(["home", "adopt", "moved"], made, env=OWN)
    done(["task", "add", "Second"], made, env=OWN)


def test_of_many_that_write_first_one_keeps_it(tmp_path: Path) -> None:
    files.ensure(tmp_path, {})
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: write_guard.check_installation(tmp_path, {}), range(64)))
    assert kept(tmp_path)["inode"] == tmp_path.stat().st_ino
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "installation",
        "replica",
        "settings.toml",
    ]


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("answer", "is_same"), [("moved", True), ("copy", False), ("restored", False)]
)
def test_on_a_terminal_it_is_asked(made: Path, answer: str, is_same: bool) -> None:
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    with on_terminal(copy, "task", "add", "Second", env=OWN) as terminal:
        terminal.until("Was it moved, is it a copy, or was it restored? (moved, copy, restored): ")
        terminal.press(f"{answer}\n")
        terminal.until('Added: "Second"')
        assert terminal.ended()[0] == 0
    assert is_same == (name(copy) == name(made))
    done(["task", "add", "Third"], copy, env=OWN)


def test_a_home_that_may_not_be_written_for_another_reason_is_not_asked_about(made: Path) -> None:
    (made / "hold").write_text("frozen to pg:anna\n")
    with on_terminal(made, "task", "add", "Second", env=OWN) as terminal:
        terminal.until("is being copied to pg:anna, or that was cut off")
        assert terminal.ended()[0] == 2


def test_the_home_is_shown(made: Path) -> None:
    document = told(["home", "show"], made, env=OWN)
    assert document == {
        "home": str(made),
        "exists": True,
        "replica": name(made),
        "installation": kept(made)["id"],
        "place": "here",
        "other_past": None,
    }
    copy = Path(shutil.copytree(made, made.with_name("copy")))
    assert "another one: say `wakelog home adopt moved`" in done(["home", "show"], copy, env=OWN)
    none = told(["home", "show"], made.with_name("none"), env=OWN)
    assert (none["exists"], none["replica"], none["installation"]) == (False, None, None)
    assert not made.with_name("none").exists()


# ------------------------------------------------------------------------------ both logs are gone


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    done(["task", "add", "Tap"], made)
    for name in ("journal.db", "agent.db"):
        (made / name).unlink()
    return made


def test_each_command_says_so_and_makes_nothing(home: Path) -> None:
    for args in ("prove", "prove --since last", "status", "task list", "task add Sink"):
        line = refused(args.split(), home)
        assert f"both logs of {home} are gone, and views.db beside them is not" in line, args
        assert not (home / "journal.db").exists()
    looked = run(["doctor"], home)
    assert looked.exit_code != 0
    assert "both logs" in looked.output


def test_a_home_that_was_only_begun_is_one_that_is_new(home: Path) -> None:
    """A process that was killed between the name and the logs leaves that."""
    (home / "views.db").unlink()
    done(["task", "add", "Sink"], home)


# ----------------------------------------------------------------------- a clock that is years off


MACHINES = {"WAKELOG_NOW": ""}
BEFORE, AHEAD = {"WAKELOG_NOW": "2020-01-01T09:00:00Z"}, {"WAKELOG_NOW": "2038-01-19T09:00:00Z"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A home that was written last when the machine's clock is years beyond."""
    done(["task", "add", "Old"], tmp_path / "home", env=BEFORE)
    return tmp_path / "home"


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A home into which a clock of 2038 wrote."""
    done(["task", "add", "Late"], tmp_path / "home", env=AHEAD)
    return tmp_path / "home"


def test_nobody_can_be_asked_so_nothing_is_written(old: Path) -> None:
    line = refused(["task", "add", "New"], old, env=MACHINES)
    assert "the home was last written 2020-01-01; set the clock; if it is right" in line
    assert [one["title"] for one in told(["task", "list"], old, env=MACHINES)] == ["Old"]
    document = json.loads(run(["--json", "done", "Old"], old, env=MACHINES).output)
    assert document["error"]["code"] == "doubtful_clock"


def test_who_says_that_it_is_right_is_not_asked_again(old: Path) -> None:
    done(["--clock-is-right", "task", "add", "New"], old, env=MACHINES)
    done(["task", "add", "Newer"], old, env=MACHINES)


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 130)])
def test_on_a_terminal_it_is_asked_once(old: Path, answer: str, status: int) -> None:
    with on_terminal(old, "task", "add", "New", env=MACHINES) as person:
        person.until("Is the clock right? [y/N]: ")
        person.press(f"{answer}\n")
        assert person.ended()[0] == status
    assert len(told(["task", "list"], old, env=MACHINES)) == 2 - bool(status)


def test_a_clock_that_was_given_is_not_doubted(old: Path) -> None:
    done(["task", "add", "New"], old, env=AHEAD)


def test_a_home_that_is_years_ahead_is_told_of(poisoned: Path) -> None:
    assert " years ahead of this machine's clock" in done(["status"], poisoned, env=MACHINES)
    assert told(["status"], poisoned, env=MACHINES)["clock_behind"] > 10 * 31_536_000
    looked = run(["doctor"], poisoned, env=MACHINES)
    assert (looked.exit_code, "years ahead" in looked.output) == (1, True)
    ran = run(["run", "--until-idle"], poisoned, env=MACHINES)
    assert "years ahead of this machine's clock: going on from the log" in ran.stderr
    done(["task", "add", "Later"], poisoned, env=MACHINES)
    assert told(["status"], poisoned, env=AHEAD)["clock_behind"] == 0
