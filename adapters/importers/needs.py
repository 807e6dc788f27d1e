"""Tasks of a file that wait for others of it: Obsidian's ``⛔ a1``, where another has ``🆔 a1``."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from adapters.importers.dialects import Said
from adapters.importers.texts import REASON_LENGTH_MAX
from domain.journal.imported import ImportedTask
from domain.text import cut

NEEDS = "is_blocked_by"  # the relation of a link
_CLOSED = ("DONE", "REJECTED")


def needed(
    tasks: Sequence[ImportedTask], said: Sequence[Said]
) -> Iterator[tuple[ImportedTask, ImportedTask]]:
    """Each task that needs another one of the file, with that."""
    named = {one.id: task for one, task in zip(said, tasks, strict=True) if one.id}
    for task, one in zip(tasks, said, strict=True):
        yield from ((task, named[name]) for name in one.needs if name in named)


def unknown(said: Sequence[Said]) -> Iterator[tuple[int, str]]:
    """What is needed and not in the file: by which task, counted from 0, and its name."""
    named = {one.id for one in said}
    for nth, one in enumerate(said):
        yield from ((nth, name) for name in one.needs if name not in named)


def blocked(tasks: Sequence[ImportedTask], said: Sequence[Said]) -> tuple[ImportedTask, ...]:
    """The tasks, but open ones that need open ones are BLOCKED."""
    waits: dict[str, list[str]] = {}
    for task, other in needed(tasks, said):
        if other.status not in _CLOSED and not task.status:
            waits.setdefault(task.task_id, []).append(other.title)
    told = {
        one: cut(f"waiting for: {'; '.join(titles)}", length_max=REASON_LENGTH_MAX)
        for one, titles in waits.items()
    }
    return tuple(
        replace(task, status="BLOCKED", status_reason=told[task.task_id])
        if task.task_id in told
        else task
        for task in tasks
    )
