"""Change sets, item by item, and items that need another: given, when, then."""

import json

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from domain.changes import change_set as ch
from domain.changes import decisions
from domain.changes.dependencies import follow_up_id
from domain.errors import Refused
from domain.log.keys import key
from domain.tools.base import Proposal
from tests.support import proposals
from tests.support.proposals import AGENT, AT, BY_AGENT, LATER, add, after, item, shown

ACTION = key("action", "add_checklist_item")


def confirming(changes: ch.ChangeSet, number: int = 1, at: str = AT) -> ch.ChangeSet:
    return after(changes, decisions.confirm(changes, number, "person", action=ACTION), at)


def rejected(changes: ch.ChangeSet, number: int = 1) -> ch.ChangeSet:
    return after(changes, decisions.reject(changes, number, "person", "no", 7))


def deferred(changes: ch.ChangeSet, number: int = 1) -> ch.ChangeSet:
    return after(changes, decisions.defer(changes, number, "person", "later", 7))


def settled(changes: ch.ChangeSet, code: str = "", number: int = 1) -> ch.ChangeSet:
    nth = item(changes, number).confirmation
    reply = (
        ch.ItemFailed(number, nth, code, "no good") if code else ch.ItemConfirmed(number, nth, 12)
    )
    return after(changes, decisions.settle(changes, reply))


# ------------------------------------------------------------------------------------ the wake


def test_a_set_is_opened_once_and_never_empty() -> None:
    changes = proposals.proposed(add("milk"))
    facts = decisions.opened(changes, AGENT, "task-1", "run-3", LATER)
    assert facts == [ch.SetOpened(AGENT, "task-1", "run-3", LATER)]
    opened = after(changes, facts)
    assert (opened.opened_at, ch.ref(opened, 1)) == (AT, f"{opened.id[:8]}.1")
    assert decisions.opened(opened, AGENT, "task-1", "run-3", LATER) == []
    assert decisions.opened(ch.ChangeSet("set-1"), AGENT, "task-1", "run-3", "") == []


def test_an_agent_retracts_what_is_its_own_and_pending() -> None:
    changes = rejected(shown(add("milk"), add("bread"), add("milk"), add("eggs"), add("tea")), 1)
    requests = [("fp-milk", "bought"), ("fp-milk", "twice"), ("fp-eggs", "no"), ("fp-none", "")]
    facts = decisions.retract(changes, requests, BY_AGENT, frozenset({"fp-eggs"}))
    assert facts == [ch.ItemRetracted(3, BY_AGENT, "bought")]
    assert decisions.retract(changes, requests, "agent:other", frozenset()) == []


# ---------------------------------------------------------------------------------- confirming


@pytest.mark.parametrize(
    "code", ["stale", "missing_category", "out_of_scope", "internal", "limit", "sovereignty"]
)
def test_a_failure_that_may_pass_leaves_the_item_pending(code: str) -> None:
    changes = confirming(shown(add("milk")))
    reply = ch.ItemFailed(1, 1, code, "no good")
    assert decisions.settle(changes, reply) == [reply]


def test_an_outcome_of_an_older_confirmation_writes_nothing() -> None:
    changes = confirming(settled(confirming(shown(add("milk"))), "stale"))
    assert decisions.settle(changes, ch.ItemConfirmed(1, 1)) == []
    assert decisions.settle(changes, ch.ItemConfirmed(2, 2)) == []
    assert decisions.settle(changes, ch.ItemConfirmed(1, 2)) == [ch.ItemConfirmed(1, 2)]


# ---------------------------------------------------------------------------- other verdicts


def test_nothing_is_decided_before_the_wake_has_ended() -> None:
    changes = proposals.proposed(add("milk"))
    with pytest.raises(Refused, match=r"the wake that proposes item set-1.1 has not ended") as no:
        decisions.confirm(changes, 1, "person", action=ACTION)
    assert no.value.code == "agent_running"


def test_a_reason_is_short_enough_for_a_row() -> None:
    changes = shown(add("milk"))
    assert len(decisions.reject(changes, 1, "person", "x" * 1024, 7)) == 1
    for decide in (decisions.reject, decisions.defer):
        with pytest.raises(Refused, match="say it in fewer words") as no:
            decide(changes, 1, "person", "ä" * 513, 7)
        assert no.value.code == "invalid_value"
    (fact,) = decisions.retract(changes, [("fp-milk", "ä" * 2000)], BY_AGENT, frozenset())
    assert isinstance(fact, ch.ItemRetracted)
    assert len(fact.reason.encode()) <= 1024


# ------------------------------------------------------------------------------ time, and status


def test_for_a_reason_everything_undecided_expires_before_its_time() -> None:
    changes = deferred(confirming(shown(*map(add, "abc")), 2), 3)
    gone = [ch.ItemExpired(1, "task deleted"), ch.ItemExpired(3, "task deleted")]
    assert decisions.expire(changes, AT, "task deleted") == gone


def test_a_set_is_as_its_items_are() -> None:
    two = shown(add("milk"), add("bread"), expires_at=LATER)
    expired = after(two, decisions.expire(two, LATER))
    one_left = rejected(two, 1)
    assert ch.status_of(two) == "pending"
    assert ch.status_of(deferred(two)) == "pending"
    assert ch.status_of(confirming(two)) == "pending"
    assert ch.status_of(one_left) == "partially_resolved"
    assert ch.status_of(settled(confirming(one_left, 2), number=2)) == "resolved"
    assert ch.status_of(expired) == "expired"
    assert ch.status_of(after(one_left, decisions.expire(one_left, LATER))) == "expired"


def test_facts_of_another_confirmation_attempt_or_operation_change_nothing() -> None:
    changes = confirming(settled(confirming(shown(add("milk"))), "stale"))
    (intent,) = decisions.pending_effects(changes)
    (second,) = decisions.retake(changes, 1)
    changes = after(changes, [second])
    assert isinstance(intent, ch.ItemConfirming)
    misfits = [
        intent,  # an older attempt
        replace(intent, operation="another", attempt=3),
        replace(intent, confirmation=1, operation=item(changes).operations[0], attempt=3),
    ]
    assert after(changes, [ch.ItemFailed(1, 1, "internal", "late")], LATER) == changes
    for misfit in misfits:  # another machine's: kept, in case that its effect is there
        kept = item(after(changes, [misfit], LATER))
        assert kept.held == misfit
        assert misfit.operation in kept.operations
        assert replace(kept, held=UNSET, operations=item(changes).operations) == item(changes)


def test_what_the_person_put_off_is_not_retracted() -> None:
    changes = deferred(shown(add("milk")))
    assert decisions.retract(changes, [("fp-milk", "")], BY_AGENT) == []
    assert after(changes, [ch.ItemRetracted(1, BY_AGENT)]) == changes


def test_an_effect_in_the_journal_makes_an_item_confirmed_for_good() -> None:
    """Two replicas may decide differently; what was applied is applied."""
    changes = after(rejected(shown(add("milk"))), [ch.ItemConfirmed(1, 1, 12)])
    assert item(changes).status == "confirmed"
    assert after(changes, [ch.ItemRejected(1, "person", 1), ch.ItemConfirmed(1, 2, 13)]) == changes


# -------------------------------------------------------------------------- items that need another

MADE = follow_up_id("set-1", 1)


def proposal(tool: str, name: str, **arguments: object) -> Proposal:
    return Proposal(tool, json.dumps(arguments), name, f"fp-{name}", name, "")


def rollover(expires_at: str = "") -> ch.ChangeSet:
    """A follow-up, two items that need it, one that names another task, and one of this task."""
    return shown(
        proposal("create_follow_up_task", "rest", title="The rest"),
        proposal("migrate_checklist_item", "a", id="a", targetTaskId=MADE),
        proposal("link_task", "b", relation="blocks", targetTaskId=MADE),
        proposal("link_task", "c", relation="blocks", targetTaskId="elsewhere"),
        add("milk"),
        expires_at=expires_at,
    )


def confirmed(changes: ch.ChangeSet, number: int) -> ch.ChangeSet:
    facts = decisions.confirm(changes, number, "person", action=key("action", str(number)))
    changes = after(changes, facts)
    return after(changes, [ch.ItemConfirmed(number, item(changes, number).confirmation, 12)])


def test_what_was_put_off_goes_only_with_what_it_needs() -> None:
    changes = rollover()
    changes = after(changes, decisions.defer(changes, 2, "person", "", 7))
    other = after(changes, [ch.ItemRetracted(2, BY_AGENT, "no more")])
    assert item(other, 2).status == "deferred"
