"""The agent that plans the person's days (ADR 103): made where there is none, asked for a day."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.home.schedules import local_time
from adapters.runtime import gate
from adapters.runtime.timers import timer_command
from adapters.usecases import wake_agents
from adapters.usecases.agents import AgentOptions, check_options
from domain.agent import commands as do
from domain.agent import deciders
from domain.agent.agent import AGENT
from domain.errors import Refused, invalid
from domain.journal.catalog import CATALOG, Category
from domain.journal.day import Span, minutes_of
from domain.journal.task import TASK, Task
from domain.log.state import MAIN
from domain.scaffold import SCAFFOLD
from domain.wake.day_context import AHEAD, hours_told, planned_day
from domain.wake.manifests import DAY_AGENT, manifest_of

if TYPE_CHECKING:
    from adapters.wiring import Home

HOME = "home"
NAME = "Day"
GENERATIONS_MAX = 100
AS_SET = AgentOptions()


class DayAgent(NamedTuple):
    """Its id, whether it was made just now, the categories that it reads and those that it does
    not, by name, and when it wakes by itself; empty: never."""

    agent: str
    is_new: bool
    categories: Sequence[str]
    others: Sequence[str]
    schedule: str


def living(home: "Home") -> str:
    """The id of the agent that plans days; empty where there is none."""
    with home.services.agents.reading() as world:
        for generation in range(1, GENERATIONS_MAX + 1):
            agent = world.load(AGENT, deciders.agent_id(DAY_AGENT, HOME, generation))
            if agent.lifecycle != "destroyed":
                return agent.id if agent.lifecycle else ""
    return ""


def ready(
    home: "Home",
    wish: AgentOptions = AS_SET,
    categories: Sequence[str] = (),
    *,
    has_timer: bool = True,
) -> DayAgent:
    """The agent that plans days, made where there is none.

    Args:
        home: The home.
        wish: What a new one shall be like; it has no template.
        categories: The ids of those that a new one may read; none: all of them.
        has_timer: Whether a new one wakes every morning.

    Raises:
        Refused: Code ``out_of_scope``: there is no category yet, or what a wish is refused with;
            the model cannot be had.
    """
    with home.services.journal.reading() as world:
        known = world.load(CATALOG, MAIN).categories
    if agent_id := living(home):
        return _told(home, agent_id, known, is_new=False)
    check_options(wish)
    gate.checked_model(home.services, wish.model or home.settings.model)
    allowed = tuple(sorted(categories or known))
    if not allowed:
        because = "there is no task yet, and no category that could be planned"
        raise Refused("out_of_scope", because=because, instead="add a task first")
    journal = home.services.journal
    position = journal.tail().n
    command = do.CreateAgent(
        "",
        NAME,
        "",
        position,
        deciders.valid_mode(wish.mode or home.settings.agents.mode),
        wish.name,
        wish.model,
        wish.turns,
        home.services.is_enabled,
        seen=journal.horizon(position),
        first=home.services.first,
        agent_kind=DAY_AGENT,
        subject=HOME,
        categories=allowed,
    )
    try:
        made = home.services.append_agent(command).result.ids[0]
    except Refused as refused:
        if refused.code != "agent_exists":  # another process was faster
            raise
        return _told(home, living(home), known, is_new=False)
    schedule = manifest_of(SCAFFOLD, DAY_AGENT).timer if has_timer else ""
    if schedule:
        now, zone = home.services.clock.now(), home.settings.timezone
        home.services.append_agent(timer_command(made, schedule, zone, now))
    home.views.catch_up()
    return _told(home, made, known, is_new=True)


def _told(home: "Home", agent_id: str, known: Mapping[str, Category], *, is_new: bool) -> DayAgent:
    agent = home.services.agent(agent_id)
    reads, others = (
        sorted(one.name for one in known.values() if (one.id in agent.categories) == is_read)
        for is_read in (True, False)
    )
    schedule = next((one.schedule for one in agent.timers), "")
    return DayAgent(agent_id, is_new, reads, others, schedule)


def next_day(home: "Home", date: str = "") -> str:
    """The day that is planned if the person names this one, or none.

    Raises:
        Refused: Code ``invalid_value``: it is past, or more than a week away.
    """
    local = local_time(home.services.clock.now(), home.settings.timezone)
    found = planned_day(local, date)
    if date and found != date:
        because = f"{date} is not today, nor within the next {AHEAD} days"
        raise invalid(because, "name a day that comes")
    return found


def ask(home: "Home", agent_id: str, date: str = "", key: str = "") -> wake_agents.Requested:
    """Queue a wake that plans a day, for `wake_agents.run_wake`; `date`: empty for the one that
    comes, which the time of day tells.

    Raises: as `next_day` and `wake_agents.ask_agent`.
    """
    if date:
        return wake_agents.ask_agent(home, agent_id, f"Plan {next_day(home, date)}.", key=key)
    return wake_agents.request_wake(home, agent_id, key)


def said(home: "Home", run_key: str) -> str:
    """The report of a wake in short; empty where it wrote none."""
    report = home.services.wake(run_key).report
    with home.services.agents.reading() as world:
        return world.text(report.tldr) if report else ""


def tasks_of(home: "Home", ids: Iterable[str]) -> dict[str, Task]:
    """Tasks by their ids, as they are now."""
    with home.services.journal.reading() as world:
        return {one: world.load(TASK, one) for one in ids}


def hours_of(home: "Home") -> tuple[Span, list[Span]]:
    """When the person works, and their pauses, in minutes of the day, as their agent is told."""
    agent_id = living(home)
    with home.services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
    hours, pauses = hours_told(agent)
    return _minutes(hours), [_minutes(one) for one in pauses]


def _minutes(told: tuple[str, str]) -> Span:
    return minutes_of(told[0]), minutes_of(told[1])
