"""The tools that set one field of a task, and its language (SPEC 5)."""

from collections.abc import Mapping

from domain.journal import task as t
from domain.text import squeeze
from domain.tools.arguments import (
    SetTaskLanguage,
    SetTaskStatus,
    SetTaskTitle,
    UpdateTaskDueDate,
    UpdateTaskEstimate,
    UpdateTaskPriority,
)
from domain.tools.base import Facts, Handler, Refusal, quoted, redundant
from domain.tools.snapshot import Snapshot

NEED_REASON = ("BLOCKED", "ON HOLD")


def is_persons(by: str) -> bool:
    """Whether a person decided it, herself or in a file that was imported."""
    return bool(by) and not by.startswith("agent:")


def check_status(arguments: SetTaskStatus) -> Refusal | None:
    """The rules that need no task."""
    if arguments.status in NEED_REASON and not arguments.reason:
        return Refusal("invalid_arguments", f"reason: is missing; {arguments.status} needs one")
    return None


def check_language(arguments: SetTaskLanguage) -> Refusal | None:
    """The rules that need no task."""
    if arguments.confidence == "low":
        because = "confidence: is low; set the language only when you are surer"
        return Refusal("invalid_arguments", because)
    return None


def _title(snapshot: Snapshot, arguments: SetTaskTitle, by: str) -> Facts | Refusal:
    if arguments.title == squeeze(snapshot.title):
        return redundant(f"The title is already {quoted(snapshot.title)}.")
    return (t.TaskRetitled(by, arguments.title),)


def _estimate(snapshot: Snapshot, arguments: UpdateTaskEstimate, by: str) -> Facts | Refusal:
    if arguments.minutes == snapshot.estimate:
        return redundant(f"The estimate is already {_minutes(arguments.minutes)}.")
    return (t.EstimateSet(by, arguments.minutes),)


def _due(snapshot: Snapshot, arguments: UpdateTaskDueDate, by: str) -> Facts | Refusal:
    if arguments.due_date == snapshot.due:
        return redundant(f"The due date is already {snapshot.due}.")
    return (t.DueSet(by, arguments.due_date),)


def _priority(snapshot: Snapshot, arguments: UpdateTaskPriority, by: str) -> Facts | Refusal:
    if arguments.priority == snapshot.priority:
        return redundant(f"The priority is already {snapshot.priority}.")
    return (t.PrioritySet(by, arguments.priority),)


def _status(snapshot: Snapshot, arguments: SetTaskStatus, by: str) -> Facts | Refusal:
    if arguments.status == snapshot.status:
        return redundant(f"The status is already {snapshot.status}.")
    return (t.StatusSet(by, arguments.status, arguments.reason),)


def _language(snapshot: Snapshot, arguments: SetTaskLanguage, by: str) -> Facts | Refusal:
    now = snapshot.language
    if not now:
        return (t.LanguageSet(by, arguments.language_code),)
    if now != arguments.language_code and is_persons(snapshot.language_by):
        return Refusal("sovereignty", f"The person set the language to {now}; it stays so.")
    return redundant(f"The language is already set, to {now}.")


def _minutes(minutes: int) -> str:
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def _status_summary(_: Snapshot, arguments: SetTaskStatus) -> str:
    because = f": {arguments.reason}" if arguments.reason else ""
    return f"Set status to {arguments.status}{because}"


FIELDS: Mapping[str, Handler] = {
    "set_task_title": Handler(
        SetTaskTitle,
        _title,
        lambda snapshot, _: [snapshot.title],
        lambda _: ("title",),
        lambda _, arguments: f'Set title to "{arguments.title}"',
    ),
    "update_task_estimate": Handler(
        UpdateTaskEstimate,
        _estimate,
        lambda snapshot, _: [snapshot.estimate],
        lambda _: ("estimate",),
        lambda _, arguments: f"Set estimate to {_minutes(arguments.minutes)}",
    ),
    "update_task_due_date": Handler(
        UpdateTaskDueDate,
        _due,
        lambda snapshot, _: [snapshot.due],
        lambda _: ("due",),
        lambda _, arguments: f"Set due date to {arguments.due_date}",
    ),
    "update_task_priority": Handler(
        UpdateTaskPriority,
        _priority,
        lambda snapshot, _: [snapshot.priority],
        lambda _: ("priority",),
        lambda _, arguments: f"Set priority to {arguments.priority}",
    ),
    "set_task_status": Handler(
        SetTaskStatus,
        _status,
        lambda snapshot, _: [snapshot.status, snapshot.status_reason],
        lambda _: ("status",),
        _status_summary,
    ),
    "set_task_language": Handler(
        SetTaskLanguage,
        _language,
        lambda snapshot, _: [snapshot.language],
        lambda _: ("language",),
        lambda _, arguments: f"Set language to {arguments.language_code}",
    ),
}
