"""What a view is: documents that facts make, and that can be thrown away (DESIGN 2, law 1).

`keys` names the documents that a row may change, `apply` gives each of them anew; both are pure
and see nothing else, so a rebuild makes the same documents as one row at a time did. What a
document needs to know it learns from facts of its own key. Texts stay `Words`: a reader resolves
them."""

from collections.abc import Callable, Iterable
from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from domain.log.state import RecordedEvent
from domain.log.wire import Erased

D = TypeVar("D")

Entity = tuple[str, str]
"""The kind and the id."""


def _as_it_was(document: D | None, row: RecordedEvent) -> D | None:
    """What another machine's own row makes of a document."""
    return document


class View(Struct, Generic[D], frozen=True):
    """One kind of document over one log.

    `version` is raised when the documents mean something else: they are then made anew.
    `shelf` is what a reader finds documents by besides their key, an agent's id for example;
    `place` is a document's order on its shelf, as text: its own `place`, if it has one. `mark` is
    one of a few words that parts a large view, so that its documents are counted, and the few that
    matter read, without the rest.
    `title` is the path, in the stored document, of what a person calls it by; empty: nothing.
    `due` is when time alone makes something of a document to be done, empty where it never does.
    `tally` is a number that is added up over documents without reading them. `turn` orders those
    that wait in a queue, or were touched last; empty for the others. `own`: kinds of which each
    machine that shares the log has its own, so that a view there has that of its machine alone, and
    of another one's rows what `apply_others` makes of them.

    Where machines share the log, rows may come in before others that were applied. `entities`: the
    kinds whose rows make the documents; empty where these are then made anew from the beginning.
    `sources`: the entities whose rows, among all, name the documents that a row names, so that
    those can be made anew by themselves; by default the entity and its namesakes of those kinds. It
    is asked of rows that name such a document, and of all rows of an entity that is its key.
    `takes_late`: instead, whether a row that came in late, which counts, may be applied to a
    document as it stands, once or again, and makes of it what it makes in its place.
    `counts_erased`: it is shown marks of what was erased, too, which no other view is."""

    name: str
    log: Literal["journal", "agent"]
    version: int
    document: type[D]
    keys: Callable[[RecordedEvent], tuple[str, ...]]
    apply: Callable[[D | None, RecordedEvent], D | None]
    shelf: Callable[[D], str] = lambda _: ""
    place: Callable[[D], str] = lambda document: getattr(document, "place", "")
    mark: Callable[[D], str] = lambda _: ""
    title: str = ""
    due: Callable[[D], str] = lambda _: ""
    tally: Callable[[D], int] = lambda _: 0
    turn: Callable[[D], str] = lambda _: ""
    own: tuple[str, ...] = ()
    apply_others: Callable[[D | None, RecordedEvent], D | None] = _as_it_was
    entities: tuple[str, ...] = ()
    sources: Callable[[RecordedEvent], tuple[Entity, ...]] | None = None
    takes_late: Callable[[D | None, RecordedEvent], bool] | None = None
    counts_erased: bool = False


def of_kinds(*kinds: str) -> Callable[[RecordedEvent], tuple[str, ...]]:
    """`keys` of a view whose documents are the entities of these kinds."""
    return lambda row: (row.entity,) if row.of_kind in kinds else ()


class Documents(Protocol[D]):
    """Where a view's documents are kept, by key: a dictionary, or a file with a cache."""

    def get(self, key: str, /) -> D | None: ...
    def __setitem__(self, key: str, document: D, /) -> None: ...
    def __delitem__(self, key: str, /) -> None: ...


def project(view: View[D], row: RecordedEvent, documents: Documents[D]) -> None:
    """Bring a view's documents, by key, up to date with one more row."""
    project_on(view, row, documents, view.keys(row))


def project_on(
    view: View[D], row: RecordedEvent, documents: Documents[D], keys: Iterable[str], *,
    is_own: bool = True,
) -> None:  # fmt: skip
    """The same of those under some of the keys that the row names; `is_own`: see `View.own`."""
    if type(row.fact) is Erased and not view.counts_erased:
        return
    apply = view.apply if is_own or row.of_kind not in view.own else view.apply_others
    for key in keys:
        before = documents.get(key)
        after = apply(before, row)
        if after is before:
            continue
        if after is None:
            del documents[key]
        else:
            documents[key] = after


def sources_of(view: View[D], row: RecordedEvent) -> tuple[Entity, ...]:
    """The entities whose rows make the documents that a row names: see `View.sources`."""
    if view.sources is None:
        return tuple((kind, row.entity) for kind in view.entities)
    return tuple(one for one in view.sources(row) if one[0] in view.entities)


def fold(view: View[D], rows: Iterable[RecordedEvent]) -> dict[str, D]:
    """The documents that rows make, by key."""
    documents: dict[str, D] = {}
    for row in rows:
        project(view, row, documents)
    return documents


def position(row: RecordedEvent) -> str:
    """Where a row stands in its log, as text whose order is the canonical one.

    >>> position(RecordedEvent("agent:a@r1", 1, "r1", 42, 3, "", None))
    '000000000042 r1 000003'
    """
    return placed(row.n, row.replica, row.row)


def placed(n: int, replica: str, row: int) -> str:
    """The same of what the position names."""
    return f"{n:012d} {replica} {row:06d}"
