"""Whether a home is whole: what must hold of its two logs whatever was killed, and whoever wrote.

Each check reads the logs alone, not the folds that decided what stands in them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from domain.agent.agent import AGENT, AgentCreated
from domain.agent.wake_queue import (
    TriggerMerged,
    TriggerSuppressed,
    WakeBackedOff,
    WakeBegun,
    WakeDropped,
    WakeQueued,
    WakeSettled,
)
from domain.append.causes import Receipt
from domain.changes.change_set import ItemConfirmed, ItemConfirming, ItemFailed
from domain.journal.commands import ApplyOperation
from domain.journal.links import LinkedFrom, UnlinkedFrom
from domain.log.state import RecordedEvent
from domain.wake.wake import LateReply, ModelAsked, ToolAsked, WakeFinished, WakeStarted
from replay.prove import LogProof


class Rows(NamedTuple):
    """Both logs, read once."""

    journal: list[RecordedEvent]
    agents: list[RecordedEvent]


def faults(services: Services, *, is_finished: bool = True) -> list[str]:
    """All that is wrong, one line each. `is_finished`: nothing may be begun or in doubt."""
    found: list[str] = []
    for log in (services.journal, services.agents):
        found += (str(one) for one in LogProof(log.name, log.payload).walk(log.rows()))
        found += _gaps(log)
    rows = Rows(list(rows_of(services.journal)), list(rows_of(services.agents)))
    found += _wakes(rows, is_finished=is_finished)
    found += _operations(rows, is_finished=is_finished)
    found += _triggers(rows, services.journal.tail().n - watcher.lag(services))
    return found


def rows_of(log: Log) -> Iterator[RecordedEvent]:
    """Every row of a log, decoded."""
    for rows in log.appends():
        yield from rows


def agents_of(services: Services) -> list[str]:
    """The ids of all agents."""
    return [row.entity for row in rows_of(services.agents) if isinstance(row.fact, AgentCreated)]


def sets_of(services: Services) -> list[str]:
    """The ids of all change sets, by agent in the order of their making."""
    with services.agents.reading() as world:
        return [one for agent in agents_of(services) for one in world.load(AGENT, agent).sets]


def late_replies(services: Services) -> int:
    """How often two processes worked at one wake."""
    return sum(isinstance(row.fact, LateReply) for row in rows_of(services.agents))


def retaken(services: Services) -> int:
    """How often an intent was taken over."""
    facts = (row.fact for row in rows_of(services.agents))
    return sum(isinstance(one, ModelAsked | ToolAsked) and one.attempt > 1 for one in facts)


def _gaps(log: Log) -> Iterator[str]:
    """Rows lost or doubled: numbers count on by one, versions too."""
    versions: Counter[str] = Counter()
    for nth, rows in enumerate(log.appends(), start=1):
        if rows[0].n != nth:
            yield f"{log.name}: append {nth} has the number {rows[0].n}"
        if [row.row for row in rows] != list(range(len(rows))):
            yield f"{log.name}: append {nth} is not whole"
        for row in rows:
            versions[row.stream] += 1
            if row.version != versions[row.stream]:
                yield f"{log.name}: {row.stream} has no version {versions[row.stream]}"


def _wakes(rows: Rows, *, is_finished: bool) -> Iterator[str]:
    """One wake of an agent at a time, each started once and ended once."""
    started: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    running: defaultdict[str, str] = defaultdict(str)
    for row in rows.agents:
        match row.fact:
            case WakeStarted():
                started[row.entity] += 1
            case WakeFinished():
                ended[row.entity] += 1
            case WakeBegun(run_key=run_key):
                if running[row.entity] not in ("", run_key):
                    yield f"{run_key} began while {running[row.entity]} ran"
                running[row.entity] = run_key
            case WakeSettled(run_key=run_key) | WakeBackedOff(run_key=run_key):
                if running[row.entity] == run_key:
                    running[row.entity] = ""
            case _:
                pass
    for run_key, count in (started + ended).items():
        most = count - started[run_key], started[run_key]
        if max(most) > 1:
            yield f"the wake {run_key} started {most[1]} times and ended {most[0]} times"
        if is_finished and started[run_key] > ended[run_key]:
            yield f"the wake {run_key} has no end"


def _operations(rows: Rows, *, is_finished: bool) -> Iterator[str]:
    """Each operation has one receipt in the journal, and what was confirmed is applied there."""
    applied: Counter[str] = Counter()
    for row in rows.journal:
        receipt = row.fact
        if isinstance(receipt, Receipt) and isinstance(receipt.command, ApplyOperation):
            applied[receipt.command.operation] += receipt.result.status == "applied"
    intents: dict[tuple[str, int], str] = {}
    for row in rows.agents:
        match row.fact:
            case ItemConfirming(item=item, operation=operation):
                intents[row.entity, item] = operation
            case ItemConfirmed(item=item):
                operation = intents.pop((row.entity, item), "")
                if not applied[operation]:
                    yield f"item {item} of {row.entity} is confirmed and was not applied"
            case ItemFailed(item=item):
                intents.pop((row.entity, item), "")
            case _:
                pass
    yield from (f"{one} was applied {count} times" for one, count in applied.items() if count > 1)
    if is_finished:
        yield from (f"item {item} of {of} is in doubt" for of, item in intents)


def _triggers(rows: Rows, taken: int) -> Iterator[str]:
    """Every change of a task after its agent was made, as far as the watcher has come, stands in
    one wake's causes or one suppression of its agent (DESIGN 2, law 9); so may one of a task that
    it has a link to, and a link to it that is made or taken away."""
    agents = {
        row.fact.task: (row.entity, row.fact.position)
        for row in rows.agents
        if isinstance(row.fact, AgentCreated)
    }
    noticed: defaultdict[str, Counter[int]] = defaultdict(Counter)
    dropped = _superseding(rows)
    for row in rows.agents:
        match row.fact:
            case WakeQueued(trigger=trigger) | TriggerSuppressed(trigger=trigger):
                noticed[row.entity][trigger.position] += trigger.reason == "subscription"
            case TriggerMerged(trigger=trigger, run_key=run_key):
                is_inherited = run_key in dropped and noticed[row.entity][trigger.position]
                counts = trigger.reason == "subscription" and not is_inherited
                noticed[row.entity][trigger.position] += counts
            case _:
                pass
    written: defaultdict[str, set[int]] = defaultdict(set)
    named: defaultdict[str, set[int]] = defaultdict(set)  # by a link to it
    linked: defaultdict[str, set[str]] = defaultdict(set)  # to whom it has links, or had
    for row in rows.journal:
        if row.of_kind == "task" and row.n <= taken:
            written[row.entity].add(row.n)
        if isinstance(row.fact, LinkedFrom):
            linked[row.fact.source].add(row.entity)
        if isinstance(row.fact, LinkedFrom | UnlinkedFrom):
            named[row.entity].add(row.n)
    for task, (agent, born) in agents.items():
        wrote = {n for n in written[task] if n > born}
        seen = {n: count for n, count in noticed[agent].items() if count}
        near = wrote.union(named[task], *(written[one] for one in linked[task]))
        if not wrote <= seen.keys() <= near or max(seen.values(), default=1) > 1:
            yield f"agent {agent}: noticed {sorted(seen.items())}, written {sorted(wrote)}"


def _superseding(rows: Rows) -> set[str]:
    """The wakes that took over another one's triggers."""
    facts = (row.fact for row in rows.agents)
    return {one.by for one in facts if isinstance(one, WakeDropped) and one.by}
