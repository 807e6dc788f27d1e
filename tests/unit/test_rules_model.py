"""The rules model proposes what a text says, once, does what it asks for, and reports in words."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.models.offline.wording import texts_in
from adapters.models.rules.context import ENTRIES_MAX, ENTRY_CHARS_MAX
from adapters.models.rules.model import RULES_VERSION, RulesModel, parse
from domain.errors import Refused
from domain.ports import CallResult, Exchange, Reply, Request, Section, ToolSpec
from domain.wake.tool_call import NOT_PROPOSED
from tests.support.rules import (
    FRIDAY,
    REPORT,
    SATURDAY,
    TOOLS,
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

EN = texts_in("en")

QUEUED = Exchange(b"{}", (CallResult("c1", "update_task_due_date", "Queued for review"),))
LABELS = {"available_labels": "## Labels\n\n- l1: Bank\n- l2: Home office\n- l3: art\n- l4: Tax"}


def test_labels_are_assigned_where_a_text_names_them() -> None:
    told = ask("Party at the home  OFFICE, then the bank. TAX!", sections=LABELS, title="Art")
    labels = calls(told)["assign_task_labels"]["labels"]
    assert [label["id"] for label in labels] == ["l3", "l1", "l2"]
    assert {label["confidence"] for label in labels} == {"high"}


@pytest.mark.parametrize(
    "given",
    [
        {"labelsLeft": 0},
        {"labels": [{"id": "l1", "name": "Bank"}]},
        {"labelsLeft": None, "labels": [{"id": str(n)} for n in range(3)]},
        {"sections": LABELS | {"suppressed_labels": "- l1: Bank"}},
    ],
    ids=["no more", "has it", "has three", "suppressed"],
)
def test_no_label_too_many_twice_or_suppressed(given: dict[str, Any]) -> None:
    assert "assign_task_labels" not in calls(ask("The bank", **({"sections": LABELS} | given)))


@pytest.mark.parametrize(
    ("text", "task", "line"),
    [
        ("due 2026-12-04", {"dueDate": "2026-12-04"}, "Set due date to 2026-12-04"),
        ("~60 min", {"estimateMinutes": 60}, "Set estimate to 60 minutes"),
        ("urgent", {"priority": "P1"}, "Set priority to P1"),
        ("Waiting for Bob", {"status": "BLOCKED"}, 'Set status to BLOCKED: "Waiting for Bob"'),
        ("todo: buy  milk", {"checklist": [item("Buy MILK")]}, 'Add: "Buy milk"'),
        ("todo: buy milk", {"checklist": [item("buy milk", archived=True)]}, 'Add: "Buy milk"'),
    ],
)
def test_what_holds_or_is_proposed_is_not_proposed(
    text: str, task: dict[str, Any], line: str
) -> None:
    assert proposed(ask(text)) != {}
    assert proposed(ask(text, **task)) == {}
    section = f"## Open proposals\n\n- fp=abc {line}\n\nRecent verdicts:\n- rejected: something"
    assert proposed(ask(text, sections={"proposals": section})) == {}


def test_another_open_proposal_hides_nothing() -> None:
    section = '- fp=abc Set due date to 2026-12-05\n- fp=abd Add: "Buy milk for Ann"'
    told = ask("due 2026-12-04. todo later\ntodo: buy milk", sections={"proposals": section})
    assert set(proposed(told)) == {"update_task_due_date", "add_multiple_checklist_items"}


def test_a_newer_note_wins_whatever_the_order_of_the_log() -> None:
    newer, older = note("due 2026-12-05", SATURDAY), note("due 2026-12-04, ~2h")
    for log in ([newer, older], [older, newer]):
        told = ask(*log)
        assert one(told, "update_task_due_date", "dueDate") == "2026-12-05"
        assert one(told, "update_task_estimate", "minutes") == 120


def test_title_and_description_are_read_too() -> None:
    told = ask(title="Pay rent by 2026-12-01", description="todo: find the number")
    assert one(told, "update_task_due_date", "dueDate") == "2026-12-01"
    assert titles(told) == ["Find the number"]


def test_the_first_report_is_written_though_nothing_is_found_and_a_change_renews_it() -> None:
    told = calls(ask("It was a fine day."))
    assert list(told) == ["update_report"]
    assert "offline rules model" in told["update_report"]["content"]
    assert list(calls(ask(sections=REPORT | {"changed": "- title"}))) == ["update_report"]


def test_what_the_journal_knows_is_not_observed_again() -> None:
    first = ask("Received the tiles", status="BLOCKED", sections=REPORT)
    observed = calls(first)["record_observations"]["observations"][0]["text"]
    sections = REPORT | {"journal": f"## Journal\n\n- 2026-11-20 {observed}"}
    assert ask("Received the tiles", status="BLOCKED", sections=sections).calls == ()


def test_calls_come_in_a_fixed_order_with_plain_ids() -> None:
    text = "Urgent: due 2026-12-04, it is for the bank and ~2h. done: ship\ntodo: call Bob"
    told = ask(
        text,
        "Waiting for Ann. Ben needs to hire the van by Friday.",
        languageCode=None,
        sections=LABELS,
        checklist=[item("Ship")],
    )
    assert [call.tool for call in told.calls] == list(TOOLS)
    assert [call.call_id for call in told.calls] == [f"c{n}" for n in range(1, 11)]


def test_only_offered_tools_are_called_and_only_they_are_reported() -> None:
    told = ask("due 2026-12-04, ~2h", tools=("update_task_estimate", "update_report"))
    assert set(calls(told)) == {"update_task_estimate", "update_report"}
    assert "Due date" not in calls(told)["update_report"]["content"]
    assert ask("due 2026-12-04", tools=()).calls == ()


def test_what_was_not_taken_up_is_not_reported_as_proposed() -> None:
    answers = {
        "update_task_due_date": ("rejected by the person", True),
        "add_multiple_checklist_items": (f'Queued\n{NOT_PROPOSED}waiting: Add: "Buy milk".', False),
    }
    results = [CallResult("c", tool, *answer) for tool, answer in answers.items()]
    text = "due 2026-12-04. ~60 min\ntodo: buy milk\ntodo: buy bread"
    first = ask(text, languageCode=None)
    assert calls(first)["update_report"]["oneLiner"].endswith("4 proposed")
    turns = (Exchange(b"{}", (*results, CallResult("c", "update_task_estimate", "Queued"))),)
    told = ask(text, exchanges=turns)
    assert list(calls(told)) == ["update_report"]
    report = calls(told)["update_report"]
    assert report["oneLiner"].endswith("2 proposed")
    assert "2 found and not proposed" in report["content"]
    assert "Buy bread" in report["content"]
    assert "Buy milk" not in report["content"]
    last = ask(text, exchanges=(*turns, Exchange(b"{}")))
    assert (last.calls, last.text) == ((), "Proposed: Estimate, New checklist item.")
    nothing = (Exchange(b"{}", tuple(results[:1])), Exchange(b"{}"))
    assert ask(text, exchanges=nothing).text.startswith("1 found and not proposed")


def test_a_language_is_set_and_not_proposed() -> None:
    set_at_once = CallResult("c1", "set_task_language", "applied")
    told = ask("It was the day that we had been to the lake.", languageCode=None)
    report = calls(told)["update_report"]
    assert report["oneLiner"] == "Status OPEN, no checklist"
    assert "## Done at once\n\n- Language: en" in report["content"]
    assert "Found and proposed" not in report["content"]
    turns = (Exchange(b"{}", (set_at_once,)),)
    last = ask("It was the day that we had been to the lake.", languageCode=None, exchanges=turns)
    said = 'Newest, note of 2026-11-20: "It was the day that we had been to the lake."'
    assert (last.calls, last.text) == ((), said)


@pytest.mark.parametrize(
    ("fared", "is_heeded"),
    [("2 of 14", True), ("1 of 5", True), ("0 of 4", False), ("2 of 8", False)],
)
def test_what_is_mostly_declined_is_proposed_only_where_it_is_named(
    fared: str, is_heeded: bool
) -> None:
    lessons = {"lessons": f"## Lessons\n\n- update_task_due_date: {fared} accepted.\n"}
    told = calls(ask("Send it by 4 December, takes 2 hours.", sections=lessons))
    assert ("update_task_due_date" in told) is not is_heeded
    assert "update_task_estimate" in told
    shy = 'declined most of that kind here: Due date: 2026-12-04, "Send it by 4 December'
    assert (shy in told["update_report"]["content"]) is is_heeded
    named = calls(ask("The deadline is 4 December.", sections=lessons))
    assert named["update_task_due_date"]["dueDate"] == "2026-12-04"


def test_a_forced_tool_is_the_only_one() -> None:
    told = ask("due 2026-12-04", exchanges=(QUEUED,), forced="update_report", sections=REPORT)
    assert list(calls(told)) == ["update_report"]
    assert "2026-12-04" in calls(told)["update_report"]["content"]
    assert ask("due 2026-12-04", tools=("update_report",), forced="set_task_status").calls == ()


def test_a_report_is_bounded_names_its_sources_and_shows_no_ids() -> None:
    checklist = [item(f"Step {n}", id=f"secretid{n}", checked=n < 3) for n in range(40)]
    told = calls(
        ask("It is due by Friday.", checklist=checklist, estimateMinutes=90, timeSpentMinutes=30)
    )
    report = told["update_report"]
    assert '2026-11-27, "It is due by Friday." (note of 2026-11-20)' in report["content"]
    assert "3 of 40 items done" in report["content"]
    assert "and 17 more" in report["content"]
    assert "90 min" in report["content"]
    assert "secretid" not in report["content"] + report["tldr"] + report["oneLiner"]
    assert "task-1" not in report["content"]
    assert len(report["oneLiner"]) <= 80


def test_a_german_task_gets_a_german_report() -> None:
    for code in ("de", None):
        told = ask("Die Miete ist am Freitag fällig und wir warten noch.", languageCode=code)
        report = calls(told)["update_report"]
        assert "Offline-Regelmodell" in report["content"]
        assert "**Status:** offen" in report["content"]
        assert "Notiz vom 2026-11-20" in report["content"]


def test_a_task_of_few_german_words_gets_a_german_report() -> None:
    for text, begins in (("Rasen mähen.", "**Status:** offen"), ("Buy milk.", "**Status:** OPEN")):
        report = calls(ask(text, title="", languageCode=None))["update_report"]
        assert begins in report["content"]


def test_a_question_is_answered_with_facts_and_the_truth() -> None:
    sections = REPORT | {"words": "## The user's words\n\nWhen is it due?"}
    told = ask("due 2026-12-04", sections=sections)
    (said,) = calls(told)["record_observations"]["observations"]
    assert said["text"] == 'The user said: "When is it due?"'
    assert (said["priority"], said["category"]) == ("notable", "operational")
    last = ask("due 2026-12-04", sections=sections, exchanges=(QUEUED,))
    assert "cannot converse" in last.text
    assert "2026-12-04" in last.text
    assert "The user's words" not in last.text


def test_words_are_read_but_have_no_day() -> None:
    told = ask(sections={"words": "I need to call the bank by Friday, due 2026-12-04"})
    assert one(told, "update_task_due_date", "dueDate") == "2026-12-04"
    assert titles(told) == ["Call the bank"]
    assert one(ask(sections={"words": "by Friday"}), "update_task_due_date", "dueDate") is None


@pytest.mark.parametrize("words", ["That's wrong, again!", "Das nervt.", "Stop proposing this"])
def test_a_grievance_is_critical(words: str) -> None:
    observations = calls(ask(sections={"words": words}))["record_observations"]["observations"]
    assert observations[0]["priority"] == "critical"
    assert observations[0]["category"] == "grievance"


@pytest.mark.parametrize(
    "section",
    ["", "nothing", "{", "[1]", "{]", '{"a": 1, "a": 2}', "[" * 5000, "{" * 5000, '{"log": 3}'],
)
def test_a_task_that_cannot_be_read_is_no_error(section: str) -> None:
    request = Request(
        "rules", (), (Section("task", section),), (ToolSpec("update_report", "", {}),)
    )
    assert asyncio.run(RulesModel().reply(request)).calls


def test_missing_and_odd_fields_read_as_empty() -> None:
    odd: list[Any] = [None, 3, "x", [], [None], [{}], {"a": 1}, -1, True]
    names = ("title", "status", "labels", "checklist", "log", "estimateMinutes", "createdAt")
    for name in (*names, "labelsLeft", "dueDate", "description", "timeSpentMinutes", "priority"):
        for value in odd:
            assert ask("Fine.", **({name: value} if name != "log" else {"log": value})).calls


HOSTILE = (
    "need to |I have to have to |a| |by by by |bis zum am den dem |takes about about about |"
    "todo: |- [ ] x\n|habe |1.1.|((((((|done: done: |waiting for |not waiting a a a |\n|"
    "\u0000\u202e\ud800|muss noch |~~~\n>|🙂.|,,,,"
)
PIECES = (
    "need to |due |by Friday |bis |4.12.|muss noch |waiting for |~2 h|done: |\n- |todo: |urgent |"
    "99999|Dec 31 |?|. "
)


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    told = ask(*(text for _ in range(3)), checklist=[item("a"), item("b" * 400)])
    assert len(titles(told)) <= 20
    assert parse(told.raw) == told


def test_only_the_newest_of_very_much_text_is_read() -> None:
    many = [note(f"todo: step {n}", f"2026-11-20T10:00:00.{n:06}Z") for n in range(ENTRIES_MAX + 1)]
    told = ask(*many)
    assert titles(told)[0] == "Step 1"
    assert "newest part" in calls(told)["update_report"]["content"]
    assert titles(ask("x" * ENTRY_CHARS_MAX + "\ntodo: call Bob")) == []


@given(
    st.lists(st.text(max_size=80) | st.sampled_from(PIECES.split("|")), max_size=30).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_any_text_gets_the_same_reply_twice_and_quotes_only_itself(text: str) -> None:
    one_reply, other = ask(text, languageCode=None), ask(text, languageCode=None)
    assert one_reply == other
    assert parse(one_reply.raw) == one_reply
    assert len(calls(one_reply)["update_report"]["oneLiner"]) <= 80
    plain = text.replace("’", "'").replace("**", "").replace("__", "").lower()
    source = "".join(letter for letter in plain if letter.isprintable() and not letter.isspace())
    for title in titles(one_reply):
        kept = "".join(title.split()).lower().rstrip("…")
        assert kept in source or not kept.isascii()


def test_the_bytes_are_of_a_small_documented_form() -> None:
    told = ask("It was a fine day.", sections=REPORT)
    assert told.raw == (
        b'{"calls":[],"model":"rules","rules":%d,'
        b'"text":"Newest, note of 2026-11-20: \\"It was a fine day.\\"","usage":{}}' % RULES_VERSION
    )
    assert told.usage.tokens_in is None
    assert RulesModel().name == "rules"


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"calls": 3}', b'{"other": 1}'])
def test_bytes_of_another_form_are_refused(raw: bytes) -> None:
    with pytest.raises(Refused, match="a recorded reply of the rules"):
        parse(raw)


def told_by(value: object, by: str, at: str) -> Any:
    """A value as scaffold 2 shows it."""
    return {"value": value, "by": by, "at": at}


@pytest.mark.parametrize(
    ("text", "name", "value", "tool"),
    [
        ("Due by 2027-02-01.", "dueDate", "2027-03-01", "update_task_due_date"),
        ("Due by 2027-02-01.", "dueDate", None, "update_task_due_date"),
        ("~60 min", "estimateMinutes", 90, "update_task_estimate"),
        ("urgent", "priority", "P3", "update_task_priority"),
        ("Waiting for Bob", "status", "OPEN", "set_task_status"),
    ],
)
def test_what_a_person_set_later_overrules_a_note(
    text: str, name: str, value: Any, tool: str
) -> None:
    written = note(text, FRIDAY)
    for by in ("person", "import"):
        assert tool not in calls(ask(written, **{name: told_by(value, by, FRIDAY)}))
        assert tool not in calls(ask(written, **{name: told_by(value, by, SATURDAY)}))
    assert tool in calls(ask(written, **{name: told_by(value, "agent", SATURDAY)}))
    assert tool in calls(ask(note(text, SATURDAY), **{name: told_by(value, "person", FRIDAY)}))
    assert tool in calls(ask(written, **{name: value})), "scaffold 1 does not say who set it"


def test_a_note_counts_from_its_last_edit_on_and_its_days_from_its_first() -> None:
    due = told_by("2027-03-01", "person", SATURDAY)
    edited = note("Due by Friday.", FRIDAY) | {"editedAt": "2026-11-24T10:00:00.000000Z"}
    assert one(ask(edited, dueDate=due), "update_task_due_date", "dueDate") == "2026-11-27"
    older = edited | {"editedAt": FRIDAY}
    assert not one(ask(older, dueDate=due), "update_task_due_date", "dueDate")


def test_the_persons_words_and_newer_descriptions_are_newer_than_any_value() -> None:
    due = told_by("2027-03-01", "person", SATURDAY)
    said = ask(dueDate=due, sections={"words": "## Words\n\nDue by 2027-02-01."})
    assert one(said, "update_task_due_date", "dueDate") == "2027-02-01"
    later = told_by("Due by 2027-02-01.", "person", "2026-11-22T10:00:00.000000Z")
    assert one(ask(dueDate=due, description=later), "update_task_due_date", "dueDate")
    older = told_by("Due by 2027-02-01.", "person", FRIDAY)
    assert not one(ask(dueDate=due, description=older), "update_task_due_date", "dueDate")


# -------------------------------------------------------------------- follow-ups, time spent, links

ACTS = ("create_follow_up_task", "log_time", "link_task")
FRIDAY_EVENING = "2026-11-20T19:30:00.000000Z"  # 20:30 to the person
SECTIONS = {"now": "## Now\n\nSaturday 2026-11-21 12:00, Europe/Berlin (UTC+01:00)"}
ITEMS = [item("Buy paint"), item("Paint the door"), item("Tidy up", checked=True)]
TAX = {"relation": "relates_to", "id": "tax1tax1tax1", "title": "Tax return 2025"}
HOUSE = {"relation": "relates_to", "id": "house1house1", "title": "Tax on the house"}


def friday(*notes: Any, sections: dict[str, str] | None = None, **rest: Any) -> Reply:
    """Of scaffold 2; notes are of Friday evening."""
    told = [one if isinstance(one, dict) else note(one, FRIDAY_EVENING) for one in notes]
    given = {"tools": (*TOOLS, *ACTS, "find_tasks"), "checklist": ITEMS} | rest
    return ask(*told, sections=SECTIONS | (sections or {}), **given)


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
    given = acts(friday(text))["create_follow_up_task"]
    assert [one["id"] for one in given["carryOver"]] == carried
    assert given.get("description") == description
    assert (given["title"], given.get("dueDate")) == ("Plain: the rest", None)
    assert given["because"] in text


@pytest.mark.parametrize(("text", "_"), phrases("no_follow_ups"))
def test_what_only_looks_like_one_is_none(text: str, _: None) -> None:
    assert acts(friday(text)) == {}


def test_a_date_in_that_sentence_is_the_follow_ups() -> None:
    told = calls(friday("The rest is a new task due 2027-01-15: paint the door"))
    assert told["create_follow_up_task"]["dueDate"] == "2027-01-15"
    assert "update_task_due_date" not in told


# ------------------------------------------------------------------------------------ time spent


@pytest.mark.parametrize(("text", "wanted"), phrases("times"))
def test_time_that_the_person_spent_is_logged_and_no_other(text: str, wanted: str | None) -> None:
    span = dict(zip(("startedAt", "endedAt"), several(wanted), strict=False))
    said = {"because": text, "summary": text.rstrip(".")}
    assert acts(friday(text)) == ({"log_time": span | said} if wanted else {})


def test_several_spans_are_a_call_each_and_none_that_overlaps() -> None:
    texts = ("Worked from 2pm to 3pm.", "Worked from 2:30pm to 4pm.", "Worked from 5pm to 6pm.")
    reply = friday(*texts)
    logged = [json.loads(one.arguments) for one in reply.calls if one.tool == "log_time"]
    assert [one["startedAt"][11:] for one in logged] == ["14:00", "17:00"]


def test_each_span_is_reported_by_the_answer_to_its_own_call() -> None:
    texts = ("Worked from 2pm to 3pm.", "Worked from 5pm to 6pm.")
    first = friday(*texts)
    refused = CallResult("c1", "log_time", "redundant: overlaps", is_error=True)
    taken = CallResult("c2", "log_time", "Queued for the person's review: 1 item(s).")
    told = calls(friday(*texts, exchanges=(Exchange(first.raw, (refused, taken)),)))
    assert "17:00-18:00" in told["update_report"]["content"]
    assert "14:00-15:00" not in told["update_report"]["content"]


# ------------------------------------------------------------------------------------- blockers


@pytest.mark.parametrize(("text", "wanted"), phrases("blocked_by"))
def test_a_blocker_among_the_linked_tasks_is_linked(text: str, wanted: str | None) -> None:
    given = acts(friday(text, sections=linked(TAX)))
    assert list(given) == (["link_task"] if wanted else [])
    if wanted:
        assert given["link_task"].pop("because") in text
        assert given["link_task"] == {"targetTaskId": wanted, "relation": "is_blocked_by"}


def looked_up(*tasks: dict[str, str], **rest: Any) -> tuple[Reply, Reply]:
    """The first turn, and the second one after the answer to its read."""
    first = friday("Blocked by the tax task", **rest)
    found = json.dumps({"tasks": tasks})
    results = [
        CallResult(
            one.call_id, one.tool, found if one.tool == "find_tasks" else "Queued: 1 item(s)."
        )
        for one in first.calls
    ]
    exchange = Exchange(first.raw, tuple(results))
    return first, friday("Blocked by the tax task", exchanges=(exchange,), **rest)


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
    told = friday("Blocked by the tax task", exchanges=(one, Exchange(second.raw, (refused,))))
    assert list(calls(told)) == ["update_report"]
    assert "Blocked by:" not in calls(told)["update_report"]["content"]


def test_without_a_way_to_look_the_report_says_so() -> None:
    told = calls(friday("Blocked by the tax task", tools=(*TOOLS, *ACTS)))
    assert "link_task" not in told
    assert "none here, or might be several" in told["update_report"]["content"]


# ------------------------------------------------------------------------------- once, and before

TEXTS = ("The rest is a new task.", "Worked from 4 to 6pm.", "Blocked by the tax task.")


@pytest.mark.parametrize("number", ["", "812-3 ", "812-3@r2 "])
def test_what_an_old_journal_says_was_asked_for_is_not_asked_for_at_each_wake(number: str) -> None:
    first = friday(*TEXTS)
    assert set(acts(first)) == {"create_follow_up_task", "log_time", "find_tasks"}
    noted = (
        "follow_up Plain: the rest",
        "time 2026-11-20 16:00-18:00",
        "link tax",
    )
    lines = "\n".join(
        f"- {number}[2026-11-20T20:00:00.000000Z] (routine) Found by rule: {one}" for one in noted
    )
    journal = REPORT | {"journal": f"## Agent journal\n\n{lines}"}
    assert acts(friday(*TEXTS, sections=journal)) == {}
    again = [note(one, "2026-11-20T21:00:00.000000Z") for one in TEXTS]
    assert set(acts(friday(*again, sections=journal))) == {*acts(first)}, "a newer note asks anew"


def test_a_task_that_could_not_be_told_stays_a_question_and_is_not_looked_up_again() -> None:
    quoted = 'The text names a task that is none here: "Blocked by the tax task."'
    before = {"report": f"## Current report\n\n- {quoted}"}
    told = friday("Blocked by the tax task.", "And more.", sections=before | {"changed": "- note"})
    assert acts(told) == {}
    assert "none here, or might be several" in calls(told)["update_report"]["content"]


def test_an_observation_is_what_others_owe_and_never_what_the_model_did() -> None:
    told = ask("Todo: buy milk. Ben needs to hire the van by Friday.")
    (noted,) = calls(told)["record_observations"]["observations"]
    assert noted["text"] == 'Somebody else: "Ben needs to hire the van by Friday."'
    assert "record_observations" not in calls(ask("Todo: buy milk, due 2026-12-04."))


def test_a_day_that_two_countries_read_differently_is_a_question_unless_another_tells() -> None:
    told = calls(ask("Must be paid by 04/12."))
    assert "update_task_due_date" not in told
    assert 'read differently: "Must be paid by 04/12."' in told["update_report"]["content"]
    for text, code in (("Must be paid by 04/12, sent 20/11.", "en"), ("Bis 04/12 zahlen.", "de")):
        given = ask(text, languageCode=code)
        assert one(given, "update_task_due_date", "dueDate") == "2026-12-04"


@pytest.mark.parametrize("lead", ["fp=abc", "confirmed:", "rejected:", "deferred:"])
def test_what_is_proposed_or_decided_is_left_out(lead: str) -> None:
    lines = (
        f'- {lead} Create follow-up task "Plain: the rest", with "Buy paint"',
        f"- {lead} Log 2026-11-20 16:00-18:00 (2 h): worked",
        f"- {lead} Link: is blocked by task {TAX['id'][:8]}",
    )
    sections = linked(TAX) | {"proposals": "## Open proposals\n\n" + "\n".join(lines)}
    assert acts(friday(*TEXTS, sections=sections)) == {}


LOGGED = "## Time\n\nLogged in all: 60 minutes.\n- e1 2026-11-20T17:30 to 18:30, 60 minutes: x"
WORKED = "Worked from 4 to 6pm"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("The rest is a new task.", {"checklist": []}),
        (WORKED, {"sections": {"now": ""}}),
        (WORKED, {"sections": {"time": LOGGED}}),
        ("Blocked by the tax task", {"sections": linked(TAX | {"relation": "is_blocked_by"})}),
    ],
    ids=["no rest", "no clock", "time that is there", "linked so"],
)
def test_what_is_there_already_or_cannot_be_is_not_asked_for(
    text: str, given: dict[str, Any]
) -> None:
    assert acts(friday(text, **given)) == {}


@pytest.mark.parametrize("status", ["DONE", "REJECTED"])
def test_a_closed_task_asks_for_nothing_and_gets_no_proposals(status: str) -> None:
    told = friday(*TEXTS, "due 2026-12-04. todo: x y", status=status)
    assert (acts(told), proposed(told)) == ({}, {})


def test_a_request_without_these_tools_gets_what_it_would_get_without_the_clock() -> None:
    before = friday(*TEXTS, tools=TOOLS)
    assert acts(before) == {}
    assert before == ask(*(note(one, FRIDAY_EVENING) for one in TEXTS), checklist=ITEMS)


# ------------------------------------------------------------------------------ reports and answers

NOW = {"now": "## Now\n\nSaturday 2026-11-21 12:00, Europe/Berlin (UTC+01:00)"}
REPORTED = {"report": "## Current report\n\nWritten at 2026-11-15T10:00:00.000000Z.\n\nTL;DR: Fine"}
LINKED = {
    "relation": "is_blocked_by",
    "id": "tax1tax1tax1",
    "title": "Tax return",
    "status": "OPEN",
}
STEPS = [item("Buy paint", checked=True), item("Paint the door"), item("Tidy up")]


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
        ({"checklist": STEPS}, "Paint the door"),
        ({"checklist": STEPS, "dueDate": "2026-11-20"}, "Paint the door (overdue)"),
        ({"checklist": STEPS, "dueDate": "2026-11-21"}, "Paint the door"),
        ({"checklist": STEPS[:1]}, "close it, all its items are done"),
        ({"checklist": STEPS[:1], "languageCode": "de"}, "abschließen, alle Punkte sind erledigt"),
        ({"checklist": STEPS, "status": "DONE"}, "nothing, the task is closed"),
        ({"checklist": STEPS, "status": "ON HOLD"}, "nothing while it is on hold"),
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
    assert reported(checklist=STEPS, sections=open_one)["content"].startswith("**Next:** Tidy up\n")
    told = reported("done: paint the door", checklist=STEPS)
    assert told["content"].startswith("**Next:** Tidy up\n")
    told = reported("todo: buy a brush", checklist=STEPS[:1])
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


@pytest.mark.parametrize(
    ("written", "zone", "by_tomorrow", "by_friday"),
    [
        ("2027-03-04T02:00", "America/Los_Angeles (UTC-08:00)", "2027-03-04", "2027-03-05"),
        ("2027-03-03T23:30", "Asia/Tokyo (UTC+09:00)", "2027-03-05", "2027-03-05"),
        ("2027-03-04T20:00", "Pacific/Chatham (UTC+13:45)", "2027-03-06", "2027-03-12"),
        ("2027-03-03T23:30", "Europe/Berlin (UTC+01:00)", "2027-03-05", "2027-03-05"),
        ("2027-03-03T22:30", "Europe/Berlin (UTC+01:00)", "2027-03-04", "2027-03-05"),
        ("2027-03-28T00:30", "Europe/Berlin (UTC+01:00)", "2027-03-29", "2027-04-02"),
        ("2027-03-28T22:30", "Europe/Berlin (UTC+02:00)", "2027-03-30", "2027-04-02"),
        ("2027-10-30T22:30", "Europe/Berlin (UTC+02:00)", "2027-11-01", "2027-11-05"),
        ("2027-10-31T22:30", "Europe/Berlin (UTC+01:00)", "2027-11-01", "2027-11-05"),
    ],
)
def test_a_day_counts_from_where_the_writer_is(
    written: str, zone: str, by_tomorrow: str, by_friday: str
) -> None:
    now = {"now": f"## Now\n\nSaturday 2027-11-06 12:00, {zone}"}
    stored = f"{written}:00.000000Z"
    for text, day in (("by tomorrow", by_tomorrow), ("bis Freitag", by_friday)):
        told = ask(note(f"Pay {text}!", stored), sections=now)
        assert one(told, "update_task_due_date", "dueDate") == day
        told = ask(title=f"Tax form {text}", createdAt=stored, sections=now)
        assert one(told, "update_task_due_date", "dueDate") == day


def test_a_wait_is_counted_and_a_note_named_by_the_writers_days() -> None:
    late = "2026-11-20T23:30:00.000000Z"  # the 21st in Berlin
    blocked = {"value": "BLOCKED", "by": "person", "at": late}
    assert "BLOCKED since 2026-11-21\n" in reported(status=blocked)["content"]
    assert "note of 2026-11-21" in reported(note("Urgent!", late))["content"]


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


@pytest.mark.parametrize(
    "line",
    [
        '- New checklist item: Buy milk, "todo: buy milk" (a note)',
        '- Add: "Buy milk" (found by rule)',
    ],
)
def test_what_an_earlier_report_says_was_found_goes_with_its_note(line: str) -> None:
    given = {
        "proposals": '## Open proposals\n\n- fp=abc Add: "Buy milk"',
        "report": f"## Current report\n\n{line}",
    }
    tools = (*TOOLS, "retract_suggestions")
    asked, edited = (ask(text, sections=given, tools=tools) for text in ("todo: buy milk", "Fine."))
    assert "retract_suggestions" not in calls(asked)
    assert calls(edited)["retract_suggestions"]["proposals"][0]["fingerprint"] == "abc"


def test_an_open_item_that_its_note_still_asks_for_is_not_taken_back() -> None:
    noted = "- [2026-11-20T11:00:00.000000Z] (routine) Found by rule: item Buy milk"
    open_one = '## Open proposals\n\n- fp=abc Add: "Buy milk"'
    given = {"proposals": open_one, "journal": f"## Agent journal\n\n{noted}"}
    tools = (*TOOLS, "retract_suggestions")
    asked, edited = (ask(text, sections=given, tools=tools) for text in ("todo: buy milk", "Fine."))
    assert "retract_suggestions" not in calls(asked)
    assert calls(edited)["retract_suggestions"]["proposals"][0]["fingerprint"] == "abc"


def test_a_day_that_a_newer_note_makes_doubtful_is_not_proposed_nor_taken_back() -> None:
    noted = "- [2026-11-20T11:00:00.000000Z] (routine) Found by rule: due 2026-12-04"
    open_one = "## Open proposals\n\n- fp=abc Set due date to 2026-12-04"
    given = {"proposals": open_one, "journal": f"## Agent journal\n\n{noted}"}
    tools = (*TOOLS, "retract_suggestions")
    notes = [note("Due on 4 December.", at("2026-11-02"))]
    notes += [note("The printers are shut and open on the 11th at eight.", at("2026-11-20"))]
    for sections in ({}, given):
        asked = calls(ask(*notes, sections=sections, tools=tools))
        assert not {"retract_suggestions", "update_task_due_date"} & set(asked)
        told = '- Not proposed, as a newer note speaks of another day: "Due on 4 December."\n'
        assert (told in reported(*notes, sections=sections)["content"]) is (not sections)
    assert "retract_suggestions" in calls(ask(notes[1], sections=given, tools=tools))
    moved = note("Kim: the deadline moved to the 14th.", at("2026-11-21"))
    assert calls(ask(*notes, moved))["update_task_due_date"]["dueDate"] == "2026-12-14"


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
    ("words", "answer", "language"),
    [(*row, code) for code in ("en", "de") for row in phrases(f"questions_{code}")],
)
def test_a_question_is_answered_from_the_task_in_its_language(
    words: str, answer: str, language: str
) -> None:
    assert answered(words, **_asked_about(language)) == answer


def _asked_about(language: str) -> dict[str, Any]:
    return {
        "languageCode": language,
        "dueDate": set_on("2026-11-16", "2026-12-04"),
        "estimateMinutes": 90,
        "timeSpentMinutes": 30,
        "status": set_on("2026-11-14", "BLOCKED"),
        "statusReason": "waiting for Bob",
        "checklist": STEPS,
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
    told = answered("Please finish it.", checklist=STEPS, dueDate="2026-11-21")
    assert told == (
        "Status OPEN, priority P2.\n\nIt is due on 2026-11-21, today.\n\nNext: Paint the door.\n\n"
        "Still open:\n- Paint the door\n- Tidy up"
    )


# --------------------------------------------------------------------------- asked by other agents

BOB = {"status": set_on("2026-11-14", "BLOCKED"), "statusReason": "waiting for Bob"}
LATER = {"proposals": '## Open proposals\n\n- fp=abc Set status to BLOCKED: "Wait for Ann"'}
ASKED = {
    "fits_today": "Does it fit today",
    "estimate": "Estimate",
    "blocked": "Blocked",
    "stale": "Still wanted",
}
HOURS = [f"- e1 {day} 09:00 to 10:00, 60 min" for day in ("Mon 2026-11-16", "Wed 2026-11-18")]
FREE = "neither its status nor a linked task says that it waits"
WAITS = "BLOCKED since 2026-11-14 (7 days): waiting for Bob"
UNDUE = "no due date is set"
UNSURE = "more is not known"
BARE = "no estimate is set"


def measured(estimate: int = 0, spent: int = 0, **fields: Any) -> dict[str, Any]:
    return {"estimateMinutes": estimate, "timeSpentMinutes": spent} | fields


def asking(*kinds: str) -> dict[str, str]:
    """The section, a line for each question."""
    rows = "\n".join(f"- {kind}: What of it? (asked by the agent that plans)" for kind in kinds)
    return {"requests": f"## Requests\n\nOther agents of the person ask about this task.\n{rows}"}


def told_others(*notes: Any, kinds: tuple[str, ...], **task: Any) -> list[str]:
    """The rows of the answers."""
    sections = asking(*kinds) | task.pop("sections", {})
    content = reported(*notes, sections=sections, **task)["content"]
    name = "Von anderen Agenten gefragt" if "gefragt" in content else "Asked by other agents"
    _, _, rest = content.partition(f"## {name}\n\n")
    return rest.partition("\n\n")[0].splitlines()


@pytest.mark.parametrize(
    ("kind", "told", "task", "facts"),
    [
        ("fits_today", "", measured(120, 30, dueDate="2026-11-22"),
         ["1 h 30 min are left of the estimate", "due 2026-11-22, tomorrow", FREE]),
        ("fits_today", "", measured(60, 60) | BOB,
         ["nothing is left of the estimate of 1 h", UNDUE, WAITS]),
        ("fits_today", "", measured(spent=5, sections={"linked": json.dumps(LINKED)}),
         [BARE, "5 min were spent", UNDUE, "blocked by: Tax return (OPEN)"]),
        ("fits_today", "", measured(60, status="DONE"), ["the task is closed (DONE)"]),
        ("estimate", "", measured(120, 150), ["2 h 30 min were spent of 2 h: too low"]),
        ("estimate", "", measured(120, 120, checklist=STEPS, status="DONE"),
         ["2 h were spent of 2 h", "1 of 3 items done"]),
        ("estimate", "It takes 3 h.", {},
         [BARE, "0 min were spent",
          'proposed and undecided: Estimate: 180 min, "It takes 3 h." (note of 2026-11-20)']),
        ("blocked", "", {}, [FREE]),
        ("blocked", "", BOB, [WAITS]),
        ("blocked", "", {"status": "BLOCKED"}, ["BLOCKED", UNSURE]),
        ("blocked", "", {"status": "BLOCKED", "sections": {"linked": json.dumps(LINKED)}},
         ["BLOCKED", "blocked by: Tax return (OPEN)"]),
        ("blocked", "The parts are here.", {"status": "BLOCKED", "statusReason": "the parts"},
         ["BLOCKED: the parts", f'{EN["freed"]}: "The parts are here."']),
        ("blocked", "Waiting for Ann.", {},
         ['proposed and undecided: Status: BLOCKED, "Waiting for Ann." (note of 2026-11-20)']),
        ("blocked", "", {"sections": LATER},
         ['proposed and undecided: Set status to BLOCKED: "Wait for Ann"']),
        ("stale", note("Fine.", at("2026-11-02")), {},
         ["the last note is of 2026-11-02 (19 days ago)", UNSURE]),
        ("stale", note("Fine.", at("2026-11-21")), {}, ["the last note is of 2026-11-21", UNSURE]),
        ("stale", note("Fine.", "long ago"), {}, ["the last note has no date", UNSURE]),
        ("stale", "", {"sections": {"time": "\n".join(HOURS)}},
         ["there is no note", "time was last spent on 2026-11-18", UNSURE]),
        ("stale", "", {"status": "REJECTED"}, ["the task is closed (REJECTED)"]),
    ],
)  # fmt: skip
def test_another_agent_is_answered_by_what_is_known(
    kind: str, told: Any, task: dict[str, Any], facts: list[str]
) -> None:
    notes = [told] if told else []
    assert told_others(*notes, kinds=(kind,), **task) == [f"- {ASKED[kind]}: {'; '.join(facts)}."]


def test_a_blocker_that_is_proposed_is_told_as_no_more_than_that() -> None:
    told = calls(friday("Blocked by the tax task", sections=linked(TAX) | asking("blocked")))
    row = 'proposed and undecided: Blocked by: Tax return 2025, "Blocked by the tax task"'
    assert row in told["update_report"]["content"]


def test_each_kind_is_answered_once_in_their_order_and_in_the_language_of_the_task() -> None:
    kinds = "stale", "blocked", "stale", "weather", "estimate", "fits_today"
    task = measured(120, 150, languageCode="de") | BOB
    waits = "blockiert seit 2026-11-14 (7 Tage): waiting for Bob"
    last = "die letzte Notiz ist vom 2026-11-20 (1 Tag her); mehr ist nicht bekannt"
    left = "von der Schätzung von 2 h ist nichts übrig; es ist keine Fälligkeit gesetzt"
    assert told_others(note("Gut.", at("2026-11-20")), kinds=kinds, **task) == [
        f"- Noch gewünscht: {last}.",
        f"- Blockiert: {waits}.",
        "- Schätzung: 2 h 30 min wurden aufgewendet statt 2 h: zu niedrig.",
        f"- Passt sie in den heutigen Tag: {left}; {waits}.",
    ]


def test_who_is_asked_reports_though_nothing_changed_and_once() -> None:
    assert ask(sections=REPORT).calls == ()
    told = ask(sections=REPORT | asking("stale"))
    assert list(calls(told)) == ["update_report"]
    turns = (Exchange(told.raw, (CallResult("c1", "update_report", "Saved"),)),)
    assert ask(sections=REPORT | asking("stale"), exchanges=turns).calls == ()


@pytest.mark.parametrize(
    "section", ["", "## Requests", "- weather: Is it fine?", "x - stale: y", "- stale", "-stale: y"]
)
def test_what_asks_for_nothing_that_is_known_changes_nothing(section: str) -> None:
    for given_ in ({}, REPORT):
        told = ask("due 2026-12-04", sections=given_ | {"requests": section})
        assert told.raw == ask("due 2026-12-04", sections=given_).raw


def test_of_a_task_that_cannot_be_read_others_are_told_so() -> None:
    user = Section("task", "{"), *(Section(*one) for one in asking(*ASKED).items())
    request = Request("rules", (), user, (ToolSpec("update_report", "", {}),))
    told = calls(asyncio.run(RulesModel().reply(request)))["update_report"]["content"]
    assert told.count(": The task could not be read.\n") == 4


@given(kinds=st.lists(st.sampled_from([*ASKED, "weather"])), text=st.text(max_size=40))
@settings(deadline=None)
def test_any_questions_about_any_text_are_answered_alike_each_time(
    kinds: list[str], text: str
) -> None:
    first = ask(text, sections=asking(*kinds) | {"time": text, "linked": text}, statusReason=text)
    again = ask(text, sections=asking(*kinds) | {"time": text, "linked": text}, statusReason=text)
    assert first.raw == again.raw
