"""Whose day it is: agents are told the person's own days, wherever they live, and what time was
logged (ADR 97). The offline model reads what every model is told."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.waking import at

RULES = {"WAKELOG_MODEL": "rules"}
# Written when in Los Angeles it is still Wednesday, in Tokyo and on the Chathams Thursday already.
WRITTEN = "2027-03-11T01:30:00Z"
DAYS = {
    "America/Los_Angeles": ("Wed 2027-03-10 17:30", "2027-03-11"),
    "Europe/Berlin": ("Thu 2027-03-11 02:30", "2027-03-12"),
    "Asia/Tokyo": ("Thu 2027-03-11 10:30", "2027-03-12"),
    "Pacific/Chatham": ("Thu 2027-03-11 15:15", "2027-03-12"),
}


def home_in(home: Path, zone: str, title: str = "Tax") -> Path:
    done(["init", "--zone", zone, "--no-import", "--no-agents"], home, env=at(WRITTEN))
    done(["add", title], home, env=at(WRITTEN))
    done(["agent", "create", title], home, env=at(WRITTEN))
    return home


def woken(home: Path, time: str, title: str = "Tax") -> list[Any]:
    """What stands in the inbox after a wake."""
    done(["wake", title], home, env=at(time) | RULES)
    found = told(["inbox"], home, env=at(time))
    return [item for one in found for item in one["items"]]


def prompt(home: Path) -> str:
    (run,) = (one["run_key"] for one in told(["wakes"], home)[:1])
    return done(["show", run, "--prompt"], home)


@pytest.mark.parametrize("zone", DAYS)
def test_tomorrow_is_the_day_after_the_one_that_the_person_wrote_on(
    tmp_path: Path, zone: str
) -> None:
    home = home_in(tmp_path / "home", zone)
    done(["note", "Tax", "It has to be done by tomorrow."], home, env=at(WRITTEN))
    (item,) = woken(home, "2027-03-13T12:00:00Z")
    written, due = DAYS[zone]
    assert (item["summary"], item["because"]) == (
        f"Set due date to {due}",
        "It has to be done by tomorrow.",
    )
    shown = prompt(home)
    assert f'{{"at":"{written}","type":"note","by":"person"' in shown
    assert f'"createdAt": "{written}"' in shown
    assert "00Z" not in shown, "no instant is told"
    assert proved(home)


def test_of_what_the_person_decided_since_a_note_nothing_else_is_proposed(tmp_path: Path) -> None:
    home = home_in(tmp_path / "home", "Asia/Tokyo")
    done(["note", "Tax", "It has to be done by 2027-03-20."], home, env=at(WRITTEN))
    done(["edit", "Tax", "--due", "2027-03-24"], home, env=at(WRITTEN))  # in the same minute
    assert woken(home, "2027-03-12T12:00:00Z") == []
    done(["note", "Tax", "It has to be done by 2027-03-22."], home, env=at("2027-03-12T12:00:00Z"))
    (item,) = woken(home, "2027-03-12T12:01:00Z")
    assert item["summary"] == "Set due date to 2027-03-22"
    assert proved(home)


@pytest.mark.parametrize(("minutes", "is_proposed"), [(9, False), (10, True)])
def test_time_logged_since_the_status_was_set_says_that_a_task_is_under_way(
    tmp_path: Path, minutes: int, is_proposed: bool
) -> None:
    home = home_in(tmp_path / "home", "Europe/Berlin")
    span = ["--start", "10:00", "--end", f"10:{minutes:02d}", "--summary", "Read the letter"]
    done(["task", "time", "Tax", *span], home, env=at("2027-03-11T12:00:00Z"))
    found = woken(home, "2027-03-11T12:01:00Z")
    assert [one["summary"] for one in found] == [
        "Set status to IN PROGRESS: Read the letter"
    ] * is_proposed
    if not is_proposed:
        return
    (item,) = found
    assert item["because"].endswith("10:10, 10 minutes: Read the letter")
    assert item["because_at"] == "time:2027-03-11T09:00:00.000000Z"
    done(["reject", f"{told(['inbox'], home)[0]['set']}.1"], home)
    done(["note", "Tax", "The sun shines."], home, env=at("2027-03-11T13:00:00Z"))
    assert woken(home, "2027-03-11T13:01:00Z") == [], "declined, it rests until it is touched"
    assert proved(home)


def test_german_texts_get_a_german_report_and_no_language_is_made_up(tmp_path: Path) -> None:
    home = home_in(tmp_path / "home", "Europe/Berlin", "Dach decken")
    text = "Das Dach muss bis zum 20. März gedeckt sein, wir warten noch auf die Ziegel."
    done(["note", "Dach decken", text], home, env=at(WRITTEN))
    woken(home, "2027-03-12T12:00:00Z", "Dach decken")
    assert "Language of the report: that of the task's own texts." in prompt(home)
    assert "**Als Nächstes:** Dach decken" in told(["report", "Dach decken"], home)["content"]
