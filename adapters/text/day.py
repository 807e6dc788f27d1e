"""A day in words."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime

from adapters.documents.day import DayBlock, DayDetails, DaySpent
from adapters.text.common import ID_SHOWN, safe
from adapters.text.task import span
from domain.journal.day import BlockPut, BlockRemoved, DayFact, DayRated, DayTaskPinned
from domain.journal.task import PERSON, Task
from domain.log.timestamps import seconds_between


def day_head(day: DayDetails) -> str:
    """What a day is called, and how it is filled."""
    told = f"{datetime.fromisoformat(day.date):%A} {day.date}: {span(day.free_minutes)} free"
    planned = f", {span(day.planned_minutes)} planned" if day.blocks else ""
    return told + planned + (f", {span(day.spent_minutes)} spent" if day.spent else "")


def day_rows(day: DayDetails) -> list[tuple[str, ...]]:
    """Each block, and what was spent outside of blocks, in order: when, what, how much of it was
    planned and spent, and whose block it is."""
    outside = [one for one in day.spent if one.planned is None]
    rows = [(_times(one), one.title, "", span(one.minutes), "") for one in outside]
    for block in day.blocks:
        times = ", ".join(_times(one) for one in day.spent if one.planned == block.id)
        spent = f"{span(block.spent_minutes)} ({times})" if times else ""
        by = "you" if block.by == PERSON else "agent"
        rows.append((_times(block), titled(block), span(block.minutes), spent, by))
    return sorted(rows)


def plan_rows(day: DayDetails, tasks: Mapping[str, Task]) -> list[tuple[str, ...]]:
    """What is proposed for a day among what stands in it, in order: how it is named, when, what,
    and what speaks for it. `tasks`: those that are proposed, by id."""
    rows = [("", _times(one), titled(one), "yours" if one.by == PERSON else "planned")
            for one in day.blocks]  # fmt: skip
    for one in day.proposals:
        given, title = one.arguments, one.summary.partition(": ")[2].strip('"')
        times = f"{given['start']}-{given['end']}" if "start" in given else ""
        task = tasks.get(one.target or "")
        rows.append((one.ref, times, title or one.summary, _pressing(task, day) if task else ""))
    return sorted(rows, key=lambda row: row[1])


def _pressing(task: Task, day: DayDetails) -> str:
    """What speaks for a task on a day."""
    due = date.fromisoformat(task.due) if task.due else None
    away = (due - date.fromisoformat(day.date)).days if due else 0
    days = {0: "due that day", 1: "due the day after"}
    spent = sum(seconds_between(one.start, one.end) for one in task.time if one.end) // 60
    told = [
        "wanted that day" if task.id in {one.task_id for one in day.pinned} else "",
        "" if due is None else "overdue" if away < 0 else days.get(away, f"due {task.due}"),
        f"{span(max(0, task.estimate - spent))} left" if task.estimate else "no estimate",
    ]
    return ", ".join(filter(None, told))


def day_notes(day: DayDetails) -> Iterator[str]:
    """What is to be said of a day below its blocks."""
    if not (day.blocks or day.spent):
        yield (
            "Nothing is planned; put a block with `wakelog day put TASK 9-11`, or let an agent "
            "propose some with `wakelog day plan`."
        )
    if meeting := [one for one in day.blocks if one.overlaps]:
        named = ", ".join(f"{_times(one)} {one.title} ({one.id[:ID_SHOWN]})" for one in meeting)
        yield safe(f"Blocks of two machines overlap, move one by its id: {named}")
    if day.pinned:
        yield safe(f"Wanted: {', '.join(one.title for one in day.pinned)}")
    if day.rating:
        comment = f": {day.rating.comment}" if day.rating.comment else ""
        yield safe(f"Rated {day.rating.score} of 5{comment}")


def block_line(block: DayBlock) -> str:
    """A block in one line."""
    return safe(f"{_times(block)}  {titled(block)}")


def titled(block: DayBlock) -> str:
    """What a block is of; of a task that is closed or deleted, that it is."""
    is_over = block.status in ("DONE", "REJECTED", "DELETED")
    return f"{block.title} ({block.status.lower()})" if block.status and is_over else block.title


def day_undone(fact: DayFact) -> str:
    """What an undo makes of a day by a fact."""
    match fact:
        case BlockPut(start=start, end=end):
            return f"Put the block back to {start}-{end}"
        case BlockRemoved():
            return "Take the block away again"
        case DayRated(score=score):
            return f"Set the rating back to {score or 'none'}"
        case _:
            is_pinned = isinstance(fact, DayTaskPinned)
            return "Want the task that day again" if is_pinned else "Want it that day no longer"


def _times(one: DayBlock | DaySpent) -> str:
    return f"{one.start}-{one.end or ''}"
