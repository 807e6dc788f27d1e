"""Every table, view and macro, counted a second time from the raw rows (`support/recounting`)."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.analytics.database import connect
from adapters.analytics.rows import LOGS, statements
from adapters.demo.generator import make_demo_home
from adapters.home.prices import Price
from adapters.home.settings import Settings, load
from adapters.proof import histories
from adapters.simulation.plan import plan
from adapters.simulation.play import HomeEpisode
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.log.wire import Payload
from tests.histories import scenes
from tests.histories.kept import each_once, unpacked
from tests.histories.test_formats import restored
from tests.support import checker
from tests.support.analysed import Tables
from tests.support.checking.logs import opened
from tests.support.recounting.compared import (
    TABLES,
    Counted,
    answers,
    differences,
    mismatches,
    uncounted,
)
from tests.support.recounting.facts import Prices, Rows
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import services, task_with_agent

pytestmark = pytest.mark.slow

OLDER = ("redacted.jsonl", "redacted.jsonl.gz")
FILES = [
    file
    for file in each_once()
    if file.parent in (scenes.FOLDER, scenes.FOLDER / "recorded") or file.name in OLDER
]
"""Of what older code wrote of the same scenes a file each: in no row of the others stands a kind, a
field or a choice that the scenes of today lack."""
FORMATS = sorted(scenes.FOLDER.glob("formats/*/"))
ZONE = "America/New_York"
PRICES: Prices = {
    "tape": [
        (1_250_000, 10_000_000, None, ""),
        (1_400_000, 9_000_001, 120_007, "2027-01-02"),
        (1_100_000, 9_500_000, 0, "2027-01-09"),
    ],
    "rules": [(300_001, 2_500_003, 30_001, "")],
}
NOT_COUNTED = {
    "positions": {"digest"},  # the checker's: `tests.support.checking.shape`
    "rejection_reasons": {"example"},  # of several that were decided at once any is right
    "repeated_proposals": {"summary"},  # likewise
}
AFTER = {"rows": ("entities", "proposals"), "entities": ("proposals",)}
NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT temporary
UNION SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary
"""
ODD = (  # tokens of input, output, thoughts and cached ones: what providers have told
    (1200, 35, 310, 0),
    (900_001, 20, None, 800),
    (None, 20, 5, None),
    (7, 3, 0, 9),
    (1000, None, None, None),
    (333_333, 1, 2, 333_332),
    (None, None, None, None),
)
TOLD = {
    "wake.model_answered.1": ("tokensIn", "tokensOut", "tokensThought", "tokensCached"),
    "wake.model_failed.1": ("tokensPrompt", "tokensReply", "tokensThought", "tokensCached"),
}
TOGETHER = (
    "each_verdict already_so held_wakes templates_again remembered imports time_spent "
    "lessons digested day_by_hand category_reviewed template_improved".split()
)
QUICK = ("each_verdict", "providers", "two_replicas")  # the other files are for the slow part


def named(file: Path) -> str:
    return str(file.relative_to(scenes.FOLDER)).partition(".jsonl")[0]


def analysed(agents: Log, journal: Log, *, is_optimized: bool = True) -> Tables:
    prices = {model: tuple(Price(*one) for one in dated) for model, dated in PRICES.items()}
    settings = Settings(timezone=ZONE, prices=prices)
    return Tables(agents, journal, settings, is_optimized=is_optimized)


def filled(history: histories.History, *, is_optimized: bool = True) -> Tables:
    """The analytics of a history."""
    logs = {}
    for name in LOGS:
        recorder = MemoryLogRecorder()
        payloads = [Payload(one, data) for one, data in history.payloads.items()]
        recorder.insert(history.rows[name], payloads)
        logs[name] = Log(name, recorder, "r1")
    return analysed(logs["agent"], logs["journal"], is_optimized=is_optimized)


def same(history: histories.History, file: Path, *, is_optimized: bool = True) -> None:
    tables = filled(history, is_optimized=is_optimized)
    found = mismatches(tables.connection, Counted(opened(file), PRICES), ZONE)
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=named(file), marks=() if named(file) in QUICK else pytest.mark.slow)
        for file in FILES
    ],
)
def test_a_kept_history_counted_twice_is_the_same(file: Path, tmp_path: Path) -> None:
    """By the SQL as it is written: what DuckDB makes of it, homes of each format below show."""
    file = unpacked(file, tmp_path)
    same(histories.read_history(file), file, is_optimized=False)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FORMATS, ids=lambda folder: f"format {folder.name}")
def test_logs_of_this_format_counted_twice_are_the_same(folder: Path, tmp_path: Path) -> None:
    journal, agents = (restored(folder / f"{name}.jsonl", tmp_path) for name in LOGS)
    same(histories.take_history(journal, agents), tmp_path)
    journal.close()
    agents.close()


def odd(file: Path, folder: Path, first: int) -> Path:
    """A history whose models told odd numbers of tokens, of answers that failed, too."""
    lines, nth = file.read_text().splitlines(), first
    for at, line in enumerate(lines):
        row = json.loads(line)
        state = json.loads(row.get("state", "{}"))
        said = state.get("data", {}).get("reply", state.get("data"))
        said = said if isinstance(said, dict) else state.get("data", {})
        if names := TOLD.get(said.get("kind", "")):
            told = dict(zip(names, ODD[nth % len(ODD)], strict=True))
            for name in names:
                said.pop(name, None)
            said |= {name: value for name, value in told.items() if value is not None}
            lines[at] = json.dumps({**row, "state": json.dumps(state, separators=(",", ":"))})
            nth += 1
    kept = folder / file.name
    kept.write_text("\n".join(lines) + "\n")
    return kept


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(nth, marks=pytest.mark.slow) for nth in (2, 4))]
)
@pytest.mark.parametrize("name", ["providers", "crashes", "too_late"])
def test_what_odd_answers_cost_counted_twice_is_the_same(
    name: str, first: int, tmp_path: Path
) -> None:
    file = odd(scenes.FOLDER / f"{name}.jsonl", tmp_path, first)
    same(histories.read_history(file), file)


# ------------------------------------------------------------------------------- whole homes


def simulated(seed: str, steps: int, folder: Path) -> Path:
    """The history of a simulated home, in which processes die and the disk fills up."""
    play = HomeEpisode()
    play.run(plan(seed, steps))
    kept = folder / "simulated.jsonl"
    kept.write_text(
        "".join(histories.history_lines(histories.take_history(play.journal, play.agents)))
    )
    return kept


@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        ("counted", 60),
        *(pytest.param(seed, 400, marks=pytest.mark.slow) for seed in ("a", "b", "c")),
    ],
)
def test_a_simulated_home_keeps_the_laws_and_counted_twice_is_the_same(
    seed: str, steps: int, tmp_path: Path
) -> None:
    file = simulated(seed, steps, tmp_path)
    assert checker.findings(file) == []
    same(histories.read_history(file), file)


def test_digests_of_digests_counted_twice_are_the_same(tmp_path: Path) -> None:
    at = services()
    _, agent = task_with_agent(at)
    tables = analysed(at.agents, at.journal)
    for nth in range(10):
        notes = [f"Note {nth}.{one} läßt grüßen" for one in range(20)]
        woken(at, agent, *ended(call("record_observations", observations=notes)))
        if nth in (4, 9):
            tables.catch_up()
    kept = tmp_path / "remembering.jsonl"
    kept.write_text("".join(histories.history_lines(histories.take_history(at.journal, at.agents))))
    counted = Counted(opened(kept), PRICES)
    assert mismatches(tables.connection, counted, ZONE) == []
    assert {(one["depth"], one["is_top"]) for one in counted["digests"]} >= {(1, False), (2, True)}
    asked_again(tables, "learning", "p.digest_id IS NULL AND", "")
    assert "digests: unexpected" in mismatches(tables.connection, counted, ZONE)[0]


@pytest.mark.slow
def test_a_home_of_demo_data_counted_twice_is_the_same(tmp_path: Path) -> None:
    """Of several agents, in a spring when clocks change."""
    make_demo_home(tmp_path, seed="wakelog", agents_count=5, months=3)
    settings = load(tmp_path, {})
    prices = {
        model: [(round(one.input), round(one.output), None, "") for one in dated]
        for model, dated in settings.prices.items()
    }
    counted = Counted(opened(tmp_path), prices)
    with connect(tmp_path, {}) as connection:
        found = mismatches(connection, counted, settings.timezone)
    assert found == [], "\n".join(found)
    assert {one["status"] for one in counted["change_items"]} >= {"confirmed", "rejected"}


def test_every_column_is_counted_twice() -> None:
    told: dict[str, Rows] = {}
    for file in TOGETHER:
        counted = Counted(opened(scenes.FOLDER / f"{file}.jsonl"), PRICES)
        for sql, rows in answers(counted, ZONE):
            told[sql.removeprefix("FROM ")] = rows or told.get(sql.removeprefix("FROM "), [])
        told |= {name: counted[name] or told.get(name, []) for name in TABLES}
    tables = Tables(Log.in_memory("agent"))
    names = {name for (name,) in tables.ask(NAMES)} - {"home", "prices"}
    left = {name: uncounted(tables.connection, name, told[name]) for name in names}
    assert {name: columns for name, columns in left.items() if columns} == NOT_COUNTED


# --------------------------------------------------------------------------------- broken SQL


def asked_again(tables: Tables, file: str, old: str, new: str) -> None:
    """Run one file of the SQL again on what came in, with a text in it replaced."""
    sql = statements(file)
    assert sql.count(old) >= 1, f"{file}.sql has no {old!r} any more: break something else"
    for table in re.findall(r"INSERT INTO (\w+)", sql):
        tables.connection.execute(f"DELETE FROM {table}")
    sql = sql.replace(old, new, 1)
    tables.connection.execute(re.sub("CREATE (VIEW|MACRO)", r"CREATE OR REPLACE \1", sql))
    for one in AFTER.get(file, ()):  # what is made of what that file makes
        tables.connection.execute(statements(one))


BROKEN = [
    ("rows", "each_verdict", "split_part(d.by, ':', 1)", "d.by"),
    ("rows", "each_verdict", "d.arguments IS NOT NULL", "d.arguments IS NULL"),
    ("rows", "second_wakes", "IN ('manual', 'user')", "IN ('user')"),
    ("entities", "every_edit", "w.attempts, 0", "w.attempts, 1"),
    ("proposals", "checklists", "status = 'denied'", "status = 'error'"),
    ("proposals", "each_verdict", "w.owner IS NOT NULL THEN 'in_doubt'", "w.owner IS NULL THEN ''"),
    ("proposals", "in_doubt", "ELSE coalesce(v.last.verdict,", "ELSE coalesce('failed',"),
    ("rows", "time_spent", "coalesce(d.reason, d.comment)", "d.reason"),
    (
        "journal",
        "time_spent",
        """,
            'task.time_edited.1'""",
        "",
    ),
    ("journal", "time_spent", "nullif(d.entry, '')", "d.entry"),
    ("journal", "timers_undone", "IF(reopened > ended, NULL, ended_at)", "ended_at"),
    ("journal", "timers_undone", "WHERE removed IS NULL OR removed < added", "WHERE true"),
    ("journal", "checklists", "WHERE NOT coalesce(is_archived", "WHERE coalesce(is_archived"),
    ("templates", "templates_again", "arg_max(d.version", "arg_min(d.version"),
    ("learning", "undone", "nullif(d.verdict, 'reopened')", "d.verdict"),
    ("learning", "lessons", "occurred_at) DESC, age", "occurred_at), age DESC"),
    ("learning", "lessons", "ORDER BY l.age", "ORDER BY l.age DESC"),
    ("learning", "digested", "strlen(said", "length(said"),
    ("questions", "undone", "verdict IN ('confirmed', 'rejected', 'deferred') GROUP", "true GROUP"),
    ("causality", "crashes", "AND a.d.attempt = f.d.attempt", ""),
    ("questions", "each_verdict", "- 1.959963985 * sqrt", "- 1.645 * sqrt"),
    ("questions", "each_verdict", "AT TIME ZONE zone", "AT TIME ZONE 'UTC'"),
    ("questions", "each_verdict", "opened_at, decided_at), 0.9)", "proposed_at, decided_at), 0.9)"),
    ("questions", "already_so", "IN ('DONE', 'REJECTED')", "IN ('REJECTED')"),
    ("questions", "crashes", "c.n > a.journal_n", "c.n >= a.journal_n"),
    ("questions", "crashes", "depth + 1 AS depth", "depth + 2 AS depth"),
    ("questions", "checklists", "started_at DESC, agent_n DESC", "started_at, agent_n"),
    ("rows", "category_reviewed", "m.d.trigger.about", "m.d.trigger.words"),
    ("entities", "category_reviewed", "s.d.agent, r.d.agent", "r.d.agent, s.d.agent"),
    ("entities", "category_reviewed", "any_value(d.subject)", "any_value(d.task)"),
    ("causality", "category_reviewed", "AND r.asked_agent_id = t.agent_id", ""),
    ("questions", "category_reviewed", "WHEN i.tool = 'create_task'", "WHEN false"),
]


BROKEN_MONEY = [  # of histories with odd tokens
    ("rows", "providers", "OR (is_failed", "OR (false"),
    ("rows", "providers", "coalesce(d.tokensThought, 0) END", "d.tokensThought END"),
    ("rows", "providers", "NULL THEN d.tokensThought", "NULL THEN 0"),
    ("rows", "too_late", "is_late THEN data->'reply'->>'kind'", "false THEN ''"),
    ("rows", "crashes", "is_late THEN data->'reply' ELSE", "false THEN '' ELSE"),
    ("entities", "providers", "p.since <= u.occurred_at::DATE", "true"),
    ("entities", "providers", "known_cost(cost)", "sum(cost)"),
    ("entities", "held_wakes", "'consent', ", ""),
    ("entities", "providers", "(PARTITION BY replica, entity ORDER BY n, row_n) AS ended_at",
     "(PARTITION BY replica ORDER BY n, row_n) AS ended_at"),
    ("entities", "providers", "AND tag != 'wake.late_reply.1'", "AND tag = 'wake.deferred.1'"),
    ("proposals", "providers", "known_cost(cost)", "sum(cost)"),
    ("proposals", "providers", "- coalesce(v.micros, 0)", "- 0"),
    ("questions", "templates_again", "tokens_out + tokens_thought)", "tokens_out)"),
    ("questions", "providers", "CASE WHEN count(u.cost) = count(*)", "CASE WHEN true"),
    ("questions", "providers", "quantile_cont(active_seconds", "quantile_cont(duration_seconds"),
    ("questions", "providers", "NOT IN ('provider', 'budget')", "IN ('provider', 'budget')"),
    ("answers", "providers", "WHEN count(cost) = count(*) THEN sum", "WHEN true THEN sum"),
]  # fmt: skip


def run_again(tables: Tables, counted: Counted, *changes: tuple[str, str, str]) -> str:
    """The first of what is miscounted then; DuckDB takes all of it back, definitions, too."""
    tables.connection.execute("BEGIN")
    try:
        for one in changes:
            asked_again(tables, *one)
        return next(differences(tables.connection, counted, ZONE), "")
    finally:
        tables.connection.execute("ROLLBACK")


def by_history(
    broken: list[tuple[str, str, str, str]],
) -> Mapping[str, list[tuple[str, str, str]]]:
    names = dict.fromkeys(history for _, history, _, _ in broken)
    return {
        name: [(file, old, new) for file, history, old, new in broken if history == name]
        for name in names
    }


ALL_BROKEN = {"": by_history(BROKEN), "odd": by_history(BROKEN_MONEY)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "history"), [(kind, one) for kind, broken in ALL_BROKEN.items() for one in broken]
)
def test_sql_that_is_broken_is_caught(kind: str, history: str, tmp_path: Path) -> None:
    file, broken = scenes.FOLDER / f"{history}.jsonl", ALL_BROKEN[kind][history]
    file = odd(file, tmp_path, 0) if kind == "odd" else file
    tables = filled(histories.read_history(file), is_optimized=False)
    counted = Counted(opened(file), PRICES)
    as_they_are = [(one, ";", ";") for one in {name: 0 for name, *_ in broken}]
    assert run_again(tables, counted, *as_they_are) == "", "to run it again changes nothing"
    assert [one for one in broken if not run_again(tables, counted, one)] == []
