"""Times, waits, attempts and texts in the tables, held against what was counted by hand."""

import msgspec
import pytest

from adapters.store.log import Log
from domain.append.causes import Cause
from domain.journal import commands as do
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import TASK
from domain.log.keys import key
from domain.log.timestamps import later
from domain.log.wire import Payload, payload, words
from domain.wake.commands import DeferWake, RetakeWake
from tests.support.analysed import Tables, TimedLife, template
from tests.support.lives import PROPOSE, REPORT, START

pytestmark = pytest.mark.slow

TASK_ID = key("task", "sink")
LONG = "All that Ann said about the sink. " * 60


class Journal:
    """A journal with one task from a file."""

    def __init__(self) -> None:
        self.log = Log.in_memory("journal")

    def do(self, cause: Cause, *payloads: Payload) -> None:
        self.log.append(cause, START, payloads=payloads)

    def take(self, note: str) -> None:
        """The file as it is now, with one note."""
        task = ImportedTask(TASK_ID, "Fix the sink", notes=(ImportedNote(note, key="c1"),))
        kept = payload(TASK_ID, msgspec.json.encode(task))
        self.do(do.ImportTasks("sinks", (do.ImportedRef(TASK_ID, kept.id),)), kept)

    def note(self) -> str:
        """The id of its note."""
        with self.log.reading() as world:
            (found,) = world.load(TASK, TASK_ID).notes
        return found.id

    def tables(self) -> Tables:
        return Tables(Log.in_memory("agent"), self.log)


def test_a_note_that_was_removed_and_came_back_is_counted() -> None:
    journal = Journal()
    journal.take("Ask Ann")
    note = journal.note()
    journal.do(do.RemoveNote(TASK_ID, note))
    assert journal.tables().one("SELECT notes FROM tasks") == 0
    journal.take("Ask Ann and Bob")
    assert journal.note() == note
    assert journal.tables().one("SELECT notes FROM tasks") == 1


def test_long_texts_of_the_journal_are_readable() -> None:
    journal = Journal()
    journal.take("Ask Ann")
    said, kept = words(TASK_ID, LONG)
    assert kept
    journal.do(do.EditTask(TASK_ID, description=said), *kept)
    journal.do(do.AddNote(TASK_ID, "note", said), *kept)
    tables = journal.tables()
    assert tables.one("SELECT description FROM tasks") == LONG
    assert tables.one("SELECT text FROM texts") == LONG
    sql = "SELECT what, value FROM task_changes WHERE what IN ('note_added', 'described')"
    assert tables.ask(f"{sql} ORDER BY n, row_n") == [
        ("note_added", "Ask Ann"),
        ("described", LONG),
        ("note_added", LONG),
    ]


def lived() -> tuple[TimedLife, str]:
    """A wake of no time, and one of 100 seconds: 60 waited for a provider, 30 for a budget; the
    second one's run key."""
    life = TimedLife()
    life.create()
    life.assign(template(life.log, "Laura"))
    life.run(REPORT)
    life.ask(reason="manual")
    run_key = life.begin()
    life.wait(4)
    life.fault(run_key, of_provider=True)
    life.wait(60)
    life.do(RetakeWake(run_key))
    life.do(DeferWake(life.agent, run_key, later(life.now, seconds=30), "budget"))
    life.wait(30)
    life.do(RetakeWake(run_key))
    life.wait(6)
    life.answer(run_key, text="Done.")
    return life, run_key


def test_what_a_wake_waited_for_is_told_apart_from_what_it_did() -> None:
    life, run_key = lived()
    tables = Tables(life.log)
    sql = "SELECT duration_seconds, waited_seconds, active_seconds FROM wakes ORDER BY started_at"
    assert tables.ask(sql) == [(0.0, 0.0, 0.0), (100.0, 90.0, 10.0)]
    assert tables.ask("SELECT run_key, reason, seconds FROM waits ORDER BY since") == [
        (run_key, "provider", 60.0),
        (run_key, "budget", 30.0),
    ]
    sql = "SELECT part, wakes, above_zero, median_seconds, p95_seconds, total_seconds"
    assert tables.ask(f"{sql} FROM wake_times") == [
        ("duration", 2, 1, 50.0, 95.0, 100.0),
        ("waited", 2, 1, 45.0, 85.5, 90.0),
        ("provider", 2, 1, 30.0, 57.0, 60.0),
        ("budget", 2, 1, 15.0, 28.5, 30.0),
        ("active", 2, 1, 5.0, 9.5, 10.0),
        ("other", 2, 0, 0.0, 0.0, 0.0),
    ]
    sql = "SELECT median_duration_seconds, p95_active_seconds, waited_seconds"
    assert tables.ask(f"{sql} FROM template_performance") == [(50.0, 9.5, 90.0)]


def test_attempts_are_those_that_reached_the_model() -> None:
    life, run_key = lived()
    tables = Tables(life.log)
    assert tables.one("SELECT attempts FROM turns WHERE run_key = ?", run_key) == 2
    sql = "SELECT count(*) FROM events WHERE tag = 'wake.model_asked.1' AND entity = ?"
    assert tables.one(sql, run_key) == 3  # the budget came before one of them


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


def test_proposals_that_nobody_decided_tell_how_long_they_wait() -> None:
    life = TimedLife()
    life.create()
    run_key = life.run(PROPOSE)
    tables = Tables(life.log)
    asking = f"SELECT tool, waiting_seconds FROM open_proposals_at('{START[:-1]}'::TIMESTAMP"
    assert tables.ask(f"{asking} + INTERVAL 1 HOUR)") == [("update_task_estimate", 3600.0)]
    assert tables.ask("SELECT waiting_seconds FROM open_proposals") == [(0.0,)]
    life.wait(86_400)
    life.ask(reason="manual")
    tables.catch_up()
    assert tables.ask("SELECT waiting_seconds FROM open_proposals") == [(86_400.0,)]
    life.reject(run_key)
    tables.catch_up()
    assert tables.ask("FROM open_proposals") == []
