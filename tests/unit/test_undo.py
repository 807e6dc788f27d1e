"""What was decided and is taken back is a proposal again (ADR 78); how far back `undo` looks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.home.home_location import FolderLocation
from adapters.home.settings import Settings
from adapters.home.views import Views
from adapters.models.rules.model import RulesModel
from adapters.runtime import recovery, review
from adapters.runtime.services import Services
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.usecases import undoing
from adapters.usecases.tasks import edit_task
from adapters.usecases.undoing import deeds, undo
from adapters.wiring import Home
from domain.append.envelope import Row
from domain.changes import change_set as ch
from domain.changes import decisions
from domain.changes.in_doubt import items_in_doubt, undos_in_doubt
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.commands import CreateTask
from domain.journal.task import TASK, Task
from domain.log.state import entity_of
from domain.log.wire import Words
from tests.support.lessons import proved
from tests.support.proposals import add, after, item, shown
from tests.support.scripted_wakes import call, ended, items, minutes, woken
from tests.support.services import TickingClock, one_agent, services, task_with_agent

# ------------------------------------------------------------------------------------ confirmations


ME = "person"


def now_of(at: Services, task: str) -> Task:
    with at.journal.reading() as world:
        return world.load(TASK, task)


def confirmed(changes: ch.ChangeSet) -> ch.ChangeSet:
    """Its first item once more, in the journal's append 12."""
    asked = after(changes, decisions.confirm(changes, 1, ME, action="a"))
    return after(asked, [ch.ItemConfirmed(1, item(asked).confirmation, 12)])


def asked_back(changes: ch.ChangeSet, operation: str = "") -> ch.UndoAsked:
    """That its first item's confirmation, or that by an operation, is taken back."""
    found = item(changes)
    number = 1 if operation else found.confirmation
    (asked,) = decisions.undo(changes, 1, ME, operation or found.operations[-1], number)
    assert isinstance(asked, ch.UndoAsked)
    return asked


def outcome(asked: ch.UndoAsked, code: str = "") -> ch.ItemUndone:
    n = 0 if code else 13
    return ch.ItemUndone(asked.item, asked.confirmation, asked.operation, asked.undoes, n, code)


def taken_back(changes: ch.ChangeSet) -> ch.ChangeSet:
    asked = asked_back(changes)
    return after(changes, [asked, outcome(asked)])


def test_it_wins_over_the_confirmation_that_it_names_whenever_that_comes() -> None:
    changes = confirmed(shown(add("milk")))
    (confirming,) = item(changes).operations
    undone = taken_back(changes)
    late = ch.ItemConfirming(1, ME, 1, confirming, 1)
    assert after(undone, [late, ch.ItemConfirmed(1, 1, 12)]) == undone
    assert after(undone, [ch.ItemConfirmed(1, 1, 12, confirming)]) == undone
    assert items_in_doubt(undone)[0].operations == tuple(
        one for one in item(undone).operations if one != confirming
    )


def test_it_wins_over_no_later_confirmation() -> None:
    once = confirmed(shown(add("milk")))
    asked = asked_back(once)
    twice = confirmed(after(once, [asked, outcome(asked)]))
    theirs = ch.UndoAsked(1, ME, 1, "theirs", asked.undoes, 1)
    found = after(twice, [theirs, ch.ItemUndone(1, 1, "theirs", asked.undoes, 14)])
    assert (item(found).status, item(found).asked) == ("confirmed", None)
    assert ch.is_undone(item(found), asked.undoes)


def test_another_edit_of_the_same_number_is_confirmed_again_by_its_own_effect() -> None:
    changes = confirmed(shown(add("milk")))
    both = after(changes, [ch.ItemConfirming(1, ME, 1, "edit", 1)])
    asked = asked_back(both, item(changes).operations[0])
    undone = after(both, [asked, outcome(asked)])
    (doubt,) = items_in_doubt(undone)
    assert "edit" in doubt.operations
    assert item(after(undone, [ch.ItemConfirmed(1, 1, 20)])).status == "pending"  # which one?
    said = ch.ItemConfirmed(1, 1, 20, "edit")
    assert decisions.settle(undone, said, is_shared=True) == [said]
    again = after(undone, [said])
    assert item(again).status == "confirmed"
    assert item(after(again, [ch.ItemUndone(1, 1, "u", "other", 21)])).status == "confirmed"
    assert item(after(again, [ch.ItemUndone(1, 1, "u", "edit", 21)])).status == "pending"
    later = after(undone, [ch.ItemConfirming(1, ME, 1, "third", 1), ch.ItemConfirmed(1, 1, 21)])
    assert item(later).status == "confirmed"


def test_a_confirmation_that_met_the_undo_goes_on_or_is_over_as_the_journal_said() -> None:
    once = confirmed(shown(add("milk")))
    asked = asked_back(once)
    met = after(once, [asked, ch.ItemConfirming(1, ME, 2, "theirs", 1)])
    assert (item(met).status, item(met).asked) == ("confirmed", asked)
    undone = after(met, [outcome(asked)])
    assert (item(undone).status, item(undone).confirmation) == ("confirming", 2)
    failed = after(met, [ch.ItemFailed(1, 2, "stale", "")])
    assert item(after(failed, [outcome(asked)])).status == "pending"
    gone = after(undone, [ch.ItemUndone(1, 2, "u", "theirs", 14)])  # done and undone elsewhere
    assert (item(gone).status, item(gone).asked) == ("pending", None)
    own = after(once, [asked, ch.ItemConfirming(1, ME, 1, asked.undoes, 2)])  # another attempt
    assert item(after(own, [outcome(asked)])).status == "pending"


def test_an_undo_names_the_confirmation_that_stands_whatever_the_newest_number_is() -> None:
    once = taken_back(confirmed(shown(add("milk"))))
    twice = taken_back(confirmed(once))
    third = after(twice, [ch.ItemConfirmed(1, 7, 30)])  # of a machine whose intent came before
    assert item(third).status == "confirmed"
    known = after(third, [ch.UndoAsked(1, ME, 2, "late", "theirs", 1)])
    assert item(known).asked is None
    named = after(third, [ch.ItemUndone(1, 7, "u", "theirs", 31)])
    assert item(named).status == "pending"


def test_what_is_not_confirmed_has_no_end_that_could_be_undone() -> None:
    with pytest.raises(Refused) as refused:
        decisions.undone(shown(add("milk")), 1)
    assert refused.value.code == "decided"


def test_an_undo_that_was_refused_here_and_done_elsewhere_is_doubted_and_told_late() -> None:
    changes = confirmed(shown(add("milk")))
    asked = asked_back(changes)
    assert undos_in_doubt(after(changes, [asked])) == []
    refused = after(changes, [asked, outcome(asked, "stale")])
    made = ch.UndoAttempt(1, asked.operation, asked.undoes)
    assert undos_in_doubt(refused) == [(1, made)]
    done = outcome(asked)
    assert decisions.settle(refused, done) == []
    assert decisions.settle(refused, done, is_shared=True) == [done]
    assert decisions.settle(refused, outcome(asked, "stale"), is_shared=True) == []
    undone = after(refused, [done])
    assert item(undone).status == "pending"
    assert decisions.settle(undone, done, is_shared=True) == []
    assert undos_in_doubt(undone) == []
    assert after(undone, [done]) == undone


def test_of_two_undos_under_way_at_once_the_other_is_kept_in_doubt() -> None:
    changes = confirmed(shown(add("milk")))
    asked = asked_back(changes)
    both = after(changes, [asked, ch.UndoAsked(1, ME, 1, "theirs", asked.undoes, 1)])
    assert item(both).asked == asked
    assert [one.operation for _, one in undos_in_doubt(both)] == ["theirs"]
    late = after(shown(add("milk")), [asked])  # of a set that is not confirmed here
    assert (item(late).asked, item(late).status) == (None, "pending")


def sink(*offers: tuple[str, str], at: Services | None = None) -> tuple[Services, str, str]:
    """A home in which these were proposed: its task and the set."""
    at = at or services()
    task, agent = task_with_agent(at)
    return at, task, woken(at, agent, *ended(*(offers or (minutes(60),))))


def test_undo_puts_the_proposal_before_the_person_and_confirm_applies_it_again() -> None:
    at, task, made = sink()
    for _ in range(3):
        review.confirm(at, made, 1)
        assert now_of(at, task).estimate == 60
        done = undo(Home.in_memory(at))
        assert (done.deed.what, done.deed.items, done.redo) == ("confirm item", ((made, 1),), "")
        assert now_of(at, task).estimate == 0
        assert [one.status for one in items(at, made)] == ["pending"]
    assert proved(at) == ()


def test_what_was_changed_since_is_told_and_the_item_stays_confirmed() -> None:
    at, task, made = sink()
    review.confirm(at, made, 1)
    at.append_journal(do.EditTask(task, estimate=30))
    at.append_journal(do.EditTask(task, due="2027-03-01"))
    home = Home.in_memory(at)
    (wanted,) = [one for one in deeds(home) if one.items]
    assert wanted.state == "moved"
    with pytest.raises(Refused, match="changed since"):
        undo(home, wanted.ref)
    operation = items(at, made)[0].operations[0]
    for _ in range(2):  # asked for all the same, as by a page that is not up to date
        after = review.undo(at, made, 1, operation)
        assert after is not None
        assert (after.status, after.asked) == ("confirmed", None)
    assert now_of(at, task).estimate == 30
    at.append_journal(do.EditTask(task, estimate=60))
    after = review.undo(at, made, 1, operation)
    assert after is not None
    assert after.status == "pending"
    assert proved(at) == ()


def test_a_refused_undo_is_refused_again_under_its_key() -> None:
    at, task, made = sink()
    review.confirm(at, made, 1)
    operation = items(at, made)[0].operations[0]
    at.append_journal(do.EditTask(task, estimate=30))
    review.undo(at, made, 1, operation, "k:1")
    with pytest.raises(Refused, match="changed since"):
        undo(Home.in_memory(at), key="k")
    at.append_journal(do.EditTask(task, estimate=60))
    assert undo(Home.in_memory(at), key="k2").deed.what == "edit task"


def test_several_verdicts_and_an_edit_are_one_deed_the_newest_first() -> None:
    at, task, made = sink(
        minutes(60),
        call("update_task_due_date", dueDate="2027-02-01"),
        call("update_task_priority", priority="P0"),
    )
    for nth, one in enumerate(items(at, made), start=1):
        review.confirm(at, made, one.number, is_anyway=True, key=f"many:{nth}")
    at.append_journal(do.EditTask(task, priority="P3"), key=f"many:{len(items(at, made)) + 1}")
    home = Home.in_memory(at)
    before = len(items(at, made))
    done = undo(home, key="back")
    assert len(done.deed.items) == before
    assert done.redo.startswith("j")
    now = now_of(at, task)
    assert now.estimate == 0
    assert {one.status for one in items(at, made)} == {"pending"}
    again = undo(home, key="back")
    assert again.is_repeated
    assert (sorted(again.deed.items), again.redo) == (sorted(done.deed.items), done.redo)
    assert deeds(home)[0].what == "create task"
    assert proved(at) == ()


def test_the_undo_of_a_confirmation_is_no_deed_that_is_undone() -> None:
    at, _, made = sink()
    review.confirm(at, made, 1)
    undo(Home.in_memory(at))
    with pytest.raises(Refused, match="took a confirmation back"):
        undo(Home.in_memory(at), f"j{at.journal.tail().n}")


def test_what_was_taken_back_in_the_journal_alone_stays_confirmed() -> None:
    at, task, made = sink()
    review.confirm(at, made, 1)
    at.append_journal(do.UndoDeed((task,), (items(at, made)[0].position,)))  # as of old
    assert (items(at, made)[0].status, items(at, made)[0].error) == ("confirmed", "")
    assert [one.what for one in deeds(Home.in_memory(at))] == ["create task"]
    after = review.undo(at, made, 1, items(at, made)[0].operations[0])
    assert after is not None
    assert after.status == "confirmed"  # nothing of it is there
    assert proved(at) == ()


def test_a_follow_up_that_was_taken_back_is_made_again_as_it_is_edited_then() -> None:
    at, task, agent = one_agent()
    saw, oil = at.append_journal(do.AddItems(task, ("Saw", "Oil"))).result.ids
    offer = call(
        "create_follow_up_task",
        title="The rest",
        dueDate="2027-02-01",
        carryOver=[{"id": saw}, {"id": oil}],
    )
    made = woken(at, agent, *ended(offer))
    review.confirm(at, made, 1)
    (follow,) = [one for one in task_ids(at) if one != task]
    home = Home.in_memory(at)
    undo(home)
    assert state(at, follow).is_deleted
    carried = f'[{{"id":"{saw}"}}]'
    edit = (
        f'{{"carryOver":{carried},"description":"All of it.","dueDate":"2027-03-01",'
        '"priority":"P0","title":"What is left"}'
    )
    review.confirm(at, made, 1, edit=edit, is_anyway=True)
    found = state(at, follow)
    assert (items(at, made)[0].status, items(at, made)[0].error) == ("confirmed", "")
    assert (found.is_deleted, found.title, found.due, found.priority) == (
        False, "What is left", "2027-03-01", "P0",
    )  # fmt: skip
    assert [one.title for one in found.items if not one.is_archived] == ["Saw"]
    undo(home)
    assert state(at, follow).is_deleted
    review.confirm(at, made, 1)
    assert not state(at, follow).is_deleted
    assert proved(at) == ()


def task_ids(at: Services) -> tuple[str, ...]:
    with at.journal.reading() as world:
        return world.entities("task")


def state(at: Services, task: str) -> Task:
    with at.journal.reading() as world:
        return world.load(TASK, task)


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("died", [("agent", 1), ("journal", 1), ("agent", 2)])
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_kill_at_any_row_is_recovered(
    died: tuple[str, int], is_after: bool, is_moved: bool
) -> None:
    name, nth = died
    logs = {one: FaultyLog.fused(one) for one in ("journal", "agent")}
    at = services()
    at.journal, at.agents = logs["journal"], logs["agent"]
    at, task, made = sink(at=at)
    review.confirm(at, made, 1)
    if is_moved:
        at.append_journal(do.EditTask(task, estimate=30))
    operation = items(at, made)[0].operations[0]
    logs[name].fuse, logs[name].is_after = nth, is_after
    with pytest.raises(Crashed):
        review.undo(at, made, 1, operation)
    logs["journal"]._states.clear()
    logs["agent"]._states.clear()
    is_asked = (name, nth, is_after) != ("agent", 1, False)
    steps = recovery.recover(at, [], [made], [], lambda _: None)
    (found,) = items(at, made)
    assert found.asked is None
    assert found.status == ("pending" if is_asked and not is_moved else "confirmed")
    assert now_of(at, task).estimate == (30 if is_moved else 0 if is_asked else 60)
    in_doubt = is_asked and (name, nth, is_after) != ("agent", 2, True)
    assert [one.item for one in steps] == [1] * in_doubt
    assert recovery.recover(at, [], [made], [], lambda _: None) == []
    assert proved(at) == ()


# ----------------------------------------------------------- undone in the journal alone, as before


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
    at, task, agent = one_agent()
    at.append_journal(do.AddLabel("garden"))
    nails = at.append_journal(do.AddItems(task, ("Nails",))).result.ids[0]
    offer = offers(nails)[what]
    undone(at, agent, offer)
    assert not is_proposed(at, agent, offer)
    at.append_journal(do.AddNote(task, "note", Words("After all: do it.")))
    assert is_proposed(at, agent, offer) == (what not in FOR_GOOD)
    assert proved(at) == ()


def test_a_verdict_that_was_taken_back_waits_and_is_given_again() -> None:
    at, task, agent = one_agent()
    made = woken(at, agent, *ended(minutes(60)))
    review.reject(at, made, 1, "no")
    home = Home.in_memory(at)
    undo(home)
    assert not is_proposed(at, agent, minutes(60))
    review.confirm(at, made, 1)
    undo(home)
    assert not is_proposed(at, agent, minutes(60))
    review.confirm(at, made, 1)
    assert now_of(at, task).estimate == 60
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


# ---------------------------------------------------------------------------- how far back it looks


EDITS = 150


class RowsCounted(MemoryLogRecorder):
    """Counts the rows that are read in order."""

    read_in_order = 0

    def rows(self, after: int) -> Iterator[Row]:
        for row in super().rows(after):
            self.read_in_order += 1
            yield row


def home_of(edits: int) -> tuple[Home, RowsCounted, str]:
    """A home in memory in which a task was edited so often."""
    recorder = RowsCounted()
    journal, agents = Log("journal", recorder, "r1"), Log.in_memory("agent", "r1")
    at = Services(journal, agents, TickingClock(), Settings(), lambda _: RulesModel())
    views = Views(None, {"journal": journal, "agent": agents})
    home = Home(FolderLocation(Path("nowhere")), at, views, exists=False)
    (task,) = at.append_journal(CreateTask("Fix the tap")).result.ids
    for nth in range(edits):
        edit_task(home, task, {"estimate": nth + 1}, key=f"edit {nth}")
    return home, recorder, task


def test_undo_finds_the_newest_deeds_and_a_verdict_asks_for_the_last_appends_alone() -> None:
    home, recorder, _ = home_of(EDITS)
    journal = home.services.journal
    found, newest = undoing.deeds(home), journal.tail().n
    assert [one.ref for one in found] == [f"j{newest - nth}" for nth in range(20)]
    assert [one.state for one in found[:2]] == ["open", "moved"]
    recorder.read_in_order = 0
    last = undoing.deed_under(home, f"edit {EDITS - 1}")
    assert last is not None
    assert last.ref == found[0].ref
    assert recorder.read_in_order <= 3 * undoing.LOOK_FIRST
    recorder.read_in_order = 0
    undoing.deeds(home)
    assert recorder.read_in_order <= journal.count() * 2


def test_the_newest_deed_is_found_without_reading_what_is_older() -> None:
    home, recorder, task = home_of(EDITS)
    recorder.read_in_order = 0
    assert undoing.newest(home).deed.facts
    assert recorder.read_in_order <= 3 * undoing.LOOK_FIRST
    assert task


def test_a_large_deed_is_whole_wherever_its_parts_end_and_is_judged_in_part() -> None:
    home, _, _ = home_of(1)
    ids = [home.services.append_journal(CreateTask(f"T{nth}")).result.ids[0] for nth in range(200)]
    for nth, one in enumerate(ids, start=1):  # as `done` does, under the key of a caller
        edit_task(home, one, {"status": "DONE"}, key=f"all:{nth}" if nth > 1 else "all")
    choice = undoing.newest(home)
    assert (len(choice.deed.tasks), choice.is_large) == (200, True)
    assert len(choice.deed.facts) == undoing.JUDGED_MAX
    assert choice.deed.left == 200 - undoing.JUDGED_MAX
    undone = undoing.undo(home, choice.deed.ref)
    assert undone.deed.tasks == choice.deed.tasks
    assert undoing.listed(home)[0].state == "undone"
