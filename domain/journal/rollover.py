"""What moves from a task to another one: its open items to a follow-up, for example (ADR 40).

Items keep title and tick. On the task that they leave they are archived, so nothing is lost there
and nothing stands twice: what is not archived is the same over both tasks as before.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from domain.journal import edits
from domain.journal import task as t
from domain.journal.task import Item, Relation, Task, TaskFact
from domain.wire import Words


class Moved(NamedTuple):
    """The facts of both tasks."""

    source: list[TaskFact]
    target: list[TaskFact]


class FollowUp(Struct, frozen=True):
    """A task that shall follow: what is empty, it does not get."""

    title: str
    description: Words | None = None
    due: str = ""
    priority: t.Priority | None = None
    relation: Relation = "follows_up_on"


def moved(source: Task, items: Iterable[Item], target: Task, by: str) -> Moved:
    """Items of a task as items of another one: on its first checklist, else on new ones that are
    called like those they come from."""
    gone: list[TaskFact] = []
    come: list[TaskFact] = []
    known = {item.id for item in target.items}
    titles = {one.id: one.title for one in source.checklists}
    homes: dict[str, str] = {}
    for item in items:
        if item.checklist not in homes:
            wanted = "" if target.checklists else titles.get(item.checklist, "")
            made, homes[item.checklist] = edits.checklist_for(target, wanted, by)
            come += [one for one in made if one not in come]
        fresh = edits.fresh_item_id(target.id, item.title, known)
        known.add(fresh)
        gone.append(t.ItemArchived(by, item.id))
        home = homes[item.checklist]
        come.append(t.ItemAdded(by, home, fresh, item.title, item.is_checked, item.id))
        come += _tick(item, fresh, by)
    return Moved(gone, come)


def _tick(item: Item, fresh: str, by: str) -> list[TaskFact]:
    """Who ticked or unticked it stays who did: against a person's tick agents need a reason."""
    if item.checked_by in ("", by):
        return []
    ticked = t.ItemChecked if item.is_checked else t.ItemUnchecked
    return [ticked(item.checked_by, fresh)]


def again(source: Task, made: Task, wanted: FollowUp, items: Iterable[Item], by: str) -> Moved:
    """A follow-up that was deleted, as it would be made now; its links are there still."""
    facts: list[TaskFact] = [t.TaskRestored(by)]
    facts += [t.TaskRetitled(by, wanted.title)] if wanted.title != made.title else []
    if wanted.description not in (None, made.description):
        facts.append(t.TaskDescribed(by, wanted.description))
    facts += [t.DueSet(by, wanted.due)] if wanted.due not in ("", made.due) else []
    if wanted.priority not in (None, made.priority):
        facts.append(t.PrioritySet(by, wanted.priority))
    facts += [t.ItemArchived(by, one.id) for one in made.items if not one.is_archived]
    gone, come = moved(source, items, made, by)
    return Moved(gone, [*facts, *come])


def follow_up(source: Task, made: str, wanted: FollowUp, items: Iterable[Item], by: str) -> Moved:
    """A new task in the source's category, with its labels, and the items that go there.

    Args:
        source: The task that it follows.
        made: The new task's id.
        wanted: What it is to be.
        items: The source's items that move.
        by: Who does it.
    """
    facts: list[TaskFact] = [t.TaskCreated(by, wanted.title, source.category)]
    facts += [t.LabelAssigned(by, label) for label in source.labels]
    facts += [t.TaskDescribed(by, wanted.description)] if wanted.description else []
    facts += [t.DueSet(by, wanted.due)] if wanted.due else []
    facts += [t.PrioritySet(by, wanted.priority)] if wanted.priority else []
    facts.append(t.TaskLinked(by, wanted.relation, source.id))
    gone, come = moved(source, items, Task(made), by)
    return Moved(gone, [*facts, *come])
