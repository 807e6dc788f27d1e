"""The page of a day: its forms do by themselves what the keys do, and what `wakelog day` does."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.forms import Form
from tests.support.pages import Visitor, text_of, visiting

DAY = "/day/2027-01-04"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    done(["task", "add", "Write the report", "--estimate", "3h"], tmp_path)
    done(["day", "put", "report", "9-11", "--on", "2027-01-04"], tmp_path)
    return tmp_path


def blocks(home: Path) -> list[str]:
    day = told(["day", "2027-01-04"], home)
    return [f"{one['start']}-{one['end']} {one['title']}" for one in day["blocks"]]


def block(visitor: Visitor, start: str) -> Form:
    return visitor.form(DAY, f"{DAY}/block", **{"was.start": start})


def test_a_day_is_empty_until_a_block_is_put_by_its_form(home: Path) -> None:
    with visiting(home) as visitor:
        assert "Nothing is planned. Put the first block here" in text_of(visitor.page("/day"))
        form = visitor.form(DAY, f"{DAY}/put")
        assert ("start", "11:00") in form.fields  # what is free first
        answer = visitor.send(form, title="昼休み", start="12:00", end="13:00")
        assert "Put 12:00-13:00." in text_of(answer.text)
        assert visitor.send(form, title="昼休み", start="12:00", end="13:00").status_code == 200
        visitor.send(visitor.form(DAY, f"{DAY}/put"), task="rep", start="23:00", end="00:00")
        assert visitor.json(DAY) == told(["day", "2027-01-04"], home)
        assert visitor.json("/day")["date"] == "2027-01-01"
    assert blocks(home) == [
        "09:00-11:00 Write the report",
        "12:00-13:00 昼休み",
        "23:00-24:00 Write the report",
    ]
    proved(home)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "", "title": ""}, "a block is of a task or of a title; fill in one of them"),
        ({"task": "rep", "title": "Lunch"}, "a block is of a task or of a title"),
        ({"task": "nothing such"}, "unknown_task"),
        ({"title": "Lunch", "start": "10:00", "end": "12:00"}, "meets the block 09:00-11:00"),
        ({"title": "Lunch", "start": "", "end": "12:00"}, "is no time of day"),
    ],
)
def test_what_is_no_block_is_told_at_its_form(home: Path, given: dict[str, Any], said: str) -> None:
    with visiting(home) as visitor:
        answer = visitor.send(visitor.form(DAY, f"{DAY}/put"), **given)
    assert (answer.status_code // 100, said in text_of(answer.text)) == (4, True)
    assert blocks(home) == ["09:00-11:00 Write the report"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"verb": "earlier"}, ["08:45-10:45"]),
        ({"verb": "later"}, ["09:15-11:15"]),
        ({"verb": "shorter"}, ["09:00-10:45"]),
        ({"verb": "longer"}, ["09:00-11:15"]),
        ({"verb": "move", "start": "22:30", "end": "00:00"}, ["22:30-24:00"]),
        ({"verb": "keep"}, ["09:00-11:00"]),
        ({"verb": "remove"}, []),
    ],
)
def test_each_button_of_a_block_does_one_thing(
    home: Path, given: dict[str, Any], wanted: list[str]
) -> None:
    with visiting(home) as visitor:
        form = block(visitor, "09:00")
        assert [visitor.send(form, **given).status_code for _ in range(2)] == [200, 200]
        undo = visitor.form(DAY, "/undo")
        assert blocks(home) == [f"{one} Write the report" for one in wanted]
        visit = dict(form.fields)["nonce"][:8]
        if given["verb"] != "keep":  # it was the person's own before
            visitor.send(undo, nonce=f"{visit}undone-now")
    assert blocks(home) == ["09:00-11:00 Write the report"]
    proved(home)


def test_a_block_that_stands_elsewhere_by_now_is_left_alone(home: Path) -> None:
    with visiting(home) as visitor:
        form = block(visitor, "09:00")
        done(["day", "move", "9", "14-15", "--on", "2027-01-04"], home)
        answer = visitor.send(form, verb="remove")
        assert answer.status_code == 409
        assert "moved or taken away meanwhile" in text_of(answer.text)
        assert visitor.send(block(visitor, "14:00"), verb="sideways").status_code == 422
        assert visitor.send(block(visitor, "14:00"), verb="remove").status_code == 200
    assert blocks(home) == []


def test_a_day_is_rated_and_says_what_is_wanted_and_what_was_spent(home: Path) -> None:
    done(["task", "add", "Sweep"], home)
    spent = ("--start", "2026-12-31 09:30", "--end", "2026-12-31 10:30")
    done(["task", "time", "Sweep", *spent], home)
    past = "/day/2026-12-31"
    with visiting(home) as visitor:
        assert "09:30-10:30 Sweep 1h spent, not planned" in text_of(visitor.page(past))
        visitor.send(visitor.form(past, f"{past}/rate"), score="4", comment="Went well")
        visitor.send(visitor.form(past, f"{past}/pin"), task="sweep", verb="pin")
        (wanted,) = visitor.json(past)["pinned"]
        assert visitor.json(past)["rating"] == {"score": 4, "comment": "Went well"}
        visitor.send(visitor.form(past, f"{past}/pin", task=wanted["task_id"]), verb="unpin")
        assert visitor.json(past)["pinned"] == []
        for none in ("/day/2027-02-30", "/day/tomorrow", "/inbox.ics"):
            assert visitor.get(none).status_code == 404


def test_a_day_is_a_calendar_of_the_same_bytes(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "day.ics"
    done(["day", "2027-01-04", "--ical", str(file)], home)
    with visiting(home) as visitor:
        answer: Any = visitor.get(f"{DAY}.ics")
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    assert answer.content == file.read_bytes()


def test_the_page_of_the_agent_that_plans_days_shows_what_it_proposes(home: Path) -> None:
    done(["day", "plan", "2027-01-05"], home)
    (agent,) = told(["agent", "list"], home)
    with visiting(home) as visitor:
        assert 'id="item-1-1"' in visitor.page(f"/agents/{agent['id']}")
