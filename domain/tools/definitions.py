"""The twelve tools of the task agent, in the order of SPEC 5.

`domain/tools/contract.yaml` says the same for readers outside the code; a test compares the two.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from domain.tools import arguments as a

Mode = Literal["immediate", "deferred", "local"]

REASONS = ("subscription", "timer", "user", "creation", "manual", "recovery")
ALIASES: Mapping[str, str] = {
    "set_task_estimate": "update_task_estimate",
    "set_task_due_date": "update_task_due_date",
    "set_task_priority": "update_task_priority",
    "update_task_status": "set_task_status",
    "update_task_title": "set_task_title",
    "update_task_language": "set_task_language",
}
CAPABILITIES: Mapping[str, frozenset[str]] = {
    "task_agent": frozenset(
        (
            "task.propose",
            "task.write_language",
            "labels.propose",
            "checklist.propose",
            "report.write",
            "journal.write",
            "proposals.retract",
        )
    ),
}
"""What each kind of agent may do; a kind that is not here may do nothing."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as it is offered.

    `immediate_if`: what makes a deferred call an immediate one. `array` and `singular`: of a
    batch, the argument that explodes, and the name of each element's change. `output`: the
    Struct or fact that a call comes to. `entities` and `tokens`: what it changes. `scope`: how
    far it reaches. `idempotency`: what makes a repeat harmless.
    """

    name: str
    description: str
    mode: Mode
    arguments: type[Struct]
    capabilities: tuple[str, ...]
    output: str = "domain.tools.base:Plan"
    reasons: tuple[str, ...] = REASONS
    version: int = 1
    immediate_if: Literal["", "title_is_empty"] = ""
    array: str = ""
    singular: str = ""
    idempotency: Literal["operation_id", "fingerprint", "last_call_wins", "wake"] = "fingerprint"
    scope: Literal["own_task", "own_wake", "own_proposals"] = "own_task"
    entities: tuple[str, ...] = ("task",)
    tokens: tuple[str, ...] = ("TASK",)
    risk: Literal["low", "medium", "high"] = "low"


_ALL = (
    Tool(
        name="set_task_title",
        description="Propose a better title for the task. A task without a title gets it at once.",
        mode="deferred",
        immediate_if="title_is_empty",
        arguments=a.SetTaskTitle,
        capabilities=("task.propose",),
        risk="medium",
    ),
    Tool(
        name="update_task_estimate",
        description="Propose how many minutes the whole task takes.",
        mode="deferred",
        arguments=a.UpdateTaskEstimate,
        capabilities=("task.propose",),
    ),
    Tool(
        name="update_task_due_date",
        description="Propose a due date. Only one that the person's own words support.",
        mode="deferred",
        arguments=a.UpdateTaskDueDate,
        capabilities=("task.propose",),
        risk="medium",
    ),
    Tool(
        name="update_task_priority",
        description="Propose another priority, from P0 (most urgent) to P3.",
        mode="deferred",
        arguments=a.UpdateTaskPriority,
        capabilities=("task.propose",),
    ),
    Tool(
        name="set_task_status",
        description=(
            "Propose another status. BLOCKED and ON HOLD need a reason. Only the person sets DONE "
            "or REJECTED."
        ),
        mode="deferred",
        arguments=a.SetTaskStatus,
        capabilities=("task.propose",),
        risk="medium",
    ),
    Tool(
        name="set_task_language",
        description=(
            "Set the language that the task is written in, at once. Only while none is set and "
            "only when you are sure."
        ),
        mode="immediate",
        arguments=a.SetTaskLanguage,
        capabilities=("task.write_language",),
        output="domain.journal.task:LanguageSet",
        idempotency="operation_id",
    ),
    Tool(
        name="assign_task_labels",
        description=(
            "Propose available labels for the task, at most three; it has three at most. "
            "Suppressed labels were declined: leave them out."
        ),
        mode="deferred",
        arguments=a.AssignTaskLabels,
        capabilities=("labels.propose",),
        array="labels",
        singular="assign_task_label",
        tokens=("TASK", "LABEL"),
    ),
    Tool(
        name="add_multiple_checklist_items",
        description="Propose new checklist items, up to 20. Leave out what is on the task already.",
        mode="deferred",
        arguments=a.AddMultipleChecklistItems,
        capabilities=("checklist.propose",),
        array="items",
        singular="add_checklist_item",
        entities=("task", "checklist", "item"),
        tokens=("TASK", "CHECKLIST", "CHECKLIST_ITEM"),
    ),
    Tool(
        name="update_checklist_items",
        description=(
            "Propose to check, uncheck, rename, archive or restore items, up to 20, each named by "
            "its id and given only what changes. Against a tick that the person set or took away, "
            "give a reason of at least 20 characters."
        ),
        mode="deferred",
        arguments=a.UpdateChecklistItems,
        capabilities=("checklist.propose",),
        array="items",
        singular="update_checklist_item",
        entities=("task", "item"),
        tokens=("TASK", "CHECKLIST_ITEM"),
        risk="medium",
    ),
    Tool(
        name="update_report",
        description=(
            "Write the report that the person reads. The last call of a wake counts. No reasoning "
            "about yourself, no internal ids."
        ),
        mode="local",
        arguments=a.UpdateReport,
        capabilities=("report.write",),
        output="domain.tools.local:Report",
        idempotency="last_call_wins",
        scope="own_wake",
        entities=("report",),
        tokens=(),
    ),
    Tool(
        name="record_observations",
        description="Keep up to 20 private notes for your later wakes; the report is apart.",
        mode="local",
        arguments=a.RecordObservations,
        capabilities=("journal.write",),
        output="domain.tools.local:Observation",
        idempotency="wake",
        scope="own_wake",
        entities=("observation",),
        tokens=(),
    ),
    Tool(
        name="retract_suggestions",
        description=(
            "Take back open proposals of yours that no longer fit, each by its fingerprint and "
            "with a reason. Counts when the wake ends; not for what you propose again in it."
        ),
        mode="local",
        arguments=a.RetractSuggestions,
        capabilities=("proposals.retract",),
        output="domain.tools.local:Retraction",
        idempotency="fingerprint",
        scope="own_proposals",
        entities=("change_item",),
        tokens=(),
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
