"""A chain that forked: an image that was restored, a twin, a third machine with the wrong branch.

After the rescue all hold the same, and each command is there once, or is listed. Who leads then,
what a rescue leaves that is cut off or refused, and what it says (ADR 74, 76)."""

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
from adapters.sync.machines import let_lead
from adapters.sync.sync_home import replicas_of_home, travelling_names
from adapters.text.sync import rescue_lines
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal import commands as do
from domain.log.keys import payload_id
from tests.support import cli
from tests.support.rescuing import (
    CUT,
    Machine,
    Met,
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


# ---------------------------------------------------------------------------------------- who leads


def leads(*machines: Machine) -> set[str]:
    return {_lead(one) for one in machines}


def _lead(one: Machine) -> str:
    with open_home(one.home, one.environ) as home:
        return home.services.lead


def gone(one: Machine) -> list[str]:
    with open_home(one.home, one.environ) as home:
        return [line.replica for line in replicas_of_home(home) if line.retired]


def let(one: Machine) -> None:
    with open_home(one.home, one.environ, is_writing=True) as home:
        let_lead(home)


def without_the_newest_journal(home: Met, path: Path) -> Machine:
    """The desk, whose journal alone was restored."""
    image = home.desk.image(path / "image")
    cli.done(["agent", "create", "--all"], home.desk.home, env=env_of(home.desk))
    home.desk.do(do.CreateTask("m100m"))
    cli.done(["run", "--until-idle"], home.desk.home, env=env_of(home.desk))
    home.sync()
    put_back(image, home.desk)
    return home.desk


def put_back(image: Path, one: Machine) -> None:
    """The journal alone, as an image has it."""
    for end in ("", "-wal", "-shm"):
        (one.home / f"journal.db{end}").unlink(missing_ok=True)
        if (image / f"journal.db{end}").exists():
            (one.home / f"journal.db{end}").write_bytes((image / f"journal.db{end}").read_bytes())


def env_of(one: Machine) -> dict[str, str]:
    return {**one.environ, "WAKELOG_NOW": cli.NOW}


def test_who_was_forked_leaves_the_lead_to_the_home_that_keeps_its_name(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    report = twin.rescue(home.folder, "desk2")
    assert report.leads == "desk"
    told = " ".join(rescue_lines(report, "UTC"))
    assert "desk leads, as before." in told
    assert "`wakelog replicas retire desk`" in told
    rounds([*home.all, twin], home.folder)
    assert leads(*home.all, twin) == {"desk"}
    assert gone(twin) == []


def test_one_that_did_not_lead_says_nothing_of_it(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    let(home.laptop)
    home.sync()
    report = twin.rescue(home.folder, "desk2")
    assert report.leads == ""
    assert leads(twin) == {"laptop"}


def test_who_only_took_in_what_was_given_up_goes_on_leading(tmp_path: Path) -> None:
    """Nobody else writes under its name: the new one takes its place whole."""
    home = met(tmp_path)
    twin = Machine(home.desk.image(tmp_path / "twin"), "desk")
    stick = Path(copytree(home.folder, tmp_path / "stick"))
    twin.do(do.CreateTask("m200m"))
    twin.sync(stick)
    home.phone.sync(stick)
    let(home.phone)
    home.desk.do(do.CreateTask("m201m"))
    home.sync()
    twin.rescue(home.folder, "desk2")
    assert home.phone.is_forked(home.folder)
    report = home.phone.rescue(home.folder, "phone2")
    assert report.leads == ""
    rounds([*home.all, twin], home.folder)
    assert leads(*home.all, twin) == {"phone2"}
    assert gone(twin) == ["phone"]


def test_a_home_that_was_restored_by_half_goes_on_leading(tmp_path: Path) -> None:
    home = met(tmp_path)
    desk = without_the_newest_journal(home, tmp_path)
    desk.name = "desk2"
    cli.done(["home", "adopt", "restored"], desk.home, env=env_of(desk))
    assert leads(desk) == {"desk2"}
    rounds([*home.all], home.folder)
    assert leads(*home.all) == {"desk2"}
    assert gone(home.laptop) == ["desk"]


def test_a_copy_never_leads_as_its_original_does(tmp_path: Path) -> None:
    home = met(tmp_path)
    copy = home.desk.image(tmp_path / "copy")
    env = {"WAKELOG_REPLICA": "", "WAKELOG_NOW": cli.NOW, "WAKELOG_TIMEZONE": "UTC"}
    (copy / "replica").write_text("desk")
    (copy / "installation").write_text('{"id":"i1","inode":1,"device":1}')
    cli.done(["home", "adopt", "copy"], copy, env=env)
    new = Machine(copy, (copy / "replica").read_text().strip())
    rounds([*home.all, new], home.folder)
    assert leads(*home.all, new) == {"desk"}
    assert gone(new) == []


def test_of_a_restored_copy_the_original_leads(tmp_path: Path) -> None:
    home = met(tmp_path)
    before = without_the_newest_journal(home, tmp_path).image(tmp_path / "copy")
    home.desk.restore(tmp_path / "image")
    (before / "replica").write_text("desk")
    (before / "installation").write_text('{"id":"i1","inode":1,"device":1}')
    env = {"WAKELOG_REPLICA": "", "WAKELOG_NOW": cli.NOW, "WAKELOG_TIMEZONE": "UTC"}
    cli.done(["home", "adopt", "restored"], before, env=env)
    new = Machine(before, (before / "replica").read_text().strip())
    assert leads(new) == {"desk"}


def test_a_home_that_never_met_another_is_adopted_as_ever(tmp_path: Path) -> None:
    one = Machine(tmp_path / "desk")
    one.do(do.CreateTask("m1m"))
    image = one.image(tmp_path / "image")
    cli.done(["agent", "create", "--all"], one.home, env=env_of(one))
    one.do(do.CreateTask("m2m"))
    cli.done(["run", "--until-idle"], one.home, env=env_of(one))
    put_back(image, one)
    one.name = "desk2"
    before = (one.home / "agent.db").read_bytes()
    cli.done(["home", "adopt", "restored"], one.home, env=env_of(one))
    assert (one.home / "agent.db").read_bytes() == before


# --------------------------------------------------------------------------- cut off, refused, told


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
    assert "leads" not in done
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
