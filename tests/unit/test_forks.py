"""What a fork with another verdict makes of recorded causes: names, positions, and their order."""

import asyncio

import pytest

from adapters.home.clock import ManualClock
from adapters.runtime.effect_executor import run_wake
from adapters.timetravel.logs_at import Past
from domain.agent.commands import TakeJournal
from domain.agent.wake_queue import Trigger, WakeQueued
from domain.append.causes import Cause, Command, Receipt, Replied, Result
from domain.changes.change_set import ItemConfirmed, ItemConfirming
from domain.changes.commands import ConfirmItem
from domain.journal.commands import AddNote, ApplyOperation, VoidOperation
from domain.log.state import RecordedEvent
from domain.log.wire import Stored, Words
from domain.wake.commands import RetakeWake
from domain.wake.wake import ModelFailed, ToolAsked
from replay import fork
from replay.references import asked_operations, last_named_position
from tests.support.services import START, queued_key, reply, services, task_with_agent

A, B, C, D = "a" * 32, "b" * 32, "c" * 32, "d" * 32
NEWS = Trigger("subscription", "s1", "r1", 2, "change")
ALERT, OTHER = f"alert:{A}@r1", f"alert:{B}@r1"
NO_WORDS = Words("{}")
FAILED = ModelFailed(1, 1, "busy", "no")


def row(stream: str, fact: Stored, *, version: int = 2, n: int = 1, at: str = "") -> RecordedEvent:
    return RecordedEvent(stream, version, "r1", n, 0, at, fact)


def queued(run_key: str) -> WakeQueued:
    return WakeQueued(run_key, NEWS, "", "thread")


def learnt(was: list[RecordedEvent], now: list[RecordedEvent]) -> dict[str, str]:
    names: dict[str, str] = {}
    fork.learn_names(names, was, now)
    return names


# ------------------------------------------------------------------------------------------- names


def test_the_same_fact_of_a_stream_tells_its_other_name() -> None:
    assert learnt([row(ALERT, queued(C))], [row(ALERT, queued(D))]) == {C: D}
    assert learnt([row(ALERT, queued(C))], [row(ALERT, queued(C))]) == {}


def test_what_only_the_branch_has_is_not_taken_for_something_else() -> None:
    was, also = row(ALERT, queued(C)), row(OTHER, queued(D))
    assert learnt([was], [also]) == {}, "another agent's"
    assert learnt([was], [also, row(ALERT, queued(D))]) == {C: D}
    assert learnt([was], [row(ALERT, FAILED)]) == {}, "another fact"
    assert learnt([was], []) == {}


def test_a_stream_that_begins_may_have_another_name() -> None:
    was, now = (row(f"task:{one}@r1", queued(two), version=1) for one, two in ((A, C), (B, D)))
    assert learnt([was], [now]) == {A: B, C: D}
    begun = row(f"task:{A}@r1", queued(C), version=1)
    assert learnt([begun], [begun, now]) == {}, "it has its own"
    assert learnt([was], [row(f"wake:{B}@r1", queued(D), version=1)]) == {}, "of another kind"


def test_names_that_do_not_pair_are_not_learnt() -> None:
    was, now = row(ALERT, ConfirmItem(C, 1, "", 1)), row(ALERT, ConfirmItem("", 1, "", 1))
    assert learnt([was], [now]) == {}


def test_a_receipt_tells_by_its_result_not_by_what_was_asked() -> None:
    was, now = (
        row("receipt:k@r1", Receipt(AddNote(one, "note", Words("x")), Result((two,))), version=1)
        for one, two in ((A, C), (B, D))
    )
    assert learnt([was], [now]) == {C: D}


def test_a_name_that_both_have_is_no_other_name() -> None:
    was, now = row(ALERT, queued(C)), row(ALERT, queued(D))
    assert learnt([was], [now, row(OTHER, queued(C))]) == {}, "the branch has it elsewhere"
    assert learnt([was, row(OTHER, queued(D))], [now]) == {}, "it is recorded for another"


# --------------------------------------------------------------------------------------- positions


@pytest.mark.parametrize(
    ("cause", "there"),
    [
        (ConfirmItem("s", 1, "person", 5), ConfirmItem("s", 1, "person", 15)),
        (
            Replied("changes", "s", ItemConfirmed(1, 1, 5)),
            Replied("changes", "s", ItemConfirmed(1, 1, 15)),
        ),
        (TakeJournal("r1", 1, 5, (), ""), TakeJournal("r1", 1, 15, (), "")),
        *((one, one) for one in (ConfirmItem("s", 1, "person", 0), RetakeWake("w"))),
    ],
)
def test_a_position_of_the_journal_is_the_branchs(cause: Cause, there: Cause) -> None:
    assert fork.with_moved_position(cause, lambda n: n + 10) == there


# ------------------------------------------------------------------------------------------- order


def journal(n: int, at: str, command: Command) -> list[RecordedEvent]:
    return [row(f"receipt:{n}@r1", Receipt(command, Result()), n=n, at=at)]


def agent(n: int, at: str, fact: Stored, stream: str = "wake:w@r1") -> list[RecordedEvent]:
    return [row(stream, fact, n=n, at=at)]


def order(
    ours: list[list[RecordedEvent]], theirs: list[list[RecordedEvent]]
) -> list[tuple[str, int]]:
    return [(log, rows[0].n) for log, rows in fork.interleaved(ours, theirs)]


NOTE = AddNote("t", "note", Words("x"))
APPLY = ApplyOperation("op", "a", "t", "tool", NO_WORDS)
ASKED = ToolAsked(1, "op", 1, "act", "tool_call", "c1", "tool", NO_WORDS)


def test_time_orders_the_logs_and_the_journal_comes_first() -> None:
    ours = [journal(1, "1", NOTE), journal(2, "3", NOTE)]
    theirs = [agent(1, "1", FAILED), agent(2, "2", FAILED)]
    assert order(ours, theirs) == [("journal", 1), ("agent", 1), ("agent", 2), ("journal", 2)]
    assert order(ours, []) == [("journal", 1), ("journal", 2)]
    assert order([], theirs) == [("agent", 1), ("agent", 2)]


@pytest.mark.parametrize("effect", [APPLY, VoidOperation("op", "t", "late")])
def test_an_effect_comes_after_what_asks_for_it(effect: Command) -> None:
    theirs = [agent(1, "1", FAILED), agent(2, "1", ASKED), agent(3, "1", FAILED)]
    found = order([journal(1, "1", effect)], theirs)
    assert found == [("agent", 1), ("agent", 2), ("journal", 1), ("agent", 3)]


@pytest.mark.parametrize("later", [[], [agent(4, "4", FAILED)]])
def test_of_several_machines_an_effect_comes_after_what_asks_though_another_rests_on_it(
    later: list[list[RecordedEvent]],
) -> None:
    theirs = [agent(1, "1", FAILED), agent(2, "2", ASKED), *later]
    ours = [journal(1, "1", APPLY), *([journal(2, "5", NOTE)] if later else [])]
    found = fork.interleaved(ours, theirs, lambda agents, rows: rows[0].n == agents[0].n == 1)
    told = [(log, rows[0].n) for log, rows in found]
    assert told[:3] == [("agent", 1), ("agent", 2), ("journal", 1)]
    assert told[3:] == ([("agent", 4), ("journal", 2)] if later else [])


def test_what_knows_the_journal_comes_after_it_whatever_the_clocks_say() -> None:
    theirs = [agent(1, "1", ItemConfirming(1, "person", 7, "other", 1), "changes:s@r1")]
    decided = [agent(1, "1", Receipt(ConfirmItem("s", 1, "person", 7), Result()))]
    ours = [journal(7, "2", NOTE), journal(8, "2", NOTE)]
    assert order(ours, decided) == [("journal", 7), ("agent", 1), ("journal", 8)]
    assert order(ours, theirs)[-1] == ("journal", 8)


def test_where_the_clock_stands_still_no_effect_is_there_before_its_intent() -> None:
    wait = reply(("set_task_language", '{"languageCode":"en","confidence":"high"}'))
    at = services([wait, reply(text="Done.")])
    at.clock = ManualClock(START, step_ms=0)
    _, agent_id = task_with_agent(at)
    asyncio.run(run_wake(at, agent_id, queued_key(at, agent_id)))
    ours, theirs = list(at.journal.appends()), list(at.agents.appends())
    past = Past(at.journal, at.agents)
    assert any(map(fork.carried_operation, ours))
    for rows in theirs:
        then = past.position("agent", rows[0].n).where
        intents = asked_operations(row for rows in theirs[: then.agent] for row in rows)
        assert {fork.carried_operation(rows) for rows in ours[: then.journal]} - {""} <= intents
    for rows in ours:
        then = past.position("journal", rows[0].n).where
        assert max(map(last_named_position, theirs[: then.agent]), default=0) <= then.journal


def test_operations_are_told_by_their_intents_and_effects() -> None:
    both = [*agent(1, "", ASKED), *agent(2, "", ItemConfirming(1, "person", 7, "other", 1))]
    assert asked_operations(both) == {"op", "other"}
    assert [fork.carried_operation(journal(1, "", one)) for one in (APPLY, NOTE)] == ["op", ""]
