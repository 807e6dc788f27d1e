"""What may be done with proposals: every decider of a change set (SPEC 6).

Each answers with facts, with none where it is so already, or with `Refused`. A reply that
nothing waits for any more is answered with none: it is no command, and nobody is told."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain.changes import change_set as c
from domain.changes.change_set import ChangeItem, ChangeSet, ChangesFact, find, ref
from domain.changes.dependencies import RULES, dependency_of, unmet
from domain.changes.in_doubt import awaits, is_late
from domain.errors import Refused, Remedy, invalid
from domain.log.keys import key
from domain.log.wire import INLINE_MAX_BYTES, Payload, VersionVector, Words, words
from domain.text import cut

HOPELESS = ("not_found", "redundant", "unknown_tool", "invalid_arguments")
"""What a second confirm would meet again. The others depend on what may change: the task
(stale, sovereignty), the agent's categories, or luck."""


# -------------------------------------------------------------------------------- by the wake


def propose(
    changes: ChangeSet, proposals: Sequence[c.ProposedItem], unit: str
) -> tuple[list[ChangesFact], list[Payload]]:
    """Items numbered on from the set's last one, and the payloads of long arguments."""
    first = max((item.number for item in changes.items), default=0) + 1
    facts: list[ChangesFact] = []
    payloads: list[Payload] = []
    for number, proposal in enumerate(proposals, first):
        arguments, kept = words(unit, proposal.arguments)
        payloads += kept
        proposed = c.ItemProposed(
            number, proposal.tool, arguments, proposal.summary, proposal.fingerprint,
            proposal.display, proposal.base, proposal.touches, proposal.because,
            proposal.because_at,
        )  # fmt: skip
        facts.append(proposed)
    return facts, payloads


def opened(
    changes: ChangeSet, agent: str, task: str, run_key: str, expires_at: str
) -> list[ChangesFact]:
    """Show a set to the person; nothing if it has no items or is shown already."""
    if changes.is_opened or not changes.items:
        return []
    return [c.SetOpened(agent, task, run_key, expires_at)]


def retract(
    changes: ChangeSet,
    requests: Iterable[tuple[str, str]],
    by: str,
    reproposed: frozenset[str] = frozenset(),
) -> list[c.ItemRetracted]:
    """Take back the agent's own, still pending items of these fingerprints, and what needs them.

    `requests`: fingerprint and reason; of two for one fingerprint the first counts. `by`:
    ``agent:<id>``. A set that is not opened is its own: no other wake knows it. `reproposed`:
    fingerprints that the same wake proposed, accepted or not: they stay."""
    if changes.is_opened and by != f"agent:{changes.agent}":
        return []
    reasons: dict[str, str] = {}
    for fingerprint, reason in requests:
        reasons.setdefault(fingerprint, reason)
    facts = [
        c.ItemRetracted(item.number, by, _short(reasons[item.fingerprint]))
        for item in changes.items
        if item.status == "pending"
        and item.fingerprint in reasons
        and item.fingerprint not in reproposed
    ]
    return [*facts, *unmet(changes, facts)]


def newest(changes: ChangeSet, fields: Callable[[ChangeItem], Collection[str]]) -> dict[str, str]:
    """By field, the reference of the last item of a wake's set that gives it another value."""
    found: dict[str, str] = {}
    for item in reversed(changes.items):
        if found.keys().isdisjoint(mine := fields(item)):
            found |= dict.fromkeys(mine, ref(changes, item.number))
    return found


def replace_older(
    changes: ChangeSet,
    newer: Mapping[str, str],
    by: str,
    fields: Callable[[ChangeItem], Collection[str]],
) -> list[c.ItemRetracted]:
    """Take back what the person has not decided of fields for which there is something newer.

    `newer`: as `newest` found it; what it names itself stays. `by`: ``agent:<id>``, whose sets all
    of them are. `fields`: those that an item gives another value; none of an addition."""
    facts: list[c.ItemRetracted] = []
    for item in changes.items:
        if item.status in ("pending", "deferred"):
            name = next((newer[field] for field in fields(item) if field in newer), "")
            if name not in ("", ref(changes, item.number)):
                facts.append(c.ItemRetracted(item.number, by, c.REPLACED + name))
    return facts


# ------------------------------------------------------------------------------ by the person


def confirm(
    changes: ChangeSet,
    number: int,
    by: str,
    *,
    action: str,
    arguments: Words | None = None,
    base: str = "",
    category: str = "",
) -> list[ChangesFact]:
    """The intent to apply an item; nothing if it is under way or done.

    Args:
        action: ``H("action", ...)`` of the arguments in force; empty: the journal has no part.
        arguments: Edited ones, else None; equal to the proposed ones is unedited.
        base: What `--anyway` takes as base, else empty.
        category: The task's, see `ItemConfirming`.

    Raises:
        Refused: Code ``unknown_item``, ``agent_running``, ``decided`` or ``needs_first``.
    """
    item = _addressed(changes, number)
    match item.status:
        case "confirming" | "confirmed":
            return []
        case "pending" | "deferred":
            _check_need(changes, item, arguments)
            edited = None if arguments == item.arguments else arguments
            nth = item.confirmation + 1
            operation = _operation(changes, item, action, nth) if action else ""
            return [c.ItemConfirming(number, by, nth, operation, 1, edited, base, category)]
        case _:
            raise _decided(changes, item)


def reject(
    changes: ChangeSet, number: int, by: str, reason: str, position: int, seen: VersionVector = ()
) -> list[ChangesFact]:
    """Decline an item and what needs it, and ask for the suppression of a declined label; again:
    nothing. Raises Refused, code ``unknown_item``, ``agent_running``, ``decided`` or
    ``invalid_value``."""
    item = _addressed(changes, number)
    match item.status:
        case "rejected":
            return []
        case "pending" | "deferred":
            verdict = c.ItemRejected(number, by, position, _bounded(reason), seen)
            return [verdict, *suppression(changes, item), *unmet(changes, [verdict])]
        case _:
            raise _decided(changes, item)


def defer(
    changes: ChangeSet,
    number: int,
    by: str,
    reason: str,
    position: int,
    until: str = "",
    seen: VersionVector = (),
) -> list[ChangesFact]:
    """Put an item off; it can still be decided. Again: nothing, but with another `until`. Raises
    Refused, code ``unknown_item``, ``agent_running``, ``decided`` or ``invalid_value``."""
    item = _addressed(changes, number)
    match item.status:
        case "deferred" if until in ("", item.until):
            return []
        case "pending" | "deferred":
            return [c.ItemDeferred(number, by, position, _bounded(reason), until, seen)]
        case _:
            raise _decided(changes, item)


def reopen(changes: ChangeSet, number: int, by: str) -> list[ChangesFact]:
    """Take a rejection or deferral back, with what ended because of it, and ask for the end of the
    suppression that it led to; again: nothing. Raises Refused, code ``unknown_item``,
    ``agent_running`` or ``decided``."""
    item = _addressed(changes, number)
    if item.status == "pending":
        return []
    if item.status not in ("rejected", "deferred") or item.asked is not None:
        raise _decided(changes, item)
    needing = [
        one for one in changes.items if c.has_lapsed(one) and dependency_of(changes, one) == item
    ] if item.status == "rejected" else []  # fmt: skip
    facts: list[ChangesFact] = [c.ItemReopened(one.number, by) for one in (item, *needing)]
    return [*facts, *lift(changes, item)]


def undo(
    changes: ChangeSet, number: int, by: str, operation: str, confirmation: int
) -> list[ChangesFact]:
    """The intent to take a confirmation back; nothing if that is under way or done.

    `operation`: the one that was applied for it. `confirmation`: its number, as the intent has it:
    that of the item is the newest one's; 0: nobody asked for it. Raises Refused, code
    ``unknown_item`` or ``decided``."""
    item = _known(changes, number)
    asked = item.asked
    is_under_way = isinstance(asked, c.UndoAsked) and asked.undoes == operation
    if c.is_undone(item, operation) or is_under_way:
        return []
    if item.status != "confirmed" or asked is not None or not confirmation:
        raise _decided(changes, item)
    name = own_operation(changes, item, "undo", operation)
    return [c.UndoAsked(number, by, confirmation, name, operation, 1)]


def undone(changes: ChangeSet, number: int) -> list[c.ItemUndone]:
    """The end of a confirmation in which the journal had no part; nothing if it is taken back.
    Raises Refused, code ``unknown_item`` or ``decided``."""
    item = _known(changes, number)
    if item.status == "pending" and item.undos:
        return []
    if item.status != "confirmed":
        raise _decided(changes, item)
    nth = item.applied if isinstance(item.applied, int) else item.confirmation
    return [c.ItemUndone(number, nth, own_operation(changes, item, "undo", str(nth)), "")]


# ----------------------------------------------------------------------------- by the runtime


def pending_effects(changes: ChangeSet) -> list[c.ChangesIntent]:
    """The intents in flight, each by its last attempt, in the order of their items."""
    return [item.asked for item in changes.items if item.asked is not None]


def retake(changes: ChangeSet, number: int) -> list[ChangesFact]:
    """Take over an effect in doubt: the same operation, under the next attempt. Raises Refused,
    code ``unknown_item``."""
    asked = _known(changes, number).asked
    return [] if asked is None else [replace(asked, attempt=asked.attempt + 1)]


def settle(
    changes: ChangeSet, reply: c.ChangesReply, *, is_shared: bool = False
) -> list[ChangesFact]:
    """What came of an operation; nothing if nobody waits for it (any more), but for an effect that
    another machine of a shared log asked for.

    A failure that can never succeed retracts the item, unless the person had edited the
    arguments: then the fault may be theirs, and the item stays for another try."""
    item = find(changes, reply.item)
    if item is None or not (awaits(item, reply) or (is_shared and is_late(item, reply))):
        return []
    if isinstance(reply, c.ItemFailed) and reply.code in HOPELESS and item.arguments_now is None:
        gone = c.ItemRetracted(item.number, RULES, _short(reply.message))
        return [reply, gone, *unmet(changes, [gone])]
    return [reply]


def expire(changes: ChangeSet, at: str, reason: str = "") -> list[ChangesFact]:
    """Close what nobody decided; what is being confirmed never expires.

    Without a reason: pending items of a set past its time. With one (the task is gone, for
    example) time does not matter, and deferred items go too: time alone does not undo a
    person's "later"."""
    is_past = bool(changes.expires_at) and changes.expires_at <= at
    if not is_past and not reason:
        return []
    closing = ("pending", "deferred") if reason else ("pending",)
    facts = [
        c.ItemExpired(item.number, _short(reason))
        for item in changes.items
        if item.status in closing
    ]
    return [*facts, *unmet(changes, facts)]


# --------------------------------------------------------------------------------------- parts


def _check_need(changes: ChangeSet, item: ChangeItem, arguments: Words | None) -> None:
    need = dependency_of(changes, item, arguments)
    if need is not None and need.status != "confirmed":
        first = ref(changes, need.number)
        because = f"item {ref(changes, item.number)} needs the task that item {first} makes"
        raise Refused("needs_first", because=because, instead=f"confirm {first} first")


def _operation(changes: ChangeSet, item: ChangeItem, action: str, confirmation: int) -> str:
    """The ordinal counts earlier items of the same fingerprint; it moves on where an edit made
    another item's action of this one, so that no operation id is used twice."""
    used = {operation for other in changes.items for operation in other.operations}
    twins = [other for other in changes.items if other.fingerprint == item.fingerprint]
    earlier = len([twin for twin in twins if twin.number < item.number])
    names = (
        key("operation", changes.run_key, action, str(ordinal), str(confirmation))
        for ordinal in count(earlier)  # bounded: each used id is passed once
    )
    return next(name for name in names if name not in used)


def _known(changes: ChangeSet, number: int) -> ChangeItem:
    if (item := find(changes, number)) is None:
        because = f"there is no item {ref(changes, number)}"
        raise Refused("unknown_item", because=because, instead=Remedy("see_all_items"))
    return item


def _addressed(changes: ChangeSet, number: int) -> ChangeItem:
    item = _known(changes, number)
    if not changes.is_opened:
        because = f"the wake that proposes item {ref(changes, number)} has not ended"
        raise Refused("agent_running", because=because, instead=Remedy("await_wake"))
    if isinstance(item.asked, c.LiftAsked | c.UndoAsked):
        verdict = "rejection" if isinstance(item.asked, c.LiftAsked) else "confirmation"
        because = f"the {verdict} of item {ref(changes, number)} is being taken back"
        raise Refused("decided", because=because, instead=Remedy("await_wake_or_recover"))
    return item


def _decided(changes: ChangeSet, item: ChangeItem) -> Refused:
    is_under_way = item.status == "confirming"
    told = "being confirmed" if is_under_way else item.status
    instead = Remedy("await_wake_or_recover" if is_under_way else "see_open_proposals")
    because = f"item {ref(changes, item.number)} is {told}"
    return Refused("decided", because=because, instead=instead)


def _bounded(reason: str) -> str:
    if len(reason.encode()) > INLINE_MAX_BYTES:
        because = f"the reason is longer than {INLINE_MAX_BYTES} bytes"
        raise invalid(because, "say it in fewer words")
    return reason


def _short(reason: str) -> str:
    """A reason that nobody can be asked to shorten."""
    is_long = len(reason.encode()) > INLINE_MAX_BYTES
    return cut(reason, length_max=INLINE_MAX_BYTES // 4) if is_long else reason


# ------------------------------------------------------------------------------- verdicts on labels
# Rejected, a label is suppressed on the task; taken up again, that is lifted. Each is an operation
# of its own.

LABEL_TOOL = "assign_task_label"


class _LabelArguments(Struct):
    """The part of a label proposal's arguments that names the label."""

    id: str = ""


def suppression(changes: ChangeSet, item: ChangeItem) -> list[c.SuppressionAsked]:
    """The intent of a rejection; nothing if the item is about something else."""
    if not (label := _label_of(item)):
        return []
    operation = own_operation(changes, item, "suppress_label", label)
    return [c.SuppressionAsked(item.number, operation, label, 1)]


def lift(changes: ChangeSet, item: ChangeItem) -> list[c.LiftAsked]:
    """The intent of taking a rejection back; nothing if nothing was suppressed by it."""
    if not (label := _label_of(item)) or item.status != "rejected" or item.error_code:
        return []
    operation = own_operation(changes, item, "lift_suppression", label)
    return [c.LiftAsked(item.number, operation, label, 1)]


def _label_of(item: ChangeItem) -> str:
    if item.tool != LABEL_TOOL or not item.arguments.text:  # never so long as to be a payload
        return ""
    return msgspec.json.decode(item.arguments.text, type=_LabelArguments).id


def own_operation(changes: ChangeSet, item: ChangeItem, deed: str, about: str) -> str:
    """One that no earlier verdict on the item used."""
    action = key("action", deed, about)
    names = (
        key("operation", changes.run_key, action, "0", str(nth))
        for nth in count(1)  # bounded: each used id is passed once
    )
    return next(name for name in names if name not in item.operations)
