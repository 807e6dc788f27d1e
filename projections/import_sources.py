"""Files and other sources of imports: when each came in last, and what is kept of its lines."""

from typing import NamedTuple

from msgspec import Struct

from domain.append.causes import Receipt
from domain.journal.commands import ImportTasks, UndoDeed, UndoImport
from domain.log.state import RecordedEvent
from domain.log.wire import PayloadId
from projections.view import View

ALL = "all"
"""The key of the one document: an undo names appends, and no source."""

LINES_KEPT = 20  # of a source, the newest, for imports may be taken back
UNDONE_KEPT = 100


class KeptLines(NamedTuple):
    """What an import kept of the lines: the append's place, and the payload's name."""

    n: int
    replica: str
    lines: PayloadId


class UndoneAppends(NamedTuple):
    """Appends of a machine that one of its own took back."""

    n: int
    replica: str
    appends: tuple[int, ...]


class ImportSource(Struct, frozen=True):
    """A source; `at` is its last import's time, `kept` in the order of the log."""

    at: str = ""
    kept: tuple[KeptLines, ...] = ()


class SourcesDocument(Struct, frozen=True):
    """All sources by their names, and what was taken back, in the order of the log."""

    sources: dict[str, ImportSource] = {}
    undone: tuple[UndoneAppends, ...] = ()

    def standing(self, source: str) -> tuple[KeptLines, ...]:
        """What is kept by imports that were not taken back, the newest first."""
        gone: set[tuple[str, int]] = set()
        for one in reversed(self.undone):
            if (one.replica, one.n) not in gone:  # else it was taken back itself
                gone.update((one.replica, n) for n in one.appends)
        kept = self.sources.get(source, ImportSource()).kept
        return tuple(one for one in reversed(kept) if (one.replica, one.n) not in gone)

    def newest(self, source: str) -> PayloadId:
        """The newest of these; empty: none."""
        return next((one.lines for one in self.standing(source)), "")


def keys(row: RecordedEvent) -> tuple[str, ...]:
    match row.fact:
        case Receipt(command=ImportTasks() | UndoImport(reopens=True) | UndoDeed(reopens=True)):
            return (ALL,)
        case _:
            return ()


def apply(document: SourcesDocument | None, row: RecordedEvent) -> SourcesDocument:
    """The sources after this row; the same whatever the order of rows, and how often one comes."""
    known = document or SourcesDocument()
    match row.fact:
        case Receipt(command=ImportTasks(source=name, lines=lines)):
            was = known.sources.get(name, ImportSource())
            kept = {*was.kept, *([KeptLines(row.n, row.replica, lines)] if lines else [])}
            now = ImportSource(max(was.at, row.at), tuple(sorted(kept)[-LINES_KEPT:]))
            return SourcesDocument({**known.sources, name: now}, known.undone)
        case Receipt(command=UndoImport(appends=appends) | UndoDeed(appends=appends)):
            undone = {*known.undone, UndoneAppends(row.n, row.replica, appends)}
            return SourcesDocument(known.sources, tuple(sorted(undone)[-UNDONE_KEPT:]))
        case _:
            return known


VIEW: View[SourcesDocument] = View(
    "sources", "journal", 1, SourcesDocument, keys, apply, entities=("receipt",),
    takes_late=lambda *_: True,
)  # fmt: skip
