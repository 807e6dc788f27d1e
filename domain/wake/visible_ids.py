"""Which tasks a wake was shown, and so may name: it guesses no id (ADR 40).

They are those of its snapshot, linked ones or an agent's without a task, those in the results of
its reads, and the follow-up tasks that its own change set would make. Looked at when something is
proposed; whether the task is still there, in an allowed category, is decided again where it is
applied."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from domain.changes.change_set import ChangeSet, is_open
from domain.changes.dependencies import CREATE_TOOL, FOLLOW_UP_TOOL, follow_up_id
from domain.errors import Refused
from domain.journal.task import CLOSED
from domain.log import canonical
from domain.log.wire import Words
from domain.text import fold
from domain.tools import improving
from domain.tools.arguments import CreateFollowUpTask, MigrateChecklistItems, ProposeLink
from domain.tools.base import ToolRefusal, fingerprint, quoted, redundant
from domain.tools.category import CreateTask
from domain.tools.improving import ProposeDirectives
from domain.tools.snapshot import Snapshot
from domain.wake.wake import Wake

FOLLOW_UPS_MAX = 3
"""Tasks that may be proposed and undecided at a time, of a task or a category."""
LINK_TOOL = "link_task"
READS = ("find_tasks", "read_task")
"""Tools whose results name tasks, as ``{"tasks": [{"id", "title", "status", "category"}]}``."""


class VisibleTask(Struct, frozen=True):
    """A task that the wake was shown."""

    id: str
    title: str = ""
    status: str = ""
    category: str = ""


def refused(
    wake: Wake,
    seen: Snapshot,
    sets: Iterable[ChangeSet],
    own: ChangeSet,
    arguments: Struct,
    text: Callable[[Words], str],
) -> ToolRefusal | None:
    """Why a call that reaches a second task may not propose what it asks for. `sets`: all of the
    task's agents, the wake's `own` included; `text` reads what its calls were answered with."""
    match arguments:
        case CreateFollowUpTask():
            linked = {fold(one.title) for one in seen.linked if one.relation == "has_follow_up"}
            if fold(arguments.title) in linked:
                return redundant("There is such a follow-up task already.")
            if _was_confirmed(sets, FOLLOW_UP_TOOL, arguments):
                return redundant("There was such a follow-up task, and the person took it away.")
            return _one_too_many(sets, FOLLOW_UP_TOOL, "follow-up tasks") or _not_open(
                seen, arguments
            )
        case CreateTask(title=title):
            return _known_title(wake, sets, fold(title), text) or _one_too_many(
                sets, CREATE_TOOL, "tasks"
            )
        case ProposeDirectives():
            told = _listed(wake, "feedback", text), _listed(wake, "template", text)
            is_asked = wake.begun.reason == "user"
            return improving.refused(seen, arguments, *told, is_asked=is_asked)
        case ProposeLink(relation=phrase, target_task_id=target):
            if any(one.id == target and one.relation == phrase for one in seen.linked):
                return redundant("The two are linked so already.")
            if _was_confirmed(sets, LINK_TOOL, arguments):
                return redundant("The two were linked so, and the link was taken away.")
            is_known = target == seen.task or target in visible_tasks(wake, seen, own, text)
        case MigrateChecklistItems(target_task_id=target):
            linked = {one.id for one in seen.linked}
            is_known = target in linked or target in follow_ups(own)
        case _:
            return None
    if is_known:
        return None
    because = f"No task with the id {quoted(target)} was shown to you."
    where = "Name a linked task, one that you found, or your new follow-up task."
    return ToolRefusal("not_found", f"{because} {where}")


def _listed(wake: Wake, section: str, text: Callable[[Words], str]) -> list[str]:
    """The texts in the list that a section of a wake told, an object a line."""
    told = (text(Words(payload=one.payload)) for one in wake.begun.user if one.name == section)
    lines = (line.rstrip(",") for each in told for line in each.splitlines())
    objects = [canonical.read(line) for line in lines if line.startswith("{")]
    return [value for one in objects for value in one.values() if isinstance(value, str)]


def visible_tasks(
    wake: Wake, seen: Snapshot, own: ChangeSet, text: Callable[[Words], str]
) -> dict[str, VisibleTask]:
    """The tasks that a wake was shown, by id, and those that its own set would make."""
    found = {
        one.id: VisibleTask(one.id, one.title, one.status, one.category) for one in seen.linked
    }
    found |= {one.id: VisibleTask(one.id, category=one.category) for one in seen.others}
    for ref in wake.results:
        if ref.tool in READS and not ref.is_error:
            found |= {one.id: one for one in _read(text(ref.message))}
    return found | {one: VisibleTask(one) for one in follow_ups(own)}


def follow_ups(own: ChangeSet) -> tuple[str, ...]:
    """The ids of the tasks that a set would make, in order."""
    made = (one for one in own.items if one.tool == FOLLOW_UP_TOOL)
    return tuple(follow_up_id(own.id, one.number) for one in made)


def _was_confirmed(sets: Iterable[ChangeSet], tool: str, arguments: Struct) -> bool:
    """Whether the person had this done before, whatever became of it since."""
    made = fingerprint(tool, canonical.text(arguments))
    items = (item for one in sets for item in one.items if item.fingerprint == made)
    return any(item.status == "confirmed" for item in items)


def _known_title(
    wake: Wake, sets: Iterable[ChangeSet], title: str, text: Callable[[Words], str]
) -> ToolRefusal | None:
    """Why a task of that title is not proposed: there is one, or the person knows of it."""
    if title in _open_titles(wake, text):
        return redundant("There is such a task already.")
    for item in (item for one in sets for item in one.items if item.tool == CREATE_TOOL):
        given: Any = canonical.read(text(item.arguments_now or item.arguments))
        if item.status in _SAID and fold(given["title"]) == title:
            if wake.begun.reason == "user" and item.status != "pending":
                return None
            return redundant(f"Such a task was proposed, {_SAID[item.status]}.")
    return None


_SAID = {
    "pending": "and is not decided yet",
    "confirming": "and is being made",
    "confirmed": "made, and is not open any more",
    "rejected": "and the person turned it down",
    "deferred": "and the person put it off",
}


def _open_titles(wake: Wake, text: Callable[[Words], str]) -> set[str]:
    """The titles of the open tasks that a wake was shown, folded."""
    told = [text(Words(payload=one.payload)) for one in wake.begun.user if one.name == "week"]
    read = (text(one.message) for one in wake.results if one.tool in READS and not one.is_error)
    found = [
        *_read("{" + "".join(told).partition("{")[2]),
        *(one for each in read for one in _read(each)),
    ]
    return {fold(one.title) for one in found if one.status not in CLOSED}


def _one_too_many(sets: Iterable[ChangeSet], tool: str, what: str) -> ToolRefusal | None:
    items = (item for one in sets for item in one.items)
    count = sum(item.tool == tool and is_open(item) for item in items)
    if count < FOLLOW_UPS_MAX:
        return None
    return ToolRefusal("limit", f"{count} {what} are proposed and not decided yet.")


def _not_open(seen: Snapshot, arguments: CreateFollowUpTask) -> ToolRefusal | None:
    """Only what is still to do is carried over; a tick of later days moves along."""
    done = {one.id: one.title for one in seen.items if one.is_checked or one.is_archived}
    first = next((one.id for one in arguments.carry_over if one.id in done), None)
    if first is None:
        return None
    return ToolRefusal("not_found", f"Item {quoted(done[first])} is not open: leave it out.")


def _read(text: str) -> list[VisibleTask]:
    """The tasks in the answer of a read; none of one that is no such document."""
    try:
        given: Any = canonical.read(text)
    except Refused:
        return []
    tasks = given.get("tasks") if isinstance(given, dict) else None
    return [
        VisibleTask(*(str(one.get(name, "")) for name in ("id", "title", "status", "category")))
        for one in (tasks if isinstance(tasks, list) else [])
        if isinstance(one, dict) and one.get("id")
    ]
