"""What agents propose: which items of the inbox a person means, and the verdicts on them.

Items are named as SET.ITEM, a whole set, or all of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from adapters.home import local_times
from adapters.runtime import review
from adapters.text.common import typed
from adapters.usecases.inputs import NONE, beginning, day, minutes
from adapters.usecases.resolve import PREFIX_MIN, Titles, nth_key, pick_by_words
from adapters.usecases.tasks import dispatch_after_commit, edit_task
from domain.changes import change_set as c
from domain.changes.change_set import ChangeItem, has_lapsed, is_open
from domain.changes.commands import ChangesCommand, ConfirmItem, DeferItem, RejectItem
from domain.changes.dependencies import dependency_of
from domain.errors import Refused, Remedy, WakelogError, invalid
from domain.journal.task import PERSON, TASK, Task
from domain.log import canonical
from domain.log.keys import command_key
from domain.log.wire import words
from domain.tools import registry
from projections.operations import VIEW as OPERATIONS

if TYPE_CHECKING:
    from adapters.documents.ranks import Ranks
    from adapters.wiring import Home
    from projections.inbox import SetDocument


class NamedItem(NamedTuple):
    """An item that a person decides on. `nth`: its place among all that they name, the decided
    ones too, so that a retry under the same key finds its own. `is_meant`: it is still open, or
    named by its number."""

    set_id: str
    number: int
    ref: str
    nth: int
    is_meant: bool = True


def named_items(home: "Home", verb: str, refs: Sequence[str], *, is_all: bool) -> list[NamedItem]:
    """The items that a command line means, in order. Raises Refused, code ``needs_all``,
    ``unknown_set``, ``unknown_item``, ``ambiguous`` or ``invalid_value``."""
    from adapters.documents.inbox import all_sets, set_name, set_of
    from adapters.documents.ranks import ranks_of

    ranked = ranks_of(home)
    if not refs and not is_all:
        instead = f"name an item (`wakelog {verb} 3.1`), a set (`3 --all`), or all (`--all`)"
        raise invalid(f"it is not said what to {verb}", instead)
    found: list[NamedItem] = []
    picked = [pick_item(home, ref, ranked) for ref in refs]
    asked = [(set_of(home, one), number) for one, number in picked]
    now = home.services.clock.now()
    for one, number in asked or [(one, 0) for one in all_sets(home)]:
        name = set_name(ranked, one.id)
        items = [item for item in one.items if number in (0, item.number)]
        _check_items(one, items, name, number, verb, is_all=is_all)
        for item in items:
            is_meant = item.status in c.OPEN if refs else c.is_waiting(item, now)
            ref, is_meant = f"{name}.{item.number}", bool(number) or is_meant
            found.append(NamedItem(one.id, item.number, ref, len(found) + 1, is_meant))
    return found


def _check_items(
    one: "SetDocument",
    items: "Sequence[ChangeItem]",
    name: str,
    number: int,
    verb: str,
    *,
    is_all: bool,
) -> None:
    if number and not items:
        because = f"the set {name} has no item {number}, only 1 to {len(one.items)}"
        raise Refused("unknown_item", because=because, instead=Remedy("see_all_proposals"))
    if number or is_all:
        return
    first = next((item.number for item in items if is_open(item)), 1)
    raise Refused(
        "needs_all",
        because=f"the set {name} has {len(items)} item{'' if len(items) == 1 else 's'}",
        instead=f"use `wakelog {verb} {typed(f'{name}.{first}')}` for one, "
        f"or `wakelog {verb} {typed(name)} --all`",
    )


def pick_item(home: "Home", ref: str, ranked: "Ranks") -> tuple[str, int]:
    """A set's id and an item's number, 0 for the whole set. Words name the sets of a task, those
    with something open before the others."""
    from projections.inbox import VIEW

    machine, slash, rest = ref.rpartition("/")  # a machine may be called by a name with a point
    rest, dot, digits = rest.partition(".")
    name = f"{machine}{slash}{rest}"
    if dot and not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) < 100_000):
        raise invalid(f"{ref!r} names no item", "write SET.ITEM, 3.1 for example")
    wanted = name.lower()
    found = ranked.meant(name)
    if not found and len(wanted) >= PREFIX_MIN:
        found = [one.id for one in home.views.page(VIEW, prefix=wanted) if one.is_opened]
    if len(found) > 1:
        because, instead = f"{name!r} begins {len(found)} sets", "use more of the id"
        if slash:
            because = f"{machine!r} is the name of {len(found)} machines"
            instead = "name the machine by its own name, see `wakelog replicas`"
        raise Refused("ambiguous", because=because, instead=instead)
    return found[0] if found else _set_of_task(home, name, ranked), int(digits) if dot else 0


def _set_of_task(home: "Home", name: str, ranked: "Ranks") -> str:
    from adapters.documents.inbox import all_sets, set_name, subject_of, titles_of

    sets = all_sets(home)
    titles = titles_of(home, sets)
    names = {set_name(ranked, one.id): one for one in sets}
    groups: list[list[Titles]] = [[], []]
    for called, one in names.items():
        group = groups[0 if any(map(is_open, one.items)) else 1]
        group.append(Titles(called, (subject_of(one, titles).title,)))
    see = Remedy("see_all_proposals")
    return names[pick_by_words(name, groups, "set", "unknown_set", see)].id


# ----------------------------------------------------------------------------------------- verdicts

VerdictKind = Literal["confirm", "reject", "defer"]
LEADS_TO = {"confirm": "confirmed", "reject": "rejected", "defer": "deferred"}


class ItemVerdict(NamedTuple):
    """What is to become of an item.

    `reason` is for reject and defer: the agent is told. `edit` are other arguments for a confirm,
    canonical JSON; empty: as proposed; None: those in force, and a retry is known whatever was
    said then. `is_anyway`: confirm it though it is stale. `concludes`: of a confirm that is the
    only one under its key, set the task DONE then. `until`: of a defer, when it waits again."""

    kind: VerdictKind
    reason: str = ""
    edit: str | None = ""
    is_anyway: bool = False
    concludes: bool = False
    until: str = ""


class VerdictResult(NamedTuple):
    """What came of a verdict on one item.

    `refused` is what spoke against it, so that nothing was written; `error` and `code` say why
    the item is not as it was wanted, as the log tells it, and are empty where it is."""

    before: ChangeItem
    item: ChangeItem
    is_done: bool
    error: str = ""
    code: str = ""
    refused: WakelogError | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether the item was so already."""
        was, now = self.before, self.item
        return self.is_done and (was.status, was.until) == (now.status, now.until)


def deferral(home: "Home", reason: str = "", until: str = "") -> ItemVerdict:
    """To defer, until a day or a time as a person writes it; without one until it is decided.
    Raises Refused, code ``invalid_value``: it is no time, or is over."""
    at = beginning(until, home) if until.strip() else ""
    if at and at <= home.services.clock.now():
        raise invalid(f"{until!r} is over", "give a day or a time to come")
    return ItemVerdict("defer", reason, until=at)


def decide(
    home: "Home", set_id: str, number: int, verdict: ItemVerdict, key: str = "", nth: int = 1
) -> VerdictResult:
    """Carry one verdict out, whatever a process that is gone left in doubt first. `number`: which
    item of it, from 1; `nth`: which verdict under that key this is. Raises Refused, code
    ``unknown_item``, or ``invalid_value``: there is no task to set done; KeyReused."""
    home.resume_states()
    if verdict.concludes and not review.changes_of(home.services, set_id).task:
        raise invalid("that proposal is about no task that could be done", "leave --conclude out")
    before, own = item_of(home, set_id, number), nth_key(key, nth)
    if verdict.edit:
        verdict = verdict._replace(edit=_with_instants(home, before, verdict.edit))
    if verdict.kind == "reject" and has_lapsed(before):
        return VerdictResult(before, before, is_done=True)  # with what it needed
    named = ("changes", "item") if verdict.edit is None else ()
    said, carry_out = _command_of(home, set_id, number, verdict, own)
    is_repeated = home.services.agents.answered(own, said, named) is not None
    with dispatch_after_commit(home):
        try:
            if before.asked is not None:
                review.recover(home.services, set_id, number)
            if not is_repeated:
                carry_out()
        except WakelogError as refused:
            item = item_of(home, set_id, number)
            return VerdictResult(before, item, is_done=False, refused=refused)
        item = item_of(home, set_id, number)
        is_done = item.status == LEADS_TO[verdict.kind]
        if is_done and verdict.concludes:
            edit_task(home, task_of(home, set_id).id, {"status": "DONE"}, key, nth=nth + 1)
    if is_done:
        return VerdictResult(before, item, is_done=True)
    error = item.error or item.reason or f"it is {item.status}"
    return VerdictResult(before, item, is_done=False, error=error, code=item.error_code)


def decide_all(
    home: "Home", items: Sequence[NamedItem], verdict: ItemVerdict, key: str = ""
) -> Iterator[tuple[NamedItem, VerdictResult]]:
    """Decide one item after the other, each under its own key, see `decide`.

    What was decided already is left out, unless it was so by an earlier run with this key."""
    name = ""
    for one in items:
        item = (one.set_id, one.number)
        if one.is_meant or is_known(home, key, one.nth):
            yield one, decide(home, *item, verdict, key or name, one.nth)
            name = name or ("" if key or len(items) == 1 else _verdict_name(home, *item))


def _verdict_name(home: "Home", set_id: str, number: int) -> str:
    """What the newest verdict on an item is kept under, if it was given without a key; the later
    ones of one deed are named after it, so that all are undone as one."""
    agents = home.services.agents
    rows = agents.facts(f"changes:{set_id}@{agents.replica}")
    verdicts = (c.ItemConfirming, c.ItemRejected, c.ItemDeferred)
    mine = [row.n for row in rows if isinstance(row.fact, verdicts) and row.fact.item == number]
    return command_key("agent", agents.replica, mine[-1]) if mine else ""


def is_known(home: "Home", key: str, nth: int = 1) -> bool:
    """Whether the nth of a caller's key was used before, for this verdict or for something else."""
    return bool(home.services.agents.receipts(nth_key(key, nth)))


def _with_instants(home: "Home", item: ChangeItem, edit: str) -> str:
    """Edited arguments with the instants of their local times; what is no object, as it is."""
    try:
        before, after = canonical.read(arguments_of(home, item)), canonical.read(edit)
    except Refused:  # is told where it is decided
        return edit
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return edit
    zone = home.services.settings.timezone
    return canonical.text(local_times.with_edited_times(item.tool, before, after, zone))


def _command_of(
    home: "Home", set_id: str, number: int, verdict: ItemVerdict, key: str
) -> tuple[ChangesCommand, Callable[[], object]]:
    """The command of a verdict, as far as a person says it: a repeat is known by that; and what
    carries it out."""
    of, edit, reason = (home.services, set_id, number), verdict.edit or "", verdict.reason
    match verdict.kind:
        case "confirm":
            unit = review.changes_of(home.services, set_id).unit
            now = words(unit, edit)[0] if edit else None
            do = partial(review.confirm, *of, edit=edit, is_anyway=verdict.is_anyway, key=key)
            return ConfirmItem(set_id, number, PERSON, 0, now), do
        case "reject":
            do = partial(review.reject, *of, reason, key)
            return RejectItem(set_id, number, PERSON, 0, reason), do
        case "defer":
            do = partial(review.defer, *of, reason, key, until=verdict.until)
            return DeferItem(set_id, number, PERSON, 0, reason, verdict.until), do


FIELDS = {"estimate": "minutes", "estimate_minutes": "minutes", "due_date": "dueDate"}
"""Fields as lists and `--json` call them, whose argument has another name."""
_PAIR = re.compile(r"(?:^|(?<=\s))([A-Za-z_]+)=")


def read_edit(edit: str) -> dict[str, Any]:
    """What `--edit` says: ``minutes=45 due=monday``, its values as they were typed, or JSON.

    Raises:
        Refused: Code ``invalid_value``.

    >>> read_edit("title=Buy grey sealant minutes=1h30")
    {'title': 'Buy grey sealant', 'minutes': '1h30'}
    """
    if _PAIR.match(edit):
        parts = _PAIR.split(edit)[1:]
        return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    try:
        given = canonical.read(edit)
    except WakelogError as error:
        given = error.because
    if isinstance(given, dict):
        return given
    instead = "give what differs, `--edit estimate=45` or '{\"minutes\": 45}' for example"
    raise invalid(f"--edit is no JSON object and no NAME=VALUE: {given}"[:200], instead)


def edited(home: "Home", one: NamedItem, edit: str) -> str:
    """An item's arguments with the edited ones, see `read_edit`, in their place; null takes one
    away."""
    item = item_of(home, one.set_id, one.number)
    known = msgspec.json.decode(arguments_of(home, item))
    given = read_edit(edit)
    if _PAIR.match(edit):
        given = dict(_as_typed(home, item.tool, *pair) for pair in given.items())
    merged = {**known, **given}
    return canonical.text({name: value for name, value in merged.items() if value is not None})


def _as_typed(home: "Home", tool: str, name: str, value: str) -> tuple[str, Any]:
    """An argument's name, of which the beginning does, or the field's that it sets, and its value
    as options read it."""
    names = registry.CHANGES[tool].arguments.__struct_encode_fields__
    name = FIELDS[name] if FIELDS.get(name) in names else name
    begun = [one for one in names if one.startswith(name)]
    name = name if name in names or len(begun) != 1 else begun[0]
    if value.lower() == NONE:
        return name, None
    if name == "minutes":
        return name, minutes(value)
    if name == "dueDate":
        return name, day(value, home)
    is_truth = name.startswith("is") and value.lower() in ("true", "false")
    return name, value.lower() == "true" if is_truth else value


def in_flight_sets(home: "Home") -> list[str]:
    """The change sets with an effect that was asked for and not answered."""
    owners = home.views.page(OPERATIONS, shelf="in_flight")
    return [one.owner for one in owners if one.owner != one.run_key]


def item_of(home: "Home", set_id: str, number: int) -> ChangeItem:
    """An item as it is now. Raises Refused, code ``unknown_item``."""
    item = c.find(review.changes_of(home.services, set_id), number)
    if item is None:
        because = f"there is no proposal {f'{set_id}.{number}'[:40]!r}"
        raise Refused("unknown_item", because=because, instead=Remedy("see_all_proposals"))
    return item


def lapsed_with(home: "Home", set_id: str, number: int) -> list[ChangeItem]:
    """The items that ended because they needed this one, which is not to be."""
    changes = review.changes_of(home.services, set_id)
    needs = ((one, dependency_of(changes, one)) for one in changes.items if has_lapsed(one))
    return [one for one, need in needs if need is not None and need.number == number]


def task_of(home: "Home", set_id: str) -> Task:
    task_id = review.changes_of(home.services, set_id).task
    with home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def arguments_of(home: "Home", item: ChangeItem) -> str:
    """The arguments of an item that are in force; canonical JSON."""
    return review.arguments_of(home.services, item)
