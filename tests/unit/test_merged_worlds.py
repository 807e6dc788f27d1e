"""What is decided on a world in which two machines did what neither may do alone (ADR 71)."""

from typing import Any

import pytest

from domain.errors import Damaged
from domain.handlers.journal import delete_task, link_task, start_timer, stop_timer
from domain.journal import task as t
from domain.journal import timer as ti
from domain.journal.commands import DeleteTask, LinkTask, StartTimer, StopTimer
from domain.log.state import LogState
from tests.support.services import START
from tests.support.sides import Sides

TIMER, LATER = "timer:main", "2027-03-01T00:00:00.000000Z"


def world() -> LogState:
    sides = Sides()
    for replica in "desk", "phone":
        task = f"task:{replica}"
        sides.says(replica, t.TaskCreated("person", replica, "c1"), of=task)
        sides.says(replica, t.TimeStarted("person", f"e-{replica}", START), of=task)
        sides.says(replica, ti.TimerStarted(replica, f"e-{replica}"), of=TIMER)
    sides.says("desk", t.TaskLinked("person", "blocks", "phone"), of="task:desk")
    sides.says("phone", t.TaskLinked("person", "blocks", "desk"), of="task:phone")
    sides.says("desk", t.TaskCreated("person", "third", "c1"), of="task:third")
    return LogState(
        "journal",
        "desk",
        9,
        lambda stream, after: [row for row in sides.rows if row.stream == stream][after:],
        lambda _: None,
        replicas=("phone",),
    )


def test_a_world_that_cannot_list_its_streams_says_so() -> None:
    with pytest.raises(Damaged, match="the streams of journal cannot be listed here"):
        world().entities("task")


def stopped(events: Any) -> list[str]:
    return [fact.entry for _, fact in events if isinstance(fact, t.TimeStopped | ti.TimerStopped)]


def test_who_stops_the_timer_stops_all_that_run_and_no_time_is_cut_before() -> None:
    events = stop_timer(StopTimer("done"), "k", LATER, world()).events
    assert stopped(events) == ["e-desk", "e-desk", "e-phone", "e-phone"]
    ends = {fact.end for _, fact in events if isinstance(fact, t.TimeStopped)}
    assert ends == {LATER}


def test_who_starts_a_timer_stops_all_that_run() -> None:
    events = start_timer(StartTimer("desk"), "k", LATER, world()).events
    assert stopped(events) == ["e-desk", "e-desk", "e-phone", "e-phone"]


def test_who_deletes_a_task_stops_its_own_timer_only() -> None:
    events = delete_task(DeleteTask("desk"), "k", LATER, world()).events
    assert stopped(events) == ["e-desk", "e-desk"]


def test_a_search_through_a_circle_of_links_ends() -> None:
    """Both block each other, which no decider allows; a third task may still block one of them."""
    linked = link_task(LinkTask("third", "blocks", "desk"), "k", LATER, world()).events
    assert [type(fact).__name__ for _, fact in linked] == ["TaskLinked", "LinkedFrom"]
    for phrase in "blocks", "is_blocked_by":
        assert link_task(LinkTask("desk", phrase, "phone"), "k", LATER, world()).events == []
    further = link_task(LinkTask("desk", "blocks", "third"), "k", LATER, world()).events
    assert len(further) == 2
