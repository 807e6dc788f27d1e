"""Agents without a task of their own (ADR 103, 104): each is made where there is none of its kind
and subject; that of days has more in `day_agent`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.runtime import gate
from adapters.runtime.timers import timer_command
from adapters.usecases.agents import AgentOptions, check_options, creation
from domain.agent.agent import OF_CATEGORY
from domain.agent.deciders import CATEGORY_AGENT
from domain.errors import Refused
from domain.handlers.agents import current
from domain.journal.catalog import CATALOG, Category
from domain.log.state import MAIN
from domain.scaffold import SCAFFOLD
from domain.wake.manifests import manifest_of

if TYPE_CHECKING:
    from adapters.wiring import Home

AS_SET = AgentOptions()


class KindAgent(NamedTuple):
    """Its id, whether it was made just now, the categories that it reads and those that it does
    not, by name, and when it wakes by itself; empty: never."""

    agent: str
    is_new: bool
    categories: Sequence[str]
    others: Sequence[str]
    schedule: str


def living(home: "Home", kind: str, subject: str) -> str:
    """The id of the agent of a kind and subject; empty where there is none."""
    with home.services.agents.reading() as world:
        agent, _ = current(world, kind, subject)
    return agent.id if agent.lifecycle else ""


def of_category(
    home: "Home", category: Category, wish: AgentOptions = AS_SET, *, has_timer: bool = True
) -> KindAgent:
    """The agent that looks over a category, made where there is none, see `ready`."""
    subject, name = OF_CATEGORY + category.id, f"{category.name} week"
    ids = (category.id,)
    return ready(home, CATEGORY_AGENT, subject, name, ids, wish, has_timer=has_timer)


def ready(
    home: "Home",
    kind: str,
    subject: str,
    name: str,
    categories: Sequence[str] = (),
    wish: AgentOptions = AS_SET,
    *,
    has_timer: bool = True,
) -> KindAgent:
    """The agent of a kind and subject, made where there is none.

    Args:
        kind: Of agents that have no task.
        subject: What it is about.
        name: What a new one is called, unless the wish says otherwise.
        categories: The ids of those that a new one may read; none: all of them.
        wish: What a new one shall be like; it has no template.
        has_timer: Whether a new one wakes by the schedule of its kind.

    Raises:
        Refused: Code ``out_of_scope``: there is no category yet, or what a wish is refused with;
            the model cannot be had.
    """
    with home.services.journal.reading() as world:
        known = world.load(CATALOG, MAIN).categories
    if agent_id := living(home, kind, subject):
        return _told(home, agent_id, known, is_new=False)
    check_options(wish)
    gate.checked_model(home.services, wish.model or home.settings.model)
    allowed = tuple(sorted(categories or known))
    if not allowed:
        because = "there is no task yet, and no category that could be looked at"
        raise Refused("out_of_scope", because=because, instead="add a task first")
    of_kind = {"agent_kind": kind, "subject": subject, "categories": allowed}
    command = creation(home, wish, "", name, "", **of_kind)
    try:
        made = home.services.append_agent(command).result.ids[0]
    except Refused as refused:
        if refused.code != "agent_exists":  # another process was faster
            raise
        return _told(home, living(home, kind, subject), known, is_new=False)
    schedule = manifest_of(SCAFFOLD, kind).timer if has_timer else ""
    if schedule:
        now, zone = home.services.clock.now(), home.settings.timezone
        home.services.append_agent(timer_command(made, schedule, zone, now))
    home.views.catch_up()
    return _told(home, made, known, is_new=True)


def _told(home: "Home", agent_id: str, known: Mapping[str, Category], *, is_new: bool) -> KindAgent:
    agent = home.services.agent(agent_id)
    reads = sorted(one.name for one in known.values() if one.id in agent.categories)
    others = sorted(one.name for one in known.values() if one.id not in agent.categories)
    schedule = next((one.schedule for one in agent.timers), "")
    return KindAgent(agent_id, is_new, reads, others, schedule)
