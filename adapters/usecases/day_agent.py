"""The agent that plans the person's days (ADR 103): made where there is none, asked for a day."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adapters.home.schedules import local_time
from adapters.usecases import kinds, wake_agents
from adapters.usecases.agents import AgentOptions
from adapters.usecases.kinds import KindAgent
from domain.agent.agent import AGENT
from domain.agent.deciders import DAY_AGENT
from domain.errors import invalid
from domain.journal.day import Span, minutes_of
from domain.journal.task import TASK, Task
from domain.wake.day_context import AHEAD, hours_told, planned_day

if TYPE_CHECKING:
    from adapters.wiring import Home

HOME = "home"
NAME = "Day"


def living(home: "Home") -> str:
    """The id of the agent that plans days; empty where there is none."""
    return kinds.living(home, DAY_AGENT, HOME)


def ready(
    home: "Home",
    wish: AgentOptions = kinds.AS_SET,
    categories: Sequence[str] = (),
    *,
    has_timer: bool = True,
) -> KindAgent:
    """The agent that plans days, made where there is none, see `kinds.ready`; `has_timer`: a new
    one wakes every morning."""
    return kinds.ready(home, DAY_AGENT, HOME, NAME, categories, wish, has_timer=has_timer)


def next_day(home: "Home", date: str = "") -> str:
    """The day that is planned if the person names this one, or none. Raises Refused, code
    ``invalid_value``: it is past, or more than a week away."""
    local = local_time(home.services.clock.now(), home.settings.timezone)
    found = planned_day(local, date)
    if date and found != date:
        because = f"{date} is not today, nor within the next {AHEAD} days"
        raise invalid(because, "name a day that comes")
    return found


def ask(home: "Home", agent_id: str, date: str = "", key: str = "") -> wake_agents.Requested:
    """Queue a wake that plans a day, for `wake_agents.run_wake`; `date`: empty for the one that
    comes, which the time of day tells. Raises as `next_day` and `wake_agents.ask_agent`."""
    if date:
        return wake_agents.ask_agent(home, agent_id, f"Plan {next_day(home, date)}.", key=key)
    return wake_agents.request_wake(home, agent_id, key)


def tasks_of(home: "Home", ids: Iterable[str]) -> dict[str, Task]:
    with home.services.journal.reading() as world:
        return {one: world.load(TASK, one) for one in ids}


def hours_of(home: "Home") -> tuple[Span, list[Span]]:
    """When the person works, and their pauses, in minutes of the day, as their agent is told."""
    agent_id = living(home)
    with home.services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
    (start, end), pauses = hours_told(agent)
    breaks = [(minutes_of(begun), minutes_of(ended)) for begun, ended in pauses]
    return (minutes_of(start), minutes_of(end)), breaks
