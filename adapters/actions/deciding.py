"""A person's verdicts on what agents propose: confirm, reject or defer, one item or many."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from adapters.actions.hearing import heard
from adapters.actions.inputs import beginning
from adapters.actions.naming import nth_key
from adapters.actions.proposals import Named
from adapters.actions.tasks import edit_task
from adapters.home import local_times
from adapters.runtime import review
from domain import canonical
from domain.changes.change_set import Item, find, has_lapsed
from domain.changes.commands import ChangesCommand, ConfirmItem, DeferItem, RejectItem
from domain.changes.events import ItemConfirming, ItemDeferred, ItemRejected
from domain.changes.needs import need_of
from domain.errors import Refused, Remedy, WakelogError, invalid
from domain.journal.fold import TASK
from domain.journal.task import PERSON, Task
from domain.keys import command_key
from domain.wire import words

if TYPE_CHECKING:
    from adapters.wiring import Home

Kind = Literal["confirm", "reject", "defer"]
LEADS_TO = {"confirm": "confirmed", "reject": "rejected", "defer": "deferred"}


class Verdict(NamedTuple):
    """What is to become of an item.

    `reason` is for reject and defer: the agent is told. `edit` are other arguments for a confirm,
    canonical JSON; empty: as proposed; None: those in force, and a retry is known whatever was
    said then. `is_anyway`: confirm it though it is stale. `concludes`: of a confirm that is the
    only one under its key, set the task DONE then. `until`: of a defer, when it waits again.
    """

    kind: Kind
    reason: str = ""
    edit: str | None = ""
    is_anyway: bool = False
    concludes: bool = False
    until: str = ""


class Decided(NamedTuple):
    """What came of a verdict on one item.

    `refused` is what spoke against it, so that nothing was written; `error` and `code` say why
    the item is not as it was wanted, as the log tells it, and are empty where it is.
    """

    before: Item
    item: Item
    is_done: bool
    error: str = ""
    code: str = ""
    refused: WakelogError | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether the item was so already."""
        was, now = self.before, self.item
        return self.is_done and (was.status, was.until) == (now.status, now.until)


def put_off(home: "Home", reason: str = "", until: str = "") -> Verdict:
    """To defer, until a day or a time as a person writes it; without one until it is decided.

    Raises:
        Refused: Code ``invalid_value``: it is no time, or is over.
    """
    at = beginning(until, home) if until.strip() else ""
    if at and at <= home.services.clock.now():
        raise invalid(f"{until!r} is over", "give a day or a time to come")
    return Verdict("defer", reason, until=at)


def decide(
    home: "Home", set_id: str, number: int, verdict: Verdict, key: str = "", nth: int = 1
) -> Decided:
    """Carry one verdict out, whatever a process that is gone left in doubt first.

    Args:
        home: Where.
        set_id: The change set.
        number: Which item of it, from 1.
        verdict: What is to become of it.
        key: The caller's idempotency key.
        nth: Which verdict under that key this is.

    Raises:
        Refused: Code ``unknown_item``.
        KeyReused: The key stands for something else.
    """
    before, own = item_of(home, set_id, number), nth_key(key, nth)
    if verdict.edit:
        verdict = verdict._replace(edit=_resolved(home, before, verdict.edit))
    if verdict.kind == "reject" and has_lapsed(before):
        return Decided(before, before, is_done=True)  # with what it needed
    named = ("changes", "item") if verdict.edit is None else ()
    said = _said(home, set_id, number, verdict)
    is_repeated = home.services.agents.answered(own, said, named) is not None
    with heard(home):
        try:
            if before.asked is not None:
                review.recover(home.services, set_id, number)
            if not is_repeated:
                _carry_out(home, set_id, number, verdict, own)
        except WakelogError as refused:
            return Decided(before, item_of(home, set_id, number), is_done=False, refused=refused)
        item = item_of(home, set_id, number)
        is_done = item.status == LEADS_TO[verdict.kind]
        if is_done and verdict.concludes:
            edit_task(home, task_of(home, set_id).id, {"status": "DONE"}, key, nth=nth + 1)
    if is_done:
        return Decided(before, item, is_done=True)
    error = item.error or item.reason or f"it is {item.status}"
    return Decided(before, item, is_done=False, error=error, code=item.error_code)


def decide_all(
    home: "Home", items: Sequence[Named], verdict: Verdict, key: str = ""
) -> Iterator[tuple[Named, Decided]]:
    """Decide one item after the other, each under its own key, see `decide`.

    What was decided already is left out, unless it was so by an earlier run with this key.
    """
    name = ""
    for one in items:
        item = (one.set_id, one.number)
        if one.is_meant or is_known(home, key, one.nth):
            yield one, decide(home, *item, verdict, key or name, one.nth)
            name = name or ("" if key or len(items) == 1 else _name(home, *item))


def _name(home: "Home", set_id: str, number: int) -> str:
    """What the newest verdict on an item is kept under, if it was given without a key; the later
    ones of one deed are named after it, so that all are undone as one."""
    agents = home.services.agents
    rows = agents.facts(f"changes:{set_id}@{agents.replica}")
    verdicts = (ItemConfirming, ItemRejected, ItemDeferred)
    mine = [row.n for row in rows if isinstance(row.fact, verdicts) and row.fact.item == number]
    return command_key("agent", agents.replica, mine[-1]) if mine else ""


def is_known(home: "Home", key: str, nth: int = 1) -> bool:
    """Whether the nth of a caller's key was used before, for this verdict or for something else."""
    return bool(home.services.agents.receipts(nth_key(key, nth)))


def _resolved(home: "Home", item: Item, edit: str) -> str:
    """Edited arguments with the instants of their local times; what is no object, as it is."""
    try:
        before, after = canonical.read(arguments_of(home, item)), canonical.read(edit)
    except Refused:  # is told where it is decided
        return edit
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return edit
    zone = home.services.settings.timezone
    return canonical.text(local_times.edited(item.tool, before, after, zone))


def _said(home: "Home", set_id: str, number: int, verdict: Verdict) -> ChangesCommand:
    """The command of a verdict, as far as a person says it: a repeat is known by that."""
    match verdict.kind:
        case "confirm":
            task, edit = review.changes_of(home.services, set_id).task, verdict.edit
            return ConfirmItem(set_id, number, PERSON, 0, words(task, edit)[0] if edit else None)
        case "reject":
            return RejectItem(set_id, number, PERSON, 0, verdict.reason)
        case "defer":
            return DeferItem(set_id, number, PERSON, 0, verdict.reason, verdict.until)


def _carry_out(home: "Home", set_id: str, number: int, verdict: Verdict, key: str) -> None:
    services, edit, is_anyway = home.services, verdict.edit or "", verdict.is_anyway
    match verdict.kind:
        case "confirm":
            review.confirm(services, set_id, number, edit=edit, is_anyway=is_anyway, key=key)
        case "reject":
            review.reject(services, set_id, number, verdict.reason, key)
        case "defer":
            until = verdict.until
            review.defer(services, set_id, number, verdict.reason, key, until=until)


def item_of(home: "Home", set_id: str, number: int) -> Item:
    """An item as it is now.

    Raises:
        Refused: Code ``unknown_item``.
    """
    item = find(review.changes_of(home.services, set_id), number)
    if item is None:
        because = f"there is no proposal {f'{set_id}.{number}'[:40]!r}"
        raise Refused("unknown_item", because=because, instead=Remedy("see_all_proposals"))
    return item


def lapsed_with(home: "Home", set_id: str, number: int) -> list[Item]:
    """The items that ended because they needed this one, which is not to be."""
    changes = review.changes_of(home.services, set_id)
    needs = ((one, need_of(changes, one)) for one in changes.items if has_lapsed(one))
    return [one for one, need in needs if need is not None and need.number == number]


def task_of(home: "Home", set_id: str) -> Task:
    """The task that a change set is about, as it is now."""
    task_id = review.changes_of(home.services, set_id).task
    with home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def arguments_of(home: "Home", item: Item) -> str:
    """The arguments of an item that are in force; canonical JSON."""
    return review.arguments_of(home.services, item)
