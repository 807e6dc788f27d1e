"""What `import wakelog` answers is what the command line prints; README's example runs."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

import wakelog
from adapters.analytics.answers import json_value
from tests.integration.test_front_door import opened
from tests.integration.test_two_doors_agents import rows
from tests.support.cli import done, refused, run, told

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


def test_a_proof_is_that_of_the_command_line(past: Path) -> None:
    with opened(past) as home:
        proof = home.prove()
    shown = told(["prove"], past)
    assert (proof.ok, proof.rows, proof.digest) == (True, shown["rows"], shown["digest"])


@pytest.mark.slow
@pytest.mark.parametrize("query", ["FROM nowhere", "FROM read_text('/etc/passwd')", " "])
def test_a_question_is_refused_as_on_the_command_line(query: str, past: Path) -> None:
    with opened(past) as home, pytest.raises(wakelog.Refused) as found:
        home.sql(query)
    assert refused(["sql", query], past) == f"Error: {found.value} [{found.value.code}]"


@pytest.mark.slow
def test_a_home_that_is_not_there_has_empty_tables(tmp_path: Path) -> None:
    with opened(tmp_path / "home", may_be_new=True) as home:
        assert home.sql("SELECT count(*) FROM wakes").rows == [(0,)]
    assert not (tmp_path / "home").exists()


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


@pytest.mark.slow
def test_the_example_of_the_readme_does_what_it_shows(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "TODO.md").write_text(_block(text, "markdown"), encoding="utf-8")
    section = text.partition("\n## From Python\n")[2]
    command = [sys.executable, "-c", _block(section, "python")]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert (result.stderr, result.stdout) == ("", _block(section, "text"))


def _block(text: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def _plain(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))
