"""A change set: what happens to it, the stream ``changes:<set>``, and what became of its items
(SPEC 6).

STORAGE FORMAT, see `domain.log.wire`. Items are numbered from 1 in the order they were proposed.
Proposals are written as the wake makes them; `SetOpened` shows them to the person when it ends.
An item is a small machine of its own: pending, confirming, confirmed, rejected, deferred,
retracted, expired."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from domain.log.keys import key
from domain.log.state import LogState, RecordedEvent, StreamType
from domain.log.wire import Imported, Stored, Words


class ItemProposed(Stored, frozen=True, tag="changes.item_proposed.1"):
    """`tool` is the singular name, `arguments` canonical JSON, `summary` for the person,
    `fingerprint` and `display` find duplicates, `base` digests the values it would change,
    `touches` names the fields (see `Snapshot.touched`) or ``item:<id>`` it is about. `because`:
    the words that it rests on, as the agent quoted them; `because_at`: where they stand in what
    it was shown (`domain.wake.citations.ShownText`), empty where they do not. Since
    scaffold 2; nothing is decided by them."""

    item: int
    tool: str
    arguments: Words
    summary: str
    fingerprint: str
    display: str
    base: str
    touches: tuple[str, ...] = ()
    because: str = ""
    because_at: str = ""


class SetOpened(Stored, frozen=True, tag="changes.opened.1"):
    agent: str
    task: str
    run_key: str
    expires_at: str = ""


class ItemConfirming(Stored, frozen=True, tag="changes.item_confirming.1"):
    """The intent: `operation` is about to be applied to the journal; empty where it is done in the
    same append."""

    item: int
    by: str
    confirmation: int  # 1-based; a new confirm after a failure adds one
    operation: str
    attempt: int  # 1-based; taking over an intent in doubt raises it
    arguments: Words | None = None  # of an edited item
    base: str = ""  # what `--anyway` took as base; else empty: the item's own
    category: str = ""  # the task's when it was decided; empty: nothing is learnt of it


class ItemConfirmed(Stored, frozen=True, tag="changes.item_confirmed.1"):
    item: int
    confirmation: int
    position: int = 0  # the journal's n that holds the effect
    operation: str = ""  # which was applied, where the number does not tell: one was taken back


class ItemFailed(Stored, frozen=True, tag="changes.item_failed.1"):
    """The operation was refused; the item is pending again."""

    item: int
    confirmation: int
    code: str
    message: str


class ItemRejected(Stored, frozen=True, tag="changes.item_rejected.1"):
    item: int
    by: str
    position: int  # the journal's last n when it was decided
    reason: str = ""
    seen: tuple[Imported, ...] = ()  # of a shared journal: what was known of each machine then


class ItemDeferred(Stored, frozen=True, tag="changes.item_deferred.1"):
    item: int
    by: str
    position: int
    reason: str = ""
    until: str = ""
    seen: tuple[Imported, ...] = ()


class ItemRetracted(Stored, frozen=True, tag="changes.item_retracted.1"):
    item: int
    by: str  # agent:<id>, or "rules" where it can never succeed
    reason: str = ""


class ItemExpired(Stored, frozen=True, tag="changes.item_expired.1"):
    item: int
    reason: str = ""


class SuppressionAsked(Stored, frozen=True, tag="changes.suppression_asked.1"):
    """A rejected label is about to be suppressed on the task, by an operation of its own."""

    item: int
    operation: str
    label: str
    attempt: int


class SuppressionDone(Stored, frozen=True, tag="changes.suppression_done.1"):
    item: int
    operation: str
    code: str = ""  # empty: applied


class LiftAsked(Stored, frozen=True, tag="changes.lift_asked.1"):
    """The suppression that a rejection led to is about to be lifted, by an operation of its own."""

    item: int
    operation: str
    label: str
    attempt: int


class LiftDone(Stored, frozen=True, tag="changes.lift_done.1"):
    item: int
    operation: str
    code: str = ""  # empty: applied


class ItemReopened(Stored, frozen=True, tag="changes.item_reopened.1"):
    """A rejection or deferral was taken back; the item is pending again."""

    item: int
    by: str


class UndoAsked(Stored, frozen=True, tag="changes.undo_asked.1"):
    """The effect of a confirmation is about to be taken back, by an operation of its own."""

    item: int
    by: str
    confirmation: int
    operation: str
    undoes: str  # the operation whose effect it is
    attempt: int


class ItemUndone(Stored, frozen=True, tag="changes.item_undone.1"):
    """What came of taking a confirmation back. Where it was, the item is pending again."""

    item: int
    confirmation: int
    operation: str
    undoes: str
    position: int = 0  # the journal's n that took the effect back
    code: str = ""  # empty: it was taken back


class VerdictsSeen(Stored, frozen=True, tag="changes.verdicts_seen.1"):
    """A person saw that machines decided differently of an item, and lets stand what does."""

    item: int
    verdict: str  # what stands, as a conflict of kind ``verdicts`` tells it


ChangesFact = (
    ItemProposed | SetOpened | ItemConfirming | ItemConfirmed | ItemFailed | ItemRejected
    | ItemDeferred | ItemRetracted | ItemExpired | SuppressionAsked | SuppressionDone | LiftAsked
    | LiftDone | ItemReopened | VerdictsSeen | UndoAsked | ItemUndone
)  # fmt: skip
ChangesIntent = ItemConfirming | SuppressionAsked | LiftAsked | UndoAsked
"""What asks for an operation on the journal."""
ChangesReply = ItemConfirmed | ItemFailed | SuppressionDone | LiftDone | ItemUndone
"""What came of an operation: its own cause, recorded as it is."""


# ------------------------------------------------------------------------------------------ the set
#     pending <-> deferred        both -> confirming, rejected, expired, retracted
#     confirming -> confirmed     or back to pending where the operation was refused
#     rejected, deferred -> pending    where the person took the verdict back
#     confirmed -> pending    where its effect was taken back in the journal
#
# The effect under way stands in the item as the recorded intent itself (`asked`): a confirm's
# operation, the suppression of a rejected label, its end, or the end of a confirmed effect.

ItemStatus = Literal[
    "pending", "confirming", "confirmed", "rejected", "deferred", "retracted", "expired"
]
REPLACED = "replaced by "
"""Begins the reason of an item that a newer one replaced; that one's reference follows. Nothing
else takes back what the person put off, but that what it needs is gone."""
UNMET = "what it needs "
"""Begins the reason of an item whose task will not be made; what became of that item follows."""
OPEN = ("pending", "confirming", "deferred")
"""Statuses of items of which something is still to come."""
SETS_KEPT = 64  # ids of change sets
SetStatus = Literal["pending", "partially_resolved", "resolved", "expired"]


@lru_cache(SETS_KEPT)
def set_id(run_key: str, replica: str = "") -> str:
    """Id of the change set that a wake makes, if it makes one. `replica`: who runs it, where
    machines share their agents: two models propose different things under one run key."""
    return key("changes", run_key, replica) if replica else key("changes", run_key)


def own_set_id(world: LogState, run_key: str) -> str:
    """Id of the change set that a wake of this replica makes. One that was begun before the log was
    shared keeps its id."""
    alone = set_id(run_key)
    is_begun = not world.is_shared or world.version(world.stream("changes", alone))
    return alone if is_begun else set_id(run_key, world.replica)


class ProposedItem(Protocol):
    """What a tool proposes, as this package reads it; fields as in `ItemProposed`."""

    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def display(self) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def touches(self) -> tuple[str, ...]: ...
    @property
    def because(self) -> str: ...
    @property
    def because_at(self) -> str: ...


class UndoAttempt(Struct, frozen=True):
    """That an effect was to be taken back: that of `undoes`, by `operation`."""

    confirmation: int
    operation: str
    undoes: str
    is_done: bool = False


class ChangeItem(Struct, frozen=True):
    """One proposed change.

    `confirmation` counts its confirms; `operations` are all ids they used. `arguments_now` are
    the edited ones of the confirmation under way or done, empty where they were not edited.
    `decided_at` is when the decision was made, not when its effect was done. `error` is what the
    last confirm failed with; it goes with the next one. `position` is the journal's `n` of the
    verdict, of a confirmed item the one that holds the effect; of a replaced one that of its
    deferral, if it was put off. `because`, `because_at`: as in `ItemProposed`.
    `until` is when one that is put off waits for the person again, if ever of itself. `seen`: of a
    journal that machines share, what who declined it knew of each. `held` is a confirmation that
    met another machine's verdict; its effect, if any, makes the item confirmed. `undos`: what was
    to be taken back of its confirmations, and whether it was; `applied`: the operation that it is
    confirmed by, or else which confirmation of it, where `confirmation` is not it."""

    number: int
    tool: str
    arguments: Words
    summary: str
    fingerprint: str
    display: str
    base: str
    touches: tuple[str, ...] = ()
    status: ItemStatus = "pending"
    confirmation: int = 0
    operations: tuple[str, ...] = ()
    asked: ChangesIntent | None = None
    arguments_now: Words | None = None
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    position: int = 0
    error: str = ""
    error_code: str = ""
    because: str = ""
    because_at: str = ""
    until: str = ""
    seen: tuple[Imported, ...] | UnsetType = UNSET
    held: ItemConfirming | UnsetType = UNSET
    undos: tuple[UndoAttempt, ...] | UnsetType = UNSET
    applied: str | int | UnsetType = UNSET


class ChangeSet(Struct, frozen=True):
    """A set; not `is_opened` to the person until the wake has ended."""

    id: str
    agent: str = ""
    task: str = ""
    run_key: str = ""
    is_opened: bool = False
    opened_at: str = ""
    expires_at: str = ""
    items: tuple[ChangeItem, ...] = ()

    @property
    def unit(self) -> str:
        """What its texts belong to: its task, else its agent."""
        return self.task or f"agent:{self.agent}"


def is_open(item: ChangeItem) -> bool:
    """Whether something is still to happen: pending, confirming or deferred."""
    return item.status in OPEN


def is_waiting(item: ChangeItem, now: str) -> bool:
    """Whether an item waits for the person: undecided, or put off until a time that has come."""
    has_come = item.status == "deferred" and "" < item.until <= now
    return has_come or item.status in ("pending", "confirming")


def is_undone(item: ChangeItem, operation: str, confirmation: int = 0) -> bool:
    """Whether the effect of an operation was taken back; without one, of a confirmation that was
    done by itself."""
    return any(
        one.is_done and one.undoes == operation and (operation or one.confirmation == confirmation)
        for one in item.undos or ()
    )


def is_confirmed_by(item: ChangeItem, confirmation: int, operation: str) -> bool:
    """Whether a confirmed item stands by this confirmation, which asked for that operation."""
    if isinstance(item.applied, str):
        return item.applied == operation
    stands = item.applied or item.confirmation
    return stands in (0, confirmation)  # 0: of several under one number nobody can tell


def was_taken_back(item: ChangeItem) -> bool:
    """Whether it waits for the person again though they had confirmed it."""
    return is_open(item) and any(one.is_done for one in item.undos or ())


def has_lapsed(item: ChangeItem) -> bool:
    """Whether it was closed because what it needs is not to be."""
    return item.status == "retracted" and item.reason.startswith(UNMET)


def status_of(changes: ChangeSet) -> SetStatus:
    """What a set is as a whole.

    ``pending``: every item is open. ``partially_resolved``: some are. None is open: ``expired``
    if time, and not a decision, closed at least one of them, else ``resolved``. A set without
    items has nothing to wait for: ``resolved``.

    >>> status_of(ChangeSet("set-1"))
    'resolved'
    """
    are_open = {is_open(item) for item in changes.items}
    if True in are_open:
        return "partially_resolved" if False in are_open else "pending"
    return "expired" if any(item.status == "expired" for item in changes.items) else "resolved"


def find(changes: ChangeSet, number: int) -> ChangeItem | None:
    """The item of a number."""
    return next((item for item in changes.items if item.number == number), None)


def item_named(world: LogState, name: str) -> ChangeItem | None:
    """The item of a name: its set's id and its number, ``SET.N``."""
    changes = world.load(CHANGES, name.rpartition(".")[0])
    return next((one for one in changes.items if f"{changes.id}.{one.number}" == name), None)


def ref(changes: ChangeSet, number: int) -> str:
    """How an item is addressed: by the beginning of its set's id and its number."""
    return f"{changes.id[:8]}.{number}"


def evolve(changes: ChangeSet, recorded: RecordedEvent) -> ChangeSet:
    """The set after one more fact. Total: what does not fit changes nothing.

    The order of facts from several replicas is not one that a decider allowed: there the
    first verdict on an item stands, but an effect in the journal always makes it confirmed, unless
    it was taken back; and each operation that anybody asked for is kept, so that the journal can
    be asked for it."""
    match recorded.fact:
        case ItemProposed() as fact:
            return _propose(changes, fact)
        case SetOpened() as fact:
            if changes.is_opened:
                return changes
            return replace(changes, **asdict(fact), is_opened=True, opened_at=recorded.at)
        case (
            ItemConfirming() | ItemConfirmed() | ItemFailed() | ItemRejected() | ItemDeferred()
            | ItemRetracted() | ItemExpired() | SuppressionAsked() | SuppressionDone()
            | LiftAsked() | LiftDone() | ItemReopened() | UndoAsked() | ItemUndone()
        ) as fact:  # fmt: skip
            items = (
                _after(item, fact, recorded.at) if item.number == fact.item else item
                for item in changes.items
            )
            return replace(changes, items=tuple(items))
        case _:
            return changes


def fold(set_id: str, history: Iterable[RecordedEvent]) -> ChangeSet:
    """The set that a history makes."""
    changes = ChangeSet(set_id)
    for recorded in history:
        changes = evolve(changes, recorded)
    return changes


CHANGES: StreamType[ChangeSet] = StreamType("changes", ChangeSet, evolve)


def _propose(changes: ChangeSet, fact: ItemProposed) -> ChangeSet:
    if find(changes, fact.item):
        return changes
    item = ChangeItem(
        fact.item, fact.tool, fact.arguments, fact.summary, fact.fingerprint, fact.display,
        fact.base, fact.touches, because=fact.because, because_at=fact.because_at,
    )  # fmt: skip
    return replace(changes, items=(*changes.items, item))


def _after(item: ChangeItem, fact: Any, at: str) -> ChangeItem:
    """An item after a fact about it; the same item where the fact does not fit its status."""
    match item.status, fact:
        case _, ItemConfirming() if is_undone(item, fact.operation, fact.confirmation):
            return item  # another machine's, which did not know
        case _, UndoAsked():
            return _undoing(item, fact)
        case _, ItemUndone():
            return _undone(item, fact, at)
        case "pending" | "deferred" | "confirming", ItemConfirming():
            return _confirming(item, fact, at)
        case _, ItemConfirming():
            return _held(item, fact)
        case "confirming", ItemFailed(confirmation=item.confirmation):
            return _failed(item, fact, at)
        case _, ItemFailed() if item.held and item.held.confirmation == fact.confirmation:
            return replace(item, held=UNSET)
        case "confirmed", _:
            return item
        case _, LiftAsked():
            return _intended(item, fact)
        case _, LiftDone(operation=operation):
            is_awaited = isinstance(item.asked, LiftAsked) and item.asked.operation == operation
            return replace(item, asked=None) if is_awaited else item
        case "rejected" | "deferred", ItemReopened():
            after, held = _decided(replace(item, error_code=""), "pending", ""), item.held
            return _confirming(after, held, at) if held else after  # only the verdict held it back
        case "retracted", ItemReopened() if has_lapsed(item):
            return _decided(item, "pending", "")
        case _, ItemConfirmed() if not _is_of_undone(item, fact):
            return _confirmed(item, fact, at)
        case "pending" | "deferred", ItemRejected():
            after = _decided(item, "rejected", at, fact.by, fact.reason, fact.position)
            return replace(after, seen=fact.seen or UNSET)
        case "pending" | "deferred", ItemDeferred() if item.status == "pending" or fact.until:
            after = _decided(item, "deferred", at, fact.by, fact.reason, fact.position)
            return replace(after, until=fact.until, seen=fact.seen or UNSET)
        case "pending", ItemRetracted():
            return _decided(item, "retracted", at, fact.by, fact.reason)
        case "deferred", ItemRetracted() if fact.reason.startswith((REPLACED, UNMET)):
            return _decided(item, "retracted", at, fact.by, fact.reason, item.position)
        case "pending" | "deferred", ItemExpired():
            return _decided(item, "expired", at, reason=fact.reason)
        case "rejected", SuppressionAsked():
            return _intended(item, fact)
        case "rejected", SuppressionDone(operation=operation):
            is_awaited = item.asked is not None and item.asked.operation == operation
            return replace(item, asked=None, error_code=fact.code) if is_awaited else item
        case _:
            return item


def _confirming(item: ChangeItem, fact: ItemConfirming, at: str) -> ChangeItem:
    """A new confirmation, or the next attempt of the one under way. The same number again is that
    of another machine, which did not know that the first one failed."""
    if fact.confirmation < item.confirmation:
        return _held(item, fact)
    if item.status == "confirming":
        after = _next_attempt(item, fact)
        return _held(item, fact) if after is item else after
    return replace(
        _with_operation(item, fact.operation),
        status="confirming",
        confirmation=fact.confirmation,
        asked=fact,
        arguments_now=fact.arguments,
        decided_by=fact.by,
        decided_at=at,
        reason="",
        until="",
        position=0,
        error="",
        error_code="",
        held=UNSET,
        applied=UNSET,
    )


def _with_operation(item: ChangeItem, operation: str) -> ChangeItem:
    known = item.operations
    return item if operation in ("", *known) else replace(item, operations=(*known, operation))


def _held(item: ChangeItem, fact: ItemConfirming) -> ChangeItem:
    """A confirmation that met another verdict. Of a confirmed item only its operation is kept,
    unless that may be taken back."""
    kept = _with_operation(item, fact.operation)
    is_over = item.status == "confirmed" and not item.undos
    return kept if is_over else replace(kept, held=fact)


def _confirmed(item: ChangeItem, fact: ItemConfirmed, at: str) -> ChangeItem:
    """The effect is there: what was asked for it counts, whatever else was decided."""
    held = item.held
    if held and item.status != "confirming" and held.confirmation == fact.confirmation:
        item = _confirming(replace(item, status="pending"), held, at)
    is_other = item.confirmation != fact.confirmation
    return replace(
        item,
        status="confirmed",
        asked=None,
        position=fact.position,
        held=UNSET,
        applied=fact.operation or (fact.confirmation if is_other else UNSET),
    )


def _is_of_undone(item: ChangeItem, fact: ItemConfirmed) -> bool:
    """Whether what was done is what was taken back."""
    if fact.operation:
        return is_undone(item, fact.operation)
    asked = (one for one in (item.asked, item.held) if isinstance(one, ItemConfirming))
    undone = {one.confirmation for one in item.undos or () if one.is_done}
    return fact.confirmation in undone.difference(one.confirmation for one in asked)


def _undoing(item: ChangeItem, fact: UndoAsked) -> ChangeItem:
    """Under way where it is about the confirmation that stands, and nothing else is."""
    made = UndoAttempt(fact.confirmation, fact.operation, fact.undoes)
    known = item.undos or ()
    if all(one.operation != made.operation for one in known):
        item = replace(_with_operation(item, made.operation), undos=(*known, made))
        is_meant = is_confirmed_by(item, made.confirmation, made.undoes)
        is_free = item.status == "confirmed" and item.asked is None
        return replace(item, asked=fact) if is_free and is_meant else item
    return _next_attempt(item, fact)


def _undone(item: ChangeItem, fact: ItemUndone, at: str) -> ChangeItem:
    """Pending again, or under way as another machine asked for it; unless another confirmation
    stands."""
    if isinstance(item.asked, UndoAsked) and item.asked.operation == fact.operation:
        item = replace(item, asked=None)
    if fact.code or is_undone(item, fact.undoes, fact.confirmation):
        return item
    made = UndoAttempt(fact.confirmation, fact.operation, fact.undoes, is_done=True)
    others = tuple(one for one in item.undos or () if one.operation != made.operation)
    held = item.held if item.held and item.held.operation != fact.undoes else UNSET
    item = replace(item, undos=(*others, made), held=held)
    if item.status == "confirmed":
        is_meant = is_confirmed_by(item, fact.confirmation, fact.undoes)
    else:  # perhaps another machine has told that it was done, before it was asked for here
        is_meant = isinstance(item.asked, ItemConfirming) and item.asked.operation == fact.undoes
    if not is_meant:
        return item
    after = _decided(replace(item, asked=None), "pending", "")
    after = replace(after, arguments_now=None, held=UNSET, applied=UNSET)
    return _confirming(after, held, at) if held else after


def _intended(item: ChangeItem, fact: SuppressionAsked | LiftAsked) -> ChangeItem:
    if item.asked is None and fact.operation not in item.operations:
        return replace(item, asked=fact, operations=(*item.operations, fact.operation))
    return _next_attempt(item, fact)


def _next_attempt(item: ChangeItem, fact: ChangesIntent) -> ChangeItem:
    asked = item.asked
    if asked is None or asked.operation != fact.operation or asked.attempt >= fact.attempt:
        return item
    return replace(item, asked=fact)


def _failed(item: ChangeItem, fact: ItemFailed, at: str) -> ChangeItem:
    """Pending again, or under way as another machine asked for it."""
    after = replace(
        item,
        status="pending",
        asked=None,
        arguments_now=None,
        decided_by="",
        decided_at="",
        error=fact.message,
        error_code=fact.code,
    )
    return _confirming(after, after.held, at) if after.held else after


def _decided(
    item: ChangeItem, status: ItemStatus, at: str, by: str = "", reason: str = "", position: int = 0
) -> ChangeItem:
    said = {"decided_by": by, "decided_at": at, "reason": reason, "position": position}
    return replace(item, status=status, **said, until="")
