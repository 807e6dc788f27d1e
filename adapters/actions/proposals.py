"""Which items of the inbox a person means: SET.ITEM, a whole set, or all of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.likeness import Name
from adapters.actions.naming import PREFIX_MIN, by_words
from adapters.text.common import typed
from domain.errors import Refused, Remedy

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.changes.change_set import Item
    from projections.inbox import SetDocument


class Named(NamedTuple):
    """An item that a person decides on. `nth`: its place among all that they name, the decided
    ones too, so that a retry under the same key finds its own. `is_meant`: it is still open, or
    named by its number."""

    set_id: str
    number: int
    ref: str
    nth: int
    is_meant: bool = True


def named_items(home: "Home", verb: str, refs: Sequence[str], *, is_all: bool) -> list[Named]:
    """The items that a command line means, in order.

    Raises:
        Refused: Code ``needs_all``, ``unknown_set``, ``unknown_item``, ``ambiguous`` or
            ``invalid_value``.
    """
    from adapters.documents.inbox import all_sets, set_name, set_of
    from adapters.documents.ranks import ranks_of
    from domain.changes.change_set import OPEN, is_waiting

    ranked = ranks_of(home)
    if not refs and not is_all:
        because = f"it is not said what to {verb}"
        instead = f"name an item (`wakelog {verb} 3.1`), a set (`3 --all`), or all (`--all`)"
        raise Refused("invalid_value", because=because, instead=instead)
    found: list[Named] = []
    picked = [pick_item(home, ref, ranked) for ref in refs]
    asked = [(set_of(home, one), number) for one, number in picked]
    now = home.services.clock.now()
    for one, number in asked or [(one, 0) for one in all_sets(home)]:
        name = set_name(ranked, one.id)
        items = [item for item in one.items if number in (0, item.number)]
        _check(one, items, name, number, verb, is_all=is_all)
        for item in items:
            is_meant = item.status in OPEN if refs else is_waiting(item, now)
            ref, is_meant = f"{name}.{item.number}", bool(number) or is_meant
            found.append(Named(one.id, item.number, ref, len(found) + 1, is_meant))
    return found


def _check(
    one: "SetDocument", items: "Sequence[Item]", name: str, number: int, verb: str, *, is_all: bool
) -> None:
    from domain.changes.change_set import is_open

    if number and not items:
        because = f"the set {name} has no item {number}, only 1 to {len(one.items)}"
        instead = Remedy("see_all_proposals")
        raise Refused("unknown_item", because=because, instead=instead)
    if number or is_all:
        return
    first = next((item.number for item in items if is_open(item)), 1)
    raise Refused(
        "needs_all",
        because=f"the set {name} has {len(items)} item{'' if len(items) == 1 else 's'}",
        instead=f"use `wakelog {verb} {typed(f'{name}.{first}')}` for one, "
        f"or `wakelog {verb} {typed(name)} --all`",
    )


def pick_item(home: "Home", ref: str, ranked: dict[str, int]) -> tuple[str, int]:
    """A set's id and an item's number, 0 for the whole set. Words name the sets of a task, those
    with something open before the others."""
    from adapters.documents.ranks import Ranks
    from projections.inbox import VIEW

    machine, slash, rest = ref.rpartition("/")  # a machine may be called by a name with a point
    rest, dot, digits = rest.partition(".")
    name = f"{machine}{slash}{rest}"
    if dot and not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) < 100_000):
        because = f"{ref!r} names no item"
        raise Refused("invalid_value", because=because, instead="write SET.ITEM, 3.1 for example")
    wanted = name.lower()
    plain = [one for one, rank in ranked.items() if str(rank) == wanted]
    found = ranked.meant(name) if isinstance(ranked, Ranks) else plain
    if not found and len(wanted) >= PREFIX_MIN:
        found = [one.id for one in home.views.page(VIEW, prefix=wanted) if one.is_opened]
    if len(found) > 1:
        because = f"{name!r} begins {len(found)} sets"
        instead = "use more of the id"
        if slash:
            because = f"{machine!r} is the name of {len(found)} machines"
            instead = "name the machine by its own name, see `wakelog replicas`"
        raise Refused("ambiguous", because=because, instead=instead)
    return found[0] if found else _by_task(home, name, ranked), int(digits) if dot else 0


def _by_task(home: "Home", name: str, ranked: dict[str, int]) -> str:
    """The set of the task that words mean."""
    from adapters.documents.inbox import all_sets, set_name
    from adapters.documents.tasks import titles_among
    from domain.changes.change_set import is_open

    sets = all_sets(home)
    titles = titles_among(home, {one.task_id for one in sets})
    names = {set_name(ranked, one.id): one for one in sets}
    groups: list[list[Name]] = [[], []]
    for called, one in names.items():
        group = groups[0 if any(map(is_open, one.items)) else 1]
        group.append(Name(called, (titles.get(one.task_id, ""),)))
    see = Remedy("see_all_proposals")
    return names[by_words(name, groups, "set", "unknown_set", see)].id
