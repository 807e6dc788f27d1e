"""What edits tasks: `wakelog task add`, `set`, `note`, `check` and the like, and `wakelog done`."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from adapters.cli.editing import Editing, named
from adapters.cli.param_types import TEXT, long_text, warn_of_secrets
from adapters.cli.shared import F, Session, complain, key_option
from adapters.documents.tasks import task_page
from adapters.text.task import stopped
from adapters.usecases import tasks
from adapters.usecases.inputs import NONE, first_instant, status_named, typed
from adapters.usecases.resolve import nth_key
from adapters.usecases.tasks import (
    add_items,
    add_note,
    add_task,
    conclude_task,
    delete_task,
    edit_note,
    edit_task,
    log_time,
    mark_items,
    rate,
    remove_note,
    rename_item,
    restore_task,
    retime,
    start_timer,
    stop_timer,
)
from domain.errors import Refused, invalid
from domain.journal import edits
from domain.journal.document import task_line
from domain.journal.task import FIELDS, RATING_MAX

if TYPE_CHECKING:
    from domain.journal.task import NoteKind


def _field_options(command: F) -> F:
    options = (
        click.option("--description", type=TEXT, metavar="TEXT", help="Or `-` for stdin."),
        click.option(
            "--status", type=TEXT, metavar="S", help="open, groomed, in-progress, blocked, ..."
        ),
        click.option("--reason", type=TEXT, metavar="R", help="Why; needed for blocked, on-hold."),
        *(
            click.option(f"--{one.name}", type=TEXT, metavar=one.metavar, help=one.help)
            for one in FIELDS
        ),
        click.option("--category", type=TEXT, metavar="C", help="A category's name."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _fields(session: Session, given: dict[str, str | None]) -> dict[str, Any]:
    """The options that were given, as the journal's commands take them."""
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "reason" in fields and "status" not in fields:
        because = "--reason is given without --status"
        raise Refused("invalid_value", because=because, instead="say which status it is for")
    if "status" in fields:
        fields["status"] = status_named(fields["status"])
    for field in FIELDS:
        if field.name in fields:
            fields[field.name] = typed(field, fields[field.name], session.reading)
    return fields


@click.command(
    "add", epilog='Example: wakelog task add "Book the flight" --due 2027-02-12 --item "Compare"'
)
@click.argument("title", type=TEXT)
@_field_options
@click.option("--label", "labels", type=TEXT, multiple=True, metavar="L", help="A label's name.")
@click.option("--item", "items", type=TEXT, multiple=True, metavar="I", help="A checklist item.")
@click.option(
    "--file",
    type=click.Path(),
    default="",
    metavar="FILE",
    help="Give it a line in this file, too.",
)
@key_option
@click.pass_obj
def add(
    session: Session,
    /,
    title: str,
    labels: Sequence[str],
    items: Sequence[str],
    file: str,
    key: str,
    description: str | None,
    **given: str | None,
) -> None:
    """Add a task, with a checklist if you like; with --file also to a file that was imported."""
    fields = _fields(session, given)
    titles = tuple(edits.titled(item, edits.ITEM_TITLE_MAX) for item in items)
    said = None if description is None else long_text(description, None, "description")
    editing = Editing(session, key)
    made = add_task(
        editing.home,
        title,
        fields,
        editing.key,
        labels=labels,
        items=titles,
        description=said,
    )
    task_id = editing.did(made).ids[0]
    editing.tell("Added", task_id)
    if file:
        _into(session, file, task_id)


def _into(session: Session, file: str, task_id: str) -> None:
    """Give a new task a line in a file; it is here in any case, and the exit status 1 without."""
    from adapters.home.read_input import UnreadableInput
    from adapters.usecases.import_sources import sources_of
    from adapters.usecases.write_back import write_back

    home, why = session.writing(), ""
    try:
        (source,) = sources_of(home, [file], "", os.environ)
        if write_back(home, file, source, os.environ, [task_id]).unsaid:
            why = "its line cannot be said there; change the title, then `wakelog write-back --add`"
    except (UnreadableInput, Refused) as error:
        why = str(error)
    if why:
        complain(f"the task is here, and not in {file}: {why}")
        raise SystemExit(1)


@click.command(
    "set", epilog='Example: wakelog task set "Book the flight" --status done --estimate none'
)
@click.argument("task", type=TEXT)
@click.option("--title", type=TEXT, metavar="T", help="A new title.")
@_field_options
@key_option
@click.pass_obj
def edit(
    session: Session,
    /,
    task: str,
    title: str | None,
    key: str,
    description: str | None,
    **given: str | None,
) -> None:
    """Change fields of a task; what is not named stays as it is."""
    fields = _fields(session, given)
    if title is not None:
        fields["title"] = edits.titled(title, edits.TITLE_MAX)
    if description is None and not fields:
        because = "nothing is named that shall change"
        instead = "give an option, as in --status done; see `wakelog task set --help`"
        raise Refused("invalid_value", because=because, instead=instead)
    said = None if description is None else long_text(description, None, "description")
    editing = Editing(session, key)
    found = editing.task(task)
    text = "" if said == NONE else said
    editing.did(edit_task(editing.home, found.id, fields, editing.key, description=text))
    editing.tell("Changed", found.id)


@click.command(
    "conclude",
    epilog='Example: wakelog task conclude "Book the flight" --follow-up "Pack for the flight"',
)
@click.argument("task", type=TEXT)
@click.option(
    "--follow-up", "title", type=TEXT, metavar="TITLE", required=True, help="The new task's title."
)
@click.option("--keep-items", "keeps_items", is_flag=True, help="Leave open items where they are.")
@key_option
@click.pass_obj
def conclude(session: Session, task: str, title: str, key: str, *, keeps_items: bool) -> None:
    """Set a task done, and let a new one follow it with its open items."""
    title = edits.titled(title, edits.TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    made = conclude_task(editing.home, found.id, title, editing.key, keeps_items=keeps_items)
    timer = stopped(task_page(editing.home, found.id).task, made.stopped)
    editing.tell(f"Concluded {named(found)}{timer}; added", editing.did(made).ids[0])


@click.command("delete", epilog='Example: wakelog task delete "Book the flight"')
@click.argument("task", type=TEXT)
@key_option
@click.pass_obj
def delete(session: Session, task: str, key: str) -> None:
    """Delete a task; `task restore` brings it back with all it had."""
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(delete_task(editing.home, found.id, key=editing.key))
    editing.tell("Deleted", found.id)


@click.command("restore", epilog='Example: wakelog task restore "Book the flight"')
@click.argument("task", type=TEXT)
@key_option
@click.pass_obj
def restore(session: Session, task: str, key: str) -> None:
    """Bring a deleted task back; `task list --deleted` shows them."""
    editing = Editing(session, key)
    found = editing.task(task, is_deleted=True)
    editing.did(restore_task(editing.home, found.id, key=editing.key))
    editing.tell("Restored", found.id)


# ------------------------------------------------------------------------------ the parts of a task
# `wakelog task check`, `uncheck`, `item`, `note`, `link` and `unlink`: the parts of a task.

ITEM_HELP = (
    "ITEM is its number in `task show`, its id, the beginning of one, or words of its title."
)
KINDS = ("note", "transcript", "image_analysis")


@click.command("check", epilog=f'Example: wakelog task check "Book the flight" 1 2. {ITEM_HELP}')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def check(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Tick checklist items off."""
    _mark(session, task, item, key, is_checked=True)


@click.command("uncheck", epilog=f'Example: wakelog task uncheck "Book the flight" 2. {ITEM_HELP}')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def uncheck(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Take the tick off checklist items."""
    _mark(session, task, item, key, is_checked=False)


def _mark(
    session: Session,
    task: str,
    items: Sequence[str],
    key: str,
    *,
    is_checked: bool | None = None,
    is_archived: bool | None = None,
) -> None:
    """Tick, untick, archive or restore items; if one is unknown, none is touched."""
    editing = Editing(session, key)
    found = editing.task(task)
    named = dict.fromkeys(editing.item(found, item).id for item in items)
    how = {"is_checked": is_checked, "is_archived": is_archived}
    editing.did(mark_items(editing.home, found.id, named, editing.key, **how))
    done = {True: "Checked", False: "Unchecked", None: "Archived" if is_archived else "Restored"}
    _tell_items(editing, done[is_checked], found.id)


def _tell_items(editing: Editing, done: str, task_id: str) -> None:
    """Say what was done, and how far the checklist is."""
    page = task_page(editing.session.reading(), task_id)
    told = task_line(page.task, page.catalog, "").checklist
    editing.tell(f"{done} ({told.done} of {told.total} done)", task_id)


@click.group("item", epilog=ITEM_HELP)
def item_group() -> None:
    """Add, rename, archive and restore checklist items."""


@item_group.command(
    "add", epilog='Example: wakelog task item add "Book the flight" "Compare fares"'
)
@click.argument("task", type=TEXT)
@click.argument("title", type=TEXT, nargs=-1, required=True)
@click.option("--checklist", type=TEXT, default="", metavar="C", help="Title of the checklist.")
@key_option
@click.pass_obj
def item_add(session: Session, task: str, title: Sequence[str], checklist: str, key: str) -> None:
    """Add items at the end of a checklist."""
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(add_items(editing.home, found.id, title, checklist=checklist, key=editing.key))
    _tell_items(editing, "Added", found.id)


@item_group.command(
    "rename", epilog='Example: wakelog task item rename "Book the flight" 1 "Compare fares"'
)
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT)
@click.argument("title", type=TEXT)
@key_option
@click.pass_obj
def item_rename(session: Session, task: str, item: str, title: str, key: str) -> None:
    """Rename an item; agents learn from it if it was not you who wrote it."""
    title = edits.titled(title, edits.ITEM_TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    item_id = editing.item(found, item).id
    editing.did(rename_item(editing.home, found.id, item_id, title, key=editing.key))
    editing.tell("Renamed the item", found.id)


@item_group.command("archive", epilog='Example: wakelog task item archive "Book the flight" 2')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def item_archive(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Put items aside; they no longer count."""
    _mark(session, task, item, key, is_archived=True)


@item_group.command("restore", epilog='Example: wakelog task item restore "Book the flight" 2')
@click.argument("task", type=TEXT)
@click.argument("item", type=TEXT, nargs=-1, required=True)
@key_option
@click.pass_obj
def item_restore(session: Session, task: str, item: Sequence[str], key: str) -> None:
    """Bring archived items back."""
    _mark(session, task, item, key, is_archived=False)


@click.command("note", epilog='Example: wakelog task note "Book the flight" "Ann prefers trains"')
@click.argument("task", type=TEXT)
@click.argument("text", type=TEXT, required=False)
@click.option("--file", type=TEXT, metavar="PATH", help="Read the text from a file.")
@click.option(
    "--kind",
    "note_kind",
    type=click.Choice(KINDS),
    default="note",
    show_default=True,
    help="What it is.",
)
@click.option("--edit", type=TEXT, metavar="NOTE", help="Replace the text of this note.")
@click.option("--remove", type=TEXT, metavar="NOTE", help="Remove this note.")
@key_option
@click.pass_obj
def note(
    session: Session,
    /,
    task: str,
    text: str | None,
    file: str | None,
    note_kind: str,
    key: str,
    **which: str | None,
) -> None:
    """Add a note: a TEXT, `-` for stdin, or --file. NOTE is a number in `task show`, or an id."""
    editing = Editing(session, key)
    edit, remove = which["edit"], which["remove"]
    if remove is not None:
        if text is not None or file is not None or edit is not None:
            because = "--remove takes no text and no --edit"
            raise Refused("invalid_value", because=because, instead="do one after the other")
        found = editing.task(task)
        note_id = editing.note(found, remove)
        editing.did(remove_note(editing.home, found.id, note_id, key=editing.key))
        editing.tell("Removed the note", found.id)
        return
    said = long_text(text, file, "note")
    warn_of_secrets(said, "the note")
    found = editing.task(task)
    if edit is None:
        kind = cast("NoteKind", note_kind)  # click has checked it
        editing.did(add_note(editing.home, found.id, said, key=editing.key, kind=kind))
    else:
        note_id = editing.note(found, edit)
        editing.did(edit_note(editing.home, found.id, note_id, said, key=editing.key))
    editing.tell("Noted" if edit is None else "Changed the note", found.id)


@click.command("link", epilog='Example: wakelog task link "Book the flight" blocks "Pack"')
@click.argument("task", type=TEXT)
@click.argument("relation_", metavar="RELATION", type=TEXT)
@click.argument("other", type=TEXT)
@key_option
@click.pass_obj
def link(session: Session, task: str, relation_: str, other: str, key: str) -> None:
    """Link a task to another one.

    RELATION is relates-to, blocks, follows-up-on, duplicates, fixes or supersedes, or the same
    from the other end: blocked-by, has-follow-up, duplicated-by, fixed-by or superseded-by.
    """
    _link(session, task, relation_, other, key, is_new=True)


@click.command("unlink", epilog='Example: wakelog task unlink "Book the flight" blocks "Pack"')
@click.argument("task", type=TEXT)
@click.argument("relation_", metavar="RELATION", type=TEXT)
@click.argument("other", type=TEXT)
@key_option
@click.pass_obj
def unlink(session: Session, task: str, relation_: str, other: str, key: str) -> None:
    """Remove a link; RELATION is named as in `task link`."""
    _link(session, task, relation_, other, key, is_new=False)


def _link(session: Session, task: str, phrase: str, other: str, key: str, *, is_new: bool) -> None:
    editing = Editing(session, key)
    here, there = editing.task(task), editing.task(other)
    deed = tasks.link if is_new else tasks.unlink
    editing.did(deed(editing.home, here.id, phrase, there.id, editing.key))
    editing.tell("Linked" if is_new else "Unlinked", here.id)


# --------------------------------------------------------------------------------- what a task took
# `wakelog task timer` and `wakelog task time`: what a task took.

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


# --------------------------------------------------------------------------------------------- done
# `wakelog done`: the deed of every day, for one task or several.


@click.command("done", epilog='Example: wakelog done "Book the flight" "Call Ann"')
@click.argument("tasks", type=TEXT, nargs=-1, required=True, metavar="TASK...")
@key_option
@click.pass_obj
def done_command(session: Session, tasks: Sequence[str], key: str) -> None:
    """Set tasks done; all are looked up before the first is. TASK as in `wakelog task`."""
    runs = [
        Editing(session, nth_key(key, nth) if nth > 1 else key) for nth in range(1, len(tasks) + 1)
    ]
    found = {one.task(wanted).id: one for one, wanted in zip(runs, tasks, strict=True)}
    name = ""
    for nth, (task_id, one) in enumerate(found.items(), start=1):
        own = one.key or (nth_key(name, nth) if name else "")
        kept = edit_task(one.home, task_id, {"status": "DONE"}, own)
        name = name or kept.name
        one.did(kept)
    home = session.reading()
    pages = [task_page(home, task_id) for task_id in found]
    if session.as_json:
        session.document([page.document() for page in pages])
    for page in pages:
        one = found[page.task.id]
        timer = stopped(page.task, one.stopped)
        session.say(f"{one.outcome('Done')}: {named(page.task)}{timer}")


COMMANDS: tuple[click.Command, ...] = (
    add,
    edit,
    conclude,
    delete,
    restore,
    check,
    uncheck,
    item_group,
    note,
    link,
    unlink,
    timer_group,
    time,
    retime_command,
    rate_command,
)
