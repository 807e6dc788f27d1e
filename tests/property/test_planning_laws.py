"""Whatever a day holds, its plan stays within what is free, and planning it anew adds nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.planning import Planned, ask_day, planned, problems
from tests.support.rules import calls


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


@st.composite
def spans(draw: st.DrawFn, least: int = 0) -> tuple[str, str]:
    start = draw(st.integers(0, 1_440 - least))
    return clock(start), clock(min(1_440, start + draw(st.integers(least, 600))))


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    """Days of each kind; a task's title is its id, by which its proposals are known."""
    minutes = st.integers(0, 400)
    tasks = [
        {"id": f"t{n}", "title": f"t{n}", "pinned": draw(st.booleans())}
        | {name: draw(minutes) for name in ("estimate", "spent", "planned")}
        | draw(st.sampled_from([{}, {"due": "2026-11-24"}, {"due": "2026-11-30"}]))
        | draw(st.sampled_from([{}, {"priority": "P0"}, {"priority": "P3"}]))
        for n in range(draw(st.integers(0, 30)))
    ]
    taken = draw(st.lists(spans(5), max_size=6))
    owners = st.sampled_from([{"title": "busy"}, {"task": "t1"}])
    day = {
        "date": "2026-11-24",
        "hours": draw(st.one_of(st.just(("09:00", "17:00")), spans())),
        "pauses": draw(st.lists(spans(), max_size=2)),
        "blocks": [{"id": "b", "start": one[0], "end": one[1]} | draw(owners) for one in taken],
        "tasks": tasks,
        "declined": draw(st.lists(st.sampled_from(["t0", "t3", "t9"]), unique=True)),
    }
    return day | draw(st.sampled_from([{}, {"now": "10:01"}, {"now": "16:40"}]))


@given(day=days())
@pytest.mark.slow
def test_a_plan_stays_within_what_is_free_and_wanted(day: dict[str, Any]) -> None:
    told = ask_day(day)
    assert problems(day, planned(told)) == set()
    assert ask_day(day).raw == told.raw


@given(day=days())
@pytest.mark.slow
def test_what_waits_as_it_would_be_proposed_again_is_left_alone(day: dict[str, Any]) -> None:
    first = ask_day(day)
    lines = [
        f"- fp={task} Block on 2026-11-24 {one['start']}-{one['end']}: task {task}"
        for one in planned(first)
        for task in [one["taskId"]]
    ]
    report = f"TL;DR: {calls(first)['update_report']['tldr']}"
    assert ask_day(day, told="\n".join(lines), sections={"report": report}).calls == ()


DAY: dict[str, Any] = {
    "date": "2026-11-24",
    "now": "09:50",
    "hours": ["09:00", "13:00"],
    "pauses": [["12:00", "12:30"]],
    "blocks": [{"id": "b", "start": "11:00", "end": "11:30", "title": "busy"}],
    "tasks": [{"id": one, "title": one} for one in "abc"],
    "declined": ["c"],
}


@pytest.mark.parametrize(
    ("planted", "wrong"),
    [
        ("a 10:00-11:00", set()),
        ("a 09:45-10:45", {"not free"}),
        ("a 12:45-13:15", {"not free"}),
        ("a 11:15-11:45", {"not free"}),
        ("a 11:45-12:15", {"not free"}),
        ("a 10:00-10:40", {"no such length"}),
        ("a 10:00-10:30, a 10:30-11:00", {"twice"}),
        ("a 10:00-10:30, b 10:15-10:45", {"over itself"}),
        ("a 10:00-11:00, b 11:30-12:00, d 12:30-12:45", {"too full", "unknown"}),
        ("c 10:00-10:30", {"declined"}),
    ],
)
def test_the_checker_sees_a_planted_fault(planted: str, wrong: set[str]) -> None:
    words = [one.split() for one in planted.split(", ")]
    blocks: Planned = [{"taskId": task, "start": span[:5], "end": span[6:]} for task, span in words]
    assert problems(DAY, blocks) == wrong
