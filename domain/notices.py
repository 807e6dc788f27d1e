"""Every journal append is one notification batch (DESIGN 5).

A token is ``key:TASK``, ``id:<id>`` or ``sub:note:transcript``. A batch carries the ids of the
tasks it touches; tasks that link to them come as propagated tokens.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from domain.agent.matching import Batch, TouchedTask
from domain.causes import Receipt
from domain.journal.commands import ApplyOperation, ImportTasks
from domain.journal.links import Links
from domain.journal.task import Task, TaskImported
from domain.journal.tokens import tokens_of
from domain.keys import key
from domain.policy.projections import project
from domain.wire import Imported
from domain.world import Recorded


def _other_tokens(recorded: Recorded) -> tuple[str, ...]:
    name = type(recorded.fact).__name__
    if name.startswith("Label"):
        return ("key:LABEL",)
    return ("key:CATEGORY",)


def batch(
    rows: Sequence[Recorded], links: Callable[[str], Links], task: Callable[[str], Task]
) -> Batch | None:
    """The notification batch of one append; None where it touches nothing.

    Args:
        rows: All rows of the append, the receipt first.
        links: The edges that end at a task, after the append.
        task: A task after the append.
    """
    if _is_written_back(rows):
        return None
    touched = sorted({row.entity for row in rows if row.of_kind == "task"})
    direct: set[str] = set()
    units: list[str] = []
    for row in rows:
        if row.of_kind not in ("task", "catalog"):
            continue
        is_task = row.of_kind == "task"
        direct.update(tokens_of(row.entity, row.fact) if is_task else _other_tokens(row))
        units.append(_unit(row))
    if not direct:
        return None
    sources = {edge.source for one in touched for edge in links(one).incoming}
    propagated = sorted(f"id:{source}" for source in sources if f"id:{source}" not in direct)
    states = [task(one) for one in touched]
    told = Batch(
        n=rows[0].n,
        replica=rows[0].replica,
        origin=origin_of(rows),
        hop=_hop(rows),
        tokens=tuple(sorted(direct)),
        propagated=tuple(propagated),
        change=key("change", *sorted(set(units))),
        touched=tuple(TouchedTask(one.id, one.category, one.status) for one in states),
    )
    return project("notice", told)


def brought(told: Batch, replica: str, n: int) -> Batch:
    """The batch of another machine's append, as a replica tells of it that learnt of it by its own
    append n, a marker: from there on it is part of what its agents know."""
    return replace(told, replica=replica, n=n, of=told.replica, of_n=told.n)


def is_covered(told: Batch, covered: Iterable[Imported]) -> bool:
    """Whether another machine has taken the append that a batch tells of, see `TakeJournal`."""
    of, n = (told.of, told.of_n) if told.of else (told.replica, told.n)
    return any(one.replica == of and n <= one.n for one in covered)


def _is_written_back(rows: Sequence[Recorded]) -> bool:
    """Whether all that the append says is that a file says now what stood here before."""
    receipt = rows[0].fact
    command = receipt.command if isinstance(receipt, Receipt) else receipt
    is_it = isinstance(command, ImportTasks) and command.is_written_back
    return is_it and all(isinstance(row.fact, TaskImported) for row in rows[1:])


def origin_of(rows: Iterable[Recorded]) -> str:
    """Who did it: ``person``, ``agent:<id>`` or ``import:<source>``; catalog edits are a
    person's unless they come with an import's tasks."""
    found = (getattr(row.fact, "by", "") for row in rows if row.of_kind == "task")
    return next((by for by in found if by), "person")


def _hop(rows: Sequence[Recorded]) -> int:
    receipt = rows[0].fact
    if isinstance(receipt, Receipt) and isinstance(receipt.command, ApplyOperation):
        return receipt.command.hop + 1
    return 0


def _unit(row: Recorded) -> str:
    """Key of a change unit: (origin, replica, n, type, id)."""
    by = getattr(row.fact, "by", "person")
    return key("unit", by, row.replica, str(row.n), row.of_kind, row.entity)
