"""Which tasks a list shows, and in which order: what is urgent first, or by one field."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from adapters.actions.likeness import Name, is_meant
from domain.text import fold
from projections.tasks import TaskDocument

ORDERS = ("urgency", "due", "priority", "age", "title")
_NEVER = "9999"  # behind every date


class Wanted(NamedTuple):
    """What a listed task must be: all of it. Empty: whatever it is."""

    statuses: frozenset[str] = frozenset()
    category: str = ""
    labels: frozenset[str] = frozenset()
    text: str = ""
    is_overdue: bool = False
    is_today: bool = False  # or overdue, where both are wanted


def fits(one: TaskDocument, wanted: Wanted, today: str) -> bool:
    """Whether a task is one of those that are wanted on a day."""
    due = one.task.due
    is_due = (wanted.is_overdue and "" < due < today) or (wanted.is_today and due == today)
    return (
        (not wanted.statuses or one.status in wanted.statuses)
        and wanted.category in ("", one.category)
        and wanted.labels <= set(one.labels)
        and (is_due or not (wanted.is_overdue or wanted.is_today))
        and (not wanted.text.strip() or is_meant(wanted.text, Name(one.id, (one.title,))))
    )


def ordered(tasks: Sequence[TaskDocument], order: str, today: str) -> list[TaskDocument]:
    """Tasks in one of `ORDERS`; what is alike in it stays as it came in.

    By urgency: what is overdue, then what is due, each by its date, then by priority and age.
    """

    def key(one: TaskDocument) -> Any:
        task, due = one.task, one.task.due or _NEVER
        return {
            "urgency": (not (one.is_open and due < today), due, task.priority),
            "due": due,
            "priority": task.priority,
            "age": task.created_at,
            "title": fold(task.title),
        }[order]

    return sorted(tasks, key=key)
