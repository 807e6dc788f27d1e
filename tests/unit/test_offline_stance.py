"""What a text says and does not ask of the person: others' duties, the newest word, what is not so.

`tests/data/phrases/stance.txt`: notes, the older first, with `//` between two of two days; a bar,
and what is proposed: a due date, a length in minutes, a status, items; `-` is nothing.
"""

from datetime import date
from typing import Any

import pytest

from adapters.models.offline.clauses import sentence
from adapters.models.offline.deadline import due
from adapters.models.offline.phrasing import phrases as said_by
from adapters.models.offline.stance import aside
from tests.support.rules import (
    FRIDAY,
    SATURDAY,
    ask,
    calls,
    item,
    note,
    one,
    phrases,
    proposed,
    several,
)


def told(text: str, **task: Any) -> list[str]:
    """The values of what is proposed."""
    parts = text.split(" // ")
    notes = [note(one, at) for one, at in zip(parts, (FRIDAY, SATURDAY), strict=False)]
    given = proposed(ask(*notes, **task))
    names = ("dueDate", "minutes", "status", "priority", "title")
    flat = [one for value in given.values() for one in value.get("items", [value])]
    return [str(one[name]) for one in flat for name in names if name in one]


@pytest.mark.parametrize(("text", "wanted"), phrases("stance"))
def test_others_duties_older_words_and_what_is_not_so_ask_for_nothing(
    text: str, wanted: str | None
) -> None:
    assert told(text) == several(wanted)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Need to buy balloons. Due by 4 December.", "The party is cancelled."),
        ("Need to buy balloons. Due by 4 December.", "Cancelled!"),
        ("Ballons kaufen nicht vergessen!", "Das Partyzelt und alles andere fällt aus."),
    ],
)
def test_what_is_called_off_ends_what_older_notes_asked_for(older: str, newer: str) -> None:
    assert told(older, title="Party") != []
    assert told(f"{older} // {newer}", title="Party") == []
    assert told(f"{older} // {newer} I need to call Bob.", title="Party") == ["Call Bob"]
    assert told(f"{older} // The bus was cancelled.", title="Party") == told(older, title="Party")


def test_an_open_proposal_is_taken_back_where_all_is_called_off() -> None:
    sections = {
        "proposals": '## Open\n\n- fp=abc Add: "Buy balloons"\n- fp=abd Set due date to 2026-12-04'
    }
    tools = ("retract_suggestions", "update_report")
    notes = note("Need to buy balloons. Due 2026-12-04"), note("The party is cancelled.", SATURDAY)
    given = calls(ask(*notes, title="Party", sections=sections, tools=tools))
    back = given["retract_suggestions"]["proposals"]
    assert [one["fingerprint"] for one in back] == ["abc", "abd"]
    assert all("The party is cancelled." in one["reason"] for one in back)


def test_a_title_is_the_persons_whoever_it_names() -> None:
    assert told("Fine.", title="Tom must paint the hall by 2026-12-04") == ["2026-12-04"]


def test_languages_are_files_of_the_same_words() -> None:
    assert "ich" in said_by("mine").split("|")
    assert "me" in said_by("mine").split("|")
    assert aside("Tom muss streichen. We should paint.").others == {"Tom muss streichen."}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("before Good Friday", "2027-03-25"),
        ("bis Ostern", "2027-03-28"),
        ("spätestens am Gründonnerstag", "2027-03-25"),
        ("by Easter Monday", "2027-03-29"),
        ("muss vor Karfreitag da sein", "2027-03-25"),
        ("bis Pfingsten", "2027-05-16"),
    ],
)
def test_easter_is_the_next_one(text: str, day: str) -> None:
    for written, shown in ((date(2026, 11, 20), day), (date(2027, 3, 2), day)):
        found = due(sentence(f"Must be done {text}."), written)
        assert found is not None
        assert found.day.isoformat() == shown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("milk, eggs, 2x oats", ["Milk", "Eggs", "2x oats"]),
        ("also cream + chives, but no lemons pls", ["Cream", "Chives"]),
        ("- milk\n- eggs", ["Milk", "Eggs"]),
        ("milk\neggs", ["Milk", "Eggs"]),
        ("milk and eggs, butter we still have", ["Milk", "Eggs"]),
        ("Milk and eggs were cheap.", []),
        ("Ann, Bob and Cleo.", []),
    ],
)
def test_things_alone_are_a_list_where_the_title_calls_for_one(
    text: str, wanted: list[str]
) -> None:
    assert told(text, title="Weekend shopping") == wanted
    assert told(text, title="Diary") == []


TITLE = "set_task_title"


@pytest.mark.parametrize(
    ("text", "tool", "wanted"),
    [
        ('Please rename this to "Sell the camera".', "set_task_title", "Sell the camera"),
        ("Besserer Titel: Heizung entlüften", "set_task_title", "Heizung entlüften"),
        ("Call it Old camera.\nNo, call it Sell the camera.", "set_task_title", "Sell the camera"),
        ("I'd call it a good book.", "set_task_title", None),
        ("The stairs get a task of their own: Paint the stairs.", "create_follow_up_task", None),
        ("Make it a new task: Paint the stairs.", "create_follow_up_task", "Paint the stairs"),
        ('Rename this ticket to "Boiler: no heat", nobody knows.', TITLE, "Boiler: no heat"),
        ("Rename this to Kim's new boiler, I have two of them", TITLE, "Kim's new boiler"),
        ('Die Aufgabe soll "Heizung entlüften" heißen, sonst rät man.', TITLE, "Heizung entlüften"),
        ("Kim renamed the file to Boiler plan", TITLE, None),
        ('Der Hund soll "Bello der Große" heißen.', TITLE, None),
        ("Is that a new task: Paint the stairs?", "create_follow_up_task", None),
    ],
)
def test_a_title_or_a_task_that_is_named(text: str, tool: str, wanted: str | None) -> None:
    assert one(ask(text, tools=(tool, "update_report")), tool, "title") == wanted


DROPPABLE = ("Photos of the roof", "Book the band", "Tombolapreise sammeln", "Zelt ausleihen")


@pytest.mark.parametrize(("text", "wanted"), phrases("dropped"))
def test_what_a_text_drops_is_put_away(text: str, wanted: str | None) -> None:
    given = proposed(ask(text, checklist=[*map(item, DROPPABLE)]))
    put_away = given.get("update_checklist_items", {"items": []})["items"]
    found = [one["id"].removeprefix("item-") for one in put_away if one.get("isArchived")]
    assert sorted(found) == several(wanted)


TICKED = ("Chapter 2", "Chapter 3", "Fix the tap", "Fenster einstellen", "Kaution überweisen")


@pytest.mark.parametrize(("text", "wanted"), phrases("unticked"))
def test_what_is_open_again_is_unticked(text: str, wanted: str | None) -> None:
    given = proposed(ask(text, checklist=[item(one, checked=True) for one in TICKED]))
    told = given.get("update_checklist_items", {"items": []})["items"]
    found = [one["id"].removeprefix("item-") for one in told if one.get("isChecked") is False]
    assert sorted(found) == several(wanted)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("Scrap the snorkel, it is cold.", "isArchived", True),
        ("Snorkel kann von der Liste.", "isArchived", True),
        ("Don't scrap the snorkel.", "isArchived", None),
        ("The letter is not sent after all.", "isChecked", False),
        ("The letter is not sent.", "isChecked", None),
    ],
)
def test_items_are_put_away_or_unticked_where_a_text_says_so(
    text: str, name: str, value: bool | None
) -> None:
    items = [item("Snorkel"), item("Send the letter", checked=True)]
    given = proposed(ask(text, checklist=items)).get("update_checklist_items", {"items": [{}]})
    assert given["items"][0].get(name) == value
