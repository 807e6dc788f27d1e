"""Takes an import back: one deed, one append of inverse edits; what was changed since stays."""

from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.importing import TASKS_MAX
from adapters.actions.tasks import keep
from domain.causes import Receipt
from domain.errors import Refused
from domain.handlers.imports import undone
from domain.journal.commands import ImportTasks, UndoImport

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.world import Recorded

LOOK_FIRST = 64  # appends from the end


class Undone(NamedTuple):
    """The tasks that were brought back, and those of which something was changed since."""

    tasks: tuple[str, ...]
    kept: tuple[str, ...]


def undo_import(home: "Home", source: str, key: str = "") -> Undone:
    """Take back the newest import of a source.

    Raises:
        Refused: Code ``invalid_value``: there is none.
    """
    return take_back(home, _newest(home, source), key)


def take_back(home: "Home", command: UndoImport, key: str = "") -> Undone:
    """Take one import back; what was changed since stays."""
    with home.services.journal.reading() as world:
        found = [(one, undone(world, one, command.first, command.last)) for one in command.tasks]
    kept = tuple(one for one, (_, is_stale) in found if is_stale)
    if not any(facts for _, (facts, _) in found):
        return Undone((), kept)
    return Undone(keep(home, command, key).ids, kept)


def _newest(home: "Home", source: str) -> UndoImport:
    journal = home.services.journal
    tail = journal.tail().n
    count = LOOK_FIRST
    while True:  # bounded: grows to the whole log
        appends = list(journal.appends(max(tail - count, 0)))
        imports = [(one[0].n, said) for one in appends if (said := _import_of(one, source))]
        parts = _parts(imports)
        if parts and (count >= tail or parts[0][0] > appends[0][0].n):
            tasks = dict.fromkeys(ref.task for _, said in parts for ref in said.tasks)
            return UndoImport(tuple(tasks), parts[0][0], parts[-1][0])
        if count >= tail:
            because = f"nothing was imported from {source!r}"
            raise Refused("invalid_value", because=because, instead="name a file that was")
        count *= 8


def _import_of(append: "list[Recorded]", source: str) -> ImportTasks | None:
    fact = append[0].fact if append else None
    command = fact.command if isinstance(fact, Receipt) else fact
    is_it = (
        isinstance(command, ImportTasks)
        and command.source == source
        and not command.is_written_back
    )
    return command if is_it else None  # type: ignore[return-value]  # asked above


def _parts(imports: list[tuple[int, ImportTasks]]) -> list[tuple[int, ImportTasks]]:
    """The appends of the newest import: all but its last are full."""
    parts = imports[-1:]
    for n, said in reversed(imports[:-1]):
        if n + 1 != parts[0][0] or len(said.tasks) < TASKS_MAX:
            break
        parts.insert(0, (n, said))
    return parts
