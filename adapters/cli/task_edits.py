"""What edits tasks: `wakelog add`, `edit`, `note`, `done` and the like, and `wakelog task`."""

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import click

from adapters.cli.editing import Editing, edit_in_editor, named, on_each, on_task
from adapters.cli.lazy_groups import group, keyed
from adapters.cli.param_types import TEXT, long_text, warn_of_secrets
from adapters.cli.shared import F, Session, complain, yes_option
from adapters.documents.tasks import catalog_of, label_named, task_page
from adapters.text.task import stopped
from adapters.usecases import tasks
from adapters.usecases.inputs import NONE, day, first_instant, minutes, status_named, typed
from adapters.usecases.tasks import edit_task
from domain.errors import Refused, invalid
from domain.journal import edits
from domain.journal.document import task_line
from domain.journal.task import FIELDS, RATING_MAX, NoteKind, Task

if TYPE_CHECKING:
    from adapters.wiring import Home


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _field_options(command: F) -> F:
    options = (
        click.option("--description", type=TEXT, metavar="TEXT", help="Or `-` for stdin."),
        click.option(
            "--status", type=TEXT, metavar="S", help="open, groomed, in-progress, blocked, ..."
        ),
        click.option("--reason", type=TEXT, metavar="R", help="Why; needed for blocked, on-hold."),
        click.option(
            "--until", type=TEXT, metavar="DAY", help="Of on-hold: when it comes back; as --due."
        ),
        *(
            click.option(_dashed(one.name), type=TEXT, metavar=one.metavar, help=one.help)
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
        raise invalid("--reason is given without --status", "say which status it is for")
    if "status" in fields:
        fields["status"] = status_named(fields["status"])
    if "until" in fields:
        until = fields.pop("until")
        if fields.get("status") != "ON HOLD" or "wait_until" in fields:
            because = "--until is of a task that is set on hold"
            raise invalid(because, "say --status on-hold with it, or --wait-until DAY instead")
        fields["wait_until"] = day(until, session.reading())
        fields.setdefault("reason", f"until {fields['wait_until']}")
    for field in FIELDS:
        if field.name in fields:
            fields[field.name] = typed(field, fields[field.name], session.reading)
    return fields


@keyed(
    "add", "title...=TITLE...", old="task add",
    example='Book the flight --due 2027-02-12 --item "Compare"',
)  # fmt: skip
@_field_options
@click.option("--label", "labels", multiple=True, metavar="L", help="A label's name.")
@click.option("--item", "items", multiple=True, metavar="I", help="A checklist item.")
@click.option(
    "--file",
    type=click.Path(),
    default="",
    metavar="FILE",
    help="Give it a line in this file, too.",
)
def add(
    session: Session,
    /,
    title: Sequence[str],
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
    made = tasks.add_task(
        editing.home,
        " ".join(title),
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


@keyed("log", "title...=TITLE...", example="Called the landlord --time 30m")
@click.option("--time", "took", default="", metavar="T", help="How long it took: 30m, 1h30.")
@click.option("--category", default="", metavar="C", help="A category's name.")
@click.option("--label", "labels", multiple=True, metavar="L", help="A label's name.")
def log_command(
    session: Session,
    title: Sequence[str],
    took: str,
    category: str,
    labels: Sequence[str],
    key: str,
) -> None:
    """Write down what was done already: a task that is done, and the time that it took."""
    editing = Editing(session, key)
    spent = minutes(took) if took else 0
    fields = {"category": category} if category else {}
    made = tasks.log_done(editing.home, " ".join(title), fields, spent, editing.key, labels=labels)
    editing.tell("Logged", editing.did(made).ids[0])


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


MANY = yes_option("Do not ask before more than ten tasks.")


@keyed("edit", "task...=TASK...", old="task set", example='"Book the flight" --due friday')
@click.option("--title", metavar="T", help="A new title.")
@_field_options
@click.option("--all", "is_last", is_flag=True, help="Of one that repeats and is closed: no next.")
@click.option("--label", "labels", multiple=True, metavar="L", help="Put a label on.")
@click.option("--no-label", "gone", multiple=True, metavar="L", help="Take a label off.")
@MANY
def edit(
    session: Session,
    /,
    task: Sequence[str],
    title: str | None,
    key: str,
    description: str | None,
    is_last: bool,
    **given: Any,
) -> None:
    """Change fields of tasks; what is not named stays as it is. Without an option your editor
    (VISUAL or EDITOR) opens all that the task has.

    One that repeats is followed by the next once it is done or rejected.
    """
    labels, gone = given.pop("labels"), given.pop("gone")
    fields = _fields(session, given)
    if title is not None:
        fields["title"] = edits.titled(title, edits.TITLE_MAX)
    if description is None and not (fields or labels or gone):
        edit_in_editor(session, task, key, is_last=is_last)
        return
    if title is not None and len(task) > 1:
        raise invalid("--title names one task", "give each its own")
    said = None if description is None else long_text(description, None, "description")
    text = "" if said == NONE else said

    for name in gone:
        label_named(catalog_of(session.reading()), name)  # before anything is done

    def deed(home: "Home", task_id: str, key: str) -> tasks.UseCaseResult:
        change = partial(edit_task, home, task_id, fields, description=text, is_last=is_last)
        if not (labels or gone):
            return change(key)
        put = tasks.assign_labels(home, task_id, labels, key, gone)
        if not fields and text is None:
            return put._replace(ids=(task_id,))
        made = change(key or put.name, nth=2)
        return put.then(made)._replace(ids=made.ids)

    on_each(session, task, key, "Changed", deed, is_asked=True)


@keyed("task conclude", "task", example='"Book the flight" --follow-up "Pack for the flight"')
@click.option("--follow-up", "title", metavar="TITLE", required=True, help="The new task's title.")
@click.option("--keep-items", "keeps_items", is_flag=True, help="Leave open items where they are.")
def conclude(session: Session, task: str, title: str, key: str, *, keeps_items: bool) -> None:
    """Set a task done, and let a new one follow it with its open items."""
    title = edits.titled(title, edits.TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    made = tasks.conclude_task(editing.home, found.id, title, editing.key, keeps_items=keeps_items)
    timer = stopped(task_page(editing.home, found.id).task, made.stopped)
    editing.tell(f"Concluded {named(found)}{timer}; added", editing.did(made).ids[0])


@keyed("delete", "task...=TASK...", old="task delete", example='"Book the flight"')
@MANY
def delete(session: Session, task: Sequence[str], key: str) -> None:
    """Delete tasks; `task restore` brings one back with all it had."""
    on_each(session, task, key, "Deleted", tasks.delete_task, is_asked=True)


@on_task("task restore", done="Restored", example='"Book the flight"', is_deleted=True)
def restore(one: Editing, task: Task) -> tasks.UseCaseResult:
    """Bring a deleted task back; `task list --deleted` shows them."""
    return tasks.restore_task(one.home, task.id, one.key)


# ------------------------------------------------------------------------------ the parts of a task

ITEM_HELP = (
    "ITEM is its number in `task show`, its id, the beginning of one, or words of its title."
)
KINDS = ("note", "transcript", "image_analysis")


def _tell_items(editing: Editing, done: str, task_id: str) -> None:
    """Say what was done, and how far the checklist is."""
    page = task_page(editing.session.reading(), task_id)
    told = task_line(page.task, page.catalog, "").checklist
    editing.tell(f"{done} ({told.done} of {told.total} done)", task_id)


on_items = partial(on_task, tell=_tell_items)


def _mark(one: Editing, task: Task, items: Sequence[str], **how: bool) -> tasks.UseCaseResult:
    """Tick, untick, archive or restore items; if one is unknown, none is touched."""
    named = dict.fromkeys(one.item(task, item).id for item in items)
    return tasks.mark_items(one.home, task.id, named, one.key, **how)


@on_items("task check", "item...", done="Checked", example=f'"Book the flight" 1 2. {ITEM_HELP}')
def check(one: Editing, task: Task, item: Sequence[str]) -> tasks.UseCaseResult:
    """Tick checklist items off."""
    return _mark(one, task, item, is_checked=True)


@on_items("task uncheck", "item...", done="Unchecked", example=f'"Book the flight" 2. {ITEM_HELP}')
def uncheck(one: Editing, task: Task, item: Sequence[str]) -> tasks.UseCaseResult:
    """Take the tick off checklist items."""
    return _mark(one, task, item, is_checked=False)


@group("task item", epilog=ITEM_HELP)
def item_group() -> None:
    """Add, rename, archive and restore checklist items."""


@on_items("task item add", "title...", done="Added", example='"Book the flight" "Compare fares"')
@click.option("--checklist", default="", metavar="C", help="Title of the checklist.")
def item_add(one: Editing, task: Task, title: Sequence[str], checklist: str) -> tasks.UseCaseResult:
    """Add items at the end of a checklist."""
    return tasks.add_items(one.home, task.id, title, checklist=checklist, key=one.key)


@keyed("task item rename", "task", "item", "title", example='"Book the flight" 1 "Compare fares"')
def item_rename(session: Session, task: str, item: str, title: str, key: str) -> None:
    """Rename an item; agents learn from it if it was not you who wrote it."""
    title = edits.titled(title, edits.ITEM_TITLE_MAX)
    editing = Editing(session, key)
    found = editing.task(task)
    item_id = editing.item(found, item).id
    editing.did(tasks.rename_item(editing.home, found.id, item_id, title, key=editing.key))
    editing.tell("Renamed the item", found.id)


@on_items("task item archive", "item...", done="Archived", example='"Book the flight" 2')
def item_archive(one: Editing, task: Task, item: Sequence[str]) -> tasks.UseCaseResult:
    """Put items aside; they no longer count."""
    return _mark(one, task, item, is_archived=True)


@on_items("task item restore", "item...", done="Restored", example='"Book the flight" 2')
def item_restore(one: Editing, task: Task, item: Sequence[str]) -> tasks.UseCaseResult:
    """Bring archived items back."""
    return _mark(one, task, item, is_archived=False)


@keyed("note", "task", "[text]", old="task note", example='"Book the flight" "Ann prefers trains"')
@click.option("--file", metavar="PATH", help="Read the text from a file.")
@click.option(
    "--kind",
    "note_kind",
    type=click.Choice(KINDS),
    default="note",
    show_default=True,
    help="What it is.",
)
@click.option("--edit", metavar="NOTE", help="Replace the text of this note.")
@click.option("--remove", metavar="NOTE", help="Remove this note.")
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
            raise invalid("--remove takes no text and no --edit", "do one after the other")
        found = editing.task(task)
        note_id = editing.note(found, remove)
        editing.did(tasks.remove_note(editing.home, found.id, note_id, key=editing.key))
        editing.tell("Removed the note", found.id)
        return
    said = long_text(text, file, "note")
    warn_of_secrets(said, "the note")
    found = editing.task(task)
    if edit is None:
        kind = cast("NoteKind", note_kind)  # click has checked it
        editing.did(tasks.add_note(editing.home, found.id, said, key=editing.key, kind=kind))
    else:
        note_id = editing.note(found, edit)
        editing.did(tasks.edit_note(editing.home, found.id, note_id, said, key=editing.key))
    editing.tell("Noted" if edit is None else "Changed the note", found.id)


LINKED = ("relation_=RELATION", "other")


@on_task("task link", *LINKED, done="Linked", example='"Book the flight" blocks "Pack"')
def link(one: Editing, task: Task, relation_: str, other: str) -> tasks.UseCaseResult:
    """Link a task to another one.

    RELATION is relates-to, blocks, follows-up-on, duplicates, fixes or supersedes, or the same
    from the other end: blocked-by, has-follow-up, duplicated-by, fixed-by or superseded-by.
    """
    there = one.task(other)
    return tasks.link(one.home, task.id, relation_, there.id, one.key)


@on_task("task unlink", *LINKED, done="Unlinked", example='"Book the flight" blocks "Pack"')
def unlink(one: Editing, task: Task, relation_: str, other: str) -> tasks.UseCaseResult:
    """Remove a link; RELATION is named as in `task link`."""
    there = one.task(other)
    return tasks.unlink(one.home, task.id, relation_, there.id, one.key)


# --------------------------------------------------------------------------------- what a task took

ENTRY_HELP = "ENTRY is its number in `task show`, its id, or the beginning of one."


@group("task timer")
def timer_group() -> None:
    """Start and stop the timer; there is one for all tasks."""


@on_task("start", done="The timer runs", example='"Book the flight"', old="task timer start")
def start(one: Editing, task: Task) -> tasks.UseCaseResult:
    """Start the timer on a task; one that runs is stopped."""
    return tasks.start_timer(one.home, task.id, one.key)


@keyed("stop", old="task timer stop", example='--summary "Compared fares"')
@click.option("--summary", default="", metavar="TEXT", help="What was done.")
def stop(session: Session, summary: str, key: str) -> None:
    """Stop the timer."""
    editing = Editing(session, key)
    kept = editing.did(tasks.stop_timer(editing.home, summary, key=editing.key))
    editing.stopped = ()  # it is said already
    editing.tell("Stopped the timer", kept.ids[1])


@keyed("task time", "task", example='"Book the flight" --start 09:00 --end 10:30')
@click.option(
    "--start",
    "began",
    required=True,
    metavar="T",
    help="YYYY-MM-DD HH:MM in your time zone, HH:MM of today, monday HH:MM, or RFC 3339.",
)
@click.option("--end", "ended", required=True, metavar="T", help="As --start.")
@click.option("--summary", default="", metavar="TEXT", help="What was done.")
def time(session: Session, task: str, began: str, ended: str, summary: str, key: str) -> None:
    """Enter time that a task took."""
    home = session.reading()
    zone, now = home.settings.timezone, home.services.clock.now
    first, last = (first_instant(one, zone, now, is_back=True) for one in (began, ended))
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(
        tasks.log_time(editing.home, found.id, first, last, summary=summary, key=editing.key)
    )
    editing.tell("Entered the time", found.id)


@keyed("task retime", "task", "entry", example=f'"Book the flight" 2 --end 11:00. {ENTRY_HELP}')
@click.option("--start", "began", default="", metavar="T", help="As of `task time`.")
@click.option("--end", "ended", default="", metavar="T", help="As --start.")
@click.option("--summary", default=None, metavar="TEXT", help="What was done.")
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
    done = tasks.retime(
        editing.home, found.id, entry_id, editing.key, began=first, ended=last, summary=summary
    )
    editing.did(done)
    editing.tell("Corrected the time", found.id)


@on_task("task rate", done="Rated it", example=f'"Book the flight" 4. {ENTRY_HELP}')
@click.argument("score", type=click.IntRange(1, RATING_MAX))
@click.option("--entry", default="", metavar="ENTRY", help="Only this time entry.")
@click.option("--note", "comment", default="", metavar="TEXT", help="Why.")
def rate_command(
    one: Editing, task: Task, score: int, entry: str, comment: str
) -> tasks.UseCaseResult:
    """Rate how a task, or one time entry of it, went: 1 to 5, the best."""
    entry_id = one.entry(task, entry) if entry else ""
    return tasks.rate(one.home, task.id, score, one.key, entry_id=entry_id, comment=comment)


@keyed("done", "tasks...=TASK...", example='"Book the flight" "Call Ann"')
def done_command(session: Session, tasks: Sequence[str], key: str) -> None:
    """Set tasks done; all are looked up before the first is. TASK as in `wakelog task`."""
    on_each(session, tasks, key, "Done", _done, is_list=True)


def _done(home: "Home", task_id: str, key: str) -> tasks.UseCaseResult:
    return edit_task(home, task_id, {"status": "DONE"}, key)
