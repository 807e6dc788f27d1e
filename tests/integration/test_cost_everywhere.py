"""What a wake costs is one number, wherever it is told: `show`, tables, spans, Inspect, budgets."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import astuple, replace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.analytics.database import connect
from adapters.analytics.rows import create
from adapters.home.prices import WHOLE, Price, cost, costs_at
from adapters.models.gemini.model import GeminiModel
from adapters.models.wording import NUDGES
from adapters.runtime import on_demand
from adapters.runtime.budgets import Budgets
from adapters.telemetry.otel import OtelSpans
from adapters.wiring import Home, open_home
from domain.ports import Usage
from tests.support.asking import Heard
from tests.support.cli import FIXED, proved, refused, run, told
from tests.support.consents import agreed
from tests.support.gemini import NAME, environment, model
from tests.support.gemini_server import answer, call, document, serving, text
from tests.support.inspecting import read_logs
from tests.support.scripted_server import Answer
from tests.support.waking import agent

pytestmark = pytest.mark.slow

PRICES = f'[prices."{NAME}"]\ninput = 2\noutput = 10\ncached = 0.5\n'
WORDS = {"content": "Fine.", "tldr": "It is fine.", "oneLiner": "Fine"}
REPORT = call("update_report", WORDS, signature="AA")
DONE = answer(text("Done."), tokens=(100,))  # nothing else is told: 200 millionths
CUT = answer(text("It"), finish="MAX_TOKENS", tokens=(1000, 5, 700))
GARBLED = answer(finish="MALFORMED_FUNCTION_CALL", tokens=(1000, 0, 100))


def using(**usage: int) -> Answer:
    """A report with this usage."""
    return document(**{**json.loads(answer(REPORT).body), "usageMetadata": usage})


CASES: dict[str, tuple[Sequence[Answer], float]] = {
    "thoughts": ([answer(REPORT, tokens=(1000, 20, 300)), DONE], 5_400),
    "without thoughts": ([answer(REPORT, tokens=(1000, 20)), DONE], 2_400),
    "cached": (
        [
            using(promptTokenCount=1000, candidatesTokenCount=20, cachedContentTokenCount=800),
            DONE,
        ],
        1_200,
    ),
    "less than a millionth": (
        [
            using(promptTokenCount=1, candidatesTokenCount=0, cachedContentTokenCount=1),
            answer(text("Done."), tokens=(0,)),
        ],
        0.5,
    ),
    "asked again": (
        [answer(tokens=(50, 0, 10)), answer(REPORT, tokens=(1000, 20, 300)), DONE],
        5_600,
    ),
    "failed": ([CUT], 9_050),
    "failed after a turn": ([answer(REPORT, tokens=(1000, 20, 300)), CUT], 14_250),
    "garbled": ([GARBLED] * (len(NUDGES) + 1), 3_000 * (len(NUDGES) + 1)),
    "streamed": ([answer(REPORT, tokens=(1000, 20, 300)), DONE], 5_400),
    "streamed and failed": ([answer(tokens=(50, 0, 10)), CUT], 9_250),
}
"""What is answered, and what that costs in millionths, by hand."""


class Lived:
    """A home where each case was a wake of an agent of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, str] = {}  # run key by case
        self.spans: dict[str, float] = {}  # cost by run key

    def live(self) -> None:
        agents = {case: agent(self.path, case) for case in CASES}
        agreed(self.path)
        (self.path / "settings.toml").write_text(PRICES, encoding="utf-8")
        for case, (script, _) in CASES.items():
            with (
                serving(*script) as server,
                open_home(self.path, {**FIXED, **environment(server)}, is_writing=True) as home,
            ):
                self._wake(home, case, agents[case], model(server))

    def _wake(self, home: Home, case: str, agent_id: str, asked: GeminiModel) -> None:
        exporter, services = InMemorySpanExporter(), home.services
        services.model_for = lambda _: asked
        costs = costs_at(home.settings.prices, lambda: services.agents.tail().at)
        services.spans_for = lambda: OtelSpans(exporter, cost_of=costs)
        home.views.catch_up()
        (turn,) = on_demand.ready(services, [agent_id])
        self.runs[case] = turn.run_key
        if case.startswith("streamed"):
            services.listeners[turn.run_key] = Heard()
        on_demand.run_ready(services, [agent_id], lambda *_: None)
        services.spans.close()
        told = [(one.attributes or {}).get("wakelog.cost") for one in exporter.get_finished_spans()]
        self.spans[turn.run_key] = sum(one for one in told if isinstance(one, float))

    def ask(self, sql: str) -> dict[str, Any]:
        with connect(self.path, FIXED) as connection:
            return dict(connection.execute(sql).fetchall())


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    made = Lived(tmp_path_factory.mktemp("costs") / "home")
    made.live()
    return made


@pytest.fixture(scope="module")
def expected(lived: Lived) -> dict[str, float]:
    return {lived.runs[case]: micros / 1e6 for case, (_, micros) in CASES.items()}


def test_show_tells_what_each_wake_cost(lived: Lived, expected: dict[str, float]) -> None:
    assert {one: told(["show", one], lived.path)["usage"]["cost"] for one in expected} == expected
    assert proved(lived.path)


def test_tables_tell_what_each_wake_and_each_turn_cost(
    lived: Lived, expected: dict[str, float]
) -> None:
    assert lived.ask("SELECT run_key, cost FROM wakes") == expected
    assert lived.ask("SELECT run_key, round(sum(cost), 9) FROM turns GROUP BY ALL") == expected
    total = sum(micros for _, micros in CASES.values()) / 1e6
    assert lived.ask("SELECT model, cost FROM tokens_and_cost") == {NAME: total}
    sql = "SELECT 'tokens', sum(tokens_in + tokens_out + tokens_thought) FROM wakes"
    shown = [told(["show", one], lived.path)["usage"] for one in expected]
    names = ("input_tokens", "output_tokens", "thought_tokens")
    assert lived.ask(sql) == {"tokens": sum(one[name] for one in shown for name in names)}


def test_spans_tell_what_each_wake_cost(lived: Lived, expected: dict[str, float]) -> None:
    assert lived.spans == pytest.approx(expected)


def test_inspect_is_told_what_each_wake_cost(
    lived: Lived, expected: dict[str, float], tmp_path: Path
) -> None:
    told(["export", "--inspect", str(tmp_path / "out")], lived.path)
    samples = [one for file in read_logs(tmp_path / "out") for one in file.samples]
    assert {one.id: one.model_usage[NAME].total_cost for one in samples} == expected
    for one in samples:
        events = [event.output.usage for event in one.events if event.event == "model"]
        assert sum(used.total_cost for used in events) == pytest.approx(expected[one.id])


@pytest.mark.parametrize(("more", "is_spent"), [(0, True), (1, False)])
def test_a_days_budget_counts_the_same(lived: Lived, more: int, *, is_spent: bool) -> None:
    total = int(sum(micros for _, micros in CASES.values()))
    with open_home(lived.path, FIXED) as home:
        budget = replace(home.settings.budget, cost_per_day=total + more)
        budgets = Budgets(home.services.agents, replace(home.settings, budget=budget))
        wake = home.services.wake(lived.runs["thoughts"])
        assert bool(budgets.until(wake, home.services.clock.now())) is is_spent


COUNTS = (None, 0, 1, 999, 1_000_003)
USAGES = [Usage(*counts) for counts in product(COUNTS, repeat=4)]
RATES = (Price(1_250_000, 10_000_000), Price(0, 1, 0), Price(3, 7, 5), Price(2_000_000, 9, 310_000))


def test_the_macro_of_the_tables_and_the_function_say_the_same() -> None:
    rows = [(*astuple(used), *astuple(rate)[:3]) for used in USAGES for rate in RATES]
    values = ", ".join(str(row) for row in rows).replace("None", "NULL")
    with duckdb.connect() as connection:
        create(connection)
        sql = (
            f"SELECT cost_of(a, b, c, d, e, f, g) FROM (VALUES {values}) told(a, b, c, d, e, f, g)"
        )
        found = [one for (one,) in connection.execute(sql).fetchall()]
    parts = [cost(used, price) for used in USAGES for price in RATES]
    assert found == [None if one is None else one / WHOLE for one in parts]


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_a_mean_of_costs_is_exact_in_whatever_order_they_come(order: str) -> None:
    with duckdb.connect() as connection:
        create(connection)
        connection.execute(
            "INSERT INTO wakes BY NAME SELECT n::VARCHAR AS run_key, n / 10 AS cost,"
            f" now()::TIMESTAMP AS started_at FROM range(1, 100) all_of(n) ORDER BY n {order}"
        )
        found = connection.execute("SELECT cost_per_wake FROM template_performance").fetchall()
    assert found == [(5.0,)]


# ------------------------------------------------------------------------------------- budgets


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A home with two agents that wait for Gemini."""
    home = tmp_path / "home"
    agent(home, "Fix the sink")
    agent(home, "Paint the door")
    return agreed(home)


def waits_after(home: Path, settings: str, *script: Answer) -> list[str | None]:
    """What the wakes wait for, once all were run under these settings, the first one first."""
    (home / "settings.toml").write_text(f"{settings}\n[agents]\nparallel = 1\n", encoding="utf-8")
    with serving(*script) as server:
        run(["--model", "gemini", "wake"], home, env=environment(server))  # one may fail
    assert proved(home)
    return [one["waits_for"] for one in reversed(told(["wakes"], home))]


@pytest.mark.parametrize("limit", ["tokens_per_day = 1705", "cost_per_day = 0.00905"])
def test_a_daily_budget_stops_on_answers_that_failed_too(waiting: Path, limit: str) -> None:
    assert waits_after(waiting, f"{PRICES}[budget]\n{limit}", CUT) == [None, "budget"]


@pytest.mark.parametrize("limit", ["tokens_per_day = 500", "cost_per_day = 0.001"])
def test_an_answer_whose_tokens_nobody_told_counts_as_its_prompts_bytes(
    waiting: Path, limit: str
) -> None:
    silent = {key: value for key, value in json.loads(CUT.body).items() if key != "usageMetadata"}
    silent["candidates"][0]["finishReason"] = "STOP"
    found = waits_after(waiting, f"{PRICES}[budget]\n{limit}", document(**silent))
    assert found == ["budget", "budget"]
    (first, *_) = told(["wakes"], waiting)
    assert told(["show", first["run_key"]], waiting)["usage"]["cost"] is None


def test_where_money_is_limited_a_model_without_a_price_is_not_asked(waiting: Path) -> None:
    dated = PRICES.replace("input", 'since = "2099-01-01"\ninput')
    for prices in ("", dated):
        settings = f"{prices}[budget]\ncost_per_day = 1\n"
        (waiting / "settings.toml").write_text(settings, encoding="utf-8")
        with serving() as server:
            asking = ["--model", "gemini", "wake", "Fix the sink"]
            line = refused(asking, waiting, env=environment(server))
        assert f'write [prices."{NAME}"]' in line
        assert server.sent == []
    assert (
        told(["wake", "Fix the sink"], waiting)["outcome"] == "completed"
    )  # offline costs nothing
