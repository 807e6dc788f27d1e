"""Law 9 from the journal's side: every append is taken once, as the batch it is, and every agent
that subscribes to what it touched has noted it once.

Tokens, change keys, links and agents' subscriptions are worked out anew from the rows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tests.support.checking.attention import triggers
from tests.support.checking.logs import Append, Doc, Finding, Home, Row, key

TAKEN_MAX = 500  # journal appends of one taking
_ITEMS = ("added", "retitled", "checked", "unchecked", "archived", "restored")
_PARTS = {
    **{f"task.item_{what}.1": ("CHECKLIST_ITEM", "item") for what in _ITEMS},
    "task.checklist_added.1": ("CHECKLIST", "checklist"),
    "task.note_added.1": ("NOTE", "note"),
    "task.note_edited.1": ("NOTE", "note"),
    "task.note_removed.1": ("NOTE", "note"),
    "task.time_started.1": ("TIME_ENTRY", "entry"),
    "task.time_stopped.1": ("TIME_ENTRY", "entry"),
    "task.time_logged.1": ("TIME_ENTRY", "entry"),
    "task.time_edited.1": ("TIME_ENTRY", "entry"),
    "task.time_reopened.1": ("TIME_ENTRY", "entry"),
    "task.time_removed.1": ("TIME_ENTRY", "entry"),
    "task.linked.1": ("LINK", "target"),
    "task.unlinked.1": ("LINK", "target"),
}
"""What a fact about a part of a task touches, and which of its fields names that part."""

Spot = tuple[str, int]


def check(home: Home) -> Iterator[Finding]:
    """The journal against the watcher's rows."""
    batches = dict(_batches(home))
    walk = _Walk(home, batches)
    yield from walk.walk()
    if home.is_settled and home.journal.appends:
        newest = home.journal.appends[-1]
        if (taken := walk.taken[newest.replica, newest.replica]) < newest.n:
            yield Finding(9, newest.where, f"appends {taken + 1} to {newest.n} were not taken")


# ----------------------------------------------------------------------------- what an append is


def _batches(home: Home) -> Iterator[tuple[Spot, Doc]]:
    """Each journal append that touches something, as a notification batch."""
    incoming: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    tasks: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one in home.journal.appends:
        for row in one.rows:
            _learn(row, incoming, tasks)
        touched = sorted({row.entity for row in one.rows if row.kind == "task"})
        tokens = {token for row in one.rows for token in _tokens(row)}
        if not tokens:
            continue
        sources = {source for task in touched for _, source in incoming[task]}
        batch: Doc = {
            "n": one.n,
            "replica": one.replica,
            "origin": _origin(one),
            "hop": _hop(one),
            "tokens": sorted(tokens),
            "propagated": sorted({f"id:{source}" for source in sources} - tokens),
            "change": key("change", *sorted({_unit(row) for row in one.rows if _tokens(row)})),
            "touched": [
                {
                    "task": task,
                    "category": tasks[task].get("category", ""),
                    "status": tasks[task].get("status", "OPEN"),
                }
                for task in touched
            ],
        }
        yield (one.replica, one.n), batch


def _learn(
    row: Row,
    incoming: defaultdict[str, set[tuple[str, str]]],
    tasks: defaultdict[str, dict[str, str]],
) -> None:
    data = row.data
    match row.topic:
        case "links.linked.1":
            incoming[row.entity].add((data["relation"], data["source"]))
        case "links.unlinked.1":
            incoming[row.entity].discard((data["relation"], data["source"]))
        case "task.created.1" if not tasks[row.entity]:
            tasks[row.entity] = {"category": data["category"], "status": "OPEN"}
        case "task.category_set.1":
            tasks[row.entity]["category"] = data["category"]
        case "task.status_set.1":
            tasks[row.entity]["status"] = data["status"]


def _tokens(row: Row) -> set[str]:
    """What a fact touches."""
    data, topic = row.data, row.topic
    if row.kind == "catalog":
        return {"key:LABEL" if ".label_" in topic else "key:CATEGORY"}
    if row.kind != "task":
        return set()
    own = f"id:{row.entity}"
    if topic in _PARTS:
        name, field = _PARTS[topic]
        found = {own, f"key:{name}", f"id:{data[field]}"}
        return found | ({f"sub:note:{data['noteKind']}"} if topic == "task.note_added.1" else set())
    if topic == "task.rated.1":
        return {own, "key:RATING"} | ({f"id:{data['entry']}"} if data["entry"] else set())
    if topic in ("task.label_assigned.1", "task.label_removed.1"):
        return {own, "key:TASK", "key:LABEL", f"id:{data['label']}"}
    return {own, "key:TASK"}


def _origin(one: Append) -> str:
    found = (row.data.get("by", "") for row in one.rows if row.kind == "task")
    return next((by for by in found if by), "person")


def _hop(one: Append) -> int:
    return one.command.get("hop", 0) + 1 if one.does == "apply_operation" else 0


def _unit(row: Row) -> str:
    by = row.data.get("by", "person")
    return key("unit", by, row.replica, str(row.doc["n"]), row.kind, row.entity)


# ------------------------------------------------------------------------------- what was noticed


class Wish(NamedTuple):
    """What a subscription asks for."""

    tokens: set[str]
    category: str
    status: str

    def matches(self, batch: Doc) -> bool:
        if not self.tokens.intersection([*batch["tokens"], *batch["propagated"]]):
            return False
        if not self.category and not self.status:
            return True
        return any(
            self.category in ("", one["category"]) and self.status in ("", one["status"])
            for one in batch["touched"]
        )


class _Walk:
    """Goes through the agent log and compares each taking with the journal."""

    def __init__(self, home: Home, batches: dict[Spot, Doc]) -> None:
        self._home = home
        self._batches = batches
        self._born: dict[str, int] = {}
        self._wishes: defaultdict[str, dict[str, Wish]] = defaultdict(dict)  # of each agent
        self.taken: Counter[tuple[str, str]] = Counter()  # by whom, of whose appends

    def walk(self) -> Iterator[Finding]:
        for one in self._home.agents.appends:
            takings = list(one.of("watch.journal_taken.1"))
            for row in takings:
                yield from (Finding(9, one.where, told) for told in self._taking(one, row))
            if not takings and one.does == "take_journal" and len(one.rows) > 1:
                yield Finding(9, one.where, "a taking says nothing of what it took")
            for row in one.rows:
                self._learn(row)

    def _learn(self, row: Row) -> None:
        data = row.data
        match row.topic:
            case "agent.created.1":
                self._born.setdefault(row.entity, data.get("position", 0))
            case "agent.subscribed.1":
                wish = Wish(set(data["tokens"]), data.get("category", ""), data.get("status", ""))
                self._wishes[row.entity][data["subscription"]] = wish
            case "agent.unsubscribed.1":
                self._wishes[row.entity].pop(data["subscription"], None)

    def _taking(self, one: Append, row: Row) -> Iterator[str]:
        replica, first, last = row.data["replica"], row.data["first"], row.data["last"]
        end = self._home.journal.last()
        whose = one.replica, replica
        if first != self.taken[whose] + 1:
            told = f"appends {first} to {last} of {replica} are taken"
            yield f"{told}, and before that those up to {self.taken[whose]}"
        if last > end:
            yield f"appends up to {last} of {replica} are taken, and the journal ends at {end}"
        if last - first >= TAKEN_MAX:
            yield f"{last - first + 1} appends are taken at once"
        self.taken[whose] = max(self.taken[whose], last)
        given = [batch for batch in one.command.get("batches", []) if batch["n"] >= first]
        names = {batch["replica"] for batch in given} | {replica}
        here = [
            self._batches[name, n]
            for n in range(first, min(last, end) + 1)
            for name in names
            if (name, n) in self._batches
        ]
        if [_whole(batch) for batch in given] != here:
            yield f"the batches of {first} to {last} are not what the journal says"
        yield from self._noticed(one, here)

    def _noticed(self, one: Append, here: list[Doc]) -> Iterator[str]:
        """What each agent had to note, and what was noted."""
        wanted = {
            (agent, subscription, (batch["replica"], batch["n"]))
            for batch in here
            for agent, wishes in self._wishes.items()
            if batch["n"] > self._born.get(agent, 0)
            for subscription, wish in wishes.items()
            if wish.matches(batch)
        }
        noted = list(_noted(one))
        for agent, _, (replica, n) in sorted(wanted.difference(noted)):
            yield f"journal:{replica}:{n} is lost to the agent {agent}"
        for agent, _, (replica, n) in sorted(set(noted) - wanted):
            yield f"journal:{replica}:{n} is noted for the agent {agent} and does not concern it"
        for (agent, _, (replica, n)), count in Counter(noted).items():
            if count > 1:
                yield f"journal:{replica}:{n} is noted {count} times for the agent {agent}"


def _noted(one: Append) -> Iterator[tuple[str, str, Spot]]:
    for row in one.rows:
        for trigger in triggers(row.data) if row.kind == "alert" else []:
            if trigger["reason"] == "subscription":
                spot = trigger.get("replica", ""), trigger.get("position", 0)
                yield row.entity, trigger["reasonId"], spot


def _whole(batch: Doc) -> Doc:
    """A batch as it is stored, with what was left out because it is empty."""
    return {"propagated": [], "change": "", "touched": [], **batch}
