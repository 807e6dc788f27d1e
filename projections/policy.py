"""What is agreed to, and which wakes the gate held lately: one document."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.wake_queue import HELD
from domain.agent.wake_queue_events import AlertSettled, WakeBackedOff, WakeBegun, WakeDropped
from domain.policy.gate import GATE_CODES
from domain.policy.policy import POLICY, Policy
from domain.wake.events import WakeFinished
from domain.world import MAIN, Recorded
from projections.view import View

REFUSALS_KEPT = 20  # the newest
_ALERTS = (AlertSettled, WakeBackedOff, WakeBegun, WakeDropped)


class Held(Struct, frozen=True):
    """A wake that the gate stopped, or let wait. `code`: why it was skipped, or what it waits for;
    `agent_id`: empty where the row does not say it."""

    at: str
    run_key: str
    code: str
    agent_id: str = ""


class PolicyDocument(Struct, frozen=True):
    """The policy as the domain folds it, what the gate stopped, the newest last, and what waits
    for it now."""

    policy: Policy
    refusals: tuple[Held, ...] = ()
    waiting: tuple[Held, ...] = ()


def keys(row: Recorded) -> tuple[str, ...]:
    return (MAIN,) if row.of_kind in ("policy", "alert", "wake") and _concerns(row) else ()


def apply(document: PolicyDocument | None, row: Recorded) -> PolicyDocument | None:
    """Policy and refusals after this row."""
    known = document or PolicyDocument(POLICY.initial(MAIN))
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


def _concerns(row: Recorded) -> bool:
    return row.of_kind == "policy" or isinstance(row.fact, _ALERTS) or _held(row) is not None


def _is_told(refusals: tuple[Held, ...], row: Recorded, held: Held) -> bool:
    """Whether the end of a wake was told by the row before, that of its agent's attention."""
    told = {(one.run_key, one.code) for one in refusals}
    return isinstance(row.fact, WakeFinished) and (held.run_key, held.code) in told


def _waiting(waiting: tuple[Held, ...], row: Recorded, held: Held | None) -> tuple[Held, ...]:
    """What waits for the gate after a row of its agent's attention."""
    run_key = getattr(row.fact, "run_key", row.entity)
    left = tuple(one for one in waiting if one.run_key != run_key)
    return (*left, held) if held and isinstance(row.fact, WakeBackedOff) else left


def _held(row: Recorded) -> Held | None:
    fact: Any = row.fact
    match fact:
        case WakeDropped(run_key=run_key, code=code) if code in GATE_CODES:
            return Held(row.at, run_key, code, row.entity)
        case WakeBackedOff(run_key=run_key, reason=reason) if reason in HELD:
            return Held(row.at, run_key, reason, row.entity)
        case WakeFinished(code=code) if code in GATE_CODES:
            return Held(row.at, row.entity, code)
        case _:
            return None


def _takes_late(document: PolicyDocument | None, row: Recorded) -> bool:
    """What only ends the waiting of a wake that does not wait. All else mixes what is found
    under no name: then the document is made anew from the beginning."""
    if row.of_kind == "policy" or _held(row):
        return False
    waiting = document.waiting if document else ()
    return _waiting(waiting, row, None) == waiting


VIEW: View[PolicyDocument] = View(
    "policy",
    "agent",
    1,
    PolicyDocument,
    keys,
    apply,
    entities=("policy", "alert", "wake"),
    takes_late=_takes_late,
)
