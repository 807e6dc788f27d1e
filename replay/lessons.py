"""What causes of the agent log say of the categories that verdicts are learnt in (ADR 50)."""

from collections.abc import Iterator
from typing import NamedTuple

from domain.causes import Cause
from domain.changes.change_set import CHANGES, find
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem
from domain.lessons.commands import LearnVerdicts
from domain.lessons.lessons import CATEGORY
from domain.world import World


class Said(NamedTuple):
    """At a position of the journal a task was in a category; `path`: where in the row it stands."""

    task: str
    position: int
    category: str
    path: str


def said(cause: Cause, before: World) -> Iterator[Said]:
    """What a cause says, which the journal has to bear out.

    Args:
        cause: Of the agent log.
        before: The agent log before it.
    """
    match cause:
        case ConfirmItem() | RejectItem() | DeferItem() if cause.category:
            task = before.load(CHANGES, cause.changes).task
            yield Said(task, cause.position, cause.category, "data.command.category")
        case ReopenItem() if cause.category:
            changes = before.load(CHANGES, cause.changes)
            if item := find(changes, cause.item):  # pragma: no branch  # it was reopened
                yield Said(changes.task, item.position, cause.category, "data.command.category")
        case LearnVerdicts(scope=scope, verdicts=verdicts) if scope.startswith(CATEGORY):
            for nth, past in enumerate(verdicts):
                changes = before.load(CHANGES, past.changes)
                if item := find(changes, past.item):  # pragma: no branch  # it was checked
                    path = f"data.command.verdicts[{nth}]"
                    yield Said(changes.task, item.position, scope.removeprefix(CATEGORY), path)
        case _:
            pass
