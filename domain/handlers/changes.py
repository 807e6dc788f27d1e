"""Change sets: the person's verdicts, and what came of their operations (SPEC 6)."""

from domain.agent.agent import AGENT, template_in
from domain.append.causes import Result
from domain.changes import commands as do
from domain.changes import decisions
from domain.changes.change_set import (
    CHANGES,
    ChangeSet,
    ChangesFact,
    ChangesReply,
    ItemConfirmed,
    find,
)
from domain.errors import Refused, Remedy, invalid
from domain.handlers import lessons
from domain.handlers.decided import Decision, on
from domain.handlers.journal import Handler
from domain.log import canonical
from domain.log.keys import key as make_key
from domain.log.state import LogState
from domain.log.wire import SHARED, Payload, Words, words
from domain.templates import template as templates
from domain.templates.template import EVOLUTION
from domain.tools import improving, registry
from domain.tools.base import ToolRefusal


def _set(world: LogState, wanted: str) -> ChangeSet:
    changes = world.load(CHANGES, wanted)
    if not changes.is_opened:
        because = f"there is no change set {wanted!r}"
        raise Refused("unknown_set", because=because, instead=Remedy("see_all_proposals"))
    return changes


def _decided(
    world: LogState, changes: ChangeSet, item: int, facts: list[ChangesFact], category: str = ""
) -> Decision:
    events = on(world, "changes", changes.id, facts)
    events += lessons.of_verdicts(world, changes, facts, category)
    return Decision(events, Result((changes.id, str(item))))


def confirm(cause: do.ConfirmItem, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    item = find(changes, cause.item)
    arguments, kept = cause.arguments, list[Payload]()
    in_force = "{}"
    if item is not None:
        in_force = world.text(item.arguments)
        if cause.arguments is not None:
            arguments, kept, in_force = _edited(world, changes, item.tool, cause.arguments)
    agent = world.load(AGENT, changes.agent)
    scope = canonical.text(list(agent.categories))
    tool = item.tool if item is not None else ""
    if tool == improving.PROPOSE:
        return _confirm_directives(cause, world, changes, arguments, in_force)
    action = make_key("action", tool, in_force, scope, canonical.text([changes.task]))
    facts = decisions.confirm(
        changes, cause.item, cause.by, action=action, arguments=arguments, base=cause.base,
        category=cause.category,
    )  # fmt: skip
    return _decided(world, changes, cause.item, facts)._replace(payloads=kept)


def _confirm_directives(
    cause: do.ConfirmItem, world: LogState, changes: ChangeSet, arguments: Words | None, text: str
) -> Decision:
    """All in one append, as the template stands in the same log. Raises Refused, code ``stale``:
    another version is active since; ``unknown_template``."""
    facts = decisions.confirm(
        changes, cause.item, cause.by, action="", arguments=arguments, base=cause.base
    )
    item, template_id = find(changes, cause.item), template_of(world, changes)
    if item is None or not facts:
        return _decided(world, changes, cause.item, facts)
    template = templates.living(templates.load(world, template_id))
    now = improving.seen_now(world, template_id)
    given = registry.read(item.tool, text)
    if isinstance(given, ToolRefusal):
        raise invalid(given.message, "reject it")
    assert isinstance(given, improving.NewDirectives)
    if registry.base(item.tool, now, text) != (cause.base or item.base):
        because = "another version of the template is active since it was proposed"
        raise Refused("stale", because=because, instead="look at that, then confirm it --anyway")
    (general, kept), (report, more) = (words(SHARED, one) for one in (given.general, given.report))
    added = templates.add_version(
        template, general, report, EVOLUTION, template.version.model if template.version else "",
        f"{changes.id}.{item.number}", replica=world.replica if world.is_shared else "",
    )  # fmt: skip
    events = on(world, "changes", changes.id, facts) + on(world, "template", template_id, added)
    edits = [] if arguments is None else words(changes.unit, text)[1]
    done = [ItemConfirmed(cause.item, item.confirmation + 1)]
    decided = _decided(world, changes, cause.item, [*done])
    payloads = [*edits, *kept, *more]
    return decided._replace(events=[*events, *decided.events], payloads=payloads)


def template_of(world: LogState, changes: ChangeSet) -> str:
    """The template that a set's agent improves; empty of another one's."""
    return template_in(world.load(AGENT, changes.agent).subject or "") or ""


def _undo_directives(world: LogState, changes: ChangeSet, number: int) -> Decision:
    """The version before is active again. Raises Refused, code ``stale``: another one is."""
    facts = decisions.undone(changes, number)
    template_id = template_of(world, changes)
    template, name = templates.living(templates.load(world, template_id)), f"{changes.id}.{number}"
    before = improving.version_before(world, template_id, name)
    if facts and (before is None or template.version is None or template.version.item != name):
        because = "another version of the template is active since"
        raise Refused("stale", because=because, instead=Remedy("see_template", template_id[:8]))
    back = []
    if facts and before is not None:
        replica = world.replica if world.is_shared else ""
        back = templates.roll_back(template, before.version, before.replica, replica=replica)
    decided = _decided(world, changes, number, [*facts])
    return decided._replace(events=[*decided.events, *on(world, "template", template_id, back)])


def _edited(
    world: LogState, changes: ChangeSet, tool: str, given: Words
) -> tuple[Words, list[Payload], str]:
    """A person's arguments, checked and in canonical form."""
    checked = registry.check_edit(tool, canonical.read(world.text(given)))
    if isinstance(checked, ToolRefusal):
        raise invalid(checked.message, "correct the JSON given with --edit")
    said, kept = words(changes.unit, checked)
    return said, list(kept), checked


def reject(cause: do.RejectItem, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    facts = decisions.reject(
        changes, cause.item, cause.by, cause.reason, cause.position, cause.seen
    )
    return _decided(world, changes, cause.item, facts, cause.category)


def defer(cause: do.DeferItem, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    facts = decisions.defer(
        changes, cause.item, cause.by, cause.reason, cause.position, cause.until, cause.seen
    )
    return _decided(world, changes, cause.item, facts, cause.category)


def reopen(cause: do.ReopenItem, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    facts = decisions.reopen(changes, cause.item, cause.by)
    return _decided(world, changes, cause.item, facts, cause.category)


def undo(cause: do.UndoItem, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    item = find(changes, cause.item)
    if item is not None and item.tool == improving.PROPOSE:
        return _undo_directives(world, changes, cause.item)
    asked = lessons.intent(world, changes, cause.item, cause.operation)
    number = asked.confirmation if asked else 0
    facts = decisions.undo(changes, cause.item, cause.by, cause.operation, number)
    return _decided(world, changes, cause.item, facts)


def retake(cause: do.RetakeEffect, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    return _decided(world, changes, cause.item, decisions.retake(changes, cause.item))


def expire(cause: do.ExpireItems, key: str, at: str, world: LogState) -> Decision:
    changes = _set(world, cause.changes)
    facts = decisions.expire(changes, at, cause.reason)
    return Decision(on(world, "changes", changes.id, facts), Result((changes.id,)))


def replied(entity: str, reply: ChangesReply, at: str, world: LogState) -> Decision:
    """What came of an operation; nothing is written where nobody waits for it any more."""
    changes = world.load(CHANGES, entity)
    facts = decisions.settle(changes, reply, is_shared=world.is_shared)
    return _decided(world, changes, reply.item, facts)


HANDLERS: dict[type, Handler] = {
    do.ConfirmItem: confirm,
    do.RejectItem: reject,
    do.DeferItem: defer,
    do.ReopenItem: reopen,
    do.UndoItem: undo,
    do.RetakeEffect: retake,
    do.ExpireItems: expire,
}
