"""What becomes of tasks that their file has no more: kept, rejected or deleted, as the person said
for the source; and which of them were told already."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from adapters.actions.tasks import delete_task, edit_task
from adapters.documents.tasks import GoneItem
from adapters.home.settings import Gone
from domain.journal.commands import GoneTask
from domain.journal.fold import TASK
from domain.journal.importing import numbered
from domain.journal.undoing import is_unmade
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.imported import ImportedFile
    from projections.tasks import TaskDocument

    Known = Mapping[str, TaskDocument]


def chosen(home: "Home", source: str, said: Gone | None) -> Gone:
    """What was said now, else what was said of this source before, else what the settings say."""
    if said is not None:
        home.views.remember(f"gone {source}", said.encode())
    return said or remembered(home, source)


def remembered(home: "Home", source: str) -> Gone:
    """What was said of this source before, else what the settings say."""
    kept = (home.views.remembered(f"gone {source}") or b"").decode()
    return next((one for one in get_args(Gone) if one == kept), home.settings.import_.gone)


def settle(
    home: "Home", read: "ImportedFile", gone: Sequence[str], how: Gone, next_key: Callable[[], str]
) -> tuple[str, ...]:
    """Reject or delete what is gone, and delete what the file says is deleted; which that was."""
    found = planned(home, read, gone, how)
    for task_id, deed in found.items():
        if deed == "delete":
            delete_task(home, task_id, next_key())
        else:
            reason = f"no longer in {read.source}"
            edit_task(home, task_id, {"status": "REJECTED", "reason": reason}, next_key())
    return tuple(found)


def leaving(
    home: "Home", read: "ImportedFile", gone: Sequence[str], how: Gone
) -> tuple[GoneTask, ...]:
    """The same as part of the import's own command."""
    return tuple(GoneTask(one, deed) for one, deed in planned(home, read, gone, how).items())


def returning(home: "Home", read: "ImportedFile", known: "Known") -> tuple[str, ...]:
    """The tasks of a file that went when an import of it was taken back: it brings them again."""
    there = [known[one.task_id] for one in read.tasks if one.task_id in known]
    deleted = [one.id for one in there if one.is_deleted]
    if not deleted:
        return ()
    with home.services.journal.reading() as world:
        return tuple(one for one in deleted if is_unmade(world.rows(TASK, one)))


def planned(
    home: "Home", read: "ImportedFile", gone: Sequence[str], how: Gone
) -> dict[str, Literal["delete", "reject"]]:
    """What `settle` does with which task."""
    found: dict[str, Literal["delete", "reject"]] = {}
    for task_id in dict.fromkeys((*read.deleted, *gone)):
        task = home.views.get(VIEW, task_id)
        if task is None or task.is_deleted:
            continue
        if how == "delete" or task_id in read.deleted:
            found[task_id] = "delete"
        elif how == "reject" and task.is_open:
            found[task_id] = "reject"
    return found


def items(read: "ImportedFile", known: "Known") -> Iterator[GoneItem]:
    """Items that the file once had in tasks that it still has."""
    for said in read.tasks:
        task = known.get(said.task_id)
        if task is None or task.is_deleted:
            continue
        present = numbered(said)
        for item in task.items:
            if item.by == f"import:{read.source}" and item.id not in present:
                yield GoneItem(task.id, item.id, item.title)


def news(home: "Home", source: str, gone: Collection[str]) -> list[str]:
    """Those of the tasks and items that were not told of as gone before; they are now."""
    name = f"gone told {source}"
    before = msgspec.json.decode(home.views.remembered(name) or b"[]", type=list[str])
    home.views.remember(name, msgspec.json.encode(sorted(gone)))
    return [one for one in gone if one not in before]
