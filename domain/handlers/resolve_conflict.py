"""What machines said without knowing of each other is settled: of a task or the catalog, and of
agents, templates, policy and verdicts. One more row of the chosen side, though it may stand
already, knows all sides and stands above them (ADR 71, 73)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from domain.agent import agent as e
from domain.agent.agent import AGENT, Agent, AgentFact, Slot
from domain.agent.commands import ResumeAgent
from domain.append.causes import Result
from domain.changes.change_set import CHANGES, VerdictsSeen
from domain.errors import Refused, Remedy, invalid
from domain.handlers.agents import agent_events, resume
from domain.handlers.decided import Decision, Event, on
from domain.handlers.journal import Handler, delete_task, linked, task_of, timer_events, unlink_task
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.links import UnlinkedFrom
from domain.journal.task import FIELDS, PERSON, TASK, TaskFact
from domain.journal.timer import TIMER, TimerStopped
from domain.lessons.lessons import LESSONS
from domain.log.state import MAIN, LogState
from domain.machines.commands import SettleAgentsConflict
from domain.policy import policy as p
from domain.policy.policy import POLICY
from domain.replication.merge_rules import TASK_ITSELF
from domain.replication.replica_conflicts import (
    AGENT_LOG_TYPES,
    ConflictSide,
    ReplicaConflict,
    conflicts_of_task,
    ends_of_side,
    is_of_namesakes,
)
from domain.templates import template as te
from domain.templates.template import TEMPLATE

_WHOLE: dict[str, Callable[[Any], TaskFact]] = {
    "title": lambda value: t.TaskRetitled(PERSON, value),
    "description": lambda value: t.TaskDescribed(PERSON, value),
    "status": lambda value: t.StatusSet(PERSON, *value),
    "category": lambda value: t.CategorySet(PERSON, value),
    "rating": lambda value: t.TaskRated(PERSON, "", *value),
    "deleted": lambda value: (t.TaskDeleted if value else t.TaskRestored)(PERSON),
}
_OF_PART: dict[str, Callable[[str, Any], TaskFact]] = {
    "label:": lambda one, value: (t.LabelAssigned if value else t.LabelRemoved)(PERSON, one),
    "suppressed:": lambda one, value: (t.LabelSuppressed if value else t.LabelAllowed)(PERSON, one),
    "item:title": lambda one, value: t.ItemRetitled(PERSON, one, value),
    "item:checked": lambda one, value: (t.ItemChecked if value else t.ItemUnchecked)(PERSON, one),
    "item:archived": lambda one, value: (t.ItemArchived if value else t.ItemRestored)(PERSON, one),
    "note:": lambda one, value: t.NoteEdited(PERSON, one, value),
    "entry:start": lambda one, value: t.TimeEdited(PERSON, one, start=value),
    "entry:end": lambda one, value: t.TimeEdited(PERSON, one, end=value),
    "entry:summary": lambda one, value: t.TimeEdited(PERSON, one, summary=value),
    "rating:": lambda one, value: t.TaskRated(PERSON, one, *value),
}


def fact_of_task(field: str, value: Any) -> TaskFact | None:
    """The fact that gives a field of a task a value.

    `field`: as a conflict of kind ``values`` names it, ``deleted`` of one of kind ``removal``.
    `value`: a side's; of ``deleted`` whether it shall go. Returns None for links, which are kept at
    both ends, and for what is no field of a task."""
    plain = next((one for one in FIELDS if one.name == field), None)
    if plain is not None:
        fact: TaskFact = plain.fact(PERSON, value)
        return fact
    if field in _WHOLE:
        return _WHOLE[field](value)
    of, _, rest = field.partition(":")
    one, _, name = rest.partition(":")
    made = _OF_PART.get(f"{of}:{name}")
    return made(one, value) if made else None


# ----------------------------------------------------------------------------- the fact of an agent

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
    "sleep": lambda _agent, _, value: e.SleepOrdered(value),
    "subscription": lambda _agent, one, value: (
        e.Unsubscribed(one) if value is None else e.Subscribed(one, *value)
    ),
}


def fact_of_agent(agent: Agent, field: str, value: Any) -> AgentFact:
    """The fact that gives a field of an agent a value.

    `agent`: as it is, for the version that a slot gets. `field`: as a conflict names it."""
    name, _, one = field.partition(":")
    return _FACTS[name](agent, one, value)


# -------------------------------------------------------------------------------------- the journal


def settle_conflict(cause: do.SettleConflict, key: str, at: str, world: LogState) -> Decision:
    """Let what one side said stand; `cause.task` is empty of what the catalog holds."""
    task = task_of(world, cause.task) if cause.task else None
    found = conflicts_of_task(world, task.id) if task else world.disputes(CATALOG, MAIN)
    conflict, side = chosen(found, cause, f" in {task.title!r}" if task else "")
    if task is None:
        fact = _of_catalog(world, conflict, side)
        return Decision(on(world, "catalog", MAIN, [fact]), Result((cause.field,)))
    match conflict.kind:
        case "timers":
            return Decision(_others_stopped(world, side, at), Result((task.id,)))
        case "cycle":
            blocks, blocked = ends_of_side(side)
            return unlink_task(do.UnlinkTask(blocks, "blocks", blocked), key, at, world)
        case "removal" if cause.field == TASK_ITSELF and side.value:
            return delete_task(do.DeleteTask(task.id), key, at, world)
    return Decision(_events(world, task, conflict, side), Result((task.id,)))


def chosen(
    found: Iterable[ReplicaConflict],
    cause: do.SettleConflict | SettleAgentsConflict,
    where: str = "",
) -> tuple[ReplicaConflict, ConflictSide]:
    """The conflict that is to be settled, and the side that shall stand; `where` it is, in words.
    Raises Refused, code ``invalid_value`` or ``stale``."""
    conflict = next((one for one in found if one.field == cause.field), None)
    if conflict is None:
        because = f"no two machines say different things of {cause.field!r}{where}"
        raise invalid(because, "name a field in which they do")
    there = {(one.row.replica, one.row.n) for one in conflict.sides}
    if cause.seen and {(one.replica, one.n) for one in cause.seen} != there:
        because = f"what was said of {cause.field!r} has changed since"
        raise Refused("stale", because=because, instead="look at it again")
    side = next((one for one in conflict.sides[::-1] if one.row.replica == cause.keep), None)
    if side is None:
        said = ", ".join(sorted({one.row.replica for one in conflict.sides}))
        because = f"{cause.keep!r} said nothing else of {cause.field!r}"
        raise invalid(because, f"name one of {said}")
    return conflict, side


def _others_stopped(world: LogState, side: ConflictSide, at: str) -> list[Event]:
    """Every timer but the chosen one ends now."""
    events: list[Event] = []
    for one in world.load(TIMER, MAIN).running:
        if one.entry != ends_of_side(side)[1]:
            events += on(world, "task", one.task, [t.TimeStopped(t.PERSON, one.entry, at)])
            events += on(world, "timer", MAIN, [TimerStopped(one.task, one.entry)])
    return events


def _events(
    world: LogState, task: t.Task, conflict: ReplicaConflict, side: ConflictSide
) -> list[Event]:
    kind, _, one = conflict.field.partition(":")
    if conflict.kind == "values" and kind == "link":
        return _link(world, task, one, side)
    if conflict.kind == "values" or conflict.field == TASK_ITSELF:
        fact = fact_of_task(conflict.field, side.value)
        if kind == "entry":  # an end that one machine took back is none: there it runs on
            entry = edits.known_entry(task, one.partition(":")[0])
            runs_on = one.endswith(":end") and not side.value
            fact = t.TimeReopened(t.PERSON, entry.id, entry.start) if runs_on else fact
    elif side.value:
        fact = t.NoteRemoved(t.PERSON, one)
    else:
        note = next((note for note in task.notes if note.id == one), None)
        fact = t.NoteEdited(t.PERSON, one, note.words) if note else None
    if fact is None:  # pragma: no cover  # each field that can differ has its fact
        because = f"a conflict in {conflict.field!r} has no value to choose"
        raise invalid(because, "change it as you want it: that settles it")
    return [*on(world, "task", task.id, [fact]), *timer_events(world, task.id, fact)]


def _link(world: LogState, task: t.Task, link: str, side: ConflictSide) -> list[Event]:
    """Both ends say once more that the link is there, or gone. Raises Refused, code ``cycle``."""
    name, _, target = link.partition(":")
    relation: t.Relation = name  # type: ignore[assignment]  # it stands so in the link's fact
    if not side.value:
        gone = on(world, "task", task.id, [t.TaskUnlinked(t.PERSON, relation, target)])
        return gone + on(world, "links", target, [UnlinkedFrom(relation, task.id)])
    return linked(world, task, relation, world.load(TASK, target), t.PERSON, again=True)


def _of_catalog(world: LogState, conflict: ReplicaConflict, side: ConflictSide) -> c.CatalogFact:
    """The name of a category, or a label with where it may be used, once more."""
    kind, _, rest = conflict.field.partition(":")
    one = rest.partition(":")[0]
    if is_of_namesakes(world, conflict):
        because = f"{len(conflict.sides)} categories have one name, and each keeps its tasks"
        raise Refused("invalid_value", because=because, instead=Remedy("rename_category", one))
    if kind == "category":
        return c.CategoryRenamed(one, str(side.value))
    if side.value is None:
        return c.LabelDeleted(one)
    named: tuple[str, tuple[str, ...]] = side.value  # type: ignore[assignment]  # of `LabelAdded`
    return c.LabelAdded(one, *named)


# ------------------------------------------------------------------------------------ the agent log

EventsOfSide = Callable[[LogState, ReplicaConflict, ConflictSide], Sequence[Event]]


def settle_agents_conflict(
    cause: SettleAgentsConflict, key: str, at: str, world: LogState
) -> Decision:
    """Let what one side said stand; of verdicts what stands, with the other ones seen."""
    kind = AGENT_LOG_TYPES.get(cause.of)
    conflict, side = chosen(world.disputes(kind, cause.entity) if kind else (), cause)
    is_resumed = conflict.field == "life" and side.value == "active"
    if is_resumed and conflict.stands == "dormant":
        return resume(ResumeAgent(cause.entity, cause.is_enabled), key, at, world)
    return Decision(_EVENTS[cause.of](world, conflict, side), Result((cause.entity,)))


def _of_agent(world: LogState, conflict: ReplicaConflict, side: ConflictSide) -> Sequence[Event]:
    agent = world.load(AGENT, conflict.entity)
    if conflict.field == "life" and side.value != conflict.stands:
        because = f"the agent {agent.name!r} is {conflict.stands}, which is for good"
        standing = (one.row.replica for one in conflict.sides if one.value == conflict.stands)
        raise invalid(because, f"name {next(standing)}, and make a new agent for its task")
    events = agent_events(world, agent, [fact_of_agent(agent, conflict.field, side.value)])
    if conflict.field == "template":
        for other in sorted({str(one.value) for one in conflict.sides} - {"", side.value}):
            events += on(world, "template", other, [te.InstanceRemoved(agent.id)])
        if side.value:
            one = te.living(te.load(world, str(side.value)))
            events += on(world, "template", one.id, [te.InstanceAdded(agent.id)])
    return events


def _of_set(world: LogState, conflict: ReplicaConflict, side: ConflictSide) -> Sequence[Event]:
    """What stands is said once more: an effect is not taken back by choosing."""
    stands = str(conflict.stands)
    able = [one.row.replica for one in conflict.sides if one.value == stands]
    if able and side.row.replica not in able:
        because = f"{conflict.field.replace(':', ' ')} is {stands}, and of verdicts that stands"
        raise invalid(because, f"name {able[0]}, or take that verdict back")
    number = int(conflict.field.partition(":")[2])
    return on(world, "changes", conflict.entity, [VerdictsSeen(number, stands)])


def _of_template(world: LogState, conflict: ReplicaConflict, side: ConflictSide) -> Sequence[Event]:
    template, value = te.load(world, conflict.entity), side.value
    fact: te.TemplateFact
    match conflict.field, side.row.fact:
        case "name", _:
            fact = te.TemplateNamed(str(value))
        case "model", _:
            fact = te.TemplateModelSet(str(value))
        case _, te.VersionAdded(version=number) | te.VersionActivated(version=number):
            of = getattr(side.row.fact, "of", "") or side.row.replica
            one = template.meant(number, of)
            number = one.version if one else number
            fact = te.VersionActivated(number, te.whose(one, world.replica))
        case _:
            fact = te.TemplateCategoriesSet(value)  # type: ignore[arg-type]  # of its facts
    return on(world, "template", template.id, [fact])


def _of_policy(world: LogState, conflict: ReplicaConflict, side: ConflictSide) -> Sequence[Event]:
    """A receipt is given again for the one category that differs, and as it was shown."""
    of, _, rest = conflict.field.partition(":")
    fact = side.row.fact
    if of == "consent" and isinstance(fact, p.ConsentGiven):
        fact = replace(fact, categories=(rest.rpartition(":")[2],))
    return on(world, "policy", conflict.entity, [fact])


_EVENTS: Mapping[str, EventsOfSide] = {
    AGENT.name: _of_agent,
    CHANGES.name: _of_set,
    TEMPLATE.name: _of_template,
    POLICY.name: _of_policy,
    LESSONS.name: lambda world, conflict, side: on(
        world, "lessons", conflict.entity, [side.row.fact]
    ),
}


HANDLERS: dict[type, Handler] = {
    do.SettleConflict: settle_conflict,
    SettleAgentsConflict: settle_agents_conflict,
}
