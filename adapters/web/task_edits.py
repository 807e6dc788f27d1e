"""What a person changes on a task's page. A field that moved meanwhile is not overwritten."""

from collections.abc import Sequence
from typing import cast

from adapters.cli.entering import TEXT_BYTES_MAX, day, language_named, minutes
from adapters.cli.shared import nth_key
from adapters.web.asking import Asked, Told
from adapters.web.site import Site, check_sure
from adapters.web.tasks import known
from domain.errors import Refused
from domain.handlers.journal import MAIN
from domain.journal import commands as do
from domain.journal.commands import JournalCommand
from domain.journal.fold import TASK
from domain.journal.task import NoteKind, Task
from domain.journal.timer import TIMER
from domain.wire import Payload, words

FIELDS = ("title", "status", "priority", "estimate", "due", "language", "category")
KINDS = ("note", "transcript", "image_analysis")


def _keep(
    site: Site, asked: Asked, command: JournalCommand, payloads: Sequence[Payload] = ()
) -> list[str]:
    """Append under the form's key; the ids of what was made."""
    appended = site.home.desk.keep(command, key=nth_key(asked.key, 1), payloads=payloads)
    return list(appended.result.ids)


def _task(site: Site, asked: Asked) -> Task:
    task_id = known(site, asked.names["id"]).id
    with site.home.desk.journal.reading() as world:
        return world.load(TASK, task_id)


def create(site: Site, asked: Asked) -> Told:
    """A new task."""
    command = do.CreateTask(
        asked.needed("title").strip(), category=asked.form.get("category", "").strip()
    )
    _keep(site, asked, command)
    return Told(f"Added “{command.title}”.")


# --------------------------------------------------------------------------------------- fields


def edit(site: Site, asked: Asked) -> Told:
    """Change the fields that the form says otherwise than it was made with.

    Raises:
        Refused: Code ``stale`` where one of them was changed elsewhere since.
    """
    task = _task(site, asked)
    changed = {name: asked.form[name] for name in FIELDS if _is_changed(asked, name)}
    if "reason" in asked.form and _is_changed(asked, "reason"):
        changed.setdefault("status", asked.form.get("status", task.status))
    if not changed:
        return Told("Nothing was changed.")
    moved = [name for name in changed if asked.form[f"was.{name}"] != present(task)[name]]
    if moved and not _is_known(site, asked):
        told = ", ".join(f"{name} is {present(task)[name] or 'none'} now" for name in moved)
        because = f"the task was changed meanwhile: {told}"
        raise Refused("stale", because=because, instead="look at it, and change it again")
    _keep(site, asked, _command(site, task, changed, asked))
    return Told(f"Changed: {', '.join(changed)}.")


def _is_changed(asked: Asked, name: str) -> bool:
    return name in asked.form and asked.form[name] != asked.form.get(f"was.{name}")


def _is_known(site: Site, asked: Asked) -> bool:
    """Whether the form was sent before, so that the journal knows its key."""
    return bool(site.home.desk.journal.receipts(nth_key(asked.key, 1)))


def present(task: Task) -> dict[str, str]:
    """The fields as a form shows them."""
    return {
        "title": task.title,
        "status": task.status,
        "reason": task.status_reason,
        "priority": task.priority,
        "estimate": str(task.estimate or ""),
        "due": task.due,
        "language": task.language,
        "category": task.category,
    }


def _command(site: Site, task: Task, changed: dict[str, str], asked: Asked) -> do.EditTask:
    given = {name: value.strip() for name, value in changed.items()}
    due, language, estimate = given.get("due"), given.get("language"), given.get("estimate")
    if given.get("title") == "":
        because = "the title is empty"
        raise Refused("invalid_value", because=because, instead="give it one")
    return do.EditTask(
        task.id,
        title=given.get("title", ""),
        status=given.get("status", ""),
        reason=asked.form.get("reason", "").strip() if "status" in given else "",
        priority=given.get("priority", ""),
        estimate=None if estimate is None else minutes(estimate or "none"),
        due=None if due is None else day(due or "none", site.zone, site.home.desk.clock.now),
        language=None if language is None else language_named(language or "none"),
        category=given.get("category", ""),
    )


def describe(site: Site, asked: Asked) -> Told:
    """Replace the description."""
    task = _task(site, asked)
    said, kept = words(task.id, _long(asked.needed("text")))
    _keep(site, asked, do.EditTask(task.id, description=said), kept)
    return Told("Changed the description.")


def _long(text: str) -> str:
    told = text.replace("\r\n", "\n").rstrip()
    if len(told.encode()) > TEXT_BYTES_MAX:
        because = f"the text is longer than {TEXT_BYTES_MAX:,} bytes"
        raise Refused("invalid_value", because=because, instead="part it into several")
    return told


# ---------------------------------------------------------------------------------------- parts


def item(site: Site, asked: Asked) -> Told:
    """Tick, untick, rename, put away or bring back an item."""
    task = _task(site, asked)
    item_id, verb = asked.needed("item"), asked.needed("verb")
    command = {
        "check": do.EditItem(task.id, item_id, is_checked=True),
        "uncheck": do.EditItem(task.id, item_id, is_checked=False),
        "archive": do.EditItem(task.id, item_id, is_archived=True),
        "restore": do.EditItem(task.id, item_id, is_archived=False),
        "rename": do.EditItem(task.id, item_id, title=asked.form.get("title", "").strip()),
    }.get(verb)
    if command is None:
        raise _unknown_verb(verb)
    _keep(site, asked, command)
    done = {"check": "Ticked", "uncheck": "Unticked", "archive": "Put away"}
    return Told(f"{done.get(verb, 'Changed')}.")


def add_item(site: Site, asked: Asked) -> Told:
    """Add an item to the checklist."""
    task = _task(site, asked)
    _keep(site, asked, do.AddItems(task.id, (asked.needed("title").strip(),)))
    return Told("Added the item.")


def note(site: Site, asked: Asked) -> Told:
    """Add, change or remove a note."""
    task = _task(site, asked)
    verb = asked.form.get("verb", "add")
    if verb == "remove":
        check_sure(asked, "removing the note")
        _keep(site, asked, do.RemoveNote(task.id, asked.needed("note")))
        return Told("Removed the note.")
    said, kept = words(task.id, _long(asked.needed("text")))
    if verb == "edit":
        _keep(site, asked, do.EditNote(task.id, asked.needed("note"), said), kept)
        return Told("Changed the note.")
    kind = asked.form.get("kind", "note")
    chosen = cast("NoteKind", kind if kind in KINDS else "note")
    _keep(site, asked, do.AddNote(task.id, chosen, said), kept)
    return Told("Noted.")


def label(site: Site, asked: Asked) -> Told:
    """Assign or remove a label."""
    task = _task(site, asked)
    one = (asked.needed("label"),)
    if asked.form.get("verb") == "remove":
        _keep(site, asked, do.ChangeLabels(task.id, remove=one))
        return Told("Removed the label.")
    _keep(site, asked, do.ChangeLabels(task.id, assign=one))
    return Told("Assigned the label.")


def link(site: Site, asked: Asked) -> Told:
    """Link to another task, or take a link away."""
    from adapters.cli.shared import pick_task

    task = _task(site, asked)
    phrase = asked.needed("phrase")
    other = pick_task(site.home, asked.needed("target").strip())
    if asked.form.get("verb") == "remove":
        _keep(site, asked, do.UnlinkTask(task.id, phrase, other))
        return Told("Removed the link.")
    _keep(site, asked, do.LinkTask(task.id, phrase, other))
    return Told("Linked.")


def timer(site: Site, asked: Asked) -> Told:
    """Start the timer on the task, or stop it there.

    Raises:
        Refused: Code ``stale``: it runs on another task, or not at all.
    """
    task = _task(site, asked)
    if asked.needed("verb") == "start":
        _keep(site, asked, do.StartTimer(task.id))
        return Told("The timer runs.")
    with site.home.desk.journal.reading() as world:
        runs_on = world.load(TIMER, MAIN).task
    if runs_on != task.id and not _is_known(site, asked):
        because = "the timer does not run on this task any more"
        raise Refused("stale", because=because, instead="look where it runs")
    _keep(site, asked, do.StopTimer(asked.form.get("summary", "").strip()))
    return Told("The timer stopped.")


def delete(site: Site, asked: Asked) -> Told:
    """Delete the task, or bring it back."""
    task = _task(site, asked)
    if asked.needed("verb") == "restore":
        _keep(site, asked, do.RestoreTask(task.id))
        return Told("Restored.")
    check_sure(asked, "deleting the task")
    _keep(site, asked, do.DeleteTask(task.id))
    return Told("Deleted; it can be restored here.")


def _unknown_verb(verb: str) -> Refused:
    because = f"{verb[:20]!r} is nothing that can be done here"
    return Refused("invalid_input", because=because, instead="send the form of the page")
