"""The rules model asks for a follow-up, for time spent and for a link where a text plainly does."""

import json
from typing import Any

import pytest

from domain.ports import CallResult, Exchange, Reply
from tests.support.rules import REPORT, TOOLS, calls, item, note
from tests.support.rules import ask as ask_plainly

ACTS = ("create_follow_up_task", "log_time", "link_task")
FRIDAY_EVENING = "2026-11-20T19:30:00.000000Z"  # 20:30 to the person
SECTIONS = {"now": "## Now\n\nSaturday 2026-11-21 12:00, Europe/Berlin (UTC+01:00)"}
ITEMS = [item("Buy paint"), item("Paint the door"), item("Tidy up", checked=True)]
TAX = {"relation": "relates_to", "id": "tax1tax1tax1", "title": "Tax return 2025"}
HOUSE = {"relation": "relates_to", "id": "house1house1", "title": "Tax on the house"}


def ask(*notes: Any, sections: dict[str, str] | None = None, **rest: Any) -> Reply:
    """Of scaffold 2; notes are of Friday evening."""
    told = [one if isinstance(one, dict) else note(one, FRIDAY_EVENING) for one in notes]
    given = {"tools": (*TOOLS, *ACTS, "find_tasks"), "checklist": ITEMS} | rest
    return ask_plainly(*told, sections=SECTIONS | (sections or {}), **given)


def acts(reply: Reply) -> dict[str, Any]:
    return {tool: given for tool, given in calls(reply).items() if tool in (*ACTS, "find_tasks")}


def linked(*tasks: dict[str, str]) -> dict[str, str]:
    return {"linked": "## Linked tasks\n\n" + "\n".join(json.dumps(one) for one in tasks)}


# ------------------------------------------------------------------------------- follow-up tasks

DOOR, PAINT = "item-Paint the door", "item-Buy paint"


@pytest.mark.parametrize(
    ("text", "carried", "description"),
    [
        ("Done, the rest is a new task: paint the door, varnish.", [DOOR], "- Varnish"),
        ("The rest I do next month: Buy paint and paint the door", [PAINT, DOOR], None),
        ("The rest I'll do next month: buy paint", [PAINT], None),
        ("The rest is a follow-up task.", [PAINT, DOOR], None),
        ("Good so far. The rest becomes a new task:\n- Paint the door\n- [x] Tidy", [DOOR], None),
        ("I'll do the rest in January: the door", [DOOR], None),
        ("Rest mache ich im Januar: paint the door", [DOOR], None),
        ("Fertig, der Rest wird eine neue Aufgabe: Buy paint, Lack holen", [PAINT], "- Lack holen"),
        ("Den Rest erledige ich nächsten Monat: buy paint", [PAINT], None),
        ("Der Rest ist eine Folgeaufgabe", [PAINT, DOOR], None),
    ],
)
def test_what_is_left_for_later_is_a_follow_up(
    text: str, carried: list[str], description: str | None
) -> None:
    given = acts(ask(text))["create_follow_up_task"]
    assert [one["id"] for one in given["carryOver"]] == carried
    assert given.get("description") == description
    assert (given["title"], given.get("dueDate")) == ("Plain: the rest", None)
    assert given["because"] in text


@pytest.mark.parametrize(
    "text",
    [
        "The rest is not a new task: paint the door",
        "Is the rest a new task: paint the door?",
        "If the rest is a new task: paint the door",
        "Bob says the rest is a new task: paint the door",
        "Bob: the rest is a new task: paint the door",
        '"The rest is a new task: paint the door", it said.',
        "> The rest is a new task: paint the door",
        "Maybe the rest is a new task: paint the door",
        "I need a rest next month: paint the door",
        "The rest I do next month.",
        "Der Rest ist keine neue Aufgabe: paint the door",
        "Wenn der Rest eine neue Aufgabe wird: paint the door",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert acts(ask(text)) == {}


def test_a_date_in_that_sentence_is_the_follow_ups() -> None:
    told = calls(ask("The rest is a new task due 2027-01-15: paint the door"))
    assert told["create_follow_up_task"]["dueDate"] == "2027-01-15"
    assert "update_task_due_date" not in told


def test_a_follow_up_of_nothing_is_none() -> None:
    assert acts(ask("The rest is a new task.", checklist=[])) == {}


# ------------------------------------------------------------------------------------ time spent


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Worked from 4 to 6pm.", "20T16:00", "20T18:00"),
        ("I worked on it from 4 to 6:30 pm", "20T16:00", "20T18:30"),
        ("Worked on the door yesterday from 11 to 1pm", "19T11:00", "19T13:00"),
        ("I have worked on the door from 14:00 to 15:30 today", "20T14:00", "20T15:30"),
        ("Worked from 9:15 - 11:45", "20T09:15", "20T11:45"),
        ("Yesterday I worked between 2pm and 3pm", "19T14:00", "19T15:00"),
        ("2 hours yesterday from 14:00", "19T14:00", "19T16:00"),
        ("Spent 90 minutes on the door from 3pm", "20T15:00", "20T16:30"),
        ("Worked on Monday from 14:00 to 15:00", "16T14:00", "16T15:00"),
        ("Worked on 2026-11-18 from 14:00 to 15:00", "18T14:00", "18T15:00"),
        ("Von 16 bis 18 Uhr daran gearbeitet", "20T16:00", "20T18:00"),
        ("Habe gestern von 9 bis 11:30 Uhr an der Tür gearbeitet.", "19T09:00", "19T11:30"),
        ("Ich habe vorgestern von 16:00 bis 17:15 Uhr daran gearbeitet", "18T16:00", "18T17:15"),
        ("Gestern 2 Stunden ab 14 Uhr", "19T14:00", "19T16:00"),
    ],
)
def test_time_that_was_spent_is_logged(text: str, start: str, end: str) -> None:
    given = acts(ask(text))["log_time"]
    assert (given["startedAt"], given["endedAt"]) == (f"2026-11-{start}", f"2026-11-{end}")
    assert given["because"] == text
    assert given["summary"] == text.rstrip(".")


@pytest.mark.parametrize(
    "text",
    [
        "Worked from 4 to 6",  # of the morning?
        "Worked from 4 to 6 Uhr",
        "I will work from 4 to 6pm",
        "I'll have worked from 4 to 6pm",
        "Worked from 9 to 11pm",  # not over when it was written
        "Did I work from 4 to 6pm?",
        "I have not worked from 4 to 6pm",
        "If I worked from 4 to 6pm",
        "Bob worked from 4 to 6pm",
        "Bob: worked from 4 to 6pm",
        "Bob said I worked from 4 to 6pm",
        "The heating worked from 4 to 6pm",
        "Every day worked from 4 to 6pm",
        "Worked on Dec 4 from 14:00 to 15:00",  # of which year?
        "Worked on Friday from 14:00 to 15:00",  # today, or a week ago?
        "Worked from page 4 to 6",
        "2 hours tomorrow from 14:00",
        "Bob hat von 16 bis 18 Uhr daran gearbeitet",
        "Morgen wird von 16 bis 18 Uhr gearbeitet",
        "Nicht von 16 bis 18 Uhr daran gearbeitet",
        "Geöffnet von 16 bis 18 Uhr",
    ],
)
def test_what_is_no_time_of_the_persons_is_not_logged(text: str) -> None:
    assert acts(ask(text)) == {}


def test_without_the_persons_clock_no_time_is_logged() -> None:
    assert acts(ask("Worked from 4 to 6pm", sections={"now": ""})) == {}


def test_several_spans_are_a_call_each_and_none_that_overlaps() -> None:
    texts = ("Worked from 2pm to 3pm.", "Worked from 2:30pm to 4pm.", "Worked from 5pm to 6pm.")
    reply = ask(*texts)
    logged = [json.loads(one.arguments) for one in reply.calls if one.tool == "log_time"]
    assert [one["startedAt"][11:] for one in logged] == ["14:00", "17:00"]


def test_each_span_is_reported_by_the_answer_to_its_own_call() -> None:
    texts = ("Worked from 2pm to 3pm.", "Worked from 5pm to 6pm.")
    first = ask(*texts)
    refused = CallResult("c1", "log_time", "redundant: overlaps", is_error=True)
    taken = CallResult("c2", "log_time", "Queued for the person's review: 1 item(s).")
    told = calls(ask(*texts, exchanges=(Exchange(first.raw, (refused, taken)),)))
    assert "17:00-18:00" in told["update_report"]["content"]
    assert "14:00-15:00" not in told["update_report"]["content"]


# ------------------------------------------------------------------------------------- blockers


@pytest.mark.parametrize(
    "text",
    [
        "Blocked by the tax task.",
        "It is blocked by the tax return task since Monday",
        'Blocked by "Tax return 2025"',
        "Blocked by task tax",
        "Blockiert durch die Tax-Aufgabe",
        "Blockiert durch Aufgabe „Tax return“",
    ],
)
def test_a_blocker_among_the_linked_tasks_is_linked(text: str) -> None:
    given = acts(ask(text, sections=linked(TAX)))
    assert list(given) == ["link_task"]
    assert given["link_task"]["targetTaskId"] == TAX["id"]
    assert given["link_task"]["relation"] == "is_blocked_by"
    assert given["link_task"]["because"] in text


@pytest.mark.parametrize(
    "text",
    [
        "Not blocked by the tax task",
        "No longer blocked by the tax task",
        "Is it blocked by the tax task?",
        "It might be blocked by the tax task",
        "It was blocked by the tax task",
        "Ann says it is blocked by the tax task",
        "Blocked by tax",
        "Blocked by another task",
        "Blocked by the tax task. Not blocked anymore.",
    ],
)
def test_what_names_no_blocker_is_not_looked_up(text: str) -> None:
    assert acts(ask(text, sections=linked(TAX))) == {}


def test_a_blocker_that_is_linked_so_already_is_left_alone() -> None:
    there = linked(TAX | {"relation": "is_blocked_by"})
    assert acts(ask("Blocked by the tax task", sections=there)) == {}


def looked_up(*tasks: dict[str, str], **rest: Any) -> tuple[Reply, Reply]:
    """The first turn, and the second one after the answer to its read."""
    first = ask("Blocked by the tax task", **rest)
    found = json.dumps({"tasks": tasks})
    results = [
        CallResult(
            one.call_id, one.tool, found if one.tool == "find_tasks" else "Queued: 1 item(s)."
        )
        for one in first.calls
    ]
    exchange = Exchange(first.raw, tuple(results))
    return first, ask("Blocked by the tax task", exchanges=(exchange,), **rest)


def test_a_blocker_is_looked_up_and_linked_on_the_next_turn() -> None:
    first, second = looked_up(TAX)
    assert acts(first) == {"find_tasks": {"words": "tax"}}
    assert list(calls(second)) == ["link_task", "update_report"]
    assert calls(second)["link_task"]["targetTaskId"] == TAX["id"]
    assert "Blocked by: Tax return 2025" in calls(second)["update_report"]["content"]


@pytest.mark.parametrize("tasks", [(TAX, HOUSE), ()])
def test_a_blocker_that_is_not_plain_is_said_in_the_report(tasks: tuple[dict[str, str]]) -> None:
    _, second = looked_up(*tasks)
    assert list(calls(second)) == ["update_report"]
    assert "none here, or might be several" in calls(second)["update_report"]["content"]


def test_a_refused_link_is_not_reported_as_proposed() -> None:
    first, second = looked_up(TAX)
    one = Exchange(first.raw, (CallResult("c1", "find_tasks", json.dumps({"tasks": [TAX]})),))
    refused = CallResult("c1", "link_task", "not_found: no such task", is_error=True)
    told = ask("Blocked by the tax task", exchanges=(one, Exchange(second.raw, (refused,))))
    assert list(calls(told)) == ["update_report"]
    assert "Blocked by:" not in calls(told)["update_report"]["content"]


def test_without_a_way_to_look_the_report_says_so() -> None:
    told = calls(ask("Blocked by the tax task", tools=(*TOOLS, *ACTS)))
    assert "link_task" not in told
    assert "none here, or might be several" in told["update_report"]["content"]


# ------------------------------------------------------------------------------- once, and before

TEXTS = ("The rest is a new task.", "Worked from 4 to 6pm.", "Blocked by the tax task.")


@pytest.mark.parametrize("number", ["", "812-3 ", "812-3@r2 "])
def test_what_was_asked_for_is_not_asked_for_at_each_wake(number: str) -> None:
    first = ask(*TEXTS)
    assert set(acts(first)) == {"create_follow_up_task", "log_time", "find_tasks"}
    noted = [one["text"] for one in calls(first)["record_observations"]["observations"]]
    lines = "\n".join(f"- {number}[2026-11-20T20:00:00.000000Z] (routine) {one}" for one in noted)
    journal = REPORT | {"journal": f"## Agent journal\n\n{lines}"}
    assert acts(ask(*TEXTS, sections=journal)) == {}
    again = [note(one, "2026-11-20T21:00:00.000000Z") for one in TEXTS]
    assert set(acts(ask(*again, sections=journal))) == {*acts(first)}, "a newer note asks anew"


@pytest.mark.parametrize("lead", ["fp=abc", "confirmed:", "rejected:", "deferred:"])
def test_what_is_proposed_or_decided_is_left_out(lead: str) -> None:
    lines = (
        f'- {lead} Create follow-up task "Plain: the rest", with "Buy paint"',
        f"- {lead} Log 2026-11-20 16:00-18:00 (2 h): worked",
        f"- {lead} Link: is blocked by task {TAX['id'][:8]}",
    )
    sections = linked(TAX) | {"proposals": "## Open proposals\n\n" + "\n".join(lines)}
    assert acts(ask(*TEXTS, sections=sections)) == {}


def test_time_that_the_task_has_is_not_logged_again() -> None:
    there = "## Time\n\nLogged in all: 60 minutes.\n- e1 2026-11-20T17:30 to 18:30, 60 minutes: x"
    assert acts(ask("Worked from 4 to 6pm", sections={"time": there})) == {}


def test_a_closed_task_asks_for_nothing() -> None:
    assert acts(ask(*TEXTS, status="DONE")) == {}


def test_a_request_without_these_tools_gets_what_it_would_get_without_the_clock() -> None:
    before = ask(*TEXTS, tools=TOOLS)
    assert acts(before) == {}
    assert before == ask_plainly(*(note(one, FRIDAY_EVENING) for one in TEXTS), checklist=ITEMS)
