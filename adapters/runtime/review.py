"""The person's verdicts, carried across both logs: intent, effect, outcome (DESIGN 2, law 7)."""

from collections.abc import Sequence
from typing import Any

from adapters.runtime import effects, orphaned_effects
from adapters.runtime.services import Services
from adapters.telemetry.spans import Verb
from domain.agent.agent import AGENT
from domain.append.causes import Result
from domain.changes import change_set as c
from domain.changes.change_set import ChangeItem, ChangeSet
from domain.changes.commands import (
    ConfirmItem,
    DeferItem,
    ExpireItems,
    RejectItem,
    ReopenItem,
    RetakeEffect,
    UndoItem,
)
from domain.changes.decisions import pending_effects
from domain.changes.dependencies import MAKING, applied_to, follow_up_id
from domain.handlers.changes import template_of
from domain.journal.commands import ApplyOperation, UndoDeed
from domain.journal.task import PERSON, TASK
from domain.log.wire import Payload, Words, words
from domain.templates import template as templates
from domain.tools import improving, registry
from domain.tools.snapshot import Snapshot

TIME_TOOL = "log_time"
"""What enters time, which its undo takes away."""
GONE = "not_found"
"""What came of taking back an effect that is not in this machine's journal."""
LABEL_TOOLS = {c.SuppressionAsked: "suppress_label", c.LiftAsked: "lift_suppression"}


def changes_of(services: Services, set_id: str) -> ChangeSet:
    """A change set as it is now."""
    with services.agents.reading() as world:
        return world.load(c.CHANGES, set_id)


def seen_now(services: Services, changes: ChangeSet, item: ChangeItem, text: str = "") -> Snapshot:
    """What an item would be applied to, as the tools see it now: its set's task, day or template.
    `text`: its arguments, where they are not those in force."""
    if item.tool == improving.PROPOSE:
        with services.agents.reading() as world:
            return improving.seen_now(world, template_of(world, changes))
    text = text or arguments_of(services, item)
    with services.journal.reading() as world:
        return registry.seen_now(world, changes.task, item.tool, text, world.n - 1)


def seen_before(services: Services, changes: ChangeSet, item: ChangeItem, n: int) -> Snapshot:
    """The same, as the tools saw it before the journal's append n; of directives as the template
    was before they were confirmed."""
    if item.tool == improving.PROPOSE:
        with services.agents.reading() as agents:
            of = template_of(agents, changes)
            before = improving.version_before(agents, of, f"{changes.id}.{item.number}")
            return improving.seen_now(agents, of, active=before)
    text, world = arguments_of(services, item), services.journal.world_at(n - 1)
    return registry.seen_now(world, changes.task, item.tool, text, n - 1)


def arguments_of(services: Services, item: ChangeItem) -> str:
    """The arguments in force: the edited ones, else the proposed; canonical JSON."""
    with services.agents.reading() as world:
        return world.text(item.arguments_now or item.arguments)


def is_stale(services: Services, item: ChangeItem, now: Snapshot) -> bool:
    """Whether what an open item would change is no longer what it was proposed on."""
    with services.agents.reading() as world:
        text = world.text(item.arguments)
    return registry.base(item.tool, now, text) != item.base


def task_of(services: Services, changes: ChangeSet, item: ChangeItem) -> str:
    """The task that an item is about, as it was proposed; empty where there is none."""
    if changes.task:
        return changes.task
    with services.agents.reading() as world:
        return registry.task_of("", item.tool, world.text(item.arguments))


def seen_at(services: Services, changes: ChangeSet, number: int) -> tuple[int, str]:
    """The journal's position, and the category of the task that an item is about there: what a
    verdict names."""
    item = c.find(changes, number)
    task = task_of(services, changes, item) if item else changes.task
    with services.journal.reading() as world:
        return world.n - 1, world.load(TASK, task).category if task else ""


def category_at(services: Services, task: str, position: int) -> str:
    """A task's category at a position of the journal; empty for none."""
    return services.journal.world_at(position).load(TASK, task).category if task else ""


def confirm(
    services: Services, set_id: str, number: int, *, edit: str = "", is_anyway: bool = False,
    key: str = "",
) -> ChangeItem | None:  # fmt: skip
    """Confirm an item and apply it; the item as it is then. `edit`: other arguments, JSON; empty:
    as proposed. `is_anyway`: take the present values as base, stale or not. `key` makes a repeat
    safe. Raises Refused if it cannot be confirmed now; nothing is written then."""
    changes = changes_of(services, set_id)
    item = c.find(changes, number)
    base = ""
    if is_anyway and item is not None:
        text = edit or arguments_of(services, item)
        base = registry.base(item.tool, seen_now(services, changes, item, text), text)
    said, kept = words(changes.unit, edit) if edit else (None, ())
    position, category = seen_at(services, changes, number)
    command = ConfirmItem(set_id, number, PERSON, position, said, base, category)
    return _decided(services, "edit" if edit else "confirm", changes, command, key, kept)


def reject(
    services: Services, set_id: str, number: int, reason: str, key: str = ""
) -> ChangeItem | None:
    """Decline an item; a declined label is suppressed on the task."""
    changes = changes_of(services, set_id)
    position, category = seen_at(services, changes, number)
    seen = services.journal.horizon(position)
    command = RejectItem(set_id, number, PERSON, position, reason, category, seen)
    return _decided(services, "reject", changes, command, key)


def _decided(
    services: Services, verb: Verb, changes: ChangeSet,
    command: ConfirmItem | RejectItem | ReopenItem | UndoItem, key: str,
    kept: Sequence[Payload] = (),
) -> ChangeItem | None:  # fmt: skip
    """Only who appended an intent performs it; one in doubt is taken over by `recover`."""
    number = command.item
    with services.spans.verdict(verb, changes, number) as tell:
        appended = services.append_agent(command, key=key, payloads=kept)
        if appended.rows:
            item = drive(services, command.changes, number)
        else:
            item = c.find(changes_of(services, command.changes), number)
        tell(item)
    return item


def defer(
    services: Services, set_id: str, number: int, reason: str, key: str = "", *, until: str = ""
) -> ChangeItem | None:
    """Put an item off."""
    changes = changes_of(services, set_id)
    position, category = seen_at(services, changes, number)
    with services.spans.verdict("defer", changes, number) as tell:
        seen = services.journal.horizon(position)
        command = DeferItem(set_id, number, PERSON, position, reason, until, category, seen)
        services.append_agent(command, key=key)
        tell(item := c.find(changes_of(services, set_id), number))
    return item


def reopen(services: Services, set_id: str, number: int, key: str = "") -> ChangeItem | None:
    """Take a rejection or deferral back; the suppression of a label is lifted."""
    changes = changes_of(services, set_id)
    item, position = c.find(changes, number), services.journal.tail().n
    task = task_of(services, changes, item) if item else ""
    category = category_at(services, task, item.position) if item else ""
    command = ReopenItem(set_id, number, PERSON, position, category)
    return _decided(services, "reopen", changes, command, key)


def undo(
    services: Services, set_id: str, number: int, operation: str, key: str = ""
) -> ChangeItem | None:
    """Take a confirmation back, that of an operation which was applied for it; the item as it is
    then: pending, or confirmed where something of it was changed since."""
    changes, position = changes_of(services, set_id), services.journal.tail().n
    command = UndoItem(set_id, number, PERSON, position, operation)
    return _decided(services, "undo", changes, command, key)


def can_return(services: Services, set_id: str, number: int) -> bool:
    """Whether directives that were confirmed are the active version still, as undoing them wants
    it."""
    with services.agents.reading() as world:
        of = template_of(world, changes := world.load(c.CHANGES, set_id))
        active = templates.load(world, of).version
    return active is not None and active.item == f"{changes.id}.{number}"


def drive(services: Services, set_id: str, number: int) -> ChangeItem | None:
    """Perform what an item waits for, and record what came of it."""
    changes = changes_of(services, set_id)
    for asked in pending_effects(changes):
        if asked.item == number:
            reply = _perform(services, changes, asked)
            orphaned_effects.reply(services, changes, c.find(changes, number), reply)
    return c.find(changes_of(services, set_id), number)


def recover(services: Services, set_id: str, number: int = 0) -> list[int]:
    """Take over what a gone process left in doubt in a set; the numbers of its items. `number`: an
    item on which a person decides: its effect is taken over, whichever machine of a shared home
    began it; that of others only as `orphaned_effects.own_effects` says."""
    taken: list[int] = []
    changes = changes_of(services, set_id)
    own = orphaned_effects.own_effects(services, changes)
    for asked in pending_effects(changes):
        if asked not in own and asked.item != number:
            continue
        with services.spans.verdict("recover", changes, asked.item) as tell:
            services.append_agent(RetakeEffect(set_id, asked.item))
            tell(drive(services, set_id, asked.item))
        taken.append(asked.item)
    return taken


def expire(services: Services, set_id: str, reason: str = "") -> bool:
    """Expire what nobody decided in time; whether anything was. Of machines that share a home, the
    one that leads does it for all, but where there is a reason."""
    if not (reason or services.leads):
        return False
    return bool(services.append_agent(ExpireItems(set_id, reason)).rows)


def _perform(services: Services, changes: ChangeSet, asked: c.ChangesIntent) -> c.ChangesReply:
    if isinstance(asked, c.UndoAsked):
        return _take_back(services, changes, asked)
    with services.agents.reading() as world:
        categories = world.load(AGENT, changes.agent).categories
    item = c.find(changes, asked.item)
    if not isinstance(asked, c.ItemConfirming):
        tool, text, base = LABEL_TOOLS[type(asked)], f'{{"id":"{asked.label}"}}', ""
    else:
        tool = item.tool if item else ""
        text = arguments_of(services, item) if item else "{}"
        base = asked.base or (item.base if item else "")
    others = registry.others(tool, text, follow_up_id(changes.id, asked.item))
    command = ApplyOperation(
        asked.operation, changes.agent, applied_to(changes, item), tool, Words(), base, categories,
        others=others, revives=tool in MAKING and item is not None and bool(item.undos),
    )  # fmt: skip
    result, position = effects.apply(services, command, text, asked.attempt)
    is_applied = result.status == "applied"
    if not isinstance(asked, c.ItemConfirming):
        done = c.SuppressionDone if isinstance(asked, c.SuppressionAsked) else c.LiftDone
        return done(asked.item, asked.operation, "" if is_applied else result.code)
    return came(asked.item, asked.confirmation, result, position)


def _take_back(services: Services, changes: ChangeSet, asked: c.UndoAsked) -> c.ItemUndone:
    """Take back what an operation wrote, by the machine that applied it; a repeat is answered with
    the first outcome."""
    item = c.find(changes, asked.item)
    receipt = orphaned_effects.effect(services, item.tool if item else "", (asked.undoes,))
    done: Any = getattr(receipt, "fact", None)
    about = asked.item, asked.confirmation, asked.operation, asked.undoes
    if receipt is None:
        return c.ItemUndone(*about, code=GONE)
    did = done.command
    tasks = tuple(one for one in (did.task, *did.others) if one)
    command = UndoDeed(
        tasks, (receipt.n,), asked.operation, receipt.replica, reopens=did.tool == TIME_TOOL,
        days=registry.days_of(did.task, did.tool, arguments_of(services, item) if item else "{}"),
    )  # fmt: skip
    appended = services.append_journal(command, key=asked.operation)
    code = appended.result.code
    return c.ItemUndone(*about, 0 if code else appended.n, code)


def came(
    item: int, confirmation: int, result: Result, position: int
) -> c.ItemConfirmed | c.ItemFailed:
    """What comes of an item whose operation ended so, at that append of the journal."""
    if result.status == "applied":
        return c.ItemConfirmed(item, confirmation, position)
    return c.ItemFailed(item, confirmation, result.code or result.status, result.message)
