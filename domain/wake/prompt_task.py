"""The owned task as one JSON document, keys in a fixed order, one element of a list per line."""

from collections.abc import Sequence
from datetime import date

from msgspec import Struct

from domain.wake.prompt_text import clip, dump, rows, size
from domain.wake.reading import (
    LABELS_MAX,
    ItemSeen,
    LabelSeen,
    Limits,
    Reading,
    TaskSeen,
)

_SET = {
    "title": "title",
    "description": "description",
    "status": "status",
    "priority": "priority",
    "estimateMinutes": "estimate",
    "dueDate": "due",
    "languageCode": "language",
    "category": "category",
}
"""Keys of the document whose values are shown with who set them, and the fields they show."""


class TaskDocument(Struct, frozen=True):
    """The document around its log: `before`, entries, `after`."""

    before: str
    after: str

    def with_log(self, entries: Sequence[str], left_out: int) -> str:
        """The document with these log entries, oldest first, and how many older were cut."""
        cut = f',\n"logCut": {left_out}' if left_out else ""
        return f"{self.before}{rows(entries)}{cut}{self.after}"


def document(reading: Reading, limits: Limits) -> TaskDocument:
    """All of the task but its log."""
    task = reading.task
    items, items_cut = _kept(task.items, limits)
    labels = task.labels[: limits.labels_max]
    before = [
        *_fields(reading, limits),
        f'"labels": {rows([dump(_label(label, limits)) for label in labels])}',
        *_cut("labelsCut", len(task.labels) - len(labels)),
        f'"labelsLeft": {labels_left(task)}',
        f'"checklist": {rows([_item(item, limits) for item in items])}',
        *_cut("checklistCut", items_cut),
        '"log": ',
    ]
    after = [f'"timeSpentMinutes": {task.minutes_spent}', f'"createdAt": {dump(task.created_at)}']
    return TaskDocument("{\n" + ",\n".join(before), ",\n" + ",\n".join(after) + "\n}")


def labels_left(task: TaskSeen) -> int:
    """How many labels agents may still assign."""
    return max(0, LABELS_MAX - len(task.labels))


def newest(reading: Reading, limits: Limits, room: int) -> list[str]:
    """The newest log entries that fit into so many bytes, as JSON, oldest first.

    Args:
        reading: Its task's log is looked at from the end, and no further than fits.
        limits: Bounds each text and the number of entries.
        room: UTF-8 bytes for all of them, separators included.
    """
    kept: list[str] = []
    for entry in reading.task.log[: -limits.log_entries_max - 1 : -1]:
        text = clip(entry.text, limits.entry_max_bytes)
        told = {"at": entry.at, "type": entry.entry_kind, "by": entry.by, "text": text}
        if entry.edited_at and reading.scaffold > 1:
            told["editedAt"] = entry.edited_at
        encoded = dump(told)
        room -= size(encoded) + len(",\n")
        if room < 0:
            break
        kept.append(encoded)
    return kept[::-1]


def _fields(reading: Reading, limits: Limits) -> list[str]:
    task = reading.task
    fields: dict[str, object] = {
        "id": task.id,
        "title": clip(task.title, limits.line_max_bytes),
        "description": clip(task.description, limits.text_max_bytes),
        "status": task.status,
        "statusReason": clip(task.status_reason, limits.line_max_bytes),
        "priority": task.priority,
        "estimateMinutes": task.estimate or None,
        "dueDate": task.due or None,
        "dueIn": _due_in(reading),
        "languageCode": clip(task.language, limits.line_max_bytes) or None,
        "languageSource": task.language_by or None,
        "category": _label(task.category, limits),
    }
    if reading.scaffold < 2:
        del fields["dueIn"]
    else:
        del fields["languageSource"]
        fields = {name: _with_origin(task, name, value) for name, value in fields.items()}
    return [f'"{name}": {dump(value)}' for name, value in fields.items()]


def _with_origin(task: TaskSeen, name: str, value: object) -> object:
    """A value with who set it and when; one that nobody set stands alone, null where empty."""
    if (origin := task.origins.get(_SET.get(name, ""))) is not None:
        return {"value": value, "by": origin.by, "at": origin.at}
    return {"value": value} if name in _SET and value is not None else value


def _due_in(reading: Reading) -> str | None:
    """How far the due date of an open task is off, on the person's calendar."""
    task, local = reading.task, reading.local
    if not task.due or local is None or task.status in ("DONE", "REJECTED"):
        return None
    days = (date.fromisoformat(task.due) - date.fromisoformat(local.time[:10])).days
    if not days:
        return "today"
    told = "1 day" if abs(days) == 1 else f"{abs(days)} days"
    return f"in {told}" if days > 0 else f"overdue by {told}"


def _label(label: LabelSeen, limits: Limits) -> dict[str, str]:
    return {"id": label.id, "name": clip(label.name, limits.line_max_bytes)}


def _cut(name: str, count: int) -> list[str]:
    return [f'"{name}": {count}'] if count else []


def _kept(items: Sequence[ItemSeen], limits: Limits) -> tuple[list[ItemSeen], int]:
    """The items to show, in their order, and how many are not: archived ones go first, then
    checked ones, the older before the newer, then the last of those still to do."""
    finished = [index for index, item in enumerate(items) if item.is_checked or item.is_archived]
    finished.sort(key=lambda index: (items[index].is_archived, -index))
    done = set(finished)
    open_ones = [index for index in range(len(items)) if index not in done]
    kept = sorted((*finished[: limits.finished_items_max], *open_ones[: limits.items_max]))
    return [items[index] for index in kept], len(items) - len(kept)


def _item(item: ItemSeen, limits: Limits) -> str:
    return dump(
        {
            "id": item.id,
            "title": clip(item.title, limits.line_max_bytes),
            "checked": item.is_checked,
            "checkedBy": item.checked_by or None,
            "checkedAt": item.checked_at or None,
            "archived": item.is_archived,
        }
    )
