"""What edits tasks: `wakelog add`, `edit`, `note`, `done` and the like, and `wakelog task`."""

import os
from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, cast

import click

from adapters.cli.editing import Editing, edit_in_editor, named, on_each, on_task
from adapters.cli.lazy_groups import group, keyed
from adapters.cli.param_types import long_text, warn_of_secrets
from adapters.cli.shared import F, Session, complain, flag, option, yes_option
from adapters.documents.tasks import catalog_of, label_named, task_page
from adapters.text.task import stopped
from adapters.usecases import tasks
from adapters.usecases.inputs import NONE, fields_of, first_instant, minutes
from adapters.usecases.resolve import pick_entry
from adapters.usecases.tasks import set_done
from domain.errors import Refused, invalid
from domain.journal import edits
from domain.journal.document import task_line
from domain.journal.task import FIELDS, RATING_MAX, NoteKind, Task

if TYPE_CHECKING:
    from adapters.wiring import Home


def _field_options(command: F) -> F:
    options = (
        option("--description=TEXT", "Or `-` for stdin."),
        option("--status=S", "open, groomed, in-progress, blocked, ..."),
        option("--reason=R", "Why; needed for blocked, on-hold."),
        option("--until=DAY", "Of on-hold: when it comes back; as --due."),
        *(option(f"--{one.name.replace('_', '-')}={one.metavar}", one.help) for one in FIELDS),
        option("--category=C", "A category's name."),
    )
    return reduce(lambda given, put: put(given), reversed(options), command)


@keyed(
    "add", "title...=TITLE...", old="task add",
    example='Book the flight --due 2027-02-12 --item "Compare"',
)  # fmt: skip
@_field_options
@option("--label labels=L", "A label's name.", multiple=True)
@option("--item items=I", "A checklist item.", multiple=True)
@option("--file=FILE", "Give it a line in this file, too.", click.Path(), default="")
def add(
    session: Session, /, title: Sequence[str], labels: Sequence[str], items: Sequence[str],
    file: str, key: str, description: str | None, **given: str | None,
) -> None:  # fmt: skip
    """Add a task, with a checklist if you like; with --file also to a file that was imported."""
    fields = fields_of(given, session.reading)
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
@option("--time took=T", "How long it took: 30m, 1h30.", default="")
@option("--category=C", "A category's name.", default="")
@option("--label labels=L", "A label's name.", multiple=True)
def log_command(
    session: Session, title: Sequence[str], took: str, category: str, labels: Sequence[str],
    key: str,
) -> None:  # fmt: skip
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
@option("--title=T", "A new title.")
@_field_options
@flag("--all is_last", "Of one that repeats and is closed: no next.")
@option("--label labels=L", "Put a label on.", multiple=True)
@option("--no-label gone=L", "Take a label off.", multiple=True)
@MANY
def edit(
    session: Session, /, task: Sequence[str], title: str | None, key: str, description: str | None,
    is_last: bool, **given: Any,
) -> None:  # fmt: skip
    """Change fields of tasks; what is not named stays as it is. Without an option your editor
    (VISUAL or EDITOR) opens all that the task has.

    One that repeats is followed by the next once it is done or rejected.
    """
    labels, gone = given.pop("labels"), given.pop("gone")
    fields = fields_of(given, session.reading)
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
        return tasks.change_task(
            home, task_id, fields, key, labels=labels, remove=gone, description=text,
            is_last=is_last,
        )  # fmt: skip

    on_each(session, task, key, "Changed", deed, is_asked=True)


@keyed("task conclude", "task", example='"Book the flight" --follow-up "Pack for the flight"')
@option("--follow-up title=TITLE", "The new task's title.", required=True)
@flag("--keep-items keeps_items", "Leave open items where they are.")
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


def _marking(words: str, done: str, example: str, text: str, **how: bool) -> None:
    """A command that marks items; if one is unknown, none is touched."""

    @on_items(words, "item...", done=done, example=f'"Book the flight" {example}', text=text)
    def run(one: Editing, task: Task, item: Sequence[str]) -> tasks.UseCaseResult:
        named = dict.fromkeys(one.item(task, wanted).id for wanted in item)
        return tasks.mark_items(one.home, task.id, named, one.key, **how)


_marking("task check", "Checked", f"1 2. {ITEM_HELP}", "Tick checklist items off.", is_checked=True)
_marking(
    "task uncheck", "Unchecked", f"2. {ITEM_HELP}", "Take the tick off checklist items.",
    is_checked=False,
)  # fmt: skip


@group("task item", epilog=ITEM_HELP)
def item_group() -> None:
    """Add, rename, archive and restore checklist items."""


@on_items("task item add", "title...", done="Added", example='"Book the flight" "Compare fares"')
@option("--checklist=C", "Title of the checklist.", default="")
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


_marking(
    "task item archive", "Archived", "2", "Put items aside; they no longer count.",
    is_archived=True,
)  # fmt: skip
_marking("task item restore", "Restored", "2", "Bring archived items back.", is_archived=False)


@keyed("note", "task", "[text]", old="task note", example='"Book the flight" "Ann prefers trains"')
@option("--file=PATH", "Read the text from a file.")
@option("--kind note_kind", "What it is.", click.Choice(KINDS), shown="note")
@option("--edit=NOTE", "Replace the text of this note.")
@option("--remove=NOTE", "Remove this note.")
def note(
    session: Session, /, task: str, text: str | None, file: str | None, note_kind: str, key: str,
    **which: str | None,
) -> None:  # fmt: skip
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
@option("--summary=TEXT", "What was done.", default="")
def stop(session: Session, summary: str, key: str) -> None:
    """Stop the timer."""
    editing = Editing(session, key)
    kept = editing.did(tasks.stop_timer(editing.home, summary, key=editing.key))
    editing.stopped = ()  # it is said already
    editing.tell("Stopped the timer", kept.ids[1])


@keyed("task time", "task", example='"Book the flight" --start 09:00 --end 10:30')
@option(
    "--start began=T",
    "YYYY-MM-DD HH:MM in your time zone, HH:MM of today, monday HH:MM, or RFC 3339.", required=True,
)  # fmt: skip
@option("--end ended=T", "As --start.", required=True)
@option("--summary=TEXT", "What was done.", default="")
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
@option("--start began=T", "As of `task time`.", default="")
@option("--end ended=T", "As --start.", default="")
@option("--summary=TEXT", "What was done.", default=None)
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
    entry_id = pick_entry(found, entry)
    done = tasks.retime(
        editing.home, found.id, entry_id, editing.key, began=first, ended=last, summary=summary
    )
    editing.did(done)
    editing.tell("Corrected the time", found.id)


@on_task("task rate", done="Rated it", example=f'"Book the flight" 4. {ENTRY_HELP}')
@click.argument("score", type=click.IntRange(1, RATING_MAX))
@option("--entry=ENTRY", "Only this time entry.", default="")
@option("--note comment=TEXT", "Why.", default="")
def rate_command(
    one: Editing, task: Task, score: int, entry: str, comment: str
) -> tasks.UseCaseResult:
    """Rate how a task, or one time entry of it, went: 1 to 5, the best."""
    entry_id = pick_entry(task, entry) if entry else ""
    return tasks.rate(one.home, task.id, score, one.key, entry_id=entry_id, comment=comment)


@keyed("done", "tasks...=TASK...", example='"Book the flight" "Call Ann"')
def done_command(session: Session, tasks: Sequence[str], key: str) -> None:
    """Set tasks done; all are looked up before the first is. TASK as in `wakelog task`."""
    on_each(session, tasks, key, "Done", set_done, is_list=True)
