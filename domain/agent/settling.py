"""What settles a conflict in a setting or slot of an agent: the chosen value's fact once more, so
that a row which knows all sides stands above them (ADR 73)."""

from collections.abc import Callable
from typing import Any

from domain.agent import events as e
from domain.agent.agent import Agent, Slot
from domain.agent.events import AgentFact

Made = Callable[[Agent, str, Any], AgentFact]


def _slot(agent: Agent, name: str, value: Any) -> AgentFact:
    return e.PreferenceSet(agent.preferences.get(name, Slot()).version + 1, name, value)


def _loop(agent: Agent, loop: str, value: Any) -> AgentFact:
    version = agent.loops_version + 1
    by = f"agent:{agent.id}" if loop in agent.own_loops else ""
    return e.LoopOpened(version, loop, by) if value else e.LoopClosed(version, loop)


_LIVES: dict[str, AgentFact] = {
    "active": e.AgentActivated(),
    "dormant": e.AgentPaused(),
    "destroyed": e.AgentDestroyed(),
    "deleted": e.AgentDeleted(),
}
_FACTS: dict[str, Made] = {
    "name": lambda _agent, _, value: e.AgentNamed(value),
    "mode": lambda _agent, _, value: e.ModeSet(value),
    "categories": lambda _agent, _, value: e.CategoriesAllowed(value),
    "model": lambda _agent, _, value: e.ModelChosen(value),
    "turn_max": lambda _agent, _, value: e.TurnMaxSet(value),
    "automation": lambda _agent, _, value: e.AutomationSet(value),
    "goal": lambda agent, _, value: e.GoalSet(agent.goal.version + 1, value),
    "preference": _slot,
    "loop": _loop,
    "life": lambda _agent, _, value: _LIVES[value],
    "template": lambda _agent, _, value: e.TemplateAssigned(value),
    "subscription": lambda _agent, one, value: (
        e.Unsubscribed(one) if value is None else e.Subscribed(one, *value)
    ),
}


def settled(agent: Agent, field: str, value: Any) -> AgentFact:
    """The fact that gives a field of an agent a value.

    Args:
        agent: As it is, for the version that a slot gets.
        field: As a conflict names it.
        value: A side's.
    """
    name, _, one = field.partition(":")
    return _FACTS[name](agent, one, value)
