"""The JSON documents about agents, as SPEC 10 fixes them.

What is not there (yet) is null. Times are RFC 3339 in UTC. The keys stand in the order of the
fields.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.wakes import WakeLine, wake_lines
from adapters.wiring import Home
from domain.agent import deciders
from domain.agent.agent import AGENT, Agent, AgentObservation, Mode, category_in, template_in
from domain.agent.memory import MEMORY, place
from domain.agent.wake_queue import RunStatus
from domain.errors import Refused
from domain.journal.catalog import CATALOG
from domain.journal.document import category_name
from domain.log.state import MAIN, LogState
from domain.templates.template import TEMPLATE
from domain.wake.memory import uncovered
from projections import agents, observations, templates, wakes
from projections.agents import AgentDocument
from projections.observations import DIGESTS, TOP, DigestDocument, ObservationDocument
from projections.view import fold, placed

if TYPE_CHECKING:
    from adapters.timetravel.logs_at import NamedMoment

WAKES_SHOWN = 5  # of `agent show`, the newest


class AgentLine(Struct, frozen=True):
    """An agent in a list.

    `lifecycle` is ``active``, ``dormant`` or ``destroyed``. `sleep_until` is a time to come until
    which nothing wakes it, `failures` counts failed wakes in a row, `stale`: something changed
    that its report does not speak of. Before `asleep_until` only a person wakes it. `subject`: what
    one without a task is about: ``home``, as it plans days, or ``category:<id>``,
    ``template:<id>``.
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
    subject: str | None


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
    """When an agent wakes by itself. `schedule` is as it was typed, `zone` an IANA name; `always`:
    it asks where nothing moved since the last wake, too."""

    id: str
    schedule: str
    zone: str
    next_at: str
    always: bool


class AgentDetails(AgentLine, frozen=True):
    """All about an agent: what `agent show` prints. `allowed_categories` are names, `last_wakes`
    the newest five, the newest first. `subject_title`: what the category is called that it looks
    over, or the template that it improves."""

    created_at: str
    generation: int
    allowed_categories: list[str]
    slots: AgentSlots
    config: AgentConfig
    subscriptions: list[SubscriptionDetails]
    timers: list[TimerDetails]
    last_wakes: list[WakeLine]
    subject_title: str | None


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
        subject=agent.agent.subject or None,
    )


def _template_name(home: Home, agent: Agent) -> str | None:
    """What the template is called that an agent improves; None of another one."""
    if (of := template_in(agent.subject or "")) is None:
        return None
    with home.services.agents.reading() as world:
        return world.load(TEMPLATE, of).name


def agent_page(home: Home, document: AgentDocument, now: str) -> AgentDetails:
    """The document of `agent show`."""
    agent = document.agent
    with home.services.journal.reading() as world:
        catalog = world.load(CATALOG, MAIN)
    category = category_in(agent.subject or "")
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
                built_in=one.id == deciders.task_subscription(agent.id),
            )
            for one in agent.subscriptions
        ],
        timers=[
            TimerDetails(one.id, one.schedule, one.zone, one.next_at, not one.heeds_moves)
            for one in agent.timers
        ],
        last_wakes=wake_lines(home, (each for wake in newest for each in wake.every)),
        subject_title=category_name(catalog, category) if category else _template_name(home, agent),
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


# ------------------------------------------------------------------------------------------- memory


class DigestDetails(Struct, frozen=True):
    """A digest: the beginnings of `notes` observations. `parent`: the digest that took it in, null
    at the top; `sources`: the digests that it took in, or the positions of its observations."""

    id: str
    parent: str | None
    depth: int
    since: str
    until: str
    notes: int
    sources: list[str]
    text: str


class NoteDetails(Struct, frozen=True):
    """An observation, by its position in the agents' log."""

    position: str
    at: str
    run_key: str
    priority: str
    category: str
    text: str


class MemoryDetails(Struct, frozen=True):
    """What `memory` prints: all digests, the oldest first; the observations that none covers, and
    the critical ones that nothing settled. `noted` counts all observations. `where`: the moment
    that was asked for; null: now."""

    agent_id: str
    agent: str
    where: str | None
    noted: int
    digests: list[DigestDetails]
    uncovered: list[NoteDetails]
    critical: list[NoteDetails]


class MemoryShort(Struct, frozen=True):
    """Of an agent's memory what is bounded whatever its age: the digests at the top, how many
    observations none covers, and the critical ones that nothing settled, the newest first."""

    noted: int
    uncovered: int
    digests: list[DigestDetails]
    critical: list[NoteDetails]


class DigestSources(Struct, frozen=True):
    """What `memory --sources` prints: a digest, and the digests or observations it was made of."""

    digest: DigestDetails
    digests: list[DigestDetails]
    observations: list[NoteDetails]


def memory_document(
    home: "Home", agent_id: str, place: "NamedMoment | None" = None
) -> MemoryDetails:
    """The document of `memory`, at a moment or now."""
    if place is not None:
        _, world = place.past.worlds(place.spot.where, place.replica)
        documents = fold(DIGESTS, world.history("memory", agent_id)).values()
        ordered = sorted(documents, key=DIGESTS.place)
        return _document(world, agent_id, ordered, place.given)
    with home.services.agents.reading() as world:
        return _document(world, agent_id, home.views.page(DIGESTS, shelf=agent_id), None)


def memory_short(home: "Home", agent_id: str) -> MemoryShort:
    """What an agent's page tells of its memory."""
    with home.services.agents.reading() as world:
        agent = world.load(AGENT, agent_id)
        return MemoryShort(
            noted=agent.noted,
            uncovered=agent.noted - world.load(MEMORY, agent_id).count,
            digests=[
                _digest(world, one) for one in home.views.page(DIGESTS, shelf=agent_id, mark=TOP)
            ],
            critical=_notes(world, reversed(agent.critical)),
        )


def sources_document(home: "Home", agent_id: str, wanted: str) -> DigestSources:
    """The document of `memory --sources`; Refused where not one digest is meant."""
    found = home.views.page(DIGESTS, prefix=wanted.lower() or "-", shelf=agent_id)
    if len(found) != 1:
        raise Refused(
            "ambiguous" if found else "unknown_digest",
            because=f"{wanted!r} begins the ids of {len(found)} digests of this agent",
            instead="take an id that `wakelog memory` prints",
        )
    (document,) = found
    sources, is_lowest = document.digest.sources, document.digest.depth == 1
    digests = [home.views.get(DIGESTS, one) for one in (() if is_lowest else sources)]
    notes = [
        (
            one,
            home.views.get(
                observations.VIEW, observations.observation_key(agent_id, placed(*place(one)))
            ),
        )
        for one in (sources if is_lowest else ())
    ]
    with home.services.agents.reading() as world:
        return DigestSources(
            digest=_digest(world, document),
            digests=[_digest(world, one) for one in digests if one is not None],
            observations=[_note(world, at, one) for at, one in notes if one is not None],
        )


def _document(
    world: LogState, agent_id: str, digests: Iterable[DigestDocument], where: str | None
) -> MemoryDetails:
    agent = world.load(AGENT, agent_id)
    return MemoryDetails(
        agent_id=agent_id,
        agent=agent.name,
        where=where,
        noted=agent.noted,
        digests=[_digest(world, one) for one in digests],
        uncovered=_notes(world, uncovered(world, agent)),
        critical=_notes(world, agent.critical),
    )


def _digest(world: LogState, document: DigestDocument) -> DigestDetails:
    one = document.digest
    return DigestDetails(
        id=one.id,
        parent=document.parent or None,
        depth=one.depth,
        since=one.since,
        until=one.until,
        notes=one.count,
        sources=list(one.sources),
        text=world.text(one.words),
    )


def _notes(world: LogState, notes: Iterable[AgentObservation]) -> list[NoteDetails]:
    return [_note(world, one.position, one) for one in notes]


def _note(world: LogState, at: str, one: AgentObservation | ObservationDocument) -> NoteDetails:
    return NoteDetails(at, one.at, one.run_key, one.priority, one.category, world.text(one.words))
