"""Verdicts that two machines gave without knowing of each other: an effect in the journal makes an
item confirmed and keeps its operation, else the canonical first stands; both are shown (ADR 73)."""

import pytest
from msgspec import UNSET

from domain.agent.memory import MEMORY as MEMORIES
from domain.agent.memory import MemoryFolded
from domain.changes import change_set as ch
from domain.changes.change_set import ChangeItem
from domain.changes.decisions import reopen, retake, settle
from domain.changes.in_doubt import ItemInDoubt, items_in_doubt
from domain.log.wire import Stored, Words
from tests.support.agents import row
from tests.support.sides import Sides, shown

SET, MEMORY = "changes:s1", "memory:a1"
ME = "person"
PROPOSED = ch.ItemProposed(1, "set_title", Words("{}"), "", "f1", "", "")
OPENED = ch.SetOpened("a1", "t1", "run")
ASKED = ch.ItemConfirming(1, ME, 1, "op1", 1, category="c1")
EDITED = ch.ItemConfirming(1, ME, 1, "op2", 1, Words("edited"))
DONE = ch.ItemConfirmed(1, 1, 7)
FAILED = ch.ItemFailed(1, 1, "stale", "")
REJECTED = ch.ItemRejected(1, ME, 5, "no")
DEFERRED = ch.ItemDeferred(1, ME, 5)
RETRACTED = ch.ItemRetracted(1, "agent:a1")
EXPIRED = ch.ItemExpired(1)


def told(*said: tuple[str, Stored]) -> Sides:
    """What each said, in canonical order; nobody knows of the other."""
    sides = Sides()
    sides.says("desk", PROPOSED, OPENED, of=SET)
    sides.meet("desk", "phone", "r3")
    for replica, fact in said:
        n = max(row.n for row in sides.rows)
        while max((m for _, m in sides.known[replica]), default=0) < n:
            sides.says(replica, ch.LiftDone(1, ""), of=SET)  # says nothing
        sides.says(replica, fact, of=SET)
    return sides


def item(sides: Sides) -> ChangeItem:
    found: ChangeItem = sides.state(SET).items[0]
    return found


@pytest.mark.parametrize("verdict", [REJECTED, DEFERRED, RETRACTED, EXPIRED])
@pytest.mark.parametrize("asked", [ASKED, EDITED])
def test_an_effect_makes_an_item_confirmed_and_keeps_its_operation(
    verdict: Stored, asked: ch.ItemConfirming
) -> None:
    mine, theirs = ("phone", asked), ("desk", verdict)
    for order in (theirs, mine), (mine, theirs):
        sides = told(*order, ("phone", DONE))
        found = item(sides)
        assert (found.status, found.position, found.asked) == ("confirmed", 7, None)
        assert found.operations == (asked.operation,)
        assert (found.arguments_now, found.decided_by) == (asked.arguments, ME)
        assert (found.held, found.reason) == (UNSET, "")
        ((kind, field, stands, values),) = shown(sides, SET)
        assert (kind, field, stands) == ("verdicts", "item:1", "confirmed")
        assert {one for one, _ in values} == {"desk", "phone"}


def test_without_an_effect_the_canonical_first_verdict_stands_and_both_are_shown() -> None:
    sides = told(("desk", REJECTED), ("phone", ASKED))
    found = item(sides)
    assert (found.status, found.reason, found.held) == ("rejected", "no", ASKED)
    assert found.operations == ("op1",)
    verdicts = [("desk", "rejected"), ("phone", "confirmed")]
    assert shown(sides, SET) == [("verdicts", "item:1", "rejected", verdicts)]
    sides = told(("phone", ASKED), ("desk", REJECTED))
    assert item(sides).status == "confirming"
    assert shown(sides, SET)[0][2:] == ("confirmed", verdicts[::-1])


def test_what_came_of_a_held_confirmation_is_recorded() -> None:
    sides = told(("desk", REJECTED), ("phone", ASKED))
    changes = sides.state(SET)
    assert settle(changes, DONE) == [DONE]
    assert settle(changes, ch.ItemConfirmed(1, 2)) == []
    assert settle(changes, FAILED) == [FAILED]
    sides.says("phone", FAILED, of=SET)
    found = item(sides)
    assert (found.status, found.held, found.operations) == ("rejected", UNSET, ("op1",))
    assert shown(sides, SET) == []  # what failed is no verdict


def test_who_takes_the_rejection_back_lets_the_confirmation_go_on() -> None:
    sides = told(("desk", REJECTED), ("phone", ASKED))
    for fact in reopen(sides.state(SET), 1, ME):
        sides.meet("desk", "phone")
        sides.says("desk", fact, of=SET)
    assert (item(sides).status, item(sides).asked) == ("confirming", ASKED)
    assert shown(sides, SET) == []


def test_two_rejections_or_two_confirmations_are_no_conflict() -> None:
    for verdict in REJECTED, ASKED, DEFERRED:
        assert shown(told(("desk", verdict), ("phone", verdict)), SET) == []
    assert shown(told(("desk", REJECTED), ("phone", EXPIRED)), SET) == []


def test_a_deferral_that_met_a_rejection_is_shown() -> None:
    for order in ("desk", "phone"), ("phone", "desk"):
        sides = told((order[0], REJECTED), (order[1], DEFERRED))
        assert [one[:3] for one in shown(sides, SET)] == [("verdicts", "item:1", "rejected")]


def test_the_same_confirmation_on_two_machines_is_under_way_until_both_have_failed() -> None:
    sides = told(("desk", ASKED), ("phone", ASKED), ("desk", FAILED))
    assert (item(sides).status, item(sides).operations) == ("confirming", ("op1",))
    sides.says("phone", FAILED, of=SET)
    assert (item(sides).status, item(sides).held) == ("pending", UNSET)


def test_two_edits_on_two_machines_keep_both_operations() -> None:
    sides = told(("desk", ASKED), ("phone", EDITED), ("desk", DONE), ("phone", DONE))
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1", "op2"))
    late = told(("desk", ASKED), ("desk", DONE), ("phone", EDITED))
    assert item(late).operations == ("op1", "op2")
    assert items_in_doubt(late.state(SET)) == []


def test_an_effect_that_nobody_waits_for_any_more_is_found() -> None:
    """Desk took over what phone began, was refused, and phone cannot say that it was done."""
    sides = told(("phone", ASKED))
    sides.meet("desk", "phone")
    for fact in retake(sides.state(SET), 1):
        sides.says("desk", fact, FAILED, of=SET)
    changes = sides.state(SET)
    assert items_in_doubt(changes) == [ItemInDoubt(1, 1, ("op1",))]
    assert settle(changes, DONE) == []
    assert settle(changes, DONE, is_shared=True) == [DONE]
    assert settle(changes, ch.ItemConfirmed(1, 2), is_shared=True) == []
    sides.says("r3", DONE, of=SET)
    assert settle(sides.state(SET), DONE, is_shared=True) == []
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1",))


def test_a_held_confirmation_is_doubted_and_one_under_way_is_not() -> None:
    assert items_in_doubt(told(("desk", REJECTED), ("phone", ASKED)).state(SET)) == [
        ItemInDoubt(1, 1, ("op1",))
    ]
    assert items_in_doubt(told(("phone", ASKED)).state(SET)) == []
    assert items_in_doubt(told(("phone", REJECTED)).state(SET)) == []


def test_an_older_confirmation_of_another_machine_is_kept_aside() -> None:
    second = ch.ItemConfirming(1, ME, 2, "op3", 1)
    sides = told(("desk", ASKED), ("desk", FAILED), ("desk", second), ("phone", EDITED))
    assert (item(sides).asked, item(sides).held) == (second, EDITED)
    sides = told(
        ("desk", ASKED), ("desk", FAILED), ("desk", second), ("phone", EDITED), ("phone", DONE)
    )
    assert (item(sides).status, item(sides).operations) == ("confirmed", ("op1", "op3", "op2"))


def digest(name: str, sources: str, depth: int = 1) -> MemoryFolded:
    notes = tuple(f"{n}-0@desk" for n in sources.split()) if depth == 1 else tuple(sources.split())
    first, last = (notes[0], notes[-1]) if depth == 1 else ("10-0@desk", "50-0@desk")
    return MemoryFolded(name, depth, first, last, len(notes), notes, Words(name), 1, "", "")


def held(*digests: MemoryFolded) -> tuple[list[str], int]:
    sides = Sides()
    for replica, one in zip(("desk", "phone", "r3"), digests, strict=False):
        sides.says(replica, one, of=MEMORY)
    assert sides.open(MEMORY) == []
    memory = sides.state(MEMORY)
    return [one.id for one in memory.top], memory.count


def test_a_digest_that_covers_nothing_new_adds_nothing() -> None:
    once = MEMORIES.evolve(MEMORIES.initial("a1"), row(digest("d1", "10 20")))
    assert MEMORIES.evolve(once, row(digest("d2", "10"))) == once


def test_a_digest_that_both_made_is_one() -> None:
    assert held(digest("d1", "10 20"), digest("d1", "10 20")) == (["d1"], 2)


def test_of_digests_that_overlap_the_first_stands_and_other_notes_are_uncovered_again() -> None:
    assert held(digest("d1", "10 20"), digest("d2", "10 20 30")) == (["d1"], 2)
    assert held(digest("d1", "10 20"), digest("d2", "30")) == (["d1", "d2"], 3)


def test_a_digest_of_digests_that_rests_on_one_that_does_not_count_does_not_count() -> None:
    sides = Sides()
    sides.says("desk", digest("d1", "10 20"), of=MEMORY)
    sides.says("phone", digest("d2", "10 20 30"), of=MEMORY)
    sides.says("phone", digest("d3", "d2", 2), of=MEMORY)
    assert [one.id for one in sides.state(MEMORY).top] == ["d1"]
