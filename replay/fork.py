"""What if? The pure part of a fork: which recorded answers still answer, which causes go.

A fork has both logs up to a moment, something else in them, and the wake run again from there.
A recorded answer is used where the request is byte-equal to the one that it answered; from the
first request that differs on, somebody else has to answer, or the fork stops.
"""

import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain import canonical
from domain.causes import Cause, Replied
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, RetakeEffect
from domain.changes.events import ItemConfirming, ItemDeferred, ItemRejected, SuppressionAsked
from domain.journal.commands import ApplyOperation, VoidOperation
from domain.keys import key
from domain.ports import Request
from domain.wake.events import ModelAnswered, ModelFailed
from domain.wire import Stored, tag_of
from domain.world import Recorded

_KEY = re.compile(r"(?<![a-z2-7])[a-z2-7]{32}(?![a-z2-7])")  # as `domain.keys` makes them
Verb = Literal["confirm", "reject"]
How = Literal["recorded", "live", "stub"]
ModelReply = ModelAnswered | ModelFailed


class Answer(Struct, frozen=True):
    """Who answered a turn of a fork: the record, a model (``live``), or rules or a tape
    (``stub``). `request` is the digest of what was asked."""

    turn: int
    how: How
    model: str
    request: str


class Verdict(Struct, frozen=True):
    """Another decision on an item of an earlier change set."""

    changes: str
    item: int
    verb: Verb


def digest(request: Request) -> str:
    """Names a request by its bytes: two are equal to the byte if their digests are."""
    return key("request", canonical.encode(request))


def answers(pairs: Iterable[tuple[Request, ModelReply]]) -> dict[str, ModelReply]:
    """Recorded answers by what was asked; a reply counts for more than a failure before it."""
    found: dict[str, ModelReply] = {}
    for request, reply in pairs:
        name = digest(request)
        if not isinstance(found.get(name), ModelAnswered):
            found[name] = reply
    return found


# -------------------------------------------------------------------------------------- verdicts


def decided_at(rows: Iterable[Recorded], item: int) -> int:
    """The agent log's `n` of the first decision on an item of a set; 0 if there is none.

    Args:
        rows: Of the set's stream, in order.
        item: Its number.
    """
    for row in rows:
        match row.fact:
            case (
                ItemConfirming(item=number) | ItemRejected(item=number) | ItemDeferred(item=number)
            ) if number == item:
                return row.n
            case _:
                continue
    return 0


def operations(rows: Iterable[Recorded], item: int) -> frozenset[str]:
    """The operations on the journal that decisions on an item led to."""
    return frozenset(
        row.fact.operation
        for row in rows
        if isinstance(row.fact, ItemConfirming | SuppressionAsked) and row.fact.item == item
    )


def is_verdict(cause: Cause, verdict: Verdict) -> bool:
    """Whether a cause is a decision on that item."""
    if not isinstance(cause, ConfirmItem | RejectItem | DeferItem):
        return False
    return (cause.changes, cause.item) == (verdict.changes, verdict.item)


def is_consequence(cause: Cause, verdict: Verdict, effects: frozenset[str]) -> bool:
    """Whether a cause would not be there without the recorded decision on that item.

    Args:
        cause: Of either log.
        verdict: The decision that takes the recorded one's place.
        effects: See `operations`.
    """
    match cause:
        case ApplyOperation(operation=operation) | VoidOperation(operation=operation):
            return operation in effects
        case RetakeEffect(changes=changes, item=item):
            return (changes, item) == (verdict.changes, verdict.item)
        case Replied(of_kind="changes", entity=changes, fact=fact):
            return (changes, fact.item) == (verdict.changes, verdict.item)
        case _:
            return False


# ------------------------------------------------------------------------------- other names for it


def learn(names: MutableMapping[str, str], was: Sequence[Stored], now: Sequence[Stored]) -> None:
    """Learn what is called otherwise in a branch, where the same cause decided the same.

    Args:
        names: Recorded key to the branch's; is added to.
        was: The facts that were recorded.
        now: The branch's.
    """
    for one, other in zip(was, now, strict=False):
        before, after = (_KEY.findall(_text(fact)) for fact in (one, other))
        if tag_of(one) == tag_of(other) and len(before) == len(after):
            names.update(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])


def renamed(cause: Cause, names: Mapping[str, str]) -> Cause:
    """A recorded cause with the names that a branch has for what it is about."""
    if isinstance(cause, Replied):
        entity = names.get(cause.entity, cause.entity)
        return replace(cause, entity=entity, fact=_renamed(cause.fact, names))
    found: Cause = _renamed(cause, names)
    return found


def _renamed(fact: Stored, names: Mapping[str, str]) -> Any:
    text = _KEY.sub(lambda found: names.get(found[0], found[0]), _text(fact))
    return msgspec.json.decode(text, type=type(fact))


def _text(fact: Stored) -> str:
    return msgspec.json.encode(fact).decode()
