"""Which items a person's verdict means, and carrying it out, one item after the other."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.naming import PREFIX_MIN, nth_key
from adapters.cli.shared import Session
from adapters.text.common import safe
from domain.errors import Refused, WakelogError

if TYPE_CHECKING:
    from adapters.documents.agents import Document
    from adapters.wiring import Home
    from domain.changes.change_set import Item
    from projections.inbox import SetDocument

SET_SHOWN = 8  # characters of a set's id in the core's messages, which know no ranks
OPEN = ("pending", "deferred", "confirming")


class Named(NamedTuple):
    """An item that a person decides on. `nth`: its place among all that the command names, the
    decided ones too, so that a retry under the same key finds its own."""

    set_id: str
    number: int
    ref: str
    nth: int


def _named(home: "Home", verb: str, refs: Sequence[str], *, is_all: bool) -> list[Named]:
    """The items that a command line means, in order.

    Raises:
        Refused: Code ``needs_all``, ``unknown_set``, ``unknown_item``, ``ambiguous`` or
            ``invalid_value``.
    """
    from adapters.documents.agents import all_sets, ranks_of, set_name

    ranked = ranks_of(home)
    sets = {one.id: one for one in all_sets(home)}
    if not refs and not is_all:
        because = f"it is not said what to {verb}"
        instead = f"name an item (`wakelog {verb} 3.1`), a set (`3 --all`), or all (`--all`)"
        raise Refused("invalid_value", because=because, instead=instead)
    found: list[Named] = []
    asked = [pick_item(ref, sets, ranked) for ref in refs] or [(one, 0) for one in sets]
    nth = 0
    for set_id, number in asked:
        one, name = sets[set_id], set_name(ranked, set_id)
        items = [item for item in one.items if number in (0, item.number)]
        _check(one, items, name, number, verb, is_all=is_all)
        for item in items:
            nth += 1
            if number or item.status in (OPEN if refs else ("pending", "confirming")):
                found.append(Named(set_id, item.number, f"{name}.{item.number}", nth))
            else:
                found.append(Named(set_id, item.number, "", nth))
    return found


def _check(
    one: "SetDocument", items: "Sequence[Item]", name: str, number: int, verb: str, *, is_all: bool
) -> None:
    if number and not items:
        because = f"the set {name} has no item {number}, only 1 to {len(one.items)}"
        instead = "see `wakelog inbox --all`"
        raise Refused("unknown_item", because=because, instead=instead)
    if number or is_all:
        return
    first = next((item.number for item in items if item.status in OPEN), 1)
    raise Refused(
        "needs_all",
        because=f"the set {name} has {len(items)} item{'' if len(items) == 1 else 's'}",
        instead=f"use `wakelog {verb} {name}.{first}` for one, or `wakelog {verb} {name} --all`",
    )


def pick_item(ref: str, sets: Collection[str], ranked: dict[str, int]) -> tuple[str, int]:
    """A set's id and an item's number, 0 for the whole set."""
    name, dot, digits = ref.partition(".")
    if dot and not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) < 100_000):
        because = f"{ref!r} names no item"
        raise Refused("invalid_value", because=because, instead="write SET.ITEM, 3.1 for example")
    wanted = name.lower()
    found = [one for one, rank in ranked.items() if str(rank) == wanted]
    if not found and len(wanted) >= PREFIX_MIN:
        found = [one for one in sets if one.startswith(wanted)]
    if len(found) > 1:
        because = f"{name!r} begins {len(found)} sets"
        raise Refused("ambiguous", because=because, instead="use more of the id")
    if not found:
        because = f"there is no set {name!r}"
        raise Refused("unknown_set", because=because, instead="see `wakelog inbox --all`")
    return found[0], int(digits) if dot else 0


# ---------------------------------------------------------------------------------------- verdicts


class Verdict(NamedTuple):
    """What a command does with each item."""

    verb: str  # "confirm"
    status: str  # that it leads to
    command: type
    decide: "Callable[[Home, Named, str], Item | None]"
    said: "Callable[[Home, Named], dict[str, object]]"  # with it, so that a retry is known
    is_strict: bool = False  # a refusal ends it, for one item whose arguments may be wrong


def decide(
    session: Session, verdict: Verdict, refs: Sequence[str], key: str, *, is_all: bool
) -> int:
    """Decide one item after the other, reading anew each time; the exit status."""
    home = session.reading()
    named = _named(home, verdict.verb, refs, is_all=is_all)
    if any(one.ref for one in named) or key:
        home = session.writing()
    results = [one for one in _results(home, verdict, named, key) if one["ref"]]
    if session.as_json:
        session.document({"results": results})
    else:
        for one in results:
            session.say(safe(_line(one)))
        if not results:
            session.say(f"Nothing to {verdict.verb}.")
    return 1 if any(one["error"] for one in results) else 0


def _results(
    home: "Home", verdict: Verdict, named: Sequence[Named], key: str
) -> "Iterator[Document]":
    from adapters.documents.agents import ranks_of, set_name, summary_of
    from adapters.runtime import retries, review

    ranked = ranks_of(home)
    for one in named:
        nth = nth_key(key, one.nth)
        said = {"changes": one.set_id, "item": one.number, **verdict.said(home, one)}
        is_retry = retries.before(home.desk.agents, nth, verdict.command, **said) is not None
        if not one.ref and not is_retry:
            continue
        ref = one.ref or f"{set_name(ranked, one.set_id)}.{one.number}"
        before = item_of(home, one)
        error = ""
        try:
            if before.asked is not None:  # a process that is gone left it in doubt
                review.recover(home.desk, one.set_id)
            if not is_retry:
                verdict.decide(home, one, nth)
        except WakelogError as refused:
            if verdict.is_strict and refused.code in ("invalid_value", "invalid_input"):
                raise
            error = str(refused).replace(f"{one.set_id[:SET_SHOWN]}.{one.number}", ref)
        item = item_of(home, one)
        yield {
            "ref": ref,
            "status": item.status,
            "error": error or _why_not(item, verdict, ref) or None,
            "summary": summary_of(home, one.set_id, item),
            "unchanged": not error and before.status == item.status == verdict.status,
        }


def item_of(home: "Home", one: Named) -> "Item":
    """An item as it is now."""
    from adapters.runtime import review
    from domain.changes.change_set import find

    item = find(review.changes_of(home.desk, one.set_id), one.number)
    assert item is not None, one.ref
    return item


def _why_not(item: "Item", verdict: Verdict, ref: str) -> str:
    """Why an item is not as the person wanted it; empty if it is."""
    if item.status == verdict.status:
        return ""
    told = item.error or item.reason or f"it is {item.status}"
    if instead := _instead(item, verdict, ref):
        told = f"{told.rstrip('.')}; {instead}"
    return f"{told} [{item.error_code}]" if item.error_code else told


def _instead(item: "Item", verdict: Verdict, ref: str) -> str:
    """What the person can do about a failure that they alone can mend."""
    match item.error_code, item.tool:
        case "stale", _:
            again = " and the same --edit" if verdict.is_strict else ""
            return f"look at the task, then `wakelog confirm {ref} --anyway`{again}"
        case "out_of_scope", _:
            return "move the task back, or `wakelog agent set AGENT --category C`"
        case "limit", "assign_task_label":
            return f"make room with `wakelog label remove`, or reject {ref}"
        case "sovereignty", "assign_task_label":
            return f"`wakelog label allow` takes that back; else reject {ref}"
        case "sovereignty", "update_checklist_item":
            return f'`wakelog confirm {ref} --edit \'{{"reason": "..."}}\'` gives one'
        case _:
            return ""


def _line(result: "Document") -> str:
    head = f"{result['ref']:6} {result['status']}: {result['summary']}"
    if result["error"]:
        return f"{head}\n       not done: {result['error']}"
    return f"{head} (it was already)" if result["unchanged"] else head
