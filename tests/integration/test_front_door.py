"""`import wakelog` does what the command line does: the same rows, documents and refusals."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import msgspec
import pytest

import wakelog
from adapters.analytics.answers import json_value
from adapters.text.remedies import in_words
from tests.integration.test_two_doors_agents import (
    rows,
)
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.homes import Homes, Make
from tests.support.waking import proposing, sink

LIST = "# House\n\n- [ ] Paint the door !p1\n- [ ] Sweep ~30m due:2027-02-12\n"


def opened(home: Path, *, may_be_new: bool = False, **more: str) -> wakelog.Home:
    """A home as `tests.support.cli.run` opens it: at a fixed time, under a fixed name."""
    return wakelog.open_home(home, may_be_new=may_be_new, environ={**FIXED, **more})


def listed(home: Path) -> None:
    (home / "TODO.md").write_text(LIST, encoding="utf-8")


def imported(home: Path) -> None:
    listed(home)
    done(["import", str(home / "TODO.md")], home)
    (home / "TODO.md").write_text(LIST.replace("30m", "45m"), encoding="utf-8")


def task_alone(home: Path) -> None:
    sink(home)
    done(["wake"], home)


def stale(home: Path) -> None:
    proposing(home)
    done(["task", "set", "Fix the sink", "--estimate", "5"], home)


def decided(home: Path) -> None:
    proposing(home)
    done(["reject", "1.1"], home)


class Deed(NamedTuple):
    """One deed as both doors know it; `{home}` of a word is the home's folder."""

    name: str
    make: Make
    command: str  # words, separated by |
    call: Callable[[wakelog.Home], object]
    at: str = FIXED["WAKELOG_NOW"]


DEEDS = (
    Deed("import", listed, "import|{home}/TODO.md",
         lambda home: home.import_file(home.path / "TODO.md")),
    Deed("import again", imported, "import|{home}/TODO.md|--key|k",
         lambda home: home.import_file(home.path / "TODO.md", key="k")),
    Deed("import by headings", listed, "import|{home}/TODO.md|--headings|tasks|--source|s",
         lambda home: home.import_file(home.path / "TODO.md", by_heading=True, source="s")),
    Deed("import as another format", listed, "import|{home}/TODO.md|--format|todotxt",
         lambda home: home.import_file(home.path / "TODO.md", form="todotxt")),
    Deed("make an agent", task_alone, "agent|create|Fix the sink|--template|laura|--key|k",
         lambda home: home.create_agent("Fix the sink", template="laura", key="k")),
    Deed("make an agent of another model", task_alone, "agent|create|Fix the sink|--model|demo",
         lambda home: home.create_agent("Fix the sink", model="demo")),
    Deed("agree to sending", proposing, "policy|allow|gemini|--category|Inbox|--key|k",
         lambda home: home.allow_sending("gemini", ["Inbox"], key="k")),
    Deed("agree to what needs no consent", proposing, "policy|allow|rules",
         lambda home: home.allow_sending("rules")),
    Deed("agree for no category", proposing, "policy|allow|gemini|--category|Nowhere",
         lambda home: home.allow_sending("gemini", ["Nowhere"])),
    Deed("wake", proposing, "wake|Fix the sink|--key|k",
         lambda home: home.wake("Fix the sink", key="k")),
    Deed("wake what is not there", proposing, "wake|Mow",
         lambda home: home.wake("Mow")),
    Deed("confirm", proposing, "confirm|1.1", lambda home: home.confirm("1.1")),
    Deed("confirm with a key", proposing, "confirm|1.2|--key|k",
         lambda home: home.confirm("1.2", key="k")),
    Deed("confirm what is stale, anyway", stale, "confirm|1.2|--anyway",
         lambda home: home.confirm("1.2", is_anyway=True)),
    Deed("confirm all of a set", proposing, "confirm|1", lambda home: home.confirm("1")),
    Deed("confirm no set", proposing, "confirm|9.1", lambda home: home.confirm("9.1")),
    Deed("reject", proposing, "reject|1.1|--reason|We have one|--key|k",
         lambda home: home.reject("1.1", "We have one", key="k")),
    Deed("reject again", decided, "reject|1.1", lambda home: home.reject("1.1")),
    Deed("stand at no moment", proposing, "at|soon", lambda home: home.at("soon")),
    Deed("fork what is not there", proposing, "fork|zzz", lambda home: home.fork("zzz")),
)  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name.replace(" ", "-"))
def test_a_program_writes_the_rows_that_the_command_writes(
    deed: Deed, homes: Homes, tmp_path: Path
) -> None:
    api, line = tmp_path / "a" / "home", tmp_path / "b" / "home"
    for home in (api, line):
        home.parent.mkdir()
        homes.copy(deed.make, home)
    command = [one.format(home=line) for one in deed.command.split("|")]
    result = run(command, line, env={"WAKELOG_NOW": deed.at})
    error = ""
    with opened(api, may_be_new=True, WAKELOG_NOW=deed.at) as door:
        try:
            deed.call(door)
        except wakelog.WakelogError as found:
            error = f"Error: {in_words(found)} [{found.code}]\n"
    assert error == (result.stderr if result.exit_code == 2 else ""), result.output
    if (line / "agent.db").exists():
        assert rows(api) == rows(line)
        proved(api)
    else:
        assert not (api / "agent.db").exists()


def test_the_same_deed_under_the_same_key_is_done_once(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(proposing, tmp_path)
    with opened(path) as home:
        for deed in (
            lambda: home.confirm("1.1", key="k2"),
            lambda: home.wake("Fix the sink", key="k1"),
        ):
            came, before = deed(), rows(path)
            assert (deed(), rows(path)) == (came, before)
        with pytest.raises(wakelog.KeyReused, match="the key 'k2' already stands"):
            home.confirm("1.2", key="k2")


def test_what_was_not_applied_is_an_error(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(stale, tmp_path)
    with opened(path) as home:
        with pytest.raises(wakelog.Refused, match="is_anyway=True") as found:
            home.confirm("1.2")
        assert found.value.code == "stale"
        assert [one.status for one in home.inbox()[0].items][1] == "pending"
        assert home.confirm("1.2", is_anyway=True).status == "confirmed"
        assert home.reject("1.1", "no").status == "rejected"
        with pytest.raises(wakelog.Refused) as found:
            home.confirm("1.1")
        assert found.value.code == "decided"


NO_UTF_8 = "a\udcff"


@pytest.mark.parametrize(
    "call",
    [
        lambda home: home.import_file("none.md", source=NO_UTF_8),
        lambda home: home.create_agent(NO_UTF_8),
        lambda home: home.create_agent("Fix the sink", template=NO_UTF_8),
        lambda home: home.wake(NO_UTF_8),
        lambda home: home.wake("Fix the sink", key=NO_UTF_8),
        lambda home: home.confirm(NO_UTF_8),
        lambda home: home.confirm("1.1", key=NO_UTF_8),
        lambda home: home.at(NO_UTF_8),
        lambda home: home.at("2027-01-01", task=NO_UTF_8),
        lambda home: home.replay(NO_UTF_8),
        lambda home: home.diff(NO_UTF_8, "x"),
        lambda home: home.fork(NO_UTF_8),
        lambda home: home.fork(home.wakes()[0].run_key, notes=[(NO_UTF_8, "x")]),
        lambda home: home.fork(home.wakes()[0].run_key, verdicts=[NO_UTF_8]),
        lambda home: home.fork(home.wakes()[0].run_key, template=NO_UTF_8),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(
    call: Callable[[wakelog.Home], object], homes: Homes, tmp_path: Path
) -> None:
    path = homes.copy(proposing, tmp_path)
    before = rows(path)
    with opened(path) as home, pytest.raises(wakelog.Refused) as found:
        call(home)
    assert len(str(found.value).splitlines()) == 1
    assert rows(path) == before


def test_values_of_keys_are_not_kept(homes: Homes, tmp_path: Path) -> None:
    path, secret = homes.copy(proposing, tmp_path), "AIza-0123456789abcdef"
    with opened(path, GEMINI_API_KEY=secret) as home:
        with pytest.warns(UserWarning, match="GEMINI_API_KEY was replaced"):
            item = home.reject("1.1", f"it is {secret}\udcff")
        assert item.reason == "it is [GEMINI_API_KEY]\ufffd"
    assert secret.encode() not in (path / "agent.db").read_bytes()


def test_a_wake_that_fails_says_so(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(proposing, tmp_path)
    (tmp_path / "empty.jsonl").write_text("")
    with wakelog.open_home(path, model=f"tape:{tmp_path}/empty.jsonl", environ=FIXED) as home:
        wake = home.wake("Fix the sink")
        assert wake == home.wakes()[0]
    assert (wake.outcome, bool(wake.error)) == ("failed", True)


def test_it_works_where_an_event_loop_runs_already(homes: Homes, tmp_path: Path) -> None:
    """As in a cell of a notebook."""
    path = homes.copy(proposing, tmp_path)

    async def cell() -> tuple[wakelog.WakeLine, wakelog.ForkDetails]:
        with opened(path) as home:
            wake = home.wake("Fix the sink")
            return wake, home.fork(wake.run_key)

    wake, fork = asyncio.run(cell())
    assert wake.outcome == "completed"
    assert fork.stopped is None


def test_one_door_sees_at_once_what_the_other_writes(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(proposing, tmp_path)
    with opened(path) as home:
        assert home.confirm("1.1").status == "confirmed"
        done(["task", "add", "Mow"], path)
        assert [task.title for task in home.tasks()] == ["Fix the sink", "Mow"]
        home.create_agent("Mow")
    assert len(told(["agent", "list"], path)) == 2


def test_the_module_that_is_run_is_the_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "wakelog", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == done(["--version"], Path())


def test_reading_makes_no_home(tmp_path: Path) -> None:
    path = tmp_path / "home"
    with pytest.raises(wakelog.Refused) as found:
        opened(path)
    assert found.value.code == "not_a_log"
    assert str(found.value).splitlines() == [
        f"there is no home at {path}; name another folder, or begin one with may_be_new=True"
    ]
    empty = tmp_path / "empty.md"
    empty.write_text("Nothing to do.\n")
    with opened(path, may_be_new=True) as home:
        assert (home.tasks(), home.agents(), home.inbox(), home.wakes()) == ([], [], [], [])
        assert home.prove().rows == 0
        assert home.import_file(empty).created == 0
        with pytest.raises(wakelog.Refused):
            home.create_agent("Mow")
        assert not path.exists()


def test_the_home_is_found_as_the_command_line_finds_it(tmp_path: Path) -> None:
    sink(tmp_path / "home")
    with wakelog.open_home(environ={**FIXED, "WAKELOG_HOME": str(tmp_path / "home")}) as home:
        assert [task.title for task in home.tasks()] == ["Fix the sink"]
        assert repr(home) == f"<wakelog home {tmp_path / 'home'}>"
    assert repr(home) == f"<wakelog home {tmp_path / 'home'}, closed>"


def test_a_closed_home_says_so(tmp_path: Path) -> None:
    sink(tmp_path)
    home = opened(tmp_path)
    home.close()
    home.close()
    with pytest.raises(wakelog.Refused, match=r"is closed; open it again with wakelog\.open_home"):
        home.tasks()


def test_a_damaged_home_is_no_surprise(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(proposing, tmp_path)
    (path / "agent.db").write_bytes(b"no log" * 100)
    with pytest.raises(wakelog.Damaged) as found:
        opened(path)
    assert refused(["task", "list"], path) == f"Error: {found.value} [{found.value.code}]"


def test_logs_of_different_times_are_told_and_not_written(homes: Homes, tmp_path: Path) -> None:
    path = homes.copy(proposing, tmp_path / "home")
    old = (path / "journal.db").read_bytes()
    done(["confirm", "1.1"], path)
    (path / "journal.db").write_bytes(old)
    with pytest.warns(UserWarning, match="of different times"):
        home = opened(path)
    with home:
        assert len(home.tasks()) == 1
        with pytest.raises(wakelog.Refused) as found:
            home.wake("Fix the sink")
        assert found.value.code == "other_past"
        assert len(home.tasks()) == 1


# ---------------------------------------------------------------------------------- what it answers


ROOT = Path(__file__).parents[2]


def test_the_lists_are_what_the_command_line_prints(past: Path) -> None:
    commands: Mapping[str, Callable[[wakelog.Home], object]] = {
        "task list": lambda home: home.tasks(),
        "agent list": lambda home: home.agents(),
        "inbox": lambda home: home.inbox(),
        "inbox --all": lambda home: home.inbox(is_all=True),
        "wakes": lambda home: home.wakes(),
    }
    for command, call in commands.items():
        with opened(past) as home:
            assert _plain(call(home)) == told(command.split(), past), command


def test_looking_back_is_what_the_command_line_prints(past: Path, keys: list[str]) -> None:
    first, *_, last = keys
    with opened(past) as home:
        assert _plain(home.at(last)) == told(["at", last], past)
        assert _plain(home.at("2027-01-02", task="Paint the door")) == told(
            ["at", "2027-01-02", "--task", "Paint the door"], past
        )
        differs = home.diff(first, last)
        assert json.loads(run(["--json", "diff", first, last], past).stdout) == _plain(
            differs.document
        )
        assert not differs.is_same
        shown = run(["diff", first, last], past).stdout.splitlines()
        assert differs.lines == shown[2:]  # above them stands what is compared
        assert home.diff(first, first).is_same
        replay = home.replay(first[:8])
        assert (replay.run_key, replay.is_same) == (first, True)
        assert replay.lines == [
            line for line in done(["replay", first], past).splitlines() if line in replay.lines
        ]
        assert replay.steps == len(told(["replay", first], past)["steps"])


@pytest.mark.slow
def test_a_connection_reaches_other_files_only_where_the_program_asks(past: Path) -> None:
    other = past / "settings.toml"
    with opened(past) as home, home.connect() as connection:
        connection.execute("CREATE TEMP TABLE mine AS SELECT count(*) AS wakes FROM wakes")
        for query in (f"FROM read_text('{other}')", f"COPY mine TO '{past / 'a.csv'}'"):
            with pytest.raises(duckdb.PermissionException, match="disabled by configuration"):
                connection.execute(query)
        with pytest.raises(duckdb.Error, match="locked"):
            connection.execute("SET enable_external_access = true")
    with opened(past) as home, home.connect(may_reach_files=True) as connection:
        found = connection.execute(f"SELECT content FROM read_text('{other}')").fetchall()
    assert found == [(other.read_text(),)]
    assert not (past / "a.csv").exists()


@pytest.mark.slow
def test_an_answer_has_columns_and_rows(past: Path) -> None:
    query = "SELECT run_key, started_at, turns FROM wakes ORDER BY started_at, run_key"
    with opened(past) as home:
        found = home.sql(query)
        with home.connect() as connection:
            assert connection.sql("SELECT count(*) FROM wakes").fetchall() == [(len(found.rows),)]
    assert found.columns == ["run_key", "started_at", "turns"]
    assert list(found) == found.rows
    printed = [{name: json_value(value) for name, value in row.items()} for row in found.dicts()]
    assert printed == told(["sql", query], past)
    assert repr(found) == f"<{len(found.rows)} rows of run_key, started_at, turns>"


def test_a_fork_is_that_of_the_command_line(past: Path, keys: list[str], tmp_path: Path) -> None:
    options = ["--model", "rules", "--note", "Fix the sink", "Done: buy a seal", "--out"]
    line = told(["fork", keys[-1], *options, str(tmp_path / "line")], past)
    before = rows(past)
    with opened(past) as home:
        note = ("Fix the sink", "Done: buy a seal")
        api = home.fork(keys[-1], model="rules", notes=[note], out=tmp_path / "api")
    assert {**_plain(api), "home": ""} == {**line, "home": ""}
    assert rows(past) == before
    assert rows(tmp_path / "api") == rows(tmp_path / "line")
    with opened(Path(api.home)) as fork:
        assert fork.prove().ok


def _plain(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


# ------------------------------------------------------------------- in memory, by one's own model


class Echo:
    """A model of the program's own, as `domain.ports.Model` is."""

    def __init__(self, name: str = "tape:own") -> None:
        self.name = name
        self.asked: list[wakelog.Request] = []

    async def reply(self, request: wakelog.Request) -> wakelog.Reply:
        self.asked.append(request)
        call = wakelog.Call("c1", "update_report", json.dumps(
            {"content": "Fine.", "tldr": "It is fine.", "oneLiner": "All is well"}
        ))  # fmt: skip
        return wakelog.Reply(b"", "Done.", () if request.exchanges else (call,))


def memory(model: "str | wakelog.Model" = "", **more: str) -> wakelog.Home:
    return wakelog.open_home(":memory:", model=model, environ={**FIXED, **more})


def test_a_home_in_memory_writes_the_rows_of_one_in_a_folder(tmp_path: Path) -> None:
    def live(home: wakelog.Home) -> None:
        home.add_category("House")  # which reads no clock before the folder is made
        home.add_task("Fix the sink", estimate=45, due="friday", category="House")
        home.note("Fix the sink", "Takes about 60 minutes. Due by 2027-02-12.")
        home.create_agent("Fix the sink")
        home.wake("Fix the sink")
        home.confirm("1.1")
        home.undo()

    with opened(tmp_path / "home", may_be_new=True) as kept:
        live(kept)
        digest, tasks = kept.prove().digest, kept.tasks()
        wakes = kept.sql(count := "SELECT count(*) FROM wakes").rows
    with memory() as home:
        live(home)
        proved = home.prove()
        assert (proved.ok, proved.digest) == (True, digest)
        assert home.tasks() == tasks
        assert home.replay(home.wakes()[0].run_key).is_same
        assert home.sql(count).rows == wakes
        with home.connect() as connection:
            assert connection.execute("SELECT title FROM tasks").fetchall() == [("Fix the sink",)]
        assert repr(home) == "<wakelog home :memory:>"


def test_each_home_in_memory_is_another_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with memory() as one, memory() as other:
        one.add_task("Mow")
        one.create_agent("Mow")
        assert other.tasks() == []
        assert len(one.wake_all()) == 1
        assert [task.title for task in one.tasks()] == ["Mow"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda home, _: home.backup("x"),
        lambda home, _: home.sync("x"),
        lambda home, _: home.join("x"),
        lambda home, _: home.rescue(),
        lambda home, _: home.replicas(),
        lambda home, run: home.fork(run),
        lambda home, _: home.doctor(),
        lambda home, _: home.retain(prompts=1),
    ],
)
def test_what_needs_files_is_not_in_memory(
    call: Callable[[wakelog.Home, str], object],
) -> None:
    with memory() as home:
        home.add_task("Mow")
        home.create_agent("Mow")
        with pytest.raises(wakelog.Refused) as found:
            call(home, home.wake("Mow").run_key)
    assert found.value.code == "not_here"


def test_the_command_line_has_no_home_in_memory(tmp_path: Path) -> None:
    assert refused(["add", "Mow"], ":memory:").endswith("[not_here]")
    assert refused(["--home", ":memory:", "list"], tmp_path).endswith("[not_here]")


def test_a_model_of_the_programs_own_answers_by_its_name() -> None:
    model = Echo()
    with memory(model) as home:
        home.add_task("Mow")
        home.create_agent("Mow")
        wake = home.wake("Mow")
        assert (wake.outcome, wake.model) == ("completed", "tape:own")
        assert home.report("Mow").one_liner == "All is well"
        assert len(model.asked) == 2
        proved = home.prove()
        assert (proved.ok, proved.undecoded) == (True, 0)  # its bytes are read again


def test_a_model_that_is_elsewhere_by_its_name_is_not_asked_unagreed(tmp_path: Path) -> None:
    model = Echo("gemini:own")
    home = wakelog.open_home(tmp_path / "home", model=model, may_be_new=True, environ={**FIXED})
    with home:
        home.add_task("Mow")
        home.create_agent("Mow")
        assert (home.wake("Mow").waits_for, model.asked) == ("consent", [])


def test_time_passes_as_a_program_says_where_the_clock_is_set() -> None:
    with memory() as home:
        home.add_task("Mow")
        home.create_agent("Mow")
        home.wake("Mow")
        home.set_timer("Mow", "every day 07:00", is_always=True)
        assert home.wake_all() == []
        assert home.advance(until="2027-01-02 07:00") >= "2027-01-02T07:00:00"
        assert [one.reason for one in home.wake_all()] == ["timer"]
        home.advance(seconds=60)
        with pytest.raises(wakelog.Refused, match="is over"):
            home.advance(until="2027-01-01")
    with wakelog.open_home(":memory:", environ={}) as home, pytest.raises(wakelog.Refused):
        home.advance(seconds=1)


def test_time_that_passed_before_the_home_was_made_stays_passed(tmp_path: Path) -> None:
    with opened(tmp_path / "home", may_be_new=True) as home:
        home.advance(until="2027-01-05")
        assert home.add_task("Mow").history[0].at.startswith("2027-01-05")


# ------------------------------------------------------------------------ asked, and said as values


def test_an_agent_is_asked_and_goes_on_with_its_session(homes: Homes, tmp_path: Path) -> None:
    heard: list[str] = []
    with opened(homes.copy(proposing, tmp_path)) as home:
        first = home.ask("Fix the sink", "What is left to do?", said=heard.append)
        again = home.ask("Fix the sink", "And then?", session=first.session)
        assert first.answer
        assert (again.session, first.turn, again.turn) == (first.session, 1, 2)


def test_values_mean_what_their_words_mean(tmp_path: Path) -> None:
    with opened(tmp_path / "home", may_be_new=True) as home:
        words = home.add_task("A", estimate="1h30", due="2027-01-08", wait_until="monday")
        value = home.add_task("B", estimate=90, due=date(2027, 1, 8), wait_until=date(2027, 1, 4))
        assert (words.estimate_minutes, words.due_date, words.wait_until) == (
            value.estimate_minutes, value.due_date, value.wait_until,
        )  # fmt: skip
        began = datetime(2027, 1, 1, 7, tzinfo=UTC)
        home.log_time("A", began, began + timedelta(hours=1))
        assert home.log_time("A", "08:00", "08:30").time[0].start == "2027-01-01T07:00:00.000000Z"
        assert home.edit_task("A", estimate="none", due="none").due_date is None


def test_an_edit_is_words_or_values(homes: Homes, tmp_path: Path) -> None:
    with opened(homes.copy(proposing, tmp_path)) as home:
        item = home.confirm("1.2", edit={"minutes": 45})
        assert item.status == "confirmed"
        assert home.tasks()[0].estimate_minutes == 45
        assert home.confirm("1.1", edit="due=2027-03-01", concludes=True).status == "confirmed"
        assert home.tasks()[0].status == "DONE"


def test_what_is_erased_is_looked_at_first(tmp_path: Path) -> None:
    with opened(tmp_path / "home", may_be_new=True) as home:
        home.add_task("Call the clinic")
        assert not home.erase("task", "clinic").done
        with pytest.raises(wakelog.Refused) as found:
            home.erase("task", "clinic", sure="clinic")
        assert found.value.code == "not_sure"
        assert home.erase("task", "clinic", sure="Call the clinic").done
        assert (len(home.erasures()), home.tasks()) == (1, [])


def test_files_are_written_and_read_back(homes: Homes, tmp_path: Path) -> None:
    with opened(homes.copy(proposing, tmp_path / "home")) as home:
        assert home.export_tasks(tmp_path / "all.md").tasks == 1
        made = home.backup(tmp_path / "backup")
        assert {"journal.db", "agent.db"} <= {*made.files}
    with opened(tmp_path / "other", may_be_new=True) as other:
        assert other.import_file(tmp_path / "all.md", dry_run=True).created == 1
        assert other.tasks() == []
        report = other.import_file(tmp_path / "all.md", source="all")
        assert report.created == 1
        assert len(other.undo_import("all").tasks) == 1


# ---------------------------------------------------------------------------------- other machines


def test_machines_meet_join_and_are_retired(tmp_path: Path) -> None:
    met = str(tmp_path / "met")
    Path(met).mkdir()
    with (
        opened(tmp_path / "a", may_be_new=True, WAKELOG_REPLICA="a") as a,
        opened(tmp_path / "b", may_be_new=True, WAKELOG_REPLICA="b") as b,
    ):
        a.add_task("Fix the sink")
        b.add_task("Paint the door")
        assert a.sync(met, dry_run=True).gave == a.sync(met, dry_run=True).gave > 0
        assert a.sync(met).gave > 0
        assert b.join(met, dry_run=True).tasks == 1
        assert b.join(met).synced is not None
        a.sync()
        titles = {"Fix the sink", "Paint the door"}
        assert {one.title for one in a.tasks()} == {one.title for one in b.tasks()} == titles
        assert b.name_replica("desk").label == "desk"
        b.sync()
        a.sync()
        assert "desk" in {one.label for one in a.replicas()}
        assert a.lead("desk").changed
        assert a.retire("desk").label == "desk"
        with pytest.raises(wakelog.Refused) as found:
            a.rescue(dry_run=True)
        assert found.value.code == "nothing_to_rescue"
        assert len(a.tasks()) == 2  # it is open again
        assert (a.prove().ok, b.prove().ok) == (True, True)
