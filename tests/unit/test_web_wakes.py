"""What the page of a wake says, as pure functions: bars, causes, its prompt, two columns."""

from collections.abc import Sequence
from typing import Any

import pytest

from adapters.documents.wakes import WakeCause, WakeStep
from adapters.web import conversation
from adapters.web.prompts import sections
from adapters.web.text_diff import line_pairs
from adapters.web.triggers import CauseDetails, sentence
from domain.ports import Section

AT = "2026-11-17T08:{:02d}:{:02d}.000000Z"
ASKED, ANSWERED, FAILED = "model_asked", "model_answered", "model_failed"


def steps(*told: tuple[int, str, dict[str, Any]]) -> list[WakeStep]:
    """Rows of a wake: seconds after its start, what happened, and its fields."""
    return [
        WakeStep(nth, f"wake.{what}.1", AT.format(seconds // 60, seconds % 60), data)
        for nth, (seconds, what, data) in enumerate(told, start=1)
    ]


def ask(seconds: int, turn: int = 1, attempt: int = 1) -> tuple[int, str, dict[str, Any]]:
    return seconds, ASKED, {"turn": turn, "attempt": attempt}


def answer(seconds: int, turn: int = 1, *calls: str) -> tuple[int, str, dict[str, Any]]:
    made = [{"callId": one, "tool": one, "arguments": {}, "problem": ""} for one in calls]
    return seconds, ANSWERED, {"turn": turn, "text": "So.", "calls": made}


def tool(seconds: int, what: str, attempt: int = 1) -> tuple[int, str, dict[str, Any]]:
    return seconds, what, {"turn": 1, "attempt": attempt, "callId": "a", "status": "success"}


@pytest.mark.parametrize(
    ("rows", "until", "expected"),
    [
        ([ask(0), answer(4)], 0, {1: [("model", 4)]}),
        ([ask(0), (3, FAILED, {"turn": 1}), ask(3, 1, 2), answer(5)], 0,
         {1: [("retries", 3), ("model", 2)]}),
        ([ask(0), (3, FAILED, {"turn": 1}), (3, "deferred", {"until": "x"}), ask(63, 1, 2),
          answer(64)], 0, {1: [("retries", 3), ("waiting", 60), ("model", 1)]}),
        ([ask(0), (0, "deferred", {"until": "x"}), ask(9, 1, 2), answer(10)], 0,
         {1: [("waiting", 9), ("model", 1)]}),
        ([ask(0), answer(1, 1, "a"), tool(1, "tool_asked"), tool(3, "tool_returned"), ask(3, 2),
          answer(7, 2)], 0, {1: [("model", 1), ("tools", 2)], 2: [("model", 4)]}),
        ([ask(0), answer(1, 1, "a"), tool(2, "tool_returned", 0)], 0, {1: [("model", 1)]}),
        ([ask(0), ask(8, 1, 2), answer(9)], 0, {1: [("retries", 8), ("model", 1)]}),
        ([ask(0)], 5, {1: [("model", 5)]}),
        ([ask(0)], 0, {1: []}),
        ([ask(0), (2, "deferred", {}), (8, "finished", {})], 0, {1: [("waiting", 8)]}),
    ],
)  # fmt: skip
def test_a_turn_goes_by_with_what_its_rows_say(rows: Any, until: int, expected: Any) -> None:
    found = conversation.turn_times(steps(*rows), AT.format(0, until) if until else "")
    told = {one.turn: [(part.kind, part.seconds) for part in one.segments] for one in found}
    assert {turn: _merged(parts) for turn, parts in told.items()} == expected


def _merged(parts: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Neighbours of one kind as one."""
    made: list[tuple[str, float]] = []
    for kind, seconds in parts:
        if made and made[-1][0] == kind:
            made[-1] = (kind, made[-1][1] + seconds)
        else:
            made.append((kind, seconds))
    return made


def test_bars_stay_within_their_width_and_nothing_is_too_thin_to_see() -> None:
    parts = [
        conversation.TurnSegment("waiting", 86_400),
        conversation.TurnSegment("model", 0.001),
    ] * 3
    drawn = conversation.bars(parts, 86_400 * 3)
    assert all(x >= 0 and x + width <= conversation.WIDTH + 1e-9 for _, x, width in drawn)
    assert min(width for _, _, width in drawn) >= conversation.LEAST - 1e-9
    assert conversation.bars([conversation.TurnSegment("model", 0)], 0) == [
        ("model", 0.0, conversation.LEAST)
    ]
    svg = str(conversation.svg(parts, 1))
    assert svg.count("<rect") == 6
    assert "style" not in svg


def test_calls_are_matched_with_what_was_decided() -> None:
    made = steps(
        ask(0),
        answer(1, 1, "a", "b"),
        (1, "tool_returned", {"turn": 1, "attempt": 0, "callId": "b", "tool": "log_time",
                              "status": "error", "message": "No.", "code": "bad"}),
        (2, "finished", {"outcome": "completed"}),
    )  # fmt: skip
    found = conversation.by_turn(made)
    assert list(found) == ["start", "1", "end"]
    first, second = conversation.calls_of("1", found["1"], "1.2")
    assert (first.decided, first.is_here) == ("not decided yet", False)
    assert (second.tool, second.decided, second.why, second.is_here) == (
        "log_time", "refused", "No.", True,
    )  # fmt: skip
    assert conversation.chosen(found, "9") == ("1", "")


def cause(reason: str, how: str = "first", **more: Any) -> WakeCause:
    known: dict[str, Any] = {
        "position": None, "tokens": [], "propagated": False, "hop": 0, "ticks": [], "words": None,
    }  # fmt: skip
    return WakeCause(how=how, at=AT.format(12, 0), reason=reason, reason_id="1", **(known | more))


NOTE = {"note": "It drips.", "note_at": AT.format(12, 0), "task_id": "t", "title": "Sink"}
CHANGE: dict[str, Any] = {"task_id": "t", "title": "Sink", "whats": ("due: 2027-01-01",)}
ANCHOR = f"/tasks/t#note:{AT.format(12, 0)}"
TIMER = {"schedule": "every day 07:00", "timer_at": AT.format(0, 0)}
DAY = "Tuesday 2026-11-17, 09:12"


@pytest.mark.parametrize(
    ("one", "found", "words", "links"),
    [
        (cause("subscription"), NOTE, f"your note of {DAY}: It drips.", [ANCHOR]),
        (cause("subscription"), {**NOTE, "is_own": False},
         f"your note of {DAY} on a linked task, Sink: It drips.",
         [ANCHOR, "/tasks/t"]),
        (cause("subscription"), CHANGE, f"you changed Sink on {DAY}: due: 2027-01-01",
         ["/tasks/t"]),
        (cause("subscription", propagated=True), {**CHANGE, "is_own": False},
         f"a linked task changed: Sink on {DAY}: due: 2027-01-01", ["/tasks/t"]),
        (cause("subscription"), {**CHANGE, "by": "agent:x", "by_name": "Ada", "whats": ()},
         f"the agent Ada changed Sink on {DAY}", ["/tasks/t"]),
        (cause("subscription", "merged"), {**CHANGE, "by": "import:todotxt", "whats": ()},
         f"also, while it waited: the import of todotxt changed Sink on {DAY}", ["/tasks/t"]),
        (cause("subscription"), {}, f"you changed a task on {DAY}", []),
        (cause("user", words="What now?"), {}, f"you asked on {DAY}: What now?", ["/agents/a"]),
        (cause("manual"), {}, f"you woke it on {DAY}", []),
        (cause("creation"), {}, f"the agent was made on {DAY}", ["/agents/a"]),
        (cause("recovery"), {}, f"the agent was resumed on {DAY}", []),
        (cause("timer", ticks=["x", "y"]), TIMER,
         "the timer “every day 07:00” that you set on Tuesday 2026-11-17, 09:00 rang 2 times",
         ["/agents/a"]),
        (cause("timer"), {}, "a timer rang", ["/agents/a"]),
    ],
)  # fmt: skip
def test_a_cause_is_a_sentence_with_links(
    one: WakeCause, found: dict[str, Any], words: str, links: list[str]
) -> None:
    made = sentence(one, CauseDetails(**found), "a", "Europe/Berlin")
    assert "".join(piece.text for piece in made.pieces) == words
    assert [piece.href for piece in made.pieces if piece.href] == links
    assert one.reason in made.tip


def test_a_prompt_marks_what_is_new_and_finds_words() -> None:
    now = [("user", Section("task", "a\nb\nneedle\nc\nd\ne\nNeedle")), ("user", Section("x", "y"))]
    before = [("user", Section("task", "a\nb\nc"))]
    task, other = sections(now, before)
    assert [line.pieces[0][0] for line in task.lines if line.is_new] == [
        "needle",
        "d",
        "e",
        "Needle",
    ]
    assert (task.new, other.new) == (4, 1)
    assert sections(now, None)[0].new is None
    task, other = sections(now, before, "needle")
    assert (task.hits, other.hits) == (2, 0)
    told = ["⋯" if line.is_gap else "".join(text for text, _ in line.pieces) for line in task.lines]
    assert told == ["⋯", "b", "needle", "c", "⋯", "e", "Needle"]
    (long,) = sections(
        [("user", Section("task", "x" * 3_000 + "\n" + ("z" * 999 + "\n") * 90))], None
    )
    assert long.cut > 30_000
    assert sections([("user", Section("task", "a.b"))], None, ".")[0].hits == 1


def test_two_columns_mark_the_words_that_differ_and_skip_what_is_the_same() -> None:
    same = [f'"n{nth}": {nth}' for nth in range(9)]
    recorded = "s 1 t {" + ", ".join([*same, '"say": "the cat sat"', '"gone": 1']) + "}"
    again = "s 1 t {" + ", ".join([*same, '"say": "the dog sat"']) + "}"
    found = line_pairs(recorded, again)
    (skipped,) = [one.skipped for one in found if one.skipped]
    assert skipped == 9
    differing = [one for one in found if not one.is_same]
    marked = [[text for text, differs in one.recorded or () if differs] for one in differing]
    assert ["cat"] in marked or ["cat", ","] in marked
    assert differing[-1].again is None
    assert line_pairs("", "made")[0].recorded is None
