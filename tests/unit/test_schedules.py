"""Days and schedules as people write them, and the instants they mean around clock changes."""

from datetime import UTC, datetime

import pytest

from adapters.home.schedules import (
    next_after,
    next_local,
    parse,
    parse_in,
    ticks_between,
)
from adapters.home.zones import zone_named
from adapters.usecases.inputs import minutes, spelled_out
from domain.errors import Refused

# ------------------------------------------------------------------------- days and lengths of time


WEDNESDAY = datetime(2026, 12, 9, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "ahead", "back"),
    [
        ("today", "2026-12-09", "2026-12-09"),
        ("Tomorrow", "2026-12-10", "2026-12-10"),
        ("yesterday 8:00", "2026-12-08 08:00", "2026-12-08 08:00"),
        ("+3d", "2026-12-12", "2026-12-12"),
        ("+2w", "2026-12-23", "2026-12-23"),
        ("3 days 9:00", "2026-12-12 09:00", "2026-12-12 09:00"),
        ("2 weeks", "2026-12-23", "2026-12-23"),
        ("3mo", "2027-03-09", "2027-03-09"),
        ("+1 year", "2027-12-09", "2027-12-09"),
        ("eoq", "2026-12-31", "2026-12-31"),
        ("eoy 18:00", "2026-12-31 18:00", "2026-12-31 18:00"),
        ("next month", "2027-01-01", "2027-01-01"),
        ("next week", "2026-12-14", "2026-12-14"),
        ("9th", "2026-12-09", "2026-12-09"),
        ("31st", "2026-12-31", "2026-10-31"),
        ("32nd", "32nd", "32nd"),
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


def test_a_month_on_from_its_last_day_is_the_last_day_of_a_shorter_one() -> None:
    last, leap = datetime(2027, 1, 31, tzinfo=UTC), datetime(2028, 2, 29, tzinfo=UTC)
    assert spelled_out("1mo", lambda: last) == "2027-02-28"
    assert spelled_out("1y", lambda: leap) == "2029-02-28"
    assert spelled_out("30th", lambda: last) == "2027-03-30"


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


# ---------------------------------------------------------------------------------------- schedules


BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"
LORD_HOWE, APIA = "Australia/Lord_Howe", "Pacific/Apia"  # half an hour; a day that was skipped


def full(short: str) -> str:
    """``2027-01-01 07:00`` as it is stored."""
    return f"{short[:10]}T{short[11:]}:00.000000Z" if short else ""


def after(text: str, zone: str, at: str, count: int) -> list[str]:
    """The first ticks after a time, short."""
    found = []
    for _ in range(count):
        at = next_after(parse(text), zone, full(at))
        at = at and f"{at[:10]} {at[11:16]}"
        found.append(at)
    return found


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("every day 07:00", "every day 07:00"),
        ("  EVERY\tday  7:00 ", "every day 07:00"),
        ("every weekday 23:59", "every weekday 23:59"),
        ("Every Monday 9:30", "every monday 09:30"),
        ("every sunday 00:00", "every sunday 00:00"),
        ("every HOUR", "every hour"),
        ("cron 0  7 * * 1-5", "cron 0 7 * * 1-5"),
        ("CRON 0 7 * JAN MON-FRI", "cron 0 7 * jan mon-fri"),
        ("cron */5 0-23/2 1,15 * 0,7", "cron */5 0-23/2 1,15 * 0,7"),
        ("once 2027-01-01 7:00", "once 2027-01-01 07:00"),
    ],
)
def test_a_schedule_has_one_normal_form(given: str, normal: str) -> None:
    assert parse(given).text == normal
    assert parse(normal) == parse(given)


NONE = """
every|every day|every day 24:00|every day 7|every day 07:60|every day \u0660\u0667:\u0660\u0660
every fortnight 07:00|every hour 07:00|every day 07:00 Europe/Berlin|cron|cron 0 7 * *
cron 60 7 * * *|cron 0 7 30 2 *|cron a b c d e|cron @daily|once 2027-02-29 07:00|once 2027-01-01
"""


@pytest.mark.parametrize(
    "given", ["", *NONE.strip().replace("\n", "|").split("|"), "cron " + "1," * 100 + "1 * * * *"]
)
def test_what_is_no_schedule_is_refused_in_one_line(given: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(given)
    assert refused.value.code == "invalid_value"
    assert "\n" not in str(refused.value)


def test_a_bad_cron_line_says_where() -> None:
    with pytest.raises(Refused, match=r"'0 25 \* \* \*' is no cron line \(bad hour\)"):
        parse("cron 0 25 * * *")


@pytest.mark.parametrize(
    ("given", "text", "zone"),
    [
        ("every day 07:00 Europe/Berlin", "every day 07:00", BERLIN),
        ("every day 07:00", "every day 07:00", "Asia/Tokyo"),
        ("every hour Pacific/Apia", "every hour", APIA),
        ("cron 0 7 * * */2", "cron 0 7 * * */2", "Asia/Tokyo"),
        ("cron 0 7 * * 1-5 UTC", "cron 0 7 * * 1-5", "UTC"),
        ("once 2027-01-01 07:00 America/New_York", "once 2027-01-01 07:00", NEW_YORK),
    ],
)
def test_a_zone_may_stand_behind_a_schedule(given: str, text: str, zone: str) -> None:
    schedule, found = parse_in(given, "Asia/Tokyo")
    assert (schedule.text, found) == (text, zone)


@pytest.mark.parametrize(
    ("given", "because"),
    [
        ("every day 07:00 Berlin", "'Berlin' is no time zone; did you mean Europe/Berlin"),
        ("every day 07:00 Europe/Berlin please", "'Europe/Berlin please' after 'every day 07:00'"),
        ("soon", "'soon' is no schedule; write every hour"),
        ("", "'' is no schedule"),
    ],
)
def test_what_stands_behind_it_must_be_a_zone(given: str, because: str) -> None:
    with pytest.raises(Refused, match=because):
        parse_in(given, "UTC")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Europe/Berln", "Europe/Berlin"),
        ("new_york", "America/New_York"),
        ("localtime", "use an IANA name"),
        ("../etc/passwd", "use an IANA name"),
        ("Europe", "IANA|mean"),
        ("", "use an IANA name"),
        ("\0", "use an IANA name"),
        ("x" * 5000, "use an IANA name"),
    ],
)
def test_a_zone_that_is_none_is_refused(name: str, near: str) -> None:
    with pytest.raises(Refused, match=near):
        zone_named(name)


@pytest.mark.parametrize(
    ("text", "zone", "at", "ticks"),
    [
        ("every day 07:00", "UTC", "2027-01-01 07:00", ["2027-01-02 07:00", "2027-01-03 07:00"]),
        ("every day 07:00", BERLIN, "2027-01-01 00:00", ["2027-01-01 06:00", "2027-01-02 06:00"]),
        ("every weekday 07:00", "UTC", "2027-01-01 08:00", ["2027-01-04 07:00"]),
        ("every monday 09:30", NEW_YORK, "2027-01-01 00:00", ["2027-01-04 14:30"]),
        ("every sunday 00:00", "UTC", "2027-01-01 00:00", ["2027-01-03 00:00", "2027-01-10 00:00"]),
        ("every hour", "Asia/Kathmandu", "2027-01-01 00:00", ["2027-01-01 00:15"]),
        ("cron 0 7 13 * 5", "UTC", "2027-01-01 08:00", ["2027-01-08 07:00", "2027-01-13 07:00"]),
        ("cron 0 0 29 2 *", "UTC", "2027-01-01 00:00", ["2028-02-29 00:00", "2032-02-29 00:00"]),
        ("cron 0 12 l * *", "UTC", "2027-01-31 12:00", ["2027-02-28 12:00", "2027-03-31 12:00"]),
        ("once 2027-01-01 07:00", BERLIN, "2027-01-01 05:59", ["2027-01-01 06:00", ""]),
        ("once 2027-01-01 07:00", BERLIN, "2027-01-01 06:00", [""]),
        # what a clock skips fires when it goes on
        # the clock goes from 02:00 to 03:00, at 01:00 UTC
        ("every day 02:30", BERLIN, "2027-03-27 12:00", ["2027-03-28 01:00", "2027-03-29 00:30"]),
        ("once 2027-03-28 02:15", BERLIN, "2027-03-27 12:00", ["2027-03-28 01:00"]),
        ("cron */20 2 * * *", BERLIN, "2027-03-27 12:00", ["2027-03-28 01:00", "2027-03-29 00:00"]),
        ("every hour", BERLIN, "2027-03-28 00:00", ["2027-03-28 01:00", "2027-03-28 02:00"]),
        # from 02:00 to 02:30, at 15:30 UTC of the day before
        ("every day 02:10", LORD_HOWE, "2027-10-02 00:00", ["2027-10-02 15:30"]),
        ("every hour", LORD_HOWE, "2027-10-02 14:30", ["2027-10-02 15:30", "2027-10-02 16:00"]),
        # 2011-12-30 did not happen: midnight of the 31st came at 10:00 UTC of the 30th
        ("every day 07:00", APIA, "2011-12-29 00:00", ["2011-12-29 17:00", "2011-12-30 10:00"]),
        ("every friday 07:00", APIA, "2011-12-29 00:00", ["2011-12-30 10:00", "2012-01-05 17:00"]),
        ("once 2011-12-30 12:00", APIA, "2011-12-29 00:00", ["2011-12-30 10:00"]),
        ("every hour", APIA, "2011-12-30 09:00", ["2011-12-30 10:00", "2011-12-30 11:00"]),
        # what a clock shows twice fires the first time
        # the clock goes from 03:00 back to 02:00, at 01:00 UTC
        ("every day 02:30", BERLIN, "2027-10-30 12:00", ["2027-10-31 00:30", "2027-11-01 01:30"]),
        ("once 2027-10-31 02:30", BERLIN, "2027-10-30 12:00", ["2027-10-31 00:30"]),
        ("cron */30 2 * * *", BERLIN, "2027-10-31 00:00", ["2027-10-31 00:30", "2027-11-01 01:00"]),
        # from 02:00 back to 01:30, at 15:00 UTC of the day before
        ("every day 01:45", LORD_HOWE, "2027-04-03 00:00", ["2027-04-03 14:45"]),
        # what fires every hour fires in both of them
        ("every hour", BERLIN, "2027-10-30 23:30", ["2027-10-31 00:00", "2027-10-31 01:00"]),
        ("every hour", BERLIN, "2027-10-31 01:30", ["2027-10-31 02:00", "2027-10-31 03:00"]),
        ("cron 45 * * * *", BERLIN, "2027-10-31 00:50", ["2027-10-31 01:45", "2027-10-31 02:45"]),
        ("every hour", LORD_HOWE, "2027-04-03 14:00", ["2027-04-03 15:30", "2027-04-03 16:30"]),
        ("cron 45 * * * *", LORD_HOWE, "2027-04-03 14:45", ["2027-04-03 15:15"]),
    ],
)
def test_the_next_ticks_are_those_that_a_clock_on_the_wall_shows(
    text: str, zone: str, at: str, ticks: list[str]
) -> None:
    assert after(text, zone, at, len(ticks)) == ticks


WINTER, SUMMER = ["2027-03-26 06:00", "2027-03-27 06:00"], ["2027-03-28 05:00", "2027-03-29 05:00"]
ONCE = "once 2027-01-01 07:00"


@pytest.mark.parametrize(
    ("text", "first", "now", "ticks", "following"),
    [
        ("every day 07:00", WINTER[0], SUMMER[-1], WINTER + SUMMER, "2027-03-30 05:00"),
        ("every hour", WINTER[0], "2027-03-26 05:59", [], WINTER[0]),
        (ONCE, "2027-01-01 06:00", "2027-02-01 00:00", ["2027-01-01 06:00"], ""),
        (ONCE, "", "2027-02-01 00:00", [], ""),
        # it was promised before the zone changed its rules
        ("every day 07:00", "2027-01-01 05:00", "2027-01-01 05:30", ["2027-01-01 05:00"],
         "2027-01-01 06:00"),
    ],
    ids=["a downtime", "before the first", "a single one", "none any more", "promised"],
)  # fmt: skip
def test_ticks_until_now_and_the_next_one(
    text: str, first: str, now: str, ticks: list[str], following: str
) -> None:
    found = ticks_between(parse(text), BERLIN, full(first), full(now))
    assert found == (tuple(map(full, ticks)), full(following))


@pytest.mark.parametrize(
    ("text", "now", "last", "next_at"),
    [
        ("cron * * * * *", "2033-01-01 00:00", "2033-01-01 00:00", "2033-01-01 00:01"),
        ("cron * * * * *", "9000-01-01 00:00", "9000-01-01 00:00", "9000-01-01 00:01"),
        ("every day 07:00", "2032-12-31 23:00", "2032-12-31 07:00", "2033-01-01 07:00"),
        ("cron 0 0 1 1 *", "8999-12-31 00:00", "8999-01-01 00:00", "9000-01-01 00:00"),
    ],
)
def test_of_too_many_ticks_the_first_and_the_newest_are_named(
    text: str, now: str, last: str, next_at: str
) -> None:
    first = full("2027-01-01 00:00")
    ticks, following = ticks_between(parse(text), "UTC", first, full(now), 50)
    assert len(ticks) == 50
    assert (ticks[0], ticks[-1], following) == (first, full(last), full(next_at))
    assert list(ticks) == sorted(set(ticks))


def test_at_the_end_of_time_nothing_comes_any_more() -> None:
    assert not next_after(parse("every day 07:00"), BERLIN, full("9999-12-31 23:00"))
    assert not next_after(parse("every hour"), APIA, full("9999-12-31 23:59"))


def test_the_time_of_day_for_linked_changes() -> None:
    assert next_local("06:00", BERLIN, full("2027-03-27 05:00")) == full("2027-03-28 04:00")
    assert next_local("06:00", NEW_YORK, full("2027-03-27 10:00")) == full("2027-03-28 10:00")
