"""The tools that set one field of a task, and its language (SPEC 5)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from domain.journal import task as t
from domain.text import squeeze
from domain.tools.arguments import (
    Arguments,
    SetTaskLanguage,
    SetTaskStatus,
    SetTaskTitle,
    UpdateTaskDueDate,
    UpdateTaskEstimate,
    UpdateTaskPriority,
)
from domain.tools.base import Effect, Facts, Refusal, quoted, redundant
from domain.tools.definitions import Tool
from domain.tools.snapshot import Snapshot

_HINT = "only where the value would differ from the present one. BLOCKED and ON HOLD need a reason."


def is_persons(by: str) -> bool:
    """Whether a person decided it, herself or in a file that was imported."""
    return bool(by) and not by.startswith("agent:")


def _sets(
    field: str,
    arguments: type[Arguments],
    fact: Callable[[str, Any], t.TaskFact],
    words: str,
    label: str,
    shown: Callable[[Any], str] = str,
) -> Effect:
    """A field of the snapshot gets another value, the one argument of the call.

    `words` call it in a sentence, `label` beside its input; `shown` tells a value.
    """
    (attribute,), (name,) = arguments.__struct_fields__, arguments.__struct_encode_fields__

    def facts(snapshot: Snapshot, given: Arguments, by: str) -> Facts | Refusal:
        value = getattr(given, attribute)
        if value == getattr(snapshot, field):
            return redundant(f"The {words} is already {shown(value)}.")
        return (fact(by, value),)

    def now(snapshot: Snapshot, _: object) -> str:
        value = getattr(snapshot, field)
        return shown(value) if value else "none"

    return Effect(
        facts=facts,
        values=lambda snapshot, _: [getattr(snapshot, field)],
        touches=lambda _: (field,),
        summary=lambda _, given: f"Set {words} to {shown(getattr(given, attribute))}",
        now=now,
        form={name: label},
    )


def _title(snapshot: Snapshot, arguments: SetTaskTitle, by: str) -> Facts | Refusal:
    if arguments.title == squeeze(snapshot.title):
        return redundant(f"The title is already {quoted(snapshot.title)}.")
    return (t.TaskRetitled(by, arguments.title),)


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


_of_task = partial(Tool, hint=_HINT, capabilities=("task.propose",))

TOOLS = (
    _of_task(
        name="set_task_title",
        aliases=("update_task_title",),
        description="Propose a better title for the task. A task without a title gets it at once.",
        immediate_if="title_is_empty",
        arguments=SetTaskTitle,
        effect=Effect(
            facts=_title,
            values=lambda snapshot, _: [snapshot.title],
            touches=lambda _: ("title",),
            summary=lambda _, arguments: f'Set title to "{arguments.title}"',
            now=lambda snapshot, _: snapshot.title,
            form={"title": "Title"},
        ),
        risk="medium",
    ),
    _of_task(
        name="update_task_estimate",
        aliases=("set_task_estimate",),
        description="Propose how many minutes the whole task takes.",
        arguments=UpdateTaskEstimate,
        effect=_sets(
            "estimate", UpdateTaskEstimate, t.EstimateSet, "estimate", "Minutes", _minutes
        ),
    ),
    _of_task(
        name="update_task_due_date",
        aliases=("set_task_due_date",),
        description="Propose a due date. Only one that the person's own words support.",
        arguments=UpdateTaskDueDate,
        effect=_sets("due", UpdateTaskDueDate, t.DueSet, "due date", "Due on"),
        risk="medium",
    ),
    _of_task(
        name="update_task_priority",
        aliases=("set_task_priority",),
        description="Propose another priority, from P0 (most urgent) to P3.",
        arguments=UpdateTaskPriority,
        effect=_sets("priority", UpdateTaskPriority, t.PrioritySet, "priority", "Priority"),
    ),
    _of_task(
        name="set_task_status",
        aliases=("update_task_status",),
        description=(
            "Propose another status. BLOCKED and ON HOLD need a reason. Only the person sets DONE "
            "or REJECTED."
        ),
        arguments=SetTaskStatus,
        effect=Effect(
            facts=_status,
            values=lambda snapshot, _: [snapshot.status, snapshot.status_reason],
            touches=lambda _: ("status",),
            summary=_status_summary,
            now=lambda snapshot, _: snapshot.status,
            form={"status": "Status", "reason": "Because"},
        ),
        risk="medium",
    ),
    Tool(
        name="set_task_language",
        aliases=("update_task_language",),
        description=(
            "Set the language that the task is written in, at once. Only while none is set and "
            "only when you are sure."
        ),
        hint="once, when the task has none and its texts leave no doubt.",
        applies=lambda snapshot: not snapshot.language,
        mode="immediate",
        arguments=SetTaskLanguage,
        effect=Effect(
            facts=_language,
            values=lambda snapshot, _: [snapshot.language],
            touches=lambda _: ("language",),
            summary=lambda _, arguments: f"Set language to {arguments.language_code}",
        ),
        capabilities=("task.write_language",),
        output="domain.journal.task:LanguageSet",
        idempotency="operation_id",
    ),
)
