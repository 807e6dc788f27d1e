"""A confirm of a change is answered, where it was a mistake, by the inverse edit."""

from typing import Any

from adapters.actions import tasks as deeds
from adapters.web.asking import Asked, Told, Undo
from adapters.web.site import Site
from domain.errors import Refused
from domain.journal.commands import ChangeLabels, EditItem, EditTask, JournalCommand
from domain.journal.fold import TASK
from domain.journal.task import Item, Task


def inverse(before: Task, after: Task) -> Undo | None:
    """What brings a task back from `after` to `before`; None where no single edit does."""
    for name, values in _fields(before, after).items():
        if values[0] != values[1]:
            return _field(name, values[0], before, after)
    if added := set(after.labels) - set(before.labels):
        command = ChangeLabels(after.id, remove=tuple(sorted(added)))
        return Undo("Take the label off again", command, after.id, _seen(after, "labels"))
    return _item(before, after)


def _fields(before: Task, after: Task) -> dict[str, tuple[Any, Any]]:
    names = ("title", "estimate", "due", "priority", "status")
    return {name: (getattr(before, name), getattr(after, name)) for name in names}


def _field(name: str, was: Any, before: Task, after: Task) -> Undo | None:
    command: JournalCommand
    match name:
        case "title" if was:
            command = EditTask(after.id, title=was)
        case "estimate":
            command = EditTask(after.id, estimate=was)
        case "due":
            command = EditTask(after.id, due=was)
        case "priority":
            command = EditTask(after.id, priority=was)
        case "status":
            command = EditTask(after.id, status=was, reason=before.status_reason)
        case _:
            return None
    shown = f"“{was}”" if was else "none"
    return Undo(f"Set the {name} back to {shown}", command, after.id, _seen(after, name))


def _item(before: Task, after: Task) -> Undo | None:
    known = {item.id: item for item in before.items}
    for item in after.items:
        was = known.get(item.id)
        if was == item:
            continue
        expects = ("item", item.id, item.title, item.is_checked, item.is_archived)
        if was is None:
            command = EditItem(after.id, item.id, is_archived=True)
            return Undo(f"Put “{item.title}” away again", command, after.id, expects)
        return Undo(f"Change “{item.title}” back", _back(after.id, was, item), after.id, expects)
    return None


def _back(task: str, was: Item, now: Item) -> EditItem:
    return EditItem(
        task,
        was.id,
        title=was.title if was.title != now.title else "",
        is_checked=was.is_checked if was.is_checked != now.is_checked else None,
        is_archived=was.is_archived if was.is_archived != now.is_archived else None,
    )


def _seen(task: Task, name: str) -> tuple[Any, ...]:
    return (name, getattr(task, name))


def undo(site: Site, asked: Asked) -> Told:
    """Do the inverse edit that an earlier answer offered."""
    told = site.told(asked.needed("of"))
    if told is None or told.undo is None:
        because = "what was to be undone is not known any more"
        raise Refused("invalid_input", because=because, instead="change the task by hand")
    offered = told.undo
    with site.home.desk.journal.reading() as world:
        task = world.load(TASK, offered.task)
    if not _is_as_expected(task, offered):
        because = "the task was changed since, so it was not changed back"
        raise Refused("stale", because=because, instead="look at the task, and change it by hand")
    deeds.keep(site.home, offered.command, asked.key)
    return Told(f"Done: {offered.what}.", kept=told.kept)


def _is_as_expected(task: Task, offered: Undo) -> bool:
    if offered.expects[0] != "item":
        return _seen(task, offered.expects[0]) == offered.expects
    item = next((one for one in task.items if one.id == offered.expects[1]), None)
    if item is None:
        return False
    return offered.expects == ("item", item.id, item.title, item.is_checked, item.is_archived)
