"""Laws 5, 7 and 8 between the logs: an effect on the journal has its intent, an outcome its effect,
and nobody writes what they may not."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.support.checking.logs import Append, Doc, Finding, Home, Log, canonical
from tests.support.checking.two_tasks import follow_up, moved, others_of

ASKED = {
    "wake.tool_asked.1",
    "changes.item_confirming.1",
    "changes.suppression_asked.1",
    "changes.lift_asked.1",
    "changes.undo_asked.1",
}
POSITIONS = {"journalPosition", "position"}
TICKS = ("task.item_checked.1", "task.item_unchecked.1")
NEVER = {"DONE", "REJECTED"}  # statuses that are a person's alone


class Intent(NamedTuple):
    """An operation that the agent log asks for. `agent` and `task`: whose; empty: not known.
    `others`: the further tasks that it names."""

    agent: str
    task: str
    tool: str
    arguments: str
    where: str
    others: tuple[str, ...] = ()


class Effect(NamedTuple):
    """What the journal keeps under an operation's key."""

    one: Append
    status: str
    code: str


def check(home: Home) -> Iterator[Finding]:
    """Both logs against each other."""
    intents = dict(_intents(home.agents))
    effects = {
        one.first.entity: Effect(one, result.get("status", ""), result.get("code", ""))
        for one in home.journal.appends
        if one.does in ("apply_operation", "void_operation") or _is_undo(one)
        for result in (one.first.data.get("result", {}),)
    }
    yield from _unasked(home, intents, effects)
    yield from _taken_back(home, effects)
    yield from _outcomes(home, effects)
    yield from _undone(home, effects)
    yield from _positions(home)
    yield from _may(home.journal)


def _intents(log: Log) -> Iterator[tuple[str, Intent]]:
    """Every operation that was asked for, by its id."""
    wakes: dict[str, Doc] = {}
    items: dict[tuple[str, int], Doc] = {}
    sets: dict[str, Doc] = {}
    for one, row in log.rows:
        data = row.data
        match row.topic:
            case "wake.started.1":
                wakes[row.entity] = data
            case "wake.tool_asked.1" if data["actionType"] != "read":
                begun, text = wakes.get(row.entity, {}), log.words(data["arguments"])
                whose = begun.get("agent", ""), begun.get("task", "")
                yield data["operation"], Intent(*whose, data["tool"], text, one.where)
            case "changes.item_proposed.1":
                items[row.entity, data["item"]] = data
            case "changes.opened.1":
                sets[row.entity] = data
            case "changes.item_confirming.1":
                spot = row.entity, data["item"]
                item, own = items.get(spot, {}), sets.get(row.entity, {})
                text = log.words(data.get("arguments") or item.get("arguments"))
                tool, made = item.get("tool", ""), follow_up(*spot)
                about = made if tool == "create_task" else own.get("task", "")
                whose = own.get("agent", ""), about
                others = others_of(tool, text, made)
                yield data["operation"], Intent(*whose, tool, text, one.where, others)
            case "changes.undo_asked.1":
                yield data["operation"], Intent("", "", "undo", "", one.where)
            case "changes.suppression_asked.1" | "changes.lift_asked.1":
                own = sets.get(row.entity, {})
                whose = own.get("agent", ""), own.get("task", "")
                text = canonical({"id": data["label"]})
                tool = "lift_suppression" if "lift" in row.topic else "suppress_label"
                yield data["operation"], Intent(*whose, tool, text, one.where)


def _unasked(
    home: Home, intents: dict[str, Intent], effects: dict[str, Effect]
) -> Iterator[Finding]:
    """Each operation of the journal is one that the agent log asked for, as it did."""
    known = _known(home) if home.is_backup else home.journal.last()
    for operation, effect in effects.items():
        one, intent = effect.one, intents.get(operation)
        if intent is None:
            if one.n <= known:
                yield Finding(5, one.where, f"the operation {operation} has no intent")
            continue
        if one.does != "apply_operation":
            continue
        command = one.command
        text = home.journal.words(command.get("arguments"))
        whose = command["agent"], command["task"]
        others = tuple(command.get("others", ()))
        given = Intent(*whose, command["tool"], text, intent.where, others)
        if given != intent:
            yield Finding(7, one.where, f"the operation {operation} is not as {intent.where} asked")


def _is_undo(one: Append) -> bool:
    """Whether it takes an operation's effect back; what a person undoes alone names none."""
    return one.does == "undo_deed" and "operation" in one.command


def _taken_back(home: Home, effects: dict[str, Effect]) -> Iterator[Finding]:
    """An undo takes back what the operation that it names wrote, and nothing else."""
    for _, row in home.agents.rows:
        if row.topic != "changes.undo_asked.1" or row.data["operation"] not in effects:
            continue
        one, undone = effects[row.data["operation"]].one, effects.get(row.data["undoes"])
        if one.does != "undo_deed" or undone is None or undone.status != "applied":
            yield Finding(7, one.where, f"{row.data['undoes']} is undone and was not applied")
            continue
        command = undone.one.command
        tasks = [command["task"], *command.get("others", [])]
        days = [row.entity for row in undone.one.rows if row.kind == "day"]
        wanted = [task for task in tasks if task], [undone.one.n], undone.one.replica, days
        told = [one.command[name] for name in ("tasks", "appends", "of")]
        if (*told, one.command.get("days", [])) != wanted:
            yield Finding(7, one.where, f"it undoes something else than {row.data['undoes']}")


def _known(home: Home) -> int:
    """The last position of the journal that the agent log names."""
    found = (row.data for _, row in home.agents.rows)
    named = [data.get("last", 0) for data in found if data["kind"] == "watch.journal_taken.1"]
    return max([*named, *(n for _, n in _named(home.agents))], default=0)


def _named(log: Log) -> Iterator[tuple[str, int]]:
    """Every position of the journal that the agent log names, and where."""
    for one in log.appends:
        for row in one.rows:
            told = row.data.get("command", row.data)
            for name in POSITIONS & told.keys():
                yield one.where, told[name]


def _outcomes(home: Home, effects: dict[str, Effect]) -> Iterator[Finding]:
    """What the agent log says came of an operation is what the journal keeps of it."""
    asked: dict[tuple[str, int], str] = {}
    for one, row in home.agents.rows:
        data = row.data
        match row.topic:
            case "changes.item_confirming.1":
                asked[row.entity, data["item"]] = data["operation"]
            case "changes.item_confirmed.1" | "changes.item_failed.1":
                operation = asked.get((row.entity, data["item"]), "")
                code = data.get("code", "")
                if not operation and any(row.kind == "template" for row in one.rows):
                    continue  # done in the same append
                yield from _outcome(one, operation, code, data.get("position", 0), effects)
            case "changes.item_undone.1" if data["undoes"]:
                code, n = data.get("code", ""), data.get("position", 0)
                yield from _outcome(one, data["operation"], code, n, effects)
            case "changes.suppression_done.1" | "changes.lift_done.1":
                code = data.get("code", "")
                yield from _outcome(one, data["operation"], code, 0, effects)
            case "wake.tool_returned.1" if data["attempt"] and not data.get("agentPosition"):
                code = data.get("code", "")
                yield from _outcome(one, data["operation"], code, data.get("position", 0), effects)


def _outcome(
    one: Append, operation: str, code: str, position: int, effects: dict[str, Effect]
) -> Iterator[Finding]:
    effect = effects.get(operation)
    if effect is None:
        if code != "internal":
            yield Finding(7, one.where, f"the operation {operation} is not in the journal")
        return
    expected = "" if effect.status == "applied" else effect.code or effect.status
    if code != expected:
        told = f"the operation {operation} is {expected or 'applied'} in the journal"
        yield Finding(7, one.where, f"{told} and {code or 'applied'} here")
    if position and position != effect.one.n:
        yield Finding(7, one.where, f"{operation} is said to stand at {position}")


def _undone(home: Home, effects: dict[str, Effect]) -> Iterator[Finding]:
    """An effect whose outcome nobody recorded is in doubt, not lost: its intent is still open."""
    open_now: dict[str, str] = {}
    wakes: dict[str, str] = {}
    for one, row in home.agents.rows:
        data = row.data
        match row.topic:
            case topic if topic in ASKED:
                open_now[data["operation"]] = one.where
                if row.kind == "wake":
                    wakes[row.entity] = data["operation"]
            case "wake.tool_returned.1":
                open_now.pop(data["operation"], None)
            case "wake.finished.1":
                open_now.pop(wakes.get(row.entity, ""), None)
    settled = _settled(home.agents)
    for operation, where in open_now.items():
        if home.is_settled and operation not in settled:
            yield Finding(7, where, f"the operation {operation} is in doubt")


def _settled(log: Log) -> set[str]:
    """The operations of change sets that have an outcome."""
    asked: dict[tuple[str, int], str] = {}
    found: set[str] = set()
    for _, row in log.rows:
        data = row.data
        match row.topic:
            case "changes.item_confirming.1":
                asked[row.entity, data["item"]] = data["operation"]
            case "changes.item_confirmed.1" | "changes.item_failed.1":
                found.add(asked.get((row.entity, data["item"]), ""))
            case "changes.suppression_done.1" | "changes.lift_done.1" | "changes.item_undone.1":
                found.add(data["operation"])
    return found


def _positions(home: Home) -> Iterator[Finding]:
    """The agent log knows of no journal append that is not there."""
    end = home.journal.last()
    for where, position in _named(home.agents):
        if position > end:
            told = f"it names journal append {position}, and the journal ends at {end}"
            yield Finding(7, where, told)


def _may(journal: Log) -> Iterator[Finding]:
    """Agents write by operations alone, on their own task and those that the operation names, in
    their categories, and never DONE; with an item that moves its tick does, whoever made it."""
    categories: dict[str, str] = {}
    for one in journal.appends:
        if one.does == "apply_operation":
            yield from (Finding(8, one.where, told) for told in _applied(one, categories))
        for row in one.rows:
            by = str(row.data.get("by", ""))
            if row.data.get("item") in moved(one) and row.topic in TICKS:
                continue
            if by.startswith("agent:") and one.does != "apply_operation":
                yield Finding(8, one.where, f"{row.topic} by {by}, caused by {one.does}")
            if by.startswith("agent:") and row.data.get("status") in NEVER:
                yield Finding(8, one.where, f"{by} sets {row.data['status']}")
            if row.topic in ("task.created.1", "task.category_set.1"):
                categories[row.entity] = row.data["category"]


def _applied(one: Append, categories: dict[str, str]) -> Iterator[str]:
    """What an operation wrote, and whether it might."""
    command, status = one.command, one.first.data.get("result", {}).get("status")
    if not command["task"]:
        yield from _of_day(one, categories, status)
        return
    tasks = [command["task"], *command.get("others", [])]
    made = {row.entity: row.data["category"] for row in one.of("task.created.1")}
    for category in [{**categories, **made}.get(task, "") for task in tasks]:
        if status == "applied" and category not in command.get("categories", []):
            yield f"an agent writes to the category {category}"
    if (len(one.rows) > 1) != (status == "applied"):
        yield f"an operation is {status} and has {len(one.rows)} rows"
    kinds = ("task", "links") if len(tasks) > 1 else ("task",)
    for row in one.rows[1:]:
        is_tick = row.topic in TICKS and row.data["item"] in moved(one)
        is_own = is_tick or row.kind == "links" or row.data.get("by") == f"agent:{command['agent']}"
        if row.kind not in kinds or row.entity not in tasks or not is_own:
            yield f"an operation on {command['task']} writes {row.topic} of {row.entity}"


def _of_day(one: Append, categories: dict[str, str], status: object) -> Iterator[str]:
    """What an operation wrote to a day: one row of its agent's, of a task that it may touch."""
    command = one.command
    if (len(one.rows) == 2) != (status == "applied"):
        yield f"an operation on a day is {status} and has {len(one.rows)} rows"
    for row in one.rows[1:]:
        if row.kind != "day" or row.data.get("by") != f"agent:{command['agent']}":
            yield f"an operation on a day writes {row.topic} of {row.entity}"
        task = row.data.get("task", "")
        if task and categories.get(task) not in command.get("categories", []):
            yield f"an agent plans a task of the category {categories.get(task)}"


def check_days(home: Home) -> Iterator[Finding]:
    """No block that an agent put meets another one of its day, as one machine wrote them."""
    blocks: dict[tuple[str, str, str], tuple[str, str]] = {}
    for one in home.journal.appends:
        for row in [row for row in one.rows if row.kind == "day" and "block" in row.data]:
            name = one.replica, row.entity, row.data["block"]
            blocks.pop(name, None)
            if row.topic != "day.block_put.1":
                continue
            start, end = row.data["start"], row.data["end"]
            met = [
                other
                for (*where, _), other in blocks.items()
                if where == [one.replica, row.entity] and other[0] < end and start < other[1]
            ]
            if met and row.data["by"].startswith("agent:"):
                yield Finding(8, one.where, f"an agent's block {start}-{end} meets {met[0]}")
            blocks[name] = start, end
