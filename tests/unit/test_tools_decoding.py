"""Forgiving where the meaning is plain, strict in all else, and precise about what is wrong."""

import pytest
from msgspec import Struct

from domain.tools import arguments as a
from domain.tools import registry
from domain.tools.base import ToolRefusal
from domain.wake.scaffolds import SCAFFOLD
from tests.support.tools import given


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("update_task_due_date", {"due_date": "2027-01-01"}, a.UpdateTaskDueDate("2027-01-01")),
        (
            "set_task_language",
            {"language_code": "de", "confidence": "HIGH"},
            a.SetTaskLanguage("de", "high"),
        ),
        ("update_task_estimate", {"minutes": "60"}, a.UpdateTaskEstimate(60)),
        ("update_task_estimate", {"minutes": " 60.0 "}, a.UpdateTaskEstimate(60)),
        ("update_task_estimate", {"minutes": 60.0}, a.UpdateTaskEstimate(60)),
        ("set_task_estimate", {"minutes": 60}, a.UpdateTaskEstimate(60)),
        ("set_task_status", {"status": "open", "reason": None}, a.SetTaskStatus("OPEN")),
        (
            "set_task_status",
            {"status": "in \tprogress", "reason": ""},
            a.SetTaskStatus("IN PROGRESS"),
        ),
        ("set_task_title", '{"title": "Dig"}', a.SetTaskTitle("Dig")),
        (
            "add_multiple_checklist_items",
            {"items": '[{"title": "Dig"}]'},
            a.AddMultipleChecklistItems((a.AddChecklistItem("Dig"),)),
        ),
        (
            "add_multiple_checklist_items",
            {"items": '{"title": "Dig"}'},
            a.AddMultipleChecklistItems((a.AddChecklistItem("Dig"),)),
        ),
        (
            "add_multiple_checklist_items",
            {"items": ['{"title": "Dig"}', {"title": "Rake"}]},
            a.AddMultipleChecklistItems((a.AddChecklistItem("Dig"), a.AddChecklistItem("Rake"))),
        ),
        (
            "update_checklist_items",
            {"items": [{"id": " i1 ", "is_checked": True, "isArchived": None, "title": ""}]},
            a.UpdateChecklistItems((a.UpdateChecklistItem("i1", is_checked=True),)),
        ),
    ],
)
def test_what_is_plainly_meant_is_understood(tool: str, given: object, expected: Struct) -> None:
    name = registry.canonical_name(tool, SCAFFOLD)
    assert name
    assert registry.decode(name, given) == expected


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("set_task_title", [], "arguments: expected an object, got a list"),
        ("set_task_title", None, "arguments: expected an object, got nothing"),
        ("set_task_title", "Dig", 'arguments: expected an object, got "Dig"'),
        ("set_task_title", {}, "title: is missing"),
        (
            "set_task_title",
            {"title": None},
            "title: expected a text of 1 to 200 characters, got nothing",
        ),
        (
            "set_task_title",
            {"title": {"a": 1}},
            "title: expected a text of 1 to 200 characters, got an object",
        ),
        (
            "set_task_title",
            {"title": "Dig", "name": 1, "x": 2},
            'unknown argument "name", "x"; known are title',
        ),
        (
            "update_task_due_date",
            {"due_date": "2027-01-01", "dueDate": "2027-01-01"},
            "dueDate: is given twice",
        ),
        (
            "update_task_estimate",
            {"minutes": True},
            "minutes: expected a whole number from 1 to 1440, got true",
        ),
        (
            "update_task_estimate",
            {"minutes": 60.5},
            "minutes: expected a whole number from 1 to 1440, got 60.5",
        ),
        (
            "update_task_estimate",
            {"minutes": "an hour"},
            'minutes: expected a whole number from 1 to 1440, got "an hour"',
        ),
        (
            "update_task_estimate",
            {"minutes": 10**5000},
            "minutes: expected a whole number from 1 to 1440, got a number out of range",
        ),
        (
            "update_task_priority",
            {"priority": 1},
            "priority: expected one of P0, P1, P2, P3, got 1",
        ),
        (
            "add_multiple_checklist_items",
            {"items": "Dig"},
            'items: expected a list, got "Dig"',
        ),
        (
            "add_multiple_checklist_items",
            {"items": "[broken"},
            'items: expected a list, got "[broken"',
        ),
        (
            "add_multiple_checklist_items",
            {"items": [{"title": "Dig"}, {"title": "Rake", "isChecked": True}]},
            'unknown argument "isChecked" in items[1]; known are title',
        ),
        (
            "add_multiple_checklist_items",
            {"items": ["Dig"]},
            'items[0]: expected an object, got "Dig"',
        ),
        (
            "update_checklist_items",
            {"items": [{"id": "i1", "isChecked": "yes"}]},
            'items[0].isChecked: expected true or false, got "yes"',
        ),
        (
            "update_checklist_items",
            {"items": [{"isChecked": True}]},
            "items[0].id: is missing",
        ),
        (
            "assign_task_labels",
            {"labels": [{"id": "l1"}]},
            "labels[0].confidence: is missing",
        ),
        (
            "assign_task_labels",
            {"labels": [{"id": "l1", "confidence": "sure"}]},
            'labels[0].confidence: expected one of high, low, medium, very_high, got "sure"',
        ),
        ("update_report", {"content": "x", "tldr": "y"}, "oneLiner: is missing"),
        (
            "update_report",
            {"content": "x", "tldr": " \n", "one_liner": "z"},
            "tldr: expected a text, got a blank one",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tool: str, given: object, message: str) -> None:
    assert registry.decode(tool, given) == ToolRefusal("invalid_arguments", message)


def test_a_long_text_is_repeated_only_in_part() -> None:
    answer = registry.decode("update_task_priority", {"priority": "x\n" * 500})
    assert isinstance(answer, ToolRefusal)
    assert len(answer.message) < 200
    assert "\n" not in answer.message


def test_half_a_character_is_made_whole() -> None:
    answer = registry.decode("set_task_title", {"title": "a\ud800b"})
    assert answer == a.SetTaskTitle("a\ufffdb")


@pytest.mark.parametrize("name", ["assign_task_label", "add_checklist_item", "nothing", ""])
def test_only_the_twelve_are_callable(name: str) -> None:
    assert registry.canonical_name(name, SCAFFOLD) is None
    answer = registry.decode(name, {"id": "x", "title": "x"})
    assert answer == ToolRefusal("unknown_tool", f'There is no tool "{name}".')


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("add_checklist_item", {"title": " Dig "}, '{"title":"Dig"}'),
        (
            "update_checklist_item",
            {"is_checked": False, "id": "i1"},
            '{"id":"i1","isChecked":false}',
        ),
        ("assign_task_label", {"id": "l1"}, '{"id":"l1"}'),
        ("update_task_estimate", {"minutes": "90"}, '{"minutes":90}'),
        ("set_task_title", {"title": "Dig"}, '{"title":"Dig"}'),
    ],
)
def test_a_person_s_edit_becomes_canonical(tool: str, given: object, expected: str) -> None:
    assert registry.check_edit(tool, given) == expected


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("add_multiple_checklist_items", {"items": []}, "unknown_tool"),
        ("set_task_language", {"languageCode": "de", "confidence": "high"}, "unknown_tool"),
        ("update_report", {}, "unknown_tool"),
        ("update_checklist_item", {"id": "i1"}, "invalid_arguments"),
        ("set_task_status", {"status": "BLOCKED"}, "invalid_arguments"),
        ("update_task_estimate", [], "invalid_arguments"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(tool: str, given: object, code: str) -> None:
    answer = registry.check_edit(tool, given)
    assert isinstance(answer, ToolRefusal)
    assert answer.code == code


def test_what_is_recorded_of_a_refused_change_is_never_cut() -> None:
    """Old logs hold it whole: a message to a person is cut, its bytes are not."""
    name = "k" * 300
    found = registry.apply("update_task_estimate", given(), f'{{"{name}":1,"{name}":2}}', "person")
    assert isinstance(found, ToolRefusal)
    assert name in found.message
