"""What a person does to a day, and what is read of it: blocks, beside the time really spent."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date as date_of
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.day import DayDetails, DayRating, DaySpent, DayTask, day_blocks
from adapters.usecases.inputs import minutes, there
from adapters.usecases.resolve import kept_before
from adapters.usecases.tasks import UseCaseResult, append_command
from domain.changes.change_set import OPEN
from domain.errors import Refused, invalid
from domain.journal import day as d
from domain.journal.task import TASK, Task
from domain.log.state import LogState
from domain.log.timestamps import seconds_between
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.documents.inbox import InboxItem
    from adapters.wiring import Home

SPAN_HELP = "9-11, 9:30-11:00 or 9:30+90m"
_TIME = r"([0-9]{1,2})(?::?([0-9]{2}))?"
_SPAN = re.compile(rf"{_TIME} ?(?:[-–] ?{_TIME}|\+ ?(.+))")


def span(given: str) -> tuple[str, str]:
    """From when to when, as it is stored. Raises Refused, code ``invalid_value``.

    >>> span("9-11"), span("9:30+90m"), span("09:30-11:00")
    (('09:00', '11:00'), ('09:30', '11:00'), ('09:30', '11:00'))
    """
    found = _SPAN.fullmatch(given.strip())
    if not found:
        raise invalid(f"{given!r} is no span of time", f"write {SPAN_HELP}")
    start = _clock(found[1], found[2])
    if found[5]:
        return start, d.clock(d.minutes_of(start) + minutes(found[5]))
    return start, _clock(found[3], found[4])


def _clock(hour: str, minute: str | None) -> str:
    return d.clock(d.minutes_of(f"{hour:0>2}:{minute or '00'}"))


# ----------------------------------------------------------------------------------------- deeds


def block_named(home: "Home", date: str, given: str) -> str:
    """The block of a day that its start names, or its id or the beginning of one. Raises Refused,
    code ``unknown_block``, or ``ambiguous``: blocks of two machines begin then."""
    with home.services.journal.reading() as world:
        day = world.load(d.DAY, date)
    time = re.fullmatch(_TIME, given)
    start = _clock(time[1], time[2]) if time else ""
    found = [one for one in day.blocks if one.start == start or one.id.startswith(given)]
    if len(found) == 1:
        return found[0].id
    if found:
        ids = ", ".join(one.id[:8] for one in found)
        because = f"{given!r} names {len(found)} blocks of {date}: {ids}"
        raise Refused("ambiguous", because=because, instead="name one by its id")
    starts = ", ".join(one.start for one in day.blocks) or "none yet"
    because = f"no block of {date} begins at {given!r}"
    raise Refused("unknown_block", because=because, instead=f"name one by its start: {starts}")


def block_again(home: "Home", date: str, given: str, key: str = "") -> str:
    """The same; a retry under its key knows the block that it meant."""
    try:
        return block_named(home, date, given)
    except Refused:
        if had := getattr(kept_before(home, key), "block", ""):
            return str(had)
        raise


def put(home: "Home", date: str, start: str, end: str, key: str = "", **of: str) -> UseCaseResult:
    """Put a new block into a day, `of` a ``task``, or of a ``title`` that may have a ``category``;
    its id is the result's."""
    return append_command(home, d.PutBlock(date, start, end, **of), key)


def move(home: "Home", date: str, block: str, start: str, end: str, key: str = "") -> UseCaseResult:
    """Give a block other times; it is the person's own from then on."""
    return append_command(home, d.PutBlock(date, start, end, block), key)


def keep(home: "Home", date: str, block: str, key: str = "") -> UseCaseResult:
    """Make a block the person's own, which no agent may move."""
    return append_command(home, d.PutBlock(date, block=block), key)


def remove(home: "Home", date: str, block: str, key: str = "") -> UseCaseResult:
    """Take a block away."""
    return append_command(home, d.RemoveBlock(date, block), key)


def pin(
    home: "Home", date: str, task: str, key: str = "", *, is_pinned: bool = True
) -> UseCaseResult:
    """Say that a task is wanted on a day, or no longer."""
    return append_command(home, d.PinTask(date, task, is_pinned), key)


def rate(home: "Home", date: str, score: int, comment: str = "", key: str = "") -> UseCaseResult:
    """Say how well a day went: 1 to 5."""
    return append_command(home, d.RateDay(date, score, comment), key)


# --------------------------------------------------------------------------------------- reading


def days_from(date: str, count: int) -> list[str]:
    """So many dates from one on; fewer where the calendar ends."""
    first = date_of.fromisoformat(date)
    count = min(count, (date_of.max - first).days + 1)
    return [(first + timedelta(nth)).isoformat() for nth in range(count)]


def read_day(home: "Home", date: str) -> DayDetails:
    return read_days(home, [date])[0]


def read_days(home: "Home", dates: Sequence[str]) -> list[DayDetails]:
    """Days as they are planned, and the time that was spent in them as clocks in the home's zone
    show it. Its views are as of their last `catch_up`."""
    from adapters.home.schedules import shown_on
    from adapters.usecases.day_agent import hours_of  # it wakes agents, which loads much

    zone, now, hours = home.settings.timezone, home.services.clock.now(), hours_of(home)
    first = shown_on(dates[0], "00:00", zone)
    # an entry was written once its time had begun
    touched = [one.id for one in home.views.turned(VIEW, first)] if first < now else ()
    with home.services.journal.reading() as world:
        tasks = [world.load(TASK, one) for one in touched]
        found = [_details(world, world.load(d.DAY, one), tasks, zone, now, hours) for one in dates]
    return [replace(one, proposals=_proposals(home, one.date)) for one in found]


def _proposals(home: "Home", date: str) -> "list[InboxItem]":
    """What agents propose for a day and nobody has decided, in the order of its times."""
    from adapters.documents.inbox import set_documents, sets_under

    sets = sets_under(home, "waiting", "deferred", task=f"day:{date}")
    items = [item for one in set_documents(home, sets, is_all=True) for item in one.items]
    waiting = [one for one in items if one.status in OPEN]
    return sorted(waiting, key=lambda one: (one.arguments.get("start", ""), one.ref))


def _details(
    world: LogState,
    day: d.Day,
    tasks: Iterable[Task],
    zone: str,
    now: str,
    hours: tuple[d.Span, list[d.Span]],
) -> DayDetails:
    from adapters.home.schedules import shown_on

    blocks, found = day_blocks(world, day), list[tuple[str, DaySpent]]()
    begins, ends = (shown_on(day.id, at, zone) for at in ("00:00", "24:00"))
    spans = {one.id: [shown_on(day.id, at, zone) for at in (one.start, one.end)] for one in blocks}
    for task, entry in [(one, entry) for one in tasks for entry in one.time]:
        start, end = max(entry.start, begins), min(entry.end or now, ends)
        if start >= end:
            continue
        of = [one.id for one in blocks if one.task_id == task.id]
        planned = [one for one in of if start < spans[one][1] and spans[one][0] < end]
        shown = "24:00" if end == ends else f"{there(end, zone):%H:%M}"
        told = DaySpent(
            task_id=task.id,
            title=task.title,
            start=f"{there(start, zone):%H:%M}",
            end=shown if entry.end or end == ends else None,
            minutes=seconds_between(start, end) // 60,
            planned=planned[0] if planned else None,
        )
        found.append((start, told))
    spent = [one for _, one in sorted(found, key=lambda one: (one[0], one[1].task_id))]
    (first, last), pauses = hours
    if begins <= now < ends:  # of today what is left of it
        first = max(first, d.minutes_of(f"{there(now, zone):%H:%M}"))
    of_block = Counter[str | None]()
    for each in spent:
        of_block[each.planned] += each.minutes
    return DayDetails(
        date=day.id,
        zone=zone,
        free_minutes=sum(
            until - at for at, until in d.free_spans(day.blocks, (first, last), pauses)
        ),
        planned_minutes=sum(one.minutes for one in blocks),
        spent_minutes=of_block.total(),
        blocks=[replace(one, spent_minutes=of_block[one.id]) for one in blocks],
        spent=spent,
        pinned=[DayTask(one, world.load(TASK, one).title) for one in day.pinned],
        proposals=[],
        rating=DayRating(day.score, day.comment) if day.score else None,
    )
