"""The JSON document of a task, as it is now or as it was then (SPEC 10); null: there is none."""

from collections.abc import Callable
from typing import Any

from domain.journal.catalog import Catalog
from domain.journal.links import Links
from domain.journal.task import Task
from domain.wire import Words

Document = dict[str, Any]


def task_line(task: Task, catalog: Catalog, agent_id: str) -> Document:
    """One of the documents of `task list`; `agent_id` is that of its living agent, if any."""
    items = [item for item in task.items if not item.is_archived]
    done = sum(item.is_checked for item in items)
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "due_date": task.due or None,
        "estimate_minutes": task.estimate or None,
        "language": task.language or None,
        "category": category_name(catalog, task.category),
        "labels": [label_name(catalog, label) for label in task.labels],
        "checklist": {"done": done, "total": len(items)},
        "agent_id": agent_id or None,
    }


def task_document(
    task: Task, links: Links, catalog: Catalog, agent_id: str, text: Callable[[Words], str]
) -> Document:
    """The document of `task show`.

    Args:
        task: Which.
        links: Those that lead to it.
        catalog: Names its category and labels.
        agent_id: Of its living agent, if any.
        text: Gives a text, wherever it is kept.
    """
    linked = [_link(link.relation, "out", link.target) for link in task.links]
    linked += [_link(link.relation, "in", link.source) for link in links.incoming]
    return {
        **task_line(task, catalog, agent_id),
        "description": text(task.description),
        "items": [
            {
                "id": item.id,
                "title": item.title,
                "checked": item.is_checked,
                "checked_by": item.checked_by if item.is_checked else None,
                "archived": item.is_archived,
            }
            for item in task.items
        ],
        "notes": [
            {"id": note.id, "kind": note.note_kind, "text": text(note.words), "at": note.at}
            for note in task.notes
        ],
        "time": [
            {"id": one.id, "start": one.start, "end": one.end or None, "summary": one.summary}
            for one in task.time
        ],
        "links": linked,
        "history": [
            {"at": one.at, "status": one.status, "by": one.by, "reason": one.reason}
            for one in task.history
        ],
        "suppressed_labels": [label_name(catalog, label) for label in task.suppressed],
    }


def category_name(catalog: Catalog, category: str) -> str:
    """Its name; its id where the catalog does not know it."""
    known = catalog.categories.get(category)
    return known.name if known else category


def label_name(catalog: Catalog, label: str) -> str:
    """Its name, deleted or not; its id where the catalog does not know it."""
    known = catalog.labels.get(label)
    return known.name if known else label


def _link(relation: str, direction: str, task_id: str) -> Document:
    return {"relation": relation, "direction": direction, "task_id": task_id}
