"""The first run: `wakelog init`, and the machine's time zone, offered where somebody can answer."""

from pathlib import Path

import pytest

from adapters.home.home_location import FolderLocation, keep_zone
from adapters.home.settings import parse
from adapters.home.settings_toml import DEFAULT_TOML
from domain.errors import Refused
from tests.support.cli import done, refused, told
from tests.support.process import ran, read
from tests.support.terminal import on_terminal

pytestmark = pytest.mark.slow

BERLIN = {"TZ": "Europe/Berlin"}
QUESTION = "This machine's time zone is Europe/Berlin. Shall the home use it? [Y/n]: "
ADD = ("task", "add", "Fix the sink")


def zone(home: Path) -> str:
    return parse((home / "settings.toml").read_text(encoding="utf-8")).timezone


def test_the_first_command_that_writes_offers_the_machines_zone_and_no_later_one(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with on_terminal(home, *ADD, env=BERLIN) as terminal:
        assert terminal.until(QUESTION) == ""
        terminal.press("\n")
        assert terminal.ended()[0] == 0
    assert zone(home) == "Europe/Berlin"
    text = (home / "settings.toml").read_text(encoding="utf-8")
    assert text == DEFAULT_TOML.replace('# timezone = "UTC"', 'timezone = "Europe/Berlin"')
    with on_terminal(home, "task", "add", "Second", env={"TZ": "Asia/Tokyo"}) as terminal:
        assert "zone" not in terminal.ended()[1]


def test_who_says_no_keeps_utc(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with on_terminal(home, *ADD, env=BERLIN) as terminal:
        terminal.until(QUESTION)
        terminal.press("n\n")
        assert terminal.ended()[0] == 0
    assert zone(home) == "UTC"


@pytest.mark.parametrize(
    ("options", "env"),
    [
        (("--json",), {}),
        ((), {"WAKELOG_NOW": "2027-01-01T09:00:00Z"}),
        ((), {"WAKELOG_REPLICA": "r1"}),
        ((), {"WAKELOG_TIMEZONE": "Asia/Tokyo"}),
        ((), {"TZ": "CET-1CEST"}),
    ],
)
def test_nobody_is_asked_where_a_run_is_pinned_or_no_person_is_there(
    tmp_path: Path, options: tuple[str, ...], env: dict[str, str]
) -> None:
    home = tmp_path / "home"
    with on_terminal(home, *options, *ADD, env={**BERLIN, **env}) as terminal:
        status, seen = terminal.ended()
    assert (status, "This machine" in seen, zone(home)) == (0, False, "UTC")


def test_without_a_terminal_nobody_is_asked_and_the_doctor_says_that_zones_differ(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    ran(home, *ADD, more=BERLIN)
    found = ran(home, "doctor", more=BERLIN)
    assert "this machine's is Europe/Berlin: `wakelog init --zone Europe/Berlin` takes it" in found
    ran(home, "init", "--zone", "Europe/Berlin", more=BERLIN)
    assert "init" not in ran(home, "doctor", more=BERLIN)
    assert read(home, "doctor", more=BERLIN)["ok"]


def test_init_asks_for_zone_file_and_agents(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "TODO.md").write_text("- [ ] Fix the sink\n- [ ] Renew the passport\n")
    with on_terminal(home, "init", env=BERLIN) as terminal:
        terminal.until(QUESTION)
        terminal.press("y\n")
        terminal.until("A file of tasks to import, or Enter: ")
        terminal.press("TODO.md\n")
        terminal.until("TODO.md: 2 created")
        terminal.until("Make an agent for each open task? [Y/n]: ")
        terminal.press("\n")
        terminal.until("Made 2 agents.")
        assert terminal.ended()[0] == 0
    assert zone(home) == "Europe/Berlin"


def test_init_asks_nothing_that_an_option_says(tmp_path: Path) -> None:
    home = tmp_path / "home"
    options = ("--zone", "Asia/Tokyo", "--no-import", "--no-agents")
    with on_terminal(home, "init", *options, env=BERLIN) as terminal:
        status, seen = terminal.ended()
    assert (status, "?" in seen, zone(home)) == (0, False, "Asia/Tokyo")


def test_init_without_a_terminal_does_what_options_say_and_twice_is_as_once(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    file.write_text("- [ ] Fix the sink\n")
    options = ["init", "--import", str(file), "--agents", "--zone", "Europe/Berlin"]
    first, second = told(options, home), told(options, home)
    assert (first["timezone"], first["agents"], second["agents"]) == ("Europe/Berlin", 1, 0)
    assert len(told(["task", "list"], home)) == 1
    assert "no time zone" in refused(["init", "--zone", "Europe/Berlinn"], home)
    assert "The home is" not in done(["init"], home)


def test_a_zone_is_kept_at_its_place_and_all_else_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Fix the sink"], home)
    settings = home / "settings.toml"
    for before, after in (
        ("timezone = 'Asia/Tokyo'  # mine\n[agents]\n", 'timezone = "UTC"  # mine\n[agents]\n'),
        ("[agents]\nenabled = false\n", 'timezone = "UTC"\n[agents]\nenabled = false\n'),
    ):
        settings.write_text(before, encoding="utf-8")
        keep_zone(FolderLocation(home), "UTC", {})
        assert settings.read_text(encoding="utf-8") == after
    with pytest.raises(Refused, match="no time zone"):
        keep_zone(FolderLocation(home), "localtime", {})
