"""What people ask in one line: the page's ten questions, and figures held against printed ones, and
against a count by hand where no history that is kept has it (`test_analytics_recounted`)."""

import re
from datetime import datetime
from typing import Any

import duckdb
import msgspec
import pytest

from adapters.analytics.queries import run_query
from adapters.analytics.rows import create, documentation
from adapters.home.prices import Price
from adapters.home.settings import Settings
from adapters.store.log import Log
from domain.journal import commands as do
from domain.journal.commands import CreateTask
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.log.keys import key
from domain.log.wire import payload
from domain.wake.commands import RetakeWake
from tests.support.analysed import Tables, TimedLife, template
from tests.support.lives import PROPOSE, REPORT, START, Life

pytestmark = pytest.mark.slow

QUESTIONS = re.findall(r"\n(.+\?)\n\n```sql\n(.+)\n```", documentation())


@pytest.fixture
def empty() -> "duckdb.DuckDBPyConnection":
    connection = duckdb.connect()
    create(connection)
    return connection


@pytest.mark.parametrize("sql", [sql for _, sql in QUESTIONS], ids=[told for told, _ in QUESTIONS])
def test_a_question_of_the_page_can_be_asked(sql: str, empty: "duckdb.DuckDBPyConnection") -> None:
    assert list(run_query(empty, sql).rows) == []
    life = Life()
    life.create()
    life.run(PROPOSE)
    assert run_query(Tables(life.log).connection, sql).columns


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        ((3, 4, 1, 4), 0.485714),  # Fisher's lady tasting tea
        ((2, 17, 10, 13), 0.000536724),  # his twins of convicts
        ((0, 5, 0, 7), 1.0),
        ((5, 5, 0, 5), 0.00793651),
    ],
)
def test_the_exact_test_is_fishers(
    counts: tuple[int, ...], p: float, empty: "duckdb.DuckDBPyConnection"
) -> None:
    sql = f"SELECT fisher_exact({', '.join(map(str, counts))})"
    assert empty.execute(sql).fetchall()[0][0] == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize(
    ("df", "t"),
    [(1, 12.7062), (2, 4.30265), (10, 2.22814), (11, 2.20099), (30, 2.04227), (120, 1.97993)],
)
def test_the_factor_is_students(df: int, t: float, empty: "duckdb.DuckDBPyConnection") -> None:
    found = empty.execute(f"SELECT student_t({df})").fetchall()[0][0]
    assert found == pytest.approx(t, rel=1e-4)


def versions(
    empty: "duckdb.DuckDBPyConnection", *items: tuple[str, int, int, int]
) -> dict[str, Any]:
    """The comparison of items, as agent, version, how many were confirmed, and rejected."""
    for nth, (agent, version, yes, no) in enumerate(items):
        empty.execute(
            "INSERT INTO wakes (run_key, template_id, template_version) VALUES (?, 'T', ?)",
            [str(nth), version],
        )
        empty.execute(
            "INSERT INTO change_items (agent_id, run_key, status) SELECT $1, $2, "
            "CASE WHEN i < $3 THEN 'confirmed' ELSE 'rejected' END FROM range($4) t(i)",
            [agent, str(nth), yes, yes + no],
        )
    (found,) = run_query(empty, "FROM compare_versions('T', 1, 2)").documents()
    return found


def test_items_that_agree_within_an_agent_bear_less(empty: "duckdb.DuckDBPyConnection") -> None:
    """Eight agents of ten items each, all confirmed or all rejected: as good as eight items."""
    good, bad = (10, 0), (0, 10)
    of_a = [(f"a{nth}", 1, *(good if nth < 1 else bad)) for nth in range(4)]
    of_b = [(f"b{nth}", 2, *(good if nth < 3 else bad)) for nth in range(4)]
    found = versions(empty, *of_a, *of_b)
    assert (found["agents"], found["agents_of_both"], found["difference"]) == (8, 0, 0.5)
    assert found["p_if_independent"] < 0.0001
    assert found["design_effect"] == pytest.approx(80 / 7)
    assert found["p_value"] > 0.1
    assert found["low"] < 0 < found["high"]


def test_one_agent_says_nothing_about_chance(empty: "duckdb.DuckDBPyConnection") -> None:
    found = versions(empty, ("one", 1, 1, 9), ("one", 2, 9, 1))
    assert found["difference"] == pytest.approx(0.8)
    assert (found["low"], found["high"]) == (None, None)
    assert found["agents_of_both"] == 1


def test_a_version_without_verdicts_is_compared_with_none(
    empty: "duckdb.DuckDBPyConnection",
) -> None:
    found = versions(empty, ("one", 1, 3, 2))
    assert (found["rate_a"], found["rate_b"], found["decided_b"]) == (0.6, None, 0)
    assert (found["difference"], found["low"], found["p_value"]) == (None, None, None)


def test_what_happened_on_a_day_goes_by_the_clock_of_the_zone() -> None:
    log = Log.in_memory("journal")
    log.append(CreateTask("before midnight"), "2027-03-28T21:59:59.000000Z")
    log.append(CreateTask("after midnight"), "2027-03-28T22:00:00.000000Z")
    tables = Tables(Log.in_memory("agent"), log)
    sql = "SELECT local_at, task FROM happened({}) WHERE what = 'task.created'"
    berlin = tables.ask(sql.format("'2027-03-29', 'Europe/Berlin'"))
    assert berlin == [(datetime.fromisoformat("2027-03-29"), "after midnight")]
    assert [task for _, task in tables.ask(sql.format("'2027-03-28'"))] == [
        "before midnight",
        "after midnight",
    ]
    assert len(tables.ask(sql.format("DATE '2027-03-28'"))) == 2
    assert len(tables.ask(sql.format("'2027-03-28T23:59', 'Europe/Berlin'"))) == 1


def test_costs_are_asked_by_a_dimension_that_there_is(empty: "duckdb.DuckDBPyConnection") -> None:
    with pytest.raises(duckdb.Error, match="name template, version, model, agent or task"):
        empty.execute(
            "INSERT INTO wakes (run_key, started_at) VALUES ('w', '2027-01-01'); "
            "FROM cost_per_confirmed_change('colour')"
        ).fetchall()


# ---------------------------------------------------------------- what no kept history has in it


def performance(log: Log) -> dict[str | None, tuple[Any, ...]]:
    """Total, success, failure, rate, mean seconds and active agents, by template."""
    rows = Tables(log).ask(
        "SELECT template_id, total_wakes, success_count, failure_count, success_rate, "
        "average_duration_seconds, active_instance_count FROM template_performance"
    )
    return {row[0]: row[1:] for row in rows}


def test_a_template_without_wakes_has_zeros_and_no_duration() -> None:
    life = TimedLife()
    life.create()
    idle = template(life.log, "Idle")
    assert performance(life.log)[idle] == (0, 0, 0, 0.0, None, 0)


def test_wakes_of_no_length_count_but_have_no_part_in_the_mean() -> None:
    life = TimedLife()
    life.create()
    life.assign(laura := template(life.log, "Laura"))
    life.run(REPORT)
    life.ask(reason="manual")
    run_key = life.begin()
    life.wait(30)
    life.answer(run_key, text="Done.")
    assert performance(life.log)[laura] == (2, 2, 0, 1.0, 30.0, 1)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)],
)
def test_the_interval_is_wilsons(k: int, n: int, low: float, high: float) -> None:
    """Figures from Wilson (1927), as tables of the interval print them."""
    with duckdb.connect() as connection:
        create(connection)
        found = connection.execute(f"SELECT wilson_low({k}, {n}), wilson_high({k}, {n})")
        assert found.fetchall()[0] == pytest.approx((low, high), abs=1e-4)


def test_cost_is_known_only_where_tokens_and_price_are() -> None:
    life = Life()
    life.create()
    run_key = life.begin()
    life.answer(run_key, REPORT, tokens=1000)
    life.answer(run_key, text="Done.", tokens=500)
    tables = Tables(life.log)
    sql = "SELECT tokens_in, tokens_out, unknown_turns, cost FROM tokens_and_cost"
    assert tables.ask(sql) == [(1500, 1500, 0, None)]
    tables = Tables(life.log, settings=Settings(prices={"rules": (Price(1_250_000, 10_000_000),)}))
    assert tables.ask(sql) == [(1500, 1500, 0, 0.016875)]
    life.ask(reason="manual")
    life.answer(life.begin(), text="Well.")
    tables.catch_up()
    assert tables.ask(sql) == [(None, None, 1, None)]


def test_a_wake_that_still_waits_has_no_end_of_it() -> None:
    life = TimedLife()
    life.create()
    run_key = life.begin()
    life.fault(run_key, of_provider=True)
    tables = Tables(life.log)
    assert tables.ask("SELECT reason, ended_at, seconds FROM waits") == [("provider", None, None)]
    assert tables.ask("SELECT waited_seconds, active_seconds FROM wakes") == [(0.0, None)]
    life.wait(60)
    life.do(RetakeWake(run_key))
    tables.catch_up()
    assert tables.ask("SELECT reason, seconds FROM waits") == [("provider", 60.0)]


def test_a_note_that_was_removed_and_came_back_is_counted() -> None:
    log, sink = Log.in_memory("journal"), key("task", "sink")

    def taken(note: str) -> None:
        task = ImportedTask(sink, "Fix the sink", notes=(ImportedNote(note, key="c1"),))
        kept = payload(sink, msgspec.json.encode(task))
        asked = do.ImportTasks("sinks", (do.ImportedRef(sink, kept.id),))
        log.append(asked, START, payloads=[kept])

    def counted() -> int:
        return int(Tables(Log.in_memory("agent"), log).one("SELECT notes FROM tasks"))

    taken("Ask Ann")
    with log.reading() as world:
        (note,) = world.load(TASK, sink).notes
    log.append(do.RemoveNote(sink, note.id), START)
    assert counted() == 0
    taken("Ask Ann and Bob")
    assert counted() == 1
