"""Agents, their attention and their triggers, made of facts for tests."""

from collections.abc import Iterable

from domain.agent.agent import AGENT, Agent
from domain.agent.deciders import AGENT_KIND, agent_id, create, task_subscription
from domain.agent.wake_queue import (
    WAKE_QUEUE,
    Reason,
    Trigger,
    TriggerSuppressed,
    WakeQueue,
    WakeQueueFact,
    next_due,
    next_wake,
)
from domain.agent.wake_queue_rules import Setting, begin, notice
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from domain.log.wire import Stored

START = "2027-01-01T12:00:00.000000Z"
MORNING = "2027-01-02T06:00:00.000000Z"
TASK = key("task", "write the report")
AGENT_ID = agent_id(AGENT_KIND, TASK, 1)
BUILT_IN = task_subscription(AGENT_ID)
ON = Setting(is_enabled=True)
OFF = Setting(is_enabled=False)


def after(seconds: int) -> str:
    """The start, and so many seconds more."""
    return later(START, seconds=seconds)


def row(fact: Stored, at: str = START, *, n: int = 1, stream: str = "agent:a@r1") -> RecordedEvent:
    """A fact as if it had been recorded."""
    return RecordedEvent(stream, n, stream.rpartition("@")[2], n, 0, at, fact)


def agent_of(facts: Iterable[Stored], agent: Agent | None = None) -> Agent:
    """The agent after more facts; from nothing if there is none yet."""
    state = agent or AGENT.initial(AGENT_ID)
    for n, fact in enumerate(facts, start=1):
        state = AGENT.evolve(state, row(fact, n=n))
    return state


def wake_queue_of(
    facts: Iterable[Stored], wake_queue: WakeQueue | None = None, at: str = START, first: int = 1
) -> WakeQueue:
    """The attention after more facts; from nothing if there is none yet."""
    state = wake_queue or WAKE_QUEUE.initial(AGENT_ID)
    for n, fact in enumerate(facts, start=first):
        state = WAKE_QUEUE.evolve(state, row(fact, at, n=n, stream=f"alert:{AGENT_ID}@r1"))
    return state


def born(mode: str = "hybrid", *more: Stored) -> Agent:
    """An active agent, and what else happened to it."""
    made = create(
        Agent(AGENT_ID), task=TASK, generation=1, name="Report", mode=mode, categories=("c1",)
    )
    return agent_of([*made, *more])


def change(
    nth: int, *, subscription: str = BUILT_IN, is_propagated: bool = False, hop: int = 0
) -> Trigger:
    """The `nth` change that matches a subscription."""
    return Trigger(
        "subscription",
        subscription,
        replica="r1",
        position=nth,
        change=key("change", str(nth)),
        tokens=(f"id:{TASK}",),
        is_propagated=is_propagated,
        hop=hop,
    )


def asked(reason: Reason, nth: int = 1, words: str = "") -> Trigger:
    """The `nth` request for a reason; of a user, the turn of a session."""
    if reason == "user":
        return Trigger("user", "session-1", turn=nth, words=words)
    return Trigger(reason, str(nth), replica="r1")


def ticked(*ticks: str) -> Trigger:
    """A timer's catch-up."""
    return Trigger("timer", "timer-1", ticks=ticks)


ACTIVE = born()


def queued(at: str = START) -> WakeQueue:
    """A wake is queued for the first change."""
    return wake_queue_of(notice(WakeQueue(AGENT_ID), ACTIVE, change(1), at, ON), at=at)


def running(wake_queue: WakeQueue | None = None, at: str = START) -> WakeQueue:
    """The next wake runs; it is the one for the first change unless there is another."""
    state = wake_queue or queued()
    wake = next_wake(state)
    assert wake is not None
    return wake_queue_of(begin(state, ACTIVE, wake.run_key, at, ON, now=True), state, at)


def due(wake_queue: WakeQueue, at: str) -> bool:
    """Whether a wake may begin now."""
    return "" < next_due(wake_queue) <= at


def rule_of(facts: list[WakeQueueFact]) -> str:
    """Why the one trigger was suppressed."""
    (fact,) = facts
    assert isinstance(fact, TriggerSuppressed)
    return fact.rule
