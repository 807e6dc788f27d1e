"""Laws of change sets, for histories that nobody thought of (SPEC 6)."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.changes import decisions
from domain.changes.change_set import (
    ChangeSet,
    ChangesFact,
    ChangesReply,
    ItemConfirmed,
    ItemConfirming,
    ItemDeferred,
    ItemExpired,
    ItemFailed,
    ItemProposed,
    ItemRejected,
    ItemReopened,
    ItemRetracted,
    ItemStatus,
    LiftAsked,
    LiftDone,
    SetOpened,
    SuppressionAsked,
    SuppressionDone,
    find,
    status_of,
)
from domain.changes.deduplication import deduplicate
from domain.errors import TOOL_CODES, Refused
from domain.log.wire import Words
from domain.tools.base import Proposal
from tests.support.proposals import AT, BY_AGENT, add, after, item, label, shown

STATUSES: set[ItemStatus] = {
    "pending", "confirming", "confirmed", "rejected", "deferred", "retracted", "expired"
}  # fmt: skip
OPEN = {"pending", "confirming", "deferred"}

# ------------------------------------------------------------- a history is a list of steps

CODES = ("stale", "not_found")
OUTCOMES = ("succeed", "suppressed", *CODES)
VERBS = ("confirm", "confirm", "edit", "reject", "defer", "retake", *OUTCOMES)
steps = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(VERBS)), max_size=20)


def fresh() -> ChangeSet:
    """Four items: two of them twins, one a label."""
    return shown(add("milk"), add("bread"), add("milk"), label("urgent"))


def decide(changes: ChangeSet, number: int, verb: str, action: str = "") -> list[ChangesFact]:
    """What a step writes; nothing where it is refused."""
    action = action or item(changes, number).fingerprint
    try:
        match verb:
            case "confirm":
                return decisions.confirm(changes, number, "person", action=action)
            case "edit":
                edited = Words('{"title":"tea"}')
                action = f"{action} edited"
                return decisions.confirm(changes, number, "person", action=action, arguments=edited)
            case "reject":
                return decisions.reject(changes, number, "person", "no", 7)
            case "defer":
                return decisions.defer(changes, number, "person", "later", 7)
            case "reopen":
                return decisions.reopen(changes, number, "person")
            case "retake":
                return decisions.retake(changes, number)
            case _:
                return decisions.settle(changes, reply(changes, number, verb))
    except Refused:
        return []


def reply(changes: ChangeSet, number: int, verb: str) -> ChangesReply:
    known = item(changes, number)
    match verb:
        case "succeed":
            return ItemConfirmed(number, known.confirmation, 12)
        case "suppressed" if isinstance(known.asked, LiftAsked):
            return LiftDone(number, known.asked.operation)
        case "suppressed":
            return SuppressionDone(number, known.asked.operation if known.asked else "")
        case code:
            return ItemFailed(number, known.confirmation, code, "no good")


def run(changes: ChangeSet, history: Sequence[tuple[int, str, str]]) -> ChangeSet:
    for number, verb, at in history:
        changes = after(changes, decide(changes, number, verb), at)
    return changes


def timed(history: Sequence[tuple[int, str]]) -> list[tuple[int, str, str]]:
    return [(number, verb, f"{index:03}") for index, (number, verb) in enumerate(history)]


@given(history=steps)
def test_verdicts_on_different_items_commute(history: list[tuple[int, str]]) -> None:
    """Sorting by item keeps what happens to each one in its order."""
    one = timed(history)
    other = sorted(one, key=lambda step: step[0])
    assert run(fresh(), one) == run(fresh(), other)


@given(history=steps, number=st.integers(1, 4))
def test_confirming_twice_writes_nothing(history: list[tuple[int, str]], number: int) -> None:
    changes = run(fresh(), timed(history))
    once = after(changes, decide(changes, number, "confirm"))
    if item(once, number).status in ("confirming", "confirmed"):
        assert decisions.confirm(once, number, "person", action="another") == []


@given(
    history=steps,
    number=st.integers(1, 4),
    codes=st.tuples(*[st.sampled_from((*OUTCOMES, *TOOL_CODES))] * 2),
)
def test_a_second_outcome_of_a_confirmation_writes_nothing(
    history: list[tuple[int, str]], number: int, codes: tuple[str, str]
) -> None:
    changes = run(fresh(), timed([*history, (number, "confirm")]))
    first, second = (reply(changes, number, code) for code in codes)
    settled = after(changes, decisions.settle(changes, first))
    if settled != changes:
        assert decisions.settle(settled, first) == []
        assert decisions.settle(settled, second) == []


@given(history=steps, at=st.sampled_from(("", "task deleted")))
def test_what_is_decided_stays_so(history: list[tuple[int, str]], at: str) -> None:
    changes, seen = fresh(), dict[int, str]()
    for number, verb in history:
        changes = after(changes, decide(changes, number, verb))
        for known in changes.items:
            assert seen.get(known.number) in (None, known.status)
            if known.status not in OPEN:
                seen[known.number] = known.status
    for facts in (
        decisions.expire(changes, AT, at),
        decisions.retract(changes, [(known.fingerprint, "") for known in changes.items], BY_AGENT),
    ):
        assert not {fact.item for fact in facts if hasattr(fact, "item")} & seen.keys()


@given(
    history=st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from(VERBS), st.sampled_from("ab")), max_size=20
    )
)
def test_no_two_confirmations_share_an_operation(history: list[tuple[int, str, str]]) -> None:
    """Not even where edits make several items the same action."""
    changes, owners = fresh(), dict[str, tuple[int, int]]()
    for number, verb, action in history:
        facts = decide(changes, number, verb, action)
        for fact in facts:
            if isinstance(fact, ItemConfirming):
                owner = (fact.item, fact.confirmation)
                assert owners.setdefault(fact.operation, owner) == owner
        changes = after(changes, facts)


@given(history=st.lists(st.tuples(st.just(4), st.sampled_from((*VERBS, "reopen"))), max_size=30))
def test_what_is_taken_back_and_decided_again_uses_no_operation_twice(
    history: list[tuple[int, str]],
) -> None:
    """Of a label: each rejection suppresses it anew, and each reopening lifts that."""
    changes, used = fresh(), set[str]()
    for number, verb in history:
        facts = decide(changes, number, verb)
        for fact in facts:
            if isinstance(fact, SuppressionAsked | LiftAsked) and fact.attempt == 1:
                assert fact.operation not in used
                used.add(fact.operation)
        changes = after(changes, facts)
        if verb == "reopen":
            known = item(changes, number)
            assert known.status != "deferred"
            assert known.status != "rejected" or known.asked is not None


# --------------------------------------------------------------- any facts, in any order at all

numbers = st.integers(-1, 4)
counts = st.integers(0, 3)
texts = st.sampled_from(("", "a", "b"))
facts = st.one_of(
    st.builds(ItemProposed, numbers, texts, st.builds(Words, texts), texts, texts, texts, texts),
    st.builds(SetOpened, texts, texts, texts, texts),
    st.builds(ItemConfirming, numbers, texts, counts, texts, counts, st.builds(Words, texts)),
    st.builds(ItemConfirmed, numbers, counts, counts),
    st.builds(ItemFailed, numbers, counts, texts, texts),
    st.builds(ItemRejected, numbers, texts, counts, texts),
    st.builds(ItemDeferred, numbers, texts, counts, texts),
    st.builds(ItemRetracted, numbers, texts, texts),
    st.builds(ItemExpired, numbers, texts),
    st.builds(SuppressionAsked, numbers, texts, texts, counts),
    st.builds(ItemReopened, numbers, texts),
    st.builds(LiftAsked, numbers, texts, texts, counts),
    st.builds(LiftDone, numbers, texts, texts),
    st.builds(SuppressionDone, numbers, texts, texts),
)


@given(history=st.lists(facts, max_size=40))
def test_any_facts_fold_to_items_of_one_status_each(history: list[Any]) -> None:
    changes = after(ChangeSet("set-1"), history)
    proposed = {fact.item for fact in history if isinstance(fact, ItemProposed)}
    assert sorted(known.number for known in changes.items) == sorted(proposed)
    assert all(known.status in STATUSES for known in changes.items)
    for known in changes.items:
        if isinstance(known.asked, ItemConfirming):
            assert known.status == "confirming"
        elif isinstance(known.asked, SuppressionAsked):
            assert known.status == "rejected"
        else:
            assert known.status != "confirming"
    asked = [intent.item for intent in decisions.pending_effects(changes)]
    assert len(asked) == len(set(asked))


@given(history=st.lists(facts, max_size=40))
def test_the_status_of_a_set_is_that_of_its_items(history: list[Any]) -> None:
    changes = after(ChangeSet("set-1"), history)
    statuses = [known.status for known in changes.items]
    are_open = [status for status in statuses if status in OPEN]
    match status_of(changes):
        case "pending":
            assert are_open == statuses != []
        case "partially_resolved":
            assert 0 < len(are_open) < len(statuses)
        case "expired":
            assert not are_open
            assert "expired" in statuses
        case "resolved":
            assert not are_open
            assert "expired" not in statuses


@given(history=st.lists(facts, max_size=20), number=numbers)
def test_a_fact_about_an_unknown_item_is_ignored(history: list[Any], number: int) -> None:
    changes = after(ChangeSet("set-1"), history)
    if find(changes, number) is None:
        about = [ItemConfirmed(number, 1), ItemRejected(number, "person", 1), ItemExpired(number)]
        assert after(changes, about) == changes


# ----------------------------------------------------------------------------------- hygiene

TITLES = tuple("abcd")
proposals = st.lists(
    st.builds(
        lambda title, look: add(title, display=look),
        st.sampled_from(TITLES),
        st.sampled_from(("", *(f'add: "{title}"' for title in TITLES))),
    ),
    max_size=8,
)
verdicts = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(VERBS)), max_size=8
)  # of a set with one item for each title


def decided(history: list[tuple[int, str]]) -> ChangeSet:
    return run(shown(*map(add, TITLES)), timed(history))


@given(batch=proposals, one=verdicts, other=verdicts, touched=st.integers(6, 8))
def test_sifting_keeps_order_and_sifting_again_changes_nothing(
    batch: list[Proposal],
    one: list[tuple[int, str]],
    other: list[tuple[int, str]],
    touched: int,
) -> None:
    sets = [decided(one), decided(other)]
    sifted = deduplicate(batch, sets, lambda _: touched)
    rest = iter(batch)
    assert all(any(kept is proposal for proposal in rest) for kept in sifted.accepted)
    assert len(sifted.accepted) + len(sifted.skipped) == len(batch)
    again = deduplicate(sifted.accepted, sets, lambda _: touched)
    assert (again.accepted, again.skipped) == (sifted.accepted, ())
    assert deduplicate(batch, sets[::-1], lambda _: touched).accepted == sifted.accepted


@given(batch=proposals, history=verdicts, touched=st.integers(6, 8))
def test_a_proposal_is_skipped_if_and_only_if_the_person_has_it_or_declined_it(
    batch: list[Proposal], history: list[tuple[int, str]], touched: int
) -> None:
    changes = decided(history)
    in_the_way = {"pending", "confirming"} | ({"rejected", "deferred"} if touched <= 7 else set())
    taken = {
        name
        for known in changes.items
        if known.status in in_the_way
        for name in (known.fingerprint, known.display)
    }
    expected = []
    for proposal in batch:
        if taken.isdisjoint((proposal.fingerprint, proposal.display)):
            expected.append(proposal)
            taken |= {proposal.fingerprint, proposal.display}
    assert list(deduplicate(batch, [changes], lambda _: touched).accepted) == expected
