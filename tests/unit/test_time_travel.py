"""The pure parts of looking back: what a step says, what differs, and what a fork takes, makes of
recorded causes (names, positions, their order), and may spend."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.home.clock import ManualClock
from adapters.home.settings import BudgetSettings, Settings
from adapters.runtime import effect_executor
from adapters.runtime.budgets import LEDGER_FILE, Budgets, ForkLedger, LedgerEntry
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.timetravel.fork import Branch, ForkChanges, Forked, ForkSpending
from adapters.timetravel.logs_at import Past
from domain.agent.commands import CreateAgent, TakeJournal
from domain.agent.wake_queue import WAKE_QUEUE, Trigger, WakeQueued
from domain.append import envelope
from domain.append.causes import Cause, Command, EpochBegan, Receipt, Replied, Result
from domain.append.envelope import Row
from domain.changes import change_set as ch
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, RetakeEffect
from domain.changes.dependencies import follow_up_id
from domain.journal.commands import AddNote, ApplyOperation, VoidOperation
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Stored, Words
from domain.ports import ModelFault, Reply, Request, Section, Usage
from domain.wake import wake as w
from domain.wake.commands import BeginWake, RetakeWake
from replay import fork, rerun, wake_comparison
from replay.fork import ChangedVerdict
from replay.references import asked_operations, last_named_position
from tests.support.consents import agree
from tests.support.services import (
    START,
    StillClock,
    one_agent,
    queued_key,
    services,
    task_with_agent,
)
from wakelog.testing import calls as reply

A, B, C = "a" * 32, "b" * 32, "c" * 32
REPORT = ("update_report", '{"content": "Fine.", "tldr": "It is fine.", "oneLiner": "Fine"}')


def row(fact: Stored, n: int = 1, stream: str = "wake:w@r1") -> RecordedEvent:
    return RecordedEvent(stream, 1, "r1", n, 0, "", fact)


# ------------------------------------------------------------------------------------------ rerun


@pytest.fixture
def woken() -> tuple[Services, str, str]:
    """Services, an agent and its wake: a deferred one that was taken up again."""
    at, _, agent = one_agent(
        [ModelFault("busy", "no", of_provider=True), reply(REPORT), reply(text="Done.")]
    )
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
    assert isinstance(begun, w.WakeStarted)
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
        (w.ModelAsked(6, 1, forced="update_report"), "a report is due"),
        (w.LateReply(w.ModelFailed(1, 1, "x", "y")), "nobody waited"),
        (w.WakeFinished("completed", "answered", is_report_missing=True), "brought none"),
        (w.WakeFinished("completed", "turn_limit"), "turn 5 was the last"),
        (w.WakeFinished("failed", code="abandoned"), "abandoned"),
        (w.WakeFinished("failed", code="a", message="taken over"), "taken over"),
        (w.ToolReturned(1, "o", 0, "a", "c", "t", "success", Words()), "own log"),
        (w.ToolReturned(1, "o", 1, "a", "c", "t", "success", Words()), ""),
        (w.WakeDeferred("", "budget"), "because of budget"),
        (w.ReportDrafted(Words(), Words(), ""), ""),
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


def test_tokens_are_unknown_as_soon_as_one_turn_did_not_say() -> None:
    wake = of(
        w.ModelAnswered(1, 1, "p", tokens_in=3, tokens_out=4),
        w.ModelAnswered(2, 1, "p", tokens_in=5),
    )
    assert wake.tokens == (8, None)


def test_a_result_too_many_is_ignored() -> None:
    result = w.ToolReturned(1, "o", 0, "a", "c", "t", "denied", Words("no"))
    wake = of(w.ModelAnswered(1, 1, "p", Words("x")), result, ch.ItemProposed(
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


# ------------------------------------------------------------------------------------------- fork


def test_a_reply_counts_for_more_than_a_failure_before_it() -> None:
    request = Request("m", (), (Section("a", "b"),))
    failed, answered = w.ModelFailed(1, 1, "busy", "no"), w.ModelAnswered(1, 2, "p")
    name = fork.request_digest(request)
    assert fork.recorded_answers([(request, failed), (request, answered)]) == {name: answered}
    assert fork.recorded_answers([(request, answered), (request, failed)]) == {name: answered}
    assert fork.recorded_answers([(request, failed)]) == {name: failed}
    assert fork.request_digest(Request("m", (), (Section("a", "c"),))) != name


def test_the_first_decision_and_its_operations_are_found() -> None:
    rows = [
        row(ch.ItemDeferred(2, "person", 1), 3, "changes:s@r1"),
        row(ch.ItemConfirming(1, "person", 1, "op1", 1), 4, "changes:s@r1"),
        row(ch.ItemConfirmed(1, 1), 5, "changes:s@r1"),
        row(ch.ItemRejected(3, "person", 1), 6, "changes:s@r1"),
        row(ch.SuppressionAsked(3, "op3", "l", 1), 6, "changes:s@r1"),
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
        Replied("changes", "s", ch.ItemConfirmed(1, 1)),
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
    replied = Replied("wake", A, w.ModelAnswered(1, 1, A))
    assert fork.with_branch_names(replied, names) == Replied("wake", B, w.ModelAnswered(1, 1, B))


A, B, C, D = "a" * 32, "b" * 32, "c" * 32, "d" * 32
NEWS = Trigger("subscription", "s1", "r1", 2, "change")
ALERT, OTHER = f"alert:{A}@r1", f"alert:{B}@r1"
NO_WORDS = Words("{}")
FAILED = w.ModelFailed(1, 1, "busy", "no")


def row_at(
    stream: str, fact: Stored, *, version: int = 2, n: int = 1, at: str = ""
) -> RecordedEvent:
    return RecordedEvent(stream, version, "r1", n, 0, at, fact)


def queued(run_key: str) -> WakeQueued:
    return WakeQueued(run_key, NEWS, "", "thread")


def learnt(was: list[RecordedEvent], now: list[RecordedEvent]) -> dict[str, str]:
    names: dict[str, str] = {}
    fork.learn_names(names, was, now)
    return names


# ------------------------------------------------------------------------------------------- names


def test_the_same_fact_of_a_stream_tells_its_other_name() -> None:
    assert learnt([row_at(ALERT, queued(C))], [row_at(ALERT, queued(D))]) == {C: D}
    assert learnt([row_at(ALERT, queued(C))], [row_at(ALERT, queued(C))]) == {}


def test_what_only_the_branch_has_is_not_taken_for_something_else() -> None:
    was, also = row_at(ALERT, queued(C)), row_at(OTHER, queued(D))
    assert learnt([was], [also]) == {}, "another agent's"
    assert learnt([was], [also, row_at(ALERT, queued(D))]) == {C: D}
    assert learnt([was], [row_at(ALERT, FAILED)]) == {}, "another fact"
    assert learnt([was], []) == {}


def test_a_stream_that_begins_may_have_another_name() -> None:
    was, now = (row_at(f"task:{one}@r1", queued(two), version=1) for one, two in ((A, C), (B, D)))
    assert learnt([was], [now]) == {A: B, C: D}
    begun = row_at(f"task:{A}@r1", queued(C), version=1)
    assert learnt([begun], [begun, now]) == {}, "it has its own"
    assert learnt([was], [row_at(f"wake:{B}@r1", queued(D), version=1)]) == {}, "of another kind"


def test_names_that_do_not_pair_are_not_learnt() -> None:
    was, now = row_at(ALERT, ConfirmItem(C, 1, "", 1)), row_at(ALERT, ConfirmItem("", 1, "", 1))
    assert learnt([was], [now]) == {}


def test_a_receipt_tells_by_its_result_not_by_what_was_asked() -> None:
    was, now = (
        row_at("receipt:k@r1", Receipt(AddNote(one, "note", Words("x")), Result((two,))), version=1)
        for one, two in ((A, C), (B, D))
    )
    assert learnt([was], [now]) == {C: D}


def test_a_name_that_both_have_is_no_other_name() -> None:
    was, now = row_at(ALERT, queued(C)), row_at(ALERT, queued(D))
    assert learnt([was], [now, row_at(OTHER, queued(C))]) == {}, "the branch has it elsewhere"
    assert learnt([was, row_at(OTHER, queued(D))], [now]) == {}, "it is recorded for another"


# --------------------------------------------------------------------------------------- positions


@pytest.mark.parametrize(
    ("cause", "there"),
    [
        (ConfirmItem("s", 1, "person", 5), ConfirmItem("s", 1, "person", 15)),
        (
            Replied("changes", "s", ch.ItemConfirmed(1, 1, 5)),
            Replied("changes", "s", ch.ItemConfirmed(1, 1, 15)),
        ),
        (TakeJournal("r1", 1, 5, (), ""), TakeJournal("r1", 1, 15, (), "")),
        *((one, one) for one in (ConfirmItem("s", 1, "person", 0), RetakeWake("w"))),
    ],
)
def test_a_position_of_the_journal_is_the_branchs(cause: Cause, there: Cause) -> None:
    assert fork.with_moved_position(cause, lambda n: n + 10) == there


# ------------------------------------------------------------------------------------------- order


def journal(n: int, at: str, command: Command) -> list[RecordedEvent]:
    return [row_at(f"receipt:{n}@r1", Receipt(command, Result()), n=n, at=at)]


def agent(n: int, at: str, fact: Stored, stream: str = "wake:w@r1") -> list[RecordedEvent]:
    return [row_at(stream, fact, n=n, at=at)]


def order(
    ours: list[list[RecordedEvent]], theirs: list[list[RecordedEvent]]
) -> list[tuple[str, int]]:
    return [(log, rows[0].n) for log, rows in fork.interleaved(ours, theirs)]


NOTE = AddNote("t", "note", Words("x"))
APPLY = ApplyOperation("op", "a", "t", "tool", NO_WORDS)
ASKED = w.ToolAsked(1, "op", 1, "act", "tool_call", "c1", "tool", NO_WORDS)


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
    theirs = [agent(1, "1", ch.ItemConfirming(1, "person", 7, "other", 1), "changes:s@r1")]
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
    both = [*agent(1, "", ASKED), *agent(2, "", ch.ItemConfirming(1, "person", 7, "other", 1))]
    assert asked_operations(both) == {"op", "other"}
    assert [fork.carried_operation(journal(1, "", one)) for one in (APPLY, NOTE)] == ["op", ""]


# -------------------------------------------------------------------------------- what it may spend


MODEL = "gemini:made-up"
TAKES = 1_000  # tokens of each answer; a fork here has two


class Paid:
    """A model that would be paid; it counts how often it was asked."""

    name = MODEL

    def __init__(self) -> None:
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(b"", "Fine.", (), Usage(TAKES, 0))


class Origin:
    """A home in which a wake ran on the rules, and where its forks write what they took."""

    def __init__(self, folder: Path, budget: BudgetSettings) -> None:
        self.folder, self.paid = folder, Paid()
        self.at: Services = services(model=None)
        _, self.agent = task_with_agent(self.at)
        self.run = queued_key(self.at, self.agent)
        asyncio.run(run_wake(self.at, self.agent, self.run))
        agree(self.at, self.agent, MODEL)
        self.ledger = ForkLedger(folder / LEDGER_FILE)
        self.budgets = Budgets(
            self.at.agents, replace(Settings(), budget=budget), ForkLedger(folder / LEDGER_FILE)
        )

    def fork(self, name: str, tokens_max: int = 50_000) -> Forked:
        past = Past(self.at.journal, self.at.agents)
        replica = self.at.agents.replica
        spot = past.run(self.run, replica, 0)
        about = LedgerEntry(name, self.agent, MODEL)
        spending = ForkSpending(self.budgets, StillClock(), self.ledger, about, tokens_max)
        branch = Branch(past, self.run, replica, self.at.settings)
        made = asyncio.run(
            branch.make(self.folder / name, spot, ForkChanges(MODEL), self.paid, spending=spending)
        )
        made.close()
        return made


def test_a_fork_counts_into_the_day_of_its_home_and_waits_with_it(tmp_path: Path) -> None:
    origin = Origin(tmp_path, BudgetSettings(tokens_per_day=4 * TAKES))
    first, second = origin.fork("one"), origin.fork("two")
    assert (first.stopped, second.stopped, origin.paid.asked) == ("", "", 4)
    third = origin.fork("three")
    assert third.stopped == "a budget of the home is spent until 2027-01-02T00:00:00.000000Z"
    assert origin.paid.asked == 4, "nobody was asked, nobody is paid"
    wake = origin.at.wake(origin.run)
    assert origin.budgets.until(wake, START), "the home's own wakes wait, too"
    assert not origin.budgets.until(wake, "2027-01-02T00:00:00.000000Z"), "until the next day"


def test_the_budget_of_a_wake_is_one_forks_alone(tmp_path: Path) -> None:
    origin = Origin(tmp_path, BudgetSettings(tokens_per_wake=2 * TAKES))
    assert [origin.fork(name).stopped for name in ("one", "two")] == ["", ""]
    assert not origin.budgets.until(origin.at.wake(origin.run), START), "nor the wake's it is of"


@pytest.mark.parametrize(("tokens_max", "asked"), [(10, 0), (50_000, 2)])
def test_a_fork_has_a_limit_of_its_own(tmp_path: Path, tokens_max: int, asked: int) -> None:
    origin = Origin(tmp_path, BudgetSettings())
    made = origin.fork("one", tokens_max)
    assert origin.paid.asked == asked
    assert made.stopped.startswith("its limit is 10 tokens: about") == (not asked)
    assert (tmp_path / LEDGER_FILE).exists() == bool(asked)


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    ledger = ForkLedger(tmp_path / LEDGER_FILE)
    ledger.write(LedgerEntry("one", "a", MODEL, START, 5))
    with (tmp_path / LEDGER_FILE).open("ab") as file:
        file.write(b'{"fork":"tw')
    assert [one.tokens for one in ledger.between(START, START + "Z")] == [5]
