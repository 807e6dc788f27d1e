"""A home comes back from its backup: alone, for a lost machine, beside one that goes on."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from adapters.home.home_location import FolderLocation
from adapters.runtime import watcher
from adapters.runtime.wake_capture import capture
from adapters.sync.restore import RestoreStep, restore
from adapters.wiring import open_home
from tests.support import cli, process
from tests.support.homes import Homes
from tests.support.machines import Machine, pair
from tests.support.rescuing import CUT, diverged, files_of, status_when_cut
from tests.support.services import queued_key
from tests.support.terminal import on_terminal

FIXED = {"WAKELOG_TIMEZONE": "UTC"}


def counted(home: Path) -> dict[str, int]:
    """The rows of both logs, by SQLite alone."""
    found = {}
    for name in ("journal", "agent"):
        with closing(sqlite3.connect(home / f"{name}.db")) as log:
            found[name] = log.execute("SELECT count(*) FROM stored_events").fetchone()[0]
    return found


@pytest.fixture
def lost(homes: Homes) -> tuple[Machine, Machine, Path]:
    """A desk that leads and is gone since its backup, but for what it gave; and a laptop."""
    desk, laptop = pair(place := homes.again(losing))
    return desk, laptop, place / "backup"


def losing(place: Path) -> None:
    desk, laptop = pair(place)
    desk.said("add", "Fix the tap", "--category", "House")
    desk.said("agent", "create", "--all")
    desk.said("wake")
    for one in (desk, laptop):
        one.sync()
        one.said("replicas", "name", one.home.name)
        one.sync()
    desk.sync()
    desk.said("backup", str(place / "backup"))
    desk.said("note", "tap", "Ann comes on Monday.")
    desk.said("wake")
    desk.sync()


def back(desk: Machine, backup: Path, how: str = "--lost", name: str = "desk2") -> Machine:
    """The desk under a new name."""
    made = Machine(desk.home, desk.folder, WAKELOG_REPLICA=name)
    made.told("restore", str(backup), how)
    return made


def test_a_lost_machine_comes_back_with_its_label_and_lead_and_agents_wake_there_alone(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, laptop, backup = lost
    shutil.rmtree(desk.home)
    made = Machine(desk.home, desk.folder, WAKELOG_REPLICA="desk2")
    did = made.told("restore", str(backup), "--lost")
    assert (did["replica"], did["was"], did["label"], did["leads"]) == (
        "desk2", "desk", "desk", True,
    )  # fmt: skip
    assert did["meets"] == str(desk.folder)
    assert made.sync()["waiting"] == []
    notes = made.told("show", "tap")["notes"]
    assert [one["text"] for one in notes] == ["Ann comes on Monday."], "it was given before"
    laptop.sync()
    laptop.said("note", "tap", "Buy a washer.")
    laptop.sync()
    made.sync()
    assert [one["outcome"] for one in made.told("wake")] == ["completed"]
    assert laptop.said("wake").startswith("desk leads")
    made.sync()
    laptop.sync()
    for one in (made, laptop):
        assert "rows" in one.told("prove")
    assert counted(made.home)["journal"] == counted(laptop.home)["journal"]


def test_what_stood_there_is_moved_aside_whole(lost: tuple[Machine, Machine, Path]) -> None:
    desk, _, backup = lost
    before = counted(desk.home)
    first = back(desk, backup).told("home", "show")
    asides = sorted(desk.home.parent.glob("desk.before-*"))
    assert [counted(one) for one in asides] == [before]
    assert first["replica"] == "desk2"
    back(desk, backup, name="desk3")
    assert len(list(desk.home.parent.glob("desk.before-*"))) == 2
    assert not list(desk.home.parent.glob("*.restoring"))


def test_beside_one_that_goes_on_it_is_one_more_machine(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, laptop, backup = lost
    other = Machine(desk.home.with_name("other"), desk.folder)
    said = Machine(desk.home, desk.folder, WAKELOG_REPLICA="x").refused(
        "restore", str(backup), "--beside"
    )
    assert "there is a home at" in said
    did = other.told("restore", str(backup), "--beside")
    assert (did["label"], did["leads"]) == (None, False)
    other.sync()
    desk.said("note", "tap", "The tap drips.")
    desk.sync()
    other.sync()
    assert [one["outcome"] for one in desk.told("wake")] == ["completed"]
    assert other.said("wake").startswith("desk leads")
    laptop.sync()
    assert "gone for good" not in laptop.said("replicas")


def test_where_nobody_can_be_asked_it_is_not_guessed(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    before = counted(desk.home)
    said = desk.refused("restore", str(backup))
    assert "say --lost if it is gone for good, else --beside" in said
    assert counted(desk.home) == before


def test_a_backup_that_is_put_back_by_hand_is_not_written_before_that_is_said(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    shutil.rmtree(desk.home)
    shutil.copytree(backup, desk.home)
    said = cli.refused(["note", "tap", "x"], desk.home, env={"WAKELOG_REPLICA": ""})
    assert "put_back" in said
    assert f"restore {desk.home}" in said
    assert "Fix the tap" in cli.run(["list"], desk.home).output, "it is read as ever"
    did = cli.told(["restore", str(desk.home), "--lost"], desk.home, env={"WAKELOG_REPLICA": ""})
    assert did["leads"]
    assert cli.run(["note", "tap", "x"], desk.home, env={"WAKELOG_REPLICA": ""}).exit_code == 0


def test_a_backup_of_before_that_names_nobody_has_to_be_told_of_whom_it_is(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    (backup / "backup.json").unlink()
    made = Machine(desk.home, desk.folder, WAKELOG_REPLICA="desk2")
    said = made.refused("restore", str(backup), "--lost")
    assert "name it with --was, one of desk, laptop" in said
    assert made.told("restore", str(backup), "--lost", "--was", "desk")["label"] == "desk"
    (backup / "backup.json").write_text('{"of": "nobody", "is_shared": true}')
    assert "nobody" in made.refused("restore", str(backup), "--lost")


STEPS = "copy", "name", "retire", "hold", "aside", "take", "open", "clean"


def end(desk: Machine, backup: Path, before: dict[str, int]) -> None:
    """Say it again: then the home is back, once, what stood there is aside, and nothing else."""
    assert back(desk, backup).home == desk.home
    (aside,) = desk.home.parent.glob("desk.before-*")
    assert counted(aside) == before
    assert not list(desk.home.parent.glob("*.restoring"))
    after = Machine(desk.home, desk.folder, WAKELOG_REPLICA="desk2")
    assert "gone for good" in after.said("replicas")
    assert after.sync()["waiting"] == []
    after.said("note", "tap", "It goes on.")
    assert "rows" in after.told("prove")


@pytest.mark.parametrize("at", range(len(STEPS) - 1))
def test_killed_before_any_step_it_is_ended_by_the_same_command(
    lost: tuple[Machine, Machine, Path], at: int
) -> None:
    desk, _, backup = lost
    before = counted(desk.home)
    environ = {**FIXED, "WAKELOG_REPLICA": "desk2"}

    def deed(step: RestoreStep) -> None:
        restore(backup, FolderLocation(desk.home), environ, step=step)

    assert status_when_cut(deed, at) == CUT
    is_aside = STEPS[at] in ("take", "open")
    deeds = ("note", "tap", "x"), ("settings", "set", "timezone", "UTC"), ("list",)
    done = [cli.run([*words], desk.home, env=desk.more) for words in deeds]
    said = [one.output for one in done if one.exit_code]
    assert len(said) == {"take": 3, "open": 1}.get(STEPS[at], 0), said
    for one in said:
        assert f"repeat `wakelog --home {desk.home} restore {backup}`" in one
    assert is_aside == bool(list(desk.home.parent.glob("desk.before-*")))
    if not is_aside:
        before = counted(desk.home)
    end(desk, backup, before)


def test_the_steps_are_those_that_are_tried(lost: tuple[Machine, Machine, Path]) -> None:
    desk, _, backup = lost
    steps: list[str] = []
    restore(
        backup, FolderLocation(desk.home), {**FIXED, "WAKELOG_REPLICA": "desk2"}, step=steps.append
    )
    assert tuple(steps) == STEPS


def test_a_backup_put_back_by_hand_is_ended_though_it_stands_aside_itself(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    shutil.rmtree(desk.home)
    shutil.copytree(backup, desk.home)
    environ = {**FIXED, "WAKELOG_REPLICA": "desk2"}

    def deed(step: RestoreStep) -> None:
        restore(desk.home, FolderLocation(desk.home), environ, step=step)

    assert status_when_cut(deed, STEPS.index("take")) == CUT
    assert not desk.home.exists()
    end(desk, desk.home, counted(backup))


def test_what_another_restore_left_stands_in_nobodys_way(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    other = Path(shutil.copytree(backup, backup.with_name("other")))
    environ = {**FIXED, "WAKELOG_REPLICA": "desk2"}

    def deed(step: RestoreStep) -> None:
        restore(other, FolderLocation(desk.home), environ, step=step)

    before = counted(desk.home)
    assert status_when_cut(deed, STEPS.index("take")) == CUT
    end(desk, backup, before)


def test_killed_at_any_moment_it_is_ended_by_the_same_command(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, backup = lost
    before, chance = counted(desk.home), Random(7)
    more = {**FIXED, "WAKELOG_REPLICA": "desk2", "WAKELOG_NOW": cli.NOW}
    for _ in range(8):
        begun = process.begun(
            desk.home, "restore", str(backup), "--lost", log=backup.with_name("log"), more=more
        )
        try:
            begun.wait(chance.uniform(0.3, 1.2))
        except subprocess.TimeoutExpired:
            begun.kill()
            begun.wait()
        asides = list(desk.home.parent.glob("desk.before-*"))
        assert before in map(counted, [*asides, *[desk.home] * desk.home.exists()])
    back(desk, backup)
    assert before in map(counted, desk.home.parent.glob("desk.before-*"))
    assert not list(desk.home.parent.glob("*.restoring"))
    assert Machine(desk.home, desk.folder, WAKELOG_REPLICA="desk2").sync()["waiting"] == []


def test_what_is_void_of_a_lost_machine_is_taken_out_of_the_folder_by_who_takes_its_place(
    tmp_path: Path,
) -> None:
    """A twin of it was rescued, and what the twin gave as desk came into the folder later."""
    home, twin = diverged(tmp_path)
    stick, backup = tmp_path / "stick", tmp_path / "backup"
    stick.mkdir()
    twin.sync(stick)
    cli.done(["backup", str(backup)], home.desk.home, env=home.desk.environ)
    twin.rescue(home.folder, "desk2")
    alive = files_of(home.folder).keys()
    shutil.copytree(stick, home.folder, dirs_exist_ok=True)
    dead = files_of(home.folder).keys() - alive
    assert dead
    home.desk.name = "desk3"
    restore(backup, FolderLocation(home.desk.home), home.desk.environ)
    home.desk.sync(home.folder)
    assert not dead & files_of(home.folder).keys()


# ------------------------------------------------------------------------- a home that was put back

DOORS = ["restore", "{backup}", "--lost"], ["home", "adopt", "restored"]


def put_back(desk: Machine, image: Path) -> None:
    """The whole folder, as an image of the disk has it."""
    shutil.rmtree(desk.home)
    shutil.copytree(image, desk.home)


@pytest.mark.parametrize("words", DOORS, ids=" ".join)
def test_a_home_that_was_put_back_whole_goes_on_as_one_that_is_restored(
    tmp_path: Path, words: list[str]
) -> None:
    """A wake had begun there; since then it wrote on, and gave some of it to the others."""
    desk, laptop = pair(tmp_path)
    desk.said("add", "Fix the tap", "--category", "House")
    desk.said("agent", "create", "--all")
    for one in (desk, laptop):
        one.sync()
    desk.said("replicas", "name", "the desk")
    desk.sync()
    begin_wake(desk)
    image, backup = Path(shutil.copytree(desk.home, tmp_path / "image")), tmp_path / "backup"
    desk.said("backup", str(backup))
    desk.said("note", "tap", "Ann comes on Monday.")
    desk.sync()
    put_back(desk, image)
    made = Machine(desk.home, desk.folder, WAKELOG_REPLICA="desk2")
    said = made.said(*(one.format(backup=backup) for one in words))
    assert "It leads now, as the desk did, which is gone for good." in said
    assert "1 wakes that had begun there are asked for once more." in said
    (aside,) = desk.home.parent.glob("desk.before-*")
    assert counted(aside) == counted(image)
    assert (desk.home / "replica").read_text() == "desk2"
    assert made.sync()["waiting"] == []
    assert [one["outcome"] for one in made.told("wake")] == ["completed"]
    notes = made.told("show", "tap")["notes"]
    assert [one["text"] for one in notes] == ["Ann comes on Monday."]
    made.sync()
    laptop.sync()
    assert laptop.said("wake").startswith("the desk leads")
    for one in (made, laptop):
        assert "rows" in one.told("prove")


def begin_wake(desk: Machine) -> None:
    """A wake has begun and waits for its model."""
    environ = {**cli.FIXED, **desk.more}
    (agent,) = desk.told("agent", "list")
    with open_home(desk.home, environ, is_writing=True) as home:
        watcher.catch_up(home.services)
        run_key = queued_key(home.services, agent["id"])
        captured = capture(home.services, agent["id"], run_key, is_now=True)
        home.services.append_agent(captured.command, payloads=captured.payloads)


def test_a_home_alone_that_was_put_back_says_all_three_and_gets_another_name(
    tmp_path: Path,
) -> None:
    home, own = tmp_path / "home", {"WAKELOG_REPLICA": ""}
    cli.done(["add", "Fix the tap"], home, env=own)
    was = (home / "replica").read_text()
    image = Path(shutil.copytree(home, tmp_path / "image"))
    said = cli.refused(["add", "x"], image, env=own)
    for how in ("moved", "copy", "restored"):
        assert f"`wakelog home adopt {how}`" in said
    did = cli.told(["home", "adopt", "restored"], image, env=own)
    assert (did["was"], did["replica"]) == (was, (image / "replica").read_text())
    assert did["replica"] != was
    assert counted(Path(did["aside"])) == counted(home)
    cli.done(["add", "x"], image, env=own)
    assert "nothing_to_adopt" in cli.refused(["home", "adopt", "restored"], image, env=own)


def test_an_adoption_that_was_killed_says_what_ends_it(
    lost: tuple[Machine, Machine, Path],
) -> None:
    desk, _, _ = lost
    before, environ = counted(desk.home), {**FIXED, "WAKELOG_REPLICA": "desk2"}

    def deed(step: RestoreStep) -> None:
        restore(desk.home, FolderLocation(desk.home), environ, step=step)

    assert status_when_cut(deed, STEPS.index("take")) == CUT
    command = f"repeat `wakelog --home {desk.home} restore {desk.home}`"
    assert command in cli.refused(["home", "adopt", "restored"], desk.home, env=environ)
    end(desk, desk.home, before)


# ----------------------------------------------------------------------------------- a home alone


@pytest.fixture
def alone(homes: Homes) -> tuple[Path, Path]:
    place = homes.again(backed_up)
    return place / "home", place / "backup"


def backed_up(place: Path) -> None:
    for words in ("add", "Fix the tap"), ("backup", str(place / "backup")), ("add", "Paint it"):
        cli.run([*words], place / "home")


def test_of_a_home_alone_nothing_is_asked(alone: tuple[Path, Path]) -> None:
    home, backup = alone
    said = cli.run(["restore", str(backup)], home, env={"WAKELOG_REPLICA": ""}).output
    assert f"What stood there is in {home}.before-" in said
    assert [one["title"] for one in cli.told(["list"], home)] == ["Fix the tap"]
    assert cli.proved(home)
    assert json.loads((backup / "backup.json").read_text())["is_shared"] is False


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (shutil.rmtree, "there is no backup at"),
        (lambda one: (one / "replica").write_text("r1"), "is a home that is written"),
        (lambda one: (one / "agent.db").unlink(), "agent.db"),
        (lambda one: (one / "journal.db").write_bytes(b"x" * 5_000), "journal.db"),
    ],
)
def test_what_is_no_whole_backup_is_refused_and_the_home_stays(
    alone: tuple[Path, Path], spoil: Callable[[Path], object], told: str
) -> None:
    home, backup = alone
    spoil(backup)
    assert told in cli.run(["restore", str(backup)], home).output
    assert len(cli.told(["list"], home)) == 2
    assert not list(home.parent.glob("home.*"))


def altered(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as one:
        one.execute(sql)
        one.commit()


CUT_OFF = "DELETE FROM stored_events WHERE rowid > (SELECT max(rowid) - 1 FROM stored_events)"
NO_JSON = "UPDATE stored_events SET state = 'x' WHERE rowid = 1"
OLDER = """UPDATE stored_events SET state =
    CAST(replace(CAST(state AS TEXT), '"at":"20', '"at":"19') AS BLOB) WHERE rowid = 1"""


@pytest.mark.parametrize("log", ["journal", "agent"])
@pytest.mark.parametrize("sql", [CUT_OFF, NO_JSON, OLDER])
def test_a_backup_that_is_another_one_than_it_was_is_refused_before_anything_is_asked(
    lost: tuple[Machine, Machine, Path], log: str, sql: str
) -> None:
    desk, _, backup = lost
    before = counted(desk.home)
    altered(backup / f"{log}.db", sql)
    said = desk.refused("restore", str(backup))  # which would ask
    assert f"{backup} was changed since it was made" in said
    assert (counted(desk.home), list(desk.home.parent.glob("desk.*"))) == (before, [])


def test_of_a_backup_that_says_nothing_of_its_ends_what_is_there_comes_back(
    alone: tuple[Path, Path],
) -> None:
    home, backup = alone
    cut = "DELETE FROM stored_events WHERE json_extract(CAST(state AS TEXT), '$.n') = 2"
    altered(backup / "journal.db", cut)
    assert "was changed" in cli.refused(["restore", str(backup)], home)
    note = json.loads((backup / "backup.json").read_text())
    assert set(note.pop("heads")) == {"journal:r1"}
    (backup / "backup.json").write_text(json.dumps(note))
    assert cli.told(["restore", str(backup)], home, env={"WAKELOG_REPLICA": "n"})["proved"]


def test_what_does_not_prove_is_back_and_told(alone: tuple[Path, Path]) -> None:
    """A text, which no chain of digests holds."""
    home, backup = alone
    cli.run(["note", "tap", "It drips since Monday, and since then it drips. " * 200], home)
    shutil.rmtree(backup)
    cli.run(["backup", str(backup)], home)
    altered(backup / "journal.db", "UPDATE payloads SET bytes = CAST('x' AS BLOB)")
    result = cli.run(["--json", "restore", str(backup)], home, env={"WAKELOG_REPLICA": "n"})
    assert (result.exit_code, json.loads(result.stdout)["proved"]) == (1, False)
    again = cli.run(["restore", str(backup)], home, env={"WAKELOG_REPLICA": "m"})
    assert "payload" in again.output
    assert "Fix the tap" in cli.done(["list"], home, env={"WAKELOG_REPLICA": "m"})


def test_the_note_of_a_backup_may_be_damaged(alone: tuple[Path, Path]) -> None:
    home, backup = alone
    (backup / "backup.json").write_bytes(b"\xff{")
    assert cli.run(["restore", str(backup)], home, env={"WAKELOG_REPLICA": "n"}).exit_code == 0


def test_a_person_is_asked_on_a_terminal(lost: tuple[Machine, Machine, Path]) -> None:
    desk, _, backup = lost
    shutil.rmtree(desk.home)
    with on_terminal(desk.home, "restore", str(backup), env=FIXED) as terminal:
        terminal.until("gone for good?")
        terminal.press("y\n")
        status, said = terminal.ended()
    assert status == 0
    assert "It leads now, as desk did" in said
