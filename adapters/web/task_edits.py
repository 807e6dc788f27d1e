"""What a person changes on a task's page. A field that moved meanwhile is not overwritten."""

from collections.abc import Sequence
from typing import cast

from adapters.actions.inputs import TEXT_BYTES_MAX, day, language_named, minutes
from adapters.actions.naming import nth_key
from adapters.web.asking import (
    Asked,
    Clash,
    Told,
    clash_of,
    clashing,
    compared,
    in_lines,
    made_from,
)
from adapters.web.site import Site, check_sure
from adapters.web.tasks import ITEM_SHOWN, known
from adapters.web.words import one_line
from domain.errors import Refused
from domain.handlers.journal import MAIN
from domain.journal import commands as do
from domain.journal.commands import JournalCommand
from domain.journal.fold import TASK
from domain.journal.task import Item, NoteKind, Task
from domain.journal.timer import TIMER
from domain.wire import Payload, Words, words

SEEN = ("title", "status", "reason", "priority", "estimate", "due", "language", "category")
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
    """Change the fields that the form says otherwise than it was made with."""
    task = _task(site, asked)
    given = {name: asked.form[name] for name in SEEN if name in asked.form}
    found = compared(asked, given, present(task))
    changed = {name: given[name] for name in found.changed}
    if "reason" in changed:
        changed.setdefault("status", given.get("status", task.status))
        del changed["reason"]
    if not changed:
        return Told("Nothing was changed.")
    if found.moved and not _is_known(site, asked):
        return clashing(asked, found, {}, {})
    _keep(site, asked, _command(site, task, changed, asked))
    return Told(f"Changed: {', '.join(changed)}.")


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
    text = _long(asked.needed("text"))
    if clash := _moved(site, asked, text, task.description, "The description"):
        return clash
    said, kept = words(task.id, text)
    _keep(site, asked, do.EditTask(task.id, description=said), kept)
    return Told("Changed the description.")


def _moved(site: Site, asked: Asked, text: str | None, now: Words, label: str) -> Told | None:
    """Both texts, where another one stands there than the form was made from.

    Args:
        site: Where.
        asked: The form.
        text: What it says; None: it takes the other one away.
        now: The text that stands there.
        label: What it is the text of.
    """
    with site.home.desk.journal.reading() as world:
        stands = world.text(now)
    if asked.needed("was.text") == made_from(stands) or text == stands or _is_known(site, asked):
        return None
    clash = Clash(label, stands, "") if text is None else Clash(label, stands, text, "text", "text")
    return clash_of(asked, [clash], {"was.text": made_from(stands)})


def _long(text: str) -> str:
    told = in_lines(text).rstrip()
    if len(told.encode()) > TEXT_BYTES_MAX:
        because = f"the text is longer than {TEXT_BYTES_MAX:,} bytes"
        raise Refused("invalid_value", because=because, instead="part it into several")
    return told


# ---------------------------------------------------------------------------------------- parts


def item(site: Site, asked: Asked) -> Told:
    """Tick, untick, rename, put away or bring back an item."""
    task = _task(site, asked)
    item_id, verb = asked.needed("item"), asked.needed("verb")
    title = asked.form.get("title", asked.needed("was.title")).strip()
    command = {
        "check": do.EditItem(task.id, item_id, is_checked=True),
        "uncheck": do.EditItem(task.id, item_id, is_checked=False),
        "archive": do.EditItem(task.id, item_id, is_archived=True),
        "restore": do.EditItem(task.id, item_id, is_archived=False),
        "rename": do.EditItem(task.id, item_id, title=title),
    }.get(verb)
    if command is None:
        raise _unknown_verb(verb)
    known = next((one for one in task.items if one.id == item_id), None)
    if known is not None and (clash := _renamed(site, asked, title, known)):
        return clash
    if verb == "rename" and title == asked.needed("was.title"):
        return Told("Nothing was changed.")
    _keep(site, asked, command)
    done = {"check": "Ticked", "uncheck": "Unticked", "archive": "Put away"}
    return Told(f"{done.get(verb, 'Changed')}.")


def _renamed(site: Site, asked: Asked, title: str, known: Item) -> Told | None:
    """Both titles, where an item has another one than the page showed."""
    was, now = asked.needed("was.title"), one_line(known.title, ITEM_SHOWN)
    if was == now or title == known.title or _is_known(site, asked):
        return None
    is_named = asked.needed("verb") == "rename"
    clash = Clash("The item", now, title, "title") if is_named else Clash("The item", now, "")
    return clash_of(asked, [clash], {"was.title": now})


def add_item(site: Site, asked: Asked) -> Told:
    """Add an item to the checklist."""
    task = _task(site, asked)
    _keep(site, asked, do.AddItems(task.id, (asked.needed("title").strip(),)))
    return Told("Added the item.")


def note(site: Site, asked: Asked) -> Told:
    """Add, change or remove a note."""
    task = _task(site, asked)
    verb = asked.form.get("verb", "add")
    known = next((one for one in task.notes if one.id == asked.form.get("note")), None)
    if verb == "remove":
        check_sure(asked, "removing the note")
        if known and (clash := _moved(site, asked, None, known.words, "The note")):
            return clash
        _keep(site, asked, do.RemoveNote(task.id, asked.needed("note")))
        return Told("Removed the note.")
    text = _long(asked.needed("text"))
    said, kept = words(task.id, text)
    if verb == "edit":
        if known and (clash := _moved(site, asked, text, known.words, "The note")):
            return clash
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
    from adapters.actions.naming import pick_task

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
