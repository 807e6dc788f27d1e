"""Which subscriptions a journal append concerns (SPEC 3, DESIGN 5).

A token is ``key:TASK`` (a kind of thing), ``sub:note:transcript`` (a subtype of it) or
``id:<id>`` of a task or another entity. A journal append is one batch of them."""

import re
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import (
    Agent,
    AgentFact,
    Subscribed,
    SubscriberAdded,
    SubscriberRemoved,
    Subscription,
    SubsFact,
    Unsubscribed,
)
from domain.agent.wake_queue import JournalTaken, Trigger
from domain.log.state import MAIN, LogState, RecordedEvent, StreamType
from domain.log.wire import Part

SEMANTIC_KEYS = (
    "TASK", "CHECKLIST", "CHECKLIST_ITEM", "NOTE", "TIME_ENTRY", "LINK", "CATEGORY", "LABEL",
    "RATING",
)  # fmt: skip
_NAMESPACES = "|".join(name.lower() for name in SEMANTIC_KEYS)
_TOKEN = re.compile(
    rf"key:(?:{'|'.join(SEMANTIC_KEYS)})"
    rf"|sub:(?:{_NAMESPACES}):[a-z][a-z0-9_]{{0,39}}"
    r"|id:[a-z2-7]{32}"
)


class TouchedTask(Part, frozen=True):
    """A task that an append touched, as it is after it."""

    task: str
    category: str
    status: str


class Batch(Part, frozen=True):
    """Journal append `n` of `replica`, as subscriptions see it.

    `origin`: ``person``, ``import:<source>`` or ``agent:<id>``. `hop`: how many agents' writes
    led here, this one included. `tokens`: of what was changed. `propagated`: ids of tasks that
    link to it. `change`: its logicalChangeKey. `of` and `of_n`: the replica that wrote it and its
    `n` there, where another machine did; then `n` is the marker by which `replica` learnt of it."""

    n: int
    replica: str
    origin: str
    hop: int
    tokens: tuple[str, ...]
    propagated: tuple[str, ...] = ()
    change: str = ""
    touched: tuple[TouchedTask, ...] = ()
    of: str = ""
    of_n: int = 0


def is_token(text: str) -> bool:
    """Whether a text is a well-formed token.

    >>> is_token("key:TASK"), is_token("sub:note:transcript"), is_token("key:CAR")
    (True, True, False)
    """
    return _TOKEN.fullmatch(text) is not None


def match(subscription: Subscription, batch: Batch) -> tuple[tuple[str, ...], bool] | None:
    """What a batch has that a subscription asks for. Returns the matching tokens, sorted, and
    whether they match only through a link (an id that is named both ways counts as direct); None
    where none match or the predicate does not hold."""
    wanted = set(subscription.tokens)
    direct = wanted.intersection(batch.tokens)
    found = direct | wanted.intersection(batch.propagated)
    if not found or not _holds(subscription, batch):
        return None
    return tuple(sorted(found)), not direct


def trigger_of(subscription: Subscription, batch: Batch) -> Trigger | None:
    """The trigger that a batch is for a subscription, if it matches."""
    if (found := match(subscription, batch)) is None:
        return None
    tokens, is_propagated = found
    return Trigger(
        "subscription", subscription.id, replica=batch.replica, position=batch.n,
        change=batch.change, tokens=tokens, is_propagated=is_propagated, hop=batch.hop,
        of=batch.of, of_n=batch.of_n,
    )  # fmt: skip


def _holds(subscription: Subscription, batch: Batch) -> bool:
    """Whether one touched task has the category and the status that are asked for."""
    if not subscription.category and not subscription.status:
        return True
    return any(
        subscription.category in ("", task.category) and subscription.status in ("", task.status)
        for task in batch.touched
    )


def placed(trigger: Trigger, own: str, learnt: Callable[[str, int], int]) -> Trigger:
    """A trigger that another machine of a shared home took, with its place in the journal of the
    one that goes on with it.

    `trigger`: as it stands there. `own`: who goes on. `learnt`: ``learnt(replica, n)``: its append
    by which it learnt of another's."""
    if trigger.reason != "subscription":
        return trigger
    of, n = trigger.of or trigger.replica, trigger.of_n or trigger.position
    if of == own:
        return replace(trigger, replica=own, position=n, of="", of_n=0)
    return replace(trigger, replica=own, position=learnt(of, n), of=of, of_n=n)


# ------------------------------------------------------------------------ who subscribes to a token
# Who subscribes to a token: the stream ``subs:<token>``, read backwards by the watcher.


class Subscribers(Struct, frozen=True):
    """The subscribers of a token as ``(agent, subscription)``, in order of their coming."""

    id: str
    subscribers: tuple[tuple[str, str], ...] = ()


def subscriber_facts(agent: Agent, facts: Iterable[AgentFact]) -> list[tuple[str, SubsFact]]:
    """What facts about an agent mean for the streams of its tokens, as ``(token, fact)``. `facts`:
    what was decided about it, in order."""
    held = {known.id: known.tokens for known in agent.subscriptions}
    found: list[tuple[str, SubsFact]] = []
    for fact in facts:
        match fact:
            case Subscribed(subscription=subscription, tokens=tokens):
                was = held.get(subscription, ())
                held[subscription] = tokens
                found += _removals(agent.id, subscription, was, tokens)
                added = SubscriberAdded(agent.id, subscription)
                found += [(token, added) for token in tokens if token not in was]
            case Unsubscribed(subscription=subscription):
                found += _removals(agent.id, subscription, held.pop(subscription, ()), ())
    return found


def evolve_subscribers(subs: Subscribers, recorded: RecordedEvent) -> Subscribers:
    """The subscribers after one more fact."""
    match recorded.fact:
        case SubscriberAdded(agent=agent, subscription=subscription):
            one, known = (agent, subscription), subs.subscribers
            return subs if one in known else Subscribers(subs.id, (*known, one))
        case SubscriberRemoved(agent=agent, subscription=subscription):
            gone = (agent, subscription)
            return Subscribers(subs.id, tuple(one for one in subs.subscribers if one != gone))
        case _:
            return subs


def _removals(
    agent: str, subscription: str, was: tuple[str, ...], now: tuple[str, ...]
) -> list[tuple[str, SubsFact]]:
    gone = SubscriberRemoved(agent, subscription)
    return [(token, gone) for token in was if token not in now]


SUBSCRIBERS: StreamType[Subscribers] = StreamType("subs", Subscribers, evolve_subscribers)


# -------------------------------------------------------------------- how far the journal was taken
# Up to where the journal was turned into notices: the stream ``watch:main`` (DESIGN 5).


class Watch(Struct, frozen=True):
    """The last journal append taken, by replica."""

    id: str
    taken: dict[str, int] = {}


def evolve_watch(watch: Watch, recorded: RecordedEvent) -> Watch:
    """The watcher's position after one more fact."""
    match recorded.fact:
        case JournalTaken(replica=replica, last=last):
            return Watch(watch.id, {**watch.taken, replica: last})
        case _:
            return watch


WATCH: StreamType[Watch] = StreamType("watch", Watch, evolve_watch, is_merged=False)


def taken_of(world: LogState, replica: str) -> int:
    """Up to which append a replica's journal was taken; of a long stream its last row tells."""
    newest = world.newest(WATCH.name, MAIN)
    match newest.fact if newest else None:
        case JournalTaken(replica=of, last=last) if of == replica:
            return last
        case _:
            return world.load(WATCH, MAIN).taken.get(replica, 0)
