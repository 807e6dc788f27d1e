"""What happens to a change set: the stream ``changes:<set>`` (SPEC 6).

STORAGE FORMAT, see `domain.wire`. Items are numbered from 1 in the order they were proposed.
Proposals are written as the wake makes them; `SetOpened` shows them to the person when it ends.
An item is a small machine of its own: pending, confirming, confirmed, rejected, deferred,
retracted, expired.
"""

from domain.wire import Imported, Stored, Words


class ItemProposed(Stored, frozen=True, tag="changes.item_proposed.1"):
    """`tool` is the singular name, `arguments` canonical JSON, `summary` for the person,
    `fingerprint` and `display` find duplicates, `base` digests the values it would change,
    `touches` names the fields (see `Snapshot.touched`) or ``item:<id>`` it is about. `because`:
    the words that it rests on, as the agent quoted them; `because_at`: where they stand in what
    it was shown (`domain.wake.grounds.Shown`), empty where they do not. Since scaffold 2; nothing
    is decided by them."""

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
    """The intent: `operation` is about to be applied to the journal."""

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
    ItemProposed
    | SetOpened
    | ItemConfirming
    | ItemConfirmed
    | ItemFailed
    | ItemRejected
    | ItemDeferred
    | ItemRetracted
    | ItemExpired
    | SuppressionAsked
    | SuppressionDone
    | LiftAsked
    | LiftDone
    | ItemReopened
    | VerdictsSeen
    | UndoAsked
    | ItemUndone
)
ChangesIntent = ItemConfirming | SuppressionAsked | LiftAsked | UndoAsked
"""What asks for an operation on the journal."""
ChangesReply = ItemConfirmed | ItemFailed | SuppressionDone | LiftDone | ItemUndone
"""What came of an operation: its own cause, recorded as it is."""
