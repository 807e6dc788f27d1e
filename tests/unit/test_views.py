"""What views show of tasks, agents, change sets, wakes, messages and reports, from real logs."""

from msgspec.structs import replace

from adapters.store.log import Log
from domain.agent import commands as agent_do
from domain.agent.agent import AgentDeleted
from domain.agent.wake_queue import TriggerMerged, WakeDropped
from domain.changes import change_set as ch
from domain.journal import commands as do
from domain.log.state import RecordedEvent
from domain.log.wire import Imported, Words
from domain.ports import Usage
from domain.wake import commands as wake_do
from domain.wake.wake import ModelAnswered, ModelFailed, WakeStarted
from projections import agents, inbox, messages, observations, operations, reports, tasks, wakes
from projections.agents import AgentDocument
from projections.inbox import SetDocument, arguments_of
from projections.messages import WakeMessage
from projections.operations import OwnerOperations
from projections.tasks import TaskDocument
from projections.view import fold, position
from projections.wakes import CAUSES_KEPT, WakeDocument
from tests.support.agents import change, row
from tests.support.lives import ADD, LANGUAGE, OBSERVE, PROPOSE, REPORT, START, Life, call


def rows_of(log: Log) -> list[RecordedEvent]:
    return [one for append in log.appends() for one in append]


def task_of(log: Log) -> TaskDocument:
    (found,) = fold(tasks.VIEW, rows_of(log)).values()
    return found


def agent_of(life: Life) -> AgentDocument:
    return fold(agents.VIEW, rows(life))[life.agent]


def begun() -> tuple[Life, str]:
    """A life whose first wake has begun, and its run key."""
    life = Life()
    run_key = life.create()
    life.begin()
    return life, run_key


def reported() -> Life:
    """A life whose first wake has brought a report."""
    life = Life()
    life.create()
    life.run(REPORT)
    return life


def test_a_tasks_document_does_not_grow_with_its_log_entries() -> None:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Mend the roof"), START).result.ids[0]
    for status in ("GROOMED", "IN PROGRESS", "OPEN"):
        log.append(do.EditTask(task, status=status), START)
    log.append(do.LogTime(task, START, "2027-01-01T13:00:00.000000Z"), START)
    found = task_of(log).task
    assert (found.history, found.time, found.status) == ((), (), "OPEN")


def test_the_queue_moves_from_queued_to_running_to_idle() -> None:
    life, run_key = begun()
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
    life, run_key = begun()
    life.fault(run_key, of_provider=True)
    found = agent_of(life)
    assert (found.run_status, found.waiting_run_key, found.running_run_key) == (
        "queued",
        run_key,
        "",
    )
    assert found.sleep_until == found.next_due != ""


def test_a_change_makes_the_report_stale_and_a_failure_shows() -> None:
    life = reported()
    life.change(2)
    assert agent_of(life).is_stale
    run_key = life.begin()
    life.fault(run_key, of_provider=False)
    found = agent_of(life)
    assert (found.run_status, found.failures, found.last_code) == ("failed", 1, "internal")


def test_the_next_wake_is_a_timers_unless_the_agent_is_paused() -> None:
    life = reported()
    dawn = "2027-01-02T07:00:00.000000Z"
    life.do(agent_do.SetTimer(life.agent, "every day 07:00", "UTC", dawn))
    awake = agent_of(life)
    life.do(agent_do.PauseAgent(life.agent))
    asleep = agent_of(life)
    assert (awake.next_wake_at, awake.next_due) == (dawn, "")
    assert (asleep.next_wake_at, asleep.lifecycle) == ("", "dormant")


def test_a_destroyed_agent_is_listed_and_no_longer_its_tasks() -> None:
    life = reported()
    life.change(2)
    life.do(agent_do.DestroyAgent(life.agent))
    destroyed = agent_of(life)
    life.do(agent_do.DeleteAgent(life.agent))
    deleted = agent_of(life)
    assert (destroyed.exists, destroyed.is_living) == (True, False)
    assert not destroyed.is_stale, "no wake brings its report up to date"
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


# ------------------------------------------------------------------- change sets, ranks, operations


def rows(life: Life) -> list[RecordedEvent]:
    return rows_of(life.log)


def proposed(life: Life, run_key: str) -> SetDocument:
    return fold(inbox.VIEW, rows(life))[ch.set_id(run_key)]


def reviewing() -> tuple[Life, str]:
    """A life whose first wake proposed three items."""
    life = Life()
    life.create()
    return life, life.run(PROPOSE, ADD, REPORT)


def test_a_set_is_on_no_shelf_before_its_wake_has_ended() -> None:
    life, run_key = begun()
    life.answer(run_key, PROPOSE)
    found = proposed(life, run_key)
    assert (found.is_opened, inbox.VIEW.shelf(found), len(found.items)) == (False, "", 1)
    assert inbox.VIEW.mark(found) == ""
    assert fold(inbox.RANKS, rows(life)) == {}


def test_an_opened_set_shows_who_proposed_what() -> None:
    life, run_key = reviewing()
    found = proposed(life, run_key)
    assert (found.agent_id, found.task_id, found.run_key) == (life.agent, life.task, run_key)
    assert (found.status, inbox.VIEW.shelf(found)) == ("pending", life.task)
    assert inbox.VIEW.mark(found) == "waiting"
    assert [(one.number, one.tool) for one in found.items] == [
        (1, "update_task_estimate"),
        (2, "add_checklist_item"),
        (3, "add_checklist_item"),
    ]
    assert arguments_of(found.items[0]) == Words('{"minutes":60}')
    assert found.created_at


def test_a_set_is_marked_by_every_tab_under_which_it_has_items() -> None:
    life, run_key = reviewing()
    for number in (1, 2):
        life.reject(run_key, number)
    before = proposed(life, run_key)
    life.reject(run_key, 3)
    after = proposed(life, run_key)
    assert (before.status, inbox.VIEW.mark(before)) == ("partially_resolved", "waiting decided")
    assert (after.status, inbox.VIEW.mark(after)) == ("resolved", "decided")
    assert inbox.VIEW.mark(before) in inbox.marks("waiting")
    assert inbox.VIEW.mark(after) not in inbox.marks("waiting", "deferred")
    assert after.items[2].reason == "not now"


def test_a_set_that_is_opened_again_keeps_its_rank_and_its_place() -> None:
    life, _ = reviewing()
    history = rows(life)
    (opened,) = (one for one in history if isinstance(one.fact, ch.SetOpened))
    again = replace(opened, n=99)
    assert fold(inbox.RANKS, [*history, again]) == fold(inbox.RANKS, history)
    assert fold(inbox.VIEW, [*history, again]) == fold(inbox.VIEW, history)


def test_an_outcome_is_that_of_its_own_item() -> None:
    life, run_key = reviewing()
    life.confirm(run_key, 1)
    life.confirm(run_key, 2)
    life.settle(ch.set_id(run_key), ch.ItemConfirmed(2, 1))
    assert [one.item for one in effects(life, ch.set_id(run_key)).in_flight] == [1]


# ------------------------------------------------------------------------- wakes, messages, reports


def wake(life: Life, run_key: str) -> WakeDocument:
    return fold(wakes.VIEW, rows(life))[run_key]


def said(life: Life, run_key: str) -> list[WakeMessage]:
    return list(fold(messages.VIEW, rows(life))[run_key].messages)


def effects(life: Life, owner: str) -> OwnerOperations:
    return fold(operations.VIEW, rows(life))[owner]


def test_a_wake_that_waits_in_the_queue_has_a_document_already() -> None:
    life = Life()
    found = wake(life, life.create())
    assert (found.state, found.agent_id, found.reason) == ("queued", life.agent, "creation")
    assert found.due_at == found.queued_at
    assert (found.task_id, found.started_at, found.outcome) == ("", "", "")
    assert [one.how for one in found.causes] == ["first"]
    assert (found.queued_n, found.replica) == (life.log.tail().n, life.log.replica)
    assert found.place.startswith(f"{found.queued_n:012d} {found.replica} ")


def test_a_whole_wake_is_counted() -> None:
    life, run_key = begun()
    life.answer(run_key, PROPOSE, call("fly"), OBSERVE, tokens=5)
    life.answer(run_key, REPORT, tokens=7)
    running = wake(life, run_key)
    life.answer(run_key, text="Done.", tokens=1)
    found = wake(life, run_key)
    assert (running.state, found.state) == ("running", "ended")
    assert (found.turns, found.tool_calls, found.observations) == (3, 4, 1)
    assert (found.outcome, found.stop, found.has_report) == ("completed", "answered", True)
    assert (found.task_id, found.model, found.turn_max) == (life.task, "rules", 5)
    assert found.queued_at < found.started_at < found.ended_at
    assert found.usage == Usage(13, 13, 0, 0)


def test_a_late_reply_has_no_part_in_the_counts_and_its_tokens_are_paid() -> None:
    life, run_key = begun()
    life.reply(run_key, ModelAnswered(1, 9, "late", tokens_in=5, tokens_out=2))
    assert (wake(life, run_key).turns, wake(life, run_key).usage) == (0, Usage(5, 2, 0, 0))


def test_an_answer_that_failed_is_paid_and_a_provider_that_gave_none_is_not() -> None:
    life, run_key = begun()
    life.reply(run_key, ModelFailed(1, 1, "unavailable", "no answer", of_provider=True))
    assert (wake(life, run_key).paid, wake(life, run_key).usage) == (0, Usage())
    life.do(wake_do.RetakeWake(run_key))
    life.reply(run_key, ModelFailed(1, 2, "max_tokens", "cut", tokens_prompt=5, tokens_reply=2))
    assert (wake(life, run_key).turns, wake(life, run_key).usage) == (0, Usage(5, 2, 0, 0))


def test_causes_are_counted_beyond_those_that_are_kept() -> None:
    document = WakeDocument("run", "place")
    for nth in range(CAUSES_KEPT + 5):
        merged = row(TriggerMerged("run", change(nth)), stream="alert:a@r1", n=nth + 1)
        document = wakes.apply(document, merged) or document
    assert (len(document.causes), document.cause_count) == (CAUSES_KEPT, CAUSES_KEPT + 5)


def test_a_wake_that_waits_for_its_provider_says_so_until_it_goes_on() -> None:
    life, run_key = begun()
    life.fault(run_key, of_provider=True)
    found = wake(life, run_key)
    assert (found.state, found.waits_for) == ("waiting", "provider")
    assert found.until > found.started_at
    life.do(wake_do.RetakeWake(run_key))
    assert (wake(life, run_key).state, wake(life, run_key).until) == ("running", "")


def test_each_message_comes_from_one_fact() -> None:
    life = reported()
    run_key = life.ask("Why is it late?")
    life.begin()
    life.answer(run_key, LANGUAGE, OBSERVE, text="Hm.")
    life.reply(run_key, life.returned(run_key))
    life.answer(run_key, REPORT)
    life.answer(run_key)
    found = said(life, run_key)
    kinds = "user system thought action tool_result tool_result observation tool_result summary"
    assert [one.kind for one in found] == kinds.split()
    assert life.log.payload(found[0].text.payload) == b"Why is it late?"
    asked, returned = found[3:5]
    assert (asked.tool, asked.operation) == (returned.tool, returned.operation)
    assert (returned.status, returned.text.text) == ("success", "Done.")
    document = fold(messages.VIEW, rows(life))[run_key]
    assert (document.agent_id, document.thread) == (life.agent, "agent:session:s1")
    places = [one.place for one in found]
    assert places == sorted(set(places))


def test_a_report_is_the_agents_once_its_wake_has_completed() -> None:
    life, run_key = begun()
    life.answer(run_key, REPORT)
    draft = fold(reports.VIEW, rows(life))[run_key]
    life.answer(run_key)
    report = fold(reports.VIEW, rows(life))[run_key]
    assert (reports.VIEW.shelf(draft), reports.VIEW.shelf(report)) == ("", life.agent)
    assert (report.one_liner, report.content.text) == ("Fine", "All is well.")
    assert draft.drafted_at == report.drafted_at < report.at


def test_every_observation_is_a_document_of_its_agents_shelf() -> None:
    life = Life()
    life.create()
    two = call(
        "record_observations", observations=["One.", {"text": "Two.", "priority": "critical"}]
    )
    run_key = life.run(two, REPORT)
    found = sorted(fold(observations.VIEW, rows(life)).values(), key=observations.VIEW.place)
    assert [(one.words.text, one.priority) for one in found] == [
        ("One.", "routine"),
        ("Two.", "critical"),
    ]
    assert {(observations.VIEW.shelf(one), one.run_key) for one in found} == {(life.agent, run_key)}


def test_an_operation_whose_wake_has_ended_is_in_doubt_until_a_late_answer() -> None:
    life, run_key = begun()
    life.answer(run_key, LANGUAGE)
    late = life.returned(run_key)
    life.do(wake_do.StopWake(run_key, "deadline"))
    doubtful = effects(life, run_key)
    life.reply(run_key, late)
    known = effects(life, run_key)
    assert [one.outcome for one in doubtful.operations] == ["in_doubt"]
    assert operations.VIEW.shelf(doubtful) == "settled"
    assert [one.outcome for one in known.operations] == ["success"]


def test_an_answer_to_an_older_attempt_settles_nothing() -> None:
    life, run_key = begun()
    life.answer(run_key, LANGUAGE)
    older = life.returned(run_key)
    life.do(wake_do.RetakeWake(run_key))
    life.reply(run_key, older)
    found = effects(life, run_key)
    assert len(found.in_flight) == 1


def test_of_two_machines_that_began_under_one_key_the_second_has_a_wake_of_its_own() -> None:
    life, run_key = begun()
    life.answer(run_key, REPORT, tokens=7)
    mine = [one for one in rows(life) if one.of_kind in ("alert", "wake")]
    began = next(one for one in mine if isinstance(one.fact, WakeStarted))
    shared = replace(began, fact=replace(began.fact, seen=(Imported(began.replica, 1),)))
    first = [shared if one is began else one for one in mine]
    other = [
        replace(one, replica="zz", stream=f"{one.stream.rpartition('@')[0]}@zz") for one in first
    ]
    dropped = replace(other[0], replica="r9", fact=WakeDropped(run_key, "led_elsewhere"))
    found = fold(wakes.VIEW, [*first, *other, dropped])[run_key]
    (again,) = fold(wakes.VIEW, first).values()
    one, two = found.every
    assert replace(one, others=()) == again
    assert (two.run_key, two.key, two.replica) == (f"{run_key}@zz", run_key, "zz")
    assert (two.turns, two.usage, two.reason) == (one.turns, one.usage, one.reason)
    assert two.set_ids[1] == ch.set_id(run_key, "zz")
    assert [each.run_key for each in found.others] == [two.run_key, f"{run_key}@r9"]
    alone = fold(wakes.VIEW, [*mine, *(one for one in other if one is not other[0])])[run_key]
    assert alone.every == (alone,)  # no machine said that the home is shared
