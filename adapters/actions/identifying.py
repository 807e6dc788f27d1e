"""Tasks and items of a file that were in it before, under another title, keep their ids."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from adapters.documents.tasks import RetitledTask
from adapters.importers.identity import BY_TITLE, same
from adapters.importers.items import with_items
from domain import canonical
from domain.journal.imported import ImportedFile, ImportedTask, decoded
from domain.wire import PayloadId, payload
from projections.tasks import TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

Retitled = tuple[RetitledTask, ...]


def identified(
    home: "Home", read: ImportedFile, known: Mapping[str, TaskDocument]
) -> tuple[ImportedFile, Retitled]:
    """The file with tasks and items that are new in it by their old ids, where they are only
    retitled or moved; and which tasks these are."""
    read, retitled = _retitled(home, read, known)
    return _with_items(home, read, known), retitled


def _with_items(
    home: "Home", read: ImportedFile, known: Mapping[str, TaskDocument]
) -> ImportedFile:
    """The file with items by their old ids; looked up for tasks of which it says something else
    than before."""
    last: dict[str, PayloadId] = {}
    for task in read.tasks:
        there = known[task.task_id].task.imported if task.task_id in known and task.items else ()
        if there and there[-1][1] != payload(task.task_id, canonical.encode(task)).id:
            last[task.task_id] = there[-1][1]
    kept = dict(home.services.journal.payloads([*last.values()])) if last else {}
    said = {one: decoded(kept[name]) for one, name in last.items() if name in kept}
    tasks, earlier = (
        tuple(
            with_items(one, said[one.task_id], known[one.task_id].task.items)
            if one.task_id in said
            else one
            for one in ones
        )
        for ones in (read.tasks, read.earlier)
    )
    return replace(read, tasks=tasks, earlier=earlier)


def _retitled(
    home: "Home", read: ImportedFile, known: Mapping[str, TaskDocument]
) -> tuple[ImportedFile, Retitled]:
    """The file with tasks that are new in it by their old ids, where they are only retitled or
    moved; and which these are. What was so at the last import is found again by what it said."""
    here = {task.task_id for task in read.tasks}
    new = [task for task in read.tasks if task.task_id not in known]
    gone = {
        task.id: dict(task.task.imported)[read.source]
        for task in known.values()
        if read.source in task.sources and task.id not in here
    }
    if read.format not in BY_TITLE or not (new and gone):
        return read, ()
    decoder = msgspec.json.Decoder(ImportedTask)
    said = dict(home.services.journal.payloads([*gone.values()]))
    last = {one: decoder.decode(said[kept]) for one, kept in gone.items() if kept in said}
    exact = {content(one): task_id for task_id, one in last.items()}
    ways = [*new, *(one for one in read.earlier if one.task_id not in known)]
    ids = {one.task_id: exact[content(one)] for one in ways if content(one) in exact}
    taken = {*ids, *ids.values()}
    left = [
        one
        for task_id, one in last.items()
        if task_id not in taken and not known[task_id].is_deleted
    ]
    became = same(left, [one for one in new if one.task_id not in taken])
    ids |= became
    retitled = tuple(
        RetitledTask(became[one.task_id], last[became[one.task_id]].title, one.title)
        for one in new
        if one.task_id in became
    )
    tasks, earlier = (
        tuple(replace(one, task_id=ids.get(one.task_id, one.task_id)) for one in ones)
        for ones in (read.tasks, read.earlier)
    )
    links = tuple((ids.get(at, at), relation, ids.get(to, to)) for at, relation, to in read.links)
    return replace(read, tasks=tasks, earlier=earlier, links=links), retitled


def content(task: ImportedTask) -> bytes:
    """All that a file says of a task, but for what is kept of it otherwise than it stands there:
    the day on which it was closed, and what its items are."""
    items = tuple(replace(item, id="") for item in task.items)
    return msgspec.json.encode(replace(task, task_id="", status_reason="", items=items))
