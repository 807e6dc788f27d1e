"""The tools of an agent that plans a day (ADR 103): blocks of tasks that it was shown, in free
times. A person's block is fixed; whether a task may be planned is looked at again as it is
applied."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any

from msgspec.structs import replace

from domain.errors import Refused
from domain.journal import day as d
from domain.journal.task import TASK
from domain.log.keys import key
from domain.log.state import LogState
from domain.tools.arguments import Arguments, id_of, list_of, text_of
from domain.tools.base import DayFacts, Exploded, Tool, ToolEffect, ToolRefusal, quoted, redundant
from domain.tools.followups import named
from domain.tools.snapshot import Snapshot, SnapshotBlock, SnapshotDay, SnapshotTask, blocks_of

PUT, REMOVE = "put_block", "remove_block"
PROPOSE, DROP = "propose_blocks", "drop_blocks"
DAY_CHANGES = (PUT, REMOVE)

Clock = Annotated[str, text_of(5, "Of the person's clock, HH:MM.", "clock")]
BlockId = Annotated[str, id_of("A block's id.")]
TaskId = Annotated[str, id_of("A task's id, from `tasks`.")]
DayName = Annotated[str, text_of(10, "The day, YYYY-MM-DD.", "date")]


class WantedBlock(Arguments, frozen=True):
    task_id: TaskId
    start: Clock
    end: Clock
    block: Annotated[str, id_of("Your own block that moves; left out for a new one.")] = ""


class ProposeBlocks(Arguments, frozen=True):
    blocks: Annotated[tuple[WantedBlock, ...], list_of("The blocks of the day.")]


class PutTaskBlock(Arguments, frozen=True):
    """A block as a person decides on it."""

    day: DayName
    start: Clock
    end: Clock
    task_id: TaskId
    block: BlockId = ""


class NamedBlock(Arguments, frozen=True):
    block: BlockId


class DropBlocks(Arguments, frozen=True):
    blocks: Annotated[tuple[NamedBlock, ...], list_of("Your own blocks of the day.")]


class RemoveTaskBlock(Arguments, frozen=True):
    day: DayName
    block: BlockId


def _day(snapshot: Snapshot, wanted: str) -> SnapshotDay | ToolRefusal:
    if snapshot.day is None or snapshot.day.date != wanted:
        return ToolRefusal("not_found", f"The day {quoted(wanted)} is not the one you plan.")
    return snapshot.day


def _task(snapshot: Snapshot, wanted: str) -> SnapshotTask | ToolRefusal:
    missing = f"No task with the id {quoted(wanted)} may be planned that day."
    found = (one for one in snapshot.others if one.id == wanted)
    return next(found, None) or ToolRefusal("not_found", missing)


def _own(day: SnapshotDay, wanted: str) -> SnapshotBlock | ToolRefusal:
    """A block that the agents' are."""
    known = next((one for one in day.blocks if one.id == wanted), None)
    if known is None:
        return ToolRefusal("not_found", f"{day.date} has no block with the id {quoted(wanted)}.")
    if not known.by.startswith("agent:"):
        return ToolRefusal("sovereignty", f"{_span(known)} is the person's own block.")
    return known


def _span(block: SnapshotBlock) -> str:
    return f"{block.start}-{block.end}"


def _put(snapshot: Snapshot, given: PutTaskBlock, by: str) -> DayFacts | ToolRefusal:
    day, task = _day(snapshot, given.day), _task(snapshot, given.task_id)
    if isinstance(day, ToolRefusal):
        return day
    if isinstance(task, ToolRefusal):
        return task
    known = _own(day, given.block) if given.block else None
    if isinstance(known, ToolRefusal):
        return known
    if known and (known.start, known.end, known.task) == (given.start, given.end, task.id):
        return redundant("The block stands so already.")
    if given.task_id in day.declined:
        return redundant(f"The person wants no block of {named(task.id)} that day.")
    try:
        if given.start < day.now:
            return ToolRefusal("invalid_arguments", f"start: it is {day.now} already")
        if met := d.meeting(_as_day(day), given.start, given.end, given.block):
            return ToolRefusal("sovereignty", f"{met.start}-{met.end} is taken.")
        d.check_block(_as_day(day), given.start, given.end, block=given.block, of=task.id)
    except Refused as refused:
        return ToolRefusal("invalid_arguments", refused.whole)
    block = given.block or key("block", day.date, task.id, given.start)
    return (d.BlockPut(by, block, given.start, given.end, task.id, task.category),)


def _as_day(day: SnapshotDay) -> d.Day:
    blocks = (d.Block(one.id, one.start, one.end, one.task, by=one.by) for one in day.blocks)
    return d.Day(day.date, tuple(blocks))


def _remove(snapshot: Snapshot, given: RemoveTaskBlock, by: str) -> DayFacts | ToolRefusal:
    day = _day(snapshot, given.day)
    known = day if isinstance(day, ToolRefusal) else _own(day, given.block)
    return known if isinstance(known, ToolRefusal) else (d.BlockRemoved(by, known.id),)


def _explode_put(snapshot: Snapshot, given: ProposeBlocks) -> Exploded | ToolRefusal:
    """Each against the day with those before it in the call."""
    accepted: dict[str, PutTaskBlock] = {}
    refusals: list[ToolRefusal] = []
    day = snapshot.day.date if snapshot.day else ""
    for one in given.blocks:
        wanted = PutTaskBlock(day, one.start, one.end, one.task_id, one.block)
        if isinstance(facts := _put(snapshot, wanted, "agent:"), ToolRefusal):
            refusals.append(facts)
        elif one.task_id in accepted:
            refusals.append(redundant(f"{named(one.task_id)} is named twice."))
        else:
            accepted[one.task_id] = wanted
            snapshot = _with(snapshot, facts)
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _with(snapshot: Snapshot, facts: DayFacts) -> Snapshot:
    """The snapshot with blocks that were put."""
    assert snapshot.day  # they were put there
    put = [fact for fact in facts if isinstance(fact, d.BlockPut)]
    ids = {one.block for one in put}
    blocks = [one for one in snapshot.day.blocks if one.id not in ids]
    blocks += [SnapshotBlock(one.block, one.start, one.end, one.by, one.task) for one in put]
    return replace(snapshot, day=replace(snapshot.day, blocks=tuple(blocks)))


def _explode_dropped(snapshot: Snapshot, given: DropBlocks) -> Exploded | ToolRefusal:
    accepted: dict[str, RemoveTaskBlock] = {}
    refusals: list[ToolRefusal] = []
    for one in given.blocks:
        wanted = RemoveTaskBlock(snapshot.day.date if snapshot.day else "", one.block)
        if isinstance(facts := _remove(snapshot, wanted, ""), ToolRefusal):
            refusals.append(facts)
        else:
            accepted[one.block] = wanted
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _standing(snapshot: Snapshot, given: PutTaskBlock) -> object:
    """What a block rests on: what stands in its time, and where it stands itself."""
    blocks = snapshot.day.blocks if snapshot.day else ()
    return sorted(
        [one.id, one.start, one.end]
        for one in blocks
        if one.id == given.block or (one.start < given.end and given.start < one.end)
    )


def _block(snapshot: Snapshot, wanted: str) -> SnapshotBlock | None:
    blocks = snapshot.day.blocks if snapshot.day else ()
    return next((one for one in blocks if one.id == wanted), None)


def _now(snapshot: Snapshot, arguments: Mapping[str, Any]) -> str | None:
    known = _block(snapshot, str(arguments.get("block")))
    return _span(known) if known else None


def _removed_summary(snapshot: Snapshot, given: RemoveTaskBlock) -> str:
    known = _block(snapshot, given.block)
    told = f" {_span(known)}: {named(known.task)}" if known else ""
    return f"Remove the block on {given.day}{told}"


def tasks_named(given: object) -> Iterable[str]:
    """The tasks that a change of a day is about, by its arguments."""
    return (given.task_id,) if isinstance(given, PutTaskBlock) else ()


def seen_now(world: LogState, given: object, position: int) -> Snapshot:
    """What a change of a day would be applied to: the day, and the open task that it names."""
    date = getattr(given, "day", "")
    tasks = [world.load(TASK, one) for one in tasks_named(given)]
    return Snapshot(
        "",
        position,
        "",
        "",
        day=SnapshotDay(date, blocks=blocks_of(world.load(d.DAY, date))) if date else None,
        others=tuple(SnapshotTask(one.id, one.category) for one in tasks if one.is_open),
    )


_of_day = partial(
    Tool, since=4, capabilities=("day.propose",), entities=("day", "block"), tokens=(),
    scope="own_day",
)  # fmt: skip

TOOLS = (
    _of_day(
        name=PROPOSE,
        brief="Propose when the person works at what: a block each, in free times of the day.",
        description="",
        applies=lambda snapshot: bool(snapshot.others),
        arguments=ProposeBlocks,
        array="blocks",
        singular=PUT,
        element=PutTaskBlock,
        explode=_explode_put,
        effect=ToolEffect(
            facts=_put,
            values=_standing,
            touches=lambda given: (f"block:{given.day}:{given.task_id}",),
            parts=lambda given: (f"block:{given.day}:{given.task_id}",),
            summary=lambda _, given: (
                f"Block on {given.day} {given.start}-{given.end}: {named(given.task_id)}"
            ),
            now=_now,
            form={"start": "From", "end": "To"},
            remedies=dict.fromkeys(("stale", "sovereignty"), "other_times"),
        ),
    ),
    _of_day(
        name=DROP,
        brief="Propose to remove blocks that an agent planned.",
        description="",
        applies=lambda snapshot: (
            snapshot.day is not None
            and any(one.by.startswith("agent:") for one in snapshot.day.blocks)
        ),
        arguments=DropBlocks,
        array="blocks",
        singular=REMOVE,
        element=RemoveTaskBlock,
        explode=_explode_dropped,
        effect=ToolEffect(
            facts=_remove,
            values=lambda snapshot, given: (
                [one.start, one.end] if (one := _block(snapshot, given.block)) else None
            ),
            touches=lambda given: (f"block:{given.block}",),
            summary=_removed_summary,
            now=_now,
        ),
    ),
)
