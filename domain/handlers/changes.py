"""Change sets: the person's verdicts, and what came of their operations (SPEC 6)."""

from domain.agent.agent import AGENT
from domain.append.causes import Result
from domain.changes import commands as do
from domain.changes import decisions
from domain.changes.change_set import CHANGES, ChangeSet, ChangesFact, ChangesReply, find
from domain.errors import Refused, Remedy, invalid
from domain.handlers import lessons
from domain.handlers.decided import Decision, on
from domain.handlers.journal import Handler
from domain.log import canonical
from domain.log.keys import key as make_key
from domain.log.state import LogState
from domain.log.wire import Payload, Words, words
from domain.tools import registry
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
    scope = canonical.text(list(world.load(AGENT, changes.agent).categories))
    tool = item.tool if item is not None else ""
    action = make_key("action", tool, in_force, scope, canonical.text([changes.task]))
    facts = decisions.confirm(
        changes, cause.item, cause.by, action=action, arguments=arguments, base=cause.base,
        category=cause.category,
    )  # fmt: skip
    return _decided(world, changes, cause.item, facts)._replace(payloads=kept)


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
