"""A rejection or deferral that was taken back leaves nothing behind but its rows."""

import pytest

from domain.changes import decisions
from domain.changes.change_set import ItemReopened, LiftAsked, LiftDone, SuppressionDone
from domain.changes.deduplication import deduplicate
from domain.errors import Refused
from tests.support.proposals import add, after, item, label, shown


def test_it_is_pending_again_and_no_verdict_is_left() -> None:
    changes = shown(add("milk"))
    for facts in (
        decisions.reject(changes, 1, "person", "no", 7),
        decisions.defer(changes, 1, "person", "later", 7, "2027-01-01"),
    ):
        decided = after(changes, facts)
        again = decisions.reopen(decided, 1, "person")
        assert again == [ItemReopened(1, "person")]
        assert after(decided, again) == changes
    assert decisions.reopen(changes, 1, "person") == []


def test_it_blocks_later_proposals_as_one_that_waits_and_not_as_a_rejected_one() -> None:
    changes = shown(add("milk"))
    rejected = after(changes, decisions.reject(changes, 1, "person", "no", 7))
    reopened = after(rejected, decisions.reopen(rejected, 1, "person"))
    (told,) = deduplicate([add("milk")], [reopened], lambda _: 0).skipped
    assert "waiting for the person" in told
    expired = after(reopened, decisions.expire(reopened, "", "its time is over"))
    assert deduplicate([add("milk")], [expired], lambda _: 0).accepted
    assert not deduplicate([add("milk")], [rejected], lambda _: 0).accepted


def test_a_declined_label_is_lifted_and_while_that_is_under_way_nothing_is_decided() -> None:
    changes = shown(label("urgent"))
    rejected = after(changes, decisions.reject(changes, 1, "person", "", 7))
    with pytest.raises(Refused, match="rejected"):  # its suppression is under way
        decisions.reopen(rejected, 1, "person")
    asked = item(rejected, 1).asked
    assert asked is not None
    done = after(rejected, decisions.settle(rejected, SuppressionDone(1, asked.operation)))
    facts = decisions.reopen(done, 1, "person")
    assert [type(one) for one in facts] == [ItemReopened, LiftAsked]
    lifting = after(done, facts)
    with pytest.raises(Refused, match="being taken back"):
        decisions.confirm(lifting, 1, "person", action="a")
    (again,) = decisions.retake(lifting, 1)
    assert isinstance(again, LiftAsked)
    assert again.attempt == 2
    assert decisions.settle(lifting, LiftDone(1, "another")) == []
    lifted = after(lifting, decisions.settle(lifting, LiftDone(1, again.operation)))
    assert item(lifted, 1).asked is None
    assert item(lifted, 1).status == "pending"


def test_what_was_not_suppressed_by_the_rejection_is_not_lifted() -> None:
    changes = shown(label("urgent"))
    rejected = after(changes, decisions.reject(changes, 1, "person", "", 7))
    asked = item(rejected, 1).asked
    assert asked is not None
    refused = SuppressionDone(1, asked.operation, "redundant")
    done = after(rejected, decisions.settle(rejected, refused))
    assert decisions.reopen(done, 1, "person") == [ItemReopened(1, "person")]


def test_what_is_confirmed_is_taken_back_in_the_journal_alone() -> None:
    changes = shown(add("milk"))
    confirming = after(changes, decisions.confirm(changes, 1, "person", action="a"))
    with pytest.raises(Refused, match="being confirmed"):
        decisions.reopen(confirming, 1, "person")
