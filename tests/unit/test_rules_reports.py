"""What the offline model reports and answers: what is next, what waits, what changed, in words."""

import json
from typing import Any

import pytest

from tests.support.rules import TOOLS, ask, calls, item, note

NOW = {"now": "## Now\n\nSaturday 2026-11-21 12:00, Europe/Berlin (UTC+01:00)"}
REPORTED = {"report": "## Current report\n\nWritten at 2026-11-15T10:00:00.000000Z.\n\nTL;DR: Fine"}
LINKED = {
    "relation": "is_blocked_by",
    "id": "tax1tax1tax1",
    "title": "Tax return",
    "status": "OPEN",
}
ITEMS = [item("Buy paint", checked=True), item("Paint the door"), item("Tidy up")]


def at(day: str) -> str:
    return f"{day}T10:00:00.000000Z"


def set_on(day: str, value: Any, by: str = "agent") -> dict[str, Any]:
    return {"value": value, "by": by, "at": at(day)}


def reported(*notes: Any, sections: dict[str, str] | None = None, **task: Any) -> dict[str, str]:
    told: dict[str, str] = calls(ask(*notes, sections=NOW | (sections or {}), **task))[
        "update_report"
    ]
    return told


def answered(words: str, *notes: Any, sections: dict[str, str] | None = None, **task: Any) -> str:
    """The answer to a person's words, without what it says of itself."""
    given = NOW | {"words": f"## The user's words\n\n{words}"} | (sections or {})
    text = ask(*notes, sections=given, tools=(), **task).text
    told, _, last = text.rpartition("\n\n")
    assert "ffline" in last
    return told


@pytest.mark.parametrize(
    ("task", "step"),
    [
        ({}, "Plain"),
        ({"title": "Die Tür streichen", "languageCode": "de"}, "Die Tür streichen"),
        ({"checklist": ITEMS}, "Paint the door"),
        ({"checklist": ITEMS, "dueDate": "2026-11-20"}, "Paint the door (overdue)"),
        ({"checklist": ITEMS, "dueDate": "2026-11-21"}, "Paint the door"),
        ({"checklist": ITEMS[:1]}, "close it, all its items are done"),
        ({"checklist": ITEMS[:1], "languageCode": "de"}, "abschließen, alle Punkte sind erledigt"),
        ({"checklist": ITEMS, "status": "DONE"}, "nothing, the task is closed"),
        ({"checklist": ITEMS, "status": "ON HOLD"}, "nothing while it is on hold"),
        (
            {"status": set_on("2026-11-20", "BLOCKED"), "statusReason": "waiting for Bob"},
            "nothing yet (waiting for Bob)",
        ),
        (
            {"status": set_on("2026-11-14", "BLOCKED"), "statusReason": "waiting for Bob"},
            "ask again after 7 days (waiting for Bob)",
        ),
    ],
)
def test_the_next_step_stands_on_top_in_one_line(task: dict[str, Any], step: str) -> None:
    content = reported(**task)["content"]
    name = "Als Nächstes" if task.get("languageCode") == "de" else "Next"
    assert content.startswith(f"**{name}:** {step}\n\n")


def test_what_is_proposed_as_done_is_not_the_next_step() -> None:
    open_one = {"proposals": '## Open proposals\n\n- fp=abc Check: "Paint the door"'}
    assert reported(checklist=ITEMS, sections=open_one)["content"].startswith("**Next:** Tidy up\n")
    told = reported("done: paint the door", checklist=ITEMS)
    assert told["content"].startswith("**Next:** Tidy up\n")
    told = reported("todo: buy a brush", checklist=ITEMS[:1])
    assert told["content"].startswith("**Next:** decide on the proposed items\n")


@pytest.mark.parametrize(
    ("due", "english", "german"),
    [
        ("2026-11-21", "today", "heute"),
        ("2026-11-22", "tomorrow", "morgen"),
        ("2026-12-04", "in 13 days", "in 13 Tagen"),
        ("2026-11-20", "overdue since yesterday", "seit gestern überfällig"),
        ("2026-11-18", "overdue by 3 days", "seit 3 Tagen überfällig"),
    ],
)
def test_a_due_date_is_told_by_the_persons_day(due: str, english: str, german: str) -> None:
    assert f"- **Due:** {due}, {english}\n" in reported(dueDate=due)["content"]
    assert f"- **Fällig:** {due}, {german}\n" in reported(dueDate=due, languageCode="de")["content"]
    assert (english in reported(dueDate=due)["oneLiner"]) == ("overdue" in english)


def test_who_waits_for_what_since_when() -> None:
    told = reported(
        status=set_on("2026-11-14", "BLOCKED"),
        statusReason="waiting for Bob",
        sections={"linked": f"## Linked tasks\n\n{json.dumps(LINKED)}"},
    )["content"]
    assert "- **Status:** BLOCKED since 2026-11-14 (7 days): waiting for Bob\n" in told
    assert "- **Blocked by:** Tax return (OPEN)\n" in told
    assert "tax1" not in told


def test_what_changed_since_the_last_report_and_what_waits() -> None:
    given: dict[str, Any] = {
        "dueDate": set_on("2026-11-16", "2026-12-04"),
        "priority": set_on("2026-11-10", "P1"),
        "checklist": [
            item("Buy paint", checked=True, checkedAt=at("2026-11-16")),
            item("Paint the door", checkedAt=at("2026-11-17")),
            item("Measure it", checked=True, checkedAt=at("2026-11-14")),
        ],
    }
    notes = [note("Fine.", at("2026-11-10")), note("Fine, too.", at("2026-11-16"))]
    waiting = {"proposals": '## Open proposals\n\n- fp=abc Add: "Tidy up" [deferred]'}
    told = reported(*notes, sections=REPORTED | waiting | {"changed": "- x"}, **given)
    assert (
        "## Changed since the last report\n\n- Due: 2026-12-04\n- Ticked: Buy paint\n"
        "- No longer ticked: Paint the door\n- New notes: 1\n\n"
    ) in told["content"]
    assert '## Proposed before and undecided\n\n- Add: "Tidy up" [deferred]\n' in told["content"]
    assert told["tldr"].endswith("In the inbox from before: 1.")
    assert "Changed since" not in reported(*notes, **given)["content"]


def test_what_a_wake_takes_back_or_replaces_waits_no_more() -> None:
    lines = ["- fp=abc Set due date to 2026-11-30", "- fp=abd Set estimate to 60 minutes"]
    waiting = {"proposals": "## Open proposals\n\n" + "\n".join(lines)}
    tools = (*TOOLS, "retract_suggestions")
    notes = ("The deadline is off.", "It takes 2 hours.")
    told = reported(*notes, sections=waiting, tools=tools)["content"]
    assert "## Taken back\n\n- Set due date to 2026-11-30\n" in told
    assert "Proposed before" not in told
    assert "60 minutes" not in told


def test_an_open_item_that_its_note_still_asks_for_is_not_taken_back() -> None:
    noted = "- [2026-11-20T11:00:00.000000Z] (routine) Found by rule: item Buy milk"
    open_one = '## Open proposals\n\n- fp=abc Add: "Buy milk"'
    given = {"proposals": open_one, "journal": f"## Agent journal\n\n{noted}"}
    tools = (*TOOLS, "retract_suggestions")
    asked, edited = (ask(text, sections=given, tools=tools) for text in ("todo: buy milk", "Fine."))
    assert "retract_suggestions" not in calls(asked)
    assert calls(edited)["retract_suggestions"]["proposals"][0]["fingerprint"] == "abc"


def test_a_status_that_is_proposed_is_no_open_question() -> None:
    told = reported("The parts are here, we can go on.", status="BLOCKED")["content"]
    assert "- Status: IN PROGRESS, " in told
    assert "Open questions" not in told
    assert told.startswith("**Next:** let it go on")


def test_open_questions_are_the_persons_loops_and_what_the_newest_notes_ask() -> None:
    notes = [note("Who has the key?", at("2026-11-02"))]
    notes += [
        note(text, at("2026-11-20")) for text in ("Fine.", "> Old?\nFine. Is it paid?", "No.")
    ]
    goal = {"goal": "## Goal\n\nOpen loops:\n- Ask Ann\n- Call Bob\n\nPreferences:\n- a: b"}
    told = reported(*notes, sections=goal)["content"]
    asked = '"Is it paid?" (note of 2026-11-20)'
    assert f"## Open questions\n\n- Ask Ann\n- Call Bob\n- {asked}\n\n" in told


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("What is due?", "It is due on 2026-12-04, in 13 days."),
        ("what is still open?", "Still open:\n- Paint the door\n- Tidy up"),
        ("What is done", "1 of 3 items done:\n- Buy paint"),
        ("How long will it take?", "Estimate: 90 min; time spent: 30 min"),
        (
            "Who are we waiting for?",
            "It waits: BLOCKED since 2026-11-14 (7 days): waiting for Bob.",
        ),
        ("What did you propose?", 'In the inbox:\n- Add: "Buy a brush"'),
        ("What changed?", "Changed since the last report:\n- Due: 2026-12-04"),
        ("What should I do next?", "Next: ask again after 7 days (waiting for Bob)."),
    ],
)
def test_a_question_is_answered_from_the_task(words: str, answer: str) -> None:
    assert answered(words, **_asked_about("en")) == answer


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Wann ist das fällig?", "Fällig am 2026-12-04, in 13 Tagen."),
        ("Was ist noch offen?", "Noch offen:\n- Paint the door\n- Tidy up"),
        ("Was ist erledigt?", "1 von 3 Punkten erledigt:\n- Buy paint"),
        ("Wie lange dauert es?", "Schätzung: 90 Min.; Zeit bisher: 30 Min."),
        ("Worauf warten wir?", "Sie wartet: blockiert seit 2026-11-14 (7 Tage): waiting for Bob."),
        ("Was hast du vorgeschlagen?", 'Im Eingang:\n- Neu: "Buy a brush"'),
        ("Was hat sich geändert?", "Seit dem letzten Bericht geändert:\n- Fällig: 2026-12-04"),
    ],
)
def test_a_german_question_is_answered_in_german(words: str, answer: str) -> None:
    assert answered(words, **_asked_about("de")) == answer


def _asked_about(language: str) -> dict[str, Any]:
    return {
        "languageCode": language,
        "dueDate": set_on("2026-11-16", "2026-12-04"),
        "estimateMinutes": 90,
        "timeSpentMinutes": 30,
        "status": set_on("2026-11-14", "BLOCKED"),
        "statusReason": "waiting for Bob",
        "checklist": ITEMS,
        "sections": REPORTED | {"proposals": '## Open proposals\n\n- fp=abc Add: "Buy a brush"'},
    }


def test_where_there_is_nothing_to_tell_the_answer_says_so() -> None:
    assert answered("What is due?") == "No due date is set."
    assert answered("What is open?") == "No item is open."
    assert answered("Who waits?") == "It waits for nobody: its status is OPEN."
    assert answered("What did you suggest?") == "Nothing waits in the inbox."
    assert answered("What is new?") == "Nothing changed since the last report."


def test_a_due_date_that_waits_in_the_inbox_is_told_with_the_one_that_holds() -> None:
    lines = {"proposals": "## Open proposals\n\n- fp=abc Set due date to 2026-12-18"}
    told = answered("What is due?", dueDate="2026-11-21", sections=lines)
    assert told == ("It is due on 2026-11-21, today. In the inbox:\n- Set due date to 2026-12-18")


def test_other_words_get_how_the_task_stands() -> None:
    told = answered("Please finish it.", checklist=ITEMS, dueDate="2026-11-21")
    assert told == (
        "Status OPEN, priority P2.\n\nIt is due on 2026-11-21, today.\n\nNext: Paint the door.\n\n"
        "Still open:\n- Paint the door\n- Tidy up"
    )
