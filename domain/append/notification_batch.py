"""Every journal append is one notification batch (DESIGN 5).

A token is ``key:TASK``, ``id:<id>`` or ``sub:note:transcript``. A batch carries the ids of the
tasks it touches; tasks that link to them come as propagated tokens."""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from domain.agent.subscriptions import Batch, TouchedTask
from domain.append.causes import Receipt
from domain.journal import task as t
from domain.journal.commands import ApplyOperation, ImportTasks
from domain.journal.links import Links
from domain.journal.task import Task, TaskImported
from domain.log.keys import key
from domain.log.state import RecordedEvent
from domain.log.wire import Imported, Stored
from domain.policy.flow import project

_ITEM_FACTS = (
    t.ItemAdded, t.ItemRetitled, t.ItemChecked, t.ItemUnchecked, t.ItemArchived, t.ItemRestored,
)  # fmt: skip
_TIME_FACTS = (
    t.TimeStarted, t.TimeStopped, t.TimeLogged, t.TimeEdited, t.TimeReopened, t.TimeRemoved,
)  # fmt: skip


def tokens_of(task: str, fact: Stored) -> tuple[str, ...]:
    """What a fact about a task touches, as tokens."""
    own = f"id:{task}"
    match fact:
        case t.ChecklistAdded(checklist=checklist):
            return own, "key:CHECKLIST", f"id:{checklist}"
        case _ if isinstance(fact, _ITEM_FACTS):
            return own, "key:CHECKLIST_ITEM", f"id:{fact.item}"
        case t.NoteAdded(note=note, note_kind=note_kind):
            return own, "key:NOTE", f"sub:note:{note_kind}", f"id:{note}"
        case t.NoteEdited(note=note) | t.NoteRemoved(note=note):
            return own, "key:NOTE", f"id:{note}"
        case _ if isinstance(fact, _TIME_FACTS):
            return own, "key:TIME_ENTRY", f"id:{fact.entry}"
        case t.TaskRated(entry=entry):
            return (own, "key:RATING", f"id:{entry}") if entry else (own, "key:RATING")
        case t.TaskLinked(target=target) | t.TaskUnlinked(target=target):
            return own, "key:LINK", f"id:{target}"
        case t.LabelAssigned(label=label) | t.LabelRemoved(label=label):
            return own, "key:TASK", "key:LABEL", f"id:{label}"
        case _:
            return own, "key:TASK"


# --------------------------------------------------------------------------- the batch of an append


def batch(
    rows: Sequence[RecordedEvent], links: Callable[[str], Links], task: Callable[[str], Task]
) -> Batch | None:
    """The notification batch of one append; None where it touches nothing.

    `rows`: all rows of the append, the receipt first. `links`: the edges that end at a task, after
    the append. `task`: a task after the append."""
    if _is_written_back(rows):
        return None
    touched = sorted({row.entity for row in rows if row.of_kind == "task"})
    direct: set[str] = set()
    units: list[str] = []
    for row in rows:
        if row.of_kind not in ("task", "catalog"):
            continue
        is_of_label = type(row.fact).__name__.startswith("Label")
        of_catalog = ("key:LABEL",) if is_of_label else ("key:CATEGORY",)
        direct.update(tokens_of(row.entity, row.fact) if row.of_kind == "task" else of_catalog)
        who = getattr(row.fact, "by", "person")
        units.append(key("unit", who, row.replica, str(row.n), row.of_kind, row.entity))
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


def _is_written_back(rows: Sequence[RecordedEvent]) -> bool:
    """Whether all that the append says is that a file says now what stood here before."""
    receipt = rows[0].fact
    command = receipt.command if isinstance(receipt, Receipt) else receipt
    is_it = isinstance(command, ImportTasks) and command.is_written_back
    return is_it and all(isinstance(row.fact, TaskImported) for row in rows[1:])


def origin_of(rows: Iterable[RecordedEvent]) -> str:
    """Who did it: ``person``, ``agent:<id>`` or ``import:<source>``; catalog edits are a
    person's unless they come with an import's tasks."""
    found = (getattr(row.fact, "by", "") for row in rows if row.of_kind == "task")
    return next((by for by in found if by), "person")


def _hop(rows: Sequence[RecordedEvent]) -> int:
    receipt = rows[0].fact
    if isinstance(receipt, Receipt) and isinstance(receipt.command, ApplyOperation):
        return receipt.command.hop + 1
    return 0
