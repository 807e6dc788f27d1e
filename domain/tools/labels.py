"""The tools about a task's labels (SPEC 5)."""

from collections.abc import Mapping

from domain.journal import task as t
from domain.tools.arguments import (
    LABELS_MAX,
    AssignTaskLabel,
    AssignTaskLabels,
    LabelChoice,
    SuppressLabel,
)
from domain.tools.base import Effect, Exploded, Facts, Refusal, quoted, redundant
from domain.tools.definitions import Tool
from domain.tools.snapshot import Snapshot

_RANK = {"very_high": 0, "high": 1, "medium": 2, "low": 3}


def _has_room(snapshot: Snapshot) -> bool:
    """Whether there is a label that could be assigned."""
    taken = {*snapshot.labels, *snapshot.suppressed}
    has_free = any(label.id not in taken for label in snapshot.available)
    return has_free and len(snapshot.labels) < LABELS_MAX


def _explode(snapshot: Snapshot, arguments: AssignTaskLabels) -> Exploded | Refusal:
    """The labels to propose, the surest first; of equally sure ones the first named."""
    free = LABELS_MAX - len(snapshot.labels)
    if free <= 0:
        because = f"The task has {len(snapshot.labels)} labels; at most {LABELS_MAX} are assigned."
        return Refusal("limit", because)
    accepted: dict[str, AssignTaskLabel] = {}
    refusals: list[Refusal] = []
    for choice in sorted(arguments.labels, key=lambda label: _RANK[label.confidence]):
        label = AssignTaskLabel(choice.id, choice.confidence)
        refusal = _once(snapshot, choice, accepted, free)
        if refusal is None:
            accepted[label.id] = label
        else:
            refusals.append(refusal)
    return Exploded(tuple(accepted.values()), tuple(refusals))


def _once(
    snapshot: Snapshot, choice: LabelChoice, accepted: Mapping[str, object], free: int
) -> Refusal | None:
    name = quoted(name_of(snapshot, choice.id))
    if choice.id in accepted:
        return redundant(f"Label {name} is named twice.")
    if (refusal := _no(snapshot, choice.id)) is not None:
        return refusal
    if choice.confidence == "low":
        return Refusal("limit", f"Label {name} is dropped: its confidence is low.")
    if len(accepted) >= free:
        return Refusal("limit", f"Label {name} is over the limit of {LABELS_MAX} labels a task.")
    return None


def _no(snapshot: Snapshot, label: str) -> Refusal | None:
    name = quoted(name_of(snapshot, label))
    if label in snapshot.labels:
        return redundant(f"Label {name} is assigned already.")
    if label in snapshot.suppressed:
        return Refusal("sovereignty", f"The person does not want label {name} on this task.")
    if all(label != known.id for known in snapshot.available):
        return Refusal("not_found", f"There is no available label with the id {quoted(label)}.")
    return None


def _assign(snapshot: Snapshot, arguments: AssignTaskLabel, by: str) -> Facts | Refusal:
    if (refusal := _no(snapshot, arguments.id)) is not None:
        return refusal
    if arguments.confidence == "low":
        return Refusal("invalid_arguments", "confidence: is low; such labels are not assigned")
    if len(snapshot.labels) >= LABELS_MAX:
        return Refusal("limit", f"The task has {len(snapshot.labels)} labels already.")
    return (t.LabelAssigned(by, arguments.id),)


def _suppress(snapshot: Snapshot, arguments: SuppressLabel, by: str) -> Facts | Refusal:
    if arguments.id in snapshot.suppressed:
        name = quoted(name_of(snapshot, arguments.id))
        return redundant(f"Label {name} is suppressed already.")
    return (t.LabelSuppressed(by, arguments.id),)


def _allow(snapshot: Snapshot, arguments: SuppressLabel, by: str) -> Facts | Refusal:
    if arguments.id not in snapshot.suppressed:
        name = quoted(name_of(snapshot, arguments.id))
        return redundant(f"Label {name} is not suppressed.")
    return (t.LabelAllowed(by, arguments.id),)


def name_of(snapshot: Snapshot, label: str) -> str:
    """A label's name; of one that the snapshot does not know, the beginning of its id."""
    names = (known.name for known in snapshot.available if known.id == label)
    return next(names, f"{label[:8]}…" if len(label) > 8 else label)


SUPPRESS = Effect(
    facts=_suppress,
    values=lambda snapshot, arguments: [arguments.id in snapshot.suppressed],
    touches=lambda arguments: (f"label:{arguments.id}",),
    summary=lambda snapshot, arguments: f'Suppress label: "{name_of(snapshot, arguments.id)}"',
)
"""What rejecting a label does; no tool of the model."""

ALLOW = Effect(
    facts=_allow,
    values=SUPPRESS.values,
    touches=SUPPRESS.touches,
    summary=lambda snapshot, arguments: f'Allow label: "{name_of(snapshot, arguments.id)}"',
)
"""What taking such a rejection back does."""

TOOLS = (
    Tool(
        name="assign_task_labels",
        description=(
            "Propose available labels for the task, at most three; it has three at most. "
            "Suppressed labels were declined: leave them out."
        ),
        hint=(
            "only from the available labels, best first, never a suppressed one, and never more "
            "than the task has room for."
        ),
        applies=_has_room,
        arguments=AssignTaskLabels,
        array="labels",
        singular="assign_task_label",
        element=AssignTaskLabel,
        explode=_explode,
        effect=Effect(
            facts=_assign,
            values=lambda snapshot, arguments: [arguments.id in snapshot.labels],
            touches=lambda arguments: (f"label:{arguments.id}",),
            summary=lambda snapshot, arguments: (
                f'Assign label: "{name_of(snapshot, arguments.id)}"'
            ),
            form={"id": "Label"},
            remedies={"limit": "make_room", "sovereignty": "allow_label"},
        ),
        capabilities=("labels.propose",),
        tokens=("TASK", "LABEL"),
    ),
)
