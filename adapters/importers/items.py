"""Which item of a file's task is one that was in it before under another title (ADR 48).

A pure function. Who might be two is none; and nothing is ticked that nobody ticked: an item that
only the person ticked is found again in its place alone, and only by words that both titles have.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from adapters.importers.identity import PAIRS_MAX, is_similar, same_numbers, unambiguous
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.importing import numbered
from domain.journal.task import Item
from domain.text import fold


def with_items(now: ImportedTask, before: ImportedTask, here: Sequence[Item]) -> ImportedTask:
    """A task of a file, its items by their old ids where the file only renamed them, now or ever.

    One that was renamed here since, or archived, is none of these.

    Args:
        now: What the file says.
        before: What it said last.
        here: The items of the task as they are.

    >>> was = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Oil it")))
    >>> sand, oil = numbered(was)
    >>> here = [Item(sand, "c1", "Sand", "import:a"), Item(oil, "c1", "Oil it", "import:a")]
    >>> now = ImportedTask("t1", "Paint", items=(ImportedItem("Sand"), ImportedItem("Oil it all")))
    >>> list(numbered(with_items(now, was, here))) == [sand, oil]
    True
    """
    ids = dict(zip(_places(before), (item.id for item in before.items), strict=True))
    carried = zip(now.items, _places(now), strict=True)
    now = _with_ids(now, [item.id or ids.get(place, "") for item, place in carried])
    said, present = _by_id(before), _by_id(now)
    held = {
        item.id: item
        for item in here
        if item.id in said and item.title == said[item.id].title and not item.is_archived
    }
    others = {fold(item.title) for item in here if item.id not in held}
    known = {*said, *(item.id for item in here)}
    gone = [held[one] for one in said if one in held and one not in present]
    new = [one for one in present if one not in known and fold(present[one].title) not in others]
    if len(gone) * len(new) > PAIRS_MAX:
        return now
    in_place = _in_place(said, present)
    ranks = {
        (was.id, one): rank
        for was in gone
        for one in new
        if (rank := _rank(was, present[one], in_place.get((was.id, one), 0)))
    }
    if not (became := unambiguous(ranks)):
        return now
    now = _with_ids(now, [became.get(one, item.id) for one, item in present.items()])
    return with_items(now, before, here)  # others stand alone between known ones by now


def _rank(was: Item, now: ImportedItem, among: int) -> int:
    """How sure it is that both are one; 0: they are two. `among`: so many are gone, and new, at one
    place, at which both are; 0: they are not at one."""
    if not same_numbers(was.title, now.title):
        return 0
    is_ticked_here = was.is_checked and not now.is_checked
    if is_similar(was.title, now.title) and (among or not is_ticked_here):
        return 3 if among else 2
    is_alone = among == 1 and not is_ticked_here
    return int(is_alone or (among > 0 and _shares(was.title, now.title)))


def _shares(one: str, other: str) -> bool:
    """Whether two titles share half of the words of the shorter one, or more."""
    mine, theirs = set(fold(one).split()), set(fold(other).split())
    return len(mine & theirs) * 2 >= min(len(mine), len(theirs))


def _in_place(said: Collection[str], present: Collection[str]) -> dict[tuple[str, str], int]:
    """What is gone with what is new, where as many of both stand between the same neighbours; and
    how many these are."""
    before, now = _between(said, present), _between(present, said)
    return {
        pair: len(was)
        for place, was in before.items()
        if len(was) == len(now.get(place, ()))
        for pair in zip(was, now[place], strict=True)
    }


def _between(ids: Iterable[str], others: Collection[str]) -> dict[tuple[str, str], list[str]]:
    """What only these have, by the neighbours that both have."""
    found: dict[tuple[str, str], list[str]] = {}
    first, own = "", list[str]()
    for one in (*ids, ""):
        if one and one not in others:
            own.append(one)
            continue
        if own:
            found[first, one] = own
        first, own = one, []
    return found


def _by_id(task: ImportedTask) -> dict[str, ImportedItem]:
    return dict(zip(numbered(task), task.items, strict=True))


def _with_ids(task: ImportedTask, ids: Sequence[str]) -> ImportedTask:
    pairs = zip(task.items, ids, strict=True)
    return replace(task, items=tuple(replace(item, id=one) for item, one in pairs))


def _places(task: ImportedTask) -> list[tuple[str, int]]:
    """The title of each item, and its place among its equals."""
    counts: Counter[str] = Counter()
    found: list[tuple[str, int]] = []
    for item in task.items:
        folded = fold(item.title)
        found.append((folded, counts[folded]))
        counts[folded] += 1
    return found
