"""The twelve tools, what a wake is offered of them, and how they are called."""

import json
from typing import Any, get_args

import jsonschema
import pytest

from domain.agent.wake_queue import Reason
from domain.journal import task as t
from domain.tools import registry
from domain.tools.base import CAPABILITIES, REASONS, ToolRefusal, fingerprint
from domain.tools.registry import ALIASES, TOOLS
from domain.wake.scaffolds import SCAFFOLD
from tests.support.tools import code, given, planned

TASK = given(t.TaskCreated("person", "Plant", "c1"))
NAMES = list(TOOLS)


def test_an_alias_names_a_tool_and_a_tool_names_itself() -> None:
    assert len(ALIASES) == sum(len(tool.aliases) for tool in TOOLS.values())
    assert {alias: registry.canonical_name(alias, SCAFFOLD) for alias in ALIASES} == ALIASES
    assert [registry.canonical_name(name, SCAFFOLD) for name in NAMES] == NAMES
    assert registry.canonical_name("SET_TASK_TITLE", SCAFFOLD) is None


def test_the_reasons_are_those_of_wakes() -> None:
    assert get_args(Reason) == REASONS


@pytest.mark.parametrize("reason", REASONS)
def test_a_task_agent_is_offered_all_in_every_wake(reason: str) -> None:
    assert list(registry.offered("task_agent", reason, SCAFFOLD)) == NAMES


def test_an_unknown_kind_or_reason_is_offered_nothing() -> None:
    assert registry.offered("stranger", "user", SCAFFOLD) == ()
    assert registry.offered("task_agent", "whim", SCAFFOLD) == ()


NEEDED_BY = {
    "task.propose": (
        "set_task_title update_task_estimate update_task_due_date update_task_priority "
        "set_task_status"
    ),
    "task.write_language": "set_task_language",
    "labels.propose": "assign_task_labels",
    "checklist.propose": (
        "add_multiple_checklist_items update_checklist_items migrate_checklist_items"
    ),
    "task.create": "create_follow_up_task",
    "link.propose": "link_task",
    "time.propose": "log_time edit_time_entry note_timer",
    "report.write": "update_report",
    "journal.write": "record_observations",
    "proposals.retract": "retract_suggestions",
    "loop.write": "update_loops",
    "category.read": "find_tasks read_task",
    "journal.read": "recall",
}
"""Which tools need which capability."""


def test_every_capability_of_a_tool_is_one_that_some_kind_has() -> None:
    needed: dict[str, list[str]] = {}
    for tool in TOOLS.values():
        for one in tool.capabilities:
            needed.setdefault(one, []).append(tool.name)
    assert {one: " ".join(names) for one, names in needed.items()} == NEEDED_BY
    assert NEEDED_BY.keys() == set().union(*CAPABILITIES.values())


def test_a_schema_is_one_object_with_nothing_of_ours() -> None:
    for spec in registry.specs(NAMES):
        jsonschema.Draft202012Validator.check_schema(spec.schema)
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert set(spec.schema["required"]) <= set(spec.schema["properties"])
        text = json.dumps(spec.schema)
        assert not [ours for ours in ('"x-', "$ref", "$defs", '"default"', "null") if ours in text]
        assert spec.description == TOOLS[spec.name].description


def test_schemas_say_the_limits() -> None:
    fields: dict[str, Any] = {
        spec.name: spec.schema["properties"] for spec in registry.specs(NAMES)
    }
    assert fields["set_task_title"]["title"]["maxLength"] == 200
    assert fields["update_task_estimate"]["minutes"]["maximum"] == 1440
    assert fields["assign_task_labels"]["labels"]["maxItems"] == 3
    assert fields["add_multiple_checklist_items"]["items"]["maxItems"] == 20
    assert "DONE" not in fields["set_task_status"]["status"]["enum"]
    assert fields["update_checklist_items"]["items"]["items"]["required"] == ["id"]


def test_specs_come_in_the_order_asked_for_and_cannot_spoil_each_other() -> None:
    first = registry.specs(["update_report", "set_task_title"])
    assert [spec.name for spec in first] == ["update_report", "set_task_title"]
    first[1].schema["properties"].clear()
    assert registry.specs(["set_task_title"])[0].schema["properties"]


def test_local_tools_are_neither_planned_nor_applied() -> None:
    report = registry.decode("update_report", {"content": "a", "tldr": "b", "oneLiner": "c"})
    assert not isinstance(report, ToolRefusal)
    assert code(registry.plan("update_report", TASK, report)) == "unknown_tool"
    assert code(registry.apply("update_report", TASK, "{}", "agent:a1")) == "unknown_tool"


@pytest.mark.parametrize("tool", ["add_multiple_checklist_items", "set_task_estimate", "nothing"])
def test_only_single_changes_are_applied(tool: str) -> None:
    assert code(registry.apply(tool, TASK, '{"minutes":1}', "agent:a1")) == "unknown_tool"


def test_what_cannot_be_read_is_refused_and_changes_nothing() -> None:
    broken = '{"minutes":'
    assert code(registry.apply("update_task_estimate", TASK, broken, "agent:a1")) == "invalid_json"
    assert registry.touches("update_task_estimate", broken) == ()
    assert registry.summary("update_task_estimate", TASK, broken) == "update_task_estimate"
    assert registry.base("update_task_estimate", TASK, broken)
    assert fingerprint("update_task_estimate", broken)


def test_the_language_may_be_proposed_where_it_cannot_be_set_at_once() -> None:
    plan = planned("set_task_language", TASK, languageCode="de", confidence="high")
    assert not isinstance(plan, ToolRefusal)
    assert plan.proposals[0].summary == "Set language to de"


def test_a_batch_says_all_of_it_and_nothing_else_does() -> None:
    for tool in TOOLS.values():
        of_batch = (tool.array, tool.singular, tool.explode)
        assert all(of_batch) == any(of_batch), tool.name
        assert tool.element is not None or not tool.array, tool.name
        assert not tool.array or tool.array in registry.specs([tool.name])[0].schema["properties"]
