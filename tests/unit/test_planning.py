"""A day planned by rules: who gets a block, where, how long, and what is told of it."""

from typing import Any

import pytest

from adapters.models.offline.wording import texts_in
from domain.ports import CallResult, Exchange
from tests.support.planning import ask_day, planned
from tests.support.rules import calls

EN = texts_in("en")

LUNCH = {"id": "ab", "start": "12:00", "end": "13:00", "by": "person", "title": "Lunch"}
REPORT = {"id": "t1", "title": "Write the report", "due": "2026-11-24", "estimate": 180}
TAP = {"id": "t2", "title": "Fix the tap", "due": "2026-11-25", "estimate": 90}
FENCE = {"id": "t3", "title": "Paint", "due": "2026-11-27", "estimate": 240}
ANN = {"id": "t4", "title": "Call Ann", "priority": "P1"}


def day(*tasks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"date": "2026-11-24", "now": "08:10", "blocks": [LUNCH], "tasks": tasks} | fields


def plan(*tasks: dict[str, Any], **fields: Any) -> list[str]:
    """What is proposed: "t1 09:00-11:00"."""
    told = planned(ask_day(day(*tasks, **fields)))
    return [f"{one['taskId']} {one['start']}-{one['end']}" for one in told]


def task(name: str, estimate: int = 60, **fields: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Task {name}", "estimate": estimate} | fields


def reported(told: dict[str, Any], **rest: Any) -> str:
    return str(calls(ask_day(told, **rest))["update_report"]["content"])


def test_a_plan_goes_around_what_is_fixed_and_fills_four_fifths() -> None:
    wanted = ["t1 09:00-11:00", "t2 13:00-14:30", "t3 14:30-16:30"]
    assert plan(ANN, FENCE, TAP, REPORT) == wanted


@pytest.mark.parametrize(
    ("task_", "wanted"),
    [
        (task("a"), "a 09:00-10:00"),
        (task("a", 50), "a 09:00-10:00"),
        (task("a", 300), "a 09:00-11:00"),
        (task("a", 0), "a 09:00-09:30"),
        (task("a", 60, spent=90), "a 09:00-09:15"),
        (task("a", 300, spent=240), "a 09:00-10:00"),
        (task("a", 120, planned=45), "a 09:00-10:15"),
        (task("a", 60, planned=60), None),
    ],
)
def test_a_block_is_as_long_as_its_task_needs(task_: dict[str, Any], wanted: str | None) -> None:
    assert plan(task_) == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"now": "13:01"}, "13:15-14:15"),
        ({"now": "16:20"}, None),  # four fifths of what is left are less than half an hour
        ({"pauses": [["09:00", "10:05"]]}, "10:15-11:15"),
        ({"hours": ["11:30", "13:45"]}, "11:30-12:00"),  # no gap takes it whole
        ({"hours": ["11:30", "14:30"]}, "13:00-14:00"),
        ({"hours": ["18:00", "24:00"]}, "18:00-19:00"),
        ({"hours": ["17:00", "09:00"]}, None),
        ({"declined": ["a"]}, None),
        ({"blocks": [LUNCH | {"start": "09:20", "end": "24:00"}]}, None),
        ({"blocks": [LUNCH | {"start": "09:50", "end": "10:10"}], "hours": ["09:00", "11:00"]},
         "09:00-09:45"),
    ],
)  # fmt: skip
def test_a_block_stands_where_there_is_room(fields: dict[str, Any], wanted: str | None) -> None:
    assert plan(task("a"), **fields) == ([f"a {wanted}"] if wanted else [])


def test_no_more_are_proposed_than_one_call_takes() -> None:
    assert len(plan(*(task(f"{n:02}", 15) for n in range(30)))) == 20


def test_the_most_pressing_come_first() -> None:
    hurried = [
        task("h"),
        task("g", priority="P3"),
        task("f", priority="P1"),
        task("e", priority="P1", status="IN PROGRESS"),
        task("d", due="2026-12-01"),
        task("c", due="2026-11-25", priority="P0"),
        task("b", due="2026-11-20"),
        task("a", pinned=True),
    ]
    told = plan(*hurried, hours=["13:00", "24:00"], now="13:00")
    assert [one[0] for one in told] == list("abcdefgh")


def test_blocks_of_tasks_that_stand_count_as_filled() -> None:
    kept = {"id": "k", "start": "09:00", "end": "11:00", "by": "person", "task": "t9"}
    told = plan(TAP, task("a"), hours=["09:00", "15:00"], blocks=[LUNCH, kept])
    assert told == ["a 11:00-11:30", "t2 13:00-14:30"]


WAITING = "## Open\n\n- fp=p1 Block on 2026-11-24 09:00-11:00: task t1"


def test_what_waits_is_replaced_taken_back_or_left() -> None:
    lines = [
        WAITING,
        "- fp=p2 Block on 2026-11-24 11:00-12:00: task t2",
        "- fp=p3 Block on 2026-11-24 16:00-16:30: task x9",
        "- fp=p4 Block on 2026-11-24 16:30-17:00: task x8 [deferred]",
        "- fp=p5 Block on 2026-11-25 09:00-10:00: task x7",
    ]
    told = ask_day(day(REPORT, TAP), told="\n".join(lines))
    assert planned(told) == [{"taskId": "t2", "start": "13:00", "end": "14:30"}]
    back = calls(told)["retract_suggestions"]["proposals"]
    assert back == [{"fingerprint": "p3", "reason": "It does not fit into the day any more."}]


TOLD = """\
**Plan for Tue 2026-11-24: 4 h free, 3 h planned.**

- 09:00-09:15 Paint (wanted for this day; due 2026-11-27, in 3 days; IN PROGRESS)
- 09:15-11:15 Write the report (due 2026-11-24, today; 3 h left)
- 11:15-12:00 Fix the tap (due 2026-11-25, tomorrow; 1 h 30 min left)

## Does not fit

- Call Ann, 30 min (P1)
- … and 12 more

## Not proposed again, as you declined it for this day

- Task x

## Over the estimate

- Paint: 5 h spent of 4 h

## Without an estimate, planned with 30 min

- Call Ann

## Planned and spent on Mon 2026-11-23

- Write the report: 1 h planned, 0 min spent
- Sweep: 0 min planned, 1 h 40 min spent
- Together: 1 h planned, 1 h 40 min spent

""" + EN["d.by"]


def test_the_report_says_what_and_why_and_what_does_not_fit() -> None:
    before = {
        "date": "2026-11-23",
        "blocks": [LUNCH, {"start": "09:00", "end": "10:00", "task": "t1"}],
        "spent": [{"id": "t7", "title": "Sweep", "minutes": 100}],
    }
    late = FENCE | {"spent": 300, "status": "IN PROGRESS", "pinned": True}
    many = day(
        *(ANN, late, TAP, REPORT, task("x")),
        declined=["x"],
        before=before,
        moreTasks=12,
        hours=["09:00", "14:00"],
    )
    assert reported(many) == TOLD
    german = reported(many, language="de")
    assert "**Plan für Di 2026-11-24:" in german
    assert "(fällig 2026-11-24, heute; noch 3 h)" in german


def test_a_plan_that_was_told_is_not_told_again_unasked() -> None:
    report = {"report": f"TL;DR: {calls(ask_day(day(REPORT)))['update_report']['tldr']}"}
    told = ask_day(day(REPORT), told=WAITING, sections=report)
    assert (told.text, told.calls) == ("Plan for Tue 2026-11-24: 7 h free, 2 h planned.", ())
    assert list(
        calls(ask_day(day(REPORT), told=WAITING, sections=report | {"words": "Plan it."}))
    ) == ["update_report"]


def test_later_turns_close_in_a_sentence_unless_a_report_is_asked_for() -> None:
    turns = (Exchange(b"{}", (CallResult("c1", "propose_blocks", "Queued for review"),)),)
    told = ask_day(day(REPORT), exchanges=turns)
    assert (told.text, told.calls) == ("Plan for Tue 2026-11-24: 7 h free, 2 h planned.", ())
    assert list(calls(ask_day(day(REPORT), exchanges=turns, forced="update_report"))) == [
        "update_report"
    ]


@pytest.mark.parametrize(
    "told",
    [
        "",
        "{",
        "[]",
        {},
        {"date": "tomorrow"},
        day(hours=["9", "17:00"]),
        day({"id": "a"}),
        day(now="25:00"),
        day(blocks=[{"id": "a", "start": "10:00"}]),
        day(before={"date": "2026-11-23", "blocks": [{"start": "x", "end": "10:00", "task": "a"}]}),
    ],
)
def test_a_day_that_cannot_be_read_is_said_to_be_so(told: object) -> None:
    given = calls(ask_day(told, told=WAITING))
    assert list(given) == ["update_report"]
    assert given["update_report"]["tldr"] == "The day could not be read, so nothing is proposed."
