"""Settling what machines said of agents, templates, policy and verdicts without knowing of each
other: one more row of the chosen side, which knows all sides (ADR 73)."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from domain.agent.agent import AGENT
from domain.agent.commands import ResumeAgent
from domain.agent.settling import settled
from domain.causes import Result
from domain.changes.change_set import CHANGES
from domain.changes.events import VerdictsSeen
from domain.conflicts import Conflict, Side
from domain.disputed import OF_AGENTS
from domain.errors import invalid
from domain.handlers.agents import agent_events, resume
from domain.handlers.decided import Decided, Event, on
from domain.handlers.disputes import chosen
from domain.handlers.journal import Handler
from domain.lessons.lessons import LESSONS
from domain.machines.commands import SettleAgentsConflict
from domain.policy import policy as p
from domain.policy.policy import POLICY
from domain.templates import template as t
from domain.templates.template import TEMPLATE
from domain.world import World

Settled = Callable[[World, Conflict, Side], Sequence[Event]]


def settle_agents_conflict(cause: SettleAgentsConflict, key: str, at: str, world: World) -> Decided:
    """Let what one side said stand; of verdicts what stands, with the other ones seen."""
    kind = OF_AGENTS.get(cause.of)
    found = world.disputes(kind, cause.entity) if kind else ()
    conflict, side = chosen(found, cause)
    is_resumed = conflict.field == "life" and side.value == "active"
    if is_resumed and conflict.stands == "dormant":
        return resume(ResumeAgent(cause.entity, cause.is_enabled), key, at, world)
    return Decided(_EVENTS[cause.of](world, conflict, side), Result((cause.entity,)))


def _of_agent(world: World, conflict: Conflict, side: Side) -> Sequence[Event]:
    agent = world.load(AGENT, conflict.entity)
    if conflict.field == "life" and side.value != conflict.stands:
        because = f"the agent {agent.name!r} is {conflict.stands}, which is for good"
        standing = (one.row.replica for one in conflict.sides if one.value == conflict.stands)
        raise invalid(because, f"name {next(standing)}, and make a new agent for its task")
    events = agent_events(world, agent, [settled(agent, conflict.field, side.value)])
    if conflict.field == "template":
        for other in sorted({str(one.value) for one in conflict.sides} - {"", side.value}):
            events += on(world, "template", other, [t.InstanceRemoved(agent.id)])
        if side.value:
            one = t.living(t.load(world, str(side.value)))
            events += on(world, "template", one.id, [t.InstanceAdded(agent.id)])
    return events


def _of_set(world: World, conflict: Conflict, side: Side) -> Sequence[Event]:
    """What stands is said once more: an effect is not taken back by choosing."""
    stands = str(conflict.stands)
    able = [one.row.replica for one in conflict.sides if one.value == stands]
    if able and side.row.replica not in able:
        because = f"{conflict.field.replace(':', ' ')} is {stands}, and of verdicts that stands"
        raise invalid(because, f"name {able[0]}, or take that verdict back")
    number = int(conflict.field.partition(":")[2])
    return on(world, "changes", conflict.entity, [VerdictsSeen(number, stands)])


def _of_template(world: World, conflict: Conflict, side: Side) -> Sequence[Event]:
    template, value = t.load(world, conflict.entity), side.value
    fact: t.TemplateFact
    match conflict.field, side.row.fact:
        case "name", _:
            fact = t.TemplateNamed(str(value))
        case "model", _:
            fact = t.TemplateModelSet(str(value))
        case _, t.VersionAdded(version=number) | t.VersionActivated(version=number):
            of = getattr(side.row.fact, "of", "") or side.row.replica
            one = next((one for one in template.numbered(number) if one.is_of(of)), None)
            fact = t.VersionActivated(number, t.whose(one, world.replica))
        case _:
            fact = t.TemplateCategoriesSet(value)  # type: ignore[arg-type]  # of its facts
    return on(world, "template", template.id, [fact])


def _of_policy(world: World, conflict: Conflict, side: Side) -> Sequence[Event]:
    """A receipt is given again for the one category that differs, and as it was shown."""
    of, _, rest = conflict.field.partition(":")
    fact = side.row.fact
    if of == "consent" and isinstance(fact, p.ReceiptGiven):
        fact = replace(fact, categories=(rest.rpartition(":")[2],))
    return on(world, "policy", conflict.entity, [fact])


def _of_lessons(world: World, conflict: Conflict, side: Side) -> Sequence[Event]:
    return on(world, "lessons", conflict.entity, [side.row.fact])


_EVENTS: Mapping[str, Settled] = {
    AGENT.name: _of_agent,
    CHANGES.name: _of_set,
    TEMPLATE.name: _of_template,
    POLICY.name: _of_policy,
    LESSONS.name: _of_lessons,
}
HANDLERS: dict[type, Handler] = {SettleAgentsConflict: settle_agents_conflict}
