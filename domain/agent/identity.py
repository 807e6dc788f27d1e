"""What a person may do with an agent: life, settings, slots, subscriptions, timers (SPEC 2).

Each decider answers with facts of the stream ``agent:<id>``, with none where it is already so,
or with `Refused`. An agent that is unknown, destroyed or deleted answers `unknown_agent`.
"""

from collections.abc import Iterable

from domain import canonical
from domain.agent import limits
from domain.agent.agent import (
    TURN_MAX_DEFAULT,
    Agent,
    AgentTimer,
    Slot,
    Subscription,
)
from domain.agent.events import (
    AgentActivated,
    AgentCreated,
    AgentDeleted,
    AgentDestroyed,
    AgentFact,
    AgentNamed,
    AgentPaused,
    AutomationSet,
    CategoriesAllowed,
    GoalSet,
    LoopClosed,
    LoopOpened,
    ModelChosen,
    ModeSet,
    PreferenceSet,
    Subscribed,
    TimerRemoved,
    TimerSet,
    TimerTicked,
    TurnMaxSet,
    Unsubscribed,
)
from domain.agent.matching import is_token
from domain.agent.wake_queue_events import Trigger
from domain.errors import Refused, Remedy, invalid
from domain.journal.task import STATUSES
from domain.keys import key
from domain.text import squeeze
from domain.wire import Imported, Part

AGENT_KIND = "task_agent"


class Wanted(Part, frozen=True):
    """What `agent set` may change; None leaves a thing as it is.

    `model` empty: the home's setting. `goal` empty: none any more. `preferences`: names with
    values; an empty value forgets the name.
    """

    name: str | None = None
    mode: str | None = None
    categories: tuple[str, ...] | None = None
    model: str | None = None
    turn_max: int | None = None
    is_automatic: bool | None = None
    goal: str | None = None
    open_loops: tuple[str, ...] = ()
    close_loops: tuple[str, ...] = ()
    preferences: tuple[tuple[str, str], ...] = ()


def agent_id(agent_kind: str, task: str, generation: int) -> str:
    """Two replicas make the same agent of a task (DESIGN 6)."""
    return key("agent", agent_kind, task, str(generation))


def task_subscription(agent: str) -> str:
    """Id of the built-in subscription, the one to the agent's own task."""
    return key("subscription", agent, "task")


def timer_id(agent: str, schedule: str, zone: str) -> str:
    """Id of a timer: a schedule in a zone."""
    return key("timer", agent, schedule, zone)


# ------------------------------------------------------------------------------------- lifecycle


def create(  # noqa: PLR0913  one argument for each thing that an agent begins with
    agent: Agent,
    *,
    task: str,
    generation: int,
    name: str,
    mode: str = "autonomous",
    categories: tuple[str, ...],
    model: str = "",
    turn_max: int = TURN_MAX_DEFAULT,
    position: int = 0,
    seen: tuple[Imported, ...] = (),
) -> list[AgentFact]:
    """An active agent that hears of its task; `agent` is the empty state of its id.

    Raises:
        Refused: Code ``agent_exists`` or ``invalid_value``.
    """
    if agent.lifecycle:
        raise Refused(
            "agent_exists",
            because=f"the task has an agent already ({agent.id}, {agent.lifecycle})",
            instead=Remedy("see_agents_one_a_task"),
        )
    allowed = limits.categories(categories)
    named, kept = limits.name(name), limits.mode(mode)
    made = AgentCreated(AGENT_KIND, task, generation, named, kept, allowed, position, seen)
    facts: list[AgentFact] = [made]
    if model:
        facts.append(ModelChosen(limits.model(model)))
    if turn_max != TURN_MAX_DEFAULT:
        facts.append(TurnMaxSet(limits.turn_max(turn_max)))
    return [*facts, AgentActivated(), Subscribed(task_subscription(agent.id), (f"id:{task}",))]


def pause(agent: Agent, reason: str = "") -> list[AgentFact]:
    """Let an agent sleep. `reason`: empty for the person, else ``failures``, ``task_deleted``."""
    living(agent)
    return [] if agent.lifecycle == "dormant" else [AgentPaused(reason)]


def resume(agent: Agent) -> list[AgentFact]:
    """Let a sleeping agent wake again; its count of failures starts anew."""
    living(agent)
    return [] if agent.lifecycle == "active" else [AgentActivated()]


def destroy(agent: Agent) -> list[AgentFact]:
    """End an agent for good. Its timers go; its subscriptions stay until it is deleted, so
    that `why` can tell what it would have heard."""
    if agent.lifecycle == "destroyed" and not agent.is_deleted:
        return []
    living(agent)
    return [*(TimerRemoved(timer.id) for timer in agent.timers), AgentDestroyed()]


def delete(agent: Agent) -> list[AgentFact]:
    """Hide a destroyed agent behind a tombstone."""
    if agent.is_deleted:
        return []
    if not agent.lifecycle:
        raise unknown_agent(agent)
    if agent.lifecycle != "destroyed":
        raise Refused(
            "not_destroyed",
            because=f"the agent {agent.name!r} is {agent.lifecycle}",
            instead=Remedy("destroy_agent"),
        )
    return [*(Unsubscribed(known.id) for known in agent.subscriptions), AgentDeleted()]


def living(agent: Agent) -> None:
    """Raise Refused, code ``unknown_agent``, where there is no living agent."""
    if not agent.lifecycle or agent.lifecycle == "destroyed":
        raise unknown_agent(agent)


def unknown_agent(agent: Agent) -> Refused:
    if agent.lifecycle and not agent.is_deleted:
        return Refused(
            "unknown_agent",
            because=f"the agent {agent.name!r} is destroyed",
            instead=Remedy("create_agent"),
        )
    because = f"there is no agent {agent.id!r}"
    return Refused("unknown_agent", because=because, instead=Remedy("see_agents"))


# ----------------------------------------------------------------------------- settings and slots


def configure(agent: Agent, wanted: Wanted) -> list[AgentFact]:
    """Change settings and slots; facts only for what is different.

    Raises:
        Refused: Code ``unknown_agent`` or ``invalid_value``; then nothing is changed.
    """
    living(agent)
    return [*_settings(agent, wanted), *_slots(agent, wanted)]


def _settings(agent: Agent, wanted: Wanted) -> list[AgentFact]:
    facts: list[AgentFact] = []
    if wanted.name is not None and limits.name(wanted.name) != agent.name:
        facts.append(AgentNamed(limits.name(wanted.name)))
    if wanted.mode is not None and limits.mode(wanted.mode) != agent.mode:
        facts.append(ModeSet(limits.mode(wanted.mode)))
    if wanted.categories is not None and limits.categories(wanted.categories) != agent.categories:
        facts.append(CategoriesAllowed(limits.categories(wanted.categories)))
    if wanted.model is not None and limits.model(wanted.model) != agent.model:
        facts.append(ModelChosen(wanted.model))
    if wanted.turn_max is not None and limits.turn_max(wanted.turn_max) != agent.turn_max:
        facts.append(TurnMaxSet(wanted.turn_max))
    if wanted.is_automatic is not None and wanted.is_automatic != agent.is_automatic:
        facts.append(AutomationSet(wanted.is_automatic))
    return facts


def _slots(agent: Agent, wanted: Wanted) -> list[AgentFact]:
    facts: list[AgentFact] = []
    if wanted.goal is not None and (goal := limits.goal(wanted.goal)) != agent.goal.value:
        facts.append(GoalSet(agent.goal.version + 1, goal))
    return [*facts, *_loops(agent, wanted), *_preferences(agent, wanted.preferences)]


def _loops(agent: Agent, wanted: Wanted) -> list[AgentFact]:
    opened = limits.once(
        "open loop", [limits.text("a loop", loop, limits.LOOP_MAX) for loop in wanted.open_loops]
    )
    closed = limits.once("closed loop", [squeeze(loop) for loop in wanted.close_loops])
    if both := [loop for loop in closed if loop in opened]:
        raise invalid(f"the loop {both[0]!r} is to be opened and closed", "choose one of the two")
    facts: list[AgentFact] = []
    version = agent.loops_version
    for loop in closed:
        if loop not in agent.loops:
            known = ", ".join(map(repr, agent.loops)) or "none"
            raise invalid(f"there is no open loop {loop!r}", f"close one of these: {known}")
        version += 1
        facts.append(LoopClosed(version, loop))
    fresh = [loop for loop in opened if loop not in agent.loops]
    limits.at_most(limits.LOOPS_MAX, len(agent.loops) - len(closed) + len(fresh), "open loops")
    return [*facts, *(LoopOpened(version + nth, loop) for nth, loop in enumerate(fresh, start=1))]


def _preferences(agent: Agent, wanted: tuple[tuple[str, str], ...]) -> list[AgentFact]:
    names = [
        limits.text("a preference's name", name, limits.PREFERENCE_NAME_MAX) for name, _ in wanted
    ]
    limits.once("preference", names)
    facts: list[AgentFact] = []
    count = sum(bool(slot.value) for slot in agent.preferences.values())
    for name, (_, value) in zip(names, wanted, strict=True):
        kept = limits.text("a preference", value, limits.PREFERENCE_MAX) if squeeze(value) else ""
        slot = agent.preferences.get(name, Slot())
        if kept == slot.value:
            continue
        count += bool(kept) - bool(slot.value)
        facts.append(PreferenceSet(slot.version + 1, name, kept))
    limits.at_most(limits.PREFERENCES_MAX, count, "preferences")
    return facts


# -------------------------------------------------------------------------- subscriptions, timers


def watch(
    agent: Agent,
    tokens: Iterable[str],
    *,
    category: str = "",
    status: str = "",
    hears_agents: bool = False,
    defers_propagated: bool = False,
) -> list[AgentFact]:
    """One more subscription, named by its tokens and predicate; flags replace earlier ones.

    Args:
        agent: Who shall hear.
        tokens: At least one must be in a batch; see `domain.agent.matching`.
        category: Id of the category that a touched task must have; empty: any.
        status: Status that a touched task must have; empty: any.
        hears_agents: Other agents' writes count too, up to 3 hops.
        defers_propagated: Matches only through a link wait until the morning.

    Raises:
        Refused: Code ``unknown_agent`` or ``invalid_value``.
    """
    living(agent)
    wanted = tuple(sorted(set(tokens)))
    if not wanted:
        raise invalid("a subscription needs a token", f"name one, {limits.TOKEN_FORMS}")
    for token in wanted:
        if not is_token(token):
            raise invalid(f"{token!r} is no token", f"write {limits.TOKEN_FORMS}")
    limits.at_most(limits.TOKENS_MAX, len(wanted), "tokens in one subscription")
    if status and status not in STATUSES:
        raise invalid(f"{status!r} is no status", f"use one of {', '.join(STATUSES)}")
    named = key("subscription", agent.id, canonical.text(wanted), category, status)
    made = Subscription(named, wanted, category, status, hears_agents, defers_propagated)
    if made in agent.subscriptions:
        return []
    others = sum(known.id != named for known in agent.subscriptions)
    limits.at_most(limits.SUBSCRIPTIONS_MAX, others + 1, "subscriptions")
    return [Subscribed(named, wanted, category, status, hears_agents, defers_propagated)]


def unwatch(agent: Agent, subscription: str) -> list[AgentFact]:
    """Take a subscription back, named by its id or an unambiguous beginning of it."""
    living(agent)
    found = limits.named(subscription, [known.id for known in agent.subscriptions], "subscription")
    if found == task_subscription(agent.id):
        raise invalid(
            "the subscription to the agent's own task is built in",
            "pause the agent, or set its automatic updates off",
        )
    return [Unsubscribed(found)]


def set_timer(agent: Agent, timer: str, schedule: str, zone: str, next_at: str) -> list[AgentFact]:
    """A timer, or another schedule for it; the same one again leaves its next tick alone."""
    living(agent)
    schedule = limits.text("a schedule", schedule, limits.SCHEDULE_MAX)
    limits.zone(zone)
    limits.stored_time(next_at)
    known = _timer(agent, timer)
    if known is not None and (known.schedule, known.zone) == (schedule, zone):
        return []
    limits.at_most(limits.TIMERS_MAX, len(agent.timers) + (known is None), "timers")
    return [TimerSet(timer, schedule, zone, next_at)]


def remove_timer(agent: Agent, timer: str) -> list[AgentFact]:
    """Take a timer back, named by its id or an unambiguous beginning of it."""
    living(agent)
    return [TimerRemoved(limits.named(timer, [known.id for known in agent.timers], "timer"))]


def tick(
    agent: Agent, timer: str, ticks: Iterable[str], next_at: str
) -> tuple[list[AgentFact], Trigger | None]:
    """A timer has fired: one trigger for all the ticks since the last time.

    Ticks before the timer's next one were counted already; a repeat, or a timer that is gone,
    gives nothing. Of more than `TICKS_MAX` ticks the first (it makes the run key) and the
    newest are named.

    Args:
        agent: Whose timer it is. A dormant one ticks too: `notice` suppresses its trigger.
        timer: Id of the timer.
        ticks: The times it stands for, in any order.
        next_at: The next one after them; empty if there is none.

    Raises:
        Refused: Code ``invalid_value``: `next_at` is not after the ticks.
    """
    known = _timer(agent, timer)
    if known is None or agent.lifecycle == "destroyed":
        return [], None
    fresh = tuple(sorted({at for at in ticks if at >= known.next_at}))
    if not fresh:
        return [], None
    if next_at and next_at <= fresh[-1]:
        raise invalid(f"the next tick {next_at} is not after {fresh[-1]}", "resolve it again")
    if len(fresh) > limits.TICKS_MAX:
        fresh = (fresh[0], *fresh[1 - limits.TICKS_MAX :])
    return [TimerTicked(timer, fresh, next_at)], Trigger("timer", timer, ticks=fresh)


def _timer(agent: Agent, timer: str) -> AgentTimer | None:
    return next((known for known in agent.timers if known.id == timer), None)
