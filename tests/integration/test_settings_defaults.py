"""What an operator sets for all homes of a database counts below theirs, and may be locked."""

from pathlib import Path

import pytest

from adapters.home.home_location import DatabaseLocation
from adapters.home.settings import Settings
from adapters.store.postgres.homes import Homes
from tests.support.cli import done, refused, run, told

pytestmark = pytest.mark.slow


@pytest.fixture
def environ(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    return {
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def test_defaults_count_where_a_home_says_nothing_and_a_locked_key_is_not_set(
    environ: dict[str, str], postgres_homes: Homes
) -> None:
    def found() -> Settings:
        return DatabaseLocation(postgres_homes, "anna", environ).settings({})

    def of_all(*args: str) -> str:
        return done(["settings", "--defaults", *args], "-", env=environ)

    done(["home", "create", "anna"], "-", env=environ)
    assert of_all("show").strip() == ""
    assert found() == Settings()
    of_all("set", "agents.parallel", "2")
    of_all("set", "agents.mode", "interactive")
    of_all("set", "timezone", "Europe/Berlin")
    done(["settings", "set", "agents.parallel", "5"], "pg:anna", env=environ)
    assert (found().agents.parallel, found().agents.mode) == (5, "interactive")
    assert found().timezone == "Europe/Berlin"

    of_all("set", "locked.agents.parallel", "true")
    assert found().agents.parallel == 2  # what the home has does not count any more
    done(["settings", "set", "currency", "EUR"], "pg:anna", env=environ)  # and stands in no way
    said = refused(["settings", "set", "agents.parallel", "6"], "pg:anna", env=environ)
    assert f"agents.parallel is locked by the defaults of {postgres_homes.database.name}" in said
    of_all("set", "locked.agents.parallel", "false")
    assert found().agents.parallel == 5

    of_all("set", "openai.base_url", "https://company.example/v1")
    of_all("set", "openai.key", "env:COMPANY_KEY")
    assert found().openai.key == "env:COMPANY_KEY"
    done(["settings", "set", "openai.base_url", "https://else.example/v1"], "pg:anna", env=environ)
    assert found().openai.key == ""  # it is for the other address

    shown = told(["settings", "--defaults", "show"], "-", env=environ)
    assert shown["home"] == postgres_homes.database.name
    for key, value, words in (
        ("agents.parallel", "many", "agents.parallel: expected a whole number"),
        ("agents.paralel", "3", "agents.paralel is not known; did you mean agents.parallel?"),
        ("locked.agents.paralel", "true", "the locked key agents.paralel is not known"),
        ("locked.model", "3", "locked.model is 3; write true"),
        ("openai.key", "sk-abcdefghijklmnopqrstuv", "key"),
    ):
        assert words in refused(["settings", "--defaults", "set", key, value], "-", env=environ)
    assert told(["settings", "--defaults", "show"], "-", env=environ) == shown


def test_defaults_are_of_a_database_and_a_folder_has_none(tmp_path: Path) -> None:
    said = refused(["settings", "--defaults", "show"], tmp_path / "home")
    assert "WAKELOG_DATABASE is not set" in said
    assert run(["settings", "show"], tmp_path / "home").exit_code == 0
