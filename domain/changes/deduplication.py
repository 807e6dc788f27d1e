"""What is kept from a person because they have it, or had it, before them already (SPEC 6).

Whether a proposal is redundant with the task is asked elsewhere; here proposals meet proposals."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

from domain.changes.change_set import ChangeItem, ChangeSet, ProposedItem
from domain.log.wire import Imported
from domain.text import cut

P = TypeVar("P", bound=ProposedItem)
REASON_MAX = 200  # of a verdict, as it is told to the model

LastTouched = Callable[[tuple[str, ...]], int]
"""The journal's `n` of the last fact of a person or an import about any of these, else 0."""

IsNews = Callable[[tuple[Imported, ...], tuple[str, ...]], bool]
"""``is_news(seen, fields)``: whether a person or an import touched any of the fields in an append
that is not among what was `seen` of the machines that share the journal."""


class Deduplicated(Struct, Generic[P], frozen=True):
    """Both in the order they were proposed; `skipped` are texts for the model."""

    accepted: tuple[P, ...] = ()
    skipped: tuple[str, ...] = ()


class VerdictMemory(Struct, frozen=True):
    """What a wake remembers of confirmed items.

    `texts_at`: the journal's `n` of the newest text of a person or an import. `made_of`: the
    fingerprint of what the person made of an edited item. `is_newer`: whether what a proposal rests
    on is newer than such an item's verdict, None where they are about different things; since
    scaffold 3, before which any newer text would do."""

    texts_at: int
    made_of: Callable[[ChangeItem], str]
    is_newer: Callable[[Any, ChangeItem], bool | None] | None = None


def deduplicate(
    proposals: Sequence[P],
    sets: Sequence[ChangeSet],
    last_touched: LastTouched,
    memory: VerdictMemory | None = None,
    is_news: IsNews | None = None,
) -> Deduplicated[P]:
    """Keep what the person has not been asked already.

    Two proposals are the same if their fingerprints or their display texts are. Skipped is what
    stands twice in `proposals`, is pending or being confirmed in one of the sets, or was
    rejected or deferred and not touched since by a person or an import: neither what that item
    was about nor what the new proposal is about. Retracted and expired ones do not block.
    What is done already is found by comparing with the task. So a confirmed item that is met
    here holds no longer: if the person edited it away, or set it otherwise later, it counts as
    rejected until a text is newer; and a replaced one that was put off stays put off.

    `sets`: all of the task's agent, the running wake's own included. `memory`: None: neither
    confirmed nor replaced ones block. `is_news`: of a journal that machines share; None: numbers
    tell what came later. Source: SPEC 6, "Hygiene before it reaches a person"."""
    items = [item for changes in sets for item in changes.items]
    accepted: list[P] = []
    skipped: list[str] = []
    for proposal in proposals:
        if any(_is_same(proposal, other) for other in accepted):
            skipped.append(f"proposed twice in one call: {proposal.summary}")
        elif why := _blocking(proposal, items, last_touched, memory, is_news):
            skipped.append(f"{why}: {proposal.summary}")
        else:
            accepted.append(proposal)
    return Deduplicated(tuple(accepted), tuple(skipped))


def reproposed(proposals: Sequence[ProposedItem], sets: Sequence[ChangeSet]) -> tuple[str, ...]:
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


def _is_same(one: ProposedItem, other: ProposedItem) -> bool:
    return one.fingerprint == other.fingerprint or one.display == other.display


def _blocking(
    proposal: ProposedItem,
    items: Sequence[ChangeItem],
    last_touched: LastTouched,
    memory: VerdictMemory | None,
    is_news: IsNews | None,
) -> str:
    """Why a proposal is kept back: something that waits, else the last verdict that declined it;
    empty if nothing stands in the way."""
    found: list[tuple[int, str]] = []
    fingerprint, display = proposal.fingerprint, proposal.display
    for item in items:  # of all that the agent ever proposed, so nothing is called for each
        if item.fingerprint != fingerprint and item.display != display:
            if item.arguments_now is None or memory is None:
                continue
            if memory.made_of(item) != fingerprint:
                found += _edited(proposal, item, memory)
                continue
        if item.status in ("pending", "confirming"):
            return _why(item)
        touched = max(last_touched(item.touches), last_touched(proposal.touches))
        if is_news is not None and item.seen:
            is_new = is_news(item.seen, (*item.touches, *proposal.touches))
            touched = max(touched, item.position + 1) if is_new else min(touched, item.position)
        if item.status in ("rejected", "deferred"):
            found += [(item.position, _why(item))] if touched <= item.position else []
        elif memory is not None:
            found += _remembered(proposal, item, touched, memory)
    return max(found, key=itemgetter(0), default=(0, ""))[1]


def _remembered(
    proposal: ProposedItem, item: ChangeItem, touched: int, memory: VerdictMemory
) -> list[tuple[int, str]]:
    """When and why an item that is neither open nor declined stands in the way, if it does."""
    decided_at, since = max(touched, item.position), "and no text is newer"
    if item.status == "retracted" and 0 < item.position >= touched:
        return [(item.position, "put off by the person, and replaced; nothing changed since")]
    is_edited = item.arguments_now is not None and memory.made_of(item) != proposal.fingerprint
    if is_edited and memory.is_newer is not None:
        return _edited(proposal, item, memory)
    if item.status != "confirmed" or memory.texts_at > decided_at:
        return []
    if is_edited:
        why = f"the person made something else of it on {item.decided_at[:10]}, {since}"
        return [(decided_at, why)]
    if touched > item.position:
        why = f"confirmed on {item.decided_at[:10]}, but set otherwise later, {since}"
        return [(decided_at, why)]
    return []


def _edited(
    proposal: ProposedItem, item: ChangeItem, memory: VerdictMemory
) -> list[tuple[int, str]]:
    """An edit is the person's word on the field: older words do not speak against it."""
    if item.status != "confirmed" or memory.is_newer is None:
        return []
    if memory.is_newer(proposal, item) is not False:
        return []
    why = f"the person made something else of it on {item.decided_at[:10]}, and the words that it"
    return [(item.position, f"{why} rests on are not newer")]


def _why(item: ChangeItem) -> str:
    match item.status:
        case "pending":
            return "already proposed and waiting for the person"
        case "confirming":
            return "already confirmed by the person and being applied"
        case _:
            by = "the person" if item.decided_by == "person" else item.decided_by
            reason = f" ({cut(item.reason, length_max=REASON_MAX)})" if item.reason else ""
            return f"{item.status} by {by} on {item.decided_at[:10]}{reason}, nothing changed since"
