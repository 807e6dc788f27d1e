"""Which subscriptions a journal append concerns, and who stands in a token's stream."""

import pytest

from domain.agent.agent import (
    Agent,
    AgentDestroyed,
    SubscriberAdded,
    SubscriberRemoved,
    Subscription,
)
from domain.agent.deciders import create, delete, watch
from domain.agent.subscriptions import (
    SUBSCRIBERS,
    Batch,
    TouchedTask,
    match,
    subscriber_facts,
    trigger_of,
)
from tests.support.agents import AGENT_ID, BUILT_IN, TASK, agent_of, row


def batch(*tokens: str, propagated: tuple[str, ...] = ()) -> Batch:
    touched = (TouchedTask("t1", "c1", "OPEN"), TouchedTask("t2", "c2", "DONE"))
    return Batch(7, "r1", "person", 0, tokens, propagated, "change", touched)


def test_a_subscription_matches_what_it_names() -> None:
    wanted = Subscription("s", ("b", "key:TASK", "a"))
    assert match(wanted, batch("key:TASK", "a", "x")) == (("a", "key:TASK"), False)
    assert match(wanted, batch("x", propagated=("a",))) == (("a",), True)
    assert match(wanted, batch("a", propagated=("a", "b"))) == (("a", "b"), False)
    assert match(wanted, batch("x")) is None


@pytest.mark.parametrize(
    ("category", "status", "holds"),
    [
        ("c1", "OPEN", True),
        ("c2", "", True),
        ("", "DONE", True),
        ("c1", "DONE", False),  # of two different tasks
        ("c3", "", False),
        ("", "BLOCKED", False),
    ],
)
def test_the_predicate_asks_one_touched_task(category: str, status: str, holds: bool) -> None:
    wanted = Subscription("s", ("a",), category, status)
    assert (match(wanted, batch("a")) is not None) == holds


def test_a_match_is_a_trigger_that_names_the_append() -> None:
    trigger = trigger_of(Subscription("s", ("a",)), batch("x", propagated=("a",)))
    assert trigger is not None
    assert (trigger.reason_id, trigger.replica, trigger.position) == ("s", "r1", 7)
    assert (trigger.change, trigger.tokens, trigger.is_propagated) == ("change", ("a",), True)
    assert trigger_of(Subscription("s", ("a",)), batch("x")) is None


def test_subscribers_come_and_go_once() -> None:
    subs = SUBSCRIBERS.initial("key:TASK")
    assert SUBSCRIBERS.evolve(subs, row(SubscriberRemoved("a", "s"))) == subs
    for fact in [SubscriberAdded("a", "s"), SubscriberAdded("a", "s"), SubscriberAdded("b", "s")]:
        subs = SUBSCRIBERS.evolve(subs, row(fact))
    assert subs.subscribers == (("a", "s"), ("b", "s"))
    subs = SUBSCRIBERS.evolve(subs, row(SubscriberRemoved("a", "s")))
    assert subs.subscribers == (("b", "s"),)
    assert SUBSCRIBERS.evolve(subs, row(AgentDestroyed())) == subs


def test_facts_of_an_agent_move_it_in_and_out_of_its_tokens() -> None:
    made = create(Agent(AGENT_ID), task=TASK, generation=1, name="A", categories=("c",))
    assert subscriber_facts(Agent(AGENT_ID), made) == [
        (f"id:{TASK}", SubscriberAdded(AGENT_ID, BUILT_IN))
    ]
    agent = agent_of(made)
    watched = watch(agent, ["key:TASK", "key:NOTE"])
    agent_after = agent_of(watched, agent)
    named = agent_after.subscriptions[1].id
    assert subscriber_facts(agent, watched) == [
        ("key:NOTE", SubscriberAdded(AGENT_ID, named)),
        ("key:TASK", SubscriberAdded(AGENT_ID, named)),
    ]
    louder = watch(agent_after, ["key:TASK", "key:NOTE"], hears_agents=True)
    assert subscriber_facts(agent_after, louder) == []
    gone = delete(agent_of([AgentDestroyed()], agent_after))
    assert subscriber_facts(agent_after, gone) == [
        (f"id:{TASK}", SubscriberRemoved(AGENT_ID, BUILT_IN)),
        ("key:NOTE", SubscriberRemoved(AGENT_ID, named)),
        ("key:TASK", SubscriberRemoved(AGENT_ID, named)),
    ]
