"""`wakelog list`, `today`, `search` and `summary`, and the group `wakelog task`; what edits tasks
stands in modules of its own."""

import shlex
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict, astuple

from adapters.cli.lazy_groups import command, group
from adapters.cli.shared import Session, UserError
from adapters.documents.tasks import (
    FoundLine,
    SummaryLine,
    catalog_of,
    categories_named,
    label_named,
    task_lines,
    task_page,
)
from adapters.text.common import ID_SHOWN, safe
from adapters.text.task import at_a_glance, duration, task_text
from adapters.usecases.inputs import day, status_named
from adapters.usecases.resolve import pick_task
from adapters.usecases.task_lists import (
    ORDERS,
    TaskFilter,
    blocked_ids,
    fits_filter,
    is_back,
    ordered,
)
from domain.journal.document import TaskLine, task_line
from projections.tasks import MARKS, VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

EMPTY = (
    "No tasks yet. Bring some in with `wakelog import TODO.md`, or add one with "
    '`wakelog add "Title"`.'
)
NO_MATCH = "No task matches; see `wakelog list --all`."
COUNT = click.IntRange(min=1)
within = click.option(
    "--category", default="", metavar="C", help="Of this category, or of one below it: C/D."
)
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
        takes = {one for param in self.params if _takes_value(param) for one in param.opts}
        found: list[str] = []
        for before, one in zip(["", *args], args, strict=False):
            is_named = one.startswith(LISTED) and before not in takes and session is not None
            found += _options(session, one) if session and is_named else [one]
        return super().parse_args(ctx, found)


def _takes_value(param: click.Parameter) -> bool:
    return isinstance(param, click.Option) and not param.is_flag


def _options(session: Session, name: str) -> list[str]:
    """What the settings say for a list.

    Raises:
        UserError: There is none of that name, or its quotes have no end.
    """
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
@click.option("--status", "statuses", multiple=True, metavar="S", help="Of this status.")
@within
@click.option("--label", "labels", multiple=True, metavar="L", help="With this label.")
@click.option("--not-label", "not_labels", multiple=True, metavar="L", help="Without this label.")
@click.option("--open", "scope", flag_value="open", help="Neither done, rejected nor deleted.")
@click.option("--all", "scope", flag_value="all", help="Done and deleted ones, too.")
@click.option("--deleted", "scope", flag_value="deleted", help="Only the deleted ones.")
@click.option("--overdue", "is_overdue", is_flag=True, help="Open ones that were due before today.")
@click.option("--today", "is_today", is_flag=True, help="Open ones that are due today.")
@click.option("--due-before", default="", metavar="DAY", help="Due before that day.")
@click.option("--due-after", default="", metavar="DAY", help="Due after that day.")
@click.option("--blocked", "blocks", flag_value="blocked", help="An open task blocks them.")
@click.option("--ready", "blocks", flag_value="ready", help="Open, not blocked, no wait.")
@click.option("--waiting", "is_waiting", is_flag=True, help="Open ones that wait for a day.")
@click.option("--running", "is_running", is_flag=True, help="Their timer runs.")
@click.option("--text", default="", metavar="WORDS", help="With these in their titles.")
@click.option("--sort", "order", type=click.Choice(ORDERS), help="On a terminal: by urgency.")
@click.option("--limit", type=COUNT, metavar="N", help="At most so many.")
def list_tasks(
    session: Session,
    /,
    *,
    words: Sequence[str],
    scope: str | None,
    order: str | None,
    limit: int | None,
    text: str,
    **given: Any,
) -> None:
    """List tasks: on a terminal those that are open, the most urgent first; else in the order they
    came in, done ones too, deleted ones not. LIST is one of `lists` in the settings."""
    home = session.reading()
    wanted = _wanted(home, text=" ".join([*words, text]).strip(), **given)
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
    categories = categories_named(catalog, category)
    names = {catalog.categories[one].name for one in categories}
    planned = [
        one for one in blocks_of(home, day("today", home)) if not names or one.category in names
    ]
    session.say_each(map(block_line, planned))
    wanted = TaskFilter(categories=categories, is_overdue=True, is_today=True, is_back=True)
    list_them(session, home, wanted, order="urgency", none="Nothing is due today.")


@command("search", "words...=WORDS...", example=("quote Meyer", "--deleted shed"))
@click.option("--deleted", "is_deleted", is_flag=True, help="Only among deleted tasks.")
@within
@click.option("--limit", type=COUNT, default=20, show_default=True, metavar="N", help="At most.")
def search_command(
    session: Session, words: Sequence[str], limit: int, category: str, *, is_deleted: bool
) -> None:
    """Find tasks by words in their titles, descriptions, notes and items, and in what their agents
    reported, noted and were asked; the best first. The beginning of a word will do."""
    from adapters.usecases.search import excerpt, search

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
        lines = task_lines(home, [one.task for one in shown])
        session.document(
            [
                FoundLine(**asdict(line), where=one.piece.where, text=one.piece.text)
                for line, one in zip(lines, shown, strict=True)
            ]
        )
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
@click.option(
    "--weeks",
    type=click.IntRange(1, 520),
    default=8,
    show_default=True,
    metavar="N",
    help="So many.",
)
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
    session: Session,
    home: "Home",
    wanted: TaskFilter,
    *,
    scope: str | None = None,
    order: str | None = None,
    limit: int | None = None,
    none: str = NO_MATCH,
) -> None:
    """Tell those tasks of a scope that are wanted; `none`: where there is none."""
    catalog, today = catalog_of(home), day("today", home)
    is_shown = sys.stdout.isatty() and not session.as_json  # to somebody who looks for what to do
    is_due = wanted.is_overdue or wanted.is_today
    is_open = (is_shown or wanted.is_blocked is not None) and not wanted.statuses
    if scope is None and (is_due or wanted.is_waiting or is_open):
        scope = "open"
        wanted = wanted._replace(is_waiting=bool(wanted.is_waiting))
    order = order or ("urgency" if is_shown else "")
    marks = MARKS[scope or "kept"]
    # only the documents tell which are wanted, and which come first
    is_narrowed = order or wanted != TaskFilter()
    if is_due and scope == "open":
        every = home.views.due(VIEW, today)
    else:
        every = home.views.marked(VIEW, marks, limit=-1 if is_narrowed else limit or -1)
    blocked = blocked_ids(home) if wanted.is_blocked is not None else ()
    found = [one for one in every if fits_filter(one, wanted, today, blocked)]
    shown = (ordered(found, order, today) if order else found)[:limit]
    if session.as_json:
        session.document(task_lines(home, shown))
        return
    if not shown:
        session.say(none if home.views.count(VIEW) else EMPTY)
        return
    lines = [task_line(one.task, catalog, "") for one in shown]
    _table(session, lines, {one.id for one in shown if one.is_deleted}, today)
    count = len(found) if is_narrowed else sum(home.views.count(VIEW, one) for one in marks)
    if count > len(shown):
        session.note(f"{count - len(shown)} more; raise --limit to see them.")
    if is_shown:
        now = home.services.clock.now()
        session.say(at_a_glance([one.task for one in found], today, now), style="bright_black")


def _wanted(  # noqa: PLR0913  one for each option
    home: "Home",
    *,
    statuses: Sequence[str],
    category: str,
    labels: Sequence[str],
    not_labels: Sequence[str],
    due_before: str,
    due_after: str,
    blocks: str | None,
    is_waiting: bool,
    **given: Any,
) -> TaskFilter:
    catalog = catalog_of(home)
    return TaskFilter(
        frozenset(status_named(status) for status in statuses),
        categories_named(catalog, category),
        frozenset(label_named(catalog, label).id for label in labels),
        not_labels=frozenset(label_named(catalog, label).id for label in not_labels),
        due_before=day(due_before, home) if due_before else "",
        due_after=day(due_after, home) if due_after else "",
        is_blocked=blocks == "blocked" if blocks else None,
        is_waiting=is_waiting or None,
        **given,
    )


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
