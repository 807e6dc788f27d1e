"""The inbox: what agents propose, by task, each item with its old and new value."""

from collections.abc import Iterable, Sequence
from typing import Any

from adapters.documents.agents import Document, set_documents, wake_document
from adapters.web.asking import Asked, Page
from adapters.web.editing import fields_of
from adapters.web.site import Site, page_size
from domain.changes.change_set import Item
from domain.keys import key
from projections import inbox, wakes
from projections.inbox import SetDocument

VIEWS = {  # name: (shelf, statuses shown, title)
    "": ("open", ("pending", "confirming"), "Waiting"),
    "deferred": ("open", ("deferred",), "Put off"),
    "decided": ("", ("confirmed", "rejected", "retracted", "expired"), "Decided"),
}
SETS_SHOWN = 15  # each item has three forms
VERSION_SHOWN = 12


def show(site: Site, asked: Asked) -> Page:
    """The page `/inbox`."""
    name = asked.query.get("show", "")
    name = name if name in VIEWS else ""
    shelf, statuses, _ = VIEWS[name]
    size = page_size(asked, SETS_SHOWN)
    found = site.home.views.page(
        inbox.VIEW,
        shelf=shelf or None,
        before=asked.query.get("before", ""),
        newest_first=True,
        limit=size + 1,
    )
    opened = [one for one in found[:size] if one.is_opened]
    cards = cards_of(site, opened, statuses)
    groups: dict[str, list[Document]] = {}
    for card in cards:
        groups.setdefault(card["task_id"], []).append(card)
    older = found[size - 1].place if len(found) > size else ""
    return Page(
        "inbox.html",
        "Inbox",
        {"sets": cards, "next": asked.with_query(before=older) if older else None},
        {
            "groups": list(groups.values()),
            "show": name,
            "tabs": [(one, title) for one, (_, _, title) in VIEWS.items()],
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if asked.query.get("before") else "",
            "has_agents": bool(cards) or site.has_agents(),
            "labels": site.labels() if cards else [],
        },
    )


def open_cards(site: Site, task_id: str) -> list[Document]:
    """The open proposals of one task, for its page and its agent's."""
    sets: list[SetDocument] = []
    for agent in site.all_of(task_id):
        for wake in site.home.views.page(wakes.VIEW, shelf=agent.id, newest_first=True, limit=50):
            one = site.home.views.get(inbox.VIEW, wake.set_id)
            if one is not None and one.is_open:
                sets.append(one)
    return cards_of(site, sets, ("pending", "confirming", "deferred"))


def cards_of(site: Site, sets: Sequence[SetDocument], statuses: Iterable[str]) -> list[Document]:
    """Change sets with those of their items that have such a status."""
    wanted = set(statuses)
    shown = [one for one in sets if any(item.status in wanted for item in one.items)]
    documents = set_documents(site.home, shown, is_all=True)
    return [
        _card(site, one, document, wanted) for one, document in zip(shown, documents, strict=True)
    ]


def _card(site: Site, one: SetDocument, document: Document, wanted: set[str]) -> Document:
    items = [
        {**told, **_more(one, item, told)}
        for item, told in zip(one.items, document["items"], strict=True)
        if item.status in wanted
    ]
    return {**document, "items": items, "why": _why(site, one)}


def _more(one: SetDocument, item: Item, told: Document) -> Document:
    return {
        "set_id": one.id,
        "number": item.number,
        "version": version_of(item),
        "decided_at": item.decided_at or None,
        "decided_by": item.decided_by or None,
        "error_code": item.error_code or None,
        "fields": fields_of(item.tool, told["arguments"]) if item.status != "confirmed" else [],
    }


def version_of(item: Item) -> str:
    """What a form was made from: another one is found where somebody decided meanwhile."""
    parts = (item.status, str(item.confirmation), item.decided_at, item.error_code, item.reason)
    return key("item version", *parts)[:VERSION_SHOWN]


def _why(site: Site, one: SetDocument) -> Any:
    """What the agent said in the wake that made the set."""
    wake = site.home.views.get(wakes.VIEW, one.run_key)
    report = wake_document(site.home, wake)["report"] if wake else None
    return report["tldr"] if report else None
