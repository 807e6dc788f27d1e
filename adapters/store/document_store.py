"""Where the documents of views are kept: the port, and what is asked of it.

Nothing in a store is truth: it may be empty, or made anew, at any time (DESIGN 4)."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol

from projections.view import View

Aggregate = Literal["count(*)", "sum(tally)", "min(due)"]
FROM_DOCUMENTS = "FROM documents WHERE"
"""How a condition begins that looks at other documents of the same home."""


class ViewPosition(NamedTuple):
    """Up to which append of its log a view has come, and that append's digest."""

    version: int = 0
    n: int = 0
    digest: str = ""


class DocumentQuery(NamedTuple):
    """Documents of one view. `where` are conditions in SQL on its columns, with ``?`` for each of
    `values`; `order` are columns; `limit` how many at most, negative: all; `by` which index fits,
    where it needs to be named; `others` are further views that `values` name."""

    view: View[Any]
    where: Sequence[str] = ()
    values: Sequence[str] = ()
    order: str = "key"
    limit: int = -1
    by: Literal["", "dues", "turns"] = ""
    others: Sequence[View[Any]] = ()


class DocumentRow(NamedTuple):
    """A document as it is written, with what it is found by."""

    key: str
    shelf: str
    place: str
    mark: str
    due: str
    tally: int
    turn: str
    title: str
    document: bytes


class DocumentStore(Protocol):
    """The documents of one home. `broken`: what is raised where it cannot be believed; `mend`
    then makes it anew, or gives up by raising the same."""

    @property
    def broken(self) -> tuple[type[Exception], ...]: ...

    @property
    def is_in_memory(self) -> bool:
        """Whether it ends with the process."""

    def positions(self, views: Sequence[View[Any]]) -> Mapping[str, ViewPosition]:
        """How far some views have come, by their names."""

    def read(self, view: View[Any], key: str) -> bytes | None:
        """One document."""

    def page(self, asked: DocumentQuery) -> list[bytes]:
        """Documents in their order."""

    def count(self, asked: DocumentQuery, what: Aggregate = "count(*)") -> Any:
        """A number or a time over documents, none of which is read; None over none of them."""

    def write(self, view: View[Any], kept: Sequence[DocumentRow], gone: Sequence[str]) -> None:
        """Bring what changed, and take away keys."""

    def move(self, view: View[Any], position: ViewPosition) -> None:
        """Say how far a view has come."""

    def forget(self, views: Sequence[View[Any]]) -> None:
        """Take all documents of some views away."""

    def transaction(self, log: str) -> AbstractContextManager[None]:
        """All or nothing, and nobody else writes the views of that log meanwhile."""

    def remembered(self, name: str) -> bytes | None:
        """What `remember` kept; None where it is lost."""

    def remember(self, name: str, value: bytes) -> None:
        """Keep what can be found out again, where it can be written now."""

    def mend(self, error: Exception) -> None: ...

    def close(self) -> None: ...


class SharedDocumentStore(DocumentStore, Protocol):
    """One that other machines write too, so that no file of it can be copied."""

    def has_others(self, views: Sequence[View[Any]]) -> bool:
        """Whether a program of another version keeps views of this home, or did."""

    def copy(self, to: DocumentStore, views: Sequence[View[Any]]) -> None:
        """Write the documents of some views, as they are at one moment, into an empty store."""
