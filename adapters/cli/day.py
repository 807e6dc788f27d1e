"""`wakelog day`: what is planned of a day, beside the time that was really spent, and its blocks
put, moved and taken away by hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import LazyGroup, command, group, keyed
from adapters.cli.shared import Session, flag, option
from adapters.documents.day import DayBlock, blocks_of
from adapters.documents.tasks import catalog_of, categories_named
from adapters.text.common import counted, safe
from adapters.text.day import block_line, day_head, day_notes, day_rows, plan_rows
from adapters.usecases import day as days
from adapters.usecases.inputs import day
from domain.errors import invalid
from domain.journal.task import RATING_MAX

if TYPE_CHECKING:
    from adapters.usecases.tasks import UseCaseResult

DAYS_MAX = 366
on_date = option("--on date=DATE", "Which day: monday, +3d; else today.", default="today")


class _Day(LazyGroup):
    """A group whose own name shows a day: what is none of its commands is a date, or an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = next((one for one in args if not one.startswith("-")), "")
        is_help = not first and set(args) & set(ctx.help_option_names)
        if not (is_help or ctx.resilient_parsing or self.get_command(ctx, first)):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@group(
    "day",
    cls=_Day,
    epilog=f"`wakelog day monday --days 2` is `wakelog day show monday --days 2`. RANGE is "
    f"{days.SPAN_HELP}. A block is named by its START, 9 or 9:30, or by its id.",
)
def day_command() -> None:
    """See and plan a day: blocks of tasks, and of what is none."""


@command("day show", "[date]=[DATE]", example=("", "monday", "--days 7 --ical week.ics"))
@option("--days count=N", "So many.", click.IntRange(1, DAYS_MAX))
@option("--ical file=FILE", "Write the blocks as a calendar (.ics).")
@flag("--replace", "Of --ical: a FILE that is there.")
def show(
    session: Session, date: str | None, count: int | None, file: str | None, *, replace: bool
) -> None:
    """Show a day, today if none is named: its blocks, beside the time that was spent. An entry is
    of the first block of its task that it shares time with, else it was not planned."""
    home = session.reading()
    first = day(date or "today", home)
    found = days.read_days(home, days.days_from(first, count or 1))
    if replace and file is None:
        raise invalid("--replace is of --ical", "leave it out")
    if file is not None:
        from adapters.text.ical import calendar
        from adapters.usecases.task_lists import save_text

        save_text(Path(file), calendar(found), is_replacing=replace)
    if session.printed(found[0] if count is None else found):
        return
    if file is not None:
        count = sum(len(one.blocks) for one in found)
        session.say(safe(f"Wrote {counted(count, 'block')} to {file}"))
        return
    for nth, one in enumerate(found):
        session.say_each([""] if nth else [])
        session.say(day_head(one), style="bold")
        if rows := day_rows(one):
            session.table(("When", "Title", "Planned", "Spent", "By"), rows)
        session.say_each(day_notes(one))


@keyed("day plan", "[date]=[DATE]", example=("", "friday", "--category Work --model gemini"))
@option("--category categories=C", "What it may read.", multiple=True)
@option("--model=M", "What it asks; else the home's.", default="")
@flag("--no-timer", "It wakes only when you ask.")
def plan(
    session: Session, date: str | None, categories: Sequence[str], model: str, key: str, *,
    no_timer: bool,
) -> None:  # fmt: skip
    """Let an agent propose blocks of a day, today from 18:00 on the next: you confirm each.

    It is made where there is none, and reads all categories unless some are named; the options are
    of a new one. It plans within the hours and around the pauses that its preferences say:
    `wakelog agent set Day --prefer hours=9:00-17:00 --prefer pause=12:00-13:00`.
    """
    from adapters.cli.wake import tell_made, tell_woken, woken
    from adapters.usecases import day_agent
    from adapters.usecases.agents import AgentOptions

    home = session.writing()
    wanted = day_agent.next_day(home, day(date, home) if date else "")
    ids = [one for name in categories for one in categories_named(catalog_of(home), name)]
    made = day_agent.ready(home, AgentOptions(model=model), ids, has_timer=not no_timer)
    tell_made(session, home, made)
    if made.others and not made.is_new and not session.as_json:
        others = ", ".join(made.others)
        session.note(safe(f"It may not read {others}: see `wakelog agent set Day --category`."))
    asked = wanted if date else ""
    document, error = woken(
        session, home, made.agent, lambda: day_agent.ask(home, made.agent, asked, key)
    )
    if error or document.outcome != "completed":
        raise SystemExit(tell_woken(session, home, document, error))
    found = days.read_day(home, wanted)
    if session.printed(found):
        return
    told = document.report.tldr if document.report else day_head(found)
    session.say(safe(told), style="bold")
    tasks = day_agent.tasks_of(home, (one.target for one in found.proposals if one.target))
    session.table(("Ref", "When", "Title", "Why"), plan_rows(found, tasks))
    if found.proposals:
        ref = found.proposals[0].ref
        name = ref.rpartition(".")[0]
        session.note(
            f"Apply it with `wakelog confirm {name} --all`, "
            f"or `wakelog confirm {ref} --edit start=10:00 end=12:00`."
        )


# ------------------------------------------------------------------------------------------ blocks


@keyed("day put", "words...=[TASK] RANGE", example=("report 9-11", "--title Lunch 12-13"))
@option("--title=T", "Of what is no task.", default="")
@option("--category=C", "Of a title, for what agents may read.", default="")
@on_date
def put(
    session: Session, words: Sequence[str], title: str, category: str, date: str, key: str
) -> None:
    """Put a block of a task, or of a title, into a day. No agent moves what you put."""
    *named, given = words
    if bool(named) == bool(title):
        because = "a block is of a task or of a title"
        raise invalid(because, f"give TASK RANGE, or --title T RANGE; RANGE is {days.SPAN_HELP}")
    start, end = days.span(given)
    editing = Editing(session, key)
    of = {"category": category, "title": title}
    if named:
        of["task"] = editing.task(" ".join(named)).id
    date = day(date, session.reading())
    _tell(editing, "Put", date, days.put(editing.home, date, start, end, key, **of))


def _on_block(
    words: str, done: str, deed: "Callable[..., UseCaseResult]", *more: str, example: str
) -> click.Command:
    """A command on one block of a day."""

    def run(session: Session, block: str, date: str, key: str, range_: str = "") -> None:
        times = days.span(range_) if range_ else ()
        editing = Editing(session, key)
        date, found = _block(editing, date, block)
        before = blocks_of(editing.home, date)
        _tell(editing, done, date, deed(editing.home, date, found, *times, key=key), before)

    return keyed(words, "block=START", *more, example=example, text=deed.__doc__)(on_date(run))


_on_block("day move", "Moved", days.move, "range_=RANGE", example="9:30 14:00+90m --on friday")
_on_block("day keep", "Kept", days.keep, example="9")
_on_block("day remove", "Removed", days.remove, example="12")


def _block(editing: Editing, date: str, given: str) -> tuple[str, str]:
    """A date, and the id of the block of it that a person names; a retry knows the one it had."""
    home = editing.session.reading()
    date = day(date, home)
    return date, days.block_again(home, date, given, editing.key)


def _tell(
    editing: Editing, done: str, date: str, kept: "UseCaseResult", before: Sequence[DayBlock] = ()
) -> None:
    """Say what was done to a block, or print its day."""
    editing.did(kept)
    every = (*blocks_of(editing.session.reading(), date), *before)
    one = next((one for one in every if one.id == kept.ids[0]), None)
    told = block_line(one) if one else "the block"
    _tell_day(editing, date, f"{editing.outcome(done)}: {told}, {date}")


# ------------------------------------------------------------------------- what is wanted, and was


def _pinning(words: str, done: str, *, is_pinned: bool) -> None:
    """A command that says of a task that it is wanted on a day, or no longer."""

    @keyed(words, "task", example="report --on friday", text=f"Say that a task is {done} on a day.")
    @on_date
    def run(session: Session, task: str, date: str, key: str) -> None:
        editing = Editing(session, key)
        found = editing.task(task, is_deleted=not is_pinned)
        date = day(date, session.reading())
        editing.did(days.pin(editing.home, date, found.id, key, is_pinned=is_pinned))
        told = editing.outcome(done.capitalize())
        _tell_day(editing, date, f"{told}: {found.title}, {date}")


_pinning("day pin", "wanted", is_pinned=True)
_pinning("day unpin", "no longer wanted", is_pinned=False)


@keyed("day rate", example='4 "Long, and good"')
@click.argument("score", type=click.IntRange(1, RATING_MAX))
@click.argument("words", nargs=-1)
@on_date
def rate(session: Session, score: int, words: Sequence[str], date: str, key: str) -> None:
    """Rate how a day went: 1 to 5, the best; in words, why."""
    editing = Editing(session, key)
    date = day(date, session.reading())
    editing.did(days.rate(editing.home, date, score, " ".join(words), key))
    _tell_day(editing, date, f"{editing.outcome('Rated')}: {date}, {score} of {RATING_MAX}")


def _tell_day(editing: Editing, date: str, said: str) -> None:
    session = editing.session
    if session.as_json:
        session.document(days.read_day(session.reading(), date))
    session.say(safe(said))
