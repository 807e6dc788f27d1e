"""Who leads where a home goes on under a new name: a copy, restored, or rescued (ADR 76)."""

from pathlib import Path
from shutil import copytree

from adapters.home.home_location import FolderLocation
from adapters.sync.machines import let_lead
from adapters.sync.rescue import rescue
from adapters.sync.sync_home import replicas_of_home
from adapters.text.sync import rescue_lines
from adapters.wiring import open_home
from domain.journal import commands as do
from tests.support import cli
from tests.support.rescuing import Machine, Met, diverged, met, rounds


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


def test_a_dry_run_says_nothing_of_who_leads(tmp_path: Path) -> None:
    home, twin = diverged(tmp_path)
    report = rescue(FolderLocation(twin.home), twin.environ, str(home.folder), is_dry=True)
    assert report.leads == ""
