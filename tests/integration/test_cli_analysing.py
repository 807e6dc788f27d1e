"""`wakelog sql`, `metrics` and `export`, as a person and a script use them."""

import csv
import json
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import duckdb
import polars as pl
import pytest

from adapters.analytics.queries import run_query
from domain.errors import Refused
from tests.support.cli import done, refused, run, told
from tests.support.homes import Homes
from tests.support.process import command, environ, until
from tests.support.waking import agent, inbox


def asked(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    refs = [item["ref"] for item in inbox(home)]
    done(["confirm", refs[0]], home)
    done(["reject", refs[1], "--reason", "I know"], home)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """An agent that woke once; its first proposal confirmed, the second rejected."""
    return homes.copy(asked, tmp_path / "home")


def test_sql_answers_a_pipe_with_tabs(home: Path) -> None:
    assert done(["sql", "SELECT 1 AS one, NULL AS none, 'a\tb' AS two"], home) == (
        "one\tnone\ttwo\n1\t\ta b\n"
    )


def test_values_are_told_as_json_has_them(home: Path) -> None:
    sql = (
        "SELECT TIMESTAMP '2027-01-01 00:00:00' AS time, DATE '2027-01-01' AS day, "
        "TIMESTAMPTZ '2027-01-01 02:00:00+02' AS zoned, INTERVAL 90 SECOND AS span, "
        "sum(x) AS huge, 0.5::DECIMAL(4, 2) AS half, 'nan'::DOUBLE AS nan, "
        "[1, 2] AS list, {'a': DATE '2027-01-02'} AS struct, 1 AS huge FROM range(3) t(x)"
    )
    assert told(["sql", sql], home) == [
        {
            "time": "2027-01-01T00:00:00.000000Z",
            "day": "2027-01-01",
            "zoned": "2027-01-01T00:00:00.000000Z",
            "span": 90.0,
            "huge": 3,
            "half": 0.5,
            "nan": None,
            "list": [1, 2],
            "struct": {"a": "2027-01-02"},
            "huge_1": 1,
        }
    ]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("selec 1", "syntax error"),
        ("SELECT nothing FROM wakes", 'Referenced column "nothing" not found'),
        ("DELETE FROM wakes", "read-only"),
        ("COPY wakes TO '/tmp/wakes.csv'", "disabled by configuration"),
        ("FROM read_text('/etc/hostname')", "disabled by configuration"),
        ("SET enable_external_access = true", "locked"),
        ("SELECT CAST(reason AS INTEGER) FROM wakes", "Could not convert"),
        ("", "empty"),
        ("/* nothing */", "empty"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(home: Path, query: str, says: str) -> None:
    assert says in refused(["sql", query], home)


def test_a_home_that_is_not_there_has_empty_tables(tmp_path: Path) -> None:
    assert told(["sql", "SELECT count(*) AS wakes FROM wakes"], tmp_path / "none") == [{"wakes": 0}]
    assert told(["metrics"], tmp_path / "none") == []
    assert "No wakes yet" in done(["metrics"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_happened_since_is_there_without_being_asked_for(home: Path) -> None:
    before = told(["sql", "SELECT count(*) AS n FROM task_changes"], home)[0]["n"]
    done(["task", "set", "Fix the sink", "--priority", "P0"], home)
    assert told(["sql", "SELECT count(*) AS n FROM task_changes"], home)[0]["n"] == before + 1


def test_a_home_without_room_for_the_file_is_answered_from_memory(home: Path) -> None:
    (home / "analytics.duckdb").mkdir()
    assert told(["sql", "SELECT count(*) AS n FROM wakes"], home) == [{"n": 1}]


PARTS = ("median_duration", "p95_duration", "median_active", "p95_active")


def test_metrics_has_the_fields_of_the_specification(home: Path) -> None:
    (found,) = told(["metrics"], home)
    assert found.pop("first_wake_at") == found.pop("last_wake_at")
    assert found.pop("average_duration_seconds") > 0
    assert found.pop("median_seconds_to_decision") > 0
    seconds = [found.pop(f"{which}_seconds") for which in PARTS]
    assert seconds == [seconds[0]] * len(PARTS)  # of one wake, which did not wait
    tools = found.pop("tools")
    assert found == {
        "template_id": None,
        "template_name": None,
        "total_wakes": 1,
        "success_count": 1,
        "failure_count": 0,
        "success_rate": 1.0,
        "active_instance_count": 1,
        "skipped_count": 0,
        "running_count": 0,
        "confirmed_items": 1,
        "decided_items": 2,
        "acceptance_rate": 0.5,
        "tokens_per_wake": None,
        "noop_rate": 0.0,
        "waited_seconds": 0.0,
        "cost_per_wake": None,
    }
    assert sorted(one["confirmed"] for one in tools) == [0, 1]


def test_metrics_go_by_the_exact_name_where_two_differ_in_case_only(home: Path) -> None:
    made = [told(["template", "create", name], home)["id"] for name in ("Calm", "calm")]
    found = [told(["metrics", name], home)[0]["template_id"] for name in ("Calm", "calm")]
    assert found == made
    assert "'CALM' names 2 templates" in refused(["metrics", "CALM"], home)


def test_export_writes_every_table_and_what_its_columns_mean(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    counts = told(["export", "--parquet", str(folder)], home)["tables"]
    done(["export", "--parquet", str(folder)], home)  # again, in its place
    for table, count in counts.items():
        sql = f"SELECT count(*) FROM '{folder}/{table}/**/*.parquet'"
        assert duckdb.execute(sql).fetchall() == [(count,)], table
    assert counts["wakes"] == 1
    assert "### wakes" in (folder / "README.md").read_text("utf-8")
    partitions = {one.name for one in (folder / "events").iterdir()}
    assert partitions == {"log=agent", "log=journal"}


def test_export_leaves_a_folder_with_other_files_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "other files" in refused(["export", "--parquet", str(tmp_path)], home)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "notes.txt"]


FOR_EVER = (
    "SELECT count(*) AS template_id FROM range(1_000_000_000_000) one(x), range(1_000) two(y) "
    "WHERE x * y % 7 = 3"
)
HUGE = "SELECT x, x || 'abcdefgh' AS s FROM range(40_000_000) many(x) ORDER BY s DESC"


@pytest.mark.parametrize("form", ["table", "parquet"])
def test_one_function_gets_no_more_memory_than_a_query_may_have(home: Path, form: str) -> None:
    (home / "settings.toml").write_text("[analytics]\nmemory_mb = 256\n", encoding="utf-8")
    line = refused(["sql", "SELECT length(repeat('x', 2_000_000_000))", "--format", form], home)
    assert "needs more memory than it may have" in line
    assert told(["sql", "SELECT length(repeat('x', 1_000)) AS n"], home) == [{"n": 1000}]


ENDLESS = "SELECT levenshtein(repeat('a', 400_000), repeat('b', 400_000))"  # within one function


def test_one_function_that_takes_too_long_is_ended(home: Path) -> None:
    begun = time.monotonic()
    assert "longer than 0.3 seconds" in refused(["sql", ENDLESS, "--timeout", "0.3"], home)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGKILL])
def test_the_process_of_a_query_ends_with_the_one_that_asked(home: Path, told: int) -> None:
    asking = subprocess.Popen(command("sql", ENDLESS), env=environ(home), stderr=subprocess.DEVNULL)
    with asking as asked:
        children = Path(f"/proc/{asked.pid}/task/{asked.pid}/children")
        if not children.exists():
            asked.kill()
            pytest.skip("this system does not tell whose child a process is")
        child = Path("/proc", until(children.read_text).strip())
        until(lambda: len(list((child / "task").iterdir())) > 1)  # it knows what it is asked
        asked.send_signal(told)
    until(lambda: not _is_running(child))


def _is_running(process: Path) -> bool:
    try:
        return bool((process / "cmdline").read_bytes())  # empty where it waits to be forgotten
    except OSError:
        return False


def test_modules_of_the_working_folder_are_no_part_of_a_query(home: Path) -> None:
    (home.parent / "duckdb.py").write_text("raise SystemExit(5)", encoding="utf-8")
    wakelog = [sys.executable, "-P", *command("sql", "SELECT 1")[1:]]
    found = subprocess.check_output(wakelog, cwd=home.parent, env=environ(home))
    assert found == b"1\n1\n"


def asking_for_ever(home: Path, view: str) -> None:
    """A question of the analytics that has no end."""
    with duckdb.connect(home / "analytics.duckdb") as analytics:
        analytics.execute(f"CREATE OR REPLACE VIEW {view} AS {FOR_EVER}")


@pytest.mark.parametrize(
    "query",
    [
        FOR_EVER,
        f"SELECT count(*) FROM ({FOR_EVER})",
        "SELECT x FROM range(1_000_000_000_000) many(x)",
    ],
)
def test_a_query_that_takes_too_long_is_given_up_in_one_line(home: Path, query: str) -> None:
    line = refused(["sql", query, "--timeout", "0.3"], home)
    assert "longer than 0.3 seconds" in line
    assert line.endswith("[timed_out]")
    assert told(["sql", "SELECT count(*) AS n FROM wakes"], home) == [{"n": 1}]


def test_metrics_and_exports_have_a_time_too(home: Path, tmp_path: Path) -> None:
    done(["metrics"], home)
    asking_for_ever(home, "template_performance")
    assert "[timed_out]" in refused(["metrics", "--timeout", "0.3"], home)
    folder = str(tmp_path / "out")
    assert done(["export", "--parquet", folder], home)
    with duckdb.connect(home / "analytics.duckdb") as analytics:
        analytics.execute("INSERT INTO names SELECT names.* FROM names, range(2_000_000)")
    assert "[timed_out]" in refused(["export", "--parquet", folder, "--timeout", "0.1"], home)


def test_a_query_that_needs_too_much_memory_is_refused_in_one_line(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (home / "settings.toml").write_text("[analytics]\nmemory_mb = 256\n")
    line = refused(["sql", HUGE], home)
    assert "analytics.memory_mb" in line
    assert line.endswith("[out_of_memory]")
    assert "locked" in refused(["sql", "SET memory_limit = '8GB'"], home)
    assert [one.name for one in tmp_path.iterdir()] == ["home"], "nothing was written elsewhere"


def test_an_answer_without_an_end_is_not_kept_in_memory() -> None:
    with duckdb.connect() as connection:
        found = run_query(connection, "SELECT x FROM range(1_000_000_000) many(x)")
        with pytest.raises(Refused, match="add LIMIT"):
            deque(found.rows, maxlen=0)


ODD = """SELECT TIMESTAMP '2027-01-01' AS t, [1, 2] AS l, NULL AS n, 'a,"b' AS c"""


def test_an_answer_comes_as_csv_with_values_as_json_has_them(home: Path) -> None:
    text = run(["sql", ODD, "--format", "csv"], home).stdout_bytes
    assert b"\r" not in text
    (row,) = csv.DictReader(text.decode().splitlines())
    assert row == {"t": "2027-01-01T00:00:00.000000Z", "l": "[1, 2]", "n": "", "c": 'a,"b'}


def test_an_answer_comes_as_files_with_the_types_of_the_tables(home: Path) -> None:
    for form, read in (("parquet", pl.read_parquet), ("arrow", pl.read_ipc)):
        frame = read(run(["sql", ODD, "--format", form], home).stdout_bytes)
        assert frame.schema["t"] == pl.Datetime("us")
        assert frame["l"].to_list() == [[1, 2]]
    assert told(["sql", "SELECT 1 AS a"], home) == [{"a": 1}]


def test_a_format_of_json_is_that_of_the_option(home: Path) -> None:
    sql = ["sql", "SELECT 1 AS a"]
    assert json.loads(done([*sql, "--format", "json"], home)) == told(sql, home)
    assert "two formats" in refused(["--json", *sql, "--format", "csv"], home)


def test_a_query_comes_from_a_file_or_from_stdin(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "asked.sql"
    file.write_text("-- how many\nSELECT count(*) AS n\nFROM wakes;\n")
    assert told(["sql", "--file", str(file)], home) == [{"n": 1}]
    assert told(["sql", "-"], home, input="SELECT 2 AS n") == [{"n": 2}]
    assert "given twice" in refused(["sql", "SELECT 1", "--file", str(file)], home)
    assert "the query is missing" in refused(["sql"], home)


@pytest.mark.parametrize("form", ["table", "csv", "parquet"])
def test_one_statement_is_answered_and_two_are_not(home: Path, form: str) -> None:
    line = refused(["sql", "SELECT 1; SELECT 2", "--format", form], home)
    assert "there are 2 statements, and one is answered; ask one at a time" in line


def test_a_file_is_no_way_round_what_a_query_may_do(home: Path) -> None:
    for form, query, says in (
        ("parquet", "FROM read_text('/etc/hostname')", "disabled by configuration"),
        ("arrow", "COPY wakes TO '/tmp/wakes.csv'", "disabled by configuration"),
        ("parquet", "DELETE FROM wakes", "read-only"),
        ("arrow", "SET enable_external_access = true", "locked"),
    ):
        assert says in refused(["sql", query, "--format", form], home)


def held(folder: Path) -> str:
    """All values of the Parquet files below a folder, as text."""
    tables = [one.name for one in folder.iterdir() if one.is_dir()]
    sql = "SELECT t::VARCHAR FROM '{}/{}/**/*.parquet' t"
    return str([duckdb.execute(sql.format(folder, one)).fetchall() for one in tables])


def test_an_export_says_what_it_holds_and_without_its_texts_holds_none(
    home: Path, tmp_path: Path
) -> None:
    plain, redacted = tmp_path / "plain", tmp_path / "redacted"
    said = run(["export", "--parquet", str(plain)], home).stderr
    assert "It holds what people and agents wrote, word for word" in said
    assert said.splitlines()[-1] in (plain / "README.md").read_text()
    document = told(["export", "--parquet", str(redacted), "--redact"], home)
    assert document["redacted"]
    assert "Texts, names and ids were rewritten" in (redacted / "README.md").read_text()
    for word in ("sink", "I know"):
        assert word in held(plain)
        assert word not in held(redacted)
    assert "update_task_" in held(redacted)
    assert (
        told(["export", "--parquet", str(plain)], home)["tables"].items()
        >= {name: count for name, count in document["tables"].items() if name != "texts"}.items()
    )
