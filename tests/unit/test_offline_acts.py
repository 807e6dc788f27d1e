"""What the offline model reads of a clause, and what only looks like it.

`tests/data/phrases` has a table for each kind of act, in English and German: each line is a note, a
bar, and what is wanted of it; `-` is nothing, `;` stands between several.
"""

from typing import Any

import pytest

from tests.support.rules import (
    FRIDAY,
    REPORT,
    SATURDAY,
    ask,
    calls,
    item,
    note,
    one,
    phrases,
    proposed,
    several,
    titles,
)

ITEMS = ("Brake pads", "The chain", "Call the plumber", "Buy wood glue", "Paint the door")
DINGE = (
    "Bremsbeläge wechseln",
    "Kette ölen",
    "Klempner anrufen",
    "Holzleim kaufen",
    "Tür streichen",
)

# -------------------------------------------------------------------------------- each kind of act


@pytest.mark.parametrize(("text", "day"), phrases("days"))
def test_a_deadline_is_a_day_by_which_the_person_must_be_done(text: str, day: str | None) -> None:
    assert one(ask(text), "update_task_due_date", "dueDate") == day


@pytest.mark.parametrize(("text", "minutes"), phrases("minutes"))
def test_a_duration_is_of_the_work_to_do(text: str, minutes: str | None) -> None:
    told = one(ask(text), "update_task_estimate", "minutes")
    assert told == (minutes and int(minutes))


@pytest.mark.parametrize(("text", "priority"), phrases("priorities"))
def test_urgency_is_of_this_task_and_now(text: str, priority: str | None) -> None:
    assert one(ask(text), "update_task_priority", "priority") == priority


@pytest.mark.parametrize(("text", "status"), phrases("statuses"))
def test_who_waits_rests_or_has_begun_is_the_person(text: str, status: str | None) -> None:
    assert one(ask(text), "set_task_status", "status") == status


@pytest.mark.parametrize(("text", "status"), phrases("freed"))
def test_what_came_frees_what_was_blocked(text: str, status: str | None) -> None:
    assert one(ask(text, status="BLOCKED"), "set_task_status", "status") == status


@pytest.mark.parametrize(("text", "reason"), phrases("blockers"))
def test_a_blocker_is_proposed_with_its_reason(text: str, reason: str) -> None:
    assert calls(ask(text))["set_task_status"] == {"status": "BLOCKED", "reason": reason}


@pytest.mark.parametrize(("text", "wanted"), phrases("items"))
def test_checklist_items_are_spans_of_the_text(text: str, wanted: str | None) -> None:
    assert titles(ask(text)) == several(wanted)


BESIDE = [("en", ITEMS), ("de", DINGE)]


@pytest.mark.parametrize(
    ("text", "wanted", "items"),
    [(*row, items) for name, items in BESIDE for row in phrases(f"items_{name}")],
)
def test_what_is_asked_for_and_not_there_is_added(
    text: str, wanted: str | None, items: tuple[str, ...]
) -> None:
    found = titles(ask(text, checklist=[item(title) for title in items]))
    assert found == several(wanted)


@pytest.mark.parametrize(
    ("text", "wanted", "items"),
    [(*row, items) for name, items in BESIDE for row in phrases(f"ticks_{name}")],
)
def test_a_tick_takes_a_clause_in_the_past(
    text: str, wanted: str | None, items: tuple[str, ...]
) -> None:
    told = calls(ask(text, checklist=[item(title) for title in items]))
    found = told.get("update_checklist_items", {"items": []})["items"]
    assert sorted(one["id"].removeprefix("item-") for one in found) == sorted(several(wanted))


@pytest.mark.parametrize(("text", "wanted"), phrases("results"))
def test_how_a_thing_is_and_which_of_them_tells_what_was_done(
    text: str, wanted: str | None
) -> None:
    listed, said = text.split(" // ")
    told = calls(ask(said, checklist=[item(title) for title in several(listed)]))
    found = told.get("update_checklist_items", {"items": []})["items"]
    assert [one["id"].removeprefix("item-") for one in found] == several(wanted)


@pytest.mark.parametrize(("text", "reason"), phrases("ticked"))
def test_what_is_done_is_ticked_with_the_words_that_say_so(text: str, reason: str) -> None:
    told = calls(ask(text, checklist=[item("Design mockup"), item("Ship")]))
    expected = {"id": "item-Design mockup", "isChecked": True, "reason": reason}
    assert told["update_checklist_items"]["items"] == [expected]


@pytest.mark.parametrize(("text", "_"), phrases("not_ticked"))
def test_what_is_not_done_is_not_ticked(text: str, _: None) -> None:
    assert "update_checklist_items" not in calls(ask(text, checklist=[item("Design mockup")]))


@pytest.mark.parametrize(("text", "_"), phrases("prose"))
def test_ordinary_prose_asks_for_nothing(text: str, _: None) -> None:
    assert proposed(ask(text, sections=REPORT)) == {}


@pytest.mark.parametrize(("text", "expected"), phrases("languages"))
def test_the_language_is_told_by_stop_words(text: str, expected: str | None) -> None:
    told = calls(ask(text, languageCode=None)).get("set_task_language")
    names = ("languageCode", "confidence")
    assert told == (expected and dict(zip(names, several(expected), strict=True)))
    assert "set_task_language" not in calls(ask(text, languageCode="fr"))


@pytest.mark.parametrize(
    ("text", "task", "tool"),
    [
        ("Started the draft", {"status": "IN PROGRESS"}, "set_task_status"),
        ("Waiting for Bob", {"status": "BLOCKED"}, "set_task_status"),
        ("Waiting for Bob", {"status": "ON HOLD"}, "set_task_status"),
        ("This is urgent!", {"priority": "P0"}, "update_task_priority"),
    ],
)
def test_what_is_so_or_more_than_so_is_not_proposed(
    text: str, task: dict[str, Any], tool: str
) -> None:
    assert tool not in calls(ask(text, **task))


# ---------------------------------------------------------------------------------- several notes


@pytest.mark.parametrize(
    "newer",
    [
        "Received the contract",
        "No longer blocked",
        "Not blocked by Bob any more",
        "Der Vertrag ist da.",
        "Der Vertrag ist eingetroffen",
        "Nicht mehr blockiert",
    ],
)
def test_a_newer_note_frees_what_was_blocked(newer: str) -> None:
    older = note("Waiting for the contract")
    assert "set_task_status" not in calls(ask(note(newer, SATURDAY), older))
    told = calls(ask(older, note(newer, SATURDAY), status="BLOCKED", sections=REPORT))
    assert newer in told["record_observations"]["observations"][0]["text"]


def test_what_is_blocked_again_is_not_called_free() -> None:
    told = ask("Received the contract", "Waiting for Bob", status="BLOCKED", sections=REPORT)
    assert told.calls == ()


@pytest.mark.parametrize(
    "newer",
    ["Have not received it", "Noch nicht da", "Received?", "Der Vertrag ist noch nicht da."],
)
def test_what_has_not_come_frees_nothing(newer: str) -> None:
    told = ask(note("Waiting for the contract"), note(newer, SATURDAY))
    assert one(told, "set_task_status", "status") == "BLOCKED"


def test_what_came_frees_a_task_that_waited_for_it_or_rested() -> None:
    waiting: dict[str, Any] = {"status": "BLOCKED", "statusReason": "waiting for the tiles"}
    for told in (
        ask("Tiles arrived", **waiting),
        ask("Off hold since today.", status="ON HOLD"),
    ):
        assert one(told, "set_task_status", "status") == "IN PROGRESS"
    assert "set_task_status" not in calls(ask("The invoice arrived", **waiting))


def test_the_newest_word_about_the_state_wins() -> None:
    waiting, started = note("Waiting for Bob"), note("Started the draft", SATURDAY)
    assert one(ask(started, waiting), "set_task_status", "status") == "IN PROGRESS"
    for both in ("Started the draft. Waiting for Bob", "Waiting for Bob. Started the draft"):
        assert one(ask(both), "set_task_status", "status") == "BLOCKED"


def test_a_newer_note_takes_urgency_back() -> None:
    told = ask(note("Urgent"), note("No longer urgent", SATURDAY))
    assert "update_task_priority" not in calls(told)


def test_a_word_that_two_items_share_ticks_neither() -> None:
    told = ask("done: call", checklist=[item("Call Bob"), item("Call Ann")])
    assert "update_checklist_items" not in calls(told)


@pytest.mark.parametrize(
    ("text", "ticked"),
    [
        ("Windows ✅ oven ✅ fridge tomorrow", "Windows; Oven"),
        ("Windows ❌ oven ✔", "Oven"),
        ("1 and 3 are done, Eva is away.", "Windows; Fridge"),
        ("1, 2 und 3 sind erledigt", "Windows; Oven; Fridge"),
        ("Number 2 is done.", "Oven"),
        ("1 done", "Windows"),
        ("Nr. 2 erledigt", "Oven"),
        ("3 done, 2 to go", "Fridge"),
        ("all but the oven", "Windows; Fridge"),
        ("Windows are in the bag, oven ✅", "Oven; Windows"),
        ("2 and 5 are done", ""),
        ("Not yet: 1 and 2 are done", ""),
        ("Merged: windows, fridge. The oven is a mess.", "Windows; Fridge"),
        ("Wanted: windows", ""),
        ("Not paid: windows", ""),
        ("Oven steht auch.", "Oven"),
    ],
)
def test_what_is_marked_counted_or_listed_as_made_is_ticked(text: str, ticked: str) -> None:
    listed = [item("Windows"), item("Oven"), item("Gone", archived=True), item("Fridge")]
    given = calls(ask(text, checklist=listed)).get("update_checklist_items", {"items": []})
    assert [one["id"] for one in given["items"]] == [f"item-{one}" for one in several(ticked)]


def test_a_tick_taken_off_after_the_note_stays_off() -> None:
    opened = item("Call Bob", checkedBy="person", checkedAt=SATURDAY)
    assert "update_checklist_items" not in calls(ask("done: call Bob", checklist=[opened]))


def test_what_is_done_already_is_not_added() -> None:
    told = ask(note("I need to call the bank"), note("done: call the bank", SATURDAY))
    assert proposed(told) == {}


# ------------------------------------------------------------------------------------ taking back

OFFERED = ("set_task_status", "update_task_due_date", "retract_suggestions", "update_report")
FOUND = "## Journal\n\n- [2026-11-20T09:00:00Z] (routine) Found by rule: due 2026-12-04, item Ink"


def taken_back(*notes: Any, line: str, journal: str = "", **task: Any) -> list[str]:
    sections = {"proposals": f"## Open\n\n- fp=abc {line}", "journal": journal}
    reply = ask(*notes, sections=sections, tools=OFFERED, **task)
    told = calls(reply).get("retract_suggestions", {"proposals": []})
    return [one["fingerprint"] for one in told["proposals"]]


def test_a_later_text_takes_an_open_proposal_back() -> None:
    blocked = 'Set status to BLOCKED: "Waiting for Bob"'
    waiting = note("Waiting for Bob", FRIDAY)
    answered = note("Bob answered, we can go on", SATURDAY)
    assert taken_back(waiting, line=blocked) == []
    assert taken_back(waiting, answered, line=blocked) == ["abc"]
    due = "Set due date to 2026-12-04"
    assert taken_back("Due 2026-12-04", line=due) == []
    assert taken_back("Due 2026-12-04", "There is no deadline any more", line=due) == ["abc"]


def test_what_was_found_in_a_text_that_was_edited_is_taken_back() -> None:
    due = "Set due date to 2026-12-04"
    assert taken_back("It was fine.", line=due, journal=FOUND) == ["abc"]
    assert taken_back("It was fine.", line='Add: "Ink"', journal=FOUND) == ["abc"]
    assert taken_back("Due 2026-12-04", line=due, journal=FOUND) == []
    assert taken_back("Due 2026-12-05", line=due, journal=FOUND) == [], "the new one replaces it"
    assert taken_back("It was fine.", line=due) == [], "another model may have read more"
