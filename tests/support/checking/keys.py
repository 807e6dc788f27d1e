"""Law 3: keys are derived. Each is made again from what it names, as DESIGN 6 tells."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.support.checking.logs import (
    Append,
    Doc,
    Finding,
    Home,
    Log,
    Row,
    canonical,
    decoded,
    folded,
    key,
)

UNREAD = {"unknown_tool", "wake_reason_not_allowed", "invalid_json", "missing_category"}
"""Codes of calls that were denied before their arguments were looked at."""


def check(home: Home) -> Iterator[Finding]:
    """All keys of both logs that can be made again."""
    yield from _Journal(home.journal).walk()
    yield from _Agents(home).walk()


def _differs(where: str, what: str, found: str, made: str) -> Iterator[Finding]:
    if found != made:
        yield Finding(3, where, f"{what} is {found} and not {made}")


class _Journal:
    """Ids of what a person, a file or an agent made."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._items: Counter[str] = Counter()  # of each task
        self._removed: set[tuple[str, str]] = set()  # notes of tasks
        self._labels: dict[str, str] = {}  # folded names to ids
        self._logged_times: Counter[tuple[str, str, str]] = Counter()

    def walk(self) -> Iterator[Finding]:
        for one in self._log.appends:
            settles = one.does in ("apply_operation", "void_operation", "undo_deed")
            if settles and (named := one.command.get("operation", "")):
                yield from _differs(one.where, "the receipt's key", one.first.entity, named)
            for row in one.rows:
                yield from self._row(one, row)

    def _row(self, one: Append, row: Row) -> Iterator[Finding]:
        data, given = row.data, one.first.entity
        match row.topic:
            case "task.created.1" if one.does in ("create_task", "conclude_task"):
                yield from _differs(one.where, "the task", row.entity, key("task", given, "0"))
            case "task.note_added.1" if one.does == "add_note":
                yield from _differs(one.where, "the note", data["note"], key("note", given, "0"))
            case "task.note_added.1" if one.does == "undo_deed":
                if (row.entity, data["note"]) not in self._removed:
                    yield Finding(3, one.where, f"the note {data['note']} was not removed before")
            case "task.note_removed.1":
                self._removed.add((row.entity, data["note"]))
            case "task.note_added.1":
                yield from self._imported_note(one, row)
            case "task.time_removed.1":
                self._removed.add((row.entity, data["entry"]))
            case "task.time_started.1" | "task.time_logged.1" if one.does == "undo_deed":
                if (row.entity, data["entry"]) not in self._removed:
                    yield Finding(3, one.where, f"the entry {data['entry']} was not removed before")
            case "task.time_logged.1" if one.does == "apply_operation":
                yield from self._logged(one, row)
            case "task.time_started.1" | "task.time_logged.1":
                yield from _differs(one.where, "the entry", data["entry"], key("time", given, "0"))
            case "task.checklist_added.1":
                made = key("checklist", row.entity, folded(data["title"]))
                yield from _differs(one.where, "the checklist", data["checklist"], made)
            case "task.item_added.1":
                yield from self._item(one, row)
            case "catalog.category_added.1":
                made = key("category", folded(data["name"]))
                yield from _differs(one.where, "the category", data["category"], made)
            case "catalog.label_added.1" | "catalog.label_scoped.1" if data.get("name"):
                name = folded(data["name"])
                made = self._labels.setdefault(name, key("label", name))
                yield from _differs(one.where, "the label", data["label"], made)

    def _item(self, one: Append, row: Row) -> Iterator[Finding]:
        """The nth item of a title; n is at most the number of the items that there are."""
        title = folded(row.data["title"])
        self._items[row.entity] += 1
        numbers = range(self._items[row.entity])
        if row.data["item"] not in (key("item", row.entity, title, str(nth)) for nth in numbers):
            yield Finding(3, one.where, f"the item {row.data['item']} is not made of its title")

    def _logged(self, one: Append, row: Row) -> Iterator[Finding]:
        """What an agent logs is named by its times; an older entry of them may have been moved."""
        data, spot = row.data, (row.entity, row.data["start"], row.data["end"])
        self._logged_times[spot] += 1
        numbers = range(self._logged_times[spot])
        if data["entry"] not in (key("time", *spot, str(nth)) for nth in numbers):
            yield Finding(3, one.where, f"the entry {data['entry']} is not made of its times")

    def _imported_note(self, one: Append, row: Row) -> Iterator[Finding]:
        """A file's note is named by its own key, or by its text."""
        documents = [
            decoded_document(self._log, imported.data["document"])
            for imported in one.of("task.imported.1")
            if imported.entity == row.entity
        ]
        notes = [note for document in documents for note in document.get("notes", [])]
        names = [note.get("key") or folded(note["text"]) for note in notes]
        made = {key("note", row.entity, name, str(nth)) for name in names
                for nth in range(names.count(name))}  # fmt: skip
        if row.data["note"] not in made:
            yield Finding(3, one.where, f"the note {row.data['note']} is none of its file's")


def decoded_document(log: Log, named: str) -> Doc:
    """A payload that is a JSON object; empty where it is gone or none."""
    found = decoded(b'{"n":0,"data":%s}' % log.payloads.get(named, b"{}"))
    return found["data"] if found else {}


def run_key(agent: str, trigger: Doc) -> str:
    """The key of the wake that a trigger makes, if it is the first of it."""
    reason, named = trigger["reason"], trigger["reasonId"]
    match reason:
        case "subscription":
            return key("run/subscription", agent, named, trigger.get("change", ""))
        case "timer":
            return key("run/timer", agent, named, (trigger.get("ticks") or [""])[0])
        case "user":
            return key("run/user", agent, named, str(trigger.get("turn", 0)))
        case "request":
            return key("run/request", agent, named)
        case _:
            return key(f"run/{reason}", agent, trigger.get("replica", ""), named)


class _Wake:
    """What an operation's name needs of a wake: what it may touch, what it did, its calls."""

    def __init__(self, started: Doc | None = None) -> None:
        begun = started or {}
        self.agent, self.task = begun.get("agent", ""), begun.get("task", "")
        self.scope = canonical(begun.get("categories", [])), canonical([self.task])
        self.actions: Counter[str] = Counter()
        self.calls: list[Doc] = []


class _Agents:
    """Names in the agent log: agents, subscriptions, wakes, operations, sets, fingerprints."""

    def __init__(self, home: Home) -> None:
        self._log = home.agents
        self._generations: Counter[str] = Counter()
        self._categories: dict[str, list[str]] = {}
        self._wakes: defaultdict[str, _Wake] = defaultdict(_Wake)
        self._sets: dict[str, str] = {}  # to their run keys
        self._items: defaultdict[str, dict[int, Doc]] = defaultdict(dict)
        self._turns: Counter[tuple[str, int, str]] = Counter()  # of label deeds, by item
        self._used: defaultdict[str, set[str]] = defaultdict(set)  # operations of each set

    def walk(self) -> Iterator[Finding]:
        for one in self._log.appends:
            for row in one.rows:
                yield from self._row(one, row)

    def _row(self, one: Append, row: Row) -> Iterator[Finding]:
        match row.kind:
            case "agent":
                yield from self._agent(one, row)
            case "alert":
                yield from self._wake_queue(one, row)
            case "wake":
                yield from self._wake(one, row)
            case "changes":
                yield from self._change(one, row)
            case "template" if row.topic == "template.created.1":
                seed = one.command.get("seed")
                made = key("template", "seed", seed) if seed else None
                made = made or key("template", one.first.entity, "0")
                yield from _differs(one.where, "the template", row.entity, made)

    def _agent(self, one: Append, row: Row) -> Iterator[Finding]:
        data, agent = row.data, row.entity
        match row.topic:
            case "agent.created.1":
                task = data["task"] or data["subject"]
                self._generations[task] += 1
                self._categories[agent] = data.get("categories", [])
                made = key("agent", data["agentKind"], task, str(self._generations[task]))
                yield from _differs(one.where, "the agent", agent, made)
            case "agent.categories_allowed.1":
                self._categories[agent] = data["categories"]
            case "agent.subscribed.1":
                predicate = data.get("category", ""), data.get("status", "")
                made = key("subscription", agent, canonical(data["tokens"]), *predicate)
                if data["subscription"] not in (made, key("subscription", agent, "task")):
                    yield Finding(3, one.where, f"the subscription {data['subscription']} is drawn")
            case "agent.timer_set.1":
                made = key("timer", agent, data["schedule"], data["zone"])
                yield from _differs(one.where, "the timer", data["timer"], made)
            case "agent.proposed.1":
                made = key("changes", data["runKey"])
                yield from _differs(one.where, "the change set", data["changes"], made)

    def _wake_queue(self, one: Append, row: Row) -> Iterator[Finding]:
        if row.topic != "alert.wake_queued.1":
            return
        data = row.data
        trigger, named = data["trigger"], data["runKey"]
        yield from _differs(one.where, "the run key", named, run_key(row.entity, trigger))
        session = f"agent:session:{trigger['reasonId']}"
        thread = session if trigger["reason"] == "user" else f"agent:run:{named}"
        yield from _differs(one.where, "the thread", data["thread"], thread)
        if trigger["reason"] in ("manual", "creation", "recovery"):
            here = trigger.get("replica"), trigger["reasonId"]
            yield from _differs(one.where, "the request", str(here), str((one.replica, str(one.n))))
        if trigger["reason"] == "user":
            wanted = one.command.get("session") or one.first.entity
            yield from _differs(one.where, "the session", trigger["reasonId"], wanted)

    # -------------------------------------------------------------------------------------- wakes

    def _wake(self, one: Append, row: Row) -> Iterator[Finding]:
        wake, data = self._wakes[row.entity], row.data
        match row.topic:
            case "wake.started.1":
                self._wakes[row.entity] = _Wake(data)
                self._sets[key("changes", row.entity)] = row.entity
            case "wake.model_answered.1":
                wake.calls = list(data.get("calls", []))
            case "wake.tool_asked.1":
                text = self._log.words(data["arguments"])
                made = key("action", data["tool"], text, *wake.scope)
                yield from _differs(one.where, "the action", data["action"], made)
                yield from self._operation(one, row, wake)
            case "wake.tool_returned.1":
                yield from self._returned(one, row, wake)

    def _returned(self, one: Append, row: Row, wake: _Wake) -> Iterator[Finding]:
        data = row.data
        call: Doc = wake.calls.pop(0) if wake.calls else {}
        yield from _differs(one.where, "the call", data["callId"], call.get("callId", ""))
        if data.get("code") in UNREAD:
            text = self._log.words(call.get("arguments"))
            made = key("action", data["tool"], text, *wake.scope)
            yield from _differs(one.where, "the action", data["action"], made)
        yield from self._operation(one, row, wake)
        wake.actions[data["action"]] += 1

    def _operation(self, one: Append, row: Row, wake: _Wake) -> Iterator[Finding]:
        """Named by its wake, its action, and how many of the same came before."""
        action = row.data["action"]
        made = key("operation", row.entity, action, str(wake.actions[action]), "1")
        yield from _differs(one.where, "the operation", row.data["operation"], made)

    # -------------------------------------------------------------------------------- change sets

    def _change(self, one: Append, row: Row) -> Iterator[Finding]:
        data, changes = row.data, row.entity
        if changes not in self._sets:
            yield Finding(3, one.where, f"the change set {changes} is of no wake")
            self._sets[changes] = ""
        match row.topic:
            case "changes.item_proposed.1":
                self._items[changes][data["item"]] = data
                text = self._log.words(data["arguments"])
                made = fingerprint(data["tool"], text)
                yield from _differs(one.where, "the fingerprint", data["fingerprint"], made)
            case "changes.opened.1":
                yield from _differs(one.where, "its wake", data["runKey"], self._sets[changes])
            case "changes.item_confirming.1" if data["operation"] and data["attempt"] == 1:
                yield from self._confirming(one, row)
            case "changes.suppression_asked.1" | "changes.lift_asked.1" if data["attempt"] == 1:
                tool = "lift_suppression" if "lift" in row.topic else "suppress_label"
                action, spot = key("action", tool, data["label"]), (changes, data["item"], tool)
                self._turns[spot] += 1
                nth = str(self._turns[spot])
                made = key("operation", self._sets[changes], action, "0", nth)
                yield from _differs(one.where, "the operation", data["operation"], made)
            case "changes.undo_asked.1" if data["attempt"] == 1:
                action = key("action", "undo", data["undoes"])
                self._turns[changes, data["item"], action] += 1
                nth = str(self._turns[changes, data["item"], action])
                made = key("operation", self._sets[changes], action, "0", nth)
                yield from _differs(one.where, "the operation", data["operation"], made)

    def _confirming(self, one: Append, row: Row) -> Iterator[Finding]:
        """A confirmation's operation: of the arguments in force, and the next free ordinal."""
        data, changes = row.data, row.entity
        items, run = self._items[changes], self._sets[changes]
        item, wake = items.get(data["item"], {}), self._wakes[run]
        text = self._log.words(data.get("arguments") or item.get("arguments"))
        scope = canonical(self._categories.get(wake.agent, []))
        action = key("action", item.get("tool", ""), text, scope, canonical([wake.task]))
        twins = [
            number
            for number, other in items.items()
            if other["fingerprint"] == item.get("fingerprint") and number < data["item"]
        ]
        ordinals = range(len(twins), len(twins) + len(self._used[changes]) + 1)
        confirmation = str(data["confirmation"])
        made = (key("operation", run, action, str(nth), confirmation) for nth in ordinals)
        free = next(name for name in made if name not in self._used[changes])
        self._used[changes].add(data["operation"])
        yield from _differs(one.where, "the operation", data["operation"], free)


def fingerprint(tool: str, text: str) -> str:
    """Names a proposal by what it does, however sure the agent is and why."""
    found = decoded(b'{"n":0,"data":%s}' % text.encode())
    if found is None:
        return key("fingerprint", tool, text)
    kept: dict[str, Any] = found["data"]
    kept = {name: kept[name] for name in kept if name not in ("confidence", "reason")}
    return key("fingerprint", tool, canonical(kept))
