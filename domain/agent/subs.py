"""Who subscribes to a token: the stream ``subs:<token>``, read backwards by the watcher."""

from collections.abc import Iterable

from msgspec import Struct

from domain.agent.agent import Agent
from domain.agent.events import (
    AgentFact,
    Subscribed,
    SubscriberAdded,
    SubscriberRemoved,
    SubsFact,
    Unsubscribed,
)
from domain.world import Kind, Recorded


class Subs(Struct, frozen=True):
    """The subscribers of a token as ``(agent, subscription)``, in order of their coming."""

    id: str
    subscribers: tuple[tuple[str, str], ...] = ()


def moves(agent: Agent, facts: Iterable[AgentFact]) -> list[tuple[str, SubsFact]]:
    """What facts about an agent mean for the streams of its tokens, as ``(token, fact)``.

    Args:
        agent: As it was before the facts.
        facts: What was decided about it, in order.
    """
    held = {known.id: known.tokens for known in agent.subscriptions}
    found: list[tuple[str, SubsFact]] = []
    for fact in facts:
        match fact:
            case Subscribed(subscription=subscription, tokens=tokens):
                was = held.get(subscription, ())
                held[subscription] = tokens
                found += _removals(agent.id, subscription, was, tokens)
                found += [
                    (token, SubscriberAdded(agent.id, subscription))
                    for token in tokens
                    if token not in was
                ]
            case Unsubscribed(subscription=subscription):
                found += _removals(agent.id, subscription, held.pop(subscription, ()), ())
    return found


def evolve(subs: Subs, recorded: Recorded) -> Subs:
    """The subscribers after one more fact."""
    match recorded.fact:
        case SubscriberAdded(agent=agent, subscription=subscription):
            one = (agent, subscription)
            known = subs.subscribers
            return subs if one in known else Subs(subs.id, (*known, one))
        case SubscriberRemoved(agent=agent, subscription=subscription):
            gone = (agent, subscription)
            return Subs(subs.id, tuple(one for one in subs.subscribers if one != gone))
        case _:
            return subs


def _removals(
    agent: str, subscription: str, was: tuple[str, ...], now: tuple[str, ...]
) -> list[tuple[str, SubsFact]]:
    gone = SubscriberRemoved(agent, subscription)
    return [(token, gone) for token in was if token not in now]


SUBS: Kind[Subs] = Kind("subs", Subs, evolve)
