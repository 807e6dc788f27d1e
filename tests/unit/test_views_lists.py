"""What the lists of tasks and agents show, from real logs."""

from adapters.store.log import Log
from domain.agent import commands as agent_do
from domain.agent.agent import AgentDeleted
from domain.journal import commands as do
from domain.log.state import RecordedEvent
from projections import agents, tasks
from projections.agents import AgentDocument
from projections.tasks import TaskDocument
from projections.view import fold, position
from tests.support.agents import row
from tests.support.lives import REPORT, START, Life


def rows(log: Log) -> list[RecordedEvent]:
    return [one for append in log.appends() for one in append]


def task_of(log: Log) -> TaskDocument:
    (found,) = fold(tasks.VIEW, rows(log)).values()
    return found


def agent_of(life: Life) -> AgentDocument:
    return fold(agents.VIEW, rows(life.log))[life.agent]


def test_a_task_is_listed_with_its_checklist_counted() -> None:
    log = Log.in_memory("journal")
    made = log.append(do.CreateTask("Mend the roof", priority="P1", estimate=60), START)
    task = made.result.ids[0]
    log.append(do.AddItems(task, ("Nails", "Hammer", "Paint")), START)
    nails, _, paint = (one.id for one in task_of(log).items)
    log.append(do.EditItem(task, nails, is_checked=True), START)
    log.append(do.EditItem(task, paint, is_checked=True, is_archived=True), START)
    found = task_of(log)
    assert (found.id, found.title, found.task.priority) == (task, "Mend the roof", "P1")
    assert [item.is_checked for item in found.items] == [True, False]
    assert (found.task.estimate, found.task.due, found.sources, found.is_open) == (60, "", (), True)
    assert found.task.created_at == found.updated_at == START


def test_a_tasks_document_does_not_grow_with_its_log_entries() -> None:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Mend the roof"), START).result.ids[0]
    for status in ("GROOMED", "IN PROGRESS", "OPEN"):
        log.append(do.EditTask(task, status=status), START)
    log.append(do.LogTime(task, START, "2027-01-01T13:00:00.000000Z"), START)
    found = task_of(log).task
    assert (found.history, found.time, found.status) == ((), (), "OPEN")


def test_a_deleted_task_keeps_its_document() -> None:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Mend the roof"), START).result.ids[0]
    log.append(do.DeleteTask(task), START)
    assert (task_of(log).is_deleted, task_of(log).is_open) == (True, False)


def test_a_new_agent_is_queued_for_its_creation() -> None:
    life = Life()
    run_key = life.create()
    found = agent_of(life)
    assert (found.id, found.task_id, found.name) == (life.agent, life.task, "Mend the roof")
    assert (found.lifecycle, found.run_status, found.mode) == ("active", "queued", "hybrid")
    assert (found.queued_run_key, found.next_run_key) == (run_key, run_key)
    assert found.next_due == found.next_wake_at != ""
    assert agents.VIEW.shelf(found) == life.task


def test_the_queue_moves_from_queued_to_running_to_idle() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    running = agent_of(life)
    life.answer(run_key, REPORT)
    life.answer(run_key)
    idle = agent_of(life)
    assert (running.run_status, running.running_run_key) == ("running", run_key)
    assert (running.next_due, running.next_run_key) == ("", "")
    assert (idle.run_status, idle.wakes, idle.last_outcome) == ("idle", 1, "completed")
    assert idle.last_wake_at
    assert not idle.is_stale


def test_a_wake_that_waits_for_its_provider_counts_as_queued() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.fault(run_key, of_provider=True)
    found = agent_of(life)
    assert (found.run_status, found.waiting_run_key, found.running_run_key) == (
        "queued",
        run_key,
        "",
    )
    assert found.sleep_until == found.next_due != ""


def test_a_change_makes_the_report_stale_and_a_failure_shows() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
    life.change(2)
    assert agent_of(life).is_stale
    run_key = life.begin()
    life.fault(run_key, of_provider=False)
    found = agent_of(life)
    assert (found.run_status, found.failures, found.last_code) == ("failed", 1, "internal")


def test_the_next_wake_is_a_timers_unless_the_agent_is_paused() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
    dawn = "2027-01-02T07:00:00.000000Z"
    life.do(agent_do.SetTimer(life.agent, "every day 07:00", "UTC", dawn))
    awake = agent_of(life)
    life.do(agent_do.PauseAgent(life.agent))
    asleep = agent_of(life)
    assert (awake.next_wake_at, awake.next_due) == (dawn, "")
    assert (asleep.next_wake_at, asleep.lifecycle) == ("", "dormant")


def test_a_destroyed_agent_is_listed_and_no_longer_its_tasks() -> None:
    life = Life()
    life.create()
    life.do(agent_do.DestroyAgent(life.agent))
    destroyed = agent_of(life)
    life.do(agent_do.DeleteAgent(life.agent))
    deleted = agent_of(life)
    assert (destroyed.exists, destroyed.is_living) == (True, False)
    assert (deleted.exists, deleted.is_deleted) == (False, True)


def test_an_agent_is_marked_with_what_is_true_of_it() -> None:
    life = Life()
    run = life.create()

    def mark() -> str:
        return agents.VIEW.mark(agent_of(life))

    assert mark() == "active"
    assert agents.VIEW.turn(agent_of(life))  # its first wake is queued
    life.begin(run)
    assert mark() == "active running"
    life.answer(run, REPORT)
    life.answer(run)
    assert mark() == "active"
    assert not agents.VIEW.turn(agent_of(life))
    life.do(agent_do.SetTimer(life.agent, "every day 07:00", "UTC", "2027-01-02T07:00:00.000000Z"))
    assert mark() == "active timed"
    (timer,) = agent_of(life).agent.timers
    life.do(agent_do.RemoveTimer(life.agent, timer.id))
    life.do(agent_do.PauseAgent(life.agent))
    assert mark() == "dormant"
    life.do(agent_do.DestroyAgent(life.agent))
    assert mark() == "destroyed"
    life.do(agent_do.DeleteAgent(life.agent))
    assert mark() == "deleted"


def test_a_task_is_marked_as_open_closed_or_deleted() -> None:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Nails"), START).result.ids[0]
    assert tasks.VIEW.mark(task_of(log)) == "open"
    log.append(do.EditTask(task, status="DONE"), START)
    assert tasks.VIEW.mark(task_of(log)) == "closed"
    log.append(do.DeleteTask(task), START)
    assert tasks.VIEW.mark(task_of(log)) == "deleted"


def test_places_are_in_the_order_of_rows() -> None:
    places = [position(row(AgentDeleted(), n=n)) for n in (2, 10, 100_000)]
    assert places == sorted(places)
