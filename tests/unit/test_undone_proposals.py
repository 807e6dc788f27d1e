"""What was confirmed and undone in the journal alone, as before the item knew of it, counts as
rejected until a text is newer, in scaffold 2. Since then it waits for the person."""

import pytest

from adapters.runtime import review
from adapters.runtime.review import task_now
from adapters.runtime.services import Services
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.usecases.undoing import undo
from adapters.wiring import Home
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.log.state import entity_of
from domain.log.wire import Words
from tests.support.lessons import proved
from tests.support.scripted_wakes import call, ended, items, minutes, woken
from tests.support.services import services, task_with_agent


def undone(at: Services, agent: str, offer: tuple[str, str]) -> None:
    """Proposed, confirmed and taken back, by what the deeds wrote before ADR 78."""
    made = woken(at, agent, *ended(offer))
    for one in items(at, made):
        review.confirm(at, made, one.number)
    for one in reversed(items(at, made)):
        rows = at.journal.append_at(one.position)
        tasks = {entity_of(row.stream): None for row in rows if row.stream.startswith("task:")}
        at.append_journal(do.UndoDeed(tuple(tasks), (one.position,)))


def is_proposed(at: Services, agent: str, offer: tuple[str, str]) -> bool:
    return bool(items(at, woken(at, agent, *ended(offer))))


def offers(nails: str) -> dict[str, tuple[str, str]]:
    label = {"id": label_id("garden"), "confidence": "high"}
    tick = {"id": nails, "isChecked": True, "reason": "The note says that they are bought."}
    return {
        "estimate": minutes(60),
        "due": call("update_task_due_date", dueDate="2027-02-01"),
        "priority": call("update_task_priority", priority="P0"),
        "status": call("set_task_status", status="BLOCKED", reason="no parts"),
        "title": call("set_task_title", title="Fix the kitchen sink"),
        "language": call("set_task_language", languageCode="de", confidence="high"),
        "labels": call("assign_task_labels", labels=[label]),
        "tick": call("update_checklist_items", items=[tick]),
        "rename": call("update_checklist_items", items=[{"id": nails, "title": "Long nails"}]),
        "items": call("add_multiple_checklist_items", items=[{"title": "Saw"}, {"title": "Oil"}]),
        "follow_up": call("create_follow_up_task", title="The rest"),
    }


FOR_GOOD = ("language", "items", "follow_up")
"""Put away, not removed, or the person's own word from then on: no text makes them new."""


@pytest.mark.parametrize("what", sorted(offers("")))
def test_what_was_undone_is_proposed_again_once_a_text_is_newer(what: str) -> None:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.AddLabel("garden"))
    nails = at.append_journal(do.AddItems(task, ("Nails",))).result.ids[0]
    offer = offers(nails)[what]
    undone(at, agent, offer)
    assert not is_proposed(at, agent, offer)
    at.append_journal(do.AddNote(task, "note", Words("After all: do it.")))
    assert is_proposed(at, agent, offer) == (what not in FOR_GOOD)
    assert proved(at) == ()


def test_a_verdict_that_was_taken_back_waits_and_is_given_again() -> None:
    at = services()
    task, agent = task_with_agent(at)
    made = woken(at, agent, *ended(minutes(60)))
    review.reject(at, made, 1, "no")
    home = Home.in_memory(at)
    undo(home)
    assert not is_proposed(at, agent, minutes(60))
    review.confirm(at, made, 1)
    undo(home)
    assert not is_proposed(at, agent, minutes(60))
    review.confirm(at, made, 1)
    assert task_now(at, task).estimate == 60
    assert not is_proposed(at, agent, minutes(60))
    assert proved(at) == ()


@pytest.mark.slow
@pytest.mark.parametrize("has_key", [False, True])
@pytest.mark.parametrize("is_after", [False, True])
def test_an_undo_of_ten_verdicts_that_dies_anywhere_is_gone_on_with(
    is_after: bool, has_key: bool
) -> None:
    for died in range(1, 11):
        at = services()
        agents = at.agents = FaultyLog.fused("agent")
        _, agent = task_with_agent(at)
        titles = [{"title": f"Part {nth}"} for nth in range(10)]
        made = woken(at, agent, *ended(call("add_multiple_checklist_items", items=titles)))
        for nth in range(1, 11):
            review.reject(at, made, nth, "no", f"many:{nth}")
        agents.fuse, agents.is_after = died, is_after
        with pytest.raises(Crashed):
            undo(Home.in_memory(at), key="back")
        agents._states.clear()
        left = [one.status for one in items(at, made)].count("rejected")
        assert left == 10 - died + (not is_after)
        if left:
            undo(Home.in_memory(at), key="back" if has_key else "")
        assert not has_key or undo(Home.in_memory(at), key="back").is_repeated
        assert {one.status for one in items(at, made)} == {"pending"}
        assert undo(Home.in_memory(at)).deed.what == "create task"
        assert proved(at) == ()
