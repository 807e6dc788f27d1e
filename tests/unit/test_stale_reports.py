"""A report is stale where a change concerned its agent that it does not speak of: of a journal that
machines share, by what its wake saw of each of them (SPEC 3, ADR 75)."""

import pytest

from domain.agent.wake_queue import WAKE_QUEUE, Trigger, TriggerSuppressed, WakeQueue, is_news
from domain.log.state import RecordedEvent
from tests.support.services import START

SEEN = {"desk": 20, "laptop": 80}


def noticed(*changes: tuple[int, str, int], rule: str = "dormant") -> WakeQueue:
    """The attention at the desk after changes: their number here, whose they are, and there."""
    queue = WAKE_QUEUE.initial("a1")
    for position, of, n in changes:
        told = Trigger("subscription", "s1", "desk", position, str(position), of=of, of_n=n)
        fact = TriggerSuppressed(told, rule)  # type: ignore[arg-type]  # one of the rules
        queue = WAKE_QUEUE.evolve(
            queue, RecordedEvent("alert:a1@desk", 1, "desk", 1, 0, START, fact)
        )
    return queue


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        ((20, "", 0), False),  # the wake knew the desk up to there
        ((21, "", 0), True),  # later at the desk, though the laptop's numbers are higher
        ((90, "laptop", 80), False),  # it came with a late marker, and the wake had seen it
        ((90, "laptop", 81), True),
        ((21, "phone", 3), True),  # nobody had heard of the phone
    ],
)
def test_what_the_report_speaks_of_is_judged_by_the_numbers_of_who_wrote_it(
    change: tuple[int, str, int], is_stale: bool
) -> None:
    assert is_news(noticed(change), 90, SEEN) is is_stale


def test_the_newest_change_of_each_machine_counts() -> None:
    queue = noticed((5, "laptop", 81), (30, "laptop", 70), (31, "", 0), (19, "", 0))
    assert queue.changed_of == {"laptop": 81, "desk": 31}
    assert queue.changed == 31
    assert is_news(queue, 0, {"laptop": 81, "desk": 31}) is False


def test_alone_the_number_here_tells() -> None:
    assert [is_news(noticed((7, "", 0)), position) for position in (6, 7)] == [True, False]
    assert not is_news(noticed(), 0)


def test_what_does_not_concern_the_agent_makes_nothing_stale() -> None:
    assert not is_news(noticed((7, "", 0), rule="seen_elsewhere"), 0)
