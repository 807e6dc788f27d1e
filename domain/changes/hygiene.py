"""What is kept from a person because they have it, or had it, before them already (SPEC 6).

Whether a proposal is redundant with the task is asked elsewhere; here proposals meet proposals.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from domain.changes.change_set import ChangeSet, Item, Proposal
from domain.text import cut

P = TypeVar("P", bound=Proposal)
REASON_MAX = 200  # of a verdict, as it is told to the model

LastTouched = Callable[[tuple[str, ...]], int]
"""The journal's `n` of the last fact of a person or an import about any of these, else 0."""


class Sifted(Struct, Generic[P], frozen=True):
    """Both in the order they were proposed; `skipped` are texts for the model."""

    accepted: tuple[P, ...] = ()
    skipped: tuple[str, ...] = ()


def sift(proposals: Sequence[P], sets: Sequence[ChangeSet], last_touched: LastTouched) -> Sifted[P]:
    """Keep what the person has not been asked already.

    Two proposals are the same if their fingerprints or their display texts are. Skipped is what
    stands twice in `proposals`, is pending or being confirmed in one of the sets, or was
    rejected or deferred and not touched since by a person or an import: neither what that item
    was about nor what the new proposal is about. Confirmed, retracted and expired ones do not
    block: what is done already is found by comparing with the task.

    Args:
        sets: All sets of the task's agent, the running wake's own included.

    Source: SPEC 6, "Hygiene before it reaches a person".
    """
    items = [item for changes in sets for item in changes.items]
    accepted: list[P] = []
    skipped: list[str] = []
    for proposal in proposals:
        if any(_is_same(proposal, other) for other in accepted):
            skipped.append(f"proposed twice in one call: {proposal.summary}")
        elif blocking := _blocking(proposal, items, last_touched):
            skipped.append(f"{_why(blocking)}: {proposal.summary}")
        else:
            accepted.append(proposal)
    return Sifted(tuple(accepted), tuple(skipped))


def reproposed(proposals: Sequence[Proposal], sets: Sequence[ChangeSet]) -> tuple[str, ...]:
    """Fingerprints of the pending items that are proposed once more: an agent that asks for
    something does not mean to take it back (SPEC 5)."""
    fingerprints = {one.fingerprint for one in proposals}
    displays = {one.display for one in proposals}
    found = {
        item.fingerprint
        for changes in sets
        for item in changes.items
        if item.status == "pending"
        and (item.fingerprint in fingerprints or item.display in displays)
    }
    return tuple(sorted(found))


def _is_same(one: Proposal, other: Proposal) -> bool:
    return one.fingerprint == other.fingerprint or one.display == other.display


def _blocking(proposal: Proposal, items: Sequence[Item], last_touched: LastTouched) -> Item | None:
    """Of the items that stand in the way one that waits, else the last that was declined."""
    found: list[Item] = []
    fingerprint, display = proposal.fingerprint, proposal.display
    for item in items:  # of all that the agent ever proposed, so nothing is called for each
        if item.fingerprint != fingerprint and item.display != display:
            continue
        if item.status in ("pending", "confirming"):
            return item
        if item.status in ("rejected", "deferred"):
            touched = max(last_touched(item.touches), last_touched(proposal.touches))
            found += [item] if touched <= item.position else []
    return max(found, key=lambda item: item.position, default=None)


def _why(item: Item) -> str:
    match item.status:
        case "pending":
            return "already proposed and waiting for the person"
        case "confirming":
            return "already confirmed by the person and being applied"
        case _:
            by = "the person" if item.decided_by == "person" else item.decided_by
            reason = f" ({cut(item.reason, length_max=REASON_MAX)})" if item.reason else ""
            return f"{item.status} by {by} on {item.decided_at[:10]}{reason}, nothing changed since"
