"""The inbox: what agents propose as cards, each item with its old and new value, in a list, and
one of them beside it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from adapters.documents.inbox import (
    InboxItem,
    InboxSet,
    documents_of,
    is_under,
    sets_now,
    sets_under,
    value_before,
)
from adapters.documents.lessons import rules_offered
from adapters.documents.policy import unheard
from adapters.documents.ranks import ranks_of
from adapters.documents.tasks import catalog_of, task_page, titles_among
from adapters.documents.wakes import wake_document
from adapters.text.improving import kind_of
from adapters.text.policy import in_vain
from adapters.usecases.proposals import pick_item
from adapters.web import cards
from adapters.web.http_types import FormRequest, Page, made_from, missing
from adapters.web.reports import ReportPart, report_of
from adapters.web.site import Site, page_size
from domain.changes.change_set import OPEN, ChangeItem, find
from domain.changes.dependencies import dependency_of
from domain.journal.document import TaskLine, category_name, task_line
from projections import inbox, tasks, wakes
from projections.agents import AgentDocument
from projections.inbox import TABS, SetDocument

OPEN_SHOWN = 50  # sets of one task, on its page

ItemRef = tuple[str, int]
"""A proposal: its set's id, and its number."""
Shows = Callable[[SetDocument, ChangeItem], bool]


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
    told: cards.CardDetails
    after: str | None
    line: str
    proposed: cards.ProposedBefore | None


class Card(InboxSet, frozen=True):
    """A change set on a page; `why` is what the agent said in the wake that made it."""

    items: Sequence[CardItem]
    why: str | None
    agent_name: str


def open_cards(site: Site, asked: FormRequest, about: str) -> list[Card]:
    """The open proposals of one task, for its page and its agent's; or of a day, ``day:DATE``."""
    tabs = ("waiting", "deferred")
    sets = sets_under(site.home, *tabs, task=about, limit=OPEN_SHOWN)
    found = ((one, site.home.views.get(inbox.VIEW, one[0])) for one in kept_on(site, asked))
    kept = [one for one, known in found if known is not None and known.about == about]
    return cards_of(site, sets, [status for tab in tabs for status in TABS[tab]], kept)


def agent_cards(site: Site, asked: FormRequest, agent: AgentDocument) -> list[Card]:
    """What waits of an agent's task; of an agent without one, what waits of its own."""
    if agent.task_id:
        return open_cards(site, asked, agent.task_id)
    found = (site.home.views.get(inbox.VIEW, one) for one in agent.agent.sets[::-1])
    sets = [one for one in found if one is not None and one.is_open]
    return cards_of(site, sets[:OPEN_SHOWN], OPEN, kept_on(site, asked))


def kept_on(site: Site, asked: FormRequest) -> Sequence[ItemRef]:
    """What was decided by the form that led to a page: it keeps its place there."""
    told = site.told(asked.query.get("told", ""))
    return told.kept if told is not None and asked.query.get("kept") != "no" else ()


def cards_of(
    site: Site, sets: Sequence[SetDocument], statuses: Iterable[str], kept: Collection[ItemRef] = ()
) -> list[Card]:
    """The cards of those items that have such a status, see `cards_where`."""
    wanted = set(statuses)
    return cards_where(site, sets, lambda _, item: item.status in wanted, kept)


def card_of(site: Site, set_id: str, number: int, *, is_kept: bool) -> Card:
    """The card of one item that is there."""
    found = site.home.views.get(inbox.VIEW, set_id)
    assert found is not None, set_id
    kept = [(set_id, number)] if is_kept else []

    def is_it(_: SetDocument, item: ChangeItem) -> bool:  # what was taken back waits again
        return item.number == number and (not is_kept or item.status == "pending")

    (card,) = cards_where(site, [found], is_it, kept)
    return card


def with_kept(
    site: Site, sets: Sequence[SetDocument], kept: Collection[ItemRef]
) -> list[SetDocument]:
    """Change sets, the newest first, with those of which something was decided a moment ago."""
    by_id = {one.id: one for one in sets}
    for set_id, _ in kept:
        found = site.home.views.get(inbox.VIEW, set_id)
        if found is not None:
            by_id.setdefault(set_id, found)
    return sorted(by_id.values(), key=inbox.VIEW.place, reverse=True)


def cards_where(
    site: Site, sets: Sequence[SetDocument], wanted: Shows, kept: Collection[ItemRef] = ()
) -> list[Card]:
    """Change sets, the newest first, with those of their items that are wanted, or `kept`:
    decided a moment ago, in whatever set.
    """

    def shows(one: SetDocument, item: ChangeItem) -> bool:
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
    site: Site,
    one: SetDocument,
    document: InboxSet,
    shown: Sequence[ChangeItem],
    kept: Collection[ItemRef],
) -> Card:
    items = [
        _card_item(site, one, item, told, is_kept=(one.id, item.number) in kept)
        for item, told in zip(shown, document.items, strict=True)
    ]
    items.sort(key=lambda item: (cards.number_of(item.needs or item.ref), item.number))
    return Card(
        **{**asdict(document), "items": items},
        why=_why(site, one),
        agent_name=site.agent_name(one.agent_id),
    )


def _card_item(
    site: Site, one: SetDocument, item: ChangeItem, told: InboxItem, *, is_kept: bool
) -> CardItem:
    need = dependency_of(one.changes, item)
    if item.status not in OPEN:
        before = value_before(site.home, one.changes, item, told.arguments)
        told = replace(told, now=before)
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
        proposed=cards.proposed_of(item, told),
        after=told.needs if need is not None and need.status != "confirmed" else None,
    )


def version_of(item: ChangeItem) -> str:
    """What a form was made from: another one is found where somebody decided meanwhile."""
    parts = (item.status, str(item.confirmation), item.decided_at, item.error_code, item.reason)
    return made_from(*parts)


def _why(site: Site, one: SetDocument) -> str | None:
    """What the agent said in the wake that made the set."""
    wake = site.home.views.get(wakes.VIEW, one.run_key)
    report = wake_document(site.home, wake).report if wake else None
    return report.tldr if report else None


# ----------------------------------------------------------------------------------------- the list
# The list of the inbox: filtered by words, put in groups, and read by so many at a time.

BY = (("task", "Task"), ("agent", "Agent"), ("tool", "Kind of change"), ("category", "Category"))
"""What proposals can be put in groups by, and what that is called."""
NO_CATEGORY = "No category"


class InboxEntry(NamedTuple):
    """Items of one set that are in one group."""

    group: str
    set: SetDocument
    items: Sequence[ChangeItem]


class InboxGroup(NamedTuple):
    """A part of the list; `href` leads to what it is named after, empty where nothing is."""

    title: str
    href: str
    cards: Sequence[Card]


class InboxNames(NamedTuple):
    """What tasks and agents are called, by id, and the category of each task."""

    tasks: Mapping[str, str]
    agents: Mapping[str, str]
    categories: Mapping[str, str]


def by_of(asked: FormRequest) -> str:
    """What a page's proposals are put in groups by."""
    given = asked.query.get("by", "")
    return given if given in dict(BY) else "task"


def listed(
    site: Site,
    sets: Sequence[SetDocument],
    shows: Shows,
    kept: Collection[ItemRef],
    by: str,
    words: str,
) -> list[InboxEntry]:
    """What of these sets, the newest first, is shown and has all the words in what it says or is
    about, in groups; `kept` was decided a moment ago: it keeps its place.
    """
    names = _names(site, sets, by) if words.strip() or by == "category" else _NOBODY

    def is_wanted(one: SetDocument, item: ChangeItem) -> bool:
        if (one.id, item.number) in kept:
            return True
        about = names.tasks.get(one.task_id, ""), names.agents.get(one.agent_id, "")
        texts = item.summary, item.because, item.tool, *about
        return shows(one, item) and has_words(words, *texts)

    def group(one: SetDocument, item: ChangeItem) -> str:
        match by:
            case "agent":
                return one.agent_id
            case "tool":
                return item.tool
            case "category":
                return names.categories.get(one.task_id, "")
            case _:
                return one.about

    return in_groups(sets, is_wanted, group)


_NOBODY = InboxNames({}, {}, {})


def _names(site: Site, sets: Iterable[SetDocument], by: str) -> InboxNames:
    found = list(sets)
    task_ids = {one.task_id for one in found if one.task_id}
    called = {one: site.agent_name(one) for one in {each.agent_id for each in found}}
    known_tasks = (site.home.views.get(tasks.VIEW, one) for one in task_ids if by == "category")
    categories = {one.id: one.category for one in known_tasks if one is not None}
    return InboxNames(titles_among(site.home, task_ids), called, categories)


def has_words(words: str, *texts: str) -> bool:
    """Whether each of the words stands in one of the texts, in whatever case.

    >>> has_words("due SINK", "Set due date", "Fix the sink"), has_words("x", "Due"), has_words("")
    (True, False, True)
    """
    whole = " ".join(texts).replace("_", " ").casefold()
    return all(word in whole for word in words.casefold().split())


def in_groups(
    sets: Sequence[SetDocument],
    is_wanted: Callable[[SetDocument, ChangeItem], bool],
    group: Callable[[SetDocument, ChangeItem], str],
) -> list[InboxEntry]:
    """What is wanted of sets, the groups in the order of their first item."""
    found: dict[str, dict[str, InboxEntry]] = {}
    for one in sets:
        for item in one.items:
            if is_wanted(one, item):
                name = group(one, item)
                known = found.setdefault(name, {}).get(one.id, InboxEntry(name, one, ()))
                found[name][one.id] = known._replace(items=(*known.items, item))
    return [entry for entries in found.values() for entry in entries.values()]


def fitting(entries: Sequence[InboxEntry], most: int, items_most: int) -> list[InboxEntry]:
    """The first entries, so many and of so many items at most; the first one in any case."""
    found = list(entries[:1])
    for one in entries[1:most]:
        if sum(len(each.items) for each in [*found, one]) > items_most:
            break
        found.append(one)
    return found


def groups_of(
    site: Site, cards: Sequence[Card], entries: Sequence[InboxEntry], by: str
) -> list[InboxGroup]:
    """The cards of a page in the groups of its entries."""
    known = {card.id: card for card in cards}
    found: dict[str, list[Card]] = {}
    for one in entries:
        if (card := known.get(one.set.id)) is None:
            continue
        numbers = {item.number for item in one.items}
        items = [item for item in card.items if item.number in numbers]
        found.setdefault(one.group, []).append(replace(card, items=items))
    return [_group(site, name, those, by) for name, those in found.items()]


def _group(site: Site, name: str, cards: Sequence[Card], by: str) -> InboxGroup:
    match by:
        case "agent":
            return InboxGroup(site.agent_name(name) or name[:8], f"/agents/{name}", cards)
        case "tool":
            return InboxGroup(kind_of(name), "", cards)
        case "category":
            called = category_name(catalog_of(site.home), name) if name else NO_CATEGORY
            return InboxGroup(called or NO_CATEGORY, "", cards)
        case _:
            subject = cards[0].subject
            return InboxGroup(subject.title, subject.path, cards)


# ----------------------------------------------------------------------------------------- the pane
# What stands beside the list of the inbox: one proposal, with its task and report as they are.

OPEN_ITEMS_SHOWN = 6
_NAMED = re.compile(r"[0-9a-z-]{1,64}\.[0-9]{1,5}")


class TaskNow(Struct, frozen=True):
    """A task as it is now; `open_items` are the first that are not checked."""

    line: TaskLine
    description: str
    open_items: list[str]
    is_deleted: bool


class Pane(Struct, frozen=True):
    """A proposal with what a person decides by; of a day with the task that it names. `is_asked`:
    the address names it, so it is shown on a narrow screen, too."""

    item: CardItem
    card: Card
    task: TaskNow | None
    report: ReportPart | None
    is_asked: bool


def named(site: Site, ref: str) -> tuple[str, int]:
    """A set's id and the number of its item, of a reference SET.ITEM, or Refused; one of another
    machine is ``LABEL/RANK.ITEM``.
    """
    ranked = ranks_of(site.home)
    name = ref.rpartition(".")[0]  # a machine may be called by a name with a point
    is_others = name.lower() in map(str.lower, ranked.others.values())
    if not is_others and not _NAMED.fullmatch(ref):
        raise missing("unknown_item", "proposal", ref)
    is_rank = is_others or (name.isdigit() and int(name) <= len(ranked))
    if not is_rank and not site.home.views.page(inbox.VIEW, prefix=name, limit=1):
        raise missing("unknown_item", "proposal", ref)
    set_id, number = pick_item(site.home, ref, ranked)
    known = site.home.views.get(inbox.VIEW, set_id)
    if known is None or find(known.changes, number) is None:
        raise missing("unknown_item", "proposal", ref)
    return set_id, number


def pane_of(site: Site, card: Card, *, is_asked: bool) -> Pane:
    """One proposal with its task as it is now, and what its agent reports."""
    (item,) = card.items
    about = card.task_id or item.target or ""
    now = _task_now(site, about) if about else None
    return Pane(item, card, now, report_of(site, card.agent_id), is_asked)


def _task_now(site: Site, task_id: str) -> TaskNow:
    page = task_page(site.home, task_id)
    open_items = [one.title for one in page.task.items if not (one.is_checked or one.is_archived)]
    return TaskNow(
        task_line(page.task, page.catalog, page.agent_id),
        page.text(page.task.description),
        open_items[:OPEN_ITEMS_SHOWN],
        page.task.is_deleted,
    )


# ----------------------------------------------------------------------------------------- the page
# The inbox: what agents propose in a list, and one of them beside it.

TABS_SHOWN = {
    "": ("waiting", "Waiting"),
    "deferred": ("deferred", "Put off"),
    "decided": ("decided", "Decided"),
}
"""What an address asks for, by its ``show``: a tab, and its title."""
SETS_SHOWN = 50
ITEMS_SHOWN = 100  # at the most, but one set is shown whole
SETS_LOOKED = 500  # that are looked through for words, and put in groups


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/inbox`."""
    asked = asked._replace(path="/inbox")
    at, part = asked.query.get("at", ""), asked.query.get("part")
    if part == "count":  # how many wait: for a notice
        count = {"waiting": site.glance().waiting}
        return Page("inbox_pane.html", "Inbox", count, {"pane": None})
    if part == "rows":
        return _rows_alone(site, asked, at)
    if at and part == "pane":  # the next proposal was chosen
        pane = _pane(site, asked, at, is_asked=True)
        more = {"pane": pane, "labels": site.labels(), "leads_to": asked.with_query}
        return Page("inbox_pane.html", "Inbox", {"proposal": pane}, more)
    name = asked.query.get("show", "")
    name = name if name in TABS_SHOWN else ""
    by, words = by_of(asked), asked.query.get("q", "")
    found = _listing(site, asked, TABS_SHOWN[name][0], by, words)
    groups = groups_of(site, found.cards, found.entries, by)
    every = (item for group in groups for card in group.cards for item in card.items)
    first = next((item.ref for item in every if not item.kept), "")
    pane = _pane(site, asked, at or first, is_asked=bool(at))
    document: dict[str, Any] = {"sets": found.cards, "next": found.next}
    return Page(
        "inbox.html",
        _title(site),
        document | ({"proposal": pane} if at else {}),
        {
            "leads_to": asked.with_query,
            "groups": groups,
            "pane": pane,
            "show": name,
            "by": by,
            "words": words,
            "choices": BY,
            "tabs": [(one, title) for one, (_, title) in TABS_SHOWN.items()],
            "looked": found.looked,
            "offered": rules_offered(site.home, [] if name else found.cards),
            "in_vain": [] if name else [in_vain(one) for one in unheard(site.home)],
            "has_agents": bool(groups) or site.has_agents(),
            "labels": site.labels() if groups or pane else [],
        },
    )


def _title(site: Site) -> str:
    waiting = site.glance().waiting
    return f"({waiting}{site.glance().more}) Inbox" if waiting else "Inbox"


class InboxListing(NamedTuple):
    """A page of the list. `next` leads to the one after it; `looked`: so many sets were looked
    through for it, and there are more."""

    cards: Sequence[Card]
    entries: Sequence[InboxEntry]
    next: str | None
    looked: int


def _listing(site: Site, asked: FormRequest, tab: str, by: str, words: str) -> InboxListing:
    """The proposals under a tab; groups and words are of the newest that can be looked through."""
    size, before = page_size(asked, SETS_SHOWN), asked.query.get("before", "")
    is_plain = by == "task" and not words.strip() and tab != "deferred"
    most = size if is_plain else SETS_LOOKED
    sets = sets_now(site.home, tab, before=before, limit=most + 1)
    is_cut, sets = len(sets) > most, sets[:most]
    kept, now = kept_on(site, asked), site.now

    def is_shown(one: SetDocument, item: ChangeItem) -> bool:
        return is_under(item, tab, now)

    every = listed(site, with_kept(site, sets, kept), is_shown, kept, by, words)
    skip = asked.number("skip")
    entries = fitting(every[skip:], size, ITEMS_SHOWN)
    here = {(one.set.id, item.number) for one in entries for item in one.items}
    cards = cards_where(
        site,
        [one.set for one in entries],
        lambda one, item: (one.id, item.number) in here and is_shown(one, item),
        kept,
    )
    older = None
    if len(every) > skip + len(entries):
        older = asked.with_query(at="", skip=str(skip + len(entries)))
    elif is_cut:
        older = asked.with_query(at="", skip="", before=sets[-1].place)
    return InboxListing(cards, entries, older, len(sets) if is_cut and not is_plain else 0)


def _pane(site: Site, asked: FormRequest, ref: str, *, is_asked: bool) -> Pane | None:
    """What stands beside the list: one proposal, with its task as it is now."""
    if not ref:
        return None
    set_id, number = named(site, ref)
    is_kept = (set_id, number) in kept_on(site, asked)
    return pane_of(site, card_of(site, set_id, number, is_kept=is_kept), is_asked=is_asked)


def _rows_alone(site: Site, asked: FormRequest, ref: str) -> Page:
    """What a verdict changes on a page that stays: the rows that were decided, and what is chosen
    now, beside the list."""
    kept = kept_on(site, asked)
    found = [card_of(site, *one, is_kept=True) for one in kept]
    is_more = any(_touches_others(site, *one) for one in kept)
    return Page(
        "inbox_rows.html",
        _title(site),
        {"sets": found},
        {
            "pane": _pane(site, asked, ref, is_asked=True),
            "by": by_of(asked),
            "labels": site.labels() if ref else [],
            "leads_to": asked.with_query,
            "was": "" if is_more else asked.query.get("was", ""),
        },
    )


def _touches_others(site: Site, set_id: str, number: int) -> bool:
    """Whether a verdict may have changed what other rows say: the page asks for all of them."""
    found = site.home.views.get(inbox.VIEW, set_id)
    item = find(found.changes, number) if found else None
    if found is None or item is None:
        return False
    others = sets_under(site.home, "waiting", "deferred", task=found.about, limit=OPEN_SHOWN)
    return any(
        other.tool == item.tool
        for one in others
        for other in one.items
        if other.status in OPEN and (one.id, other.number) != (set_id, number)
    ) or any(dependency_of(found.changes, other) == item for other in found.items)
