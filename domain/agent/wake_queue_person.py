"""What a person says to an agent's attention, besides asking for a wake: sleep, and cancel."""

from domain.agent.agent import Agent
from domain.agent.identity import living
from domain.agent.wake_queue import WakeQueue
from domain.agent.wake_queue_events import AgentSlept, WakeQueueFact
from domain.agent.wake_queue_rules import drop
from domain.errors import Refused, Remedy, invalid
from domain.timestamps import is_moment

CANCELLED = "cancelled"


def sleep(wake_queue: WakeQueue, agent: Agent, until: str, at: str) -> list[WakeQueueFact]:
    """Let nothing but a person wake an agent before a time; what comes meanwhile is kept.

    Args:
        wake_queue: The agent's.
        agent: The agent.
        until: As stored; empty: it sleeps no longer.
        at: When this is said.

    Returns:
        One fact; none where it is so already.

    Raises:
        Refused: Code ``unknown_agent`` or ``invalid_value``.
    """
    living(agent)
    if until and (not is_moment(until) or until <= at):
        raise invalid(f"{until!r} is no time to come", "name a later one")
    before = wake_queue.sleeps_until or ""
    is_over = not until and before <= at
    return [] if until == before or is_over else [AgentSlept(until)]


def cancel(wake_queue: WakeQueue, run_key: str) -> list[WakeQueueFact]:
    """Drop a queued wake with all its triggers.

    Raises:
        Refused: Code ``agent_running``: it has begun; ``unknown_wake``: it is not queued.
    """
    if wake_queue.begun is not None and wake_queue.begun.run_key == run_key:
        because = f"the wake {run_key} has begun, so it is not cancelled"
        raise Refused("agent_running", because=because, instead=Remedy("pause_agent"))
    dropped = drop(wake_queue, run_key, CANCELLED)
    if not dropped:
        because = f"no wake {run_key} is queued for the agent"
        raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
    return dropped
