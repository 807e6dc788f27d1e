"""Law 8 on what moves: items that an append takes from one task to another keep title and tick,
and stand once; and on time: what an agent logs or corrects meets no other entry of its task."""

from collections import defaultdict
from collections.abc import Iterator

from tests.support.checking.logs import Append, Doc, Finding, Home, Row, decoded, key

MOVES = ("apply_operation", "conclude_task")


class _Task:
    """Items and time entries of a task as its rows tell them."""

    def __init__(self) -> None:
        self.items: dict[str, Doc] = {}
        self.entries: dict[str, list[str]] = {}  # start and end


def others_of(tool: str, text: str, made: str) -> tuple[str, ...]:
    """The tasks beside the agent's own that a change names.

    Args:
        tool: What changes it.
        text: Its arguments.
        made: The id of the task that it would make.
    """
    if tool == "create_follow_up_task":
        return (made,)
    if tool not in ("migrate_checklist_item", "link_task"):
        return ()
    found = decoded(b'{"n":0,"data":%s}' % (text or "{}").encode())
    return (str(found["data"].get("targetTaskId", "")),) if found else ()


def follow_up(changes: str, number: int) -> str:
    """The id of the task that an item of a change set makes."""
    return key("follow-up", changes, str(number))


def moved(one: Append) -> set[str]:
    """The items that an append brings to a task from another one."""
    added = one.of("task.item_added.1")
    return {str(row.data["item"]) for row in added if row.data.get("movedFrom")}


def check(home: Home) -> Iterator[Finding]:
    """The journal alone."""
    tasks: defaultdict[str, _Task] = defaultdict(_Task)
    for one in home.journal.appends:
        expected: dict[tuple[str, str], Doc] = {}
        for row in one.of("task.item_added.1"):
            if source := row.data.get("movedFrom"):
                was, told = _source(one, row.entity, source, tasks)
                expected[row.entity, row.data["item"]] = was
                yield from (Finding(8, one.where, each) for each in told)
        for row in one.rows:
            if row.kind == "task":
                _learn(row, tasks[row.entity])
        for (task, item), was in expected.items():
            now = tasks[task].items[item]
            if was and _said(now) != _said(was):
                yield Finding(8, one.where, f"the item {item} moved as {now} and was {was}")
        if one.does == "apply_operation":
            yield from (Finding(8, one.where, told) for told in _times(one, tasks))


def _source(
    one: Append, target: str, item: str, tasks: defaultdict[str, _Task]
) -> tuple[Doc, list[str]]:
    """The item that moves, as it is before; and what speaks against it."""
    told = [] if one.does in MOVES else [f"{one.does or one.first.topic} moves an item"]
    gone = [row.entity for row in one.of("task.item_archived.1") if row.data["item"] == item]
    if len(gone) != 1 or gone[0] == target:
        return {}, [*told, f"the item {item} comes to {target} and leaves {gone or 'no task'}"]
    was = tasks[gone[0]].items.get(item, {})
    if not was or was["archived"]:
        told.append(f"the item {item} moves and was not there")
    return dict(was), told


def _said(item: Doc) -> Doc:
    """An item as it moves: that an agent took a tick away is nothing to keep."""
    return item if item["checked"] or item["by"] == "person" else {**item, "by": ""}


def _learn(row: Row, task: _Task) -> None:
    data = row.data
    item = task.items.get(data.get("item", ""), {})
    match row.topic.removeprefix("task."):
        case "item_added.1":
            is_checked = bool(data.get("isChecked"))
            by = data["by"] if is_checked else ""
            task.items[data["item"]] = {
                "title": data["title"], "checked": is_checked, "by": by, "archived": False,
            }  # fmt: skip
        case "item_retitled.1":
            item["title"] = data["title"]
        case "item_checked.1" | "item_unchecked.1":
            item |= {"checked": ".item_checked." in row.topic, "by": data["by"]}
        case "item_archived.1" | "item_restored.1":
            item["archived"] = row.topic == "task.item_archived.1"
        case "time_started.1":
            task.entries[data["entry"]] = [data["start"], ""]
        case "time_logged.1":
            task.entries[data["entry"]] = [data["start"], data["end"]]
        case "time_stopped.1":
            task.entries[data["entry"]][1] = data["end"]
        case "time_reopened.1":
            task.entries[data["entry"]][1] = ""
        case "time_removed.1":
            del task.entries[data["entry"]]
        case "time_edited.1":
            known = task.entries[data["entry"]]
            known[:] = data.get("start") or known[0], data.get("end") or known[1]


def _times(one: Append, tasks: defaultdict[str, _Task]) -> Iterator[str]:
    for row in one.of("task.time_logged.1", "task.time_edited.1"):
        if not row.data.get("start") and not row.data.get("end"):
            continue
        named, entries = row.data["entry"], tasks[row.entity].entries
        start, end = entries[named]
        if not start < end <= one.at:
            yield f"an agent has the entry {named} from {start} to {end or 'no end'}"
        for other, (begun, over) in entries.items():
            if other != named and begun < end and (not over or start < over):
                yield f"an agent lays the entry {named} over {other}"
