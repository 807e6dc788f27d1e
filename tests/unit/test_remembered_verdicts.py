"""What the person edited away, or took back after confirming it, is not proposed again until a
text is newer; from scaffold 2 on."""

import pytest

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.commands import CreateAgent, DestroyAgent
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.log.wire import Words, payload
from domain.wake.reading import PromptOptions
from domain.wake.wake_inputs import shown
from tests.support.scripted_wakes import call, ended, items, minutes, woken
from tests.support.services import divergences, services, task_with_agent


def confirm(at: Services, made: str, edited: str = "") -> None:
    words = Words(edited) if edited else None
    at.append_agent(ConfirmItem(made, 1, "person", at.journal.tail().n, words))
    review.drive(at, made, 1)


def note(at: Services, task: str, text: str) -> None:
    at.append_journal(do.AddNote(task, "note", Words(text)))


def is_proposed(at: Services, agent: str, offer: tuple[str, str], scaffold: int = 2) -> bool:
    return bool(items(at, woken(at, agent, *ended(offer), scaffold=scaffold)))


@pytest.mark.parametrize("scaffold", [1, 2])
def test_what_was_edited_away_is_not_proposed_again_before_a_text_is_newer(scaffold: int) -> None:
    at = services()
    task, agent = task_with_agent(at)
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    assert is_proposed(at, agent, minutes(60), scaffold) == (scaffold == 1)
    note(at, task, "An hour will do.")
    if scaffold == 2:
        assert is_proposed(at, agent, minutes(60), scaffold)
    assert divergences(at) == []


@pytest.mark.parametrize("scaffold", [1, 2])
def test_what_was_set_otherwise_after_confirming_is_not_proposed_again(scaffold: int) -> None:
    at = services()
    task, agent = task_with_agent(at)
    due = call("update_task_due_date", dueDate="2027-02-01")
    note(at, task, "Due by 2027-02-01.")
    confirm(at, woken(at, agent, *ended(due)))
    at.append_journal(do.EditTask(task, due="2027-03-01"))
    assert is_proposed(at, agent, due, scaffold) == (scaffold == 1)
    if scaffold == 2:
        note(at, task, "No: by 2027-02-01.")
        assert is_proposed(at, agent, due, scaffold)


def test_an_edit_that_was_taken_back_is_not_proposed_either() -> None:
    at = services()
    task, agent = task_with_agent(at)
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    at.append_journal(do.EditTask(task, estimate=120))
    assert not is_proposed(at, agent, minutes(90))
    assert is_proposed(at, agent, minutes(30))


@pytest.mark.parametrize("scaffold", [1, 2])
def test_a_label_that_was_taken_off_and_a_tick_that_was_taken_away_stay_so(scaffold: int) -> None:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.AddLabel("garden"))
    nails = at.append_journal(do.AddItems(task, ("Nails",))).result.ids[0]
    reason = "The note says that they are bought."
    ticks = [{"id": nails, "isChecked": True, "reason": reason}]
    offers = (
        call("assign_task_labels", labels=[{"id": label_id("garden"), "confidence": "high"}]),
        call("update_checklist_items", items=ticks),
    )
    for offer in offers:
        confirm(at, woken(at, agent, *ended(offer)))
    at.append_journal(do.ChangeLabels(task, remove=("garden",)))
    at.append_journal(do.EditItem(task, nails, is_checked=False))
    for offer in offers:
        assert is_proposed(at, agent, offer, scaffold) == (scaffold == 1)


def test_the_persons_words_in_a_wake_are_newer_than_any_verdict() -> None:
    at = services()
    task, agent = task_with_agent(at)
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    said = payload(task, b"Make it an hour after all.")
    at.append_agent(at.request(agent, "user", "", 0, said.id), payloads=[said])
    assert is_proposed(at, agent, minutes(60))


def test_an_edit_of_the_reason_alone_takes_nothing_away() -> None:
    """Nor does another proposal of the agent that was confirmed since."""
    at = services()
    _, agent = task_with_agent(at)
    blocked = call("set_task_status", status="BLOCKED", reason="no tools")
    confirm(at, woken(at, agent, *ended(blocked)), '{"reason":"no time","status":"BLOCKED"}')
    confirm(at, woken(at, agent, *ended(call("set_task_status", status="OPEN"))))
    assert is_proposed(at, agent, blocked)


def test_what_was_put_off_and_replaced_stays_put_off() -> None:
    at = services()
    _, agent = task_with_agent(at)
    first = woken(at, agent, *ended(minutes(45)))
    at.append_agent(DeferItem(first, 1, "person", at.journal.tail().n, "later"))
    assert is_proposed(at, agent, minutes(60))
    assert not is_proposed(at, agent, minutes(45))


@pytest.mark.parametrize("scaffold", [1, 2])
def test_a_new_agent_knows_what_the_one_before_was_told(scaffold: int) -> None:
    at = services()
    task, agent = task_with_agent(at)
    made = woken(at, agent, *ended(minutes(45)))
    at.append_agent(RejectItem(made, 1, "person", at.journal.tail().n))
    category = at.agent(agent).categories[0]
    at.append_agent(DestroyAgent(agent))
    create = CreateAgent(task, "New", category, at.journal.tail().n, "hybrid", is_enabled=True)
    other = at.append_agent(create).result.ids[0]
    assert is_proposed(at, other, minutes(45), scaffold) == (scaffold == 1)


def told(at: Services, agent: str, scaffold: int) -> str:
    """What the agent is told of its proposals when it wakes."""
    at.append_agent(at.request(agent))
    with at.journal.reading() as journal, at.agents.reading() as agents:
        queued = agents.load(WAKE_QUEUE, agent).queued
        assert queued is not None
        known = agents.load(AGENT, agent)
        prompt = shown(journal, agents, known, queued, PromptOptions(scaffold))
    return next(one.text for one in prompt.user if one.name == "proposals")


def test_an_edited_value_is_told_with_what_was_made_of_it() -> None:
    at = services()
    _, agent = task_with_agent(at)
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    assert "- confirmed: Set estimate to 60 minutes (edited)" in told(at, agent, 1)
    assert "- confirmed: Set estimate to 60 minutes (edited: 60 -> 90)" in told(at, agent, 2)
