"""Takes an import back: one deed, one append; what was changed since stays."""

from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.actions.importing import TASKS_MAX
from adapters.actions.naming import nth_key
from adapters.actions.tasks import keep
from adapters.store.reader import read_append
from domain.causes import Receipt
from domain.errors import Refused
from domain.handlers.undoing import import_taken_back
from domain.journal.commands import ImportTasks, UndoImport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from adapters.wiring import Home
    from domain.world import Recorded

    Append = Sequence[Recorded]

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


def command_of(tasks: "Iterable[str]", appends: "Iterable[int]") -> UndoImport:
    """What takes an import back."""
    ns = tuple(sorted(appends))
    return UndoImport(tuple(tasks), ns[0], ns[-1], reopens=True, appends=ns)


def take_back(home: "Home", command: UndoImport, key: str = "") -> Undone:
    """Take one import back; what was changed since stays."""
    now = home.services.clock.now()
    with home.services.journal.reading() as world:
        found = [
            (one, import_taken_back(world, one, command.appends, now)) for one in command.tasks
        ]
    kept = tuple(one for one, (_, is_stale) in found if is_stale)
    if not any(facts for _, (facts, _) in found):
        return Undone((), kept)
    return Undone(keep(home, command, key).ids, kept)


def _newest(home: "Home", source: str) -> UndoImport:
    journal = home.services.journal
    tail = journal.tail().n
    length = LOOK_FIRST
    while True:  # bounded: grows to the whole log
        every = [*journal.appends(max(tail - length, 0))]
        own = [one for one in every if one[0].replica == journal.replica]
        parts = _parts(home, [one for one in own if _is_import(one, source)], source)
        if parts and (length >= tail or parts[0][0].n > every[0][0].n):
            changed = [one for one in parts if any(row.of_kind == "task" for row in one)]
            tasks = (row.entity for one in changed for row in one if row.of_kind == "task")
            return command_of(dict.fromkeys(tasks), [one[0].n for one in changed or parts])
        if length >= tail:
            because = f"nothing was imported from {source!r}"
            raise Refused("invalid_value", because=because, instead="name a file that was")
        length *= 8


def _command(append: "Sequence[Recorded]") -> Any:
    fact = append[0].fact
    return fact.command if isinstance(fact, Receipt) else fact


def _is_import(append: "Sequence[Recorded]", source: str) -> bool:
    command = _command(append)
    is_it = isinstance(command, ImportTasks) and command.source == source
    return is_it and not command.is_written_back


def _parts(home: "Home", imports: "list[Append]", source: str) -> "list[Append]":
    """The appends of the newest import: all of its name, ``K:1``, ``K:2`` and so on; without a name
    those before it, one after another, that are full."""
    parts = imports[-1:]
    base, _, nth = parts[0][0].entity.rpartition(":") if parts else ("", "", "")
    if base and nth.isdigit():
        return [*_under(home, base, source)]
    for one in reversed(imports[:-1]):
        if one[0].n + 1 != parts[0][0].n or len(_command(one).tasks) < TASKS_MAX:
            break
        parts.insert(0, one)
    return parts


def _under(home: "Home", name: str, source: str) -> "Iterator[Append]":
    """The appends of a deed that import a source, and what was done with it then; of several files
    each comes after the other."""
    journal, of = home.services.journal, ""
    names = (nth_key(name, nth) for nth in count(1))
    every = (journal.receipts(one) or journal.receipts(nth_key(one, 1)) for one in names)
    for receipt, *_ in takewhile(bool, every):
        append = read_append(journal.append_at(receipt.n))
        command = _command(append)
        of = command.source if isinstance(command, ImportTasks) else of
        if of == source:
            yield append
