"""What was said before in a person's session: its earlier turns, by the rows of their wakes.

A turn's run key follows from its agent, session and number: each is found without a look at any
other. A turn that was superseded has no wake; the one that took its place has its words.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from domain.agent.agent import Agent
from domain.agent.wake_queue import Queued, run_key_of
from domain.policy.flow import may_enter
from domain.wake.events import ModelAnswered, WakeStarted
from domain.wake.reading import ExchangeSeen, Limits, ThreadSeen
from domain.world import Recorded, World

TURNS_LOOKED_AT = 48
"""Before the wake's own; superseded ones count."""


def thread_of(agents: World, agent: Agent, queued: Queued, limits: Limits) -> ThreadSeen:
    """The newest turns before a user wake, before any other none; but for those of wakes that were
    allowed a category which the agent is not allowed now (ADR 37)."""
    if queued.reason != "user":
        return ThreadSeen()
    asked = queued.triggers[0]  # the one that made the wake
    found: list[ExchangeSeen] = []
    turn = asked.turn - 1
    last = max(0, turn - TURNS_LOOKED_AT)
    while turn > last and len(found) < limits.thread_max:
        rows = agents.recorded("wake", run_key_of(agent.id, replace(asked, turn=turn)))
        found += _exchange(agents, agent, rows)
        turn -= 1
    return ThreadSeen(tuple(found[::-1]), turn)


def _exchange(agents: World, agent: Agent, rows: Sequence[Recorded]) -> list[ExchangeSeen]:
    """What a person said to a wake and its last words; none of a wake that never began."""
    found: list[ExchangeSeen] = []
    for row in rows:
        match row.fact:
            case WakeStarted(user=sections, categories=categories):
                if not may_enter(categories, agent):
                    return []
                said = [agents.payload(one.payload) for one in sections if one.name == "words"]
                words = b"".join(said).decode().partition("\n\n")[2]  # without its heading
                found = [ExchangeSeen(row.at, words)]
            case ModelAnswered(text=text) if text is not None and found:
                found = [replace(found[0], answer=agents.text(text))]
            case _:
                pass
    return found
