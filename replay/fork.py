"""What if? The pure part of a fork: which recorded answers still answer, which causes go.

A fork has both logs up to a moment, something else in them, and the wake run again from there.
A recorded answer is used where the request is byte-equal to the one that it answered; from the
first request that differs on, somebody else has to answer, or the fork stops."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain.agent.commands import CreateAgent
from domain.append import envelope
from domain.append.causes import Cause, Receipt, Replied
from domain.changes import change_set as c
from domain.changes import commands as do
from domain.changes.dependencies import follow_up_id
from domain.journal.commands import ApplyOperation, UndoDeed, VoidOperation
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import Stored, tag_of
from domain.ports import Request
from domain.wake.wake import ModelAnswered, ModelFailed
from replay.references import POSITIONS, asked_operations, last_named_position

_KEY = re.compile(r"(?<![a-z2-7])[a-z2-7]{32}(?![a-z2-7])")  # as `domain.log.keys` makes them
VerdictVerb = Literal["confirm", "reject"]
AnsweredBy = Literal["recorded", "live", "stub"]
ModelReply = ModelAnswered | ModelFailed


class Answer(Struct, frozen=True):
    """Who answered a turn of a fork: the record, a model (``live``), or rules or a tape
    (``stub``). `request` is the digest of what was asked."""

    turn: int
    how: AnsweredBy
    model: str
    request: str


class ChangedVerdict(Struct, frozen=True):
    """Another decision on an item of an earlier change set."""

    changes: str
    item: int
    verb: VerdictVerb


def request_digest(request: Request) -> str:
    """Names a request by its bytes: two are equal to the byte if their digests are."""
    return key("request", canonical.encode(request))


def recorded_answers(pairs: Iterable[tuple[Request, ModelReply]]) -> dict[str, ModelReply]:
    """Recorded answers by what was asked; a reply counts for more than a failure before it."""
    found: dict[str, ModelReply] = {}
    for request, reply in pairs:
        name = request_digest(request)
        if not isinstance(found.get(name), ModelAnswered):
            found[name] = reply
    return found


# -------------------------------------------------------------------------------------- verdicts


def decision(rows: Iterable[RecordedEvent], item: int) -> RecordedEvent | None:
    """The first decision on an item among a set's rows; None if there is none."""
    kinds = (c.ItemConfirming, c.ItemRejected, c.ItemDeferred)
    found = (one for one in rows if isinstance(one.fact, kinds) and one.fact.item == item)
    return next(found, None)


def operations(rows: Iterable[RecordedEvent], item: int) -> frozenset[str]:
    """The operations on the journal that decisions on an item led to."""
    asked = (c.ItemConfirming, c.SuppressionAsked, c.LiftAsked, c.UndoAsked)
    return frozenset(
        row.fact.operation for row in rows if isinstance(row.fact, asked) and row.fact.item == item
    )


def is_verdict(cause: Cause, verdict: ChangedVerdict) -> bool:
    """Whether a cause is a decision on that item."""
    if not isinstance(cause, do.ConfirmItem | do.RejectItem | do.DeferItem):
        return False
    return (cause.changes, cause.item) == (verdict.changes, verdict.item)


def is_consequence(cause: Cause, verdict: ChangedVerdict, effects: frozenset[str]) -> bool:
    """Whether a cause of either log would not be there without the recorded decision on that item.
    `effects`: see `operations`."""
    named = (verdict.changes, verdict.item)
    match cause:
        case ApplyOperation() | VoidOperation() | UndoDeed():
            return cause.operation in effects
        case do.RetakeEffect() | do.ReopenItem() | do.UndoItem():
            return (cause.changes, cause.item) == named
        case CreateAgent(task=task):
            return task == follow_up_id(*named)
        case Replied(of_kind="changes", entity=changes, fact=fact):
            return (changes, fact.item) == named
        case _:
            return False


# ------------------------------------------------------------------------------- other names for it


def learn_names(
    names: MutableMapping[str, str], was: Sequence[RecordedEvent], now: Sequence[RecordedEvent]
) -> None:
    """Learn what is called otherwise in a branch, where the same cause decided the same.

    Rows of one stream are compared in their order; the first row of a stream that has another name
    in the branch with the first of the next such stream of its kind. What was asked is no news, and
    a name that both have, or that the other has for something else, is none of the two. `names`:
    recorded key to the branch's; is added to."""
    left = list(now)
    here = {one.stream for one in now}
    known = _keys_of(was), _keys_of(now)
    for one in was:
        stream = _in_branch(one.stream, names)
        for other in left:
            is_new = one.version == other.version == 1 and one.of_kind == other.of_kind
            is_same = other.stream == stream or (is_new and stream not in here)
            if is_same and tag_of(other.fact) == tag_of(one.fact):
                left.remove(other)
                pairs = _pairs(_told(one), _told(other))
                names.update(
                    both for both in pairs if both[0] not in known[1] and both[1] not in known[0]
                )
                break


def _keys_of(rows: Iterable[RecordedEvent]) -> set[str]:
    return {one for row in rows for one in _KEY.findall(row.stream + _text(row.fact))}


def keys_in(fact: Stored) -> set[str]:
    """What a fact names by keys as `domain.log.keys` makes them.

    >>> from domain.journal.commands import DeleteTask
    >>> keys_in(DeleteTask(32 * "a")) == {32 * "a"}
    True
    """
    return {*_KEY.findall(_text(fact))}


def _told(row: RecordedEvent) -> object:
    """What a row says that was not said in its cause."""
    fact = row.fact.result if isinstance(row.fact, Receipt) else row.fact
    return [row.stream, msgspec.json.decode(msgspec.json.encode(fact))]


def _pairs(one: object, other: object) -> Iterator[tuple[str, str]]:
    """The keys that stand in the same places of two documents."""
    match one, other:
        case str(), str():
            before, after = _KEY.findall(one), _KEY.findall(other)
            if len(before) == len(after):
                yield from zip(before, after, strict=True)
        case list(), list() if len(one) == len(other):
            for mine, theirs in zip(one, other, strict=True):
                yield from _pairs(mine, theirs)
        case dict(), dict():
            for name in sorted(one.keys() & other.keys()):
                yield from _pairs(one[name], other[name])
        case _:
            return


def carried_operation(rows: Sequence[RecordedEvent]) -> str:
    """The operation that an append of the journal carries out, or makes void; else empty."""
    return carried_out(envelope.cause_of(rows[0])[0])


def carried_out(cause: Cause) -> str:
    """The operation that a cause carries out, or makes void; else empty."""
    return cause.operation if isinstance(cause, ApplyOperation | VoidOperation | UndoDeed) else ""


def rests_on(agents: Sequence[RecordedEvent], journal: Sequence[RecordedEvent]) -> bool:
    """Whether an append of the agent log names that one of the journal, or a later one."""
    return last_named_position(agents) >= journal[0].n


def interleaved(
    journal: Iterable[Sequence[RecordedEvent]],
    agents: Iterable[Sequence[RecordedEvent]],
    rests_on: Callable[[Sequence[RecordedEvent], Sequence[RecordedEvent]], bool] = rests_on,
) -> Iterator[tuple[str, Sequence[RecordedEvent]]]:
    """Appends of both logs in an order in which they may have been written, with their log.

    What rests on an append of the journal comes after it, an effect after what asks for it; for the
    rest time tells. Of machines that share both logs the first may not be so: then the second is.
    """
    left, others = deque(journal), deque(agents)
    later = {one for rows in others for one in asked_operations(rows)}
    held = dict[str, list[Sequence[RecordedEvent]]]()  # by the operation that is not asked for yet
    while others:
        other, first = others[0], left[0] if left else ()
        is_asked = bool(first) and carried_operation(first) not in later
        is_due = bool(first) and rests_on(other, first)
        if is_due and not is_asked:
            held.setdefault(carried_operation(first), []).append(left.popleft())
        elif is_due or (is_asked and first[0].at <= other[0].at):
            yield "journal", left.popleft()
        else:
            later -= asked_operations(other)
            yield "agent", others.popleft()
            found = [rows for one in sorted(asked_operations(other)) for rows in held.pop(one, ())]
            yield from (("journal", rows) for rows in found)
    yield from (("journal", rows) for rows in left)


def with_moved_position(cause: Cause, position: Callable[[int], int]) -> Cause:
    """A cause of the agent log that names a position of the journal, with the branch's:
    `position` gives that of a recorded one."""
    told = cause.fact if isinstance(cause, Replied) else cause
    name = POSITIONS.get(type(told))
    if name is None or not (n := getattr(told, name)):
        return cause
    there: Any = replace(told, **{name: position(n)})
    return replace(cause, fact=there) if isinstance(cause, Replied) else there


def with_branch_names(cause: Cause, names: Mapping[str, str]) -> Cause:
    """A recorded cause with the names that a branch has for what it is about."""
    if isinstance(cause, Replied):
        entity = names.get(cause.entity, cause.entity)
        return replace(cause, entity=entity, fact=_renamed(cause.fact, names))
    found: Cause = _renamed(cause, names)
    return found


def _renamed(fact: Stored, names: Mapping[str, str]) -> Any:
    return msgspec.json.decode(_in_branch(_text(fact), names), type=type(fact))


def _in_branch(text: str, names: Mapping[str, str]) -> str:
    return _KEY.sub(lambda found: names.get(found[0], found[0]), text)


def _text(fact: Stored) -> str:
    return msgspec.json.encode(fact).decode()
