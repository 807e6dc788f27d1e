"""Law 9 on proposals: every item is in exactly one state, and comes to it on a way there is."""

from collections import defaultdict
from collections.abc import Iterator

from tests.support.checking.logs import Append, Doc, Finding, Home, Row

OPEN = ("pending", "deferred")
WAYS: dict[str, tuple[tuple[str, ...], str]] = {
    "changes.item_rejected.1": (OPEN, "rejected"),
    "changes.item_deferred.1": (("pending",), "deferred"),
    "changes.item_retracted.1": (("pending", "deferred"), "retracted"),
    "changes.item_expired.1": (OPEN, "expired"),
    "changes.item_confirmed.1": (("confirming",), "confirmed"),
    "changes.item_failed.1": (("confirming",), "pending"),
    "changes.item_reopened.1": (("rejected", "deferred", "retracted"), "pending"),
}
"""From which states a fact leads on, and to which one."""
BY_PERSON = {
    "changes.item_rejected.1": "reject_item",
    "changes.item_deferred.1": "defer_item",
    "changes.item_reopened.1": "reopen_item",
}


class _Item:
    def __init__(self) -> None:
        self.status = "pending"
        self.confirmation = 0
        self.attempt = 0
        self.suppression = ""  # an operation under way
        self.undo = ""  # the same, of what was confirmed


class _Set:
    def __init__(self) -> None:
        self.items: dict[int, _Item] = {}
        self.is_opened = False
        self.agent = ""


def check(home: Home) -> Iterator[Finding]:
    """All change sets of the agent log."""
    sets: defaultdict[str, _Set] = defaultdict(_Set)
    ended: set[str] = set()
    runs: dict[str, str] = {}
    for one in home.agents.appends:
        for row in one.rows:
            if row.kind == "changes":
                found = _row(one, row, sets[row.entity])
                yield from (Finding(9, one.where, f"{row.entity}: {told}") for told in found)
            elif row.topic == "agent.proposed.1":
                runs[row.data["runKey"]] = row.data["changes"]
        ended |= {row.entity for row in one.of("wake.finished.1")}
    proposed = set(runs.values())
    for name, known in sets.items():
        if known.is_opened != (name in proposed):
            yield Finding(9, name, "the set is opened, or its agent's, and not both")
        if home.is_settled:
            yield from _settled(name, known)
    for run in ended.intersection(runs):
        if not sets[runs[run]].is_opened:
            yield Finding(9, run, "the wake has ended, and nobody is shown what it proposes")


def _settled(name: str, known: _Set) -> Iterator[Finding]:
    for number, item in known.items.items():
        if item.status == "confirming" or item.suppression or item.undo:
            yield Finding(9, name, f"item {number} is in doubt")


def _row(one: Append, row: Row, known: _Set) -> Iterator[str]:
    data = row.data
    if row.topic == "changes.opened.1":
        if known.is_opened or not known.items:
            yield "it is opened twice, or empty"
        known.is_opened, known.agent = True, data["agent"]
        return
    number = data["item"]
    if row.topic == "changes.item_proposed.1":
        if number != len(known.items) + 1:
            yield f"item {number} follows {len(known.items)}"
        known.items[number] = _Item()
        return
    item = known.items.get(number)
    if item is None:
        yield f"{row.topic} of item {number}, which nobody proposed"
        return
    if row.topic in WAYS:
        yield from _way(row.topic, one, data, item)
    elif row.topic == "changes.item_confirming.1":
        yield from _confirming(data, item)
    elif row.topic in ("changes.undo_asked.1", "changes.item_undone.1"):
        yield from _undo(row.topic, data, item)
    else:
        yield from _suppression(row.topic, data, item)


def _way(topic: str, one: Append, data: Doc, item: _Item) -> Iterator[str]:
    before, after = WAYS[topic]
    if item.status not in before:
        yield f"{topic} of item {data['item']}, which is {item.status}"
    if data.get("confirmation", item.confirmation) != item.confirmation:
        yield f"item {data['item']}: an outcome of confirmation {data['confirmation']}"
    deeds = BY_PERSON.get(topic)
    if deeds and one.does != deeds:
        yield f"item {data['item']} is decided by {one.does or one.first.topic}"
    item.status = after


def _confirming(data: Doc, item: _Item) -> Iterator[str]:
    """A new confirmation of an open item, or the same one under the next attempt."""
    now = data["confirmation"], data["attempt"]
    if item.status in OPEN:
        expected = item.confirmation + 1, 1
    elif item.status == "confirming":
        expected = item.confirmation, item.attempt + 1
    else:
        yield f"item {data['item']} is confirmed and is {item.status}"
        expected = now
    if now != expected:
        yield f"item {data['item']} is confirmed as {now} and not as {expected}"
    item.status, (item.confirmation, item.attempt) = "confirming", now


def _undo(topic: str, data: Doc, item: _Item) -> Iterator[str]:
    """What is confirmed is taken back, by one operation at a time; refused, it stays so."""
    if not data["undoes"] and topic == "changes.item_undone.1":
        item.undo = data["operation"]  # in one append, which asks nobody
    if item.status != "confirmed" or data["confirmation"] != item.confirmation:
        yield f"item {data['item']} is undone, and is {item.status} for the {item.confirmation}th"
    if topic == "changes.undo_asked.1":
        if item.undo not in ("", data["operation"]):
            yield f"item {data['item']} is undone while {item.undo} is under way"
        item.undo = data["operation"]
        return
    if item.undo != data["operation"]:
        yield f"item {data['item']}: {data['operation']} was not asked for"
    item.undo = ""
    if not data.get("code"):
        item.status = "pending"


def _suppression(topic: str, data: Doc, item: _Item) -> Iterator[str]:
    if topic.startswith("changes.suppression") and item.status != "rejected":
        yield f"a label is suppressed for item {data['item']}, which is {item.status}"
    is_done = topic in ("changes.suppression_done.1", "changes.lift_done.1")
    if is_done and item.suppression != data["operation"]:
        yield f"item {data['item']}: {data['operation']} was not asked for"
    item.suppression = "" if is_done else data["operation"]
