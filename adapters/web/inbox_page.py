"""The inbox: what agents propose in a list, and one of them beside it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from adapters.documents.inbox import is_under, sets_now
from adapters.web import inbox_lines, inbox_pane
from adapters.web.asking import FormRequest, Page
from adapters.web.inbox import Card, card_of, cards_where, kept_on, with_kept
from adapters.web.site import Site, page_size
from domain.changes.change_set import Item
from projections.inbox import SetDocument

VIEWS = {
    "": ("waiting", "Waiting"),
    "deferred": ("deferred", "Put off"),
    "decided": ("decided", "Decided"),
}
"""What an address asks for, by its ``show``: a tab, and its title."""
SETS_SHOWN = 15  # each item has four forms
ITEMS_SHOWN = 40  # at the most, but one set is shown whole
SETS_LOOKED = 500  # that are looked through for words, and put in groups


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/inbox`."""
    asked = asked._replace(path="/inbox")
    at = asked.query.get("at", "")
    if asked.query.get("part") == "count":
        return _count_alone(site)
    if at and asked.query.get("part") == "pane":
        return _pane_alone(site, asked, at)
    name = asked.query.get("show", "")
    name = name if name in VIEWS else ""
    by, words = inbox_lines.by_of(asked), asked.query.get("q", "")
    found = _listing(site, asked, VIEWS[name][0], by, words)
    groups = inbox_lines.groups_of(site, found.cards, found.entries, by)
    pane = _pane(site, asked, at or _first(groups), is_asked=bool(at))
    document: dict[str, Any] = {"sets": found.cards, "next": found.older or None}
    waiting = site.glance().waiting
    return Page(
        "inbox.html",
        f"({waiting}{site.glance().more}) Inbox" if waiting else "Inbox",
        document | ({"proposal": pane} if at else {}),
        {
            "leads_to": asked.with_query,
            "groups": groups,
            "pane": pane,
            "show": name,
            "by": by,
            "words": words,
            "choices": inbox_lines.BY,
            "tabs": [(one, title) for one, (_, title) in VIEWS.items()],
            "older": found.older,
            "newest": found.newest,
            "looked": found.looked,
            "has_agents": bool(groups) or site.has_agents(),
            "labels": site.labels() if groups or pane else [],
        },
    )


class Listing(NamedTuple):
    """A page of the list. `older` and `newest` lead to other pages; `looked`: so many sets were
    looked through for it, and there are more."""

    cards: Sequence[Card]
    entries: Sequence[inbox_lines.Entry]
    older: str
    newest: str
    looked: int


def _listing(site: Site, asked: FormRequest, tab: str, by: str, words: str) -> Listing:
    """The proposals under a tab; groups and words are of the newest that can be looked through."""
    size, before = page_size(asked, SETS_SHOWN), asked.query.get("before", "")
    is_plain = by == "task" and not words.strip() and tab != "deferred"
    most = size if is_plain else SETS_LOOKED
    sets = sets_now(site.home, tab, before=before, limit=most + 1)
    is_cut, sets = len(sets) > most, sets[:most]
    kept, now = kept_on(site, asked), site.now

    def is_shown(one: SetDocument, item: Item) -> bool:
        return is_under(item, tab, now)

    every = inbox_lines.listed(site, with_kept(site, sets, kept), is_shown, kept, by, words)
    skip = inbox_lines.skipped(asked)
    entries = inbox_lines.fitting(every[skip:], size, ITEMS_SHOWN)
    here = {(one.set.id, item.number) for one in entries for item in one.items}
    cards = cards_where(
        site,
        [one.set for one in entries],
        lambda one, item: (one.id, item.number) in here and is_shown(one, item),
        kept,
    )
    older = ""
    if len(every) > skip + len(entries):
        older = asked.with_query(at="", skip=str(skip + len(entries)))
    elif is_cut:
        older = asked.with_query(at="", skip="", before=sets[-1].place)
    newest = asked.with_query(before="", skip="", at="") if before or skip else ""
    return Listing(cards, entries, older, newest, len(sets) if is_cut and not is_plain else 0)


def _first(groups: Sequence[inbox_lines.Group]) -> str:
    """The first proposal of a page that waits, by its reference."""
    every = [item for group in groups for card in group.cards for item in card.items]
    waiting = next((item for item in every if not item.kept), None)
    return waiting.ref if waiting else ""


def _pane(site: Site, asked: FormRequest, ref: str, *, is_asked: bool) -> inbox_pane.Pane | None:
    """What stands beside the list: one proposal, with its task as it is now."""
    if not ref:
        return None
    set_id, number = inbox_pane.named(site, ref)
    is_kept = (set_id, number) in kept_on(site, asked)
    return inbox_pane.pane_of(
        site, card_of(site, set_id, number, is_kept=is_kept), is_asked=is_asked
    )


def _count_alone(site: Site) -> Page:
    """Only how many wait: for a notice."""
    count = {"waiting": site.glance().waiting}
    return Page("inbox_pane.html", "Inbox", count, {"pane": None})


def _pane_alone(site: Site, asked: FormRequest, ref: str) -> Page:
    """Only what stands beside the list: the next proposal was chosen."""
    pane = _pane(site, asked, ref, is_asked=True)
    return Page(
        "inbox_pane.html",
        "Inbox",
        {"proposal": pane},
        {"pane": pane, "labels": site.labels(), "leads_to": asked.with_query},
    )
