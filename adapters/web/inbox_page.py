"""The inbox: what agents propose in a list, and one of them beside it."""

from collections.abc import Sequence
from typing import Any

from adapters.documents.inbox import is_under, sets_now
from adapters.web import inbox_lines, inbox_pane
from adapters.web.asking import FormRequest, Page
from adapters.web.inbox import card_of, cards_where, kept_on, with_kept
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
    tab, _ = VIEWS[name]
    size, before = page_size(asked, SETS_SHOWN), asked.query.get("before", "")
    by, words = inbox_lines.by_of(asked), asked.query.get("q", "")
    is_plain = by == "task" and not words.strip() and tab != "deferred"
    most = size + 1 if is_plain else SETS_LOOKED + 1
    looked = sets_now(site.home, tab, before=before, limit=most)
    is_cut, sets = len(looked) == most, looked[: most - 1]
    kept, now = kept_on(site, asked), site.now

    def shows(one: SetDocument, item: Item) -> bool:
        return is_under(item, tab, now)

    listing = inbox_lines.listed(site, with_kept(site, sets, kept), shows, kept, by, words)
    skip = 0 if is_plain else inbox_lines.skipped(asked)
    entries = listing if is_plain else listing[skip : skip + size]
    found = cards_where(site, [one.set for one in entries], shows, kept)
    groups = inbox_lines.groups_of(site, found, entries, by)
    older = ""
    if not is_plain and len(listing) > skip + size:
        older = asked.with_query(at="", skip=str(skip + size))
    elif is_cut:
        older = asked.with_query(at="", skip="", before=sets[-1].place)
    pane = _pane(site, asked, at or _first(groups), is_asked=bool(at))
    document: dict[str, Any] = {"sets": found, "next": older or None}
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
            "older": older,
            "newest": asked.with_query(before="", skip="", at="") if before or skip else "",
            "looked": len(sets) if is_cut and not is_plain else 0,
            "has_agents": bool(found) or site.has_agents(),
            "labels": site.labels() if found or pane else [],
        },
    )


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
