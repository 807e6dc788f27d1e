"""Cards: what agents propose, by set, each item with its old and new value."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from msgspec.structs import asdict

from adapters.documents.inbox import (
    InboxItem,
    InboxSet,
    documents_of,
    sets_under,
)
from adapters.documents.wakes import wake_document
from adapters.web import cards
from adapters.web.asking import FormRequest, made_from
from adapters.web.site import Site
from domain.changes.change_set import OPEN, Item
from domain.changes.needs import need_of
from projections import agents, inbox, wakes
from projections.inbox import TABS, SetDocument

OPEN_SHOWN = 50  # sets of one task, on its page

Ref = tuple[str, int]
"""A proposal: its set's id, and its number."""
Shows = Callable[[SetDocument, Item], bool]


class CardItem(InboxItem, frozen=True):
    """A proposal on a page, with what its forms need. `version` tells whether somebody decided
    meanwhile; `kept`: it was decided a moment ago and keeps its place. `told`: what its tool has
    to say besides; `after`: the item that must be confirmed first, as the person calls it; `line`:
    it in a few words, with the old and the new value; `proposed`: what was, where it was edited."""

    set_id: str
    number: int
    version: str
    decided_at: str | None
    decided_by: str | None
    error_code: str | None
    fields: list[dict[str, Any]]
    kept: bool
    told: cards.Told
    after: str | None
    line: str
    proposed: cards.Proposed | None


class Card(InboxSet, frozen=True):
    """A change set on a page; `why` is what the agent said in the wake that made it."""

    items: Sequence[CardItem]
    why: str | None
    agent_name: str


def open_cards(site: Site, asked: FormRequest, task_id: str) -> list[Card]:
    """The open proposals of one task, for its page and its agent's."""
    tabs = ("waiting", "deferred")
    sets = sets_under(site.home, *tabs, task=task_id, limit=OPEN_SHOWN)
    kept = [one for one in kept_on(site, asked) if _task_of(site, one) == task_id]
    return cards_of(site, sets, [status for tab in tabs for status in TABS[tab]], kept)


def kept_on(site: Site, asked: FormRequest) -> Sequence[Ref]:
    """What was decided by the form that led to a page: it keeps its place there."""
    told = site.told(asked.query.get("told", ""))
    return told.kept if told is not None and asked.query.get("kept") != "no" else ()


def _task_of(site: Site, ref: Ref) -> str:
    found = site.home.views.get(inbox.VIEW, ref[0])
    return found.task_id if found else ""


def cards_of(
    site: Site, sets: Sequence[SetDocument], statuses: Iterable[str], kept: Collection[Ref] = ()
) -> list[Card]:
    """The cards of those items that have such a status, see `cards_where`."""
    wanted = set(statuses)
    return cards_where(site, sets, lambda _, item: item.status in wanted, kept)


def card_of(site: Site, set_id: str, number: int, *, is_kept: bool) -> Card:
    """The card of one item that is there."""
    found = site.home.views.get(inbox.VIEW, set_id)
    assert found is not None, set_id
    kept = [(set_id, number)] if is_kept else []

    def is_it(_: SetDocument, item: Item) -> bool:  # what was taken back waits again
        return item.number == number and (not is_kept or item.status == "pending")

    (card,) = cards_where(site, [found], is_it, kept)
    return card


def with_kept(site: Site, sets: Sequence[SetDocument], kept: Collection[Ref]) -> list[SetDocument]:
    """Change sets, the newest first, with those of which something was decided a moment ago."""
    by_id = {one.id: one for one in sets}
    for set_id, _ in kept:
        found = site.home.views.get(inbox.VIEW, set_id)
        if found is not None:
            by_id.setdefault(set_id, found)
    return sorted(by_id.values(), key=inbox.VIEW.place, reverse=True)


def cards_where(
    site: Site, sets: Sequence[SetDocument], wanted: Shows, kept: Collection[Ref] = ()
) -> list[Card]:
    """Change sets, the newest first, with those of their items that are wanted or are kept.

    Args:
        site: Where.
        sets: Which.
        wanted: Those that are looked for.
        kept: What was decided a moment ago, in whatever set.
    """

    def shows(one: SetDocument, item: Item) -> bool:
        return wanted(one, item) or (one.id, item.number) in kept

    every = with_kept(site, sets, kept)
    shown = [one for one in every if any(shows(one, item) for item in one.items)]
    documents = documents_of(site.home, shown, shows)
    items = [[item for item in one.items if shows(one, item)] for one in shown]
    here = {  # though decided on a moment ago
        (one.id, item.number)
        for one, those in zip(shown, items, strict=True)
        for item in those
        if item.status in OPEN and wanted(one, item)
    }
    return [
        _card(site, one, document, those, set(kept) - here)
        for one, document, those in zip(shown, documents, items, strict=True)
    ]


def _card(
    site: Site, one: SetDocument, document: InboxSet, shown: Sequence[Item], kept: Collection[Ref]
) -> Card:
    items = [
        _card_item(site, one, item, told, is_kept=(one.id, item.number) in kept)
        for item, told in zip(shown, document.items, strict=True)
    ]
    items.sort(key=lambda item: (cards.number_of(item.needs or item.ref), item.number))
    return Card(
        **{**asdict(document), "items": items},
        why=_why(site, one),
        agent_name=_agent_name(site, one),
    )


def _card_item(
    site: Site, one: SetDocument, item: Item, told: InboxItem, *, is_kept: bool
) -> CardItem:
    need = need_of(one.changes, item)
    return CardItem(
        **asdict(told),
        set_id=one.id,
        number=item.number,
        version=version_of(item),
        decided_at=item.decided_at or None,
        decided_by=item.decided_by or None,
        error_code=item.error_code or None,
        fields=cards.fields_of(site, one, item, told) if item.status != "confirmed" else [],
        kept=is_kept,
        told=(extra := cards.told_of(site, one, item, told)),
        line=cards.line_of(item.tool, told.arguments, extra),
        proposed=cards.proposed_of(site, one, item, told.arguments),
        after=told.needs if need is not None and need.status != "confirmed" else None,
    )


def version_of(item: Item) -> str:
    """What a form was made from: another one is found where somebody decided meanwhile."""
    parts = (item.status, str(item.confirmation), item.decided_at, item.error_code, item.reason)
    return made_from(*parts)


def _agent_name(site: Site, one: SetDocument) -> str:
    agent = site.home.views.get(agents.VIEW, one.agent_id)
    return agent.name if agent else ""


def _why(site: Site, one: SetDocument) -> str | None:
    """What the agent said in the wake that made the set."""
    wake = site.home.views.get(wakes.VIEW, one.run_key)
    report = wake_document(site.home, wake).report if wake else None
    return report.tldr if report else None
