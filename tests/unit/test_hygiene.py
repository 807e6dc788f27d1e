"""What reaches a person, and what the model is told about the rest."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from domain.changes import decisions
from domain.changes.change_set import ChangeSet
from domain.changes.deduplication import deduplicate
from domain.tools.base import Proposal
from tests.support.proposals import add, after, label, proposed, shown


def untouched(_: tuple[str, ...]) -> int:
    return 0


def touched_at(**fields: int) -> Callable[[tuple[str, ...]], int]:
    return lambda touches: max((fields.get(field, 0) for field in touches), default=0)


def rejected(changes: ChangeSet, reason: str = "", position: int = 7) -> ChangeSet:
    return after(changes, decisions.reject(changes, 1, "person", reason, position))


def deferred(changes: ChangeSet) -> ChangeSet:
    return after(changes, decisions.defer(changes, 1, "person", "", 7))


def test_of_two_in_one_call_the_first_is_kept() -> None:
    batch = [add("milk"), add("Milk", display='add: "milk"'), add("milk"), add("bread")]
    sifted = deduplicate(batch, [], untouched)
    assert sifted.accepted == (batch[0], batch[3])
    assert sifted.skipped == (
        'proposed twice in one call: Add: "Milk"',
        'proposed twice in one call: Add: "milk"',
    )


@pytest.mark.parametrize("again", [add("milk", display="other"), add("x", display='add: "milk"')])
@pytest.mark.parametrize("older", [proposed(add("milk")), shown(add("milk"))])
def test_what_waits_for_the_person_is_not_proposed_again(older: ChangeSet, again: Proposal) -> None:
    sifted = deduplicate([again], [older], touched_at(items=99))
    assert sifted.accepted == ()
    told = f"already proposed and waiting for the person: {again.summary}"
    assert sifted.skipped == (told,)


def test_what_was_rejected_stays_so_until_somebody_touches_it() -> None:
    sets = [rejected(shown(add("milk")), "we have enough")]
    told = (
        'rejected by the person on 2026-11-20 (we have enough), nothing changed since: Add: "milk"'
    )
    assert deduplicate([add("milk")], sets, touched_at(items=7)).skipped == (told,)
    assert deduplicate([add("milk")], sets, touched_at(items=8)).accepted == (add("milk"),)
    assert deduplicate([add("milk")], sets, touched_at(title=8)).skipped == (told,)


def test_the_last_verdict_counts() -> None:
    sets = [rejected(shown(add("milk")), "b", 9), rejected(shown(add("milk")), "a", 7)]
    for last in (untouched, touched_at(items=8)):
        for order in (sets, sets[::-1]):
            (told,) = deduplicate([add("milk")], order, last).skipped
            assert "(b)" in told
    assert deduplicate([add("milk")], sets, touched_at(items=10)).skipped == ()


def test_what_was_deferred_may_come_back_once_it_was_touched() -> None:
    sets = [deferred(shown(add("milk")))]
    told = 'deferred by the person on 2026-11-20, nothing changed since: Add: "milk"'
    assert deduplicate([add("milk")], sets, untouched).skipped == (told,)
    assert deduplicate([add("milk")], sets, touched_at(items=8)).accepted == (add("milk"),)


def test_one_of_the_same_look_comes_back_when_its_own_target_was_touched() -> None:
    """Another item of the same title is another matter once a person made it one."""
    sets = [rejected(shown(label("a")))]
    twin = replace(label("b"), display=label("a").display)
    assert deduplicate([twin], sets, untouched).accepted == ()
    assert deduplicate([twin], sets, touched_at(**{"label:a": 8})).accepted == (twin,)
    assert deduplicate([twin], sets, touched_at(**{"label:b": 8})).accepted == (twin,)


def test_what_waits_is_told_before_what_was_declined() -> None:
    sets = [rejected(shown(add("milk"))), shown(add("milk"))]
    (told,) = deduplicate([add("milk")], sets, untouched).skipped
    assert told.startswith("already proposed")


def test_a_long_reason_is_cut() -> None:
    (told,) = deduplicate(
        [add("milk")], [rejected(shown(add("milk")), "so " * 300)], untouched
    ).skipped
    assert len(told) < 320
