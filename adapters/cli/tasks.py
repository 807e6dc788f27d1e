"""`wakelog list`, `today`, `search` and `summary`, and the group `wakelog task`; what edits tasks
stands in modules of its own."""

import shlex
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import astuple

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, UserError, flag, option
from adapters.documents.tasks import (
    SummaryLine,
    catalog_of,
    categories_named,
    task_lines,
    task_page,
)
from adapters.text.common import ID_SHOWN, safe
from adapters.text.task import at_a_glance, duration, task_text
from adapters.usecases.inputs import day
from adapters.usecases.resolve import pick_task
from adapters.usecases.task_lists import (
    ORDERS,
    TaskFilter,
    due_now,
    filter_of,
    is_back,
    tasks_listed,
)
from domain.journal.document import TaskLine, task_line
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

EMPTY = (
    "No tasks yet. Bring some in with `wakelog import TODO.md`, or add one with "
    '`wakelog add "Title"`.'
)
NO_MATCH = "No task matches; see `wakelog list --all`."
COUNT = click.IntRange(min=1)
within = option("--category=C", "Of this category, or of one below it: C/D.", default="")
LISTED = "@"
"""How the name of a list of the settings begins."""


@group(
    "task",
    epilog="TASK is an id, the beginning of one, or words of its title. At the top stand "
    "`wakelog add list show edit note delete start stop`.",
    later={"task_edits": ()},
)
def task_command() -> None:
    """More on tasks: checklists, links, time, ratings."""


class _Listing(click.Command):
    """A command that knows lists by their names: the options that the settings say for one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options of each list stand in the place of its name."""
        session = ctx.find_object(Session)
        options = (one for one in self.params if isinstance(one, click.Option) and not one.is_flag)
        takes = {name for one in options for name in one.opts}
        found: list[str] = []
        for before, one in zip(["", *args], args, strict=False):
            is_named = one.startswith(LISTED) and before not in takes and session is not None
            found += _options(session, one) if session and is_named else [one]
        return super().parse_args(ctx, found)


def _options(session: Session, name: str) -> list[str]:
    """What the settings say for a list. Raises UserError: there is none, or a quote has no end."""
    lists = session.settings().lists
    try:
        return shlex.split(lists[name.removeprefix(LISTED)])
    except KeyError:
        known = ", ".join(f"{LISTED}{one}" for one in lists) or "none yet"
        instead = f"there are {known}; `wakelog settings set lists.NAME OPTIONS` makes one"
        raise UserError(f"there is no list {name!r}; {instead} [invalid_value]") from None
    except ValueError:
        told = f"the options of the list {name!r} have a quote without its end"
        raise UserError(f"{told}; mend it with `wakelog settings edit` [invalid_value]") from None


@command(
    "list",
    "[words...]=[WORDS|@LIST]",
    old="task list",
    cls=_Listing,
    example=("--today --overdue", "door --all", "@work --due-before friday"),
)
@option("--status statuses=S", "Of this status.", multiple=True)
@within
@option("--label labels=L", "With this label.", multiple=True)
@option("--not-label not_labels=L", "Without this label.", multiple=True)
@option("--open scope", "Neither done, rejected nor deleted.", flag_value="open")
@option("--all scope", "Done and deleted ones, too.", flag_value="all")
@option("--deleted scope", "Only the deleted ones.", flag_value="deleted")
@flag("--overdue is_overdue", "Open ones that were due before today.")
@flag("--today is_today", "Open ones that are due today.")
@option("--due-before=DAY", "Due before that day.", default="")
@option("--due-after=DAY", "Due after that day.", default="")
@option("--blocked blocks", "An open task blocks them.", flag_value="blocked")
@option("--ready blocks", "Open, not blocked, no wait.", flag_value="ready")
@flag("--waiting is_waiting", "Open ones that wait for a day.")
@flag("--running is_running", "Their timer runs.")
@option("--text=WORDS", "With these in their titles.", default="")
@option("--sort order", "On a terminal: by urgency.", click.Choice(ORDERS))
@option("--limit=N", "At most so many.", COUNT)
def list_tasks(
    session: Session, /, *, words: Sequence[str], scope: str | None, order: str | None,
    limit: int | None, text: str, **given: Any,
) -> None:  # fmt: skip
    """List tasks: on a terminal those that are open, the most urgent first; else in the order they
    came in, done ones too, deleted ones not. LIST is one of `lists` in the settings."""
    home = session.reading()
    wanted = filter_of(home, text=" ".join([*words, text]).strip(), **given)
    list_them(session, home, wanted, scope=scope, order=order, limit=limit)


@command("today")
@within
def today_command(session: Session, category: str) -> None:
    """What is due today, or was before, the most urgent first; and what was on hold until now.
    Above it the blocks of the day, see `wakelog day`."""
    from adapters.documents.day import blocks_of
    from adapters.text.day import block_line

    home = session.reading()
    catalog = catalog_of(home)
    wanted = due_now(home, category)
    names = {catalog.categories[one].name for one in wanted.categories}
    planned = [
        one for one in blocks_of(home, day("today", home)) if not names or one.category in names
    ]
    session.say_each(map(block_line, planned))
    list_them(session, home, wanted, order="urgency", none="Nothing is due today.")


@command("search", "words...=WORDS...", example=("quote Meyer", "--deleted shed"))
@flag("--deleted is_deleted", "Only among deleted tasks.")
@within
@option("--limit=N", "At most.", COUNT, shown=20)
def search_command(
    session: Session, words: Sequence[str], limit: int, category: str, *, is_deleted: bool
) -> None:
    """Find tasks by words in their titles, descriptions, notes and items, and in what their agents
    reported, noted and were asked; the best first. The beginning of a word will do."""
    from adapters.usecases.search import excerpt, found_lines, search

    home, wanted = session.reading(), " ".join(words)
    categories = categories_named(catalog_of(home), category)
    with session.steps("Reading") as progress:
        found = search(
            home,
            wanted,
            is_deleted=is_deleted,
            categories=categories,
            limit=limit + 1,
            progress=progress,
        )
    shown = found[:limit]
    if session.as_json:
        session.document(found_lines(home, shown))
        return
    if not shown:
        session.say(f"No task has {wanted!r}." if home.views.count(VIEW) else EMPTY)
        return
    for one in shown:
        closed = "" if one.task.is_open else f" ({one.task.status.lower()})"
        session.say(safe(f"{one.task.id[:ID_SHOWN]}  {one.task.title}{closed}"), style="cyan")
        if one.piece.where != "title":
            session.say(safe(f"          {one.piece.where}: {excerpt(one.piece.text, wanted)}"))
    if len(found) > limit:
        session.note("There are more; raise --limit to see them.")


@command("summary", example="--weeks 4 --category Work")
@option("--weeks=N", "So many.", click.IntRange(1, 520), shown=8)
@within
def summary_command(session: Session, weeks: int, category: str) -> None:
    """How many tasks are open, were made and were done, by week and by category. The last week is
    the present one; open is what was so at a week's end. The bars are of what was done, and of
    what is open."""
    from adapters.usecases.summary import summarised

    home = session.reading()
    wanted = categories_named(catalog_of(home), category)
    found = summarised(home, weeks, wanted)
    if session.printed(found):
        return
    if not home.views.count(VIEW):
        session.say(EMPTY)
        return
    _counts(session, "Week", found.weeks, [one.done for one in found.weeks])
    session.say()
    _counts(session, "Category", found.categories, [one.open for one in found.categories])


def _counts(
    session: Session, heading: str, lines: Sequence[SummaryLine], drawn: Sequence[int]
) -> None:
    """A table of counts, each line with a bar, the longest of 20 signs."""
    sign, most = "█" if sys.stdout.isatty() else "#", max([1, *drawn])
    bars = [sign * -(-20 * one // most) for one in drawn]
    rows = [(*astuple(one), bar) for one, bar in zip(lines, bars, strict=True)]
    session.table((heading, "Open", "Created", "Done", "Bar"), rows)


def list_them(
    session: Session, home: "Home", wanted: TaskFilter, *, scope: str | None = None,
    order: str | None = None, limit: int | None = None, none: str = NO_MATCH,
) -> None:  # fmt: skip
    """Tell those tasks of a scope that are wanted; `none`: where there is none."""
    catalog, today = catalog_of(home), day("today", home)
    is_shown = sys.stdout.isatty() and not session.as_json  # to somebody who looks for what to do
    shown, found, total = tasks_listed(
        home, wanted, scope or "", order or "", limit, is_shown=is_shown
    )
    if session.as_json:
        session.document(task_lines(home, shown))
        return
    if not shown:
        session.say(none if home.views.count(VIEW) else EMPTY)
        return
    lines = [task_line(one.task, catalog, "") for one in shown]
    _table(session, lines, {one.id for one in shown if one.is_deleted}, today)
    if (count := total()) > len(shown):
        session.note(f"{count - len(shown)} more; raise --limit to see them.")
    if is_shown:
        now = home.services.clock.now()
        session.say(at_a_glance([one.task for one in found], today, now), style="bright_black")


def _table(
    session: Session, lines: Sequence["TaskLine"], deleted: Collection[str], today: str
) -> None:
    headings = ("ID", "Title", "Status", "Prio", "Due", "Est", "Category", "Labels", "Items")
    rows = [
        (
            line.id[:ID_SHOWN],
            f"{line.title}{_remark(line, deleted, today)}",
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
    session.table(headings, rows, [_style(line, today) for line in lines])


def _style(line: "TaskLine", today: str) -> str:
    """What is overdue is red, and what is due today is bold."""
    due = line.due_date or ""
    if not due or due > today or line.status in ("DONE", "REJECTED"):
        return ""
    return "bold" if due == today else "red"


def _remark(line: "TaskLine", deleted: Collection[str], today: str) -> str:
    told = " (timer runs)" if line.running_since else ""
    if is_back(line.status, line.wait_until, today):
        told += f" (back since {line.wait_until})"
    return told + (" (deleted)" if line.id in deleted else "")


@command("task show", "task", example='"Book the flight"')
def show(session: Session, task: str) -> None:
    """Show all about a task: fields, checklist, notes, time, links, history, and its report."""
    home = session.reading()
    show_task(session, home, pick_task(home, task))


def show_task(session: Session, home: "Home", task_id: str) -> None:
    """Tell all about the task of an id."""
    page = task_page(home, task_id)
    if session.as_json:
        session.document(page.document())
        return
    session.say(task_text(page, home.settings.timezone))
    if page.agent_id:
        from adapters.documents.agent_output import report_document
        from adapters.text.agent_output import report_lines

        session.say_each(report_lines(report_document(home, page.agent_id)))
