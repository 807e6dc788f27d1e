"""Change sets as the person reviews them: the domain's own fold (SPEC 6, 10).

A set is found by its id from its first proposal on, and stands on its task's shelf from the end of
its wake, when the person is shown it. Its mark tells under which of `TABS` it has items, so that
a page of a tab is read without the sets that have none there. Its rank is in the view
`RANKS`: a set cannot know it from its own facts."""

from itertools import combinations

import msgspec
from msgspec import Struct

from domain.agent.agent import OF_CATEGORY, OF_TEMPLATE
from domain.changes import change_set as c
from domain.log.state import RecordedEvent
from domain.log.wire import Erased, Words, tag_of
from projections.view import View, of_kinds, position

TABS: dict[str, tuple[c.ItemStatus, ...]] = {
    "waiting": ("pending", "confirming"),
    "deferred": ("deferred",),
    "decided": ("confirmed", "rejected", "retracted", "expired"),
}
"""What a person looks at apart; each item is under one of them."""


class _OfDay(Struct, frozen=True):
    """What the arguments of a change of a day name; the tools are not loaded for that."""

    day: str = ""


class SetDocument(Struct, frozen=True):
    """A set. `place` and `replica` are those of the row that opened it, empty before."""

    changes: c.ChangeSet
    place: str = ""
    replica: str = ""

    @property
    def id(self) -> str:
        return self.changes.id

    @property
    def is_opened(self) -> bool:
        return self.changes.is_opened

    @property
    def task_id(self) -> str:
        return self.changes.task

    @property
    def day(self) -> str:
        """The day that a set without a task is about, as its items say."""
        if self.task_id or not self.items:
            return ""
        try:
            return msgspec.json.decode(self.items[0].arguments.text, type=_OfDay).day
        except msgspec.MsgspecError:
            return ""

    @property
    def about(self) -> str:
        """Its task; or its day as that unit is called, its category or template as its agent's
        subject."""
        touched = (one for item in self.items[:1] for one in item.touches)
        subject = next((one for one in touched if one.startswith((OF_CATEGORY, OF_TEMPLATE))), "")
        return self.task_id or subject or f"day:{self.day}"

    @property
    def agent_id(self) -> str:
        return self.changes.agent

    @property
    def run_key(self) -> str:
        return self.changes.run_key

    @property
    def created_at(self) -> str:
        return self.changes.opened_at

    @property
    def expires_at(self) -> str:
        return self.changes.expires_at

    @property
    def status(self) -> c.SetStatus:
        return c.status_of(self.changes)

    @property
    def items(self) -> tuple[c.ChangeItem, ...]:
        return self.changes.items

    @property
    def is_open(self) -> bool:
        """Whether an item is pending, under way or deferred."""
        return self.is_opened and any(c.is_open(item) for item in self.items)


def arguments_of(item: c.ChangeItem) -> Words:
    """The arguments in force: a person's edited ones, else the proposed ones."""
    return item.arguments_now or item.arguments


def apply(document: SetDocument | None, row: RecordedEvent) -> SetDocument | None:
    """The set after this row."""
    known = document or SetDocument(c.CHANGES.initial(row.entity))
    changes = c.CHANGES.evolve(known.changes, row)
    if isinstance(row.fact, c.SetOpened) and not known.is_opened:
        return SetDocument(changes, position(row), row.replica)
    return SetDocument(changes, known.place, known.replica)


def marks(*tabs: str) -> tuple[str, ...]:
    """The marks of all sets that have items under at least one of these tabs.

    >>> marks("deferred")
    ('deferred', 'waiting deferred', 'deferred decided', 'waiting deferred decided')
    """
    every = (one for size in range(1, len(TABS) + 1) for one in combinations(TABS, size))
    return tuple(" ".join(one) for one in every if set(one) & set(tabs))


def _mark(document: SetDocument) -> str:
    if not document.is_opened:
        return ""
    found = {item.status for item in document.items}
    return " ".join(tab for tab, statuses in TABS.items() if found.intersection(statuses))


VIEW: View[SetDocument] = View(
    "inbox", "agent", 4, SetDocument, of_kinds("changes"), apply,
    shelf=lambda document: document.about if document.is_opened else "", mark=_mark,
    due=lambda document: document.expires_at if document.is_open else "",
    tally=lambda document: sum(map(c.is_open, document.items)), entities=("changes",),
)  # fmt: skip


# --------------------------------------------------- the numbers that a person calls change sets by
# Each replica's own, from 1 (SPEC 10). A rank is the order of appends and nothing else, so it never
# moves and a rebuild gives it again.


class RanksDocument(Struct, frozen=True):
    """The ids of all sets that a replica opened, in order."""

    sets: tuple[str, ...] = ()


_OPENED = c.SetOpened("", "", "")


def rank_keys(row: RecordedEvent) -> tuple[str, ...]:
    is_erased = isinstance(row.fact, Erased) and row.fact.was == tag_of(_OPENED)
    return (row.replica,) if is_erased or isinstance(row.fact, c.SetOpened) else ()


def apply_rank(document: RanksDocument | None, row: RecordedEvent) -> RanksDocument | None:
    """The ranks with one more set; one that is opened again keeps its own."""
    known = document or RanksDocument()
    return known if row.entity in known.sets else RanksDocument((*known.sets, row.entity))


RANKS: View[RanksDocument] = View(
    "ranks",
    "agent",
    1,
    RanksDocument,
    rank_keys,
    apply_rank,
    entities=("changes",),
    takes_late=lambda *_: True,  # a document's rows, of one replica, come in order
    counts_erased=True,  # else a number would be another set's from then on
)
