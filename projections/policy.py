"""What is agreed to, and which wakes the gate held lately: one document."""

from msgspec import Struct
from msgspec.structs import replace

from domain.agent import wake_queue as a
from domain.log.state import MAIN, RecordedEvent
from domain.policy.gate import GATE_CODES
from domain.policy.policy import POLICY, Policy
from domain.wake.wake import WakeFinished
from projections.view import View

REFUSALS_KEPT = 20  # the newest
_ALERTS = (a.WakeSettled, a.WakeBackedOff, a.WakeBegun, a.WakeDropped)
_CODES = (*GATE_CODES, a.NO_RECEIPT)


class GatedWake(Struct, frozen=True):
    """A wake that the gate stopped, or let wait. `code`: why it was skipped, or what it waits for;
    `agent_id`: empty where the row does not say it."""

    at: str
    run_key: str
    code: str
    agent_id: str = ""


class PolicyViewDocument(Struct, frozen=True):
    """The policy as the domain folds it, what the gate stopped, the newest last, and what waits
    for it now."""

    policy: Policy
    refusals: tuple[GatedWake, ...] = ()
    waiting: tuple[GatedWake, ...] = ()


def keys(row: RecordedEvent) -> tuple[str, ...]:
    if row.of_kind not in ("policy", "alert", "wake"):
        return ()
    is_it = row.of_kind == "policy" or isinstance(row.fact, _ALERTS) or _held(row) is not None
    return (MAIN,) if is_it else ()


def apply(document: PolicyViewDocument | None, row: RecordedEvent) -> PolicyViewDocument | None:
    """Policy and refusals after this row."""
    known = document or PolicyViewDocument(POLICY.initial(MAIN))
    if row.of_kind == "policy":
        return replace(known, policy=POLICY.evolve(known.policy, row))
    held = _held(row)
    is_news = held is not None and not _is_told(known.refusals, row, held)
    if held and is_news:
        known = replace(known, refusals=(*known.refusals, held)[-REFUSALS_KEPT:])
    waiting = _waiting(known.waiting, row, held)
    if waiting == known.waiting:
        return known if is_news else document
    return replace(known, waiting=waiting)


def _is_told(refusals: tuple[GatedWake, ...], row: RecordedEvent, held: GatedWake) -> bool:
    """Whether the end of a wake was told by the row before, that of its agent's attention."""
    told = {(one.run_key, one.code) for one in refusals}
    return isinstance(row.fact, WakeFinished) and (held.run_key, held.code) in told


def _waiting(
    waiting: tuple[GatedWake, ...], row: RecordedEvent, held: GatedWake | None
) -> tuple[GatedWake, ...]:
    """What waits for the gate after a row of its agent's attention."""
    run_key = getattr(row.fact, "run_key", row.entity)
    left = tuple(one for one in waiting if one.run_key != run_key)
    return (*left, held) if held and isinstance(row.fact, a.WakeBackedOff) else left


def _held(row: RecordedEvent) -> GatedWake | None:
    match row.fact:
        case a.WakeDropped(run_key=run_key, code=code) if code in _CODES:
            return GatedWake(row.at, run_key, code, row.entity)
        case a.WakeBackedOff(run_key=run_key, reason=reason) if reason in a.HELD:
            return GatedWake(row.at, run_key, reason, row.entity)
        case WakeFinished(code=code) if code in _CODES:
            return GatedWake(row.at, row.entity, code)
        case _:
            return None


def _takes_late(document: PolicyViewDocument | None, row: RecordedEvent) -> bool:
    """What only ends the waiting of a wake that does not wait. All else mixes what is found
    under no name: then the document is made anew from the beginning."""
    if row.of_kind == "policy" or _held(row):
        return False
    waiting = document.waiting if document else ()
    return _waiting(waiting, row, None) == waiting


VIEW: View[PolicyViewDocument] = View(
    "policy", "agent", 2, PolicyViewDocument, keys, apply, entities=("policy", "alert", "wake"),
    takes_late=_takes_late,
)  # fmt: skip
