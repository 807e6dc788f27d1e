"""What is told of change sets, their ranks and their operations, from real logs."""

from msgspec.structs import replace

from domain.changes import commands as do
from domain.changes.change_set import (
    ItemConfirmed,
    ItemFailed,
    ItemProposed,
    ItemRejected,
    SetOpened,
    SuppressionAsked,
    SuppressionDone,
    set_id,
)
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from projections import inbox, operations
from projections.inbox import RanksDocument, SetDocument, arguments_of
from projections.operations import OwnerOperations
from projections.view import fold
from tests.support.agents import row
from tests.support.lives import ADD, PROPOSE, REPORT, Life, call


def rows(life: Life) -> list[RecordedEvent]:
    return [one for append in life.log.appends() for one in append]


def proposed(life: Life, run_key: str) -> SetDocument:
    return fold(inbox.VIEW, rows(life))[set_id(run_key)]


def effects(life: Life, run_key: str) -> OwnerOperations:
    return fold(operations.VIEW, rows(life))[set_id(run_key)]


def reviewing() -> tuple[Life, str]:
    """A life whose first wake proposed three items."""
    life = Life()
    life.create()
    return life, life.run(PROPOSE, ADD, REPORT)


def test_a_set_is_on_no_shelf_before_its_wake_has_ended() -> None:
    life = Life()
    run_key = life.create()
    life.begin()
    life.answer(run_key, PROPOSE)
    found = proposed(life, run_key)
    assert (found.is_opened, inbox.VIEW.shelf(found), len(found.items)) == (False, "", 1)
    assert inbox.VIEW.mark(found) == ""
    assert fold(inbox.RANKS, rows(life)) == {}


def test_an_opened_set_shows_who_proposed_what() -> None:
    life, run_key = reviewing()
    found = proposed(life, run_key)
    assert (found.agent_id, found.task_id, found.run_key) == (life.agent, life.task, run_key)
    assert (found.status, inbox.VIEW.shelf(found)) == ("pending", life.task)
    assert inbox.VIEW.mark(found) == "waiting"
    assert [(one.number, one.tool) for one in found.items] == [
        (1, "update_task_estimate"),
        (2, "add_checklist_item"),
        (3, "add_checklist_item"),
    ]
    assert arguments_of(found.items[0]) == Words('{"minutes":60}')
    assert found.created_at


def test_a_set_is_marked_by_every_tab_under_which_it_has_items() -> None:
    life, run_key = reviewing()
    for number in (1, 2):
        life.reject(run_key, number)
    before = proposed(life, run_key)
    life.reject(run_key, 3)
    after = proposed(life, run_key)
    assert (before.status, inbox.VIEW.mark(before)) == ("partially_resolved", "waiting decided")
    assert (after.status, inbox.VIEW.mark(after)) == ("resolved", "decided")
    assert inbox.VIEW.mark(before) in inbox.marks("waiting")
    assert inbox.VIEW.mark(after) not in inbox.marks("waiting", "deferred")
    assert after.items[2].reason == "not now"


def test_edited_arguments_are_the_ones_in_force() -> None:
    life, run_key = reviewing()
    edited = Words('{"minutes":90}')
    life.do(do.ConfirmItem(set_id(run_key), 1, "person", 5, arguments=edited))
    assert arguments_of(proposed(life, run_key).items[0]) == edited


def test_ranks_count_the_sets_that_were_opened_in_order() -> None:
    life, first = reviewing()
    life.ask(reason="manual")
    life.run(REPORT)  # proposes nothing, so it opens nothing
    life.ask(reason="manual")
    second = life.run(call("update_task_priority", priority="P0"), REPORT)
    (found,) = fold(inbox.RANKS, rows(life)).values()
    assert found == RanksDocument((set_id(first), set_id(second)))


def test_a_set_that_is_opened_again_keeps_its_rank_and_its_place() -> None:
    life, _ = reviewing()
    history = rows(life)
    (opened,) = (one for one in history if isinstance(one.fact, SetOpened))
    again = replace(opened, n=99)
    assert fold(inbox.RANKS, [*history, again]) == fold(inbox.RANKS, history)
    assert fold(inbox.VIEW, [*history, again]) == fold(inbox.VIEW, history)


def test_an_outcome_is_that_of_its_own_item() -> None:
    life, run_key = reviewing()
    life.confirm(run_key, 1)
    life.confirm(run_key, 2)
    life.settle(set_id(run_key), ItemConfirmed(2, 1))
    assert [one.item for one in effects(life, run_key).in_flight] == [1]


def test_a_confirmation_is_an_operation_and_its_repeat_another_one() -> None:
    life, run_key = reviewing()
    life.confirm(run_key)
    asked = effects(life, run_key)
    life.settle(set_id(run_key), ItemFailed(1, 1, "stale", "it changed"))
    life.confirm(run_key)
    life.settle(set_id(run_key), ItemConfirmed(1, 2, position=9))
    done = effects(life, run_key)
    assert operations.VIEW.shelf(asked) == "in_flight"
    assert (done.agent_id, done.run_key) == (life.agent, run_key)
    assert [(one.item, one.tool, one.outcome, one.code) for one in done.operations] == [
        (1, "update_task_estimate", "error", "stale"),
        (1, "update_task_estimate", "success", ""),
    ]
    assert done.operations[1].position == 9
    assert operations.VIEW.shelf(done) == "settled"


def test_taking_over_a_confirmation_raises_its_attempt() -> None:
    life, run_key = reviewing()
    life.confirm(run_key)
    life.do(do.RetakeEffect(set_id(run_key), 1))
    assert [one.attempt for one in effects(life, run_key).operations] == [2]


def test_the_suppression_of_a_rejected_label_is_an_operation() -> None:
    facts = (
        ItemProposed(1, "assign_task_label", Words("{}"), "s", "f", "d", ""),
        ItemRejected(1, "person", 5),
        SuppressionAsked(1, "op", "label", 1),
    )
    history = [row(fact, n=n, stream="changes:s@r1") for n, fact in enumerate(facts, 1)]
    done = row(SuppressionDone(1, "op"), n=5, stream="changes:s@r1")
    asked = fold(operations.VIEW, history)["s"]
    settled = fold(operations.VIEW, [*history, done])["s"]
    assert [one.tool for one in asked.in_flight] == [operations.SUPPRESSION]
    assert [one.outcome for one in settled.operations] == ["success"]
