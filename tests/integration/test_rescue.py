"""A chain that forked: an image that was restored, a twin, a third machine with the wrong branch.

After the rescue all hold the same, and each command is there once, or is listed.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest

from adapters.documents.sync import RescueReport
from adapters.home.home_location import FolderLocation
from adapters.sync.sync_home import travelling_names
from domain.journal import commands as do
from domain.log.keys import payload_id
from tests.support import cli
from tests.support.rescuing import (
    Machine,
    diverged,
    files_of,
    journal_rows,
    listed,
    marks,
    met,
    rounds,
)


def check_nothing_lost(done: set[str], there: Counter[str], reports: list[RescueReport]) -> None:
    """Each command that was done is there once, or is listed."""
    missing = set[str]().union(*(listed(one) for one in reports))
    assert set(there.values()) <= {1}
    assert done == there.keys() | missing
    assert not there.keys() & missing


@pytest.mark.parametrize("seed", range(1, 12))
def test_each_command_of_both_branches_is_there_once_or_is_listed(
    tmp_path: Path, seed: int
) -> None:
    """Either branch may reach a third machine first, and the wrong one may be published."""
    home = met(tmp_path, seed)
    chance = home.writer.chance
    image = home.desk.image(tmp_path / "image")
    wrong = Machine(image, "desk")
    home.writer.tasks[image] = [*home.writer.tasks[home.desk.home]]
    stick = Path(copytree(home.folder, tmp_path / "stick"))
    has_phone = chance.random() < 0.5
    home.desk.do(do.CreateTask("m0m"))
    home.desk.sync(home.folder)
    for _ in range(3):
        home.writer.write(home.desk, chance.randrange(3))
        home.writer.write(home.laptop, chance.randrange(2))
        home.writer.write(wrong, chance.randrange(3))
        if chance.random() < 0.6:
            home.sync(home.desk, home.laptop)
        if chance.random() < 0.6:
            wrong.sync(stick)
        if has_phone:
            home.phone.sync(stick)
            home.writer.write(home.phone, chance.randrange(3))
    home.sync(home.desk, home.laptop)
    copytree(stick, home.folder, dirs_exist_ok=True)
    home.desk.is_forked(home.folder)
    machines = [home.desk, wrong, home.laptop, home.phone]
    done = {mark for one in machines for mark in marks(one.home)}
    assert wrong.is_forked(home.folder)
    reports = [wrong.rescue(home.folder, "desk2")]
    if home.phone.is_forked(home.folder):
        reports.append(home.phone.rescue(home.folder, "phone2"))
    rounds(machines, home.folder)
    there = marks(home.desk.home)
    check_nothing_lost(done, there, [one for one in reports if one.copy])
    assert all(one.synced for one in reports)


def test_of_an_image_that_wrote_nothing_only_a_name_is_drawn(tmp_path: Path) -> None:
    home = met(tmp_path)
    image = home.desk.image(tmp_path / "image")
    home.writer.write(home.desk, 4)
    home.sync()
    home.desk.restore(image)
    assert home.desk.is_forked(home.folder)
    report = home.desk.rescue(home.folder, "desk2")
    assert (report.copy, report.causes, report.void) == ("", 0, [])
    assert report.synced
    assert report.synced.took["desk"] > 0
    assert not (home.desk.home / "forks").exists()
    home.writer.write(home.desk, 2)
    rounds([*home.all], home.folder)


def test_callers_keys_stay_and_what_is_named_by_derived_ones_gets_other_names(
    tmp_path: Path,
) -> None:
    home, twin = diverged(tmp_path)
    report = twin.rescue(home.folder, "desk2")
    assert (report.causes, report.redone, report.answered, report.refused) == (6, 5, 1, [])
    rounds([*home.all, twin], home.folder)
    assert marks(home.phone.home)["m100m"] == 1
    tasks = cli.told(["task", "list"], home.phone.home, env=home.phone.environ)
    (task,) = [one["id"] for one in tasks if one["title"] == "m103m now"]
    shown = cli.told(["task", "show", task], home.phone.home, env=home.phone.environ)
    assert [one["text"] for one in shown["notes"]] == ["m102m is told at length"]
    rows = journal_rows(home.phone.home)
    assert f"receipt:own key@{twin.name}" in {stream for stream, _ in rows}
    with closing(sqlite3.connect(home.phone.home / "journal.db")) as journal:
        ids = {one for (one,) in journal.execute("SELECT id FROM payloads")}
    assert payload_id(task, b"m102m is told at length") in ids


def test_what_was_done_again_has_its_old_times_whatever_anothers_clock_says(tmp_path: Path) -> None:
    home = met(tmp_path)
    twin = Machine(home.desk.image(tmp_path / "twin"), "desk")
    Machine.seconds += 86_400
    for nth in range(90, 99):
        home.laptop.do(do.CreateTask(f"m{nth}m"))
    home.sync(home.laptop)
    Machine.seconds -= 86_400
    twin.sync(Path(copytree(home.folder, tmp_path / "stick")))
    home.desk.do(do.CreateTask("m100m"))
    home.sync(home.desk)
    (task,) = twin.do(do.CreateTask("m101m"))
    twin.do(do.StartTimer(task))
    twin.do(do.StopTimer("m102m"))
    times = [state["at"] for state in commands(twin.home, "desk")][-3:]
    assert twin.rescue(home.folder, "desk2").redone == 3
    assert [state["at"] for state in commands(twin.home, "desk2")] == times


def commands(home: Path, replica: str) -> list[dict[str, str]]:
    """The rows in which a replica keeps its commands, in order."""
    rows = [
        state
        for stream, state in journal_rows(home)
        if f"@{replica}" == stream[-len(replica) - 1 :]
    ]
    return [one for one in map(json.loads, rows) if "command" in one["data"]]


def test_a_third_machine_waits_for_the_fork_and_goes_on_when_it_is_rescued(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    stick = tmp_path / "stick"
    stick.mkdir()
    twin.sync(stick)
    copytree(stick, home.folder, dirs_exist_ok=True)
    home.writer.write(home.laptop, 3)
    reports = home.laptop.sync(home.folder), home.phone.sync(home.folder)
    assert [[(one.replica, one.for_) for one in found.waiting] for found in reports] == [
        [("desk", "fork")]
    ] * 2
    assert reports[1].took["laptop"] > 0
    assert home.desk.is_forked(home.folder)
    dead = {name for name in files_of(home.folder) if name.startswith("desk/journal")}
    assert not twin.rescue(home.folder, "desk2").sync_refused
    dead -= {name for name in files_of(home.folder) if name.startswith("desk/journal")}
    assert dead
    assert not home.laptop.sync(home.folder).waiting
    assert not home.desk.is_forked(home.folder)
    rounds([*home.all, twin], home.folder)


def test_what_takes_back_or_settles_is_of_the_same_deeds_afterwards(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    home.desk.do(do.CreateTask("m110m"))
    home.sync(home.desk)
    env = {**twin.environ, "WAKELOG_NOW": cli.NOW}
    cli.done(["task", "set", "m103m now", "--priority", "p0"], twin.home, env=env)
    cli.done(["task", "set", "m103m now", "--estimate", "9"], twin.home, env=env)
    cli.done(["undo"], twin.home, env=env)
    cli.done(["task", "set", "m103m now", "--due", "2027-05-05"], twin.home, env=env)
    first = journal_rows(twin.home)
    assert "command.undo_deed.1" in str(first)
    assert twin.rescue(home.folder, "desk2").refused == []
    (found,) = [
        one
        for one in cli.told(["task", "list"], twin.home, env=twin.environ)
        if one["title"] == "m103m now"
    ]
    assert (found["priority"], found["estimate_minutes"], found["due_date"]) == (
        "P0",
        None,
        "2027-05-05",
    )
    rounds([*home.all, twin], home.folder)


@pytest.mark.parametrize("how", ["copy", "restored"])
def test_a_home_that_is_adopted_syncs_as_any_other(tmp_path: Path, how: str) -> None:
    """The name is drawn before anything is written under the old one: there is no fork."""
    home = met(tmp_path)
    env = {"WAKELOG_REPLICA": "", "WAKELOG_NOW": cli.NOW, "WAKELOG_TIMEZONE": "UTC"}
    cli.done(["agent", "create", "--all"], home.desk.home, env=env)
    image = home.desk.image(tmp_path / "image")
    home.desk.do(do.CreateTask("m100m"))
    cli.done(["run", "--until-idle"], home.desk.home, env={**env, "WAKELOG_REPLICA": "desk"})
    home.sync()
    if how == "copy":
        cli.done(["home", "adopt", "copy"], image, env=env)
    else:
        image = home.desk.image(tmp_path / "restored")
        (image / "journal.db").write_bytes((tmp_path / "image" / "journal.db").read_bytes())
        for end in ("-wal", "-shm"):
            (image / f"journal.db{end}").unlink(missing_ok=True)
        cli.done(["home", "adopt", "restored"], image, env=env)
    new = Machine(image, (image / "replica").read_text().strip())
    assert new.name != "desk"
    report = new.sync(home.folder)
    assert (report.took["desk"] > 0, report.waiting) == (True, [])
    new.do(do.CreateTask("m101m"))
    rounds([*home.all, new], home.folder)


def test_what_agents_did_is_not_repeated_and_what_was_decided_stands_once(tmp_path: Path) -> None:
    """Verdicts on what was proposed before the split, wakes after it, and an agent of a task that
    was made there."""
    home = met(tmp_path)
    env = {**home.desk.environ, "WAKELOG_NOW": cli.NOW}
    at_desk, title = partial(cli.done, env=env), "Fix the sink"
    at_desk(["task", "add", title, "--item", "Buy parts"], home.desk.home)
    at_desk(["task", "note", title, "Takes about 2 hours. Due on 2027-02-03."], home.desk.home)
    at_desk(["agent", "create", title], home.desk.home)
    at_desk(["wake"], home.desk.home)
    home.sync()
    twin = Machine(home.desk.image(tmp_path / "twin"), "desk")
    at_desk(["task", "add", "Elsewhere"], home.desk.home)
    home.sync()
    (proposed,) = cli.told(["inbox"], twin.home, env=env)
    refs = [one["ref"] for one in proposed["items"]]
    assert len(refs) > 1
    at_desk(["confirm", refs[0]], twin.home)
    at_desk(["reject", refs[1]], twin.home)
    at_desk(["task", "add", "Paint it"], twin.home)
    at_desk(["agent", "create", "Paint it"], twin.home)
    at_desk(["wake"], twin.home)
    operations = applied(twin.home)
    assert operations
    report = twin.rescue(home.folder, "desk2")
    assert (report.refused, report.sync_refused) == ([], "")
    assert applied(twin.home) == operations
    assert set(operations.values()) == {1}
    rounds([*home.all, twin], home.folder)
    after = {**env, "WAKELOG_REPLICA": "desk2"}
    if "agent" not in travelling_names(FolderLocation(twin.home), after):
        return  # the watcher that was here is taken for one who knows what others wrote as `desk`
    cli.done(["run", "--until-idle"], twin.home, env=after)
    assert cli.told(["task", "show", title], twin.home, env=after)["title"] == title
    titles = {one["name"] for one in cli.told(["agent", "list"], twin.home, env=after)}
    assert titles == {title, "Paint it"}
    rounds([*home.all, twin], home.folder)
    assert applied(home.phone.home) == operations


def applied(home: Path) -> Counter[str]:
    """How often each operation of an agent has a receipt."""
    found = [json.loads(state) for stream, state in journal_rows(home) if stream[:7] == "receipt"]
    commands = [one["data"]["command"] for one in found]
    return Counter(one["operation"] for one in commands if one.get("operation"))


def test_an_image_from_before_the_first_sync_is_rescued_as_well(tmp_path: Path) -> None:
    desk, folder = Machine(tmp_path / "desk"), tmp_path / "folder"
    folder.mkdir()
    (task,) = desk.do(do.CreateTask("m1m"))
    twin = Machine(desk.image(tmp_path / "twin"), "desk")
    desk.do(do.CreateTask("m2m"))
    twin.do(do.EditTask(task, title="m3m now"))
    desk.sync(folder)
    assert twin.is_forked(folder)
    assert twin.rescue(folder, "desk2").redone == 1
    rounds([desk, twin], folder)
    assert marks(desk.home) == Counter(["m1m", "m2m", "m3m"])


def test_an_image_that_comes_back_once_more_is_not_done_twice(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    image = twin.image(tmp_path / "image")
    twin.rescue(home.folder, "desk2")
    rounds([*home.all, twin], home.folder)
    there = marks(home.desk.home)
    again = Machine(image, "desk")
    again.do(do.CreateTask("m200m"))
    assert again.is_forked(home.folder)
    report = again.rescue(home.folder, "desk3")
    assert (report.causes, report.redone, report.answered) == (7, 1, 6)
    rounds([*home.all, twin, again], home.folder)
    assert marks(home.phone.home) == there + Counter(["m200m"])


def test_where_both_homes_of_a_fork_are_rescued_nothing_is_lost_either(tmp_path: Path) -> None:
    """Each took in the branch that the other one gave up, and is told so."""
    home, twin = diverged(tmp_path)
    twin.do(do.CreateTask("m120m"))
    home.desk.do(do.CreateTask("m121m"), "a key")
    done = marks(twin.home).keys() | marks(home.desk.home).keys()
    stick = tmp_path / "stick"
    stick.mkdir()
    twin.sync(stick)
    home.desk.sync(home.folder)
    other = Path(copytree(home.folder, tmp_path / "other"))
    twin.rescue(other, "twin2")
    home.desk.rescue(stick, "desk2")
    for folder in other, stick:
        copytree(folder, home.folder, dirs_exist_ok=True)
    (home.folder / "desk" / "have.json").unlink()
    machines = {"twin": twin, "desk": home.desk, "laptop": home.laptop, "phone": home.phone}
    for nth in range(3, 6):
        for name, one in machines.items():
            if one.is_forked(home.folder):
                one.rescue(home.folder, f"{name}{nth}")
    rounds([*machines.values()], home.folder)
    there = marks(home.laptop.home)
    assert there.keys() == done
    assert {mark for mark in there if there[mark] > 1} <= {"m100m"}  # of one key on both: one deed
