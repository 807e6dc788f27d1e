"""Templates that improve, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.text.common import counted
from domain.tools.improving import PROPOSE

if TYPE_CHECKING:
    from adapters.documents.improving import VersionFigures
    from adapters.documents.inbox import RehearsedDetails
    from adapters.documents.lessons import LessonLine


def kind_of(tool: str) -> str:
    """What changes by a tool are called together.

    >>> kind_of("update_task_due_date"), kind_of("add_checklist_item")
    ('Due date', 'Add checklist item')
    """
    name = tool.removeprefix("update_task_").removeprefix("set_task_")
    return name.replace("_", " ").capitalize()


def figures_line(
    name: str, version: int, now: "VersionFigures | None", lessons: "Sequence[LessonLine]"
) -> str:
    """How the active version of a template fares; `lessons`: of the template, by tool."""
    told = f"{name}.{version}: {counted(now.decided, 'proposal')} decided" if now else ""
    if now is None:
        return f"{name}.{version}: nothing is decided yet."
    told += f", {now.accepted} accepted" if now.decided else ""
    told += f", {now.stars} of 5 stars" if now.stars is not None else ""
    most = max(lessons, key=lambda one: (one.rejected, one.tool), default=None)
    if most is None or most.tool == PROPOSE or not most.rejected:
        return f"{told}."
    decided = most.confirmed + most.rejected
    kind = kind_of(most.tool).lower()
    why = f', "{most.reasons[0].text}" ({most.reasons[0].count})' if most.reasons else ""
    return f"{told}. Most rejected: {kind}, {most.rejected} of {decided}{why}."


def rehearsed_text(one: "RehearsedDetails | None") -> str:
    """How proposed directives did on past wakes, beside those in force; empty: never tried."""
    if one is None:
        return ""
    tried, now = one.tried, one.in_force
    confirmed, rejected = tried.kept + tried.lost, tried.avoided + tried.repeated
    verdict = "they are told apart" if one.told_apart else "cannot be told apart yet"
    verdict = "too few to tell" if one.too_few else verdict
    return (
        f"keeps {tried.kept} of {confirmed}, avoids {tried.avoided} of {rejected}; "
        f"in force {now.kept} and {now.avoided}; {verdict}"
    )
