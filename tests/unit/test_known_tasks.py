"""A wake names no task that it was not shown, and proposes no more follow-ups than it may."""

import json
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import Agent
from domain.changes.change_set import ChangeSet
from domain.changes.dependencies import follow_up_id
from domain.journal import task as t
from domain.journal.task import TASK
from domain.log.wire import Words
from domain.tools import registry
from domain.tools.base import Plan, Proposal, ToolRefusal, fingerprint
from domain.tools.snapshot import SnapshotLink
from domain.wake import visible_ids
from domain.wake.context import linked_tasks
from domain.wake.wake import ExchangeRef, ResultRef, Wake
from tests.support.proposals import proposed
from tests.support.readings import Book, add_link, add_task
from tests.support.tools import given, planned

LINKED = SnapshotLink("linked", "relates_to", "Pay the tax", "c1", "OPEN")
SEEN = replace(
    given(
        t.TaskCreated("person", "Plant", "c1"),
        t.ItemAdded("person", "k1", "i1", "Dig"),
        t.ItemAdded("person", "k1", "i2", "Rake", is_checked=True),
        t.ItemAdded("person", "k1", "i3", "Mulch"),
        t.ItemArchived("person", "i3"),
    ),
    linked=(LINKED, SnapshotLink("later", "has_follow_up", "Mow the lawn", "c1", "OPEN")),
)
FRESH = Wake("run")
FOUND = {"tasks": [{"id": "found", "title": "Buy seeds", "status": "DONE", "category": "c1"}]}


def read(tool: str, message: str, *, is_error: bool = False) -> Wake:
    """A wake that was answered so."""
    ref = ResultRef("c1", tool, Words(message), is_error)
    return Wake("run", exchanges=(ExchangeRef("", (ref,)),))


def follow_up(title: str = "The rest") -> Proposal:
    text = json.dumps({"title": title})
    name = "create_follow_up_task"
    return Proposal(name, text, title, fingerprint(name, text), title, "")


def refused(
    tool: str,
    *sets: ChangeSet,
    wake: Wake = FRESH,
    own: ChangeSet | None = None,
    **more: Any,
) -> str:
    """The code that a call is refused with, empty if it is not."""
    arguments = registry.decode(tool, more)
    assert isinstance(arguments, Struct)
    assert not isinstance(arguments, ToolRefusal), arguments
    mine = own or ChangeSet("set-1")
    found = visible_ids.refused(wake, SEEN, (*sets, mine), mine, arguments, lambda said: said.text)
    return found.code if found else ""


def link(target: str, relation: str = "blocks", **more: Any) -> str:
    return refused("link_task", relation=relation, targetTaskId=target, **more)


def move(target: str, **more: Any) -> str:
    items = [{"id": "i1"}]
    return refused("migrate_checklist_items", items=items, targetTaskId=target, **more)


def test_a_linked_task_is_known() -> None:
    assert (link("linked"), move("linked")) == ("", "")
    assert visible_ids.visible_tasks(Wake("run"), SEEN, ChangeSet("s"), lambda said: said.text)[
        "linked"
    ] == (visible_ids.VisibleTask("linked", "Pay the tax", "OPEN", "c1"))


@pytest.mark.parametrize("tool", visible_ids.READS)
def test_what_a_read_told_may_be_linked_and_gets_no_items(tool: str) -> None:
    wake = read(tool, json.dumps(FOUND))
    assert (link("found", wake=wake), move("found", wake=wake)) == ("", "not_found")
    assert visible_ids.visible_tasks(wake, SEEN, ChangeSet("s"), lambda said: said.text)[
        "found"
    ] == (visible_ids.VisibleTask("found", "Buy seeds", "DONE", "c1"))


@pytest.mark.parametrize(
    "wake",
    [
        Wake("run"),
        read("find_tasks", json.dumps(FOUND), is_error=True),
        read("update_report", json.dumps(FOUND)),
        read("find_tasks", "nothing found"),
        read("find_tasks", "[]"),
        read("find_tasks", '{"tasks": 1}'),
        read("find_tasks", '{"tasks": [1, {"title": "found"}]}'),
    ],
)
def test_no_other_task_is_known(wake: Wake) -> None:
    assert (link("found", wake=wake), move("found", wake=wake)) == ("not_found", "not_found")


def test_a_follow_up_of_the_wake_s_own_set_is_known() -> None:
    own = proposed(follow_up())
    made = follow_up_id(own.id, 1)
    assert (link(made, own=own), move(made, own=own)) == ("", "")
    assert (link(made), move(made)) == ("not_found", "not_found")


def test_what_is_linked_so_already_is_not_linked_again() -> None:
    assert link("linked", "relates_to") == "redundant"


def test_only_three_follow_ups_wait_at_a_time() -> None:
    waiting = proposed(follow_up("A"), follow_up("B"))
    assert refused("create_follow_up_task", waiting, title="D") == ""
    own = replace(proposed(follow_up("C")), id="set-1")
    assert refused("create_follow_up_task", waiting, own=own, title="D") == "limit"
    decided = replace(
        waiting, items=tuple(replace(one, status="rejected") for one in waiting.items)
    )
    assert refused("create_follow_up_task", decided, own=own, title="D") == ""


@pytest.mark.parametrize("item", ["i2", "i3"])
def test_only_what_is_open_is_carried_over(item: str) -> None:
    both = [{"id": "i1"}, {"id": item}]
    assert refused("create_follow_up_task", title="A", carryOver=both) == "not_found"
    assert refused("create_follow_up_task", title="A", carryOver=both[:1]) == ""


def test_a_follow_up_that_was_made_is_not_proposed_again() -> None:
    assert refused("create_follow_up_task", title="mow  the LAWN") == "redundant"
    waiting = proposed(follow_up())
    made = replace(waiting, items=tuple(replace(one, status="confirmed") for one in waiting.items))
    assert refused("create_follow_up_task", made, title="The rest") == "redundant"
    assert refused("create_follow_up_task", waiting, title="The rest") == ""


def test_a_link_that_the_person_took_away_is_not_proposed_again() -> None:
    text = json.dumps({"relation": "blocks", "targetTaskId": "linked"})
    made = proposed(Proposal("link_task", text, "Link", fingerprint("link_task", text), "link", ""))
    assert link("linked", own=made) == ""
    done = replace(made, items=tuple(replace(one, status="confirmed") for one in made.items))
    assert link("linked", own=done) == "redundant"


def test_other_tools_name_no_task() -> None:
    assert refused("update_task_priority", priority="P1") == ""


def test_a_linked_task_that_the_agent_may_not_see_is_not_in_its_snapshot() -> None:
    book = Book()
    for name, category in (("sink", "c1"), ("roof", "c1"), ("secret", "c2"), ("gone", "c1")):
        add_task(book, name, f"The {name}", category)
    book.tell("task", "gone", t.TaskDeleted("person"))
    for name in ("roof", "secret", "gone", "nowhere"):
        add_link(book, "sink", "blocks", name)
    world = book.world()
    found = linked_tasks(world, world.load(TASK, "sink"), Agent("a", categories=("c1",)))
    assert found == (SnapshotLink("roof", "blocks", "The roof", "c1", "OPEN"),)
    back = linked_tasks(world, world.load(TASK, "roof"), Agent("a", categories=("c1",)))
    assert [(one.id, one.relation) for one in back] == [("sink", "is_blocked_by")]


def test_items_that_cannot_move_leave_the_others_standing() -> None:
    items = [{"id": one} for one in ("i1", "i1", "i3", "i9")]
    plan = planned("migrate_checklist_items", SEEN, items=items, targetTaskId="linked")
    assert isinstance(plan, Plan)
    assert [one.summary for one in plan.proposals] == ['Move: "Dig" to task linked']
    assert plan.skipped == ('Item "Dig" is named twice.',)
    assert len(plan.refused) == 2


def test_a_summary_names_the_first_items_and_counts_the_others() -> None:
    many = given(*(t.ItemAdded("person", "k1", f"i{n}", f"Step {n}") for n in range(5)))
    carried = [{"id": f"i{n}"} for n in range(5)]
    plan = planned("create_follow_up_task", many, title="Rest", carryOver=carried)
    assert isinstance(plan, Plan)
    told = 'Create follow-up task "Rest", with "Step 0", "Step 1", "Step 2", 2 more'
    assert plan.proposals[0].summary == told
