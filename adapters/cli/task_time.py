"""`wakelog task timer` and `wakelog task time`: what a task took."""

import click

from adapters.actions.inputs import first_instant
from adapters.actions.tasks import log_time, rate, retime, start_timer, stop_timer
from adapters.cli.editing import Editing
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from domain.errors import invalid
from domain.journal.task import RATING_MAX

ENTRY_HELP = "ENTRY is its number in `task show`, its id, or the beginning of one."


@click.group("timer")
def timer_group() -> None:
    """Start and stop the timer; there is one for all tasks."""


@timer_group.command("start", epilog='Example: wakelog task timer start "Book the flight"')
@click.argument("task", type=TEXT)
@key_option
@click.pass_obj
def start(session: Session, task: str, key: str) -> None:
    """Start the timer on a task; one that runs is stopped."""
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(start_timer(editing.home, found.id, key=editing.key))
    editing.tell("The timer runs", found.id)


@timer_group.command("stop", epilog='Example: wakelog task timer stop --summary "Compared fares"')
@click.option("--summary", type=TEXT, default="", metavar="TEXT", help="What was done.")
@key_option
@click.pass_obj
def stop(session: Session, summary: str, key: str) -> None:
    """Stop the timer."""
    editing = Editing(session, key)
    kept = editing.did(stop_timer(editing.home, summary, key=editing.key))
    editing.stopped = ()  # it is said already
    editing.tell("Stopped the timer", kept.ids[1])


@click.command(
    "time", epilog='Example: wakelog task time "Book the flight" --start 09:00 --end 10:30'
)
@click.argument("task", type=TEXT)
@click.option(
    "--start",
    "began",
    type=TEXT,
    required=True,
    metavar="T",
    help="YYYY-MM-DD HH:MM in your time zone, HH:MM of today, monday HH:MM, or RFC 3339.",
)
@click.option("--end", "ended", type=TEXT, required=True, metavar="T", help="As --start.")
@click.option("--summary", type=TEXT, default="", metavar="TEXT", help="What was done.")
@key_option
@click.pass_obj
def time(session: Session, task: str, began: str, ended: str, summary: str, key: str) -> None:
    """Enter time that a task took."""
    home = session.reading()
    zone, now = home.settings.timezone, home.services.clock.now
    first, last = (first_instant(one, zone, now, is_back=True) for one in (began, ended))
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(log_time(editing.home, found.id, first, last, summary=summary, key=editing.key))
    editing.tell("Entered the time", found.id)


@click.command(
    "retime", epilog='Example: wakelog task retime "Book the flight" 2 --end 11:00. ' + ENTRY_HELP
)
@click.argument("task", type=TEXT)
@click.argument("entry", type=TEXT)
@click.option("--start", "began", type=TEXT, default="", metavar="T", help="As of `task time`.")
@click.option("--end", "ended", type=TEXT, default="", metavar="T", help="As --start.")
@click.option("--summary", type=TEXT, default=None, metavar="TEXT", help="What was done.")
@key_option
@click.pass_obj
def retime_command(
    session: Session, task: str, entry: str, began: str, ended: str, summary: str | None, key: str
) -> None:
    """Correct a time entry: its start, its end, its summary."""
    if not (began or ended or summary is not None):
        raise invalid("there is nothing to change", "give --start, --end or --summary")
    home = session.reading()
    zone, now = home.settings.timezone, home.services.clock.now
    first, last = (
        first_instant(one, zone, now, is_back=True) if one else "" for one in (began, ended)
    )
    editing = Editing(session, key)
    found = editing.task(task)
    entry_id = editing.entry(found, entry)
    done = retime(
        editing.home, found.id, entry_id, editing.key, began=first, ended=last, summary=summary
    )
    editing.did(done)
    editing.tell("Corrected the time", found.id)


@click.command("rate", epilog='Example: wakelog task rate "Book the flight" 4. ' + ENTRY_HELP)
@click.argument("task", type=TEXT)
@click.argument("score", type=click.IntRange(1, RATING_MAX))
@click.option("--entry", type=TEXT, default="", metavar="ENTRY", help="Only this time entry.")
@click.option("--note", "comment", type=TEXT, default="", metavar="TEXT", help="Why.")
@key_option
@click.pass_obj
def rate_command(
    session: Session, task: str, score: int, entry: str, comment: str, key: str
) -> None:
    """Rate how a task, or one time entry of it, went: 1 to 5, the best."""
    editing = Editing(session, key)
    found = editing.task(task)
    entry_id = editing.entry(found, entry) if entry else ""
    done = rate(editing.home, found.id, score, editing.key, entry_id=entry_id, comment=comment)
    editing.did(done)
    editing.tell("Rated it", found.id)


COMMANDS: tuple[click.Command, ...] = (timer_group, time, retime_command, rate_command)
