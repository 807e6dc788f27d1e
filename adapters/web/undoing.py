"""A confirm of a change is answered, where it was a mistake, by the inverse edit."""

from functools import partial
from typing import Any

from adapters.actions import tasks as deeds
from adapters.web.asking import FormRequest, Notice, Undo
from adapters.web.site import Site
from domain.errors import Refused
from domain.journal.fields import FIELDS
from domain.journal.fold import TASK
from domain.journal.task import Item, Task


def inverse(before: Task, after: Task) -> Undo | None:
    """What brings a task back from `after` to `before`; None where no single edit does."""
    for name in ("title", *(one.name for one in FIELDS), "status"):
        if (was := getattr(before, name)) != getattr(after, name):
            return _field(name, was, before, after)
    if added := set(after.labels) - set(before.labels):
        deed = partial(deeds.remove_labels, task_id=after.id, labels=sorted(added))
        return Undo("Take the label off again", deed, after.id, _seen(after, "labels"))
    return _item(before, after)


def _field(name: str, was: Any, before: Task, after: Task) -> Undo | None:
    if name == "title" and not was:
        return None
    fields = {name: was}
    if name == "status":
        fields["reason"] = before.status_reason
    deed = partial(deeds.edit_task, task_id=after.id, fields=fields)
    shown = f"“{was}”" if was else "none"
    return Undo(f"Set the {name} back to {shown}", deed, after.id, _seen(after, name))


def _item(before: Task, after: Task) -> Undo | None:
    known = {item.id: item for item in before.items}
    for item in after.items:
        was = known.get(item.id)
        if was == item:
            continue
        expects = ("item", item.id, item.title, item.is_checked, item.is_archived)
        if was is None:
            fields, what = {"is_archived": True}, f"Put “{item.title}” away again"
        else:
            fields, what = _back(was, item), f"Change “{item.title}” back"
        deed = partial(deeds.edit_item, task_id=after.id, item_id=item.id, fields=fields)
        return Undo(what, deed, after.id, expects)
    return None


def _back(was: Item, now: Item) -> dict[str, Any]:
    names = ("title", "is_checked", "is_archived")
    return {name: getattr(was, name) for name in names if getattr(was, name) != getattr(now, name)}


def _seen(task: Task, name: str) -> tuple[Any, ...]:
    return (name, getattr(task, name))


def undo(site: Site, asked: FormRequest) -> Notice:
    """Do the inverse edit that an earlier answer offered."""
    told = site.told(asked.needed("of"))
    if told is None or told.undo is None:
        because = "what was to be undone is not known any more"
        raise Refused("invalid_input", because=because, instead="change the task by hand")
    offered = told.undo
    with site.home.services.journal.reading() as world:
        task = world.load(TASK, offered.task)
    if not _is_as_expected(task, offered):
        because = "the task was changed since, so it was not changed back"
        raise Refused("stale", because=because, instead="look at the task, and change it by hand")
    offered.deed(site.home, key=asked.key)
    return Notice(f"Done: {offered.what}.", kept=told.kept)


def _is_as_expected(task: Task, offered: Undo) -> bool:
    if offered.expects[0] != "item":
        return _seen(task, offered.expects[0]) == offered.expects
    item = next((one for one in task.items if one.id == offered.expects[1]), None)
    if item is None:
        return False
    return offered.expects == ("item", item.id, item.title, item.is_checked, item.is_archived)
