"""What becomes of tasks that their file has no more: kept, rejected or deleted, as the person said
for the source; and which of them were told already."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import msgspec

from adapters.documents.tasks import GoneItem
from adapters.home.settings import Gone
from adapters.importers.identity import BY_TITLE
from domain.journal.commands import GoneTask
from domain.journal.importing import numbered
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.actions.identifying import Identified
    from adapters.wiring import Home
    from domain.journal.imported import ImportedFile
    from projections.tasks import TaskDocument

Sure = Callable[[Sequence[str]], bool]
"""``sure(tasks)``: whether a person wants so many tasks closed that are gone from their file."""

GONE_MANY = 10  # tasks; more are not closed unasked
GONE_FEW = 3  # tasks that are, though they are a fifth of their source


def keep(home: "Home", source: str, said: Gone | None) -> None:
    """Remember what was said of a source."""
    if said is not None:
        home.views.remember(f"gone {source}", said.encode())


def remembered(home: "Home", source: str) -> Gone:
    """What was said of this source before, else what the settings say."""
    kept = (home.views.remembered(f"gone {source}") or b"").decode()
    return next((one for one in get_args(Gone) if one == kept), home.settings.import_.gone)


def planned(
    home: "Home", one: "Identified", gone: Sequence[str], said: Gone | None, sure: Sure
) -> tuple[tuple[GoneTask, ...], tuple[str, ...]]:
    """What is to be closed of the tasks that a file has no more, and what is held back because it
    is much, and nobody was sure.

    Args:
        home: Where.
        one: The file.
        gone: All that it has not, and once had.
        said: What was said in this command; None: what was said before holds, of those alone that
            the file had when it was imported last, and never because it is empty.
        sure: Asks a person.
    """
    how = said or remembered(home, one.file.source)
    closing = [GoneTask(task, "delete") for task in dict.fromkeys(one.file.deleted)]
    closing = [each for each in closing if _may_close(home, each)]
    wanted = gone if said is not None else [task for task in gone if task in one.gone]
    more: list[GoneTask] = []
    if how != "keep":
        more = [GoneTask(task, how) for task in wanted if task not in one.file.deleted]
        more = [each for each in more if _may_close(home, each)]
    ids = tuple(each.task for each in more)
    lines = one.file.lines if one.file.format in BY_TITLE else one.file.tasks  # no archive's
    is_empty = said is None and not lines
    is_much = len(ids) > GONE_MANY or (len(ids) >= GONE_FEW and len(ids) * 5 >= one.before)
    if ids and (is_empty or (is_much and not sure(ids))):
        return tuple(closing), ids
    return (*closing, *more), ()


def _may_close(home: "Home", gone: GoneTask) -> bool:
    task = home.views.get(VIEW, gone.task)
    return task is not None and not task.is_deleted and (gone.how == "delete" or task.is_open)


def items(read: "ImportedFile", known: Mapping[str, "TaskDocument"]) -> Iterator[GoneItem]:
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
