"""What an agent that plans a day is told of it (ADR 103): gathered from the journal as it stands,
and from what the agents of its tasks say."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from msgspec.structs import replace

from domain.agent.agent import Agent
from domain.changes.change_set import ChangeSet
from domain.errors import Refused
from domain.journal.catalog import CATALOG, category_of
from domain.journal.day import DAY, Block, Day, minutes_of
from domain.journal.links import is_blocked
from domain.journal.task import TASK, Task
from domain.log import canonical
from domain.log.state import MAIN, LogState
from domain.log.timestamps import later, offset_seconds, seconds_between, wall
from domain.log.wire import Words
from domain.policy.flow import project
from domain.text import fold
from domain.tools.days import PUT
from domain.tools.snapshot import Snapshot, SnapshotDay, SnapshotTask, blocks_of
from domain.wake.commands import LocalTime
from domain.wake.reading import (
    BlockSeen,
    DayBeforeSeen,
    DaySeen,
    DayTaskSeen,
    PromptOptions,
    SpentSeen,
    WakeReason,
)
from domain.wake.task_search import SearchableTask

AHEAD = 7
"""So many days ahead one may be planned."""
EVENING = "18:00"
"""From then on the next day is planned, where the person names none."""
PLANNED = ("OPEN", "GROOMED", "IN PROGRESS")
LOOKED_AT = 200
"""So many tasks, the most urgent, are looked at."""
HOURS = "09:00-17:00"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
BUSY = "busy"

_NAMED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|(?<!guten )[a-z]+")
_NAMES = (
    "monday montag", "tuesday dienstag", "wednesday mittwoch", "thursday donnerstag",
    "friday freitag", "saturday samstag", "sunday sonntag",
)  # fmt: skip
DAY_NAMES = frozenset(f"{' '.join(_NAMES)} today heute tomorrow morgen".split())
"""Words that name a day."""
_SPAN = re.compile(r"([0-9]{1,2}:[0-9]{2})\s*-\s*([0-9]{1,2}:[0-9]{2})")


def planned_day(local: LocalTime, words: str) -> str:
    """The day that a wake is about: the first of the next seven days that the person's words name,
    else today, in the evening tomorrow.

    >>> monday = LocalTime("Monday", "2026-11-23T18:30", "Europe/Berlin", "+01:00")
    >>> [planned_day(monday, one) for one in ("Plan 2026-11-26.", "What is Friday for?", "now")]
    ['2026-11-26', '2026-11-27', '2026-11-24']
    >>> planned_day(monday, "Guten Morgen, was ist heute?")
    '2026-11-23'
    """
    today = local.time[:10]
    ahead = [shifted(today, days) for days in range(AHEAD + 1)]
    names = {one: day for day in ahead[:AHEAD] for one in _NAMES[weekday_of(day)].split()}
    names |= {one: one for one in ahead}
    names |= {"today": today, "heute": today, "tomorrow": ahead[1], "morgen": ahead[1]}
    asked = (names[one] for one in _NAMED.findall(fold(words)) if one in names)
    return next(asked, "") or ahead[local.time[11:] >= EVENING]


def clock_of(given: PromptOptions) -> LocalTime:
    """What the person's clock shows, or Refused."""
    if given.local is None:
        raise Refused("invalid_value", because="a day needs a clock", instead="give a local time")
    return given.local


def weekday_of(day: str) -> int:
    return date.fromisoformat(day).weekday()


DAY_SECONDS = 86_400


def shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def days_between(start: str, end: str) -> int:
    """How many days lie between what two times begin with."""
    return (date.fromisoformat(end[:10]) - date.fromisoformat(start[:10])).days


def day_seen(  # noqa: PLR0913  a journal, and what is found elsewhere
    journal: LogState,
    agent: Agent,
    asked: WakeReason,
    given: PromptOptions,
    *,
    lines: Mapping[str, SearchableTask],
    sets: Sequence[ChangeSet],
    ruled_out: Callable[[str], Collection[str]],
    one_liner: Callable[[str], str],
    text: Callable[[Words], str],
) -> DaySeen:
    """The day that a wake is about.

    Args:
        journal: The journal at the position that the wake is rendered at.
        asked: Why it wakes; its words may name a day.
        given: Its clock, and its scaffold.
        sets: The agent's change sets.
        ruled_out: By category, the kinds of change that the person wants none of.
        one_liner: What the agent of a task says of it, as far as this one may know.
        text: Reads the arguments of proposals.

    Raises:
        Refused: Code ``invalid_value``: nobody said what the person's clock shows.
    """
    local = clock_of(given)
    day = journal.load(DAY, planned_day(local, asked.words))
    before = journal.load(DAY, shifted(day.id, -1))
    tasks, more = _tasks(journal, agent, day, lines, ruled_out)
    known = {one.id: one for one in tasks}
    catalog = journal.load(CATALOG, MAIN)
    hours, pauses = hours_told(agent)
    return DaySeen(
        date=day.id,
        weekday=WEEKDAYS[weekday_of(day.id)],
        hours=hours,
        now=local.time[11:] if local.time[:10] == day.id else "",
        pauses=pauses,
        blocks=tuple(_block(journal, one, agent) for one in day.blocks),
        tasks=tuple(
            project(
                "day_task",
                DayTaskSeen(
                    id=one.id,
                    title=one.title,
                    status=one.status,
                    priority=one.priority,
                    due=one.due,
                    estimate=one.estimate,
                    spent=sum(minutes for _, minutes in worked(one, local)),
                    planned=sum(b.span[1] - b.span[0] for b in day.blocks if b.task == one.id),
                    items=items_done(one),
                    category=category_of(catalog, one.category).name,
                    one_liner=one_liner(one.id),
                    pinned=one.id in day.pinned,
                ),
                given.scaffold,
            )
            for one in tasks
        ),
        more_tasks=more,
        declined=tuple(sorted(_declined(sets, day.id, text) & known.keys())),
        before=_before(journal, before, agent, known.values(), local),
    )


def hours_told(agent: Agent) -> tuple[tuple[str, str], tuple[tuple[str, str], ...]]:
    """When the person works and when not, by the agent's preferences ``hours`` and ``pause``:
    ``09:00-17:00``, several with a comma; what cannot be read is left out."""
    given = {name: slot.value for name, slot in agent.preferences.items()}
    return _spans(f"{given.get('hours', '')} {HOURS}")[0], _spans(given.get("pause", ""))


def _spans(told: str) -> tuple[tuple[str, str], ...]:
    found = ((one.zfill(5), other.zfill(5)) for one, other in _SPAN.findall(told))
    return tuple(one for one in found if _is_span(*one))


def _is_span(start: str, end: str) -> bool:
    try:
        return minutes_of(start) < minutes_of(end)
    except Refused:
        return False


def _tasks(
    journal: LogState,
    agent: Agent,
    day: Day,
    lines: Mapping[str, SearchableTask],
    ruled_out: Callable[[str], Collection[str]],
) -> tuple[list[Task], int]:
    """The tasks that may be planned, the most urgent first, and how many were not looked at."""
    allowed = {one for one in agent.categories if PUT not in ruled_out(one)}
    wanted = [
        one
        for one in lines.values()
        if one.status in PLANNED and one.category in allowed and one.wait_until <= day.id
    ]
    wanted.sort(key=lambda one: (one.id not in day.pinned, one.due or "~", one.priority, one.id))
    looked = [journal.load(TASK, one.id) for one in wanted[:LOOKED_AT]]
    found = [one for one in looked if not is_blocked(journal, one.id)]
    return found, len(wanted) - len(looked)


def items_done(task: Task) -> str:
    items = [one for one in task.items if not one.is_archived]
    return f"{sum(one.is_checked for one in items)}/{len(items)}" if items else ""


def worked(task: Task, local: LocalTime) -> Iterator[tuple[str, int]]:
    """Each finished entry's day, by the person's clock, and its minutes."""
    for one in task.time:
        if one.end:
            day = wall(one.start, local.offset, local.earlier)[:10]
            yield day, max(0, seconds_between(one.start, one.end)) // 60


def _block(journal: LogState, block: Block, agent: Agent) -> BlockSeen:
    """A block, as far as the agent may know it. A task may have moved since it was put."""
    category = journal.load(TASK, block.task).category if block.task else block.category
    by = "agent" if block.by.startswith("agent:") else "person"
    seen = BlockSeen(block.id, block.start, block.end, by)
    if category not in agent.categories:
        return replace(seen, title=BUSY)
    return replace(seen, task=block.task, title=block.title)


def _declined(sets: Iterable[ChangeSet], day: str, text: Callable[[Words], str]) -> set[str]:
    """The tasks whose blocks of a day the person turned down or put off."""
    found: set[str] = set()
    for item in (item for one in sets for item in one.items):
        if item.tool == PUT and item.status in ("rejected", "deferred"):
            told = canonical.read(text(item.arguments))
            if isinstance(told, dict) and told.get("day") == day:
                found.add(str(told.get("taskId")))
    return found


def _before(
    journal: LogState, day: Day, agent: Agent, shown: Iterable[Task], local: LocalTime
) -> DayBeforeSeen | None:
    """The day before: what was planned, and what was spent on that and on the tasks shown."""
    blocks = tuple(_block(journal, one, agent) for one in day.blocks)
    planned = [journal.load(TASK, one.task) for one in blocks if one.task]
    tasks = {one.id: one for one in (*planned, *shown)}
    spent = {
        one.id: sum(minutes for on, minutes in worked(one, local) if on == day.id)
        for one in tasks.values()
    }
    told = [SpentSeen(id_, tasks[id_].title, count) for id_, count in spent.items() if count]
    if not blocks and not told:
        return None
    return DayBeforeSeen(day.id, blocks, tuple(sorted(told, key=lambda one: one.id)))


def snapshot_of_day(
    journal: LogState, seen: DaySeen, local: LocalTime, position: int, *, is_asked: bool
) -> Snapshot:
    """What the tools of a wake see of the day that its prompt shows. `is_asked`: the person spoke,
    so that what they turned down may be proposed again."""
    begun = f"{seen.date}T00:00:00.000000Z"
    ends = later(begun, seconds=DAY_SECONDS - offset_seconds(local.offset))
    blocks, declined = blocks_of(journal.load(DAY, seen.date)), () if is_asked else seen.declined
    day = SnapshotDay(seen.date, ends, seen.now, blocks, declined)
    tasks = (journal.load(TASK, one.id) for one in seen.tasks)
    others = tuple(SnapshotTask(one.id, one.category) for one in tasks)
    return Snapshot("", position, "", "", day=day, others=others)
