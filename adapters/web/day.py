"""A day: its blocks on an axis of hours, the time really spent beside them, and what is proposed
in its place.
"""

from collections.abc import Iterator, Sequence
from datetime import date as date_of
from datetime import timedelta
from typing import Literal, NamedTuple

from adapters.documents.day import DayBlock, DayDetails, DaySpent, blocks_of
from adapters.documents.tasks import catalog_of
from adapters.text.task import span
from adapters.usecases import day as deeds
from adapters.usecases import day_agent
from adapters.usecases.resolve import pick_task
from adapters.web.filters import local, weekday
from adapters.web.http_types import AtField, FormRequest, Notice, Page, at_field, missing, stale
from adapters.web.inbox import Card, CardItem, open_cards
from adapters.web.site import Site
from adapters.web.tasks import stars_of, today_of
from domain.errors import invalid
from domain.journal.catalog import with_inbox
from domain.journal.day import clock, free_spans, minutes_of
from domain.journal.task import PERSON, RATING_MAX
from domain.log.timestamps import is_date
from domain.wake.day_context import AHEAD

HOURS_SHOWN = 8, 18  # of the axis, at least
QUARTER, NEW = 15, 60  # minutes: of a step, and of a new block
STEPS = {
    "earlier": (-QUARTER, -QUARTER),
    "later": (QUARTER, QUARTER),
    "shorter": (0, -QUARTER),
    "longer": (0, QUARTER),
}
"""By how many minutes a button moves the start and the end of a block."""


class Row(NamedTuple):
    """A line of the day: a block, a person's own or an agent's, a proposal, or time that was spent
    outside of blocks."""

    start: str
    end: str
    kind: Literal["own", "agents", "proposed", "spent"]
    of: DayBlock | CardItem | DaySpent


# ----------------------------------------------------------------------------------------- the page


def show(site: Site, asked: FormRequest) -> Page:
    """The pages `/day` and `/day/DATE`."""
    today = today_of(site)
    day = deeds.read_day(site.home, _date(asked) if asked.names["date"] else today)
    at, clock_now = date_of.fromisoformat(day.date), f"{local(site.now, site.zone):%H:%M}"
    now = clock_now if day.date == today else ""
    cards = open_cards(site, asked, f"day:{day.date}")
    rows = list(_rows(day, cards, clock_now))
    rows.sort(key=lambda one: (one.start, one.end, one.kind != "proposed"))  # what is decided stays
    catalog = with_inbox(catalog_of(site.home))
    return Page(
        "day.html",
        weekday(at, date_of.fromisoformat(today)),
        day,
        {
            "cards": cards,
            "rows": rows,
            "now_at": now,
            "can_plan": 0 <= (at - date_of.fromisoformat(today)).days <= AHEAD,
            "hours": _hours([*rows, *day.spent]),
            "long": span,
            "minutes": minutes_of,
            "before": str(at - timedelta(1)),
            "after": str(at + timedelta(1)),
            "free": _free(day, day_agent.hours_of(site.home)[0][0], now),
            "labels": site.labels(),
            "categories": [(one.id, one.name) for one in catalog.categories.values()],
        },
    )


def _date(asked: FormRequest) -> str:
    date = asked.names["date"]
    if not is_date(date):
        raise missing("no_page", "day", date)
    return date


def _rows(day: DayDetails, cards: Sequence[Card], now: str) -> Iterator[Row]:
    """All lines, in no order; `now` ends what goes on."""
    for one in day.blocks:
        yield Row(one.start, one.end, "own" if one.by == PERSON else "agents", one)
    times = {one.id: {"start": one.start, "end": one.end} for one in day.blocks}
    for item in (item for card in cards for item in card.items):
        at = times.get(item.arguments.get("block", ""), {}) | item.arguments
        yield Row(at.get("start", ""), at.get("end", ""), "proposed", item)
    for spent in day.spent:
        if spent.planned is None:
            yield Row(spent.start, spent.end or now, "spent", spent)


def _hours(shown: Sequence[Row | DaySpent]) -> range:
    """The hours of an axis that holds all of these."""
    first, last = HOURS_SHOWN
    starts = [minutes_of(one.start) // 60 for one in shown if one.start]
    ends = [-(-minutes_of(one.end) // 60) for one in shown if one.end]
    return range(min([first, *starts]), max([last, *ends]) + 1)


def _free(day: DayDetails, first: int, now: str) -> tuple[str, str]:
    """The times of a new block: the first that are free from the person's first hour on, of today
    from the next quarter on."""
    taken = [(minutes_of(one.start), minutes_of(one.end)) for one in day.blocks]
    begin = max(first, -(-minutes_of(now or "00:00") // QUARTER) * QUARTER)
    for start, end in free_spans((), (begin, 24 * 60), taken):
        if end - start >= QUARTER:
            return clock(start), clock(min(end, start + NEW))
    return "", ""


# ------------------------------------------------------------------------------------------- deeds


def put(site: Site, asked: FormRequest) -> Notice:
    """Put a new block."""
    date, words, title = _date(asked), asked.needed("task").strip(), asked.needed("title").strip()
    if bool(words) == bool(title):
        raise AtField("task", invalid("a block is of a task or of a title", "fill in one of them"))
    of = {"title": title, "category": asked.form.get("category", "") if title else ""}
    with at_field("task"):
        of["task"] = pick_task(site.home, words) if words else ""
    start, end = _times(asked)
    with at_field("start"):
        deeds.put(site.home, date, start, end, asked.key, **of)
    return Notice(f"Put {start}-{end}.")


def _times(asked: FormRequest) -> tuple[str, str]:
    """The times of a form; a field for a time knows no 24:00."""
    start, end = asked.needed("start"), asked.needed("end")
    return start, "24:00" if end == "00:00" else end


def change(site: Site, asked: FormRequest) -> Notice:
    """Move a block, make it one's own, or take it away; refused where it has moved."""
    date, verb, block = _date(asked), asked.needed("verb"), asked.needed("block")
    was = asked.needed("was.start"), asked.needed("was.end")
    stands = {one.id: (one.start, one.end) for one in blocks_of(site.home, date)}
    if stands.get(block) != was and not site.knows(asked):
        raise stale("the block was moved or taken away meanwhile")
    match verb:
        case "keep":
            deeds.keep(site.home, date, block, asked.key)
            return Notice(f"Kept {'-'.join(was)}: no agent moves it.")
        case "remove":
            deeds.remove(site.home, date, block, asked.key)
            return Notice(f"Took {'-'.join(was)} away.")
        case "move":
            start, end = _times(asked)
        case _ if verb in STEPS:
            start, end = (
                clock(minutes_of(at) + step) for at, step in zip(was, STEPS[verb], strict=True)
            )
        case _:
            raise missing("invalid_input", "change", verb)
    deeds.move(site.home, date, block, start, end, asked.key)
    return Notice(f"Moved to {start}-{end}.")


def pin(site: Site, asked: FormRequest) -> Notice:
    """Say that a task is wanted that day, or no longer."""
    is_pinned = asked.needed("verb") == "pin"
    with at_field("task"):
        task = pick_task(site.home, asked.needed("task").strip(), is_deleted=not is_pinned)
    deeds.pin(site.home, _date(asked), task, asked.key, is_pinned=is_pinned)
    return Notice("Wanted that day." if is_pinned else "No longer wanted that day.")


def rate(site: Site, asked: FormRequest) -> Notice:
    """Say how the day went."""
    score = stars_of(asked, RATING_MAX)
    deeds.rate(site.home, _date(asked), score, asked.form.get("comment", ""), asked.key)
    return Notice(f"Rated {score} of {RATING_MAX}.")
