"""`wakelog day`: a day by hand at the command line, on two machines, in zones, as a calendar."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from adapters.text.ical import OCTETS_MAX
from tests.support.cli import done, proved, refused, run, told
from tests.support.terminal import on_terminal
from tests.support.waking import at

DATE = "2027-01-01"  # of the clock that these tests have, at 9 in UTC
JAPANESE = "東京への出張の準備をして、切符を買い、荷物を詰める" * 2


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["add", "Write the report", "--category", "Work", "--due", DATE], home)
    return home


def blocks(home: Path, *args: str, **more: Any) -> list[tuple[str, str, str]]:
    day = told(["day", *args], home, **more)
    return [(one["start"], one["end"], one["title"]) for one in day["blocks"]]


def test_a_block_of_a_category_is_put_moved_kept_and_deleted(home: Path) -> None:
    """S3's example: 09:00 to 11:00, in a category, and one that goes."""
    assert done(["day", "put", "write", "the", "report", "9-11"], home) == (
        f"Put: 09:00-11:00  Write the report, {DATE}\n"
    )
    done(["day", "put", "--title", "Lunch", "--category", "Work", "12-13"], home)
    day = told(["day"], home)
    task = told(["list"], home)[0]["id"]
    assert [(one["task_id"], one["category"], one["by"]) for one in day["blocks"]] == [
        (task, "Work", "person"),
        (None, "Work", "person"),
    ]
    assert (day["date"], day["zone"]) == (DATE, "UTC")
    assert (day["free_minutes"], day["planned_minutes"], day["proposals"]) == (300, 180, [])
    assert done(["day", "move", "12", "12:30+45m"], home) == f"Moved: 12:30-13:15  Lunch, {DATE}\n"
    assert "Nothing to change: 12:30-13:15  Lunch" in done(["day", "keep", "12:30"], home)
    assert "Removed: 09:00-11:00  Write the report" in done(["day", "remove", "9"], home)
    assert blocks(home) == [("12:30", "13:15", "Lunch")]
    done(["day", "remove", told(["day"], home)["blocks"][0]["id"][:8]], home)
    assert "Nothing is planned; put a block with" in done(["day"], home)
    assert proved(home)


REFUSED = {
    ("day", "put", "report", "11-9"): "11:00-09:00 is no block; give one from 5 minutes",
    ("day", "put", "report", "9-9:04"): "09:00-09:04 is 4 min; give one from 5 minutes to 12",
    ("day", "put", "report", "8-21"): "08:00-21:00 is 780 min",
    ("day", "put", "report", "23-24:30"): "'24:30' is no time of day; give one from 00:00 to",
    ("day", "put", "report", "23+90m"): "'24:30' is no time of day",
    ("day", "put", "report", "10:30-12"): "10:30-12:00 meets the block 10:00-11:00; give times",
    ("day", "put", "report", "soon"): "'soon' is no span of time; write 9-11, 9:30-11:00 or",
    ("day", "put", "9-10"): "a block is of a task or of a title; give TASK RANGE, or --title",
    ("day", "put", "report", "9-10", "--title", "Tea"): "a block is of a task or of a title",
    ("day", "put", "roof", "9-10"): "there is no task 'roof'",
    ("day", "put", "report", "9-10", "--category", "Work"): "a task's block has its task's",
    ("day", "put", "--title", "Tea", "--category", "Tea", "9-10"): "there is no category 'Tea'",
    ("day", "put", "report", "9-10", "--on", "2027-02-30"): "'2027-02-30' is no date",
    (
        "day",
        "move",
        "12",
        "13-14",
    ): f"no block of {DATE} begins at '12'; name one by its start: 10:00",
    ("day", "remove", "10", "--on", "tomorrow"): "begins at '10'; name one by its start: none yet",
    ("day", "pin", "roof"): "there is no task 'roof'",
    ("day", "9999-12-31"): "9999-12-31 is at an end of the calendar; name a nearer day",
    ("day", "someday"): "'someday' is no date; write monday, +3d",
    ("day", "--replace"): "--replace is of --ical; leave it out",
    ("day", "rate", "6"): "6 is not in the range 1<=x<=5",
}


@pytest.mark.parametrize("args", REFUSED, ids=lambda one: " ".join(one[1:]))
def test_what_cannot_be_is_refused_in_one_line_and_changes_nothing(
    home: Path, args: tuple[str, ...]
) -> None:
    done(["day", "put", "--title", "Call", "10-11"], home)
    before = proved(home)
    assert REFUSED[args] in refused([*args], home)
    assert proved(home) == before


def test_a_day_is_shown_beside_what_was_spent_planned_or_not(home: Path) -> None:
    done(["add", "Call Ann"], home)
    done(["day", "put", "report", "9-11"], home, env=at("2027-01-01T08:00:00Z"))
    done(["day", "put", "--title", "Lunch", "12-13"], home)
    for task, start, end in (("report", "9:10", "10:50"), ("Ann", "10:50", "11:20")):
        done(
            ["task", "time", task, "--start", start, "--end", end],
            home,
            env=at(f"{DATE}T12:00:00Z"),
        )
    done(["start", "report"], home, env=at(f"{DATE}T13:30:00Z"))
    later = at(f"{DATE}T14:00:00Z")
    assert done(["day"], home, env=later).splitlines() == [
        f"Friday {DATE}: 3h free, 3h planned, 2h40m spent",
        "When\tTitle\tPlanned\tSpent\tBy",
        "09:00-11:00\tWrite the report\t2h\t1h40m (09:10-10:50)\tyou",
        "10:50-11:20\tCall Ann\t\t30 min\t",
        "12:00-13:00\tLunch\t1h\t\tyou",
        "13:30-\tWrite the report\t\t30 min\t",
    ]
    day = told(["day"], home, env=later)
    assert [one["spent_minutes"] for one in day["blocks"]] == [100, 0]
    assert [(one["minutes"], one["end"], bool(one["planned"])) for one in day["spent"]] == [
        (100, "10:50", True),
        (30, "11:20", False),
        (30, None, False),
    ]
    assert day["spent_minutes"] == 160


def test_what_is_planned_of_a_deleted_task_stays_and_says_so(home: Path) -> None:
    done(["day", "put", "report", "9-11", "--on", "tomorrow"], home)
    done(["delete", "report", "--yes"], home)
    assert "09:00-11:00\tWrite the report (deleted)" in done(["day", "tomorrow"], home)
    assert told(["day", "tomorrow"], home)["blocks"][0]["status"] == "DELETED"
    done(["day", "keep", "9", "--on", "tomorrow"], home)
    assert proved(home)


def test_a_retry_under_its_key_does_it_once_even_where_the_block_moved(home: Path) -> None:
    for _ in range(2):
        done(["day", "put", "report", "9-11", "--key", "put"], home)
        done(["day", "move", "9", "10-11", "--key", "move"], home)
    assert "Done before under the key move" in done(
        ["day", "move", "9", "10-11", "--key", "move"], home
    )
    assert blocks(home) == [("10:00", "11:00", "Write the report")]
    for _ in range(2):
        done(["day", "remove", "10", "--key", "gone"], home)
    assert blocks(home) == []


def test_what_is_wanted_and_how_it_went_is_told_and_undone(home: Path) -> None:
    done(["day", "pin", "report"], home)
    done(["day", "rate", "4", "Long,", "and", "good"], home)
    assert done(["day"], home).splitlines()[-2:] == [
        "Wanted: Write the report",
        "Rated 4 of 5: Long, and good",
    ]
    day = told(["day"], home)
    assert day["rating"] == {"score": 4, "comment": "Long, and good"}
    assert [one["title"] for one in day["pinned"]] == ["Write the report"]
    assert f'Undone: rate day of "{DATE}"\n  Set the rating back to none.' in done(["undo"], home)
    undone = told(["undo"], home)
    assert undone["undone"]["does"] == ["Want it that day no longer"]
    assert undone["undone"]["task_count"] == 1
    assert told(["day"], home)["rating"] is None
    done(undone["redo"].split()[1:], home)
    assert len(told(["day"], home)["pinned"]) == 1
    done(["day", "unpin", "report"], home)
    assert told(["day"], home)["pinned"] == []
    assert proved(home)


def test_undo_takes_a_move_back_but_not_what_was_moved_since(home: Path) -> None:
    done(["day", "put", "report", "9-11"], home)
    done(["day", "move", "9", "13-15"], home)
    (moved, put, *_) = [one["ref"] for one in told(["undo", "--list"], home)["deeds"]]
    assert "[stale]" in refused(["undo", put, "--yes"], home)
    done(["day", "put", "--title", "Lunch", "10:30-12"], home)
    assert "[stale]" in refused(["undo", moved, "--yes"], home)  # another block took its time
    done(["day", "remove", "10:30"], home)
    assert "  Put the block back to 09:00-11:00." in done(["undo", moved, "--yes"], home)
    assert blocks(home) == [("09:00", "11:00", "Write the report")]


def test_a_block_that_an_agent_planned_is_confirmed_kept_and_taken_back(home: Path) -> None:
    done(["day", "plan", "tomorrow"], home)
    tomorrow, rules = ["day", "tomorrow"], {"env": {"WAKELOG_MODEL": "rules"}}
    done(["confirm", "1.1"], home, **rules)
    (block,) = told(tomorrow, home)["blocks"]
    assert block["by"].startswith("agent:")
    done(["day", "keep", block["start"], "--on", "tomorrow"], home)
    assert told(tomorrow, home)["blocks"][0]["by"] == "person"
    done(["undo"], home)
    assert told(tomorrow, home)["blocks"][0]["by"] == block["by"]
    assert "Take the block away again" in done(["undo", "--yes"], home)
    assert blocks(home, "tomorrow") == []
    assert proved(home)


def test_today_lists_the_blocks_above_what_is_due(home: Path) -> None:
    done(["day", "put", "report", "9-11"], home)
    done(["day", "put", "--title", "Lunch", "12-13"], home)
    first, second, _, due = done(["today"], home).splitlines()
    assert (first, second) == ("09:00-11:00  Write the report", "12:00-13:00  Lunch")
    assert "Write the report" in due
    assert "Lunch" not in done(["today", "--category", "Work"], home)
    assert [one["title"] for one in told(["today"], home)] == ["Write the report"]


def test_a_day_as_it_was_is_told_and_a_backup_has_it(home: Path, tmp_path: Path) -> None:
    done(["day", "put", "report", "9-11"], home)
    done(["day", "move", "9", "14-16"], home, env=at(f"{DATE}T11:30:00Z"))
    then, now = (told(["at", f"{DATE} {time}"], home)["blocks"] for time in ("10:00", "12:00"))
    assert [[one["start"] for one in each] for each in (then, now)] == [["09:00"], ["14:00"]]
    assert "Day\n  09:00-11:00  Write the report\n" in done(["at", f"{DATE} 10:00"], home)
    moved = run(["diff", f"{DATE} 10:00", f"{DATE} 12:00"], home)
    assert (moved.exit_code, ".start: " in moved.stdout) == (1, True)
    assert "09:00-11:00" not in run(["diff", f"{DATE} 10:00", "2027-01-02"], home).stdout
    assert told(["at", f"{DATE} 10:00", "--task", "report"], home)["blocks"] == []
    done(["backup", str(tmp_path / "copy")], home)
    assert blocks(tmp_path / "copy") == blocks(home)


def test_a_terminal_of_80_columns_shows_a_long_title_in_japanese(home: Path) -> None:
    done(["day", "put", "--title", JAPANESE, "9-10"], home)
    done(["day", "put", "report", "10-12"], home)
    with on_terminal(
        home, "day", env={"COLUMNS": "80", "WAKELOG_NOW": f"{DATE}T09:00:00Z"}
    ) as shell:
        status, said = shell.ended()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(said)).splitlines()
    assert status == 0
    assert max(map(cell_len, lines)) <= 80
    assert any(one.startswith("09:00-10:00  東京への出張") for one in lines)
    assert any(one.startswith("10:00-12:00  Write the report") for one in lines)


def test_blocks_of_two_machines_that_overlap_both_stand_until_one_is_moved(
    home: Path, tmp_path: Path
) -> None:
    other, shared = tmp_path / "other", str(tmp_path / "shared")
    laptop = {"env": {"WAKELOG_REPLICA": "r2", "WAKELOG_NOW": "2027-01-01T09:05:00Z"}}
    done(["sync", shared], home)
    done(["sync", shared], other, **laptop)
    done(["day", "put", "report", "9-11"], home)
    done(["day", "put", "--title", "Call", "9-10"], other, **laptop)
    _meet(home, other, shared, laptop)
    one, two = told(["day"], home), told(["day"], other, **laptop)
    assert one == two
    assert [block["overlaps"] for block in one["blocks"]] == [True, True]
    said = done(["day"], home)
    assert "Blocks of two machines overlap, move one by its id: 09:00-10:00 Call (" in said
    line = refused(["day", "remove", "9"], home)
    assert "'9' names 2 blocks" in line
    call = next(block["id"] for block in one["blocks"] if block["title"] == "Call")
    assert "meets the block" in refused(["day", "move", call[:8], "10-11"], home)
    done(["day", "move", call[:8], "11-12"], home)
    _meet(home, other, shared, laptop)
    assert blocks(other, **laptop) == [
        ("09:00", "11:00", "Write the report"),
        ("11:00", "12:00", "Call"),
    ]
    assert told(["conflicts"], home) == []
    for machine, more in ((home, {}), (other, laptop)):
        assert told(["prove"], machine, **more)["ok"]


def _meet(home: Path, other: Path, shared: str, laptop: Any) -> None:
    for _ in range(2):
        done(["sync", shared], home)
        done(["sync", shared], other, **laptop)


# -------------------------------------------------------------------------------------- zones


ZONES = {
    # a night in which clocks go forward, one in which they go back, and a quarter of an hour
    "Europe/Berlin": (
        "2027-03-28",
        "2027-03-28T00:30:00Z",
        "2027-03-28T01:30:00Z",
        "01:30",
        "03:30",
    ),
    "America/New_York": (
        "2027-11-07",
        "2027-11-07T05:30:00Z",
        "2027-11-07T06:30:00Z",
        "01:30",
        "01:30",
    ),
    "Pacific/Chatham": (
        "2027-01-05",
        "2027-01-04T20:00:00Z",
        "2027-01-04T21:00:00Z",
        "09:45",
        "10:45",
    ),
}


@pytest.mark.parametrize("zone", ZONES)
def test_time_is_laid_beside_the_plan_as_clocks_showed_it(tmp_path: Path, zone: str) -> None:
    home, (date, start, end, shown, until) = tmp_path / "home", ZONES[zone]
    done(["init", "--zone", zone, "--no-import", "--no-agents"], home)
    done(["add", "Watch"], home)
    done(
        ["task", "time", "Watch", "--start", start, "--end", end],
        home,
        env=at("2027-12-01T00:00:00Z"),
    )
    done(["day", "put", "Watch", "1-11", "--on", date], home)
    day = told(["day", date], home)
    assert [(one["start"], one["end"], one["minutes"]) for one in day["spent"]] == [
        (shown, until, 60)
    ]
    assert [one["spent_minutes"] for one in day["blocks"]] == [60]
    assert told(["day", "2027-01-20"], home)["spent"] == []


def test_an_entry_over_midnight_is_of_both_days(home: Path) -> None:
    night = ["task", "time", "report", "--start", "2026-12-31 23:00", "--end", "2027-01-01 00:30"]
    done(night, home)
    days = told(["day", "2026-12-31", "--days", "2"], home)
    assert [
        [(one["start"], one["end"], one["minutes"]) for one in day["spent"]] for day in days
    ] == [
        [("23:00", "24:00", 60)],
        [("00:00", "00:30", 30)],
    ]


# ----------------------------------------------------------------------------------- the calendar


def written(home: Path, file: Path, *args: str) -> bytes:
    done(["day", DATE, "--ical", str(file), "--replace", *args], home)
    return file.read_bytes()


def test_a_calendar_is_the_same_bytes_and_keeps_to_the_format(home: Path, tmp_path: Path) -> None:
    done(["settings", "set", "timezone", "Europe/Berlin"], home)
    done(["day", "put", "report", "9-11"], home)
    done(
        ["day", "put", "--title", f"Nails, screws; C:\\ {JAPANESE}", "--category", "Work", "22-24"],
        home,
    )
    done(["day", "put", "--title", "Call", "8-9", "--on", "2027-01-02"], home)
    file = tmp_path / "day.ics"
    data = written(home, file, "--days", "2")
    assert data == written(home, file, "--days", "2")
    assert "is there already" in refused(["day", "--ical", str(file)], home)
    lines = data.decode().split("\r\n")
    assert lines.pop() == ""
    assert "\n" not in "".join(lines)
    assert max(len(one.encode()) for one in lines) <= OCTETS_MAX
    whole = data.decode().replace("\r\n ", "").split("\r\n")
    block = told(["day"], home)["blocks"][0]
    assert f"UID:{block['id']}@{DATE}.wakelog" in whole
    of_first = [one for one in whole if one.startswith(("DTSTART", "DTEND", "SUMMARY"))][:3]
    assert of_first == [
        "DTSTART:20270101T080000Z",
        "DTEND:20270101T100000Z",
        "SUMMARY:Write the report",
    ]
    assert f"SUMMARY:Nails\\, screws\\; C:\\\\ {JAPANESE}" in whole
    assert "DTEND:20270101T230000Z" in whole
    moved = told(["day", "move", "9", "10-12"], home, env=at(f"{DATE}T10:30:00Z"))
    assert moved["blocks"][0]["id"] == block["id"]
    assert b"DTSTAMP:20270101T103000Z" in written(home, file)


def test_a_parser_that_is_not_ours_reads_what_was_planned(home: Path, tmp_path: Path) -> None:
    icalendar = pytest.importorskip("icalendar", reason="icalendar is not installed")
    title = f"Nails, screws; C:\\ {JAPANESE}"
    done(["day", "put", "report", "9-11"], home)
    done(["day", "put", "--title", title, "22-24"], home)
    found = icalendar.Calendar.from_ical(written(home, tmp_path / "day.ics"))
    events = [
        (str(one["SUMMARY"]), one.decoded("DTSTART"), one.decoded("DTEND"))
        for one in found.walk("VEVENT")
    ]
    assert events == [
        (
            "Write the report",
            datetime(2027, 1, 1, 9, tzinfo=UTC),
            datetime(2027, 1, 1, 11, tzinfo=UTC),
        ),
        (title, datetime(2027, 1, 1, 22, tzinfo=UTC), datetime(2027, 1, 2, tzinfo=UTC)),
    ]
    assert not found.errors


def test_a_block_that_a_change_of_clocks_skips_has_no_end_before_its_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["init", "--zone", "Europe/Berlin", "--no-import", "--no-agents"], home)
    done(["day", "put", "--title", "Night", "2-3", "--on", "2027-03-28"], home)
    file = tmp_path / "night.ics"
    done(["day", "2027-03-28", "--ical", str(file)], home)
    assert b"DTSTART:20270328T010000Z\r\nSUMMARY:Night\r\n" in file.read_bytes()


def test_a_date_that_is_none_of_its_commands_is_shown(home: Path) -> None:
    done(["day", "put", "--title", "Call", "9-10", "--on", "monday"], home)
    expected = [("09:00", "10:00", "Call")]
    assert blocks(home, "monday") == blocks(home, "show", "monday") == expected
    assert json.loads(run(["day", "--json", "monday"], home).stdout)["date"] == "2027-01-04"
    assert [len(one["blocks"]) for one in told(["day", "--days", "4"], home)] == [0, 0, 0, 1]
    assert "Commands:" in done(["day", "--help"], home)
