"""`wakelog task`: the group, `list` and `show`; what edits tasks stands in modules of its own."""

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session
from adapters.documents.agent_output import report_document
from adapters.documents.tasks import catalog_of, category_named, label_named, task_lines, task_page
from adapters.text.agent_output import report_lines
from adapters.text.common import ID_SHOWN
from adapters.text.task import duration, task_text
from adapters.usecases.inputs import day, status_named
from adapters.usecases.resolve import pick_task
from adapters.usecases.task_lists import ORDERS, TaskFilter, fits_filter, ordered
from domain.journal.document import TaskLine, task_line
from projections.tasks import MARKS, VIEW

if TYPE_CHECKING:
    from domain.journal.catalog import Catalog

EMPTY = (
    "No tasks yet. Bring some in with `wakelog import TODO.md`, "
    'or add one with `wakelog task add "Title"`.'
)


@group(
    "task",
    epilog="TASK is an id, the beginning of one, or words of its title.",
    later={"task_edits": ()},
)
def task_command() -> None:
    """List, show and edit tasks."""


@command("task list", example="--today --overdue; or wakelog task list --text door --all")
@click.option("--status", "statuses", multiple=True, metavar="S", help="Of this status.")
@click.option("--category", default="", metavar="C", help="Of this category.")
@click.option("--label", "labels", multiple=True, metavar="L", help="With this label.")
@click.option("--open", "scope", flag_value="open", help="Neither done, rejected nor deleted.")
@click.option("--all", "scope", flag_value="all", help="Done and deleted ones, too.")
@click.option("--deleted", "scope", flag_value="deleted", help="Only the deleted ones.")
@click.option("--overdue", "is_overdue", is_flag=True, help="Open ones that were due before today.")
@click.option("--today", "is_today", is_flag=True, help="Open ones that are due today.")
@click.option("--text", default="", metavar="WORDS", help="With these in their titles.")
@click.option("--sort", "order", type=click.Choice(ORDERS), help="On a terminal: by urgency.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
def list_tasks(
    session: Session, /, *, scope: str | None, order: str | None, limit: int | None, **given: Any
) -> None:
    """List tasks: on a terminal those that are open, the most urgent first; else in the order they
    came in, done ones too, deleted ones not."""
    home = session.reading()
    catalog, today = catalog_of(home), day("today", home)
    wanted = _wanted(catalog, **given)
    is_shown = sys.stdout.isatty() and not session.as_json  # to somebody who looks for what to do
    is_due = wanted.is_overdue or wanted.is_today
    if scope is None and (is_due or (is_shown and not wanted.statuses)):
        scope = "open"
    order = order or ("urgency" if is_shown else "")
    marks = MARKS[scope or "kept"]
    # only the documents tell which are wanted, and which come first
    is_narrowed = order or wanted != TaskFilter()
    every = home.views.marked(VIEW, marks, limit=-1 if is_narrowed else limit or -1)
    found = [one for one in every if fits_filter(one, wanted, today)]
    shown = (ordered(found, order, today) if order else found)[:limit]
    if session.as_json:
        session.document(task_lines(home, shown))
    elif shown:
        _table(
            session,
            [task_line(one.task, catalog, "") for one in shown],
            {one.id for one in shown if one.is_deleted},
        )
        count = len(found) if is_narrowed else sum(home.views.count(VIEW, one) for one in marks)
        if count > len(shown):
            session.note(f"{count - len(shown)} more; raise --limit to see them.")
    else:
        has_tasks = home.views.count(VIEW) > 0
        session.say("No task matches; see `wakelog task list --all`." if has_tasks else EMPTY)


def _wanted(
    catalog: "Catalog",
    *,
    statuses: Sequence[str],
    category: str,
    labels: Sequence[str],
    text: str,
    **due: bool,
) -> TaskFilter:
    return TaskFilter(
        frozenset(status_named(status) for status in statuses),
        category_named(catalog, category).id if category else "",
        frozenset(label_named(catalog, label).id for label in labels),
        text,
        **due,
    )


def _table(session: Session, lines: Sequence["TaskLine"], deleted: Collection[str]) -> None:
    headings = ("ID", "Title", "Status", "Prio", "Due", "Est", "Category", "Labels", "Items")
    rows = [
        (
            line.id[:ID_SHOWN],
            f"{line.title}{_remark(line, deleted)}",
            line.status,
            line.priority,
            line.due_date,
            duration(line.estimate_minutes or 0),
            line.category,
            " ".join(f"#{label}" for label in line.labels),
            f"{line.checklist.done}/{line.checklist.total}" if line.checklist.total else "",
        )
        for line in lines
    ]
    session.table(headings, rows)


def _remark(line: "TaskLine", deleted: Collection[str]) -> str:
    timer = " (timer runs)" if line.running_since else ""
    return timer + (" (deleted)" if line.id in deleted else "")


@command("task show", "task", example='"Book the flight"')
def show(session: Session, task: str) -> None:
    """Show all about a task: fields, checklist, notes, time, links, history, and its report."""
    home = session.reading()
    page = task_page(home, pick_task(home, task))
    if session.as_json:
        session.document(page.document())
    else:
        session.say(task_text(page, home.settings.timezone))
        for line in report_lines(report_document(home, page.agent_id)) if page.agent_id else ():
            session.say(line)
