"""A newer proposal takes the place of an older one for the same field, from scaffold 2 on."""

import pytest
from msgspec.structs import replace

from adapters.documents.inbox import reason_of
from domain.agent.commands import CreateAgent
from domain.changes.commands import ConfirmItem, DeferItem
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.task import TASK
from tests.support.scripted_wakes import GONE, REPORT, call, ended, items, minutes, states, woken
from tests.support.services import divergences, reply, services, task_with_agent


@pytest.mark.parametrize("scaffold", [1, 2])
def test_another_value_for_a_field_takes_the_place_of_the_one_that_waits(scaffold: int) -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45), call("update_task_priority", priority="P1")))
    second = woken(at, agent, *ended(minutes(60)), scaffold=scaffold)
    (old, other), (new,) = items(at, first), items(at, second)
    assert (other.status, new.status) == ("pending", "pending")
    if scaffold == 1:
        assert old.status == "pending"
    else:
        told = f"replaced by {second[:8]}.1"
        assert (old.status, old.decided_by, old.reason) == ("retracted", f"agent:{agent}", told)
    assert divergences(at) == []


@pytest.mark.parametrize("scaffold", [1, 2])
def test_of_two_values_in_one_wake_the_last_one_stands(scaffold: int) -> None:
    at = services()
    _, agent = task_with_agent(at)
    turns = reply(minutes(45), minutes(50)), *ended(minutes(60))
    made = woken(at, agent, *turns, scaffold=scaffold)
    found = [item.status for item in items(at, made)]
    replaced = "pending" if scaffold == 1 else "retracted"
    assert found == [replaced, replaced, "pending"]


@pytest.mark.parametrize("scaffold", [1, 2])
def test_what_was_put_off_is_replaced_too(scaffold: int) -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    at.append_agent(DeferItem(first, 1, "person", at.journal.tail().n, "later"))
    woken(at, agent, *ended(minutes(60)), scaffold=scaffold)
    assert items(at, first)[0].status == ("deferred" if scaffold == 1 else "retracted")


def test_what_is_being_confirmed_is_not_replaced() -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    at.append_agent(ConfirmItem(first, 1, "person", at.journal.tail().n))
    second = woken(at, agent, *ended(minutes(60)))
    assert states(at, first, second) == [
        ("Set estimate to 45 minutes", "confirming"),
        ("Set estimate to 60 minutes", "pending"),
    ]


def test_a_wake_that_fails_replaces_nothing() -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    second = woken(at, agent, reply(minutes(50), minutes(60)), GONE)
    assert [status for _, status in states(at, first, second)] == ["pending"] * 3
    third = woken(at, agent, *ended(minutes(90)))
    assert [status for _, status in states(at, first, second, third)] == [
        *["retracted"] * 3,
        "pending",
    ]


def test_additions_stand_beside_each_other() -> None:
    at = services()
    _, agent = task_with_agent(at)
    at.append_journal(do.AddLabel("garden"))
    at.append_journal(do.AddLabel("house"))
    one, other = (
        (
            call("assign_task_labels", labels=[{"id": label_id(label), "confidence": "high"}]),
            call("add_multiple_checklist_items", items=[{"title": title}]),
        )
        for label, title in (("garden", "Nails"), ("house", "Saw"))
    )
    made = woken(at, agent, *ended(*one)), woken(at, agent, *ended(*other))
    assert [status for _, status in states(at, *made)] == ["pending"] * 4


def test_of_a_checklist_item_each_value_is_a_field_of_its_own() -> None:
    at = services()
    task, agent = task_with_agent(at)
    ids = at.append_journal(do.AddItems(task, ("Nails", "Saw"))).result.ids

    def change(nth: int, **given: object) -> tuple[str, str]:
        return call("update_checklist_items", items=[{"id": ids[nth], **given}])

    first = woken(at, agent, *ended(change(0, title="Screws"), change(0, isChecked=True)))
    second = woken(at, agent, *ended(change(0, title="Bolts"), change(1, title="Axe")))
    third = woken(at, agent, *ended(change(1, title="Knife", isChecked=True)))
    assert states(at, first, second, third) == [
        ('Rename: "Nails" to "Screws"', "retracted"),
        ('Check: "Nails"', "pending"),
        ('Rename: "Nails" to "Bolts"', "pending"),
        ('Rename: "Saw" to "Axe"', "retracted"),
        ('Rename: "Saw" to "Knife"; Check: "Saw"', "pending"),
    ]


def test_what_a_model_takes_back_itself_bears_its_own_reason() -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    fingerprint = items(at, first)[0].fingerprint
    gone = [{"fingerprint": fingerprint, "reason": "It takes longer."}]
    woken(at, agent, *ended(minutes(60), call("retract_suggestions", proposals=gone)))
    (item,) = items(at, first)
    assert (item.status, item.reason) == ("retracted", "It takes longer.")


def test_a_long_text_of_the_last_turn_replaces_an_older_one() -> None:
    """Its payload stands in the same append."""
    at = services()
    task = at.append_journal(do.CreateTask("Fix the sink")).result.ids[0]
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    made = CreateAgent(
        task, "Fix", category, at.journal.tail().n, "hybrid", is_enabled=True, turn_max=1
    )
    agent = at.append_agent(made).result.ids[0]
    spelled = '{"status": "%s", "reason": "%s"}'  # kept in capitals
    first, second = (
        woken(at, agent, reply(("set_task_status", spelled % (one, "漢" * 500)), REPORT))
        for one in ("blocked", "on hold")
    )
    assert [item.status for one in (first, second) for item in items(at, one)] == [
        "retracted",
        "pending",
    ]
    assert divergences(at) == []


def test_a_person_is_told_what_replaced_a_proposal_by_the_number_of_its_set() -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    second = woken(at, agent, *ended(minutes(60)))
    (item,) = items(at, first)
    assert reason_of({first: 3, second: 4}, item) == "replaced by 4.1"
    assert reason_of({}, item) == f"replaced by {second[:8]}.1"
    for other in (replace(item, status="rejected"), replace(item, reason="replaced by tea.")):
        assert reason_of({second: 4}, other) == other.reason
