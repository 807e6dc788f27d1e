"""A log and views that count what is read of them: work, where time would be noise."""

from collections.abc import Sequence
from typing import Any, TypeVar

from adapters.home.views import Views
from adapters.store.document_store import DocumentQuery
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import TimedRow
from projections.view import View

D = TypeVar("D")


class CountingRecorder(MemoryLogRecorder):
    """Keeps rows in memory, and counts the streams and their rows that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.streams = 0
        self.rows_read = 0

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        found = super().stream(stream, after, but)
        self.streams += 1
        self.rows_read += len(found)
        return found


class CountingViews(Views):
    """Counts the documents that are read."""

    documents = 0

    def get(self, view: View[D], key: str) -> D | None:
        found = super().get(view, key)
        self.documents += found is not None
        return found

    def _read(self, asked: DocumentQuery) -> list[Any]:
        found = super()._read(asked)
        self.documents += len(found)
        return found
