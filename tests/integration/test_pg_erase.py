"""A person takes words out of a home in a database for good (ADR 107): out of every row at once,
out of the files of its tables by `wakelog database scrub`, and out of no other home."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adapters.home.home_location import location_of
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.upkeep.erase import erase
from adapters.usecases.resolve import pick_task
from adapters.usecases.tasks import add_note
from adapters.web.auth import guard_of
from adapters.wiring import Home, open_home
from domain.journal.task import TASK
from projections.tasks import VIEW
from tests.integration.test_cli_erase import ILL, KEPT, WORDS, holding
from tests.integration.test_pg_backup import tool
from tests.integration.test_pg_copy import contents
from tests.integration.test_pg_page import Served, as_, posted, served
from tests.support.checker import findings
from tests.support.cli import FIXED, done, refused, run, told
from tests.support.pages import ORIGIN
from tests.support.postgres import database

pytestmark = pytest.mark.slow
__all__ = ["served"]
ANNA, BERT = "pg:anna", "pg:bert"
OTHERS = "Ziegelbrenner"  # a word of the other home


@pytest.fixture(scope="module")
def made(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What each test has a copy of."""
    with database(postgres) as url:
        yield lived(url, tmp_path_factory.mktemp("made"))


@pytest.fixture
def env(made: dict[str, str], postgres: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Two homes: hers with a task whose every kind of words is told, and another's."""
    was = made["WAKELOG_DATABASE"]
    cache = shutil.copytree(made["XDG_CACHE_HOME"], tmp_path / "cache")
    with database(postgres, of=was.rpartition("/")[2]) as url:
        for one in cache.glob(f"*/pg/{Database(was).id}"):
            one.rename(one.with_name(Database(url).id))
        yield {**made, "WAKELOG_DATABASE": url, "XDG_CACHE_HOME": str(cache)}


def lived(url: str, cache: Path) -> dict[str, str]:
    env = {
        "WAKELOG_DATABASE": url,
        "XDG_CACHE_HOME": str(cache),
        "WAKELOG_TIMEZONE": "UTC",
    }
    for home, title in ((ANNA, ILL), (BERT, f"Ask {OTHERS}")):
        done(["home", "create", home[3:]], "-", env=env)
        done(["add", title, "--item", "Buy Hustensaft"], home, env=env)
    done(["add", "Renew the passport"], ANNA, env=env)
    done(["note", "Zwiebelkur", f"Frau Sonderbar says {'x ' * 600} Montag"], ANNA, env=env)
    done(["edit", "Zwiebelkur", "--description", "{Tea} of Pfefferminz"], ANNA, env=env)
    done(["task", "link", "passport", "relates_to", "Zwiebelkur"], ANNA, env=env)
    for home in (ANNA, BERT):
        done(["agent", "create", "--all"], home, env=env)
        done(["wake"], home, env=env)
    done(["note", "Zwiebelkur", "Ask about Kamillentee, too. It takes 20 minutes."], ANNA, env=env)
    done(["note", "passport", "The Bürgeramt wants a biometric photo."], ANNA, env=env)
    done(["wake"], ANNA, env=env)
    run(["sql", "SELECT count(*) FROM wakes"], ANNA, env=env)
    run(["search", "Zwiebelkur"], ANNA, env=env)
    return env


def dumped(env: dict[str, str], words: tuple[str, ...]) -> dict[str, int]:
    """How often each word stands in a dump of the database, as text or as the bytes of a text."""
    command = [tool("pg_dump"), "--data-only", env["WAKELOG_DATABASE"]]
    dump = subprocess.run(command, capture_output=True, check=True).stdout
    return {
        one: dump.count(one.encode()) + dump.count(one.encode().hex().encode()) for one in words
    }


def in_files(env: dict[str, str], words: tuple[str, ...]) -> dict[str, list[str]]:
    """By word, the files of the database that hold it in any byte."""
    with psycopg.connect(env["WAKELOG_DATABASE"], autocommit=True) as line:
        line.execute("CHECKPOINT")
        asked = "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = %s"
        ((data, number),) = line.execute(asked, (line.info.dbname,)).fetchall()
    return holding(Path(data) / "base" / str(number), words)


def rows_of(env: dict[str, str], home: int) -> list[Any]:
    """All that is kept of a home, in whichever table."""
    named = """SELECT table_schema || '.' || table_name FROM information_schema.columns
        WHERE column_name = 'home' AND table_schema NOT IN ('queue', 'runtime') ORDER BY 1"""
    with psycopg.connect(env["WAKELOG_DATABASE"]) as line:
        tables = [one for (one,) in line.execute(named.encode()).fetchall()]
        asked = "SELECT '{0}', one::text FROM {0} AS one WHERE home = {1} ORDER BY 2"
        return [line.execute(asked.format(one, home).encode()).fetchall() for one in tables]


def opened(env: dict[str, str], home: str = ANNA) -> Home:
    variables = {**os.environ, **FIXED, **env}
    return open_home(location_of(home, variables), variables, is_writing=True)


def test_no_dump_holds_a_word_of_it_and_after_a_scrub_no_file_of_a_table(
    env: dict[str, str], tmp_path: Path
) -> None:
    with psycopg.connect(env["WAKELOG_DATABASE"], autocommit=True) as line:
        line.execute("ANALYZE")  # the server keeps frequent values: titles, short rows
    assert all(dumped(env, (*WORDS, OTHERS)).values())
    before, other = told(["prove"], ANNA, env=env), rows_of(env, 2)
    did = told(["erase", "task", ILL, "--sure"], ANNA, env=env)
    assert (did["ok"], did["left"], did["tables"]) == (True, [], 8)
    assert did["rows"] > 40
    assert rows_of(env, 2) == other
    words = tuple(one for one in WORDS if one != "Hustensaft")  # the other home has that, too
    assert dumped(env, words) == dict.fromkeys(words, 0)
    assert all(dumped(env, (*KEPT, OTHERS, "Hustensaft")).values())
    assert not any(holding(tmp_path / "cache", WORDS).values())
    now = told(["prove"], ANNA, env=env)
    assert (now["ok"], now["wakes"]) == (True, before["wakes"])
    assert now["erased"]["rows"] == did["rows"]
    assert [one["title"] for one in told(["list", "--all"], ANNA, env=env)] == [
        "Renew the passport"
    ]
    done(["note", "passport", "It is ready."], ANNA, env=env)
    assert told(["wake", "passport"], ANNA, env=env)["outcome"] == "completed"
    assert told(["doctor"], ANNA, env=env)["ok"]

    assert any(in_files(env, words).values()), "dead rows, and what is known of values"
    assert "[not_sure]" in refused(["database", "scrub"], "-", env=env)
    scrubbed = told(["database", "scrub", "--sure"], "-", env=env)
    assert (scrubbed["ok"], scrubbed["skipped"], len(scrubbed["tables"])) == (True, [], 9)
    assert {word: files for word, files in in_files(env, words).items() if files} == {}
    assert all(in_files(env, (*KEPT, OTHERS)).values())
    assert rows_of(env, 2) == other
    assert told(["prove"], ANNA, env=env)["ok"]


def test_what_is_erased_is_said_for_a_person(env: dict[str, str]) -> None:
    said = done(["erase", "task", ILL, "--sure"], ANNA, env=env)
    assert "Searched 8 tables and " in said
    assert (
        "Not in reach: what the files of tables still hold, until `wakelog database scrub`" in said
    )
    assert told(["erase", "--list"], ANNA, env=env)[0]["what"] == "task"
    did = told(["erase", "agent", "Renew the passport", "--sure"], ANNA, env=env)
    assert did["unit"].startswith("agent:")
    said = done(["database", "scrub", "--sure"], "-", env=env)
    assert "journal.events: " in said


def test_what_a_dead_row_is_still_seen_by_is_told(env: dict[str, str]) -> None:
    with psycopg.connect(env["WAKELOG_DATABASE"]) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")
        done(["erase", "task", ILL, "--sure"], ANNA, env=env)
        found = run(["database", "scrub", "--sure"], "-", env=env)
    assert found.exit_code == 1
    assert "dead rows stay, as a transaction sees them" in found.stdout
    assert told(["database", "scrub", "--sure"], "-", env=env)["ok"]


def test_a_process_that_has_the_home_open_goes_on_without_it(env: dict[str, str]) -> None:
    with opened(env) as home:
        home.resume_states()
        home.views.catch_up()
        passport, gone = pick_task(home, "passport"), pick_task(home, "Zwiebelkur")
        assert home.views.get(VIEW, gone)
        with home.services.journal.reading() as world:
            assert world.load(TASK, gone).title == ILL
        done(["erase", "task", ILL, "--sure"], ANNA, env=env)
        with home.services.journal.reading() as world:
            assert not world.load(TASK, gone).exists
        add_note(home, passport, "It is ready.")
        home.views.catch_up()
        assert home.views.get(VIEW, gone) is None
        assert home.views.get(VIEW, passport)
    assert not dumped(env, ("Zwiebelkur",))["Zwiebelkur"]
    assert told(["prove"], ANNA, env=env)["ok"]


@pytest.fixture
def page(env: dict[str, str]) -> Iterator[dict[str, str]]:
    """What a process has that has a page's login."""
    env["WAKELOG_PAGE_PASSWORD"] = "p"
    done(["database", "init", "--login", "page=page"], "-", env=env)
    yield {**env, "WAKELOG_DATABASE": env["WAKELOG_DATABASE"].replace("owner@", "page:p@")}
    with psycopg.connect(env["WAKELOG_DATABASE"], autocommit=True) as line:
        line.execute("DROP OWNED BY page; DROP ROLE page")


def test_a_login_that_may_not_is_refused_before_anything_is_done(
    env: dict[str, str], page: dict[str, str]
) -> None:
    before, args = rows_of(env, 1), ["erase", "task", ILL, "--sure"]
    said = refused(args, ANNA, env=page)
    assert "say as the owner `wakelog database init --login eraser=NAME` [read_only]" in said
    assert rows_of(env, 1) == before
    assert told(["erase", "task", ILL, "--dry-run"], ANNA, env=page)["rows"] > 40
    assert "`wakelog database scrub`" in done(["erase", "task", ILL, "--dry-run"], ANNA, env=page)
    assert not told(["database", "check"], "-", env=page)["may_erase"]
    said = refused(["database", "scrub", "--sure"], "-", env=page)
    assert "this login does not own the tables of wakelog" in said
    said = done(["database", "init", "--login", "eraser=page"], "-", env=env)
    assert "page is a page's login, and may erase" in said
    checked = told(["database", "check"], "-", env=page)
    assert (checked["login"], checked["may_erase"]) == ("page", True)
    assert told(args, ANNA, env=page)["ok"]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO journal.payloads VALUES (1, 1, 'x', 'x')",
        "UPDATE journal.payloads SET bytes = ''",
        "DELETE FROM journal.events",
        "UPDATE journal.events SET version = 9",
        "UPDATE journal.heads SET n = 0",
    ],
)
def test_who_erases_marks_rows_and_lets_texts_go_and_does_nothing_else(
    postgres_homes: Homes, sql: str
) -> None:
    with psycopg.connect(postgres_homes.database.url) as line:
        line.execute("SET LOCAL ROLE wakelog_eraser")
        line.execute("SET LOCAL wakelog.home = '1'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            line.execute(sql.encode())


@pytest.mark.parametrize("cut", ["agent", "journal", "clean"])
@pytest.mark.parametrize("where", ["here", "there"])
def test_cut_off_it_is_found_and_ended_here_and_from_another_machine(
    env: dict[str, str], tmp_path: Path, cut: str, where: str
) -> None:
    def step(name: str) -> None:
        if name == cut:
            raise KeyboardInterrupt

    with opened(env) as home, pytest.raises(KeyboardInterrupt):
        erase(home, "task", pick_task(home, "Zwiebelkur"), step)
    assert run(["prove"], ANNA, env=env).exit_code == 0
    if where == "there":
        env["XDG_CACHE_HOME"] = str(tmp_path / "another")
    if where == "here" or cut == "journal":
        assert "was cut off; `wakelog recover` ends it" in run(["doctor"], ANNA, env=env).stdout
        assert "Ended an erasure" in done(["recover"], ANNA, env=env)
    else:
        found = ILL if cut == "agent" else told(["erase", "--list"], ANNA, env=env)[0]["unit"][5:]
        assert told(["erase", "task", found, "--sure"], ANNA, env=env)["ok"]
    assert not dumped(env, ("Zwiebelkur",))["Zwiebelkur"]
    assert told(["doctor"], ANNA, env=env)["ok"]


def test_a_backup_holds_the_marks_and_comes_back_with_them_anywhere(
    env: dict[str, str], tmp_path: Path
) -> None:
    done(["erase", "task", ILL, "--sure"], ANNA, env=env)
    backup = tmp_path / "backup"
    done(["backup", str(backup)], ANNA, env=env)
    assert not any(holding(backup, WORDS).values())
    assert findings(backup, is_backup=True) == []
    assert told(["doctor"], backup, env=env)["ok"]
    for place in (tmp_path / "folder", "pg:anna-back"):
        assert told(["restore", str(backup)], place, env={**env, "WAKELOG_REPLICA": ""})["proved"]
        assert contents(place, env) == contents(ANNA, env)
        done(["note", "passport", "It goes on."], place, env=env)
        assert told(["prove"], place, env=env)["erased"]["rows"] > 40
    later = told(["erase", "agent", "Renew the passport", "--dry-run"], ANNA, env=env)
    assert [one["path"] for one in later["copies"]] == [str(backup)]


def test_the_page_erases_for_an_owner_alone(served: Served) -> None:
    client, path = served.app(), "/h/anna/tasks"
    owner, member = served.tokens["owner"], served.tokens["member"]
    (task,) = told(["list"], "pg:anna", env=served.env)
    at = f"{path}/{task['id']}/erase"
    assert "Call the plumber" in client.get(at, headers=as_(owner)).text
    assert posted(client, at, member).status_code == 403
    form = {"csrf": guard_of(owner).csrf, "nonce": "12345678", "back": "/tasks"}
    form["title"] = "Call the plumber"
    answer = client.post(at, data=form, headers={**as_(owner), "origin": ORIGIN})
    assert answer.status_code == 303, answer.text
    assert told(["list", "--all"], "pg:anna", env=served.env) == []
    env = {"WAKELOG_DATABASE": served.homes.database.url}
    found = dumped(env, ("plumber", "secret of Ben"))
    assert (found["plumber"], found["secret of Ben"] > 0) == (0, True)


def test_what_is_dropped_of_a_home_in_a_database_renders_again_and_no_other_misses_it(
    env: dict[str, str],
) -> None:
    kept, run = contents(BERT, env), told(["wakes"], ANNA, env=env)[-1]["run_key"]
    shown = done(["show", run, "--prompt"], ANNA, env=env)
    later = {**env, "WAKELOG_NOW": "2028-01-01T09:00:00Z"}
    assert told(["retain", "--prompts", "30"], ANNA, env=later)["prompts"] > 10
    assert done(["show", run, "--prompt"], ANNA, env=env) == shown
    assert told(["prove"], ANNA, env=env)["ok"]
    assert contents(BERT, env) == kept
    assert "database scrub" in refused(["retain", "--prompts", "30", "--compact"], ANNA, env=later)
