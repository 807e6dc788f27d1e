"""A home in PostgreSQL is made by name, proved as a folder is, and says what it cannot do; what an
operator sets for all homes counts below theirs, and may be locked."""

from pathlib import Path
from typing import Any

import pytest

import wakelog
from adapters.cluster.rebuild_views import ViewRebuilder
from adapters.home.home_location import DatabaseLocation
from adapters.home.settings import Settings
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.leases import HomeLeases
from adapters.store.postgres.schema import ALL
from adapters.wiring import Home, open_home
from projections.all_views import VIEWS
from tests.support import process
from tests.support.cli import FIXED, done, refused, run, told

pytestmark = pytest.mark.slow


@pytest.fixture
def environ(postgres_homes: Homes, tmp_path: Path) -> dict[str, str]:
    return {
        "WAKELOG_DATABASE": postgres_homes.database.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def test_a_home_is_made_once_by_name_and_keeps_its_settings(environ: dict[str, str]) -> None:
    there = "pg:anna"
    assert told(["home", "list"], "-", env=environ) == []
    assert told(["home", "create", "anna"], "-", env=environ)["home"] == there
    assert [one["name"] for one in told(["home", "list"], there, env=environ)] == ["anna"]
    assert told(["status"], there, env=environ)["home"] == there
    done(["init", "--zone", "Europe/Berlin", "--no-import"], there, env=environ)
    for key, value in (("agents.parallel", "6"), ("currency", "EUR"), ("agents.parallel", "7")):
        done(["settings", "set", key, value], there, env=environ)
    kept = told(["settings", "show"], there, env=environ)["text"]
    assert kept.endswith("[agents]\nparallel = 7\n")
    assert 'currency = "EUR"' in kept
    assert "agents.parallel" in refused(
        ["settings", "set", "agents.parallel", "many"], there, env=environ
    )
    assert told(["settings", "show"], there, env=environ)["text"] == kept
    assert "time zone Europe/Berlin" in done(["doctor"], there, env=environ)


def test_a_home_in_a_database_is_opened_from_python_and_offered_by_the_shell(
    environ: dict[str, str], tmp_path: Path
) -> None:
    there, todo = "pg:emil", tmp_path / "TODO.md"
    todo.write_text("- [ ] Mend the fence #home\n\n  It takes 2 hours.\n", "utf-8")
    own = {**FIXED, **environ}
    done(["home", "create", "emil"], "-", env=environ)
    with wakelog.open_home(environ={**own, "WAKELOG_HOME": there}) as home:
        home.import_file(todo)
        home.create_agent("fence")
        assert home.wake("fence").proposals == 1
        assert home.confirm("1.1").status == "confirmed"
        wakes = [(len(home.wakes()),)]
        assert list(home.sql("SELECT count(*) FROM wakes")) == wakes
        with home.connect() as connection:
            assert connection.execute("SELECT count(*) FROM wakes").fetchall() == wakes
        assert home.prove().ok
        assert repr(home) == "<wakelog home pg:emil>"
    with pytest.raises(wakelog.Refused, match="there is no home 'fritz'"):
        wakelog.open_home("pg:fritz", environ=own, may_be_new=True)
    words = {"COMP_WORDS": "wakelog task show fence", "COMP_CWORD": "3", "WAKELOG_HOME": there}
    asked = {**environ, **words, "_WAKELOG_COMPLETE": "zsh_complete"}
    assert "Mend the fence" in process.ran(tmp_path, more=asked).splitlines()
    for folder in ("demo", "demo-data"):
        assert "pg:emil is a home in a database" in refused([folder], there, env=environ)


def test_a_proof_of_a_home_in_a_database_is_remembered_as_one_of_a_folder_is(
    environ: dict[str, str], postgres_homes: Homes
) -> None:
    here, last = "pg:carl", ["prove", "--since", "last"]
    done(["home", "create", "carl"], here, env=environ)
    done(["task", "add", "Mend the fence"], here, env=environ)
    done(["agent", "create", "--task", "fence"], here, env=environ)
    done(["prove"], here, env=environ)
    done(["task", "note", "fence", "It takes 2 hours."], here, env=environ)
    done(["wake"], here, env=environ)
    proved = told(last, here, env=environ)
    whole = told(["prove"], here, env=environ)
    assert min(proved["executed"], proved["remembered"]) > 0
    assert proved["executed"] + proved["remembered"] == whole["causes"]
    assert (proved["digest"], proved["heads"]) == (whole["digest"], whole["heads"])
    assert told(last, here, env=environ)["executed"] == 0
    done(["home", "create", "dora"], "-", env=environ)
    assert told(last, "pg:dora", env=environ)["memory_file"] is None  # not carl's
    forge = (
        "UPDATE views.documents SET document = convert_to(replace(convert_from(document, 'UTF8'),"
        " 'Mend', 'Burn'), 'UTF8') WHERE view LIKE 'tasks.%'"
    )
    with postgres_homes.database.connection() as connection:
        connection.execute(forge)
    result = run(["prove"], here, env=environ)
    assert result.exit_code == 1
    assert "view differs" in result.stdout
    assert "tasks." in result.stdout
    assert told(["prove", "--no-views"], here, env=environ)["ok"]
    with postgres_homes.database.connection() as connection:  # as its owner, at the same length
        connection.execute("UPDATE agent.payloads SET bytes = set_byte(bytes, 0, 126)")
    result = run(last, here, env=environ)
    assert result.exit_code == 1
    assert "data altered" in result.stdout
    assert not Path(whole["memory_file"]).exists()


def test_a_worker_makes_views_that_another_version_left_and_takes_those_away_later(
    environ: dict[str, str], postgres_homes: Homes
) -> None:
    for name in ("jane", "kurt"):
        done(["home", "create", name], "-", env=environ)
        done(["task", "add", "Mend the fence"], f"pg:{name}", env=environ)
    with postgres_homes.database.connection() as connection:
        for table in ("documents", "positions"):
            older = f"UPDATE views.{table} SET view = view || '0' WHERE home = %s"
            connection.execute(older.encode(), (postgres_homes.named("jane").number,))
    told_of: list[tuple[str, int]] = []
    jane = postgres_homes.documents(postgres_homes.named("jane"))

    def opens(name: str) -> Home:
        place = DatabaseLocation(postgres_homes, name, environ)
        return open_home(place, environ, is_writing=True)

    def tell(event: str, **fields: Any) -> None:
        told_of.append((event, fields["homes"]))

    stopped = ViewRebuilder(postgres_homes, opens, tell)
    stopped.stop()
    stopped.look()
    assert not jane.positions(VIEWS)
    renewing = ViewRebuilder(postgres_homes, opens, tell)
    for _ in range(2):
        renewing.look()
        assert told_of == [("renewed", 1)]
        assert len(jane.positions(VIEWS)) == len(VIEWS)
        assert jane.has_others(VIEWS)
    ViewRebuilder(postgres_homes, opens, tell, kept_seconds=0).look()
    assert not jane.has_others(VIEWS)
    assert told(["task", "list"], "pg:jane", env=environ)[0]["title"] == "Mend the fence"


def test_health_counts_workers_of_the_database_also_while_a_home_sleeps(
    environ: dict[str, str], postgres_homes: Homes
) -> None:
    done(["home", "create", "ida"], "pg:ida", env=environ)
    found = run(["health"], "pg:ida", env=environ)
    assert found.exit_code == 1
    assert "FIND  runtime: none is alive; use `wakelog worker`" in found.stdout
    number = postgres_homes.named("ida").number
    for home in (ALL, number):  # it is counted once while it tends the home
        worker = HomeLeases(postgres_homes.database, home, owner="one")
        worker.join("2027-01-01T09:00:00Z")
        found = run(["health"], "pg:ida", env=environ)
        assert found.exit_code == 0, found.stdout
        assert "ok    runtime: 1 alive" in found.stdout
    HomeLeases(postgres_homes.database, ALL, owner="two").join("2027-01-01T09:00:00Z")
    assert [one.owner for one in worker.runtimes("")] == ["one"]  # who runs wakes asks who is here


def test_what_a_folder_alone_can_is_refused_in_one_line(environ: dict[str, str]) -> None:
    nowhere = "pg:ben"
    assert "there is no home 'ben'" in refused(["task", "list"], nowhere, env=environ)
    assert "there is no home 'ben'" in refused(["task", "add", "x"], nowhere, env=environ)
    done(["home", "create", "ben"], nowhere, env=environ)
    assert "is no name of a home" in refused(["home", "create", "Ben"], nowhere, env=environ)
    assert "pg:ben is in a database" in refused(["home", "adopt", "copy"], nowhere, env=environ)
    unset = {**environ, "WAKELOG_DATABASE": ""}
    assert "WAKELOG_DATABASE is not set" in refused(["task", "list"], nowhere, env=unset)


# ---------------------------------------------------------------------------- settings of all homes


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
