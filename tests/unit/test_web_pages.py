"""What pages make of documents and forms: bars, causes, prompts, settings, what differs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from adapters.documents.wakes import WakeCause, WakeStep
from adapters.web import conversation, plain_text
from adapters.web.agents import wanted_of
from adapters.web.http_types import FormRequest, form_changes
from adapters.web.life import groups
from adapters.web.plain_text import bare, compared
from adapters.web.prompts import sections
from adapters.web.text_diff import STEPS_MAX, WORDS_MAX, BoundedMatcher, differences, line_pairs
from adapters.web.triggers import CauseDetails, sentence
from domain.agent.deciders import AgentSettings
from domain.errors import Refused
from domain.ports import Section
from replay.wake_comparison import world_differences

# ------------------------------------------------------------------------------------------- a wake


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
    given = {"because": "She said so.", "day": "2027-01-01", "items": ["a"]}
    line = msgspec.structs.replace(second, arguments=given).told
    assert line == 'day: 2027-01-01, items: ["a"], because: She said so.'


def cause(reason: str, how: str = "first", **more: Any) -> WakeCause:
    known: dict[str, Any] = {
        "position": None, "tokens": [], "propagated": False, "hop": 0, "ticks": [], "words": None,
        "about": None,
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
        (cause("request", about="stale"), {},
         f"another agent asked whether it is still wanted on {DAY}", ["/wakes/1"]),
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


# --------------------------------------------------------------------------------------- plain text


SENT = """## Task

{
"id": "2nxz",
"title": {"value":"Fix the tap","by":"import","at":"2026-11-16T21:45:04.498631Z"},
"description": {"value":""},
"dueDate": null,
"category": {"value":{"id":"tr3l","name":"Home"},"by":"person","at":"2026-11-16T21:45:04.498631Z"},
"checklist": [
{"id":"7q","title":"Turn off the water","checked":true,"checkedBy":"import","archived":false},
{"id":"vq","title":"Call the plumber","checked":false,"checkedBy":null,"archived":true}
],
"log": [
{"at":"2026-11-17T21:45:04.509631Z","type":"note","by":"person","text":"Takes **90** minutes."}
],
"createdAt": "2026-11-16T21:45:04.498631Z"
}"""
SHOWN = [
    "Title: Fix the tap (the file, 2026-11-16 22:45)",
    "Category: Home (you, 2026-11-16 22:45)",
    "Checklist:",
    "  ☑ Turn off the water",
    "  ☐ Call the plumber (archived: yes)",
    "Log:",
    "  2026-11-17 22:45, you: Takes **90** minutes.",
    "Created at: 2026-11-16 22:45",
]


def test_the_task_of_a_prompt_is_told_in_lines_and_stands_below_as_it_was_sent() -> None:
    assert plain_text.told(SENT, "Europe/Berlin").splitlines() == SHOWN
    before = Section("task", SENT.replace("Fix", "Mend"))
    (one,) = sections([("user", Section("task", SENT))], [("user", before)], zone="Europe/Berlin")
    assert ["".join(text for text, _ in line.pieces) for line in one.lines] == SHOWN
    assert [line.is_new for line in one.lines] == [True] + [False] * 7
    assert (one.new, one.sent, one.size) == (1, SENT, len(SENT))


def test_what_only_the_sent_words_have_is_found_in_them() -> None:
    def found(words: str) -> list[str]:
        (one,) = sections([("user", Section("task", SENT))], None, words)
        assert one.hits == 1
        return ["".join(text for text, _ in line.pieces) for line in one.lines]

    assert "  ☐ Call the plumber (archived: yes)" in found("plumber")
    assert '"id": "2nxz",' in found("2nxz")


def test_what_is_no_json_after_all_is_told_as_it_stands() -> None:
    for text in ("{\nbroken", "[\n" * 9_000, "{}", "a {\n b"):
        assert plain_text.told(text, "UTC") == text
    rows = '## Rows\n[\n{"ref":"1.1","status":"open","note":""},\n{"linksCut":2}\n]'
    assert plain_text.told(rows, "UTC") == "ref: 1.1; status: open\nlinks cut: 2"


def test_words_of_a_person_are_no_time_and_no_line_of_their_own() -> None:
    note = {"by": "person", "text": "2027-99-99T99:99Z"}
    task = {"title": "0001-01-01T00:00:00.000000Z", "log": [note, {"text": "a\nStatus: DONE"}]}
    assert plain_text.told(json.dumps(task, indent=0), "America/Lima").splitlines() == [
        "Title: 0001-01-01T00:00:00.000000Z",
        "Log:",
        "  you: 2027-99-99T99:99Z",
        "  : a",
        "    Status: DONE",
    ]


def test_two_texts_that_differ_in_marks_alone_are_compared_with_them() -> None:
    assert compared("# A\n**b**", "# A\nc") == ("A\nb", "A\nc")
    assert compared("# A", "A") == ("# A", "A")
    assert bare("a * b ** c, 2_000_000 and `` ` ``") == "a * b ** c, 2_000_000 and `` ` ``"


# ---------------------------------------------------------------------------------------- two texts


CASES = [
    ("", ""), ("", "a"), ("a", ""), ("a b c", "a x c"), ("one\ntwo\n", "two\nthree\n"),
    ("a b " * 99, "b a a " * 66),
    ("word " * (WORDS_MAX + 1), "word " * WORDS_MAX + "end"), ("x\n" * 9_000, "y\n" * 9_000),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CASES)
def test_both_texts_can_be_read_out_of_what_differs(old: str, new: str) -> None:
    found = differences(old, new)
    assert "".join(text for kind, text in found if kind != "added") == old
    assert "".join(text for kind, text in found if kind != "removed") == new


def test_two_texts_that_say_the_same_again_and_again_take_bounded_steps() -> None:
    old, new = "a " * WORDS_MAX, "a b " * 99  # of 200 words on, what is frequent anchors nothing
    hostile = BoundedMatcher(old.split(), new.split())
    assert hostile.get_matching_blocks(), "what was found until then is told"
    assert STEPS_MAX / 2 < hostile.steps <= STEPS_MAX
    shown = differences(old, new)
    assert "".join(text for kind, text in shown if kind != "added") == old
    assert "".join(text for kind, text in shown if kind != "removed") == new


def test_a_word_that_changed_is_marked_alone() -> None:
    assert [tuple(one) for one in differences("due on Monday.", "due on Friday.")] == [
        ("both", "due on "),
        ("removed", "Monday"),
        ("added", "Friday"),
        ("both", "."),
    ]


# -------------------------------------------------------------------------------------- two moments


ITEM = {"id": "i", "title": "Buy a seal", "checked": False}
TASK = {"id": "t", "title": "Fix the sink", "status": "OPEN", "items": [ITEM], "notes": []}
AGENT = {"id": "a", "name": "Sink", "report": {"tldr": "All is well."}, "journal": []}
BEFORE = {"tasks": [TASK, {"id": "u", "title": "Roof", "priority": "P2"}], "agents": [AGENT]}
NOTED = {"id": "n", "text": "{seal_came}"}
AFTER = {
    "tasks": [
        {**TASK, "status": "DONE", "items": [{**ITEM, "checked": True}], "notes": [NOTED]},
        {"id": "u", "title": "Roof", "priority": "P1"},
    ],
    "agents": [{**AGENT, "report": {"tldr": "All is done."}, "journal": [{"text": "Noted."}]}],
}


def test_each_change_stands_with_what_it_is_of_and_no_path_or_id_is_told() -> None:
    found = groups(world_differences(BEFORE, AFTER), BEFORE, AFTER, "t")
    told = {
        name: [(one.what, [tuple(part) for part in one.parts], one.after) for one in changes]
        for name, changes in found
    }
    assert told == {
        "Its task": [
            ("Status", [("removed", "OPEN"), ("added", "DONE")], ""),
            ("Checklist", [("both", "Buy a seal")], "ticked"),
            ("Note", [("added", "{seal_came}")], ""),
        ],
        "The task “Roof”": [("Priority", [("removed", "P2"), ("added", "P1")], "")],
        "Its report": [
            (
                "In short",
                [("both", "All is "), ("removed", "well"), ("added", "done"), ("both", ".")],
                "",
            )
        ],
        "What it noted": [("Noted", [("added", "Noted.")], "")],
    }


# ----------------------------------------------------------------------------------------- settings


WAS = {"turns": "5", "loops": "The invoice\nThe seal", "preferences": "tone=brief\nunit=metre"}


def wanted(given: Mapping[str, str]) -> AgentSettings:
    was = {f"was.{name}": value for name, value in WAS.items()}
    return wanted_of(form_changes(FormRequest("/", form=was), {**WAS, **given}, WAS))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, AgentSettings()),
        ({"turns": "7"}, AgentSettings(turn_max=7)),
        (
            {"loops": "The seal\nA bill"},
            AgentSettings(open_loops=("A bill",), close_loops=("The invoice",)),
        ),
        ({"loops": ""}, AgentSettings(close_loops=("The invoice", "The seal"))),
        ({"preferences": "tone=long\nunit=metre"}, AgentSettings(preferences=(("tone", "long"),))),
        ({"preferences": "tone=brief"}, AgentSettings(preferences=(("unit", ""),))),
        (
            {"preferences": "tone=brief\nunit=metre\nwho=me"},
            AgentSettings(preferences=(("who", "me"),)),
        ),
    ],
)  # fmt: skip
def test_only_what_was_changed_is_asked_for(given: Mapping[str, str], meant: AgentSettings) -> None:
    assert wanted(given) == meant


@pytest.mark.parametrize("given", [{"turns": "many"}, {"turns": "-1"}, {"preferences": "brief"}])
def test_what_makes_no_sense_is_refused(given: Mapping[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        wanted(given)
    assert refused.value.code == "invalid_value"
