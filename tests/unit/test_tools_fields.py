"""A task's fields change only to another value, within its limits, and never over the person."""

import pytest

from domain.journal import task as t
from domain.text import LANGUAGES
from domain.tools import registry
from domain.tools.base import Plan, Proposal, ToolRefusal, fingerprint
from tests.support.tools import AGENT, applied, code, given, planned, proposals

CREATED = t.TaskCreated("person", "Plant the garden", "c1")
TASK = given(
    CREATED,
    t.EstimateSet("person", 60),
    t.DueSet("person", "2027-01-01"),
    t.PrioritySet("person", "P1"),
    t.StatusSet("person", "BLOCKED", "frost"),
)


def test_a_changed_estimate_is_proposed_with_all_a_person_needs_to_decide() -> None:
    plan = planned("update_task_estimate", TASK, minutes=90)
    text = '{"minutes":90}'
    assert plan == Plan(
        proposals=(
            Proposal(
                "update_task_estimate",
                text,
                summary="Set estimate to 90 minutes",
                fingerprint=fingerprint("update_task_estimate", text),
                display="set estimate to 90 minutes",
                base=registry.base("update_task_estimate", TASK, text),
                touches=("estimate",),
            ),
        )
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "summary", "fact"),
    [
        (
            "set_task_title",
            {"title": "  Plant\nthe yard "},
            'Set title to "Plant the yard"',
            t.TaskRetitled(AGENT, "Plant the yard"),
        ),
        (
            "update_task_estimate",
            {"minutes": 1},
            "Set estimate to 1 minute",
            t.EstimateSet(AGENT, 1),
        ),
        (
            "update_task_estimate",
            {"minutes": 1440},
            "Set estimate to 1440 minutes",
            t.EstimateSet(AGENT, 1440),
        ),
        (
            "update_task_due_date",
            {"dueDate": "2028-02-29"},
            "Set due date to 2028-02-29",
            t.DueSet(AGENT, "2028-02-29"),
        ),
        (
            "update_task_priority",
            {"priority": " p0 "},
            "Set priority to P0",
            t.PrioritySet(AGENT, "P0"),
        ),
        (
            "set_task_status",
            {"status": "on hold", "reason": "rain"},
            "Set status to ON HOLD: rain",
            t.StatusSet(AGENT, "ON HOLD", "rain"),
        ),
        (
            "set_task_status",
            {"status": "In Progress"},
            "Set status to IN PROGRESS",
            t.StatusSet(AGENT, "IN PROGRESS"),
        ),
    ],
)
def test_a_changed_field_is_proposed_and_applied(
    tool: str, arguments: dict[str, object], summary: str, fact: t.TaskFact
) -> None:
    (proposal,) = proposals(tool, TASK, **arguments)
    assert proposal.summary == summary
    assert registry.summary(tool, TASK, proposal.arguments) == summary
    assert registry.apply(tool, TASK, proposal.arguments, AGENT) == (fact,)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "set_task_title",
            {"title": " Plant  the garden"},
            'The title is already "Plant the garden".',
        ),
        ("update_task_estimate", {"minutes": 60}, "The estimate is already 60 minutes."),
        ("update_task_due_date", {"dueDate": "2027-01-01"}, "The due date is already 2027-01-01."),
        ("update_task_priority", {"priority": "P1"}, "The priority is already P1."),
        (
            "set_task_status",
            {"status": "blocked", "reason": "another"},
            "The status is already BLOCKED.",
        ),
    ],
)
def test_what_is_so_already_is_redundant_when_proposed_and_when_applied(
    tool: str, arguments: dict[str, object], message: str
) -> None:
    assert planned(tool, TASK, **arguments) == ToolRefusal("redundant", message)
    assert applied(tool, TASK, **arguments) == ToolRefusal("redundant", message)


def test_a_title_that_differs_only_in_its_spaces_is_no_change() -> None:
    untidy = given(t.TaskCreated("person", " Plant  the garden", "c1"))
    assert code(applied("set_task_title", untidy, title="Plant the garden")) == "redundant"
    assert applied("set_task_title", untidy, title="plant the garden")


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("set_task_title", {"title": " \n"}, "got a blank one"),
        ("set_task_title", {"title": "x" * 201}, "1 to 200 characters, got 201 characters"),
        ("update_task_estimate", {"minutes": 0}, "from 1 to 1440, got 0"),
        ("update_task_estimate", {"minutes": 1441}, "from 1 to 1440, got 1441"),
        (
            "update_task_due_date",
            {"dueDate": "2027-02-29"},
            'real date YYYY-MM-DD, got "2027-02-29"',
        ),
        ("update_task_due_date", {"dueDate": "20270201"}, "real date YYYY-MM-DD"),
        ("update_task_priority", {"priority": "P4"}, "one of P0, P1, P2, P3"),
        ("set_task_status", {"status": "FINISHED"}, "one of BLOCKED, GROOMED"),
        ("set_task_status", {"status": "BLOCKED", "reason": " "}, "BLOCKED needs one"),
        ("set_task_status", {"status": "ON HOLD"}, "ON HOLD needs one"),
        ("set_task_status", {"status": "OPEN", "reason": "x" * 501}, "got 501 characters"),
        ("set_task_language", {"languageCode": "xx", "confidence": "high"}, "ISO 639-1"),
        ("set_task_language", {"languageCode": "deu", "confidence": "high"}, "ISO 639-1"),
        ("set_task_language", {"languageCode": "de", "confidence": "low"}, "confidence: is low"),
    ],
)
def test_a_value_outside_its_limits_is_refused_both_times(
    tool: str, arguments: dict[str, object], message: str
) -> None:
    for answer in (planned(tool, TASK, **arguments), applied(tool, TASK, **arguments)):
        assert isinstance(answer, ToolRefusal)
        assert answer.code == "invalid_arguments"
        assert message in answer.message


@pytest.mark.parametrize("status", ["DONE", "rejected", " Done "])
def test_only_the_person_sets_done_or_rejected(status: str) -> None:
    for answer in (
        planned("set_task_status", TASK, status=status, reason="all is planted"),
        applied("set_task_status", TASK, status=status, reason="all is planted"),
        registry.check_edit("set_task_status", {"status": status}),
    ):
        assert code(answer) == "sovereignty"


def test_a_done_task_may_be_proposed_to_be_opened_again() -> None:
    done = given(CREATED, t.StatusSet("person", "DONE"))
    assert applied("set_task_status", done, status="OPEN") == (t.StatusSet(AGENT, "OPEN"),)


def test_a_language_is_set_where_there_is_none() -> None:
    facts = applied("set_task_language", TASK, languageCode=" DE ", confidence="medium")
    assert facts == (t.LanguageSet(AGENT, "de"),)


@pytest.mark.parametrize(
    ("by", "wanted", "expected"),
    [
        ("person", "en", "sovereignty"),
        ("person", "de", "redundant"),
        ("import:todo", "en", "sovereignty"),
        ("agent:a1", "en", "redundant"),
        ("agent:a1", "de", "redundant"),
    ],
)
def test_a_language_that_is_set_stays(by: str, wanted: str, expected: str) -> None:
    task = given(CREATED, t.LanguageSet(by, "de"))
    answer = applied("set_task_language", task, languageCode=wanted, confidence="high")
    assert code(answer) == expected


def test_the_languages_are_those_of_the_norm() -> None:
    assert len(LANGUAGES) == 183
    assert all(len(known) == 2 and known.isascii() and known.islower() for known in LANGUAGES)


def test_a_title_is_set_at_once_where_there_is_none_and_proposed_where_there_is() -> None:
    empty = given(t.TaskCreated("person", " ", "c1"))
    assert registry.mode_of("set_task_title", empty) == "immediate"
    assert registry.mode_of("set_task_title", TASK) == "deferred"
    assert registry.mode_of("set_task_language", TASK) == "immediate"
    assert registry.mode_of("update_task_estimate", empty) == "deferred"
    assert registry.mode_of("update_report", TASK) == "local"


@pytest.mark.parametrize("tool", ["set_task_title", "suppress_label", "add_checklist_item"])
def test_nothing_happens_to_a_deleted_task(tool: str) -> None:
    gone = given(CREATED, t.TaskDeleted("person"))
    assert code(applied(tool, gone, title="x", id="y")) == "not_found"
    assert code(planned("set_task_title", gone, title="x")) == "not_found"


def test_a_base_moves_with_its_own_values_and_with_no_others() -> None:
    wanted = '{"reason":"rain","status":"ON HOLD"}'
    before = registry.base("set_task_status", TASK, wanted)
    other_reason = given(CREATED, t.StatusSet("person", "BLOCKED", "snow"))
    same = given(t.TaskCreated("x", "y", "z"), t.StatusSet(AGENT, "BLOCKED", "frost"))
    assert registry.base("set_task_status", other_reason, wanted) != before
    assert registry.base("set_task_status", same, wanted) == before
