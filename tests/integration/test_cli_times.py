"""The time that a task took: proposed by its agent, entered and corrected by the person."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.waking import agent, at, inbox, reply, report, tape

SINK = "Fix the sink"
NOON = at("2027-03-28T12:00:00Z")  # the night before, clocks in Berlin skipped 02:00 to 03:00


def in_zone(home: Path, zone: str) -> None:
    (home / "settings.toml").write_text(f'timezone = "{zone}"\n', encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in Berlin."""
    home = tmp_path / "home"
    agent(home, SINK, "--model", tape(tmp_path / "tape.jsonl", reply()))
    in_zone(home, "Europe/Berlin")
    return home


def called(home: Path, *calls: tuple[str, object], env: dict[str, str] = NOON) -> None:
    """A wake whose model makes these calls."""
    tape(home.parent / "tape.jsonl", reply(*calls, report()), reply())
    done(["wake", SINK], home, env=env)


def spent(began: str, ended: str, summary: str = "Soldered") -> tuple[str, object]:
    return "log_time", {"startedAt": began, "endedAt": ended, "summary": summary}


def entries(home: Path) -> Any:
    return told(["task", "show", SINK], home, env=NOON)["time"]


@pytest.mark.parametrize(
    ("span", "utc", "summary"),
    [
        # 02:30 comes twice on October 31: the first time; on March 28 it is skipped
        (("2027-10-31T02:30", "2027-10-31T03:30"), ("31T00:30", "31T02:30"), "02:30-03:30 (2 h)"),
        (("2027-03-28T01:30", "2027-03-28T02:30"), ("28T00:30", "28T01:00"), "(30 min)"),
        (
            ("2027-03-27T23:30", "2027-03-28T00:45"),
            ("27T22:30", "27T23:45"),
            "2027-03-27 23:30 to 2027-03-28 00:45 (1 h 15 min)",
        ),
    ],
)
def test_local_times_are_resolved_as_timers_resolve_them(
    home: Path, span: tuple[str, str], utc: tuple[str, str], summary: str
) -> None:
    called(home, spent(*span), env=at("2027-11-01T12:00:00Z"))
    (item,) = inbox(home)
    assert summary in item["summary"]
    found = item["arguments"]["startedUtc"], item["arguments"]["endedUtc"]
    assert tuple(one[8:16] for one in found) == utc
    assert proved(home)


def test_a_quote_beside_local_times_leaves_them_what_they_are(home: Path) -> None:
    entry = logged(home, "2027-03-26 10:00", "2027-03-26 11:00")
    span = {"startedAt": "2027-03-27T16:00", "endedAt": "2027-03-27T18:00", "summary": "Soldered"}
    moved = {"entryId": entry, "startedAt": "2027-03-26T10:30", "reason": "the note tells it so"}
    calls = [("log_time", span), ("edit_time_entry", moved)]
    called(home, *((name, {**given, "because": "from four to six"}) for name, given in calls))
    assert [one["arguments"]["startedUtc"] for one in inbox(home)] == [
        "2027-03-27T15:00:00.000000Z",
        "2027-03-26T09:30:00.000000Z",
    ]
    assert proved(home)


def logged(home: Path, began: str, ended: str, summary: str = "Calls") -> str:
    """Time that the person entered; the entry's id."""
    options = ["--start", began, "--end", ended, "--summary", summary]
    found: str = told(["task", "time", SINK, *options], home, env=NOON)["time"][-1]["id"]
    return found


def test_time_logged_meanwhile_makes_a_proposal_stale_until_it_is_edited_to_fit(
    home: Path,
) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27T18:00"))
    logged(home, "2027-03-27 17:00", "2027-03-27 17:30")
    (item,) = inbox(home)
    assert item["stale"]
    assert "[stale]" in run(["confirm", item["ref"]], home, env=NOON).stdout
    edit = '{"endedAt": "2027-03-27T17:00"}'
    done(["confirm", item["ref"], "--edit", edit], home, env=NOON)
    assert [one["end"][11:16] for one in entries(home)] == ["16:30", "16:00"]
    assert proved(home)


def test_an_edit_resolves_what_it_changes_and_no_more(home: Path) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27T18:00"))
    in_zone(home, "Europe/London")  # the person moved; what was proposed stays when it was
    edit = '{"endedAt": "2027-03-27 17:30", "summary": "Glued"}'
    once = ["confirm", inbox(home)[0]["ref"], "--edit", edit, "--key", "k"]
    done(once, home, env=NOON)
    in_zone(home, "America/New_York")
    done(once, home, env=NOON)
    (entry,) = entries(home)
    assert (entry["start"][11:16], entry["end"][11:16]) == ("15:00", "17:30")
    assert entry["summary"] == "Glued"
    assert proved(home)


def test_an_instant_that_a_person_gives_does_not_count(home: Path) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27T18:00"))
    edit = '{"startedUtc": "yesterday", "endedUtc": "2027-03-27T16:30:00.000000Z"}'
    done(["confirm", inbox(home)[0]["ref"], "--edit", edit], home, env=NOON)
    (entry,) = entries(home)
    assert (entry["start"][11:16], entry["end"][11:16]) == ("15:00", "17:00")


def test_an_edit_that_is_no_time_is_refused_in_one_line(home: Path) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27T18:00"))
    edit = ["confirm", inbox(home)[0]["ref"], "--edit", '{"endedAt": "six"}']
    assert "endedAt: expected a local time YYYY-MM-DDTHH:MM" in refused(edit, home, env=NOON)


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_fork_takes_recorded_instants_and_resolves_others_where_the_wake_was(
    home: Path, is_changed: bool
) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27T18:00"))
    (wake,) = [one for one in told(["wakes"], home) if one["outcome"] == "completed"]
    in_zone(home, "Asia/Tokyo")
    hour = "17:00" if is_changed else "18:00"
    answer = reply(spent("2027-03-27T16:00", f"2027-03-27T{hour}"), report())
    model = tape(home.parent / "other.jsonl", answer, reply())
    more = ["--note", SINK, "It took an hour", "--model", model] if is_changed else []
    fork = told(["fork", wake["run_key"], *more], home, env=NOON)
    branch = Path(fork["home"])
    (item,) = inbox(branch)
    assert item["arguments"]["endedUtc"] == utc_of(hour)
    assert fork["diff"]["same"] != is_changed
    assert proved(branch)


def utc_of(hour: str) -> str:
    return f"2027-03-27T{int(hour[:2]) - 1}:00:00.000000Z"


def corrected(entry: str, **given: str) -> tuple[str, object]:
    return "edit_time_entry", {"entryId": entry, **given}


def test_the_person_s_times_are_corrected_only_with_a_reason(home: Path) -> None:
    entry = logged(home, "2027-03-27 10:00", "2027-03-27 11:00")
    called(home, corrected(entry, endedAt="2027-03-27T12:00"))
    assert inbox(home) == []
    why = "The note says it took until noon."
    called(home, corrected(entry, endedAt="2027-03-27T12:00", reason=why))
    (item,) = inbox(home)
    assert item["summary"] == 'Correct the time entry "Calls": it ended 2027-03-27 12:00'
    assert item["now"] == "2027-03-27 10:00 to 2027-03-27 11:00 Calls"
    done(["confirm", item["ref"]], home, env=NOON)
    (found,) = entries(home)
    assert found["end"] == "2027-03-27T11:00:00.000000Z"
    assert found["by"].startswith("agent:")
    assert proved(home)


def test_a_note_on_the_running_timer_stays_when_it_is_stopped(home: Path) -> None:
    called(home, ("note_timer", {"summary": "Soldering"}))
    assert inbox(home) == []  # none runs
    done(["task", "timer", "start", SINK], home, env=NOON)
    called(home, ("note_timer", {"summary": "Soldering"}))
    done(["confirm", inbox(home)[0]["ref"]], home, env=NOON)
    done(["task", "timer", "stop"], home, env=NOON)
    assert [one["summary"] for one in entries(home)] == ["Soldering"]
    assert proved(home)


def test_a_person_corrects_an_entry_by_its_number(home: Path) -> None:
    logged(home, "2027-03-27 10:00", "2027-03-27 11:00")
    logged(home, "2027-03-27 14:00", "2027-03-27 15:00", "Shopping")
    text = done(["task", "retime", SINK, "1", "--end", "2027-03-27 11:30"], home, env=NOON)
    assert text.startswith("Corrected the time: ")
    done(["task", "retime", SINK, "2", "--summary", ""], home, env=NOON)
    shown = done(["task", "show", SINK], home)
    assert "10:00 to 2027-03-27 11:30 (1h30m) Calls" in shown
    assert [one["summary"] for one in entries(home)] == ["Calls", ""]
    again = done(["task", "retime", SINK, "2", "--summary", ""], home, env=NOON)
    assert again.startswith("Nothing to change")
    assert proved(home)


NO_CORRECTIONS = {
    "": "there is nothing to change; give --start, --end or --summary",
    "--end '2027-03-27 10:00'": "the time ends before it starts",
    "--end '2027-03-28 14:01'": "the time ends in the future",
    "--end '2027-03-27 14:30'": "overlaps with the entry",
    "--start '2027-03-28 02:30'": "clocks skip it",
}


def test_a_correction_that_cannot_be_is_refused_in_one_line(home: Path) -> None:
    logged(home, "2027-03-27 10:00", "2027-03-27 11:00")
    logged(home, "2027-03-27 14:00", "2027-03-27 15:00", "Shopping")
    for options, line in NO_CORRECTIONS.items():
        typed = ["task", "retime", SINK, "1", *shlex.split(options)]
        assert line in refused(typed, home, env=NOON), options


def test_a_running_entry_has_no_times_to_correct(home: Path) -> None:
    done(["task", "timer", "start", SINK], home, env=NOON)
    assert "its timer runs" in refused(
        ["task", "retime", SINK, "1", "--start", "2027-03-27 10:00"], home, env=NOON
    )
    done(["task", "retime", SINK, "1", "--summary", "Soldering"], home, env=NOON)
    assert [one["summary"] for one in entries(home)] == ["Soldering"]


def test_a_time_with_a_word_too_many_is_taken_with_its_instants_and_told(home: Path) -> None:
    """Also where it stands beside its quote, and of what is done at once."""
    span = {"startedAt": "2027-03-27T16:00", "endedAt": "2027-03-27T18:00", "summary": "Soldered"}
    sure = {**span, "confidence": "high", "because": "from four to six"}
    status = {"status": "in_progress", "because": "from four to six"}
    language = {"languageCode": "en", "confidence": "high", "note": "x"}
    called(home, ("log_time", sure), ("set_task_status", status), ("set_task_language", language))
    items = {item["tool"]: item["arguments"] for item in inbox(home)}
    assert items["log_time"]["startedUtc"] == "2027-03-27T15:00:00.000000Z"
    assert items["set_task_status"] == {"status": "IN PROGRESS"}
    run_key = told(["wakes"], home)[0]["run_key"]
    shown = done(["show", run_key], home)
    assert "Taken: confidence left out." in shown
    assert 'Taken: status "in_progress" as IN PROGRESS.' in shown
    assert "Taken: note left out." in shown
    assert proved(home)
