"""The person's verdicts, carried across both logs: intent, effect, outcome (DESIGN 2, law 7)."""

from adapters.runtime import effects
from adapters.runtime.desk import Desk
from adapters.store.log import Appended
from domain.agent.agent import AGENT
from domain.causes import Replied
from domain.changes.change_set import CHANGES, ChangeSet, Item, find
from domain.changes.commands import (
    ConfirmItem,
    DeferItem,
    ExpireItems,
    RejectItem,
    RetakeEffect,
)
from domain.changes.decisions import pending_effects
from domain.changes.events import (
    ChangesReply,
    ItemConfirmed,
    ItemConfirming,
    ItemFailed,
    SuppressionAsked,
    SuppressionDone,
)
from domain.journal.catalog import CATALOG
from domain.journal.commands import ApplyOperation
from domain.journal.fold import TASK
from domain.journal.task import PERSON
from domain.tools import registry
from domain.tools.snapshot import Snapshot, snapshot
from domain.wire import Words, words
from domain.world import MAIN

Asked = ItemConfirming | SuppressionAsked


def changes_of(desk: Desk, set_id: str) -> ChangeSet:
    """A change set as it is now."""
    with desk.agents.reading() as world:
        return world.load(CHANGES, set_id)


def task_now(desk: Desk, task: str) -> Snapshot:
    """A task as the tools see it now."""
    with desk.journal.reading() as world:
        return snapshot(world.load(TASK, task), world.load(CATALOG, MAIN), world.n - 1)


def task_before(desk: Desk, task: str, n: int) -> Snapshot:
    """A task as the tools saw it before the journal's append n."""
    world = desk.journal.world_at(n - 1)
    return snapshot(world.load(TASK, task), world.load(CATALOG, MAIN), n - 1)


def arguments_of(desk: Desk, item: Item) -> str:
    """The arguments in force: the edited ones, else the proposed; canonical JSON."""
    with desk.agents.reading() as world:
        return world.text(item.arguments_now or item.arguments)


def is_stale(desk: Desk, item: Item, now: Snapshot) -> bool:
    """Whether what an open item would change is no longer what it was proposed on."""
    with desk.agents.reading() as world:
        text = world.text(item.arguments)
    return registry.base(item.tool, now, text) != item.base


def confirm(
    desk: Desk, set_id: str, number: int, *, edit: str = "", is_anyway: bool = False, key: str = ""
) -> Item | None:
    """Confirm an item and apply it; the item as it is then.

    Args:
        desk: Where.
        set_id: Its change set.
        number: Which item, from 1.
        edit: Other arguments, JSON; empty: as proposed.
        is_anyway: Take the present values as base, stale or not.
        key: Makes a repeat safe.

    Raises:
        Refused: If it cannot be confirmed now; nothing is written then.
    """
    changes = changes_of(desk, set_id)
    item = find(changes, number)
    base = ""
    if is_anyway and item is not None:
        text = edit or arguments_of(desk, item)
        base = registry.base(item.tool, task_now(desk, changes.task), text)
    said, kept = words(changes.task, edit) if edit else (None, ())
    position = desk.journal.tail().n
    command = ConfirmItem(set_id, number, PERSON, position, said, base)
    with desk.spans.verdict("edit" if edit else "confirm", changes, number) as tell:
        appended = desk.note(command, key=key, payloads=kept)
        tell(item := _driven(desk, appended, set_id, number))
    return item


def reject(desk: Desk, set_id: str, number: int, reason: str, key: str = "") -> Item | None:
    """Decline an item; a declined label is suppressed on the task."""
    position = desk.journal.tail().n
    command = RejectItem(set_id, number, PERSON, position, reason)
    with desk.spans.verdict("reject", changes_of(desk, set_id), number) as tell:
        tell(item := _driven(desk, desk.note(command, key=key), set_id, number))
    return item


def _driven(desk: Desk, appended: Appended, set_id: str, number: int) -> Item | None:
    """Only who appended an intent performs it; one in doubt is taken over by `recover`."""
    if appended.rows:
        return drive(desk, set_id, number)
    return find(changes_of(desk, set_id), number)


def defer(desk: Desk, set_id: str, number: int, reason: str, key: str = "") -> Item | None:
    """Put an item off."""
    position = desk.journal.tail().n
    with desk.spans.verdict("defer", changes_of(desk, set_id), number) as tell:
        desk.note(DeferItem(set_id, number, PERSON, position, reason), key=key)
        tell(item := find(changes_of(desk, set_id), number))
    return item


def drive(desk: Desk, set_id: str, number: int) -> Item | None:
    """Perform what an item waits for, and record what came of it."""
    changes = changes_of(desk, set_id)
    for asked in pending_effects(changes):
        if asked.item == number:
            reply = _perform(desk, changes, asked)
            desk.reply(Replied("changes", set_id, reply))
    return find(changes_of(desk, set_id), number)


def recover(desk: Desk, set_id: str) -> list[int]:
    """Take over what a gone process left in doubt in a set; the numbers of its items."""
    taken: list[int] = []
    for asked in pending_effects(changes := changes_of(desk, set_id)):
        with desk.spans.verdict("recover", changes, asked.item) as tell:
            desk.note(RetakeEffect(set_id, asked.item))
            tell(drive(desk, set_id, asked.item))
        taken.append(asked.item)
    return taken


def expire(desk: Desk, set_id: str, reason: str = "") -> bool:
    """Expire what nobody decided in time; whether anything was."""
    return bool(desk.note(ExpireItems(set_id, reason)).rows)


def _perform(desk: Desk, changes: ChangeSet, asked: Asked) -> ChangesReply:
    with desk.agents.reading() as world:
        categories = world.load(AGENT, changes.agent).categories
    item = find(changes, asked.item)
    if isinstance(asked, SuppressionAsked):
        tool, text, base = "suppress_label", f'{{"id":"{asked.label}"}}', ""
    else:
        tool = item.tool if item else ""
        text = arguments_of(desk, item) if item else "{}"
        base = asked.base or (item.base if item else "")
    command = ApplyOperation(
        asked.operation, changes.agent, changes.task, tool, Words(), base, categories
    )
    result, position = effects.apply(desk, command, text, asked.attempt)
    is_applied = result.status == "applied"
    if isinstance(asked, SuppressionAsked):
        return SuppressionDone(asked.item, asked.operation, "" if is_applied else result.code)
    if is_applied:
        return ItemConfirmed(asked.item, asked.confirmation, position)
    code = result.code or result.status
    return ItemFailed(asked.item, asked.confirmation, code, result.message)
