"""The tables say what the log says, whatever happened and in whatever steps it was read.

The figures of a template are compared with a fold of their own over the raw bytes: it knows
nothing of the tables, nor of the domain's folds.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.store.log import Log
from tests.support.analysed import VIEWS, Tables, TimedLife, template
from tests.support.lives import CALLS, DEEDS, attempt

pytestmark = pytest.mark.slow
SPOKEN = (*DEEDS, "confirm", "reject", "settle")

deeds = st.lists(
    st.tuples(
        st.integers(0, 1),  # whose
        st.sampled_from(SPOKEN),
        st.lists(st.sampled_from(CALLS), max_size=3),
        st.sampled_from([0, 0, 1, 90]),  # seconds until then
    ),
    min_size=10,
    max_size=40,
)
Deeds = list[tuple[int, str, Any, int]]
BUSY: Deeds = [
    (0, "begin", [], 0),
    (0, "answer", list(CALLS), 0),
    (0, "return", [], 7),
    (0, "answer", [], 0),
    (0, "answer", [], 1),
]

AGAIN: Deeds = [*BUSY, (0, "wake", [], 0), (0, "begin", [], 0)]


def lived(deeds: Deeds) -> Iterator[Log]:
    """Two agents' lives in one log, one of them on a template; the log after each deed."""
    log = Log.in_memory("agent")
    lives = [TimedLife(log), TimedLife(log, "paint the fence")]
    for life in lives:
        life.create()
    lives[0].assign(template(log, "Laura"))
    for n, (whose, deed, calls, seconds) in enumerate(deeds, start=1):
        for life in lives:
            life.wait(seconds)
        attempt(lives[whose], deed, calls, n)
        yield log


def raw(log: Log) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Stream, time and fact of each row, as JSON has them."""
    at = ""
    for row in log.rows():
        state = json.loads(row.state)
        at = state.get("at", at)
        yield row.stream.rpartition("@")[0], at, state["data"]


def folded(log: Log) -> dict[str | None, dict[str, Any]]:
    """What SPEC 8 says of templates, over the raw rows."""
    began: dict[str, tuple[str | None, datetime]] = {}
    ended: dict[str, tuple[str, datetime]] = {}
    lives_on: dict[str, str | None] = {}
    life: dict[str, str] = {}
    for stream, at, fact in raw(log):
        entity = stream.partition(":")[2]
        when = datetime.fromisoformat(at)
        match fact["kind"]:
            case "wake.started.1":
                began[entity] = (fact.get("template"), when)
            case "wake.finished.1":
                ended[entity] = (fact["outcome"], when)
            case "agent.created.1":
                lives_on[entity], life[entity] = None, "created"
            case "agent.template_assigned.1":
                lives_on[entity] = fact.get("template")
            case "agent.activated.1" | "agent.paused.1" | "agent.destroyed.1" as tag:
                life[entity] = tag.split(".")[1]
            case _:
                pass
    found: dict[str | None, dict[str, Any]] = defaultdict(
        lambda: {"total": 0, "success": 0, "failure": 0, "took": [], "at": [], "active": 0}
    )
    for run, (name, since) in began.items():
        told = found[name]
        told["total"] += 1
        told["at"].append(since)
        if run in ended:
            outcome, until = ended[run]
            told["success"] += outcome == "completed"
            told["failure"] += outcome == "failed"
            told["took"] += [until - since] if until > since else []
    for agent, name in lives_on.items():
        found[name]["active"] += life[agent] == "activated"
    return found


@settings(max_examples=12)
@given(deeds=deeds)
@example(deeds=[*BUSY, (0, "wake", [], 0), *BUSY, (1, "begin", [], 3), (1, "fail", [], 4)])
@example(deeds=[(0, "begin", [], 0), (0, "stop", [], 0), (1, "begin", [], 0)])
@example(deeds=[*AGAIN, (1, "begin", [], 0)])  # one completed, one running
@example(deeds=[*AGAIN, (0, "pause", [], 0), (0, "answer", [], 90)])  # one completed, one skipped
@example(deeds=[*BUSY, (0, "change", [], 0), (0, "wake", [], 1)])  # one superseded in the queue
def test_template_performance_is_what_a_fold_over_the_raw_log_says(deeds: Deeds) -> None:
    *_, log = lived(deeds)
    rows = Tables(log).ask(
        "SELECT template_id, total_wakes, success_count, failure_count, success_rate, "
        "average_duration_seconds, first_wake_at, last_wake_at, active_instance_count "
        "FROM template_performance"
    )
    expected = folded(log)
    assert {row[0] for row in rows} == set(expected)
    for name, total, success, failure, rate, average, first, last, active in rows:
        told = expected[name]
        assert (total, success, failure) == (told["total"], told["success"], told["failure"])
        decided = success + failure
        assert rate == (float(Fraction(success, decided)) if decided else 0)
        took = told["took"]
        mean = sum(took, timedelta()) / len(took) if took else None
        assert average == pytest.approx(mean.total_seconds()) if mean else average is None
        times = [one.replace(tzinfo=None) for one in told["at"]]
        assert (first, last) == (min(times, default=None), max(times, default=None))
        assert active == told["active"]


@settings(max_examples=6)
@given(deeds=deeds, steps=st.sets(st.integers(0, 40), max_size=4))
@example(deeds=[*BUSY, (0, "wake", [], 0), *BUSY, *BUSY], steps={1, 2, 6, 8})
@example(deeds=[(0, "wake", [], 0), (0, "change", [], 1), *BUSY, *BUSY], steps={0, 1, 3, 5})
def test_tables_filled_in_steps_are_those_filled_at_once(deeds: Deeds, steps: set[int]) -> None:
    tables: Tables | None = None
    for n, log in enumerate(lived(deeds)):
        tables = tables or Tables(log)
        if n in steps:
            tables.catch_up()
    assert tables is not None
    tables.catch_up()
    anew = Tables(log)
    assert tables.contents() == anew.contents()
    for view in VIEWS:
        sql = f"FROM {view} ORDER BY ALL"
        assert tables.ask(sql) == anew.ask(sql), view


@settings(max_examples=6)
@given(deeds=deeds)
@example(deeds=[*BUSY, (0, "wake", [], 0), (0, "wake", [], 0), *BUSY])
def test_every_row_is_an_event_and_every_trigger_has_a_fate(deeds: Deeds) -> None:
    *_, log = lived(deeds)
    tables = Tables(log)
    told = tables.ask("SELECT stream, version, tag, data::VARCHAR FROM events ORDER BY n, row_n")
    assert [(row.stream, row.version, row.topic) for row in log.rows()] == [one[:3] for one in told]
    kept = [json.loads(one[3]) for one in told]
    assert kept == [json.loads(row.state)["data"] for row in log.rows()]
    facts = [fact["kind"] for _, _, fact in raw(log)]
    recorded = ("alert.wake_queued.1", "alert.trigger_merged.1", "alert.trigger_suppressed.1")
    assert tables.one("SELECT count(*) FROM triggers") == sum(map(facts.count, recorded))
    queued = {fact["runKey"] for _, _, fact in raw(log) if fact["kind"] == recorded[0]}
    assert {run for (run,) in tables.ask("SELECT run_key FROM wakes")} == queued
    answered = facts.count("wake.tool_returned.1")
    assert tables.one("SELECT count(returned_at) FROM tool_calls") == answered
