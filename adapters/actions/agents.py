"""Agents are made: for one task, or for every open one that has none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.naming import nth_key
from adapters.actions.templates import pick_template
from adapters.documents.agents import all_agents
from adapters.documents.templates import templates_of
from adapters.runtime import retries
from domain.agent import limits
from domain.agent.commands import CreateAgent
from domain.errors import Refused
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.agent.events import Mode
    from projections.tasks import TaskDocument


class Wish(NamedTuple):
    """What a new agent shall be like; what is left out is the home's, or the task's.

    `template` is named as a person names it; else the agent takes its category's.
    """

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


def check_wish(wish: Wish) -> None:
    """Look whether an agent can be like this.

    Raises:
        Refused: Code ``invalid_value``.
    """
    if wish.mode:
        limits.mode(wish.mode)
    if wish.turns:
        limits.turn_max(wish.turns)
    limits.model(wish.model)


def assign_agent(home: "Home", task_id: str, wish: Wish, key: str = "") -> Assigned:
    """Make an agent for a task.

    Raises:
        Refused: Code ``task_deleted``, ``agent_exists``, or what a wish is refused with.
    """
    check_wish(wish)
    template = _template(home, wish, key)
    task, first = home.views.get(VIEW, task_id), nth_key(key, 1)
    agent_id = _made_before(home, task_id, wish, first)
    if agent_id:
        return Assigned(agent_id, is_new=False)
    if task is None or task.is_deleted:
        because = f"the task {task.title if task else task_id!r} is deleted"
        raise Refused("task_deleted", because=because, instead="restore it first")
    made = home.desk.note(_command(home, task, wish, template), key=first).result.ids[0]
    home.views.catch_up()
    return Assigned(made, is_new=True)


def has_tasks_alone(home: "Home") -> bool:
    """Whether any open task has no agent."""
    return bool(_alone(home)[0])


def assign_all(home: "Home", wish: Wish, key: str = "") -> AllAssigned:
    """Make an agent for every open task that has none.

    Each task has its own key by its place among all tasks, which never moves.

    Raises:
        Refused: What a wish is refused with.
    """
    check_wish(wish)
    template = _template(home, wish, key)
    alone, count = _alone(home)
    made = [
        home.desk.note(_command(home, task, wish, template), key=nth_key(key, nth)).result.ids[0]
        for nth, task in alone
    ]
    home.views.catch_up()
    return AllAssigned(made, count)


def _alone(home: "Home") -> "tuple[list[tuple[int, TaskDocument]], int]":
    """The open tasks without an agent, by their places, and the number of all open ones."""
    having = {agent.task_id for agent in all_agents(home) if agent.is_living}
    tasks = [(nth, one) for nth, one in enumerate(home.views.page(VIEW), start=1) if one.is_open]
    return [(nth, one) for nth, one in tasks if one.id not in having], len(tasks)


def _template(home: "Home", wish: Wish, key: str) -> str:
    """The id of the template that is asked for by name; empty where none is."""
    named = f"{key}:template" if key else ""
    return pick_template(home, wish.template, named) if wish.template else ""


def _mode(home: "Home", wish: Wish) -> "Mode":
    return limits.mode(wish.mode or home.settings.agents.mode)


def _command(home: "Home", task: "TaskDocument", wish: Wish, template: str) -> CreateAgent:
    """The command that makes an agent, as the home stands now."""
    fitting = (one.id for one in templates_of(home) if task.category in one.categories)
    return CreateAgent(
        task.id,
        task.title,
        task.category,
        home.desk.journal.tail().n,
        _mode(home, wish),
        wish.name,
        wish.model,
        wish.turns,
        home.desk.is_enabled,
        template or next(fitting, ""),
    )


def _made_before(home: "Home", task_id: str, wish: Wish, key: str) -> str:
    """The agent that a key made already; empty if it made none."""
    known = retries.before(
        home.desk.agents,
        key,
        CreateAgent,
        task=task_id,
        mode=_mode(home, wish),
        name=wish.name,
        model=wish.model,
        turn_max=wish.turns,
    )
    return known.ids[0] if known else ""
