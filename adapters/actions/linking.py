"""Links between tasks that a file names: made with the tasks, and the person's from then on."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from domain.handlers.imports import not_linked
from domain.journal.commands import ImportedLink

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.imported import ImportedFile


def wanted(read: "ImportedFile", new: Collection[str]) -> tuple[ImportedLink, ...]:
    """The links of tasks that are new or come back, as `ImportTasks` makes them: in the last append
    of an import, when both ends are there. One that was taken away later does not come back."""
    return tuple(ImportedLink(*one) for one in read.links if one[0] in new or one[2] in new)


def left_out(home: "Home", read: "ImportedFile") -> list[tuple[ImportedLink, str]]:
    """Those that would close a circle, and so were not made, and why: told by each import."""
    links = [ImportedLink(*one) for one in read.links]
    with home.services.journal.reading() as world:
        found = not_linked(world, links)
    return [(one, refused.because) for one, refused in found if refused.code == "cycle"]
