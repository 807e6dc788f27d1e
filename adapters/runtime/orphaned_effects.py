"""Who finishes what machines of a shared home left open in change sets (ADR 73, 76).

An effect in flight is finished by who asked for it; who leads finishes those of machines that are
gone for good. Anybody else's is taken over only where a person decides on that very item.

An item is in doubt where a confirmation was asked for, and another machine's verdict or failure
stands; and where it was to be taken back, and is confirmed. Whether it was done is said by the
journal alone: a receipt that the operation was applied makes the item confirmed, or undone. Who
wrote the receipt says so, or who leads. In a home that is alone none of this costs anything."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from adapters.runtime import follow_ups
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.reader import read_append
from domain.agent.agent import AGENT
from domain.append.causes import Receipt, Replied
from domain.append.envelope import Row
from domain.changes.change_set import (
    CHANGES,
    ChangeItem,
    ChangeSet,
    ChangesIntent,
    ChangesReply,
    ItemConfirmed,
    ItemUndone,
    find,
)
from domain.changes.decisions import pending_effects
from domain.changes.dependencies import MAKING, applied_to, follow_up_id
from domain.changes.in_doubt import items_in_doubt, undos_in_doubt
from domain.journal.commands import ApplyOperation, UndoDeed
from domain.log.state import MAIN, LogState, RecordedEvent, entity_of
from domain.machines.machines import HOME
from domain.replication.merge import standing_receipt

_OPERATION = re.compile(b'"kind":"command.(apply_operation|undo_deed).1"')  # few rows of a journal


class HeldAppends(NamedTuple):
    """Up to which append of each machine both logs were held."""

    journal: Mapping[str, int]
    agents: Mapping[str, int]


def own_effects(services: Services, changes: ChangeSet) -> list[ChangesIntent]:
    """The intents in flight that this machine is to finish; in a home that is alone, all."""
    every = pending_effects(changes)
    if not every:
        return []
    with services.agents.reading() as world:
        if not world.is_shared:
            return every
        names = _stands_for(services, world)
    rows = (services.agents.facts(f"{CHANGES.name}:{changes.id}@{one}") for one in names)
    told = [row.fact for found in rows for row in found]
    return [asked for asked in every if asked in told]


def reply(
    services: Services, changes: ChangeSet, item: ChangeItem | None, said: ChangesReply
) -> None:
    """Record what came of an operation; a task that it made gets what goes with it first."""
    if isinstance(said, ItemConfirmed) and item and item.tool in MAKING:
        made = follow_up_id(changes.id, item.number)
        follow_ups.accompany(services, services.agent(changes.agent), made)
    services.append_reply(Replied("changes", changes.id, said))


def confirm_done(services: Services, set_ids: Iterable[str]) -> list[tuple[str, int]]:
    """Confirm the items in doubt that were done, and undo those whose effect was taken back, as the
    journal tells; once more: nothing. Change sets that are not in doubt do no harm. Gives the
    items, each by its set and its number."""
    with services.agents.reading() as world:
        if not world.is_shared:
            return []
        sets = [world.load(CHANGES, one) for one in dict.fromkeys(set_ids)]
        own, leads = world.replica, services.lead_in(world) == world.replica
    done: list[tuple[str, int]] = []
    for changes in sets:
        found: list[tuple[ItemConfirmed | ItemUndone, RecordedEvent]]
        found = [*_confirmations(services, changes), *_undos(services, changes)]
        for said, receipt in found:
            if leads or receipt.replica == own:
                reply(services, changes, find(changes, said.item), said)
                done.append((changes.id, said.item))
    return done


def _confirmations(
    services: Services, changes: ChangeSet
) -> Iterator[tuple[ItemConfirmed, RecordedEvent]]:
    for doubt in items_in_doubt(changes):
        item = find(changes, doubt.item)
        receipt = effect(services, item.tool, doubt.operations) if item else None
        if item and receipt is not None:
            operation = receipt.entity if item.undos else ""
            yield ItemConfirmed(doubt.item, doubt.confirmation, receipt.n, operation), receipt


def _undos(services: Services, changes: ChangeSet) -> Iterator[tuple[ItemUndone, RecordedEvent]]:
    for item, undo in undos_in_doubt(changes):
        receipt = effect(services, "", (undo.operation,))
        if receipt is not None:
            done = ItemUndone(item, undo.confirmation, undo.operation, undo.undoes, receipt.n)
            yield done, receipt


def reached(services: Services) -> HeldAppends | None:
    """What is held of other machines; None where none shares the agents' log."""
    if not services.agents.is_shared:
        return None
    journal, agents = (
        {name: tail.n for name, tail in log.heads().items()}
        for log in (services.journal, services.agents)
    )
    return HeldAppends(journal, agents)


def confirm_come(services: Services, before: HeldAppends | None) -> list[tuple[str, int]]:
    """The same of those change sets alone of which other machines' rows came in. `before`: what was
    held then; None: no machines shared it."""
    if before is None or reached(services) == before:
        return []
    found = {*_decided_on(services, before), *_done(services, before)}
    return confirm_done(services, sorted(found))


def _stands_for(services: Services, world: LogState) -> tuple[str, ...]:
    """The machines whose part this one does: its own, and of who leads that of those gone."""
    gone = world.load(HOME, MAIN).retired if services.lead_in(world) == world.replica else ()
    return world.replica, *gone


def effect(services: Services, tool: str, operations: Iterable[str]) -> RecordedEvent | None:
    """The receipt of the first of these operations that was applied by a tool; without one, that
    took something back. A label's suppression, asked for under the same item, is none of its
    tool."""
    with services.journal.reading() as world:
        receipts = [standing_receipt(world.history("receipt", one)) for one in operations]
    return next((one for one in receipts if one and _has_applied(one, tool)), None)


def _has_applied(row: RecordedEvent, tool: str) -> bool:
    match row.fact:
        case Receipt(command=ApplyOperation(tool=done), result=result):
            return done == tool and result.status == "applied"
        case Receipt(command=UndoDeed(), result=result):
            return not tool and result.status == "applied"
        case _:
            return False


def _decided_on(services: Services, before: HeldAppends) -> Iterator[str]:
    for rows in _came(services.agents, before.agents):
        yield from (entity_of(one.stream) for one in rows if one.stream.startswith("changes:"))


def _done(services: Services, before: HeldAppends) -> Iterator[str]:
    """The change sets of agents in whose name something was applied. Only who leads says what
    others did, see `confirm_done`."""
    if not services.leads:
        return
    found: set[tuple[str, str]] = set()
    for rows in _came(services.journal, before.journal):
        if done := _operation(services.journal, rows):
            found.add((done.agent, done.task))
    with services.agents.reading() as world:
        for agent, task in sorted(found):
            sets = world.load(AGENT, agent).sets
            yield from (one for one in sets if task in _applied_to(world.load(CHANGES, one)))


def _operation(log: Log, rows: Sequence[Row]) -> ApplyOperation | None:
    """What an append of the journal applied in the name of an agent, or took back."""
    if not rows or not _OPERATION.search(rows[0].state):
        return None
    match read_append(rows[:1])[0].fact:
        case Receipt(command=ApplyOperation() as done):
            return done
        case Receipt(command=UndoDeed(operation=str(name), appends=(n,), of=of)) if name:
            return _operation(log, log.append_at(n, of))
        case _:
            return None


def _applied_to(changes: ChangeSet) -> set[str]:
    return {changes.task, *(applied_to(changes, one) for one in changes.items)}


def _came(log: Log, before: Mapping[str, int]) -> Iterator[Sequence[Row]]:
    for name in log.heads():
        if name != log.replica:
            yield from log.appends_of(name, before.get(name, 0))
