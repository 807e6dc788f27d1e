"""What a person changes on a task's page. A field that moved meanwhile is not overwritten."""

from typing import Any, cast

from adapters.actions import differing
from adapters.actions import tasks as deeds
from adapters.actions.inputs import NONE, TEXT_BYTES_MAX, typed
from adapters.actions.naming import pick_task
from adapters.documents.conflicts import conflicts_of
from adapters.text.task import stopped
from adapters.web import disputes
from adapters.web.asking import (
    AtField,
    Clash,
    FormRequest,
    Notice,
    clash_of,
    clashing,
    compared,
    in_lines,
    made_from,
)
from adapters.web.site import Site, check_sure
from adapters.web.tasks import ITEM_SHOWN, known, present
from adapters.web.words import one_line
from domain.errors import Refused
from domain.journal.fields import FIELDS
from domain.journal.fold import TASK
from domain.journal.task import Item, NoteKind, Task
from domain.journal.timer import TIMER
from domain.wire import Words
from domain.world import MAIN

MARKS = {
    "check": {"is_checked": True},
    "uncheck": {"is_checked": False},
    "archive": {"is_archived": True},
    "restore": {"is_archived": False},
}
KINDS = ("note", "transcript", "image_analysis")


def task_of(site: Site, asked: FormRequest) -> Task:
    """The task that an address names, as it is now; or Refused."""
    task_id = known(site, asked.names["id"]).id
    with site.home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def create(site: Site, asked: FormRequest) -> Notice:
    """A new task."""
    title, category = asked.needed("title").strip(), asked.form.get("category", "").strip()
    try:
        deeds.add_task(site.home, title, {"category": category}, asked.key)
    except Refused as error:
        raise AtField("title", error) from error
    return Notice(f"Added “{title}”.")


# --------------------------------------------------------------------------------------- fields


def edit(site: Site, asked: FormRequest) -> Notice:
    """Change the fields that the form says otherwise than it was made with."""
    task = task_of(site, asked)
    now = present(task)
    given = {name: asked.form[name] for name in now if name in asked.form}
    found = compared(asked, given, now)
    changed = {name: given[name] for name in found.changed}
    if "reason" in changed:
        changed.setdefault("status", given.get("status", task.status))
        del changed["reason"]
    if not changed:
        return Notice("Nothing was changed.")
    if found.moved and not _is_known(site, asked):
        return clashing(asked, found, {}, {})
    try:
        kept = deeds.edit_task(site.home, task.id, _fields(site, changed, asked), asked.key)
    except Refused as error:
        raise AtField(_wrong(site, changed, asked), error) from error
    timer = stopped(task_of(site, asked), kept.stopped)
    return Notice(f"Changed: {', '.join(changed)}{timer}.")


def _wrong(site: Site, changed: dict[str, str], asked: FormRequest) -> str:
    """The field that a form got wrong: the first that cannot be by itself; else its status asks for
    a reason."""
    for name, value in changed.items():
        try:
            _fields(site, {name: value}, asked)
        except Refused:
            return name
    return "reason" if "status" in changed else next(iter(changed))


def _is_known(site: Site, asked: FormRequest) -> bool:
    """Whether the form was sent before, so that the journal knows its key."""
    return deeds.is_done(site.home, asked.key)


def _fields(site: Site, changed: dict[str, str], asked: FormRequest) -> dict[str, Any]:
    """The fields that a form changes, as they are stored."""
    given: dict[str, Any] = {name: value.strip() for name, value in changed.items()}
    if given.get("title") == "":
        because = "the title is empty"
        raise Refused("invalid_value", because=because, instead="give it one")
    if "status" in given:
        given["reason"] = asked.form.get("reason", "").strip()
    for field in FIELDS:
        if field.name in given:
            text = given[field.name] or (NONE if field.can_be_empty else "")
            given[field.name] = typed(field, text, lambda: site.home)
    return given


def settle(site: Site, asked: FormRequest) -> Notice:
    """Let the file's value, the person's or what a machine said stand, as the form shows them.

    Raises:
        Refused: Code ``stale``: the file says something else by now.
    """
    task = task_of(site, asked)
    field, side = asked.needed("field"), asked.needed("keep")
    if side not in ("file", "mine"):
        return disputes.settle(site, asked, task.id, field, side)
    with site.home.services.journal.reading() as world:
        said = [one.values[1].value for one in conflicts_of(world, task.id) if one.field == field]
    is_known = _is_known(site, asked)
    if not is_known and [made_from(one) for one in said] != [asked.needed("was.file")]:
        because = "what the file says was changed or settled since"
        raise Refused("stale", because=because, instead="look at the page again")
    differing.settle(site.home, task.id, field, "file" if side == "file" else "mine", asked.key)
    return Notice(f"Took the file's {field}." if side == "file" else f"Kept your {field}.")


def describe(site: Site, asked: FormRequest) -> Notice:
    """Replace the description."""
    task = task_of(site, asked)
    text = _long(asked.needed("text"))
    if clash := _moved(site, asked, text, task.description, "The description"):
        return clash
    deeds.describe(site.home, task.id, text, asked.key)
    return Notice("Changed the description.")


def _moved(
    site: Site, asked: FormRequest, text: str | None, now: Words, label: str
) -> Notice | None:
    """Both texts, where another one stands there than the form was made from.

    Args:
        site: Where.
        asked: The form.
        text: What it says; None: it takes the other one away.
        now: The text that stands there.
        label: What it is the text of.
    """
    with site.home.services.journal.reading() as world:
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


def item(site: Site, asked: FormRequest) -> Notice:
    """Tick, untick, rename, put away or bring back an item."""
    task = task_of(site, asked)
    item_id, verb = asked.needed("item"), asked.needed("verb")
    title = asked.form.get("title", asked.needed("was.title")).strip()
    if verb not in (*MARKS, "rename"):
        raise _unknown_verb(verb)
    known = next((one for one in task.items if one.id == item_id), None)
    if known is not None and (clash := _renamed(site, asked, title, known)):
        return clash
    if verb == "rename" and title == asked.needed("was.title"):
        return Notice("Nothing was changed.")
    if verb == "rename":
        deeds.rename_item(site.home, task.id, item_id, title, asked.key)
    else:
        deeds.mark_items(site.home, task.id, [item_id], asked.key, **MARKS[verb])
    done = {"check": "Ticked", "uncheck": "Unticked", "archive": "Put away"}
    return Notice(f"{done.get(verb, 'Changed')}.")


def _renamed(site: Site, asked: FormRequest, title: str, known: Item) -> Notice | None:
    """Both titles, where an item has another one than the page showed."""
    was, now = asked.needed("was.title"), one_line(known.title, ITEM_SHOWN)
    if was == now or title == known.title or _is_known(site, asked):
        return None
    is_named = asked.needed("verb") == "rename"
    clash = Clash("The item", now, title, "title") if is_named else Clash("The item", now, "")
    return clash_of(asked, [clash], {"was.title": now})


def add_item(site: Site, asked: FormRequest) -> Notice:
    """Add an item to the checklist."""
    task = task_of(site, asked)
    deeds.add_items(site.home, task.id, [asked.needed("title").strip()], asked.key)
    return Notice("Added the item.")


def note(site: Site, asked: FormRequest) -> Notice:
    """Add, change or remove a note."""
    task = task_of(site, asked)
    verb = asked.form.get("verb", "add")
    known = next((one for one in task.notes if one.id == asked.form.get("note")), None)
    if verb == "remove":
        check_sure(asked, "removing the note")
        if known and (clash := _moved(site, asked, None, known.words, "The note")):
            return clash
        deeds.remove_note(site.home, task.id, asked.needed("note"), asked.key)
        return Notice("Removed the note.")
    text = _long(asked.needed("text"))
    if verb == "edit":
        if known and (clash := _moved(site, asked, text, known.words, "The note")):
            return clash
        deeds.edit_note(site.home, task.id, asked.needed("note"), text, asked.key)
        return Notice("Changed the note.")
    kind = asked.form.get("kind", "note")
    chosen = cast("NoteKind", kind if kind in KINDS else "note")
    deeds.add_note(site.home, task.id, text, asked.key, kind=chosen)
    return Notice("Noted.")


def label(site: Site, asked: FormRequest) -> Notice:
    """Assign or remove a label."""
    task = task_of(site, asked)
    one = (asked.needed("label"),)
    if asked.form.get("verb") == "remove":
        deeds.remove_labels(site.home, task.id, one, asked.key)
        return Notice("Removed the label.")
    deeds.assign_labels(site.home, task.id, one, asked.key)
    return Notice("Assigned the label.")


def link(site: Site, asked: FormRequest) -> Notice:
    """Link to another task, or take a link away."""
    task = task_of(site, asked)
    phrase = asked.needed("phrase")
    other = pick_task(site.home, asked.needed("target").strip())
    if asked.form.get("verb") == "remove":
        deeds.unlink(site.home, task.id, phrase, other, asked.key)
        return Notice("Removed the link.")
    deeds.link(site.home, task.id, phrase, other, asked.key)
    return Notice("Linked.")


def timer(site: Site, asked: FormRequest) -> Notice:
    """Start the timer on the task, or stop it there.

    Raises:
        Refused: Code ``stale``: it runs on another task, or not at all.
    """
    task = task_of(site, asked)
    if asked.needed("verb") == "start":
        deeds.start_timer(site.home, task.id, asked.key)
        return Notice("The timer runs.")
    with site.home.services.journal.reading() as world:
        runs_on = world.load(TIMER, MAIN).task
    if runs_on != task.id and not _is_known(site, asked):
        because = "the timer does not run on this task any more"
        raise Refused("stale", because=because, instead="look where it runs")
    kept = deeds.stop_timer(site.home, asked.form.get("summary", "").strip(), asked.key)
    return Notice("The timer stopped.", rates=(task.id, kept.ids[0]))


def delete(site: Site, asked: FormRequest) -> Notice:
    """Delete the task, or bring it back."""
    task = task_of(site, asked)
    if asked.needed("verb") == "restore":
        deeds.restore_task(site.home, task.id, asked.key)
        return Notice("Restored.")
    check_sure(asked, "deleting the task")
    deeds.delete_task(site.home, task.id, asked.key)
    return Notice("Deleted; it can be restored here.")


def _unknown_verb(verb: str) -> Refused:
    because = f"{verb[:20]!r} is nothing that can be done here"
    return Refused("invalid_input", because=because, instead="send the form of the page")
