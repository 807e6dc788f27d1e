"""Links between tasks that a file names: made with the tasks, and the person's from then on."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from domain.handlers.imports import not_linked
from domain.journal.commands import ImportedLink, LinkTask

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.imported import ImportedFile


def link(
    home: "Home", read: "ImportedFile", created: Collection[str], next_key: Callable[[], str]
) -> int:
    """Make the links of tasks that are new; how many rows that wrote. A link that was taken away
    later does not come back with the next import."""
    wanted = [one for one in read.links if one[0] in created or one[2] in created]
    made = (
        home.services.append_journal(LinkTask(task, relation, target), key=next_key())
        for task, relation, target in wanted
    )
    return sum(len(one.rows) for one in made)


def wanted(read: "ImportedFile", new: Collection[str]) -> tuple[ImportedLink, ...]:
    """The links of tasks that are new or come back, as `ImportTasks` makes them: in the last append
    of an import, when both ends are there."""
    return tuple(ImportedLink(*one) for one in read.links if one[0] in new or one[2] in new)


def left_out(home: "Home", links: Sequence[ImportedLink]) -> list[tuple[ImportedLink, str]]:
    """Those that an import could not make, and why, to be told once it is over."""
    with home.services.journal.reading() as world:
        return [(one, refused.because) for one, refused in not_linked(world, links)]
