"""The JSON document of a day: what is planned, beside the time that was really spent."""

from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.inbox import InboxItem
from domain.journal.catalog import CATALOG
from domain.journal.day import DAY, Day, meeting
from domain.journal.document import category_name
from domain.journal.task import TASK
from domain.log.state import MAIN, LogState

if TYPE_CHECKING:
    from adapters.wiring import Home


class DayBlock(Struct, frozen=True):
    """A block, by the clock of its day. Of a task `title` is that task's, and `status` its status
    or ``DELETED``; else both ids are null. `by`: ``person`` or ``agent:ID``; `at`: when it was put
    as it stands; `spent_minutes`: on its task, by entries that share time with it; `overlaps`: it
    meets another block, of another machine."""

    id: str
    start: str
    end: str
    task_id: str | None
    title: str
    status: str | None
    category: str
    by: str
    at: str
    minutes: int
    spent_minutes: int
    overlaps: bool


class DaySpent(Struct, frozen=True):
    """Time that was spent on a task that day, by the clock; without an `end` its timer runs.
    `planned`: the block that it is of, or null."""

    task_id: str
    title: str
    start: str
    end: str | None
    minutes: int
    planned: str | None


class DayTask(Struct, frozen=True):
    """A task that is wanted that day."""

    task_id: str
    title: str


class DayRating(Struct, frozen=True):
    """How well it went, from 1 to 5; `comment` may be empty."""

    score: int
    comment: str


class DayDetails(Struct, frozen=True):
    """A day: what `day` prints. `free_minutes`: of today what is left. `proposals`: of an agent,
    open ones."""

    date: str
    zone: str
    free_minutes: int
    planned_minutes: int
    spent_minutes: int
    blocks: list[DayBlock]
    spent: list[DaySpent]
    pinned: list[DayTask]
    proposals: list[InboxItem]
    rating: DayRating | None


def blocks_of(home: "Home", date: str) -> list[DayBlock]:
    """The blocks of a day of a home."""
    with home.services.journal.reading() as world:
        return day_blocks(world, world.load(DAY, date))


def day_blocks(world: LogState, day: Day) -> list[DayBlock]:
    """The blocks of a day, by their start, without the time that was spent."""
    catalog = world.load(CATALOG, MAIN)
    found: list[DayBlock] = []
    for one in day.blocks:
        task = world.load(TASK, one.task) if one.task else None
        category = task.category if task else one.category
        start, end = one.span
        found.append(
            DayBlock(
                id=one.id,
                start=one.start,
                end=one.end,
                task_id=one.task or None,
                title=task.title if task else one.title,
                status=None if task is None else "DELETED" if task.is_deleted else task.status,
                category=category_name(catalog, category) if category else "",
                by=one.by,
                at=one.at,
                minutes=end - start,
                spent_minutes=0,
                overlaps=meeting(day, one.start, one.end, one.id) is not None,
            )
        )
    return found
