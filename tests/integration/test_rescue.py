"""A chain that forked: an image that was restored, a twin, a third machine with the wrong branch.

After the rescue all hold the same, and each command is there once, or is listed.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree
from typing import NamedTuple

import pytest

from adapters.documents.syncing import RescueReport
from adapters.home.place import FolderPlace
from adapters.sync.home import travelling
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal import commands as do
from domain.keys import payload_id
from domain.wire import Payload, Words
from tests.support import cli
from tests.support.rescuing import CUT, Machine, Writer, files_of, journal_rows, listed, marks


class Met(NamedTuple):
    """Three machines with a past in common, and the folder where they meet."""

    desk: Machine
    laptop: Machine
    phone: Machine
    folder: Path
    writer: Writer

    @property
    def all(self) -> tuple[Machine, ...]:
        return self.desk, self.laptop, self.phone

    def sync(self, *machines: Machine) -> None:
        for one in machines or self.all:
            one.sync(self.folder)


def met(path: Path, seed: int = 1) -> Met:
    folder = path / "folder"
    folder.mkdir()
    desk, laptop, phone = (Machine(path / one) for one in ("desk", "laptop", "phone"))
    found = Met(desk, laptop, phone, folder, Writer(Random(seed)))
    found.writer.write(desk, 3)
    found.sync()
    found.writer.tasks = dict.fromkeys((laptop.home, phone.home), found.writer.tasks[desk.home])
    found.writer.tasks = {one.home: [*found.writer.tasks[laptop.home]] for one in found.all}
    return found


def rounds(machines: list[Machine], folder: Path, most: int = 8) -> None:
    """Sync all until nothing is written any more; then all hold the same and prove."""
    for _ in range(most):
        before = files_of(folder)
        reports = [one.sync(folder) for one in machines]
        if before == files_of(folder):
            break
    else:
        raise AssertionError("it never ends")
    assert len({one.digest for one in reports}) == 1
    assert not any(one.waiting or one.took or one.gave for one in reports)
    assert len({frozenset(told(one)) for one in machines}) == 1
    assert all(one.proves() for one in machines)


def told(one: Machine) -> set[tuple[str, str]]:
    """The rows that say more than the log of itself."""
    return {row for row in journal_rows(one.home) if not row[0].startswith("log:")}


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


def diverged(path: Path) -> tuple[Met, Machine]:
    """The desk, and a twin of it that wrote other things."""
    home = met(path)
    twin = Machine(home.desk.image(path / "twin"), "desk")
    home.desk.do(do.CreateTask("m100m"), "same key")
    home.sync()
    home.writer.tasks[twin.home] = [*home.writer.tasks[home.desk.home]]
    (task,) = twin.do(do.CreateTask("m101m"))
    text = b"m102m is told at length"
    kept = Payload(payload_id(task, text), text)
    twin.do(do.AddNote(task, "note", Words(payload=kept.id)), "", kept)
    twin.do(do.EditTask(task, title="m103m now"), "own key")
    twin.do(do.CreateTask("m100m"), "same key")
    twin.do(do.StartTimer(task))
    twin.do(do.StopTimer("m104m"))
    return home, twin


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
    assert '"minutes":1' in " ".join(state for _, state in rows) or shown["time"]


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
    if "agent" not in travelling(FolderPlace(twin.home), after):
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
