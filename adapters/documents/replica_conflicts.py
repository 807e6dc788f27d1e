"""What machines of one home said without knowing of each other, and nobody has settled: of tasks,
of timers and links, of the catalog, and of agents. Lines of `conflicts`, of `task show` and of the
page (ADR 71, 73).
"""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from adapters.documents.import_conflicts import ConflictDetails, ConflictValue
from adapters.documents.ranks import Ranks, ranks_of
from adapters.home.files import met_machines
from domain.agent.agent import AGENT, Agent
from domain.agent.deciders import AGENT_KIND, agent_id
from domain.changes.change_set import CHANGES, ChangeSet, find, ref
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import category_name
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.journal.timer import TIMER
from domain.lessons.lessons import LESSONS
from domain.log.canonical import encode
from domain.log.state import MAIN, LogState, entity_of
from domain.log.wire import Words
from domain.machines.machines import HOME
from domain.policy.policy import POLICY
from domain.replication.merge import ConflictSide, ReplicaConflict, cycle_conflicts
from domain.replication.replica_conflicts import (
    AGENT_LOG_TYPES,
    blocked_by,
    conflicts_of_task,
    ends_of_side,
    is_of_namesakes,
)
from domain.templates import template as templates
from domain.templates.template import TEMPLATE
from domain.wake.wake import anyones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adapters.store.log import Log
    from adapters.wiring import Home

CYCLE = "blocks"
"""The field of a circle of links."""


def replica_conflicts(home: "Home") -> list[ConflictDetails]:
    """All that is open: of the tasks in the order of their ids, then timers that run at once,
    circles of links, the catalog, and what the agent log holds; nothing in a home that is alone."""
    journal = home.services.journal
    if not journal.is_shared:
        return []
    names = machine_labels(home)
    with journal.reading() as world:
        tell = partial(_details, world, labels=names)
        of_tasks = [
            tell(found)
            for one in _of_many(journal, TASK.name)
            for found in world.disputes(TASK, one)
            if found.of_kind == TASK.name and _asks(world, found)
        ]
        others = [
            *world.disputes(TIMER, MAIN),
            *_circles(journal, world),
            *world.disputes(CATALOG, MAIN),
        ]
        found = [*of_tasks, *map(tell, others)]
    return [*found, *(one.details for one in agent_conflicts(home, names))]


def replica_conflicts_of(
    home: "Home", task_id: str, labels: "Mapping[str, str] | None" = None
) -> list[ConflictDetails]:
    """What is open in one task, with the timers and the circle of links that it is a part of, its
    agents and what they proposed; with no task what is open of none: of the catalog, templates and
    models. `labels`: what machines are called, by replica."""
    if not home.services.journal.is_shared:
        return []
    names = machine_labels(home) if labels is None else labels
    with home.services.journal.reading() as world:
        every = conflicts_of_task(world, task_id) if task_id else world.disputes(CATALOG, MAIN)
        asking = [one for one in every if _asks(world, one)]
        found = [_details(world, one, labels=names, task_id=task_id) for one in asking]
    return [*found, *(one.details for one in agent_conflicts_of(home, task_id, names))]


def _asks(world: LogState, one: ReplicaConflict) -> bool:
    """Whether a person has to settle it: not where all say the same status, and some a day on which
    it was set."""
    if (one.of_kind, one.field, one.kind) != (TASK.name, "status", "values"):
        return True
    from adapters.importers.alignment import closings  # few ask, and it loads the readers

    said: set[Any] = {side.value for side in one.sides}
    reasons = {reason for _, reason in said} - {"", *closings(world.load(TASK, one.entity))}
    return len({status for status, _ in said}) > 1 or bool(reasons)


def machine_labels(home: "Home") -> "Mapping[str, str]":
    """What the machines of a home are called, on every one of them alike: without a label by their
    own names."""
    own, met = home.services.journal.replica, met_machines(home.path)
    with home.services.agents.reading() as world:
        return {**met.labels, own: met.label or own, **world.load(HOME, MAIN).labels}


def _of_many(journal: "Log", kind: str) -> list[str]:
    """The entities of a kind that several machines wrote."""
    writers = Counter(entity_of(one) for one in journal.streams_of(kind))
    return sorted(one for one, count in writers.items() if count > 1)


def _circles(journal: "Log", world: LogState) -> "Sequence[ReplicaConflict]":
    """The circles of links: only of tasks that block and are blocked is every row read, and of none
    where one machine made all links."""
    ends_of = journal.streams_of(LINKS.name)
    if len({one.rpartition("@")[2] for one in ends_of}) < 2:
        return []
    blocked = {
        one: {to.source for to in world.load(LINKS, one).incoming if to.relation == CYCLE}
        for one in sorted({entity_of(one) for one in ends_of})
    }
    blocking = {source for sources in blocked.values() for source in sources}
    both = [one for one, sources in blocked.items() if sources and one in blocking]
    return cycle_conflicts({one: world.rows(TASK, one) for one in both if blocked_by(world, one)})


def _details(
    world: LogState, one: ReplicaConflict, *, labels: "Mapping[str, str]", task_id: str = ""
) -> ConflictDetails:
    values, standing = _sides(one, labels, partial(_value_told, world, one))
    replica = standing.row.replica if standing else ""
    if one.of_kind == CATALOG.name:
        return ConflictDetails("", _catalog_name(world, one), one.field, one.kind, replica, values)
    if not task_id:
        task_id = ends_of_side(standing)[0] if standing and one.kind == "timers" else one.entity
    title = world.load(TASK, task_id).title
    return ConflictDetails(task_id, title, one.field, one.kind, replica, values)


def _sides(
    one: ReplicaConflict, labels: "Mapping[str, str]", told: "Callable[[ConflictSide], str]"
) -> tuple[tuple[ConflictValue, ...], ConflictSide | None]:
    """Its sides, and the one that stands."""
    values = []
    for side in one.sides:
        label = labels.get(side.row.replica, side.row.replica)
        values.append(ConflictValue(side.row.replica, label, side.row.at, side.by, told(side)))
    standing = (side for side in one.sides[::-1] if side.value == one.stands)
    return tuple(values), next(standing, None)


def _catalog_name(world: LogState, one: ReplicaConflict) -> str:
    """The name of the category or label that differs."""
    kind, thing = one.field.split(":")[:2]
    catalog = world.load(CATALOG, MAIN)
    return category_name(catalog, thing) if kind == "category" else catalog.labels[thing].name


def _value_told(world: LogState, one: ReplicaConflict, side: ConflictSide) -> str:
    """A side's value as a person reads it."""
    if one.kind == "removal":
        return "removed" if side.value else "changed"
    if one.kind == "timers":
        return str(world.load(TASK, ends_of_side(side)[0]).title)
    if one.kind == "cycle":
        blocks, blocked = (world.load(TASK, task).title for task in ends_of_side(side))
        return f"{blocks} blocks {blocked}"
    value: Any = side.value
    if one.of_kind == CATALOG.name:
        return _of_catalog(world, one, value)
    if one.field == "category":
        return category_name(world.load(CATALOG, MAIN), str(value))
    return _plain_value(world, value)


def _of_catalog(world: LogState, one: ReplicaConflict, value: Any) -> str:
    """A name; of things of one name their ids; of a label also where it may be used."""
    if value is None:
        return "removed"
    if is_of_namesakes(world, one) or not isinstance(value, tuple):
        return str(value)
    name, categories = value
    catalog = world.load(CATALOG, MAIN)
    scope = ", ".join(category_name(catalog, each) for each in categories)
    return f"{name} ({scope or 'all categories'})"


def _plain_value(world: LogState, value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Words():
            return world.text(value)
        case tuple():
            told = [_plain_value(world, each) for each in value]
            return " ".join(each for each in told if each)
        case Struct():
            return encode(value).decode()
        case _:
            return str(value)


# -------------------------------------------------------------- of agents, and of what they propose

AGENTS = "agents"
"""Stands for a task where templates, models or ratings differ."""


class AgentConflict(NamedTuple):
    """A conflict of the agent log, and what it is called."""

    conflict: ReplicaConflict
    details: ConflictDetails


def agent_conflicts(home: "Home", labels: "Mapping[str, str]") -> list[AgentConflict]:
    """All that is open in the agent log, agents and sets in the order of their ids first; `labels`:
    what machines are called, by replica."""
    agents = home.services.agents
    if not agents.is_shared:
        return []
    many = [
        (kind, entity)
        for kind in AGENT_LOG_TYPES
        for entity, count in sorted(Counter(map(entity_of, agents.streams_of(kind))).items())
        if count > 1
    ]
    return _agent_conflicts(home, labels, many)


def agent_conflicts_of(
    home: "Home", task_id: str, labels: "Mapping[str, str]"
) -> list[AgentConflict]:
    """What is open of the agents of one task and of what they proposed; with no task what is open
    of none."""
    agents = home.services.agents
    if not agents.is_shared:
        return []
    if not task_id:
        return [one for one in agent_conflicts(home, labels) if not one.details.task]
    with agents.reading() as world:
        among = [
            (kind, entity)
            for agent in _agents_of(world, task_id)
            for kind, entity in ((AGENT.name, agent.id), *((CHANGES.name, s) for s in agent.sets))
        ]
    return _agent_conflicts(home, labels, among)


def conflicts_named(found: "Iterable[AgentConflict]", field: str) -> list[AgentConflict]:
    """Those that a field means, as `conflicts` prints it or with the id in it."""
    return [
        one for one in found if field in (one.details.field, _field(one.conflict, is_whole=True))
    ]


def _agents_of(world: LogState, task_id: str) -> "Iterable[Agent]":
    generation = 1
    while True:  # bounded by the agents that the task had
        agent = world.load(AGENT, agent_id(AGENT_KIND, task_id, generation))
        if not agent.lifecycle:
            return
        yield agent
        generation += 1


def _agent_conflicts(
    home: "Home", labels: "Mapping[str, str]", among: "Iterable[tuple[str, str]]"
) -> list[AgentConflict]:
    with home.services.agents.reading() as world:
        every = [
            (one, _owner(world, one))
            for kind, entity in among
            for one in world.disputes(AGENT_LOG_TYPES[kind], entity)
        ]
        every = [(one, agent) for one, agent in every if not _is_gone(one, agent)]
        if not every:
            return []
        with home.services.journal.reading() as journal:
            words = _ConflictWords(world, journal, labels, ranks_of(home))
            found = [AgentConflict(one, words.details(one, agent)) for one, agent in every]
    short = Counter((one.details.task, _field(one.conflict)) for one in found)
    return [
        one
        if short[one.details.task, one.details.field] == 1
        else AgentConflict(
            one.conflict, replace(one.details, field=_field(one.conflict, is_whole=True))
        )
        for one in found
    ]


def _owner(world: LogState, one: ReplicaConflict) -> Agent | None:
    """The agent that a conflict is about."""
    if one.of_kind == AGENT.name:
        return world.load(AGENT, one.entity)
    if one.of_kind == CHANGES.name:
        return world.load(AGENT, world.load(CHANGES, one.entity).agent)
    return None


def _is_gone(one: ReplicaConflict, agent: Agent | None) -> bool:
    """Whether it is a setting of an agent that was deleted: of that nothing is asked."""
    is_setting = one.of_kind == AGENT.name and one.field != "life"
    return is_setting and agent is not None and agent.is_deleted


def _field(one: ReplicaConflict, *, is_whole: bool = False) -> str:
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


class _ConflictWords(NamedTuple):
    """Tells conflicts as a person reads them."""

    world: LogState
    journal: LogState
    labels: "Mapping[str, str]"
    ranks: Ranks

    def details(self, one: ReplicaConflict, agent: Agent | None) -> ConflictDetails:
        values, standing = _sides(one, self.labels, partial(self._said, one))
        task = agent.task if agent else ""
        return ConflictDetails(
            task,
            self.journal.load(TASK, task).title if task else self._title(one),
            _field(one),
            one.kind,
            standing.row.replica if standing else "",
            values,
            agent=agent.id if agent else "",
            about=self._about(one, agent),
        )

    def _title(self, one: ReplicaConflict) -> str:
        """What a conflict is of that is of no task."""
        match one.of_kind:
            case TEMPLATE.name:
                return templates.load(self.world, one.entity).name
            case POLICY.name:
                return "what models may be asked"
            case _:
                return "how good a wake was"

    def _about(self, one: ReplicaConflict, agent: Agent | None) -> str:
        """The agent, the proposal or what else differs, in words."""
        field, _, rest = one.field.partition(":")
        match one.of_kind:
            case AGENT.name if agent:
                named = f"{field} {rest!r}" if field in ("preference", "loop") else field
                return f"the {_NAMES.get(field, named)} of the agent {agent.name!r}"
            case CHANGES.name if agent:
                changes = self.world.load(CHANGES, one.entity)
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
                begun = anyones(self.world, rest).begun
                name = self.world.load(AGENT, begun.agent).name
                return f"a wake of the agent {name!r}"
            case _:
                return f"the {'active version' if field == 'active' else field} of the template"

    def _ref(self, changes: ChangeSet, number: int) -> str:
        """How the item is addressed on this machine."""
        rank = self.ranks.get(changes.id) or self.ranks.others.get(changes.id)
        return f"{rank}.{number}" if rank else ref(changes, number)

    @property
    def _catalog(self) -> Catalog:
        return self.journal.load(CATALOG, MAIN)

    def _said(self, one: ReplicaConflict, side: ConflictSide) -> str:
        """A side's value."""
        value: Any = side.value
        field = one.field.partition(":")[0]
        match one.of_kind, field:
            case "agent", "categories":
                return self._categories(value)
            case "agent", "template":
                return templates.load(self.world, value).name if value else "built-in"
            case "agent", "subscription":
                return "removed" if value is None else ", ".join(value[0])
            case "agent", "automation":
                return "on" if value else "off"
            case "agent", "sleep":
                return f"until {value}" if value else "sleeps no longer"
            case "agent", "loop":
                return "open" if value else "closed"
            case (("agent" | "template"), "model"):
                return str(value) or "the usual model"
            case "template", "active":
                return self._version(one, side, getattr(side.row.fact, "version", 0))
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

    def _version(self, one: ReplicaConflict, side: ConflictSide, number: int) -> str:
        """A version with how it begins: two machines may give one number."""
        of = getattr(side.row.fact, "of", "") or side.row.replica
        found = templates.load(self.world, one.entity).meant(number, of)
        return f"version {number}: {self.world.text(found.general)}" if found else str(number)

    def _categories(self, value: "Iterable[str]") -> str:
        return ", ".join(category_name(self._catalog, one) for one in value) or "none"


_NAMES = {
    "turn_max": "most turns",
    "automation": "automatic updates",
    "subscription": "subscription",
}
