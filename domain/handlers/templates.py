"""Templates: made, versioned, assigned, deleted (SPEC 8)."""

from collections.abc import Sequence

from msgspec.structs import replace

from domain.agent.agent import AGENT, OF_TEMPLATE, AgentFact, TemplateAssigned
from domain.agent.deciders import AGENT_KIND
from domain.append.causes import Result
from domain.changes.change_set import item_named
from domain.errors import Refused
from domain.handlers.agents import known_agent, left
from domain.handlers.decided import Decision, after, on
from domain.handlers.journal import Handler
from domain.log.keys import key as make_key
from domain.log.state import LogState
from domain.templates import commands as do
from domain.templates import template as t
from domain.templates.seeds import seed_id
from domain.templates.template import TEMPLATE


def _written(world: LogState, template: str, facts: Sequence[t.TemplateFact]) -> Decision:
    return Decision(on(world, "template", template, facts), Result((template,)))


def create(cause: do.CreateTemplate, key: str, at: str, world: LogState) -> Decision:
    """A template with its first version; a seed that is in use already is left alone."""
    template_id = seed_id(cause.seed) if cause.seed else make_key("template", key, "0")
    template = world.load(TEMPLATE, template_id)
    if facts := t.create(template, AGENT_KIND, cause.name, cause.model, cause.categories):
        made = after(world, TEMPLATE, template, facts, at)
        author: t.Author = "system" if cause.seed else "user"
        facts += t.add_version(made, cause.general, cause.report, author, "")
    return _written(world, template_id, facts)


def change(cause: do.ChangeTemplate, key: str, at: str, world: LogState) -> Decision:
    template = world.load(TEMPLATE, cause.template)
    facts = t.change(template, cause.name, cause.model, cause.categories)
    return _written(world, cause.template, facts)


def add_version(cause: do.AddVersion, key: str, at: str, world: LogState) -> Decision:
    template = t.living(world.load(TEMPLATE, cause.template))
    facts = t.add_version(template, cause.general, cause.report, cause.author, cause.model)
    return _written(world, cause.template, facts)


def roll_back(cause: do.RollBackTemplate, key: str, at: str, world: LogState) -> Decision:
    template = world.load(TEMPLATE, cause.template)
    replica = world.replica if world.is_shared else ""
    facts = t.roll_back(template, cause.version, cause.of, replica=replica)
    return _written(world, cause.template, facts)


def delete(cause: do.DeleteTemplate, key: str, at: str, world: LogState) -> Decision:
    return _written(world, cause.template, t.delete(_lived_on(world, cause.template)))


def _lived_on(world: LogState, template_id: str) -> t.Template:
    """A template with those that live on it: of an agent that two machines gave other templates
    apart from each other, the streams of both still tell."""
    template = world.load(TEMPLATE, template_id)
    if not world.is_shared:
        return template
    living = [one for one in template.instances if world.load(AGENT, one).template == template_id]
    return replace(template, instances=tuple(living))


def assign(cause: do.AssignTemplate, key: str, at: str, world: LogState) -> Decision:
    """Let an agent live on a template, or on the built-in directives again."""
    agent = known_agent(world, cause.agent)
    if cause.template:
        t.living(world.load(TEMPLATE, cause.template))
    if cause.template == agent.template:
        return Decision(result=Result((agent.id, cause.template)))
    assigned: list[AgentFact] = [TemplateAssigned(cause.template)]
    events = on(world, "agent", agent.id, assigned) + left(world, agent)
    if cause.template:
        events += on(world, "template", cause.template, [t.InstanceAdded(agent.id)])
    return Decision(events, Result((agent.id, cause.template)))


def rehearsed(cause: do.RecordRehearsal, key: str, at: str, world: LogState) -> Decision:
    """Of a proposal for the template, or of a version that it has."""
    template, told = t.living(t.load(world, cause.template)), cause.told
    item = item_named(world, told.item)
    is_there = item is not None and f"{OF_TEMPLATE}{template.id}" in item.touches
    if not (is_there if told.item else template.numbered(told.version)):
        because = f"the template {template.name!r} has no {told.item or told.version}"
        raise Refused("unknown_template", because=because, instead="rehearse what is there")
    return _written(world, cause.template, [told])


HANDLERS: dict[type, Handler] = {
    do.CreateTemplate: create,
    do.ChangeTemplate: change,
    do.AddVersion: add_version,
    do.RollBackTemplate: roll_back,
    do.DeleteTemplate: delete,
    do.AssignTemplate: assign,
    do.RecordRehearsal: rehearsed,
}
