"""Figures of templates, held against what was counted by hand."""

from typing import Any

import duckdb
import pytest

from adapters.analytics.rows import create
from adapters.home.prices import Price
from adapters.home.settings import Settings
from adapters.store.log import Log
from domain.agent.commands import PauseAgent
from tests.support.analysed import Tables, TimedLife, template
from tests.support.lives import ADD, PROPOSE, REPORT, Life

pytestmark = pytest.mark.slow


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


def test_a_template_with_failures_only_has_a_rate_of_zero() -> None:
    life = TimedLife()
    life.create()
    life.assign(laura := template(life.log, "Laura"))
    for seconds in (10, 20):
        run_key = life.begin()
        life.wait(seconds)
        life.fault(run_key, of_provider=False)
        life.ask(reason="manual")
    assert performance(life.log)[laura] == (2, 0, 2, 0.0, 15.0, 1)


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


def test_running_skipped_and_superseded_wakes_are_neither_success_nor_failure() -> None:
    life, other = TimedLife(), None
    life.create()
    life.assign(laura := template(life.log, "Laura"))
    life.run(REPORT)
    life.change(1)
    life.ask(reason="manual")  # supersedes the one that the change queued
    run_key = life.begin()
    life.do(PauseAgent(life.agent))
    life.wait(5)
    life.answer(run_key, text="Too late.")  # skipped: its agent sleeps
    other = TimedLife(life.log, "paint the fence")
    other.now = life.now
    other.create()
    other.assign(laura)
    other.begin()  # running
    assert performance(life.log) == {laura: (3, 1, 0, 1.0, 5.0, 1)}
    outcomes = Tables(life.log).ask("SELECT outcome, count(*) FROM wakes GROUP BY 1")
    assert dict(outcomes) == {"completed": 1, "superseded": 1, "skipped": 1, None: 1}


def test_what_a_person_decides_counts_as_accepted_or_not() -> None:
    life = Life()
    life.create()
    run_key = life.run(PROPOSE, ADD)
    life.reject(run_key, 2)
    tables = Tables(life.log)
    rows = tables.ask("SELECT tool, status FROM change_items ORDER BY item")
    assert rows == [
        ("update_task_estimate", "pending"),
        ("add_checklist_item", "rejected"),
        ("add_checklist_item", "pending"),
    ]
    accepted = tables.ask(
        "SELECT proposed, confirmed, rejected, decided, acceptance_rate FROM acceptance "
        "WHERE dimension = 'tool' AND value = 'add_checklist_item'"
    )
    assert accepted == [(2, 0, 1, 1, 0.0)]
    assert tables.ask("SELECT tool, reason, rejected FROM rejection_reasons") == [
        ("add_checklist_item", "not now", 1)
    ]


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
