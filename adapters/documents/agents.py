"""The JSON documents about agents, as SPEC 10 fixes them.

What is not there (yet) is null. Times are RFC 3339 in UTC. The keys stand in the order of the
fields.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.wakes import WakeLine, wake_document
from adapters.wiring import Home
from domain.agent import identity
from domain.agent.events import Mode
from domain.agent.wake_queue import RunStatus
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name
from domain.world import MAIN
from projections import agents, templates, wakes
from projections.agents import AgentDocument

WAKES_SHOWN = 5  # of `agent show`, the newest


class AgentLine(Struct, frozen=True):
    """An agent in a list.

    `lifecycle` is ``active``, ``dormant`` or ``destroyed``. `sleep_until` is a time to come until
    which nothing wakes it, `failures` counts failed wakes in a row, `stale`: something changed
    that its report does not speak of. Before `asleep_until` only a person wakes it.
    """

    id: str
    name: str
    task_id: str
    kind: str
    mode: Mode
    lifecycle: str
    run_status: RunStatus
    template_id: str | None
    next_wake_at: str | None
    last_wake_at: str | None
    sleep_until: str | None
    failures: int
    wakes: int
    stale: bool
    pause_reason: str | None
    asleep_until: str | None


class SlotText(Struct, frozen=True):
    """A text that an agent keeps in sight, and how often it was set."""

    version: int
    value: str | None


class OpenLoops(Struct, frozen=True):
    """What an agent keeps in sight until it is settled; `own`: those that it opened itself."""

    version: int
    values: list[str]
    own: list[str]


class AgentSlots(Struct, frozen=True):
    """What an agent is told of itself at each wake; `active_task` is the id of its task,
    `preferences` have their names as keys, `extension` is always null."""

    primary_goal: SlotText
    active_task: str
    open_loops: OpenLoops
    preferences: dict[str, SlotText]
    extension: None


class AgentConfig(Struct, frozen=True):
    """An agent's settings. `model` is its own, `model_of` whose the one in force is: ``template``,
    ``agent`` or ``home``; `turns` of a wake at most; `automatic`: changes and timers wake it."""

    model: str | None
    model_in_force: str
    model_of: str
    turns: int
    automatic: bool


class SubscriptionDetails(Struct, frozen=True):
    """What an agent hears of: changes with one of `tokens`, of tasks of that `category` (its name)
    and `status` only. `defers_links`: matches through a link wait for the morning."""

    id: str
    tokens: list[str]
    category: str | None
    status: str | None
    hears_agents: bool
    defers_links: bool
    built_in: bool


class TimerDetails(Struct, frozen=True):
    """When an agent wakes by itself. `schedule` is as it was typed, `zone` an IANA name."""

    id: str
    schedule: str
    zone: str
    next_at: str


class AgentDetails(AgentLine, frozen=True):
    """All about an agent: what `agent show` prints. `allowed_categories` are names, `last_wakes`
    the newest five, the newest first."""

    created_at: str
    generation: int
    allowed_categories: list[str]
    slots: AgentSlots
    config: AgentConfig
    subscriptions: list[SubscriptionDetails]
    timers: list[TimerDetails]
    last_wakes: list[WakeLine]


class AgentsMade(Struct, frozen=True):
    """What `agent create --all` prints; `existing` counts open tasks that had an agent already."""

    created: int
    existing: int
    agents: list[AgentLine]


def agent_lines(
    home: Home, found: Iterable[AgentDocument] | None = None, *, now: str = ""
) -> list[AgentLine]:
    """The documents of `agent list`, as of a time or now; of all agents if none are given."""
    now = now or home.services.clock.now()
    return [agent_line(one, now) for one in (all_agents(home) if found is None else found)]


def agent_line(agent: AgentDocument, now: str) -> AgentLine:
    """One of the documents of `agent list`."""
    return AgentLine(
        id=agent.id,
        name=agent.name,
        task_id=agent.task_id,
        kind=agent.agent_kind,
        mode=agent.mode,
        lifecycle=agent.lifecycle,
        run_status=agent.run_status,
        template_id=agent.template_id or None,
        next_wake_at=agent.next_wake_at or None,
        last_wake_at=agent.last_wake_at or None,
        sleep_until=agent.sleep_until if agent.sleep_until > now else None,
        failures=agent.failures,
        wakes=agent.wakes,
        stale=agent.is_stale,
        pause_reason=agent.agent.pause_reason or None,
        asleep_until=agent.asleep_until if agent.asleep_until > now else None,
    )


def agent_page(home: Home, document: AgentDocument, now: str) -> AgentDetails:
    """The document of `agent show`."""
    agent = document.agent
    with home.services.journal.reading() as world:
        catalog = world.load(CATALOG, MAIN)
    newest = home.views.page(wakes.VIEW, shelf=document.id, newest_first=True, limit=WAKES_SHOWN)
    return AgentDetails(
        **asdict(agent_line(document, now)),
        created_at=agent.created_at,
        generation=agent.generation,
        allowed_categories=[category_name(catalog, one) for one in agent.categories],
        slots=AgentSlots(
            primary_goal=SlotText(agent.goal.version, agent.goal.value or None),
            active_task=agent.task,
            open_loops=OpenLoops(agent.loops_version, list(agent.loops), list(agent.own_loops)),
            preferences={
                name: SlotText(slot.version, slot.value)
                for name, slot in sorted(agent.preferences.items())
                if slot.value
            },
            extension=None,
        ),
        config=AgentConfig(
            model=agent.model or None,
            model_in_force=home.services.model_name(agent),
            model_of=_who_names_the_model(home, document),
            turns=agent.turn_max,
            automatic=agent.is_automatic,
        ),
        subscriptions=[
            SubscriptionDetails(
                id=one.id,
                tokens=list(one.tokens),
                category=category_name(catalog, one.category) or None,
                status=one.status or None,
                hears_agents=one.hears_agents,
                defers_links=one.defers_propagated,
                built_in=one.id == identity.task_subscription(agent.id),
            )
            for one in agent.subscriptions
        ],
        timers=[TimerDetails(one.id, one.schedule, one.zone, one.next_at) for one in agent.timers],
        last_wakes=[wake_document(home, each) for wake in newest for each in wake.every],
    )


def _who_names_the_model(home: Home, document: AgentDocument) -> str:
    """Whose the model in force is: ``template``, ``agent`` or ``home``."""
    found = home.views.get(templates.VIEW, document.template_id)
    if found is not None and found.template.model_in_force:
        return "template"
    return "agent" if document.agent.model else "home"


def all_agents(home: Home, lifecycle: str = "", limit: int = -1) -> list[AgentDocument]:
    """All agents that were made and not deleted, the oldest first; of one lifecycle, if given;
    so many at most, if it is not negative."""
    return home.views.marked(agents.VIEW, _marks(lifecycle), limit=limit)


def newest_living(home: Home, limit: int) -> list[AgentDocument]:
    """The living ones among the newest agents, the oldest of them first; so many are read."""
    found = home.views.page(agents.VIEW, limit=limit, newest_first=True)
    return [one for one in reversed(found) if one.is_living]


def count_agents(home: Home, lifecycle: str = "") -> int:
    """How many `all_agents` gives; none of them is read."""
    return sum(home.views.count(agents.VIEW, mark) for mark in _marks(lifecycle))


def _marks(lifecycle: str) -> tuple[str, ...]:
    if not lifecycle:
        return agents.ALL
    return agents.marks(lifecycle) if lifecycle in agents.LIFECYCLES else ()


def has_agents(home: Home) -> bool:
    """Whether there is an agent that was not deleted."""
    return count_agents(home) > 0


def agent_names(home: Home, agent_ids: Iterable[str]) -> dict[str, str]:
    """What some agents are called, by their ids."""
    found = (home.views.get(agents.VIEW, agent_id) for agent_id in agent_ids)
    return {one.id: one.name for one in found if one is not None and one.exists}


def agent_of(home: Home, agent_id: str) -> AgentDocument:
    """An agent that `pick_agent` found."""
    found = home.views.get(agents.VIEW, agent_id)
    assert found is not None, agent_id
    return found
