"""What is no change of a file (SPEC 1): names that it merely spells otherwise than before, and what
is merely read otherwise than before."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from msgspec.structs import replace

from adapters.importers.dialects import closed_on
from domain.journal.imported import ImportedTask
from domain.journal.importing import numbered
from domain.journal.task import Item, Task
from domain.text import fold
from domain.timestamps import instant

CLOSED = ("DONE", "REJECTED")
EARTH = (-12, 0, 14)  # hours from UTC between which all days of a moment are met


def as_before(
    now: ImportedTask,
    before: ImportedTask,
    *,
    is_closed: bool = False,
    closed: Collection[str] = (),
) -> ImportedTask:
    """A task's document with category and labels spelled as the file spelled them before.

    Labels and categories are the same whatever their case; compared as they are spelled, a
    label would be removed for its new spelling. A box ``[>]`` was an open one in 0.1.0: that it is
    on hold now opens no task that `is_closed` here. A day on which it was `closed` here, too, is no
    reason of its own: so `write-back` says it.

    >>> was = ImportedTask("t1", "Paint", category="Home", labels=("Green",))
    >>> now = ImportedTask("t1", "Paint", category="HOME", labels=("new", "green"))
    >>> as_before(now, was).category, as_before(now, was).labels
    ('Home', ('new', 'Green'))
    """
    spelled = {fold(name): name for name in before.labels}
    labels = tuple(spelled.get(fold(name), name) for name in now.labels)
    is_same = fold(now.category) == fold(before.category)
    if is_closed and now.status == "ON HOLD" and not before.status:
        now = replace(now, status="", status_reason="")
    if now.status_reason != before.status_reason and now.status_reason in closed:
        now = replace(now, status_reason="")
    return replace(now, labels=labels, category=before.category if is_same else now.category)


def closings(task: Task) -> set[str]:
    """How a file might say when a task got each status that it had, wherever it was written."""
    return {
        closed_on(one.status, f"{instant(one.at) + timedelta(hours=hours):%Y-%m-%d}")
        for one in task.history
        for hours in EARTH
    }


def items_as_before(now: ImportedTask, before: ImportedTask, items: Sequence[Item]) -> ImportedTask:
    """A task's document with items under the titles that the file had before, where it says now
    what they are called here: whoever retitled an item here, and then in the file, has one.

    >>> from domain.journal.imported import ImportedItem
    >>> was = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Buy")))
    >>> (sand, buy) = numbered(was)
    >>> now = ImportedTask("t1", "Paint", items=(ImportedItem("Sand it"), ImportedItem("Buy")))
    >>> here = [Item(sand, "c1", "Sand it", "person"), Item(buy, "c1", "Buy", "import:a")]
    >>> items_as_before(now, was, here) == was
    True
    """
    present, known = numbered(now), {item.id for item in items}
    said = dict(zip(numbered(before), before.items, strict=True))
    retitled = {
        fold(item.title): said[item.id]
        for item in items
        if item.id in said and item.id not in present
    }
    named = (
        item if one in known else retitled.pop(fold(item.title), item)
        for one, item in zip(present, now.items, strict=True)
    )
    ticked = zip(named, now.items, strict=True)
    return replace(
        now, items=tuple(replace(one, is_checked=item.is_checked) for one, item in ticked)
    )
