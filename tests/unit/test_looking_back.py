"""The pure parts of looking back: what a step says, what differs, what a fork takes."""

import asyncio
from typing import Any

import pytest

from adapters.runtime import effect_executor
from adapters.runtime.services import Services
from adapters.timetravel.logs_at import Past
from domain.agent.commands import CreateAgent
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append import envelope
from domain.append.causes import EpochBegan, Replied
from domain.append.envelope import Row
from domain.changes.change_set import (
    ItemConfirmed,
    ItemConfirming,
    ItemDeferred,
    ItemProposed,
    ItemRejected,
    SuppressionAsked,
)
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, RetakeEffect
from domain.changes.dependencies import follow_up_id
from domain.journal.commands import ApplyOperation, VoidOperation
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Stored, Words
from domain.ports import ModelFault, Request, Section
from domain.wake.commands import BeginWake, RetakeWake
from domain.wake.wake import (
    LateReply,
    ModelAnswered,
    ModelAsked,
    ModelFailed,
    ReportDrafted,
    ToolReturned,
    WakeDeferred,
    WakeFinished,
    WakeStarted,
)
from replay import fork, rerun, wake_comparison
from replay.fork import ChangedVerdict
from tests.support.services import queued_key, reply, services, task_with_agent

A, B, C = "a" * 32, "b" * 32, "c" * 32
REPORT = ("update_report", '{"content": "Fine.", "tldr": "It is fine.", "oneLiner": "Fine"}')


def row(fact: Stored, n: int = 1, stream: str = "wake:w@r1") -> RecordedEvent:
    return RecordedEvent(stream, 1, "r1", n, 0, "", fact)


# ------------------------------------------------------------------------------------------ rerun


@pytest.fixture
def woken() -> tuple[Services, str, str]:
    """Services, an agent and its wake: a deferred one that was taken up again."""
    at = services([ModelFault("busy", "no", of_provider=True), reply(REPORT), reply(text="Done.")])
    _, agent = task_with_agent(at)
    key = queued_key(at, agent)
    asyncio.run(effect_executor.run_wake(at, agent, key, is_now=True))
    asyncio.run(effect_executor.run_wake(at, agent, key, is_now=True))
    return at, agent, key


def steps(at: Services, key: str) -> list[rerun.RerunStep]:
    past = Past(at.journal, at.agents)
    numbers = sorted({one.n for one in past.agents.rows_of(f"wake:{key}@r1")})
    return [
        rerun.step("agent", past.agents.append(n), past.agents.world(n - 1), key) for n in numbers
    ]


def test_every_step_is_the_same_and_says_why(woken: tuple[Services, str, str]) -> None:
    at, _, key = woken
    found = steps(at, key)
    assert all(step.is_same for step in found)
    assert [step.cause.rpartition(".")[0] for step in found] == [
        "command.begin_wake",
        "wake.model_failed",
        "command.retake_wake",
        "wake.model_answered",
        "wake.model_answered",
    ]
    whys = [one.why for step in found for one in step.decided if one.why]
    assert "it waits because of provider" in whys
    assert "the attempt before it has no reply" in whys
    assert found[2].asked.what == ""
    assert found[3].asked.request is not None


def test_what_today_decides_otherwise_is_told(woken: tuple[Services, str, str]) -> None:
    at, _, key = woken
    past = Past(at.journal, at.agents)
    n = steps(at, key)[-1].n
    rows = past.agents.append(n)
    other = rows[1]._replace(state=rows[1].state.replace(b"answered", b"turn_limit"))
    for recorded, count in (([rows[0], other, *rows[2:]], 1), (rows[:-1], 1)):
        step = rerun.step("agent", recorded, past.agents.world(n - 1), key)
        assert (len(step.changed), step.is_same) == (count, False)
    longer = rerun.step("agent", [*rows, rows[-1]], past.agents.world(n - 1), key)
    assert longer.changed[-1].today == ""


def test_a_cause_that_today_refuses_is_told(woken: tuple[Services, str, str]) -> None:
    at, _, key = woken
    past = Past(at.journal, at.agents)
    rows = past.agents.append(steps(at, key)[0].n)
    refused = rerun.step("agent", rows, past.agents.world(1), key)
    assert refused.error.startswith("there is no agent")
    assert not refused.is_same
    nobody = LogState("agent", "r1", 99, lambda *_: [], lambda _: None)
    last = past.agents.append(steps(at, key)[-1].n)
    assert "there is no wake" in rerun.step("agent", last, nobody, key).error


def test_a_programming_error_is_told_with_its_name() -> None:
    class Broken(LogState):
        def version(self, stream: str) -> int:
            raise ValueError("no version")

    world = Broken("agent", "r1", 1, lambda *_: [], lambda _: None)
    began = EpochBegan(1, "1", "14")
    state = envelope.Envelope(at="", n=1, rows=1, data=began)
    import msgspec

    stored = Row("log:main@r1", 1, "log.epoch.1", msgspec.json.encode(state))
    assert rerun.step("agent", [stored], world, "w").error == "ValueError: no version"


def test_a_prompt_is_rendered_again(woken: tuple[Services, str, str]) -> None:
    at, agent, key = woken
    past = Past(at.journal, at.agents)
    rows = past.agents.rows_of(f"wake:{key}@r1")
    begun = rows[0].fact
    assert isinstance(begun, WakeStarted)
    cause, _ = envelope.cause_of(next(at.agents.appends(rows[0].n - 1))[0])
    assert isinstance(cause, BeginWake)
    worlds = past.journal.world(begun.journal_position), past.agents.world(begun.agent_position)
    assert worlds[1].load(WAKE_QUEUE, agent).queued is not None
    same = rerun.prompt(*worlds, begun, cause)
    assert all(one.is_same for one in same)
    later = past.journal.world(0), past.agents.world(rows[-1].n)
    gone = rerun.prompt(*later, begun, cause)
    assert {one.today for one in gone} == {None}
    assert not any(one.is_same for one in gone)
    nothing = rerun.prompt(*worlds, begun, RetakeWake("w"))
    assert not any(one.is_same for one in nothing)


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (ModelAsked(6, 1, forced="update_report"), "a report is due"),
        (LateReply(ModelFailed(1, 1, "x", "y")), "nobody waited"),
        (WakeFinished("completed", "answered", is_report_missing=True), "brought none"),
        (WakeFinished("completed", "turn_limit"), "turn 5 was the last"),
        (WakeFinished("failed", code="abandoned"), "abandoned"),
        (WakeFinished("failed", code="a", message="taken over"), "taken over"),
        (ToolReturned(1, "o", 0, "a", "c", "t", "success", Words()), "own log"),
        (ToolReturned(1, "o", 1, "a", "c", "t", "success", Words()), ""),
        (WakeDeferred("", "budget"), "because of budget"),
        (ReportDrafted(Words(), Words(), ""), ""),
    ],
)
def test_why(fact: Stored, told: str) -> None:
    assert told in rerun.why(fact, 5)
    assert bool(told) == bool(rerun.why(fact, 5))


# ------------------------------------------------------------------------------------------- seen


def of(*facts: Stored) -> wake_comparison.WakeSeen:
    return wake_comparison.wake_seen(
        "w", [row(fact) for fact in facts], lambda words: words.text, lambda _: b""
    )


def test_a_wake_without_an_answer_has_its_fault_and_no_tokens() -> None:
    wake = of(ModelFailed(1, 1, "busy", "no"), WakeFinished("failed", code="busy"))
    assert [turn.fault for turn in wake.turns] == ["busy: no"]
    assert wake.tokens == (None, None)


def test_tokens_are_unknown_as_soon_as_one_turn_did_not_say() -> None:
    wake = of(
        ModelAnswered(1, 1, "p", tokens_in=3, tokens_out=4), ModelAnswered(2, 1, "p", tokens_in=5)
    )
    assert wake.tokens == (8, None)


def test_a_result_too_many_is_ignored() -> None:
    result = ToolReturned(1, "o", 0, "a", "c", "t", "denied", Words("no"))
    wake = of(ModelAnswered(1, 1, "p", Words("x")), result, ItemProposed(
        1, "t", Words("{}"), "s", "f", "d", "b"))  # fmt: skip
    assert wake.turns[0].calls == ()
    assert [one.summary for one in wake.proposals] == ["s"]


# ------------------------------------------------------------------------------------------- diff


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ({"x": 1}, {"x": 1}, []),
        ({"x": 1}, {"x": True}, [("x", "changed")]),
        ({"x": 1, "y": 2}, {"y": 3, "z": 4}, [("x", "removed"), ("y", "changed"), ("z", "added")]),
        ([1, 2], [1], [("[1]", "removed")]),
        ([], [], []),
        ([{"id": "b"}, {"id": "a"}], [{"id": "a"}], [("[b]", "removed")]),
        ([{"id": "a"}, {"id": "a"}], [{"id": "a"}], [("[1]", "removed")]),
        ([{"ref": "1.1", "s": 1}], [{"ref": "1.1", "s": 2}], [("[1.1].s", "changed")]),
        ([{"id": None}], [{"id": 1}], [("[0].id", "changed")]),
        ({"x": [1]}, {"x": {}}, [("x", "changed")]),
    ],
)
def test_worlds_are_compared_by_name_or_place(a: Any, b: Any, found: list[Any]) -> None:
    assert [(one.path, one.change) for one in wake_comparison.world_differences(a, b)] == found


def test_wakes_of_unlike_length_are_compared_turn_by_turn() -> None:
    one = of(ModelAnswered(1, 1, "p", Words("a")))
    two = of(ModelAnswered(1, 1, "p", Words("a")), ModelFailed(2, 1, "busy", "no"))
    document = wake_comparison.compare_wakes(one, two)
    assert [reply.same for reply in document.replies] == [True, False]
    assert document.replies[1].a is None
    back = wake_comparison.compare_wakes(two, one)
    assert back.replies[1].b is None
    assert not back.same


# ------------------------------------------------------------------------------------------- fork


def test_a_reply_counts_for_more_than_a_failure_before_it() -> None:
    request = Request("m", (), (Section("a", "b"),))
    failed, answered = ModelFailed(1, 1, "busy", "no"), ModelAnswered(1, 2, "p")
    name = fork.request_digest(request)
    assert fork.recorded_answers([(request, failed), (request, answered)]) == {name: answered}
    assert fork.recorded_answers([(request, answered), (request, failed)]) == {name: answered}
    assert fork.recorded_answers([(request, failed)]) == {name: failed}
    assert fork.request_digest(Request("m", (), (Section("a", "c"),))) != name


def test_the_first_decision_and_its_operations_are_found() -> None:
    rows = [
        row(ItemDeferred(2, "person", 1), 3, "changes:s@r1"),
        row(ItemConfirming(1, "person", 1, "op1", 1), 4, "changes:s@r1"),
        row(ItemConfirmed(1, 1), 5, "changes:s@r1"),
        row(ItemRejected(3, "person", 1), 6, "changes:s@r1"),
        row(SuppressionAsked(3, "op3", "l", 1), 6, "changes:s@r1"),
    ]
    found = [fork.decision(rows, item) for item in (1, 2, 3, 4)]
    assert [one.n if one else 0 for one in found] == [4, 3, 6, 0]
    assert [set(fork.operations(rows, item)) for item in (1, 2, 3)] == [{"op1"}, set(), {"op3"}]


def test_what_a_verdict_led_to_is_left_out_with_it() -> None:
    verdict, effects = ChangedVerdict("s", 1, "reject"), frozenset({"op"})
    applied = ApplyOperation("op", "a", "t", "tool", Words())
    for cause in (
        applied,
        VoidOperation("op", "t", "slow"),
        RetakeEffect("s", 1),
        Replied("changes", "s", ItemConfirmed(1, 1)),
        CreateAgent(follow_up_id("s", 1), "The rest", "c", 7, "hybrid"),
    ):
        assert fork.is_consequence(cause, verdict, effects)
        assert not fork.is_consequence(cause, ChangedVerdict("s", 2, "reject"), frozenset())
    assert not fork.is_consequence(RetakeWake("w"), verdict, effects)
    for given in (ConfirmItem, RejectItem, DeferItem):
        assert fork.is_verdict(given("s", 1, "person", 1), verdict)
        assert not fork.is_verdict(given("s", 2, "person", 1), verdict)
    assert not fork.is_verdict(applied, verdict)


def test_causes_have_the_names_of_the_branch() -> None:
    names = {A: B}
    assert fork.with_branch_names(RetakeWake(A), names) == RetakeWake(B)
    assert fork.with_branch_names(RetakeWake(A + "a"), names) == RetakeWake(A + "a"), (
        "no key at all"
    )
    replied = Replied("wake", A, ModelAnswered(1, 1, A))
    assert fork.with_branch_names(replied, names) == Replied("wake", B, ModelAnswered(1, 1, B))
