"""What ends a task ends its timer, and what takes that back lets it run on: given, when, then."""

from typing import Any

import pytest

from adapters.runtime.services import Services
from domain.errors import Refused
from domain.handlers.resolve_conflict import fact_of_task
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.task import TASK, Task
from domain.journal.timer import TIMER
from domain.log.state import MAIN
from domain.log.wire import Words
from tests.support.services import services


def task(at: Services, title: str = "Tap") -> str:
    return at.append_journal(do.CreateTask(title)).result.ids[0]


def now(at: Services, task_id: str) -> Task:
    with at.journal.reading() as world:
        return world.load(TASK, task_id)


def running(at: Services) -> list[str]:
    """The tasks of which the timer says that it runs; each has an entry without an end."""
    with at.journal.reading() as world:
        found = [one.task for one in world.load(TIMER, MAIN).running]
        open_ones = {one: [each.id for each in world.load(TASK, one).running] for one in found}
    assert all(len(each) == 1 for each in open_ones.values())
    return found


def done(at: Services, *, stops_timer: bool = True, status: str = "DONE") -> Any:
    """A task whose timer ran when it was closed."""
    tap = task(at)
    at.append_journal(do.StartTimer(tap))
    closed = at.append_journal(do.EditTask(tap, status=status, stops_timer=stops_timer))
    return tap, closed.n


def undo(at: Services, n: int, *tasks: str, reopens: bool = True) -> int:
    return at.append_journal(do.UndoDeed(tasks, (n,), reopens=reopens)).n


@pytest.mark.parametrize("status", ["DONE", "REJECTED"])
def test_what_closes_a_task_stops_its_timer_and_its_undo_lets_it_run_on(status: str) -> None:
    at = services()
    tap, n = done(at, status=status)
    (entry,) = now(at, tap).time
    assert entry.end
    assert running(at) == []
    back = undo(at, n, tap)
    (again,) = now(at, tap).time
    assert (again.id, again.start, again.end) == (entry.id, entry.start, "")
    assert (now(at, tap).status, running(at)) == ("OPEN", [tap])
    undo(at, back, tap)  # done again: it ended when it ended
    assert now(at, tap).time[0].end == entry.end
    assert (now(at, tap).status, running(at)) == (status, [])


def test_a_command_of_before_leaves_the_timer_alone_and_its_undo_reopens_nothing() -> None:
    at = services()
    tap, _ = done(at, stops_timer=False)
    assert running(at) == [tap]
    stopped = at.append_journal(do.StopTimer()).n
    with pytest.raises(Refused, match="nothing of it can be taken back"):
        undo(at, stopped, tap, reopens=False)
    assert running(at) == []


def test_another_tasks_timer_runs_on() -> None:
    at = services()
    tap, other = task(at), task(at, "Wall")
    at.append_journal(do.StartTimer(other))
    at.append_journal(do.EditTask(tap, status="DONE", stops_timer=True))
    assert running(at) == [other]


def test_a_retry_is_known_whether_a_timer_ran_or_not() -> None:
    at = services()
    tap = task(at)
    at.append_journal(do.StartTimer(tap))
    first = at.append_journal(do.EditTask(tap, status="DONE", stops_timer=True), key="k")
    again = at.append_journal(do.EditTask(tap, status="DONE"), key="k")
    assert (again.rows, again.result) == ((), first.result)
    said = set(do.EditTask.__struct_fields__) - {
        *("stops_timer", "next_due", "next_wait", "makes_names"),
    }
    assert set(do.EditTask.said) == said


def test_concluding_stops_the_timer_where_it_is_told_to() -> None:
    for stops_timer in (True, False):
        at = services()
        tap = task(at)
        at.append_journal(do.StartTimer(tap))
        at.append_journal(do.ConcludeTask(tap, Words("The rest"), stops_timer=stops_timer))
        assert running(at) == ([] if stops_timer else [tap])


def test_a_start_that_ended_another_timer_is_taken_back_whole_and_done_again() -> None:
    at = services()
    tap, wall = task(at), task(at, "Wall")
    at.append_journal(do.StartTimer(tap))
    n = at.append_journal(do.StartTimer(wall)).n
    was = now(at, tap).time, now(at, wall).time
    back = undo(at, n, tap, wall)
    assert running(at) == [tap]
    assert now(at, wall).time == ()
    undo(at, back, tap, wall)
    assert running(at) == [wall]
    same = [(one.id, one.start, one.end) for each in was for one in each]
    found = [*now(at, tap).time, *now(at, wall).time]
    assert [(one.id, one.start, one.end) for one in found] == same


def test_where_another_timer_runs_since_the_task_comes_back_without_its_own() -> None:
    at = services()
    tap, n = done(at)
    wall = task(at, "Wall")
    at.append_journal(do.StartTimer(wall))
    undo(at, n, tap)
    assert (now(at, tap).status, running(at)) == ("OPEN", [wall])


def test_a_summary_goes_with_the_stop_that_said_it_and_comes_again() -> None:
    at = services()
    tap = task(at)
    entry = at.append_journal(do.StartTimer(tap)).result.ids[0]
    at.append_journal(do.RetimeEntry(tap, entry, summary="Looked"))
    n = at.append_journal(do.StopTimer("Fixed")).n
    back = undo(at, n, tap)
    assert now(at, tap).time[0].summary == "Looked"
    undo(at, back, tap)
    assert now(at, tap).time[0].summary == "Fixed"


@pytest.mark.parametrize("summary", ["", "Called"])
def test_time_that_was_entered_or_runs_is_taken_away_and_put_back_as_it_was(summary: str) -> None:
    at = services()
    tap = task(at)
    times = "2026-12-01T09:00:00.000000Z", "2026-12-01T10:00:00.000000Z"
    logged = at.append_journal(do.LogTime(tap, *times, summary)).n
    back = undo(at, logged, tap)
    assert now(at, tap).time == ()
    undo(at, back, tap)
    (entry,) = now(at, tap).time
    assert (entry.start, entry.end, entry.summary) == (*times, summary)


def test_a_timer_that_was_started_by_mistake_starts_again_with_what_was_noted() -> None:
    at = services()
    tap = task(at)
    started = at.append_journal(do.StartTimer(tap))
    n, entry = started.n, started.result.ids[0]
    noted = at.append_journal(do.RetimeEntry(tap, entry, summary="Looked")).n
    back = at.append_journal(do.UndoDeed((tap,), (n, noted), reopens=True)).n
    assert (now(at, tap).time, running(at)) == ((), [])
    undo(at, back, tap)
    assert (now(at, tap).time[0].summary, running(at)) == ("Looked", [tap])


def test_time_that_was_rated_since_does_not_go() -> None:
    at = services()
    tap = task(at)
    times = "2026-12-01T09:00:00.000000Z", "2026-12-01T10:00:00.000000Z"
    logged = at.append_journal(do.LogTime(tap, *times))
    at.append_journal(do.RateTask(tap, 4, logged.result.ids[0]))
    with pytest.raises(Refused, match="was changed since"):
        undo(at, logged.n, tap)


def test_a_list_that_keeps_what_runs_alone_learns_from_the_fact_what_runs_on() -> None:
    at = services()
    tap, n = done(at)
    rows = list(at.journal.facts(f"task:{tap}@r1"))
    slim = TASK.initial(tap)
    for row in rows:
        slim = TASK.evolve(slim, row)
    undo(at, n, tap)
    for row in at.journal.facts(f"task:{tap}@r1")[len(rows) :]:
        slim = TASK.evolve(Task(**{**_fields(slim), "time": ()}), row)
    assert [one.start for one in slim.running] == [one.start for one in now(at, tap).running]


def _fields(one: Task) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


def test_an_end_that_one_machine_took_back_is_no_value_of_a_field() -> None:
    fact = fact_of_task("entry:e1:end", "2027-01-01T10:00:00.000000Z")
    assert fact == t.TimeEdited("person", "e1", end="2027-01-01T10:00:00.000000Z")
