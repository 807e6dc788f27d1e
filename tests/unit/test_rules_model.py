"""The rules model proposes what a text says, once, and says what it is."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.models.rules.context import ENTRIES_MAX, ENTRY_CHARS_MAX
from adapters.models.rules.model import RULES_VERSION, RulesModel, parse
from domain.errors import Refused
from domain.ports import CallResult, Exchange, Request, Section, ToolSpec
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
    proposed,
    titles,
)

QUEUED = Exchange(b"{}", (CallResult("c1", "update_task_due_date", "Queued for review"),))
LABELS = {"available_labels": "## Labels\n\n- l1: Bank\n- l2: Home office\n- l3: art\n- l4: Tax"}


def test_labels_are_assigned_where_a_text_names_them() -> None:
    told = ask("Party at the home  OFFICE, then the bank. TAX!", sections=LABELS, title="Art")
    labels = calls(told)["assign_task_labels"]["labels"]
    assert [label["id"] for label in labels] == ["l3", "l1", "l2"]
    assert {label["confidence"] for label in labels} == {"high"}


@pytest.mark.parametrize(
    "task",
    [
        {"labelsLeft": 0},
        {"labels": [{"id": "l1", "name": "Bank"}]},
        {"labelsLeft": None, "labels": [{"id": str(n)} for n in range(3)]},
    ],
)
def test_no_label_too_many_or_twice(task: dict[str, Any]) -> None:
    assert "assign_task_labels" not in calls(ask("The bank", sections=LABELS, **task))


def test_a_suppressed_label_is_left_alone() -> None:
    sections = LABELS | {"suppressed_labels": "- l1: Bank"}
    assert "assign_task_labels" not in calls(ask("The bank", sections=sections))


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


def test_nothing_found_and_nothing_changed_is_no_call() -> None:
    told = ask("It was a fine day.", sections=REPORT)
    assert (told.calls, told.text) == ((), "Nothing new was found in the text.")


def test_the_first_report_is_written_even_if_nothing_is_found() -> None:
    told = calls(ask("It was a fine day."))
    assert list(told) == ["update_report"]
    assert "offline rules model" in told["update_report"]["content"]


def test_what_the_journal_knows_is_not_observed_again() -> None:
    first = ask("Received the tiles", status="BLOCKED", sections=REPORT)
    observed = calls(first)["record_observations"]["observations"][0]["text"]
    sections = REPORT | {"journal": f"## Journal\n\n- 2026-11-20 {observed}"}
    assert ask("Received the tiles", status="BLOCKED", sections=sections).calls == ()


def test_a_change_renews_the_report() -> None:
    assert list(calls(ask(sections=REPORT | {"changed": "- title"}))) == ["update_report"]


def test_calls_come_in_a_fixed_order_with_plain_ids() -> None:
    text = "Urgent: due 2026-12-04, it is for the bank and ~2h. done: ship\ntodo: call Bob"
    told = ask(
        text, "Waiting for Ann", languageCode=None, sections=LABELS, checklist=[item("Ship")]
    )
    assert [call.tool for call in told.calls] == list(TOOLS)
    assert [call.call_id for call in told.calls] == [f"c{n}" for n in range(1, 11)]


def test_only_offered_tools_are_called_and_only_they_are_reported() -> None:
    told = ask("due 2026-12-04, ~2h", tools=("update_task_estimate", "update_report"))
    assert set(calls(told)) == {"update_task_estimate", "update_report"}
    assert "Due date" not in calls(told)["update_report"]["content"]
    assert ask("due 2026-12-04", tools=()).calls == ()


def test_the_second_turn_says_a_word_and_calls_nothing() -> None:
    told = ask("due 2026-12-04", exchanges=(QUEUED,))
    assert told.calls == ()
    assert told.text == "Proposed: Due date."


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
    assert (last.calls, last.text) == ((), "Nothing new was found in the text.")


def test_a_forced_tool_is_the_only_one() -> None:
    told = ask("due 2026-12-04", exchanges=(QUEUED,), forced="update_report", sections=REPORT)
    assert list(calls(told)) == ["update_report"]
    assert "2026-12-04" in calls(told)["update_report"]["content"]
    assert ask("due 2026-12-04", tools=("update_report",), forced="set_task_status").calls == ()


def test_a_closed_task_gets_no_proposals() -> None:
    for status in ("DONE", "REJECTED"):
        assert proposed(ask("due 2026-12-04. todo: x y", status=status)) == {}


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


def test_a_question_is_answered_with_facts_and_the_truth() -> None:
    sections = REPORT | {"words": "## The user's words\n\nWhen is it due?"}
    told = ask("due 2026-12-04", sections=sections)
    (said, found) = calls(told)["record_observations"]["observations"]
    assert said["text"] == 'The user said: "When is it due?"'
    assert (said["priority"], said["category"]) == ("notable", "operational")
    assert found["priority"] == "routine"
    last = ask("due 2026-12-04", sections=sections, exchanges=(QUEUED,))
    assert "cannot converse" in last.text
    assert "2026-12-04" in last.text
    assert "The user's words" not in last.text


def test_words_are_read_but_have_no_day() -> None:
    told = ask(sections={"words": "I need to call the bank by Friday, due 2026-12-04"})
    assert one(told, "update_task_due_date", "dueDate") == "2026-12-04"
    assert titles(told) == ["Call the bank by Friday, due 2026-12-04"]
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


@pytest.mark.parametrize(
    "piece",
    [
        "need to ",
        "I have to have to ",
        "a",
        " ",
        "by by by ",
        "bis zum am den dem ",
        "takes about about about ",
        "todo: ",
        "- [ ] x\n",
        "habe ",
        "1.1.",
        "((((((",
        "done: done: ",
        "waiting for ",
        "not waiting a a a ",
        "\n",
        "\u0000\u202e\ud800",
        "muss noch ",
        "~~~\n>",
        "🙂.",
        ",,,,",
    ],
)
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
    st.lists(
        st.one_of(
            st.text(max_size=80),
            st.sampled_from(
                [
                    "need to ",
                    "due ",
                    "by Friday ",
                    "bis ",
                    "4.12.",
                    "muss noch ",
                    "waiting for ",
                    "~2 h",
                    "done: ",
                    "\n- ",
                    "todo: ",
                    "urgent ",
                    "99999",
                    "Dec 31 ",
                    "?",
                    ". ",
                ]
            ),
        ),
        max_size=30,
    ).map("".join)
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
        b'"text":"Nothing new was found in the text.","usage":{}}' % RULES_VERSION
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
