"""Proposals, sets of them, and their histories, for tests of change sets."""

from collections.abc import Sequence

from domain.changes import decisions
from domain.changes.change_set import ChangeItem, ChangeSet, evolve, find
from domain.log.state import RecordedEvent
from domain.log.wire import Stored
from domain.tools.base import Proposal

AT = "2026-11-20T09:00:00.000000Z"
LATER = "2026-11-21T09:00:00.000000Z"
AGENT = "agent-1"
BY_AGENT = f"agent:{AGENT}"


def add(title: str, *, display: str = "") -> Proposal:
    """A proposed checklist item."""
    return Proposal(
        "add_checklist_item",
        f'{{"title":"{title}"}}',
        f'Add: "{title}"',
        f"fp-{title}",
        display or f'add: "{title}"'.lower(),
        "",
        touches=("items",),
    )


def label(label_id: str) -> Proposal:
    """A proposed label."""
    return Proposal(
        "assign_task_label",
        f'{{"confidence":"high","id":"{label_id}"}}',
        f'Assign label: "{label_id}"',
        f"fp-label-{label_id}",
        f'assign label: "{label_id}"',
        "",
        touches=(f"label:{label_id}",),
    )


def recorded(fact: Stored, at: str = AT) -> RecordedEvent:
    """A fact as a row of some change set."""
    return RecordedEvent("changes:set-1@r1", 1, "r1", 1, 0, at, fact)


def after(changes: ChangeSet, facts: Sequence[Stored], at: str = AT) -> ChangeSet:
    """The set after more facts."""
    for fact in facts:
        changes = evolve(changes, recorded(fact, at))
    return changes


def proposed(*proposals: Proposal) -> ChangeSet:
    """A set whose wake still runs."""
    return after(ChangeSet("set-1"), decisions.propose(ChangeSet("set-1"), proposals, "task-1")[0])


def shown(*proposals: Proposal, run: int = 3, expires_at: str = "") -> ChangeSet:
    """A set that is before the person."""
    changes = proposed(*proposals)
    return after(changes, decisions.opened(changes, AGENT, "task-1", f"run-{run}", expires_at))


def item(changes: ChangeSet, number: int = 1) -> ChangeItem:
    """An item that must be there."""
    found = find(changes, number)
    assert found is not None
    return found
