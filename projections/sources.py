"""Files and other sources of imports: when each came in last, and what is kept of its lines."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain.causes import Receipt
from domain.journal.commands import ImportTasks
from domain.wire import PayloadId
from domain.world import Recorded
from projections.view import View

LINES_KEPT = 20  # the newest, for imports may be taken back


class Kept(NamedTuple):
    """What an import kept of the lines: the append's place, and the payload's name."""

    n: int
    replica: str
    lines: PayloadId


class SourceDocument(Struct, frozen=True):
    """A source; `at` is its last import's time, `kept` in the order of the log."""

    name: str
    at: str = ""
    kept: tuple[Kept, ...] = ()


def _command(row: Recorded) -> ImportTasks | None:
    command = row.fact.command if isinstance(row.fact, Receipt) else None
    return command if isinstance(command, ImportTasks) else None


def keys(row: Recorded) -> tuple[str, ...]:
    command = _command(row)
    return (command.source,) if command else ()


def apply(document: SourceDocument | None, row: Recorded) -> SourceDocument | None:
    """The source after this row; the same whatever the order of rows, and how often one comes."""
    command = _command(row)
    if command is None:
        return document
    known = document or SourceDocument(command.source)
    kept = {*known.kept, *([Kept(row.n, row.replica, command.lines)] if command.lines else [])}
    return replace(known, at=max(known.at, row.at), kept=tuple(sorted(kept)[-LINES_KEPT:]))


def _takes_late(document: SourceDocument | None, row: Recorded) -> bool:
    return True


VIEW: View[SourceDocument] = View(
    "sources",
    "journal",
    1,
    SourceDocument,
    keys,
    apply,
    entities=("receipt",),
    takes_late=_takes_late,
)
