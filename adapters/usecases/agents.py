"""Agents are made, and steered: their life, settings, timers and subscriptions."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.documents.agents import all_agents
from adapters.documents.templates import templates_of
from adapters.home.extensions import check_installed
from adapters.home.schedules import parse_in
from adapters.runtime import watcher
from adapters.runtime.timers import timer_command
from adapters.usecases.inputs import beginning
from adapters.usecases.resolve import nth_key
from adapters.usecases.templates import pick_template
from domain.agent import commands as do
from domain.agent import deciders
from domain.agent.deciders import AgentSettings
from domain.errors import Refused
from projections import agents
from projections.tasks import VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.agent.agent import AgentTimer, Mode
    from domain.agent.commands import AgentCommand


# ------------------------------------------------------------------------------------------- make


class AgentOptions(NamedTuple):
    """What a new agent shall be like; what is left out is the home's, or the task's.

    `template` is named as a person names it; else the agent takes its category's."""

    mode: str = ""
    name: str = ""
    model: str = ""
    turns: int = 0
    template: str = ""


class Assigned(NamedTuple):
    """A task's agent, and whether it was made now: not before, under the same key."""

    agent: str
    is_new: bool


class AllAssigned(NamedTuple):
    """The agents that were made, and how many open tasks there are."""

    made: Sequence[str]
    tasks: int


def check_options(wish: AgentOptions) -> None:
    """Look whether an agent can be like this. Raises Refused, code ``invalid_value``."""
    if wish.mode:
        deciders.valid_mode(wish.mode)
    if wish.turns:
        deciders.valid_turn_max(wish.turns)
    check_installed(deciders.valid_model(wish.model))


def assign_agent(home: "Home", task_id: str, wish: AgentOptions, key: str = "") -> Assigned:
    """Make an agent for a task. Raises Refused, code ``task_deleted``, ``agent_exists``, or what a
    wish is refused with."""
    check_options(wish)
    first, mode = nth_key(key, 1), _mode(home, wish)
    said = do.CreateAgent(task_id, "", "", 0, mode, wish.name, wish.model, wish.turns)
    if known := home.services.agents.answered(first, said):
        return Assigned(known.ids[0], is_new=False)
    task, template = home.views.get(VIEW, task_id), _template(home, wish, key)
    if task is None or task.is_deleted:
        because = f"the task {task.title if task else task_id!r} is deleted"
        raise Refused("task_deleted", because=because, instead="restore it first")
    made = home.services.append_agent(_command(home, task, wish, template), key=first).result.ids[0]
    home.views.catch_up()
    return Assigned(made, is_new=True)


def tasks_alone(home: "Home") -> int:
    """How many open tasks have no agent; none of them is read."""
    return home.views.count_without(VIEW, "open", agents.VIEW, agents.LIVING)


def assign_all(
    home: "Home",
    wish: AgentOptions,
    key: str = "",
    among: "Collection[str] | None" = None,
    told: "Callable[[int], None]" = lambda _: None,
) -> AllAssigned:
    """Make an agent for every open task that has none; `among`: of these tasks only, if they are
    given; `told` hears how many were made, after each. Raises what a wish is refused with.

    Each task has its own key by its place among all tasks, which never moves."""
    check_options(wish)
    template = _template(home, wish, key)
    having = {agent.task_id for agent in all_agents(home) if agent.is_living}
    tasks = [(nth, one) for nth, one in enumerate(home.views.page(VIEW), start=1) if one.is_open]
    made = list[str]()
    for nth, task in tasks:
        if task.id not in having and (among is None or task.id in among):
            command = _command(home, task, wish, template)
            made += home.services.append_agent(command, key=nth_key(key, nth)).result.ids[:1]
            told(len(made))
    home.views.catch_up()
    return AllAssigned(made, len(tasks))


def _template(home: "Home", wish: AgentOptions, key: str) -> str:
    """The id of the template that is asked for by name; empty where none is."""
    named = f"{key}:template" if key else ""
    return pick_template(home, wish.template, named) if wish.template else ""


def _mode(home: "Home", wish: AgentOptions) -> "Mode":
    return deciders.valid_mode(wish.mode or home.settings.agents.mode)


def _command(
    home: "Home", task: "TaskDocument", wish: AgentOptions, template: str
) -> do.CreateAgent:
    fitting = (one.id for one in templates_of(home) if task.category in one.categories)
    of = task.id, task.title, task.category
    return creation(home, wish, *of, template=template or next(fitting, ""))


def creation(
    home: "Home", wish: AgentOptions, task_id: str, title: str, category: str, **more: Any
) -> do.CreateAgent:
    """The command that makes an agent, as the home stands now; `more`: its other fields."""
    services, n = home.services, home.services.journal.tail().n
    wanted = _mode(home, wish), wish.name, wish.model, wish.turns, services.is_enabled
    more |= {"seen": services.journal.horizon(n), "first": services.first}
    return do.CreateAgent(task_id, title, category, n, *wanted, **more)


# ------------------------------------------------------------------------------------------ steer


class AgentUpdate(NamedTuple):
    """Whether anything was changed, or it was done before under the same key."""

    has_changed: bool
    is_known: bool


class NewSubscription(NamedTuple):
    """What an agent shall hear of, as `WatchTokens` says it."""

    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class TimerResult(NamedTuple):
    """A timer as it is kept, when it fires first (empty: it was set before), and what came."""

    schedule: str
    zone: str
    next_at: str
    came: AgentUpdate


def is_known(home: "Home", key: str) -> bool:
    """Whether a caller's key was used for a deed on agents before."""
    return bool(home.services.agents.receipts(nth_key(key, 1)))


def pause_agent(home: "Home", agent_id: str, key: str = "") -> AgentUpdate:
    """Let an agent sleep. Raises Refused."""
    return _append(home, do.PauseAgent(agent_id), key)


def resume_agent(home: "Home", agent_id: str, key: str = "") -> AgentUpdate:
    """Let a sleeping agent wake again; a wake is queued. Raises Refused."""
    return _append(home, do.ResumeAgent(agent_id, home.services.is_enabled), key)


def resume_agents_of(home: "Home", tasks: Collection[str]) -> None:
    """Let agents wake again that were put to sleep because their tasks were deleted, now that
    these are back; a wake is queued, for what they proposed expired."""
    home.views.catch_up()
    for agent in [one for task in tasks for one in home.views.page(agents.VIEW, shelf=task)]:
        if agent.lifecycle == "dormant" and agent.agent.pause_reason == "task_deleted":
            resume_agent(home, agent.id)


def sleep_agent(home: "Home", agent_id: str, given: str, key: str = "") -> AgentUpdate:
    """Let nothing but a person wake an agent before a time; what comes meanwhile stays queued.
    `given`: a date, from whose beginning it wakes again, or a time, as a person writes it in the
    home's zone; empty: it sleeps no longer. Raises Refused, code ``invalid_value``, or the agent is
    no more."""
    until = beginning(given, home) if given else ""
    return _append(home, do.SleepAgent(agent_id, until, is_ordered=True), key)


def destroy_agent(home: "Home", agent_id: str, key: str = "") -> AgentUpdate:
    """End an agent for good. Raises Refused."""
    return _append(home, do.DestroyAgent(agent_id), key)


def delete_agent(home: "Home", agent_id: str, key: str = "") -> AgentUpdate:
    """Take a destroyed agent off the list. Raises Refused."""
    return _append(home, do.DeleteAgent(agent_id), key)


def configure_agent(
    home: "Home", agent_id: str, wanted: AgentSettings, key: str = ""
) -> AgentUpdate:
    """Change an agent's settings; what `wanted` leaves out stays. Raises Refused."""
    if wanted.model:
        check_installed(wanted.model)
    return _append(home, do.ConfigureAgent(agent_id, wanted), key)


def watch_tokens(home: "Home", agent_id: str, heard: NewSubscription, key: str = "") -> AgentUpdate:
    """Let an agent hear of more than its own task. Raises Refused."""
    return _append(home, do.WatchTokens(agent_id, *heard), key)


def unwatch_tokens(home: "Home", agent_id: str, subscription: str, key: str = "") -> AgentUpdate:
    """Take a subscription back. Raises Refused."""
    return _append(home, do.UnwatchTokens(agent_id, subscription), key)


def set_timer(
    home: "Home",
    agent_id: str,
    given: str,
    zone: str,
    key: str = "",
    *,
    is_always: bool | None = None,
) -> TimerResult:
    """Set a timer of an agent, by a schedule as a person writes it and an IANA zone, if not the
    home's. `is_always`: it asks where nothing moved, too; None: as it is, of a new one as the
    home's do. Raises Refused, code ``invalid_value``, or the agent is no more."""
    mine = zone or home.settings.timezone
    schedule, named = _schedule(given, mine)
    said = do.SetTimer(agent_id, schedule, named, "")
    if home.services.agents.answered(nth_key(key, 1), said):  # it may never come again
        return TimerResult(schedule, named, "", AgentUpdate(has_changed=False, is_known=True))
    if is_always is None:
        timer, known = deciders.timer_id(agent_id, schedule, named), home.services.agent(agent_id)
        before = [not one.heeds_moves for one in known.timers if one.id == timer]
        is_always = before[0] if before else home.settings.agents.timers == "always"
    now = home.services.clock.now()
    command = timer_command(agent_id, given, mine, now, heeds_moves=not is_always)
    came = _append(home, command, key)
    return TimerResult(command.schedule, command.zone, command.next_at, came)


def remove_timer(home: "Home", agent_id: str, wanted: str, key: str = "") -> AgentUpdate:
    """Remove a timer, named by its id or by its schedule, with or without its zone. Raises Refused:
    there is none, or the agent is no more."""
    found = [one.id for one in home.services.agent(agent_id).timers if _is_named(one, wanted)]
    timer_id = found[0] if len(found) == 1 else wanted
    if not found and is_known(home, key):  # it is gone, if this is a retry
        with suppress(Refused):
            timer_id = deciders.timer_id(agent_id, *_schedule(wanted, home.settings.timezone))
    return _append(home, do.RemoveTimer(agent_id, timer_id), key)


def _is_named(known: "AgentTimer", wanted: str) -> bool:
    try:
        return _schedule(wanted, known.zone) == (known.schedule, known.zone)
    except Refused:
        return False


def _schedule(given: str, zone: str) -> tuple[str, str]:
    """What a person writes, as a timer has it: the schedule in its normal form, and its zone."""
    schedule, named = parse_in(given, zone)
    return schedule.text, named


def _append(home: "Home", command: "AgentCommand", key: str) -> AgentUpdate:
    """Append a command about an agent. What was changed in the journal before it is looked at
    first: by how the agent was until now."""
    if not is_known(home, key):  # a retry writes nothing
        watcher.catch_up(home.services)
    rows = home.services.append_agent(command, key=nth_key(key, 1)).rows
    return AgentUpdate(len(rows) > 1, bool(key) and not rows)  # one alone is a receipt
