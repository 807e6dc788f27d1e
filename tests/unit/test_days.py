"""Days as people write them: in options, in forms, and where they look back."""

from datetime import UTC, datetime

import pytest

from adapters.usecases.inputs import minutes, spelled_out
from domain.errors import Refused

WEDNESDAY = datetime(2026, 12, 9, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "ahead", "back"),
    [
        ("today", "2026-12-09", "2026-12-09"),
        ("Tomorrow", "2026-12-10", "2026-12-10"),
        ("yesterday 8:00", "2026-12-08 08:00", "2026-12-08 08:00"),
        ("+3d", "2026-12-12", "2026-12-12"),
        ("+2w", "2026-12-23", "2026-12-23"),
        ("12.12.2026", "2026-12-12", "2026-12-12"),
        ("3.4.2027 07:00", "2027-04-03 07:00", "2027-04-03 07:00"),
        ("friday", "2026-12-11", "2026-12-04"),
        ("MONDAY  14:00", "2026-12-14 14:00", "2026-12-07 14:00"),
        ("wednesday", "2026-12-16", "2026-12-02"),
        ("wednesday 14:00", "2026-12-16 14:00", "2026-12-09 14:00"),
        ("wednesday 15:00", "2026-12-09 15:00", "2026-12-02 15:00"),
        ("fri", "2026-12-11", "fri"),
        ("9:05", "2026-12-09 09:05", "2026-12-09 09:05"),
        ("2026-12-24", "2026-12-24", "2026-12-24"),
        ("2027-01-01T07:00:00Z", "2027-01-01T07:00:00Z", "2027-01-01T07:00:00Z"),
        ("morgen", "2026-12-10", "2026-12-10"),
        ("Übermorgen 7:30", "2026-12-11 07:30", "2026-12-11 07:30"),
        ("Freitag", "2026-12-11", "2026-12-04"),
        ("monday morning", "monday morning", "monday morning"),
        ("journal:r1:4", "journal:r1:4", "journal:r1:4"),
    ],
)
def test_a_day_is_spelled_out(given: str, ahead: str, back: str) -> None:
    assert spelled_out(given, lambda: WEDNESDAY) == ahead
    assert spelled_out(given, lambda: WEDNESDAY, is_back=True) == back


@pytest.mark.parametrize("given", ["12/10/2026", "10/12", "2026/12/10", "31.2.2027", "+9999999d"])
def test_a_day_that_may_be_another_or_is_none_is_refused_or_left(given: str) -> None:
    if given == "+9999999d":  # no such day is meant by anybody
        assert spelled_out(given, lambda: WEDNESDAY) == given
        return
    with pytest.raises(Refused) as refused:
        spelled_out(given, lambda: WEDNESDAY)
    assert repr(given) in refused.value.because
    assert "31.1.2027" in refused.value.instead


@pytest.mark.parametrize(
    ("given", "wanted"), [("30m", 30), ("1h30", 90), ("1 h 5", 65), ("1h30m", 90), ("2H", 120)]
)
def test_a_duration_is_minutes(given: str, wanted: int) -> None:
    assert minutes(given) == wanted


@pytest.mark.parametrize("given", ["1.5", "1h300", "m", "1d30", "h30"])
def test_what_is_no_duration_is_refused(given: str) -> None:
    with pytest.raises(Refused):
        minutes(given)
