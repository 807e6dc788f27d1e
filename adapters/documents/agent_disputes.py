"""What machines of one home said of agents, proposals, templates, models and ratings without
knowing of each other, and nobody has settled: lines of `conflicts`, of `task show` and of the page
(ADR 73)."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from adapters.documents.conflicts import ConflictDetails, ConflictValue
from adapters.documents.ranks import Ranks, ranks_of
from domain.agent.agent import AGENT, Agent
from domain.agent.identity import AGENT_KIND, agent_id
from domain.changes.change_set import CHANGES, ChangeSet, find, ref
from domain.disputed import OF_AGENTS
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import category_name
from domain.journal.fold import TASK
from domain.lessons.lessons import LESSONS
from domain.merging import Conflict, Side
from domain.policy.policy import POLICY
from domain.templates import template as templates
from domain.templates.template import TEMPLATE
from domain.wake.state import anyones
from domain.world import MAIN, World, entity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adapters.wiring import Home

AGENTS = "agents"
"""Stands for a task where templates, models or ratings differ."""


class Found(NamedTuple):
    """A conflict of the agent log, and what it is called."""

    conflict: Conflict
    details: ConflictDetails


def agent_disputes(home: "Home", labels: "Mapping[str, str]") -> list[Found]:
    """All that is open in the agent log, agents and sets in the order of their ids first.

    Args:
        home: Open.
        labels: What machines are called, by replica.
    """
    agents = home.services.agents
    if not agents.is_shared:
        return []
    many = [
        (kind, entity)
        for kind in OF_AGENTS
        for entity, count in sorted(Counter(map(entity_of, agents.streams_of(kind))).items())
        if count > 1
    ]
    return _found(home, labels, many)


def agent_disputes_of(home: "Home", task_id: str, labels: "Mapping[str, str]") -> list[Found]:
    """What is open of the agents of one task and of what they proposed; with no task what is open
    of none."""
    agents = home.services.agents
    if not agents.is_shared:
        return []
    if not task_id:
        return [one for one in agent_disputes(home, labels) if not one.details.task]
    with agents.reading() as world:
        among = [
            (kind, entity)
            for agent in _agents_of(world, task_id)
            for kind, entity in ((AGENT.name, agent.id), *((CHANGES.name, s) for s in agent.sets))
        ]
    return _found(home, labels, among)


def named(found: "Iterable[Found]", field: str) -> list[Found]:
    """Those that a field means, as `conflicts` prints it or with the id in it."""
    return [
        one for one in found if field in (one.details.field, _field(one.conflict, is_whole=True))
    ]


def _agents_of(world: World, task_id: str) -> "Iterable[Agent]":
    generation = 1
    while True:  # bounded by the agents that the task had
        agent = world.load(AGENT, agent_id(AGENT_KIND, task_id, generation))
        if not agent.lifecycle:
            return
        yield agent
        generation += 1


def _found(
    home: "Home", labels: "Mapping[str, str]", among: "Iterable[tuple[str, str]]"
) -> list[Found]:
    with home.services.agents.reading() as world:
        every = [
            (one, _owner(world, one))
            for kind, entity in among
            for one in world.disputes(OF_AGENTS[kind], entity)
        ]
        every = [(one, agent) for one, agent in every if not _is_gone(one, agent)]
        if not every:
            return []
        with home.services.journal.reading() as journal:
            words = _Words(world, journal, labels, ranks_of(home))
            found = [Found(one, words.details(one, agent)) for one, agent in every]
    short = Counter((one.details.task, _field(one.conflict)) for one in found)
    return [
        one
        if short[one.details.task, one.details.field] == 1
        else Found(one.conflict, replace(one.details, field=_field(one.conflict, is_whole=True)))
        for one in found
    ]


def _owner(world: World, one: Conflict) -> Agent | None:
    """The agent that a conflict is about."""
    if one.of_kind == AGENT.name:
        return world.load(AGENT, one.entity)
    if one.of_kind == CHANGES.name:
        return world.load(AGENT, world.load(CHANGES, one.entity).agent)
    return None


def _is_gone(one: Conflict, agent: Agent | None) -> bool:
    """Whether it is a setting of an agent that was deleted: of that nothing is asked."""
    is_setting = one.of_kind == AGENT.name and one.field != "life"
    return is_setting and agent is not None and agent.is_deleted


def _field(one: Conflict, *, is_whole: bool = False) -> str:
    """What a conflict's field is called; `is_whole`: with the id of what it is a field of."""
    match one.of_kind:
        case AGENT.name:
            return f"agent:{one.entity}:{one.field}" if is_whole else f"agent:{one.field}"
        case CHANGES.name:
            return f"set:{one.entity}:{one.field}" if is_whole else one.field
        case TEMPLATE.name:
            return f"template:{one.entity}:{one.field}" if is_whole else f"template:{one.field}"
        case _:
            return one.field


class _Words:
    """Tells conflicts as a person reads them."""

    def __init__(
        self, world: World, journal: World, labels: "Mapping[str, str]", ranks: Ranks
    ) -> None:
        self._world = world
        self._journal = journal
        self._labels = labels
        self._ranks = ranks

    def details(self, one: Conflict, agent: Agent | None) -> ConflictDetails:
        values = tuple(
            ConflictValue(
                side.row.replica,
                self._labels.get(side.row.replica, side.row.replica),
                side.row.at,
                side.by,
                self._said(one, side),
            )
            for side in one.sides
        )
        standing = next((side for side in one.sides[::-1] if side.value == one.stands), None)
        task = agent.task if agent else ""
        return ConflictDetails(
            task,
            self._journal.load(TASK, task).title if task else self._title(one),
            _field(one),
            one.kind,
            standing.row.replica if standing else "",
            values,
            agent=agent.id if agent else "",
            about=self._about(one, agent),
        )

    def _title(self, one: Conflict) -> str:
        """What a conflict is of that is of no task."""
        match one.of_kind:
            case TEMPLATE.name:
                return templates.load(self._world, one.entity).name
            case POLICY.name:
                return "what models may be asked"
            case _:
                return "how good a wake was"

    def _about(self, one: Conflict, agent: Agent | None) -> str:
        """The agent, the proposal or what else differs, in words."""
        field, _, rest = one.field.partition(":")
        match one.of_kind:
            case AGENT.name if agent:
                named = f"{field} {rest!r}" if field in ("preference", "loop") else field
                return f"the {_NAMES.get(field, named)} of the agent {agent.name!r}"
            case CHANGES.name if agent:
                changes = self._world.load(CHANGES, one.entity)
                item = find(changes, int(rest))
                summary = f" {item.summary!r}" if item else ""
                return f"{self._ref(changes, int(rest))}{summary} of the agent {agent.name!r}"
            case POLICY.name:
                model, _, category = rest.rpartition(":")
                called = category_name(self._catalog, category) or "all categories"
                return {
                    "models": f"the models for agents of {called}",
                    "consent": f"the receipt for {model} and {called}",
                }.get(field, f"the receipt for {rest}")
            case LESSONS.name:
                begun = anyones(self._world, rest).begun
                name = self._world.load(AGENT, begun.agent).name
                return f"a wake of the agent {name!r}"
            case _:
                return f"the {'active version' if field == 'active' else field} of the template"

    def _ref(self, changes: ChangeSet, number: int) -> str:
        """How the item is addressed on this machine."""
        rank = self._ranks.get(changes.id) or self._ranks.others.get(changes.id)
        return f"{rank}.{number}" if rank else ref(changes, number)

    @property
    def _catalog(self) -> Catalog:
        return self._journal.load(CATALOG, MAIN)

    def _said(self, one: Conflict, side: Side) -> str:
        """A side's value."""
        value: Any = side.value
        field = one.field.partition(":")[0]
        match one.of_kind, field:
            case "agent", "categories":
                return self._categories(value)
            case "agent", "template":
                return templates.load(self._world, value).name if value else "built-in"
            case "agent", "subscription":
                return "removed" if value is None else ", ".join(value[0])
            case "agent", "automation":
                return "on" if value else "off"
            case "agent", "loop":
                return "open" if value else "closed"
            case (("agent" | "template"), "model"):
                return str(value) or "the usual model"
            case "template", "active":
                return self._version(one, side, int(value[0]))
            case "template", "categories":
                return self._categories(value)
            case "policy", "models":
                return ", ".join(value) or "any model"
            case "policy", "consent":
                return f"notice {value[0]}: {', '.join(value[1])}"
            case "policy", _:
                return "withdrawn" if value is None else f"given for {self._categories(value)}"
            case "changes", _ if reason := getattr(side.row.fact, "reason", ""):
                return f"{value} ({reason})"
            case _:
                return str(value)

    def _version(self, one: Conflict, side: Side, number: int) -> str:
        """A version with how it begins: two machines may give one number."""
        of = getattr(side.row.fact, "of", "") or side.row.replica
        known = templates.load(self._world, one.entity).numbered(number)
        found = next((each for each in known if each.is_of(of)), None)
        return f"version {number}: {self._world.text(found.general)}" if found else str(number)

    def _categories(self, value: "Iterable[str]") -> str:
        return ", ".join(category_name(self._catalog, one) for one in value) or "none"


_NAMES = {
    "turn_max": "most turns",
    "automation": "automatic updates",
    "subscription": "subscription",
}
