"""Clocks: what a manual one reads, and which clock the environment asks for."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.home.clock import ManualClock, SystemClock, clock_from, rfc_3339
from adapters.usecases.inputs import first_instant
from adapters.usecases.time_travel import last_instant
from domain.errors import Refused
from domain.log.timestamps import instant, moment

START = "2027-01-01T07:00:00.000000Z"


def test_the_system_clock_reads_utc_to_the_microsecond() -> None:
    before, read, after = datetime.now(UTC), instant(SystemClock().now()), datetime.now(UTC)
    assert before <= read <= after


def test_a_manual_clock_steps_by_a_millisecond_or_as_it_is_told_and_can_be_let_pass() -> None:
    clock, slow = ManualClock(START), ManualClock(START, step_ms=60_000)
    assert [clock.now() for _ in range(2)] == [START, "2027-01-01T07:00:00.001000Z"]
    clock.advance(seconds=3600)
    assert clock.now() == "2027-01-01T08:00:00.002000Z"
    assert [slow.now() for _ in range(2)] == [START, "2027-01-01T07:01:00.000000Z"]


@pytest.mark.parametrize("environ", [{}, {"WAKELOG_NOW": ""}])
def test_without_the_variable_it_is_the_systems_clock(environ: dict[str, str]) -> None:
    assert isinstance(clock_from(environ, START), SystemClock)


@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("", START),
        ("2026-12-31T00:00:00.000000Z", START),
        ("2027-01-01T06:59:59.999000Z", START),
        (START, "2027-01-01T07:00:00.001000Z"),
        ("2027-06-01T00:00:00.000123Z", "2027-06-01T00:00:00.001123Z"),
    ],
)
def test_a_clock_set_by_hand_never_reads_a_time_that_a_row_has(last: str, first: str) -> None:
    clock = clock_from({"WAKELOG_NOW": "2027-01-01T08:00:00+01:00"}, last)
    assert clock.now() == first


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2027-01-01T07:00:00Z", START),
        ("2027-01-01t07:00:00z", START),
        ("2027-01-01 07:00:00-00:00", START),
        ("2026-12-31T19:00:00.5-12:00", "2027-01-01T07:00:00.500000Z"),
        ("2027-01-01T12:45:00.123456789+05:45", "2027-01-01T07:00:00.123456Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"),
    ],
)
def test_every_offset_is_read(given: str, stored: str) -> None:
    assert rfc_3339(given) == stored
    assert moment(instant(stored)) == stored


NONE = """
now|2027-01-01|2027-01-01T07:00:00|2027-01-01T07:00Z|2027-W01-1T07:00:00Z|2027-02-29T07:00:00Z
2027-01-01T24:00:01Z|2027-01-01T07:00:60Z|2027-01-01T07:00:00+0100|2027-01-01T07:00:00+24:00
٢٠٢٧-01-01T07:00:00Z|0001-01-01T00:00:00+14:00|9999-12-31T23:59:59-14:00|1969-12-31T23:59:59Z
1798761600
"""


@pytest.mark.parametrize(
    "given", [*NONE.strip().replace("\n", "|").split("|"), "2027-01-01T07:00:00Z\n"]
)
def test_what_is_no_time_is_refused(given: str) -> None:
    with pytest.raises(Refused, match=r"WAKELOG_NOW is .* as in 2027-01-01T07:00:00Z") as refused:
        clock_from({"WAKELOG_NOW": given})
    assert refused.value.code == "invalid_value"
    assert "\n" not in str(refused.value)


class Sources:
    """A machine's clock that can be set, and seconds that cannot."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.moved = 0.0

    def clock(self, last: str = "") -> SystemClock:
        return SystemClock(last, wall=self.wall, steady=lambda: self.passed)

    def wall(self) -> datetime:
        return instant(START) + timedelta(seconds=self.passed + self.moved)


def after(seconds: float) -> str:
    return moment(instant(START) + timedelta(seconds=seconds))


def test_a_clock_that_is_set_back_goes_on_at_its_own_pace_until_the_machine_has_caught_up() -> None:
    at = Sources()
    clock = at.clock()
    assert clock.now() == START
    at.passed, at.moved = 10, -3600
    assert clock.now() == START  # the last reading was then
    at.passed = 70
    assert (clock.now(), clock.seconds_behind) == (after(60), 3590)
    at.moved = 5  # it is set right again
    assert (clock.now(), clock.seconds_behind) == (after(75), 0)
    at.passed = 80
    assert clock.now() == after(85)


def test_a_clock_begins_no_earlier_than_the_log_ends() -> None:
    at = Sources()
    clock = at.clock(after(7200))
    assert clock.now() == after(7200)
    at.passed = 30
    assert clock.now() == after(7230)
    clock.not_before(after(9000))
    assert clock.now() == after(9000)
    clock.not_before(after(8000))
    at.passed = 9_100
    assert clock.now() == after(18_070)  # by itself, far ahead of the machine
    at.moved = 20_000
    assert (clock.now(), clock.seconds_behind) == (after(29_100), 0)


def test_what_a_clock_is_set_right_by_now_and_then_is_not_kept() -> None:
    at = Sources()
    clock = at.clock()
    for nth in range(1, 50):
        at.passed, at.moved = nth, -0.5 * (nth % 2)
        assert clock.now() <= after(nth)
    assert clock.seconds_behind == 0


@pytest.mark.parametrize(
    ("wall", "zone", "first", "last"),
    [
        ("2027-10-31 02:30", "Europe/Berlin", "2027-10-31T00:30", "2027-10-31T01:30"),
        ("2027-04-04 01:45", "Australia/Lord_Howe", "2027-04-03T14:45", "2027-04-03T15:15"),
        ("2027-06-01 02:30", "Europe/Berlin", "2027-06-01T00:30", "2027-06-01T00:30"),
    ],
)
def test_of_a_time_that_comes_twice_one_enters_the_first_and_looks_back_to_the_end_of_the_last(
    wall: str, zone: str, first: str, last: str
) -> None:
    assert first_instant(wall, zone, lambda: START) == f"{first}:00.000000Z"
    assert last_instant(wall, zone) == f"{last}:59.999999Z"
