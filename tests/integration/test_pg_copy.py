"""A home moves between folders and a database, row for row and byte for byte."""

from pathlib import Path

import pytest

from adapters.home.home_location import HomeLocation, location_of
from adapters.home.write_guard import WriteGuard
from adapters.store import log_copy
from adapters.store.postgres.homes import Homes
from adapters.upkeep.home_copy import copy_home
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal.commands import CreateTask
from tests.golden.homes import HOMES as GOLDEN
from tests.support import process
from tests.support.cli import done, refused, told

pytestmark = pytest.mark.slow
AT = "2027-01-01T00:00:00.000000Z"


@pytest.fixture
def environ(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    return {
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def contents(home: Path | str, environ: dict[str, str]) -> list[object]:
    """All rows and texts of a home, in their order."""
    with open_home(location_of(str(home), environ), environ) as opened:
        logs = opened.services.journal, opened.services.agents
        return [(list(one.rows()), sorted(one.kept_payloads())) for one in logs]


def test_a_home_goes_there_and_back_and_is_the_same(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home, back = tmp_path / "home", tmp_path / "back"
    GOLDEN["demo"].put(tmp_path)
    before = contents(home, environ)
    digest = told(["prove"], home)["digest"]
    settings = (home / "settings.toml").read_text(encoding="utf-8")
    copied = told(["copy", str(home), "pg:anna"], "-", env=environ)
    assert (copied["target"], copied["agent"] > 100) == ("pg:anna", True)
    assert contents("pg:anna", environ) == before
    assert told(["prove"], "pg:anna", env=environ)["digest"] == digest
    assert "has moved to pg:anna" in refused(["task", "add", "x"], home, env=environ)
    assert "has moved to pg:anna" in refused(["home", "thaw"], home, env=environ)
    assert told(["task", "list"], home, env=environ)  # it is read as before
    done(["copy", "pg:anna", str(back)], "-", env=environ)
    assert contents(back, environ) == before == contents(home, environ)
    assert (back / "settings.toml").read_text(encoding="utf-8") == settings
    assert told(["prove"], back, env=environ)["digest"] == digest
    done(["task", "add", "it goes on"], back, env=environ)
    assert "has moved" in refused(["task", "add", "x"], "pg:anna", env=environ)


def test_a_command_that_copies_a_home_out_leaves_nothing_open_to_stumble_over(
    environ: dict[str, str], tmp_path: Path
) -> None:
    done(["home", "create", "anna"], "-", env=environ)
    out = str(tmp_path / "out")
    ended = process.ended(tmp_path / "home", "--quiet", "copy", "pg:anna", out, more=environ)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_moved_out_comes_in_again_once_its_name_is_free(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    done(["home", "create", "anna"], "-", env=environ)
    done(["task", "add", "Fix the sink"], "pg:anna", env=environ)
    done(["copy", "pg:anna", home], "-", env=environ)
    done(["home", "rename", "anna", "anna-before"], "-", env=environ)
    done(["copy", home, "pg:anna"], "-", env=environ)
    done(["task", "add", "It goes on"], "pg:anna", env=environ)


def test_a_copy_that_is_cut_off_goes_on_where_it_was(
    environ: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_home(home, {"WAKELOG_REPLICA": "r1"}, is_writing=True) as opened:
        for nth in range(log_copy.APPENDS_A_PAGE * 2 + 10):
            opened.services.journal.append(CreateTask(f"{nth}"), AT)
    here, there = location_of(str(home), environ), location_of("pg:ben", environ)
    said: list[tuple[str, int]] = []

    def cut(log: str, n: int, _of: int) -> None:
        if (log, n) not in said:
            said.append((log, n))
            raise KeyboardInterrupt

    while True:  # cut once at each page
        try:
            copy_home(here, there, environ, cut)
        except KeyboardInterrupt:
            assert (here.hold().state, there.hold().state) == ("open", "frozen")
        else:
            break
        if len(said) == 1:
            for args in (["task", "add", "x"], ["home", "thaw"]):
                assert "cut off" in refused(args, "pg:ben", env=environ)
            done(["task", "add", "meanwhile"], home, env=environ)
    pages = [n for log, n in said if log == "journal"]
    assert pages[:2] == [500, 1000]
    assert len(pages) == 3
    assert contents("pg:ben", environ) == contents(home, environ)


def test_nothing_is_overwritten_and_nobody_writes_meanwhile(
    environ: dict[str, str], tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for home in (one, two):
        done(["task", "add", "a task"], home, env=environ)
    done(["home", "create", "carl"], "-", env=environ)
    assert "not empty" in refused(["copy", str(one), str(two)], "-", env=environ)
    assert "there is a home pg:carl" in refused(["copy", str(one), "pg:carl"], "-", env=environ)
    assert "no home at" in refused(["copy", str(tmp_path / "no"), "pg:x"], "-", env=environ)
    done(["task", "add", "still open"], one, env=environ)
    with open_home(one, environ, is_writing=True):
        assert "in use" in refused(["copy", str(one), "pg:dora"], "-", env=environ)
    carl: HomeLocation = location_of("pg:carl", environ)
    with open_home(carl, environ, is_writing=True) as opened:  # as a server has it open
        carl.keep_hold(WriteGuard("frozen", "to pg:dora"))
        with pytest.raises(Refused, match="frozen"):
            opened.services.journal.append(CreateTask("lost"), AT)
    assert "being copied" in refused(["task", "add", "x"], "pg:carl", env=environ)
    assert "may be written again" in done(["home", "thaw"], "pg:carl", env=environ)
    assert "is not frozen" in done(["home", "thaw"], "pg:carl", env=environ)
    done(["task", "add", "x"], "pg:carl", env=environ)
