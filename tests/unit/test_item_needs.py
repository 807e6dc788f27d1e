"""An item that names a task of its own set needs the item that makes it: given, when, then."""

import json

import pytest

from domain.changes import decisions
from domain.changes.change_set import (
    ChangeSet,
    ItemConfirmed,
    ItemConfirming,
    ItemExpired,
    ItemFailed,
    ItemRejected,
    ItemRetracted,
    has_lapsed,
)
from domain.changes.dependencies import dependency_of, follow_up_id, target_of
from domain.errors import Refused
from domain.log.keys import key
from domain.log.wire import Words
from domain.tools.base import Proposal
from tests.support.proposals import AT, BY_AGENT, LATER, add, after, item, shown

MADE = follow_up_id("set-1", 1)
LAPSED = [ItemRetracted(number, "rules", "what it needs was rejected") for number in (2, 3)]


def proposal(tool: str, name: str, **arguments: object) -> Proposal:
    return Proposal(tool, json.dumps(arguments), name, f"fp-{name}", name, "")


def rollover(expires_at: str = "") -> ChangeSet:
    """A follow-up, two items that need it, one that names another task, and one of this task."""
    return shown(
        proposal("create_follow_up_task", "rest", title="The rest"),
        proposal("migrate_checklist_item", "a", id="a", targetTaskId=MADE),
        proposal("link_task", "b", relation="blocks", targetTaskId=MADE),
        proposal("link_task", "c", relation="blocks", targetTaskId="elsewhere"),
        add("milk"),
        expires_at=expires_at,
    )


def confirmed(changes: ChangeSet, number: int) -> ChangeSet:
    facts = decisions.confirm(changes, number, "person", action=key("action", str(number)))
    changes = after(changes, facts)
    return after(changes, [ItemConfirmed(number, item(changes, number).confirmation, 12)])


def test_who_names_the_task_of_another_item_needs_that_item() -> None:
    changes = rollover()
    needs = [dependency_of(changes, one) for one in changes.items]
    assert [one and one.number for one in needs] == [None, 1, 1, None, None]
    assert [target_of(one) for one in changes.items] == ["", MADE, MADE, "elsewhere", ""]


def test_an_id_is_made_of_the_set_and_the_number() -> None:
    assert follow_up_id("set-1", 1) == key("follow-up", "set-1", "1")
    assert len({follow_up_id(one, number) for one in ("a", "b") for number in (1, 2)}) == 4


@pytest.mark.parametrize("number", [2, 3])
def test_what_needs_an_item_is_confirmed_after_it(number: int) -> None:
    changes = rollover()
    with pytest.raises(Refused, match=r"needs the task that item set-1\.1 makes") as refused:
        decisions.confirm(changes, number, "person", action="x")
    assert refused.value.code == "needs_first"
    (fact,) = decisions.confirm(confirmed(changes, 1), number, "person", action="x")
    assert isinstance(fact, ItemConfirming)


def test_edited_arguments_tell_what_is_needed() -> None:
    elsewhere, here = (
        Words(json.dumps({"relation": "blocks", "targetTaskId": one})) for one in ("other", MADE)
    )
    changes = rollover()
    assert decisions.confirm(changes, 2, "person", action="x", arguments=elsewhere)
    with pytest.raises(Refused, match="needs the task"):
        decisions.confirm(changes, 4, "person", action="x", arguments=here)


def test_what_is_being_confirmed_is_not_there_yet() -> None:
    changes = rollover()
    under_way = after(changes, decisions.confirm(changes, 1, "person", action="x"))
    with pytest.raises(Refused, match="needs the task"):
        decisions.confirm(under_way, 2, "person", action="y")


def test_rejecting_an_item_ends_what_needs_it() -> None:
    changes = rollover()
    changes = after(changes, decisions.defer(changes, 3, "person", "", 7))
    facts = decisions.reject(changes, 1, "person", "no", 7)
    assert facts == [ItemRejected(1, "person", 7, "no"), *LAPSED]
    ended = after(changes, facts)
    assert [has_lapsed(one) for one in ended.items] == [False, True, True, False, False]
    assert decisions.reject(ended, 1, "person", "no", 7) == []


def test_an_item_that_its_agent_takes_back_ends_what_needs_it() -> None:
    facts = decisions.retract(rollover(), [("fp-rest", "not now"), ("fp-a", "nor that")], BY_AGENT)
    assert facts == [
        ItemRetracted(1, BY_AGENT, "not now"),
        ItemRetracted(2, BY_AGENT, "nor that"),
        ItemRetracted(3, "rules", "what it needs was retracted"),
    ]


def test_an_item_that_can_never_succeed_ends_what_needs_it() -> None:
    changes = rollover()
    changes = after(changes, decisions.confirm(changes, 1, "person", action="x"))
    failed = ItemFailed(1, 1, "redundant", "it is there")
    assert decisions.settle(changes, failed)[1:] == [
        ItemRetracted(1, "rules", "it is there"),
        *[ItemRetracted(number, "rules", "what it needs was retracted") for number in (2, 3)],
    ]
    stale = ItemFailed(1, 1, "stale", "changed")
    assert decisions.settle(changes, stale) == [stale]


def test_time_ends_also_what_was_put_off_but_needs_what_expired() -> None:
    changes = rollover(expires_at=AT)
    changes = after(changes, decisions.defer(changes, 2, "person", "", 7))
    assert decisions.expire(changes, LATER) == [
        *[ItemExpired(number) for number in (1, 3, 4, 5)],
        ItemRetracted(2, "rules", "what it needs has expired"),
    ]


def test_what_was_put_off_goes_only_with_what_it_needs() -> None:
    changes = rollover()
    changes = after(changes, decisions.defer(changes, 2, "person", "", 7))
    other = after(changes, [ItemRetracted(2, BY_AGENT, "no more")])
    assert item(other, 2).status == "deferred"
