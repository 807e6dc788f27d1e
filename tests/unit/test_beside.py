"""Rows that were made anew stand beside those they were, whatever the order of their ids is now."""

from adapters.proof.redact import matched_rows
from domain.agent.wake_queue import WakeBegun
from domain.log.state import RecordedEvent


def row(stream: str, run_key: str) -> RecordedEvent:
    return RecordedEvent(f"{stream}@r1", 1, "r1", 1, 0, "", WakeBegun(run_key))


def test_rows_of_agents_that_come_in_another_order_are_told_apart() -> None:
    was = [row("alert:a", "1"), row("alert:b", "2"), row("alert:b", "3"), row("alert:c", "4")]
    made = [row("alert:x", "30"), row("alert:x", "31"), row("alert:y", "20"), row("alert:z", "40")]
    there = matched_rows(was, made, {"a": "y", "b": "x"})
    assert [one.entity for one in there] == ["y", "x", "x", "z"]
    assert [one.fact for one in there] == [WakeBegun(key) for key in ("20", "30", "31", "40")]


def test_rows_of_streams_that_nobody_knows_stay_in_their_order() -> None:
    made = [row("alert:x", "1"), row("alert:y", "2"), row("wake:z", "3")]
    was = [row("alert:a", "1"), row("wake:c", "3"), row("alert:b", "2")]
    assert matched_rows(was, made, {}) == [made[0], made[2], made[1]]
