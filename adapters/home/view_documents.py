"""One view's documents while appends are applied: read once, and written all together."""

from typing import Any, Generic, TypeVar

import msgspec

from adapters.store.documents import DocumentStore, Kept
from projections.view import View

D = TypeVar("D")

DOCUMENTS_KEPT = 5000  # decoded ones of a view, from one batch to the next
_encode = msgspec.json.Encoder().encode


class Documents(Generic[D]):
    """One view's documents by key, read when they are asked for, written all together."""

    def __init__(
        self, view: View[D], store: DocumentStore, decoder: msgspec.json.Decoder[D]
    ) -> None:
        self._view = view
        self._store = store
        self._decoder = decoder
        self._known: dict[str, D | None] = {}
        self._changed: set[str] = set()

    def get(self, key: str, /) -> D | None:
        if key not in self._known:
            data = self._store.read(self._view, key)
            self._known[key] = None if data is None else self._decoder.decode(data)
        return self._known[key]

    def __setitem__(self, key: str, document: D, /) -> None:
        self._known[key] = document
        self._changed.add(key)

    def __delitem__(self, key: str, /) -> None:
        self._known[key] = None
        self._changed.add(key)

    def write(self) -> None:
        """Bring what changed to the store."""
        kept = [
            self._kept(key, document)
            for key in sorted(self._changed)
            if (document := self._known[key]) is not None
        ]
        gone = [key for key in sorted(self._changed) if self._known[key] is None]
        self._store.write(self._view, kept, gone)
        self._changed.clear()
        if len(self._known) > DOCUMENTS_KEPT:
            self._known.clear()

    def _kept(self, key: str, document: D) -> Kept:
        view = self._view
        found = view.shelf(document), view.place(document), view.mark(document), view.due(document)
        data = _encode(document)
        return Kept(
            key, *found, view.tally(document), view.turn(document), self._title(document), data
        )

    def _title(self, document: D) -> str:
        """What a person calls it by; its view says where that stands."""
        found: Any = document
        for name in self._view.title.split(".")[1:]:
            found = getattr(found, name, None)
        return found if isinstance(found, str) else ""
