"""A wake is offered the tools that its task has something for, from scaffold 2 on (ADR 43)."""

import pytest

from adapters.runtime.services import Services
from domain.changes.change_set import set_id
from domain.changes.commands import RejectItem
from domain.journal import commands as do
from domain.journal import task as t
from domain.tools import registry
from domain.tools.registry import TOOLS
from domain.tools.snapshot import Snapshot
from domain.wake.scaffolds import SCAFFOLD
from domain.wake.wake import WAKE, ToolReturned
from tests.support.scripted_wakes import call, ended, minutes, woken
from tests.support.services import divergences, queued_key, reply, services, task_with_agent
from tests.support.tools import LABELS, given

BARE = (t.TaskCreated("person", "Plant", "c1"),)
ITEMS = (
    t.ChecklistAdded("person", "k1", "Steps"),
    t.ItemAdded("person", "k1", "i1", "Dig"),
)
FULL = tuple(t.LabelAssigned("person", f"l-{one}") for one in LABELS[:3])
DECLINED = tuple(t.LabelSuppressed("person", f"l-{one}") for one in LABELS)


def hidden(snapshot: Snapshot, scaffold: int = SCAFFOLD) -> set[str]:
    """What a wake on this task is not offered of what its scaffold has."""
    every = registry.offered("task_agent", "manual", scaffold)
    return set(every) - set(registry.offered("task_agent", "manual", scaffold, snapshot))


@pytest.mark.parametrize(
    ("tool", "facts", "is_hidden"),
    [
        ("update_checklist_items", (), True),
        ("update_checklist_items", ITEMS, False),
        ("update_checklist_items", (*ITEMS, t.ItemArchived("person", "i1")), False),
        ("assign_task_labels", (), False),
        ("assign_task_labels", FULL, True),
        ("assign_task_labels", DECLINED, True),
        ("assign_task_labels", (*FULL[:2], *DECLINED[2:4]), False),
        ("set_task_language", (), False),
        ("set_task_language", (t.LanguageSet("person", "de"),), True),
        ("set_task_language", (t.LanguageSet("agent:a1", "de"),), True),
    ],
)
def test_a_tool_is_hidden_where_the_task_has_nothing_for_it(
    tool: str, facts: tuple[t.TaskFact, ...], is_hidden: bool
) -> None:
    seen = given(*BARE, *facts)
    assert (tool in hidden(seen)) is is_hidden
    assert hidden(seen, 1) == set()


def test_a_hidden_tool_could_have_proposed_nothing() -> None:
    """What is hidden is what every call of it would be refused for."""
    seen = given(*BARE, *FULL, t.LanguageSet("agent:a1", "de"))
    assert hidden(seen) >= {"update_checklist_items", "assign_task_labels", "set_task_language"}
    wishes: dict[str, dict[str, object]] = {
        "update_checklist_items": {"items": [{"id": "i1", "isChecked": True}]},
        "assign_task_labels": {"labels": [{"id": "l-bath", "confidence": "high"}]},
        "set_task_language": {"languageCode": "en", "confidence": "high"},
    }
    for tool, wish in wishes.items():
        arguments = registry.decode(tool, wish)
        plan = registry.plan(tool, seen, arguments)
        assert not getattr(plan, "proposals", ()), tool


def tools_of(
    at: Services, agent: str, *calls: tuple[str, str], scaffold: int = SCAFFOLD
) -> tuple[str, ...]:
    """What a wake that calls these is offered."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, *ended(*calls), scaffold=scaffold)
    with at.agents.reading() as world:
        return world.load(WAKE, run_key).begun.tools


def test_proposals_are_taken_back_only_where_some_wait() -> None:
    at = services()
    _, agent = task_with_agent(at)
    proposed = set_id(queued_key(at, agent))
    assert "retract_suggestions" not in tools_of(at, agent, minutes(60))
    assert "retract_suggestions" in tools_of(at, agent)
    at.append_agent(RejectItem(proposed, 1, "person", at.journal.tail().n, "no"))
    assert "retract_suggestions" not in tools_of(at, agent)
    every = tuple(name for name in TOOLS if TOOLS[name].since == 1)
    assert tools_of(at, agent, scaffold=1) == every
    assert divergences(at) == []


def test_a_call_of_a_hidden_tool_is_refused_and_told_why() -> None:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.EditTask(task, language="de"))
    wish = call("set_task_language", languageCode="en", confidence="high")
    run_key = queued_key(at, agent)
    woken(at, agent, reply(wish), *ended())
    (no, *_) = (
        row.fact
        for row in at.agents.facts(f"wake:{run_key}@r1")
        if isinstance(row.fact, ToolReturned)
    )
    assert (no.status, no.code) == ("denied", "wake_reason_not_allowed")
    assert "has nothing for it to work on" in no.message.text
    assert divergences(at) == []
