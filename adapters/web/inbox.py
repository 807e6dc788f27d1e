"""The inbox: what agents propose, by task, each item with its old and new value."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec.structs import asdict

from adapters.documents.inbox import (
    InboxItem,
    InboxSet,
    documents_of,
    put_off_until_now,
    sets_under,
)
from adapters.documents.wakes import wake_document
from adapters.web import cards
from adapters.web.asking import FormRequest, Page, made_from
from adapters.web.site import Site, page_size
from domain.changes.change_set import OPEN, Item, is_waiting
from domain.changes.needs import need_of
from projections import inbox, wakes
from projections.inbox import TABS, SetDocument

VIEWS = {
    "": ("waiting", "Waiting"),
    "deferred": ("deferred", "Put off"),
    "decided": ("decided", "Decided"),
}
"""What an address asks for, by its ``show``: a tab, and its title."""
SETS_SHOWN = 15  # each item has three forms
OPEN_SHOWN = 50  # sets of one task, on its page

Ref = tuple[str, int]
"""A proposal: its set's id, and its number."""


class CardItem(InboxItem, frozen=True):
    """A proposal on a page, with what its forms need. `version` tells whether somebody decided
    meanwhile; `kept`: it was decided a moment ago and keeps its place. `told`: what its tool has
    to say besides; `after`: the item that must be confirmed first, as the person calls it."""

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


class Card(InboxSet, frozen=True):
    """A change set on a page; `why` is what the agent said in the wake that made it."""

    items: Sequence[CardItem]
    why: str | None


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/inbox`."""
    name = asked.query.get("show", "")
    name = name if name in VIEWS else ""
    tab, _ = VIEWS[name]
    size, before = page_size(asked, SETS_SHOWN), asked.query.get("before", "")
    found = sets_under(site.home, tab, before=before, limit=size + 1)
    back = put_off_until_now(site.home) if tab == "waiting" and not before else []
    cards = cards_of(site, [*back, *found[:size]], TABS[tab], kept_on(site, asked))
    groups: dict[str, list[Card]] = {}
    for card in cards:
        groups.setdefault(card.task_id, []).append(card)
    older = found[size - 1].place if len(found) > size else ""
    return Page(
        "inbox.html",
        "Inbox",
        {"sets": cards, "next": asked.with_query(before=older) if older else None},
        {
            "groups": list(groups.values()),
            "show": name,
            "tabs": [(one, title) for one, (_, title) in VIEWS.items()],
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if before else "",
            "has_agents": bool(cards) or site.has_agents(),
            "labels": site.labels() if cards else [],
        },
    )


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
    site: Site,
    sets: Sequence[SetDocument],
    statuses: Iterable[str],
    kept: Collection[Ref] = (),
) -> list[Card]:
    """Change sets, the newest first, with those of their items that have such a status or are kept.

    Args:
        site: Where.
        sets: Which.
        statuses: Those that are looked for.
        kept: What was decided a moment ago, in whatever set.
    """
    wanted = set(statuses)
    by_id = {one.id: one for one in sets}
    for set_id, _ in kept:
        found = site.home.views.get(inbox.VIEW, set_id)
        if found is not None:
            by_id.setdefault(set_id, found)

    def shows(one: SetDocument, item: Item) -> bool:
        has_come = item.status == "deferred" and is_waiting(item, site.now)
        is_wanted = ("pending" if has_come else item.status) in wanted
        return is_wanted or (one.id, item.number) in kept

    shown = [one for one in by_id.values() if any(shows(one, item) for item in one.items)]
    shown.sort(key=lambda one: one.place, reverse=True)
    documents = documents_of(site.home, shown, shows)
    items = [[item for item in one.items if shows(one, item)] for one in shown]
    here = {  # though decided on a moment ago
        (one.id, item.number)
        for one, those in zip(shown, items, strict=True)
        for item in those
        if item.status in wanted and item.status in OPEN
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
    return Card(**{**asdict(document), "items": items}, why=_why(site, one))


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
        told=cards.told_of(site, one, item, told),
        after=told.needs if need is not None and need.status != "confirmed" else None,
    )


def version_of(item: Item) -> str:
    """What a form was made from: another one is found where somebody decided meanwhile."""
    parts = (item.status, str(item.confirmation), item.decided_at, item.error_code, item.reason)
    return made_from(*parts)


def _why(site: Site, one: SetDocument) -> str | None:
    """What the agent said in the wake that made the set."""
    wake = site.home.views.get(wakes.VIEW, one.run_key)
    report = wake_document(site.home, wake).report if wake else None
    return report.tldr if report else None
