"""What an agent that looks over a category is told of it (ADR 104): two weeks, gathered from the
journal as it stands, and from what the agents of its tasks say."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from domain.agent.agent import Agent, category_in
from domain.errors import Refused, Remedy
from domain.journal.catalog import CATALOG
from domain.journal.day import DAY
from domain.journal.task import CLOSED, TASK, Task, rating_of
from domain.log.state import MAIN, LogState
from domain.log.timestamps import wall
from domain.policy.flow import may_enter, project
from domain.tools.snapshot import Snapshot, SnapshotTask
from domain.wake.commands import LocalTime
from domain.wake.day_context import (
    EVENING,
    WEEKDAYS,
    clock_of,
    days_between,
    items_done,
    shifted,
    weekday_of,
    worked,
)
from domain.wake.reading import DoneTaskSeen, PromptOptions, SevenDaysSeen, WeekSeen, WeekTaskSeen
from domain.wake.task_search import SearchableTask

WEEK, WEEKS = 7, 2  # days, and how many of these are looked at
OPEN_LISTED = 50
TOUCHED_READ = 500
"""So many tasks that were touched in the weeks, the newest, are read for their times."""


def category_about(agent: Agent) -> str:
    """The category that an agent looks over. Raises Refused, code ``out_of_scope``: it may not read
    it any more."""
    category = category_in(agent.subject or "") or ""
    if not may_enter((category,), agent):
        because = f"agent {agent.id} may not read the category that it looks over"
        raise Refused("out_of_scope", because=because, instead=Remedy("allow_category"))
    return category


class _Weeks(NamedTuple):
    """The days that are looked at, ``YYYY-MM-DD``: the first and the last of each week."""

    newer: tuple[str, str]
    older: tuple[str, str]

    @classmethod
    def at(cls, local: LocalTime) -> "_Weeks":
        """Whole days: today is one of them from the evening on."""
        today = local.time[:10]
        last = today if local.time[11:] >= EVENING else shifted(today, -1)
        return cls(*((shifted(last, 1 - n * WEEK), shifted(last, WEEK - n * WEEK)) for n in (1, 2)))

    def has(self, day: str) -> bool:
        return self.older[0] <= day <= self.newer[1]


def week_seen(
    journal: LogState,
    agent: Agent,
    given: PromptOptions,
    *,
    lines: Mapping[str, SearchableTask],
    one_liner: Callable[[str], str],
) -> WeekSeen:
    """The weeks that a wake is about.

    Args:
        journal: The journal at the position that the wake is rendered at.
        given: Its clock, and its scaffold.
        one_liner: What the agent of a task says of it, as far as this one may know.

    Raises:
        Refused: Code ``out_of_scope``: it may not read the category, or that is gone;
            ``invalid_value``: nobody said what the person's clock shows.
    """
    local, catalog = clock_of(given), journal.load(CATALOG, MAIN)
    category, weeks = category_about(agent), _Weeks.at(local)
    if category not in catalog.categories:
        because = f"the category that agent {agent.id} looks over is gone"
        raise Refused("out_of_scope", because=because, instead="destroy the agent, or add it again")
    own = sorted(
        (one for one in lines.values() if one.category == category), key=lambda one: one.id
    )
    touched = [one for one in own if _day(one.at, local) >= weeks.older[0]]
    touched.sort(key=lambda one: one.at, reverse=True)
    read = {one.id: journal.load(TASK, one.id) for one in touched[:TOUCHED_READ]}
    planned = _planned(journal, category, weeks)
    wanted = [one for one in own if one.status not in CLOSED]
    listed = [one for one in wanted if one.wait_until <= local.time[:10]]
    listed.sort(key=lambda one: (one.due or "~", one.at, one.id))
    tasks = [journal.load(TASK, one.id) for one in listed[:OPEN_LISTED]]
    ended = ((day, one) for one in read.values() if (day := _done_on(one, local)))
    done = sorted(ended, key=lambda one: (one[0], one[1].id), reverse=True)
    done = [(day, one) for day, one in done if weeks.has(day)]
    return WeekSeen(
        date=local.time[:10],
        weekday=WEEKDAYS[weekday_of(local.time[:10])],
        category=catalog.categories[category].name,
        weeks=tuple(
            _seven(span, read.values(), [day for day, _ in done], planned, local)
            for span in (weeks.newer, weeks.older)
        ),
        tasks=tuple(
            project("week_task", _open(one, weeks, planned, one_liner, local), given.scaffold)
            for one in tasks
        ),
        more_tasks=len(listed) - len(tasks),
        waiting=len(wanted) - len(listed),
        done=tuple(
            project("week_task", _ended(one, day, local), given.scaffold) for day, one in done
        ),
        unread=len(touched) - len(read),
    )


def _day(at: str, local: LocalTime) -> str:
    return wall(at, local.offset, local.earlier)[:10]


def _done_on(task: Task, local: LocalTime) -> str:
    """The day on which a task was done; empty where it is not."""
    return _day(task.history[-1].at, local) if task.status == "DONE" else ""


def _planned(journal: LogState, category: str, weeks: _Weeks) -> Mapping[str, Counter[str]]:
    """Minutes of a category's blocks, by day and then by task; without a task under no name."""
    found: dict[str, Counter[str]] = {}
    day = weeks.older[0]
    while day <= weeks.newer[1]:
        minutes = found[day] = Counter[str]()
        for block in journal.load(DAY, day).blocks:
            of = journal.load(TASK, block.task).category if block.task else block.category
            if of == category:
                minutes[block.task] += block.span[1] - block.span[0]
        day = shifted(day, 1)
    return found


def _seven(
    span: tuple[str, str],
    tasks: Iterable[Task],
    done: Iterable[str],
    planned: Mapping[str, Counter[str]],
    local: LocalTime,
) -> SevenDaysSeen:
    first, last = span

    def within(day: str) -> bool:
        return first <= day <= last

    every = list(tasks)
    scores = [one.score for each in every for one in each.ratings if within(_day(one.at, local))]
    tenths = (20 * sum(scores) + len(scores)) // (2 * len(scores)) if scores else None
    return SevenDaysSeen(
        first,
        last,
        made=sum(within(_day(one.created_at, local)) for one in every),
        done=sum(map(within, done)),
        planned=sum(one.total() for day, one in planned.items() if within(day)),
        spent=sum(n for one in every for day, n in worked(one, local) if within(day)),
        rating=tenths / 10 if tenths else None,
    )


def _open(
    task: Task,
    weeks: _Weeks,
    planned: Mapping[str, Counter[str]],
    one_liner: Callable[[str], str],
    local: LocalTime,
) -> WeekTaskSeen:
    return WeekTaskSeen(
        id=task.id,
        title=task.title,
        status=task.status,
        priority=task.priority,
        due=task.due,
        estimate=task.estimate,
        spent=sum(minutes for day, minutes in worked(task, local) if weeks.has(day)),
        planned=sum(one[task.id] for one in planned.values()),
        rating=_rating(task),
        items=items_done(task),
        untouched=max(0, days_between(_day(task.updated_at, local), local.time)),
        one_liner=one_liner(task.id),
    )


def _ended(task: Task, day: str, local: LocalTime) -> DoneTaskSeen:
    spent = sum(minutes for _, minutes in worked(task, local))
    return DoneTaskSeen(task.id, task.title, day, task.estimate, spent, _rating(task))


def _rating(task: Task) -> int:
    rating = rating_of(task)
    return rating.score if rating else 0


def snapshot_of_week(journal: LogState, agent: Agent, seen: WeekSeen, position: int) -> Snapshot:
    """What the tools of a wake see of the category that its prompt shows."""
    category = category_about(agent)
    tasks = tuple(SnapshotTask(one, category) for one in seen.shown)
    return Snapshot("", position, "", "", category=category, others=tasks)
