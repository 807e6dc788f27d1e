"""Reads of a wake: a look into both logs where they end, which changes nothing (ADR 42)."""

from collections.abc import Mapping, Sequence

from adapters.runtime.services import Services
from domain.wake import reads
from domain.wake.events import ToolAsked, ToolReturned
from domain.wake.state import Wake
from domain.wake.task_lines import TaskLine
from domain.wire import Payload, words
from domain.world import World


def answered(
    services: Services, wake: Wake, asked: ToolAsked
) -> tuple[ToolReturned, Sequence[Payload]]:
    """What a read is answered with, and the payload that this needs."""

    def lines(journal: World) -> Mapping[str, TaskLine]:
        kept = services.task_lines
        if not kept.n:
            return kept.of(journal)
        rows = (row for append in services.journal.came(kept.n) for row in append)
        return kept.of(journal, {row.entity for row in rows if row.of_kind == "task"})

    with services.journal.reading() as journal, services.agents.reading() as agents:
        told = reads.read(asked, wake, journal, agents, lines)
        positions = journal.n - 1, agents.n - 1
    message, kept = words(wake.unit, told.text)
    return reads.returned(asked, told, message, *positions), kept
