"""The watch over the laws names each one that is broken, and nothing where all are kept."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.agent import wake_queue as q
from domain.agent.agent import AgentCreated, AgentObserved
from domain.agent.memory import MemoryFolded
from domain.append import envelope
from domain.append.causes import EpochBegan, Receipt, Result
from domain.append.envelope import Row, RowPlace
from domain.changes import change_set as c
from domain.journal.commands import ApplyOperation
from domain.journal.task import TaskRetitled
from domain.lessons.lessons import LessonDecided, WakeRan, WakeRated
from domain.log.state import RecordedEvent
from domain.log.wire import Stored, Words, tag_of
from domain.policy.policy import ConsentGiven, ConsentWithdrawn, ModelsRuled
from domain.wake import wake as w
from replay.appends import Append
from replay.invariants import TURNS_MAX, Invariants
from tests.support.services import START

ALERT, WAKE, SET, TASK = "alert:a@r1", "wake:run@r1", "changes:set@r1", "task:t@r1"
NEWS = q.Trigger("subscription", "s1", "r1", 2, "change")
QUEUED = q.WakeQueued("run", NEWS, START, "thread")
CREATED = AgentCreated("task_agent", "t", 1, "Fix", "hybrid", position=1)
STARTED = w.WakeStarted("a", "t", "manual", "th", "m", 1, 5, 0, 0, "p", (), (), (), "p")
NO_WORDS = Words("{}")
APPLY = Receipt(ApplyOperation("o", "a", "t", "update_task_estimate", NO_WORDS), Result())
PROPOSED = c.ItemProposed(1, "tool", NO_WORDS, "It", "f", "it", "")
CONFIRMING = c.ItemConfirming(1, "person", 1, "o", 1)
CONFIRMED = c.ItemConfirmed(1, 1)
UNDONE = c.ItemUndone(1, 1, "u", "o", 3)
EPOCH = ("log:main@r1", EpochBegan(1, "0", "15"))


def asked(turn: int = 1, attempt: int = 1) -> w.ModelAsked:
    return w.ModelAsked(turn, attempt)


def answered(turn: int = 1, attempt: int = 1) -> w.ModelAnswered:
    return w.ModelAnswered(turn, attempt, "p")


def returned(code: str, attempt: int = 0) -> w.ToolReturned:
    return w.ToolReturned(1, "o", attempt, "act", "c1", "tool", "denied", NO_WORDS, code)


class Watched:
    """Appends with numbers, digests and times as they should be, unless said otherwise."""

    def __init__(self) -> None:
        self.laws = Invariants()
        self.faults: list[str] = []
        self._last: dict[str, tuple[int, str]] = {}

    def say(self, log: str, *facts: tuple[str, Stored], **other: Any) -> None:
        n, prev = self._last.get(log, (0, ""))
        at = {"n": n + 1, "prev": prev, "at": START, "rows": len(facts), **other}
        first = RowPlace(at["n"], 0, at["rows"], at["prev"], at["at"])
        one = Append("r1", first)
        for nth, (stream, fact) in enumerate(facts):
            place = first if nth == 0 else RowPlace(first.n, nth)
            row = Row(stream, first.n, tag_of(fact), b"%d" % first.n)
            one.rows.append(row)
            one.places.append(place)
            one.facts.append(RecordedEvent(stream, first.n, "r1", first.n, nth, first.at, fact))
        self._last[log] = (first.n, envelope.digest(one.rows))
        self.faults += self.laws.take(log, one)

    def agent(self, *facts: tuple[str, Stored]) -> None:
        """One append of the agent log for each, behind a cause where it is none itself."""
        for stream, fact in facts:
            is_cause = stream in (WAKE, SET)
            self.say("agent", *([] if is_cause else [EPOCH]), (stream, fact))


def test_a_wake_that_keeps_every_law() -> None:
    seen = Watched()
    seen.agent(("agent:a@r1", CREATED), (ALERT, QUEUED), (ALERT, q.WakeBegun("run")))
    seen.agent((WAKE, STARTED), (WAKE, asked()), (WAKE, answered()), (WAKE, returned("redundant")))
    seen.agent((SET, PROPOSED), (SET, CONFIRMING))
    seen.say("journal", ("receipt:o@r1", APPLY), (TASK, TaskRetitled("person", "Fix")))
    seen.agent((SET, CONFIRMED), (WAKE, w.WakeFinished("completed")))
    seen.agent((ALERT, q.WakeSettled("run", "completed")))
    assert [*seen.faults, *seen.laws.ended(taken=1)] == []


def test_what_could_not_be_applied_is_open_once_more() -> None:
    seen = Watched()
    seen.agent(
        (SET, PROPOSED), (SET, CONFIRMING), (SET, c.ItemFailed(1, 1, "unknown_task", "Gone."))
    )
    seen.agent((SET, CONFIRMING), (SET, c.ItemRejected(1, "person", 1)))
    seen.agent((SET, c.ItemReopened(1, "person")), (SET, c.ItemRejected(1, "person", 2)))
    assert [*seen.faults, *seen.laws.ended(taken=0)] == []


SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"n": 3}, "append 2 is missing"),
    ({"prev": "another"}, "law 6"),
    ({"at": "2026-01-01T00:00:00.000000Z"}, "time goes back"),
    ({"rows": 2}, "not numbered from 0"),
]


@pytest.mark.parametrize(("other", "told"), SHAPES, ids=[told for _, told in SHAPES])
def test_an_append_of_another_shape_is_named(other: dict[str, Any], told: str) -> None:
    seen = Watched()
    seen.say("agent", (WAKE, STARTED))
    seen.say("agent", (WAKE, asked()), **other)
    (fault,) = seen.faults
    assert told in fault


def test_a_row_that_cannot_be_read_is_named() -> None:
    one = Append("r1", RowPlace(1, 0, 1, "", START))
    one.add(Row(WAKE, 1, "unknown.9", b"{}"), one.first, "so")
    assert list(Invariants().take("agent", one)) == ["agent:r1:1: law 1: a row cannot be read: so"]


def test_an_append_begins_with_a_cause() -> None:
    seen = Watched()
    seen.say("agent", (ALERT, QUEUED))
    assert seen.faults == ["agent:r1:1: law 2: alert:a@r1 is no cause"]


def test_an_effect_has_an_intent_and_happens_once() -> None:
    seen = Watched()
    for _ in range(2):
        seen.say("journal", ("receipt:o@r1", APPLY))
    assert [fault.partition("law ")[2] for fault in seen.faults] == [
        "5: the operation o has an effect and no intent",
        "5: the operation o is applied twice",
        "5: the operation o has an effect and no intent",
    ]


def test_a_tool_that_leaves_the_process_is_an_intent() -> None:
    seen = Watched()
    seen.agent(*BEGUN, (WAKE, w.ToolAsked(1, "o", 1, "act", "tool_call", "c1", "tool", NO_WORDS)))
    seen.say("journal", ("receipt:o@r1", APPLY))
    assert seen.faults == []


BEGUN = [(ALERT, QUEUED), (ALERT, q.WakeBegun("run")), (WAKE, STARTED)]
BROKEN: list[tuple[list[tuple[str, Stored]], str]] = [
    ([(ALERT, q.WakeSettled("run", "completed"))], "is settled and has not begun"),
    ([(ALERT, QUEUED), (ALERT, QUEUED)], "is queued twice"),
    ([(ALERT, q.TriggerMerged("run", NEWS))], "joins run, which is not queued"),
    ([*BEGUN, (WAKE, STARTED)], "begins twice"),
    ([*BEGUN, (WAKE, w.WakeFinished("completed")), (WAKE, asked())], "which has ended"),
    ([*BEGUN, (WAKE, asked(TURNS_MAX + 1))], f"law 10: turn {TURNS_MAX + 1}"),
    ([*BEGUN, (WAKE, asked()), (WAKE, asked())], "asked for again under an old attempt"),
    ([*BEGUN, *((WAKE, asked(1, nth)) for nth in range(1, 99))], "law 10: taken over"),
    ([*BEGUN, (WAKE, answered())], "ModelAnswered answers what was not asked"),
    ([*BEGUN, (WAKE, returned("odd"))], "law 8: the code 'odd' is not known"),
    ([(SET, PROPOSED), (SET, PROPOSED)], "is proposed twice"),
    ([(SET, CONFIRMING)], "is confirmed while "),
    (
        [(SET, PROPOSED), (SET, CONFIRMED), (SET, c.ItemReopened(1, "person"))],
        "is taken up again while ItemConfirmed",
    ),
    ([(SET, PROPOSED), (SET, CONFIRMED), (SET, c.ItemExpired(1))], "ends twice"),
    ([(SET, PROPOSED), (SET, UNDONE)], "is undone while open"),
    ([(SET, PROPOSED), (SET, CONFIRMED), (SET, UNDONE), (SET, UNDONE)], "is undone while open"),
    (
        [(SET, PROPOSED), (SET, CONFIRMED), (SET, c.ItemConfirming(1, "person", 1, "o", 1))],
        "is confirmed while ItemConfirmed",
    ),
]


@pytest.mark.parametrize(("facts", "told"), BROKEN, ids=[told for _, told in BROKEN])
def test_what_breaks_a_law_is_named(facts: list[tuple[str, Stored]], told: str) -> None:
    seen = Watched()
    seen.agent(*facts)
    assert seen.faults
    assert told in seen.faults[0]


FAR = replace(STARTED, scaffold=2, model="far:pro", categories=("home", "work"))
POLICY = "policy:main@r1"


def given(*categories: str, notice: int = 1) -> tuple[str, Stored]:
    return POLICY, ConsentGiven("far:*", categories, notice, ())


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        ([(WAKE, FAR)], "['home', 'work']"),
        ([given("work"), (WAKE, FAR)], "['home']"),
        ([given("work", "home", notice=0), (WAKE, FAR)], "['home', 'work']"),
        ([given("work", "home"), (POLICY, ConsentWithdrawn("far:pro", ("work",))), (WAKE, FAR)],
         "['work']"),
        ([given("work", "home"), (POLICY, ConsentWithdrawn("far:*")), (WAKE, FAR)],
         "['home', 'work']"),
        ([given("work", "home"), (POLICY, ModelsRuled()), (WAKE, FAR)], ""),
        ([given("work", "home"), (POLICY, ConsentWithdrawn("other:*")), (WAKE, FAR)], ""),
        ([(WAKE, replace(FAR, scaffold=1))], ""),
        ([(WAKE, replace(FAR, model="rules"))], ""),
    ],
)  # fmt: skip
def test_no_question_leaves_without_a_receipt(
    facts: list[tuple[str, Stored]], missing: str
) -> None:
    seen = Watched()
    seen.agent((ALERT, QUEUED), (ALERT, q.WakeBegun("run")), *facts, (WAKE, asked()))
    told = f"policy: far:pro is asked without a receipt for {missing}"
    assert [one.partition(": ")[2] for one in seen.faults] == ([told] if missing else [])


def test_a_question_that_is_put_off_as_it_is_asked_does_not_leave() -> None:
    seen = Watched()
    seen.agent((ALERT, QUEUED), (ALERT, q.WakeBegun("run")), (WAKE, FAR))
    seen.say("agent", (WAKE, asked()), (WAKE, w.WakeDeferred("later", "consent")))
    assert seen.faults == []


LEFT: list[tuple[list[tuple[str, Stored]], str]] = [
    (BEGUN, "law 4: the wake run waits for nothing and has no end"),
    ([(ALERT, QUEUED), (ALERT, q.TriggerSuppressed(NEWS, "own_write"))], "law 9: journal append"),
    ([(SET, PROPOSED), (SET, CONFIRMING)], "law 5: 1 items are in doubt after a recovery"),
]


@pytest.mark.parametrize(("facts", "told"), LEFT, ids=[told for _, told in LEFT])
def test_what_is_left_at_the_end_is_named(facts: list[tuple[str, Stored]], told: str) -> None:
    seen = Watched()
    seen.agent(*facts)
    assert seen.faults == []
    assert any(fault.startswith(told) for fault in seen.laws.ended(taken=0))


def test_a_change_that_no_wake_and_no_suppression_names_was_lost() -> None:
    seen = Watched()
    seen.agent(("agent:a@r1", CREATED))
    for _ in range(3):
        seen.say("journal", (TASK, TaskRetitled("person", "Fix")))
    assert list(seen.laws.ended(taken=2)) == ["law 9: journal append 2 was lost to a"]


def test_a_wake_that_is_dropped_ends_its_triggers_unless_another_inherits_them() -> None:
    for code, left in (("dormant", 0), ("superseded", 1)):
        seen = Watched()
        seen.agent((ALERT, QUEUED), (ALERT, q.WakeDropped("run", code)))
        assert seen.faults == []
        assert len(list(seen.laws.ended(taken=0))) == left


def test_a_wake_that_supersedes_has_as_many_triggers_as_the_other_had() -> None:
    """Those without a row of their own there are counted, and found through the other wake."""
    manual, other = q.Trigger("manual", "9", "r1"), replace(NEWS, position=3, change="another")
    for left_out, told in ((1, []), (2, ["3 of 2 triggers of run went to next"])):
        seen = Watched()
        seen.agent((ALERT, QUEUED), (ALERT, q.TriggerMerged("run", other)))
        seen.agent(
            (ALERT, q.WakeQueued("next", manual, START, "thread")),
            (ALERT, q.TriggerMerged("next", other)),
            (ALERT, q.WakeDropped("run", "superseded", "next", left_out)),
        )
        assert [one.partition("law 9: ")[2] for one in seen.faults] == told
        assert list(seen.laws.ended(taken=0)) == []


MIND, NOTES, HOME = "memory:a@r1", "agent:a@r1", "lessons:category:c@r1"
LIVED = [
    ("agent:a@r1", CREATED),
    (WAKE, replace(STARTED, template="t")),
    *[(NOTES, AgentObserved("run", Words(f"{nth}"), "routine", "operational")) for nth in "abc"],
    (SET, PROPOSED),
    (SET, c.ItemRejected(1, "person", 1)),
]
AT = ("3-1@r1", "4-1@r1", "5-1@r1")


def digest(named: str, *sources: str, depth: int = 1, text: str = "") -> MemoryFolded:
    ends = (sources[0], sources[-1], len(sources), sources)
    return MemoryFolded(named, depth, *ends, Words(text), 1, START, START)


RIGHT: list[tuple[str, Stored]] = [
    (HOME, LessonDecided("set", 1, "tool", "rejected")),
    ("lessons:template:t@r1", WakeRan("run", 1, "completed")),
    ("lessons:template:t@r1", WakeRated("run", 5)),
    (MIND, digest("d1", *AT[:2])),
    (MIND, digest("d2", AT[2])),
    (MIND, digest("d3", "d1", "d2", depth=2)),
]
WRONG: list[tuple[tuple[str, Stored], str]] = [
    ((HOME, LessonDecided("set", 2, "tool", "rejected")), "('set', 2) is no item of tool"),
    ((HOME, LessonDecided("set", 1, "other", "rejected")), "('set', 1) is no item of other"),
    ((HOME, LessonDecided("set", 1, "tool", "confirmed")), "nobody said that ('set', 1) is conf"),
    (("lessons:template:u@r1", WakeRated("run", 5)), "run is no wake of template:u"),
    (("lessons:template:t@r1", WakeRan("other", 1, "failed")), "other is no wake of template:t"),
    ((MIND, digest("d4", "9-1@r1")), "names 9-1@r1, which is not there"),
    (("memory:b@r1", digest("d4", AT[0])), "names 3-1@r1, which is not there"),
    ((MIND, digest("d4", AT[0])), "3-1@r1 is under d1 and under d4"),
    ((MIND, digest("d4", "d9", depth=2)), "names d9, which is not there"),
    ((MIND, digest("d4", "d1", depth=2)), "d1 is under d3 and under d4"),
    ((MIND, digest("d1", *AT[:2], text="x" * 753)), "d1 has 753 bytes"),
]


@pytest.mark.parametrize(("fact", "told"), WRONG, ids=[told for _, told in WRONG])
def test_what_is_learnt_or_remembered_and_was_not_there_is_named(
    fact: tuple[str, Stored], told: str
) -> None:
    seen = Watched()
    seen.agent(*LIVED, *RIGHT)
    assert seen.faults == []
    seen.agent(fact)
    assert told in "\n".join(seen.faults)
