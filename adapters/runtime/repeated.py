"""What other machines did that this one knew already: nobody is woken for it (ADR 76).

Two machines that watch one file both import a line that is new in it. The rows of the other one
come as news, and change nothing: without them the task would say the same.
"""

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from adapters.store.log import Appended
from adapters.store.reader import read_append
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE
from domain.agent.wake_queue_events import Trigger, WakeQueued
from domain.journal.fold import TASK
from domain.wake.commands import SkipWake
from domain.world import Recorded

if TYPE_CHECKING:
    from adapters.runtime.services import Services

NOTHING_NEW = "nothing_new"


def skip_repeated(services: "Services", taken: Appended) -> None:
    """Skip the wakes that were queued for what other machines said again.

    Args:
        services: Of the machine that leads.
        taken: The append that took notices.
    """
    if taken.rows and services.journal.is_shared:
        for command in [*_repeated(services, taken)]:
            services.append_agent(command)


def _repeated(services: "Services", taken: Appended) -> Iterator[SkipWake]:
    with services.agents.reading() as world:
        for row in read_append(taken.rows):
            if not (isinstance(row.fact, WakeQueued) and row.fact.trigger.of):
                continue
            queued = world.load(WAKE_QUEUE, row.entity).queued
            task = world.load(AGENT, row.entity).task
            if queued is None or not all(_is_of(one, task) for one in queued.triggers):
                continue
            if _is_same(services, task, {(one.of, one.of_n) for one in queued.triggers}):
                message = "another machine said what was known here"
                yield SkipWake(row.entity, queued.run_key, NOTHING_NEW, message)


def _is_of(trigger: Trigger, task: str) -> bool:
    """Whether it tells of what another machine did with that task, and of nothing else."""
    is_other = trigger.reason == "subscription" and bool(trigger.of) and not trigger.is_propagated
    return is_other and f"id:{task}" in trigger.tokens


def _is_same(services: "Services", task: str, appends: Set[tuple[str, int]]) -> bool:
    """Whether a task would say the same without some appends of other machines."""
    journal = services.journal

    def others(stream: str, after: int) -> list[Recorded]:
        rows = (row for row in journal.facts(stream) if row.version > after)
        return [row for row in rows if (row.replica, row.n) not in appends]

    without = journal.world_at(journal.tail().n, read=others).load(TASK, task)
    with journal.reading() as world:
        now = world.load(TASK, task)
    said, says = (_timeless(to_builtins(replace(one, touched={}))) for one in (without, now))
    return bool(said == says)


def _timeless(value: Any) -> Any:
    """A state without the times at which it was written."""
    match value:
        case dict():
            kept = ((name, one) for name, one in value.items() if name.split("_")[-1] != "at")
            return {name: _timeless(one) for name, one in kept}
        case list() | tuple():
            return [_timeless(one) for one in value]
        case _:
            return value
