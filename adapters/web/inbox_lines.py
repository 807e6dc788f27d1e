"""The list of the inbox: filtered by words, put in groups, and read by so many at a time."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from adapters.documents.tasks import catalog_of, titles_among
from adapters.web.asking import FormRequest
from adapters.web.inbox import Card, Ref, Shows
from adapters.web.site import Site
from domain.changes.change_set import Item
from domain.journal.document import category_name
from projections import agents, tasks
from projections.inbox import SetDocument

BY = (("task", "Task"), ("agent", "Agent"), ("tool", "Kind of change"), ("category", "Category"))
"""What proposals can be put in groups by, and what that is called."""
NO_CATEGORY = "No category"


class Entry(NamedTuple):
    """Items of one set that are in one group."""

    group: str
    set: SetDocument
    items: Sequence[Item]


class Group(NamedTuple):
    """A part of the list; `href` leads to what it is named after, empty where nothing is."""

    title: str
    href: str
    cards: Sequence[Card]


class Names(NamedTuple):
    """What tasks and agents are called, by id, and the category of each task."""

    tasks: Mapping[str, str]
    agents: Mapping[str, str]
    categories: Mapping[str, str]


def by_of(asked: FormRequest) -> str:
    """What a page's proposals are put in groups by."""
    given = asked.query.get("by", "")
    return given if given in dict(BY) else "task"


def skipped(asked: FormRequest) -> int:
    """How many entries of the list stand on earlier pages."""
    given = asked.query.get("skip", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0


def listed(
    site: Site,
    sets: Sequence[SetDocument],
    shows: Shows,
    kept: Collection[Ref],
    by: str,
    words: str,
) -> list[Entry]:
    """What of these sets is shown and has the words, in groups.

    Args:
        site: Where.
        sets: Which, the newest first.
        shows: Whether an item is under the tab.
        kept: What was decided a moment ago: it keeps its place.
        by: What they are put in groups by.
        words: All of them must be in what a proposal says or is about.
    """
    names = _names(site, sets, by) if words.strip() or by == "category" else _NOBODY

    def is_wanted(one: SetDocument, item: Item) -> bool:
        if (one.id, item.number) in kept:
            return True
        about = names.tasks.get(one.task_id, ""), names.agents.get(one.agent_id, "")
        texts = item.summary, item.because, item.tool, *about
        return shows(one, item) and has_words(words, *texts)

    def group(one: SetDocument, item: Item) -> str:
        match by:
            case "agent":
                return one.agent_id
            case "tool":
                return item.tool
            case "category":
                return names.categories.get(one.task_id, "")
            case _:
                return one.task_id

    return in_groups(sets, is_wanted, group)


_NOBODY = Names({}, {}, {})


def _names(site: Site, sets: Iterable[SetDocument], by: str) -> Names:
    found = list(sets)
    task_ids = {one.task_id for one in found}
    known = {
        one: site.home.views.get(agents.VIEW, one) for one in {each.agent_id for each in found}
    }
    called = {one: agent.name for one, agent in known.items() if agent is not None}
    return Names(titles_among(site.home, task_ids), called, _categories(site, task_ids, by))


def _categories(site: Site, task_ids: Iterable[str], by: str) -> dict[str, str]:
    if by != "category":
        return {}
    known = (site.home.views.get(tasks.VIEW, one) for one in task_ids)
    return {one.id: one.category for one in known if one is not None}


def has_words(words: str, *texts: str) -> bool:
    """Whether each of the words stands in one of the texts, in whatever case.

    >>> has_words("due SINK", "Set due date", "Fix the sink"), has_words("x", "Due"), has_words("")
    (True, False, True)
    """
    whole = " ".join(texts).replace("_", " ").casefold()
    return all(word in whole for word in words.casefold().split())


def in_groups(
    sets: Sequence[SetDocument],
    is_wanted: Callable[[SetDocument, Item], bool],
    group: Callable[[SetDocument, Item], str],
) -> list[Entry]:
    """What is wanted of sets, the groups in the order of their first item."""
    found: dict[str, dict[str, Entry]] = {}
    for one in sets:
        for item in one.items:
            if is_wanted(one, item):
                name = group(one, item)
                known = found.setdefault(name, {}).get(one.id, Entry(name, one, ()))
                found[name][one.id] = known._replace(items=(*known.items, item))
    return [entry for entries in found.values() for entry in entries.values()]


def fitting(entries: Sequence[Entry], most: int, items_most: int) -> list[Entry]:
    """The first entries, so many and of so many items at most; the first one in any case."""
    found = list(entries[:1])
    for one in entries[1:most]:
        if sum(len(each.items) for each in [*found, one]) > items_most:
            break
        found.append(one)
    return found


def groups_of(site: Site, cards: Sequence[Card], entries: Sequence[Entry], by: str) -> list[Group]:
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


def kind_of(tool: str) -> str:
    """What changes by a tool are called together.

    >>> kind_of("update_task_due_date"), kind_of("add_checklist_item")
    ('Due date', 'Add checklist item')
    """
    name = tool.removeprefix("update_task_").removeprefix("set_task_")
    return name.replace("_", " ").capitalize()


def _group(site: Site, name: str, cards: Sequence[Card], by: str) -> Group:
    match by:
        case "agent":
            agent = site.home.views.get(agents.VIEW, name)
            return Group(agent.name if agent else name[:8], f"/agents/{name}", cards)
        case "tool":
            return Group(kind_of(name), "", cards)
        case "category":
            called = category_name(catalog_of(site.home), name) if name else NO_CATEGORY
            return Group(called or NO_CATEGORY, "", cards)
        case _:
            return Group(cards[0].task_title, f"/tasks/{name}", cards)
