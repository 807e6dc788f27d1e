"""How many tasks were open, made and done, by week and by category; deleted ones do not count."""

from collections.abc import Callable, Collection
from datetime import date, timedelta
from typing import TYPE_CHECKING

from adapters.documents.tasks import SummaryLine, TaskSummary, catalog_of
from adapters.usecases.inputs import there
from domain.journal.document import category_name
from domain.journal.task import CLOSED, TASK
from domain.text import fold
from projections.tasks import MARKS, VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

Counts = tuple[int, int, int]  # open, made, done
NONE: Counts = (0, 0, 0)


def summarised(home: "Home", weeks: int, categories: Collection[str] = ()) -> TaskSummary:
    """The present week and those before it, so many, as the home's time zone has them; only of some
    categories, by id, if any. Its views are as of their last `catch_up`."""
    zone = home.settings.timezone

    def week(at: str) -> date:
        day = there(at, zone).date()
        return day - timedelta(day.weekday())

    this = week(home.services.clock.now())
    shown = [this - timedelta(weeks=nth) for nth in reversed(range(weeks))]
    by_week, by_category = dict.fromkeys(shown, NONE), dict[str, Counts]()
    for one in home.views.marked(VIEW, MARKS["kept"]):
        if categories and one.category not in categories:
            continue
        counts = _counts(home, one, shown, week)
        by_week = {at: _sum(by_week[at], more) for at, more in zip(shown, counts, strict=True)}
        made, done = (any(of_week[at] for of_week in counts) for at in (1, 2))
        known = by_category.get(one.category, NONE)
        by_category[one.category] = _sum(known, (one.is_open, made, done))
    catalog, every = catalog_of(home), [one for one in by_category.items() if any(one[1])]
    named = [SummaryLine(category_name(catalog, name), *of_it) for name, of_it in every]
    return TaskSummary(
        [SummaryLine(f"{one:%G-W%V}", *counts) for one, counts in by_week.items()],
        sorted(named, key=lambda line: fold(line.name)),
    )


def _counts(
    home: "Home", one: TaskDocument, shown: list[date], week: Callable[[str], date]
) -> list[Counts]:
    """Of each week whether a task was open at its end, made in it, and done in it."""
    made = week(one.task.created_at)
    statuses = {made: one.status}  # the last of each week that set one
    if week(one.updated_at) >= shown[0]:  # what a list knows is not all
        with home.services.journal.reading() as world:
            statuses = {week(each.at): each.status for each in world.load(TASK, one.id).history}
    before = [at for at in statuses if at < shown[0]]
    status, counts = statuses[max(before)] if before else "", list[Counts]()
    for at in shown:
        status = statuses.get(at, status)
        is_open = bool(status) and status not in CLOSED
        counts.append((is_open, at == made, statuses.get(at) == "DONE"))
    return counts


def _sum(one: Counts, other: Counts) -> Counts:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
