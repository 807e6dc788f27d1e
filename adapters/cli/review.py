"""`wakelog inbox`: what agents propose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.actions.naming import pick_task
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.documents.agents import all_agents
from adapters.documents.inbox import all_sets, open_sets, set_documents
from adapters.text.common import safe
from domain.text import squeeze
from domain.timestamps import seconds_between

if TYPE_CHECKING:
    from adapters.documents.inbox import InboxItem, InboxSet
    from projections.inbox import SetDocument

DECIDED_SHOWN = 200  # of the sets of `inbox --all` that are decided, the newest; --json has all
EMPTY = "Nothing to review."
OPEN = ("pending", "deferred", "confirming")
NO_AGENTS = (
    "Nothing to review: there are no agents yet. "
    "Make some with `wakelog agent create --all`, then run `wakelog wake`."
)


# ----------------------------------------------------------------------------------------- inbox


@click.command(
    "inbox",
    epilog='Examples: wakelog inbox; wakelog inbox "Fix the sink"; then wakelog confirm 3.1',
)
@click.argument("task", type=TEXT, required=False)
@click.option("--all", "is_all", is_flag=True, help="Deferred and decided proposals, too.")
@click.pass_obj
def inbox_command(session: Session, task: str | None, is_all: bool) -> None:
    """See what agents propose, by task. An item is named SET.ITEM, 3.1 for example."""
    home = session.reading()
    sets = all_sets(home) if is_all else open_sets(home)
    if task is not None:
        task_id = pick_task(home, task)
        sets = [one for one in sets if one.task_id == task_id]
    shown = sets if session.as_json else listed(sets)
    found = set_documents(home, shown, is_all=is_all)
    if session.as_json:
        session.document(found)
    elif found:
        if left := len(sets) - len(shown):
            session.note(f"{left} older decided sets are left out; --json has all.")
        _tell_sets(session, found, home.services.clock.now(), is_all=is_all)
    elif not all_agents(home):
        session.say(NO_AGENTS)
    else:
        deferred = sum(item.status == "deferred" for one in sets for item in one.items)
        put_off = f" {deferred} put off: see `wakelog inbox --all`." if deferred else ""
        session.say(EMPTY + put_off)


def listed(sets: "Sequence[SetDocument]") -> "list[SetDocument]":
    """Every set with something open, however old, and the newest of those that are decided."""
    decided = [one.id for one in sets if not one.is_open]
    old = set(decided[:-DECIDED_SHOWN])
    return [one for one in sets if one.id not in old]


def _tell_sets(session: Session, sets: "list[InboxSet]", now: str, *, is_all: bool) -> None:
    by_task: dict[str, list[InboxSet]] = {}
    for one in sets:
        by_task.setdefault(one.task_id, []).append(one)
    for group in by_task.values():
        session.say(safe(group[0].task_title), style="cyan")
        for one in group:
            age = _age(one.created_at, now)
            for item in one.items:
                session.say(safe(f"  {item.ref:6} {_told(item)}  {age}"))
        session.say()
    first = next((one for one in sets if _open_refs(one)), None)
    if first is not None:
        ref = _open_refs(first)[0]
        name = ref.partition(".")[0]
        session.note(
            f"Decide with `wakelog confirm {ref}` (or reject, defer), "
            f"or a whole set with `wakelog confirm {name} --all`."
        )
    if not is_all:
        return
    session.note("Shown are decided proposals, too; `wakelog inbox` shows what waits for you.")


def _open_refs(one: "InboxSet") -> list[str]:
    return [item.ref for item in one.items if item.status in OPEN]


def _told(item: "InboxItem") -> str:
    """An item in one line."""
    parts = [item.summary]
    if item.now is not None and item.status in OPEN:
        parts.append(f"(now: {item.now})")
    if item.reason:
        parts.append(f"- {squeeze(item.reason)}")
    if item.status != "pending":
        parts.append(f"[{item.status}]")
    if item.stale:
        parts.append("[stale]")
    if item.error:
        parts.append(f"[last try: {item.error}]")
    return " ".join(parts)


def _age(at: str, now: str) -> str:
    """How long ago, in the coarsest unit that says something.

    >>> _age("2027-01-01T00:00:00.000000Z", "2027-01-01T02:30:00.000000Z")
    '2 h ago'
    """
    seconds = seconds_between(at, now)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
