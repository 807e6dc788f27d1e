"""A task as a person reads it: what `task show` prints."""

from collections.abc import Collection, Iterator, Sequence
from textwrap import indent

import click

from adapters.documents.tasks import TaskPage
from adapters.text import conflicts
from adapters.text.common import ID_SHOWN, counted, local_time, safe
from domain.journal import repeat
from domain.journal.document import category_name, label_name
from domain.journal.links import PHRASE_OF
from domain.journal.task import (
    RATING_MAX,
    ChecklistItem,
    Rating,
    StatusChange,
    Task,
    TimeEntry,
    rating_of,
)
from domain.log.timestamps import seconds_between

HOUR = 60


def task_text(page: TaskPage, zone: str) -> str:
    """The whole page; times as the clocks in a zone show them."""
    parts = [
        "\n".join(_head(page)),
        safe(page.text(page.task.description)),
        _section("Conflicts", [conflicts.as_text(one) for one in page.conflicts]),
        _section("Checklist", _items(page)),
        _section("Notes", _notes(page, zone)),
        _section("Time", _entries(page.task, zone)),
        _section("Links", _links(page)),
        _section("History", [_change(change, zone) for change in page.task.history]),
    ]
    return "\n\n".join(part for part in parts if part.strip())


def duration(minutes: int) -> str:
    """Minutes as a person writes them; empty for none.

    >>> duration(90), duration(60), duration(5), duration(0)
    ('1h30m', '1h', '5m', '')
    """
    hours, rest = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{rest}m" if rest else "")


def span(minutes: int) -> str:
    """How long something took; a minute that has not passed is none.

    >>> span(25), span(0), span(90)
    ('25 min', '0 min', '1h30m')
    """
    return duration(minutes) if minutes >= HOUR else f"{minutes} min"


def stopped(task: Task, entries: Collection[str]) -> str:
    """What is added to an answer where a deed ended these timers of the task."""
    ended = [one for one in task.time if one.id in entries]
    minutes = sum(seconds_between(one.start, one.end) for one in ended) // 60
    return f" (timer stopped after {span(minutes)})" if ended else ""


def at_a_glance(tasks: Sequence[Task], today: str, now: str) -> str:
    """Of some tasks how many are open, overdue, and whose timer runs, and for how long."""
    due = sum(one.is_open and "" < one.due < today for one in tasks)
    still = sum(one.is_open for one in tasks)
    count = f"{counted(len(tasks), 'task')}, " if still != len(tasks) else ""
    parts = [f"{count}{still} open", *([f"{due} overdue"] if due else [])]
    running = [entry for one in tasks for entry in one.running]
    if running:
        hours, minutes = divmod(max(seconds_between(one.start, now) for one in running) // 60, 60)
        parts.append(f"{len(running)} running {hours}:{minutes:02}")
    return ", ".join(parts)


def _head(page: TaskPage) -> Iterator[str]:
    task = page.task
    yield click.style(safe(task.title), bold=True) + (" (deleted)" if task.is_deleted else "")
    reason = f" ({safe(task.status_reason)})" if task.status_reason else ""
    fields = [
        task.id[:ID_SHOWN],
        task.status + reason,
        task.priority,
        f"due {task.due}" if task.due else "",
        f"about {duration(task.estimate)}" if task.estimate else "",
        repeat.told(task.repeat) if task.repeat else "",
        f"waits until {task.wait_until}" if task.wait_until else "",
        f"in {safe(category_name(page.catalog, task.category))}",
        task.language,
        *(f"#{safe(label_name(page.catalog, label))}" for label in task.labels),
    ]
    yield " · ".join(field for field in fields if field)
    if rating := rating_of(task):
        yield f"Rated{_stars(rating)}"
    if task.suppressed:
        names = ", ".join(f"#{label_name(page.catalog, label)}" for label in task.suppressed)
        yield f"Agents may not propose {safe(names)}."
    if page.agent_id:
        yield f"Agent {page.agent_id[:ID_SHOWN]}"


def _section(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    return "\n".join([click.style(title, bold=True), *(indent(line, "  ") for line in lines)])


def _items(page: TaskPage) -> list[str]:
    """Numbered over all checklists, archived ones too, so that a number stays an item's."""
    lines: list[str] = []
    titles = {checklist.id: checklist.title for checklist in page.task.checklists}
    shown = ""
    for number, item in enumerate(page.task.items, start=1):
        if item.checklist != shown and len(titles) > 1:
            lines.append(f"{safe(titles.get(item.checklist, ''))}:")
        shown = item.checklist
        lines.append(_item(number, item))
    return lines


def _item(number: int, item: ChecklistItem) -> str:
    by = f" (by {item.checked_by})" if item.is_checked and item.checked_by != "person" else ""
    archived = " (archived)" if item.is_archived else ""
    return f"{number:>2} [{'x' if item.is_checked else ' '}] {safe(item.title)}{by}{archived}"


def _notes(page: TaskPage, zone: str) -> list[str]:
    lines: list[str] = []
    for number, note in enumerate(page.task.notes, start=1):
        kind = "" if note.note_kind == "note" else f" {note.note_kind.replace('_', ' ')}"
        lines.append(f"{number:>2} {local_time(note.at, zone)}{kind} by {safe(note.by)}")
        lines.append(indent(safe(page.text(note.words)), "   "))
    return lines


def _entries(task: Task, zone: str) -> list[str]:
    return [
        f"{number:>2} {one.id[:ID_SHOWN]} {_entry(one, zone)}{_stars(rating_of(task, one.id))}"
        for number, one in enumerate(task.time, start=1)
    ]


def _stars(rating: Rating | None) -> str:
    """A rating as a person sees it at a glance.

    >>> _stars(Rating("", 4, "Went well", ""))
    ' ★★★★☆ Went well'
    """
    if rating is None:
        return ""
    stars = "★" * rating.score + "☆" * (RATING_MAX - rating.score)
    return f" {stars} {safe(rating.comment)}".rstrip()


def _entry(entry: TimeEntry, zone: str) -> str:
    start, end = local_time(entry.start, zone), local_time(entry.end, zone) or "now"
    spent = duration(seconds_between(entry.start, entry.end) // 60) or "0m" if entry.end else "runs"
    return f"{start} to {end} ({spent}) {safe(entry.summary)}".rstrip()


def _links(page: TaskPage) -> list[str]:
    found: list[tuple[str, str]] = [(one.relation, one.target) for one in page.task.links]
    incoming = page.links.incoming
    found += [(PHRASE_OF.get(one.relation, one.relation), one.source) for one in incoming]
    return [f"{phrase} {_other(page, task)}".replace("_", " ", 2) for phrase, task in found]


def _other(page: TaskPage, task_id: str) -> str:
    return f'"{safe(page.titles.get(task_id, ""))}" ({task_id[:ID_SHOWN]})'


def _change(change: StatusChange, zone: str) -> str:
    reason = f": {safe(change.reason)}" if change.reason else ""
    return f"{local_time(change.at, zone)} {change.status} by {safe(change.by)}{reason}"
