"""What is told of wakes, their messages, reports and operations, from real logs."""

from msgspec.structs import replace

from domain.agent.wake_queue import TriggerMerged, WakeDropped
from domain.changes.change_set import set_id
from domain.log.state import RecordedEvent
from domain.log.wire import Imported
from domain.ports import Usage
from domain.wake import commands as do
from domain.wake.wake import ModelAnswered, ModelFailed, WakeStarted
from projections import messages, observations, operations, reports, wakes
from projections.messages import WakeMessage
from projections.operations import OwnerOperations
from projections.view import fold
from projections.wakes import CAUSES_KEPT, WakeDocument
from tests.support.agents import change, row
from tests.support.lives import ADD, LANGUAGE, OBSERVE, PROPOSE, REPORT, Life, call


def rows(life: Life) -> list[RecordedEvent]:
    return [one for append in life.log.appends() for one in append]


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
    life = Life()
    run_key = life.create()
    life.begin()
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
    life = Life()
    run_key = life.create()
    life.begin()
    life.reply(run_key, ModelAnswered(1, 9, "late", tokens_in=5, tokens_out=2))
    assert (wake(life, run_key).turns, wake(life, run_key).usage) == (0, Usage(5, 2, 0, 0))


def test_an_answer_that_failed_is_paid_and_a_provider_that_gave_none_is_not() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.reply(run_key, ModelFailed(1, 1, "unavailable", "no answer", of_provider=True))
    assert (wake(life, run_key).paid, wake(life, run_key).usage) == (0, Usage())
    life.do(do.RetakeWake(run_key))
    life.reply(run_key, ModelFailed(1, 2, "max_tokens", "cut", tokens_prompt=5, tokens_reply=2))
    assert (wake(life, run_key).turns, wake(life, run_key).usage) == (0, Usage(5, 2, 0, 0))


def test_what_a_persons_wake_supersedes_it_inherits() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
    life.change(1, 2)
    waiting = life.next()
    asked = life.ask("Why?")
    assert [one.how for one in wake(life, asked).causes] == ["first", "inherited", "inherited"]
    left = wake(life, waiting)
    assert [one.how for one in left.causes] == ["first", "merged"]
    assert (left.state, left.outcome, left.superseded_by) == ("ended", "superseded", asked)


def test_what_joins_a_persons_wake_later_is_merged() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
    asked = life.ask("Why?")
    life.change(1)
    assert [one.how for one in wake(life, asked).causes] == ["first", "merged"]


def test_causes_are_counted_beyond_those_that_are_kept() -> None:
    document = WakeDocument("run", "place")
    for nth in range(CAUSES_KEPT + 5):
        merged = row(TriggerMerged("run", change(nth)), stream="alert:a@r1", n=nth + 1)
        document = wakes.apply(document, merged) or document
    assert (len(document.causes), document.cause_count) == (CAUSES_KEPT, CAUSES_KEPT + 5)


def test_a_wake_that_waits_for_its_provider_says_so_until_it_goes_on() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.fault(run_key, of_provider=True)
    found = wake(life, run_key)
    assert (found.state, found.waits_for) == ("waiting", "provider")
    assert found.until > found.started_at
    life.do(do.RetakeWake(run_key))
    assert (wake(life, run_key).state, wake(life, run_key).until) == ("running", "")


def test_a_failed_wake_names_its_error() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.fault(run_key, of_provider=False)
    found = wake(life, run_key)
    assert (found.outcome, found.code, found.message) == ("failed", "internal", "no answer")


def test_each_message_comes_from_one_fact() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
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


def test_a_wake_without_words_has_no_messages_before_it_starts() -> None:
    life = Life()
    run_key = life.create()
    assert fold(messages.VIEW, rows(life)) == {}
    life.begin()
    assert [one.kind for one in said(life, run_key)] == ["system"]


def test_inherited_words_are_not_said_twice() -> None:
    life = Life()
    life.create()
    life.run(REPORT)
    first, second = life.ask("One?"), life.ask("Two?", turn=2)
    assert [one.kind for one in said(life, first)] == ["user"]
    assert [one.kind for one in said(life, second)] == ["user"]


def test_a_report_is_the_agents_once_its_wake_has_completed() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, REPORT)
    draft = fold(reports.VIEW, rows(life))[run_key]
    life.answer(run_key)
    report = fold(reports.VIEW, rows(life))[run_key]
    assert (reports.VIEW.shelf(draft), reports.VIEW.shelf(report)) == ("", life.agent)
    assert (report.one_liner, report.content.text) == ("Fine", "All is well.")
    assert draft.drafted_at == report.drafted_at < report.at


def test_a_draft_of_a_failed_wake_never_comes_to_the_shelf() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, REPORT)
    life.fault(run_key, of_provider=False)
    assert fold(reports.VIEW, rows(life))[run_key].agent_id == ""


def test_the_last_draft_of_a_wake_counts() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    other = call("update_report", content="Better.", tldr="B.", oneLiner="Better")
    life.answer(run_key, REPORT, other)
    assert fold(reports.VIEW, rows(life))[run_key].one_liner == "Better"


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


def test_an_operation_is_in_flight_until_its_result() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, LANGUAGE, PROPOSE)
    asked = effects(life, run_key)
    life.do(do.RetakeWake(run_key))
    again = effects(life, run_key)
    life.reply(run_key, life.returned(run_key))
    done = effects(life, run_key)
    assert [operations.VIEW.shelf(one) for one in (asked, again, done)] == [
        "in_flight",
        "in_flight",
        "settled",
    ]
    assert [one.operations[0].attempt for one in (asked, again)] == [1, 2]
    (settled,) = done.operations
    assert (settled.outcome, settled.tool, settled.position) == ("success", "set_task_language", 7)
    assert (done.agent_id, done.run_key) == (life.agent, run_key)


def test_an_operation_whose_wake_has_ended_is_in_doubt_until_a_late_answer() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, LANGUAGE)
    late = life.returned(run_key)
    life.do(do.StopWake(run_key, "deadline"))
    doubtful = effects(life, run_key)
    life.reply(run_key, late)
    known = effects(life, run_key)
    assert [one.outcome for one in doubtful.operations] == ["in_doubt"]
    assert operations.VIEW.shelf(doubtful) == "settled"
    assert [one.outcome for one in known.operations] == ["success"]


def test_an_answer_to_an_older_attempt_settles_nothing() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, LANGUAGE)
    older = life.returned(run_key)
    life.do(do.RetakeWake(run_key))
    life.reply(run_key, older)
    found = effects(life, run_key)
    assert len(found.in_flight) == 1


def test_a_wake_without_effects_leaves_no_operations() -> None:
    life = Life()
    life.create()
    run_key = life.run(ADD, REPORT)
    assert run_key not in fold(operations.VIEW, rows(life))


def test_of_two_machines_that_began_under_one_key_the_second_has_a_wake_of_its_own() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
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
    assert two.set_ids[1] == set_id(run_key, "zz")
    assert [each.run_key for each in found.others] == [two.run_key, f"{run_key}@r9"]
    alone = fold(wakes.VIEW, [*mine, *(one for one in other if one is not other[0])])[run_key]
    assert alone.every == (alone,)  # no machine said that the home is shared
