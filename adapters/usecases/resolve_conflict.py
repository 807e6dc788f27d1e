"""Settles what a file and the person said differently of a field: one deed for command line, page
and `import --prefer`."""

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

import msgspec

from adapters.documents.import_conflicts import ConflictDetails, ConflictValue, conflicts
from adapters.documents.replica_conflicts import (
    AGENTS,
    agent_conflicts_of,
    conflicts_named,
    machine_labels,
    replica_conflicts,
    replica_conflicts_of,
)
from adapters.usecases.resolve import nth_key, pick_again
from adapters.usecases.tasks import UseCaseResult, append_command, is_done
from domain.append.causes import Receipt
from domain.errors import Refused, invalid
from domain.journal.commands import AddNote, SettleConflict, SettleDifference
from domain.journal.import_conflicts import COMPARED
from domain.log import canonical
from domain.log.keys import sha
from domain.log.wire import words
from domain.machines.commands import SettleAgentsConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adapters.wiring import Home

Side = Literal["file", "mine"]
CATALOG = "catalog"
"""Stands for a task where categories and labels differ."""
OF_NONE = {
    CATALOG: ("category:", "label:"),
    AGENTS: ("template:", "models:", "consent:", "receipt:", "rating:"),
}

Settling = SettleConflict | SettleDifference | SettleAgentsConflict

TEXTS = ("title", "description")  # of which the other value may be kept as a note
DIGITS = 3  # of a conflict's number, at least


def numbered(found: "Iterable[ConflictDetails]") -> "list[ConflictDetails]":
    """Conflicts with their numbers: the first digits of a hash, as many as tell them apart. So what
    a number means hangs on nothing else that is open, and is the same on every machine. Two of one
    task and field have one number."""
    every = [(one, _digits(one)) for one in found]
    begun = Counter(part for digits in {digits for _, digits in every} for part in _parts(digits))

    def shown(digits: str) -> str:
        return next((part for part in _parts(digits) if begun[part] == 1), digits)

    return [msgspec.structs.replace(one, number=shown(digits)) for one, digits in every]


def _parts(digits: str) -> list[str]:
    """The beginnings of a number, the shortest first."""
    return [digits[:count] for count in range(DIGITS, len(digits) + 1)]


def open_conflicts(home: "Home") -> "list[ConflictDetails]":
    """All that is open, with files and between machines."""
    return numbered([*conflicts(home), *replica_conflicts(home)])


def conflict_numbered(home: "Home", number: str, key: str = "") -> tuple[str, str]:
    """The task and the field of a conflict that its number names; of a retry those of before.
    Raises Refused, code ``invalid_value``: none has it; ``ambiguous``: it begins several."""
    known = _settled_before(home, key)
    if known is not None:
        return getattr(known, "task", ""), known.field
    every = open_conflicts(home) if number.isdecimal() else []
    found = [one for one in every if _digits(one).startswith(number)]
    if len(found) == 1:
        return found[0].task, found[0].field
    if found:
        known_as = ", ".join(one.number for one in found)
        because = f"{number} begins the numbers of {len(found)} conflicts"
        raise Refused("ambiguous", because=because, instead=f"name one of {known_as}")
    because = f"no conflict has the number {number!r}, or it is settled"
    raise invalid(because, "see `wakelog conflicts`, or name a task and a field")


def _digits(one: "ConflictDetails") -> str:
    kind = "file" if one.is_of_file else "machines"
    return f"{int(sha(canonical.encode([kind, one.task, one.field]))[:10], 16):013}"[-9:]


def settle(
    home: "Home", task_id: str, field: str, side: Side, key: str = "", *, nth: int = 1
) -> UseCaseResult:
    """Let the file's value or the person's stand. Raises Refused, code ``invalid_value``: they do
    not differ in this field."""
    if field not in COMPARED:
        because = f"{field!r} is no field in which a file and a task can differ"
        raise invalid(because, f"use one of {', '.join(COMPARED)}")
    return append_command(home, SettleDifference(task_id, field, side), key, nth=nth)


def settle_machines(
    home: "Home", task_id: str, field: str, machine: str, key: str = "", *, is_both: bool = False
) -> UseCaseResult:
    """Let what a machine said of a field stand; of a circle of links, take its link away.

    Args:
        task_id: Whose field; empty of what is of no task.
        field: As `conflicts` names it.
        machine: What it is called, or its replica; ``here``: this one; empty: whose value stands.
        is_both: Of a text: what the others said becomes a note.

    Raises:
        Refused: Code ``invalid_value``: there is no such conflict or side, or it is no text.
    """
    names = machine_labels(home)
    machine = home.services.journal.replica if machine == "here" else machine
    replica = next((one for one, label in names.items() if label == machine), machine)
    known = _settled_before(home, key)
    if is_done(home, key):
        if not machine and isinstance(known, SettleConflict):
            replica = known.keep
        return append_command(home, SettleConflict(task_id, field, replica), key)
    if isinstance(known, SettleAgentsConflict):
        return _append(home, msgspec.structs.replace(known, keep=replica), key)
    of_agents = conflicts_named(agent_conflicts_of(home, task_id, names), field)
    if len(of_agents) > 1:
        known_as = ", ".join(one.details.field for one in of_agents)
        because = f"{field!r} is {len(of_agents)} conflicts"
        raise Refused("ambiguous", because=because, instead=f"name one of {known_as}")
    of_tasks = [one for one in replica_conflicts_of(home, task_id, names) if one.field == field]
    found = [one.details for one in of_agents] or of_tasks
    if not found:
        because = f"no two machines differ in {field!r}, or not any more"
        raise invalid(because, "see `wakelog conflicts`")
    values = found[0].values
    side = _side(values, machine or found[0].stands, field)
    if is_both and field not in TEXTS:
        raise invalid(f"{field!r} is no text", "choose one of both, without --both")
    if of_agents:
        one = of_agents[0].conflict
        is_enabled = home.services.is_enabled
        said = SettleAgentsConflict(one.of_kind, one.entity, one.field, side, is_enabled=is_enabled)
        return _append(home, said, key)
    others = [one for one in values if one.replica != side and one.value] if is_both else []
    for nth, other in enumerate(others, start=2):
        said_there, payloads = words(
            task_id, f"{field.capitalize()} on {other.label}: {other.value}"
        )
        append_command(home, AddNote(task_id, "note", said_there), key, nth=nth, payloads=payloads)
    return append_command(home, SettleConflict(task_id, field, side), key)


class Settled(NamedTuple):
    """Of which task, empty of none; the field; and what came of it."""

    task_id: str
    field: str
    result: UseCaseResult


def settle_named(
    home: "Home", writing: "Callable[[], Home]", task: str, field: str, side: str, key: str = "",
    *, is_both: bool = False,
) -> Settled:  # fmt: skip
    """Settle a conflict as a person names it: by its number, or by task and field. `home` is read,
    and where `writing` leads it is settled. Raises Refused, see `settle` and `settle_machines`."""
    if not side and not is_both:
        raise invalid("nothing says what is to stand", "add --keep NAME, or --both for two texts")
    if not field:
        task_id, field = conflict_numbered(writing(), task, key)
    else:
        is_of_none = task in OF_NONE and field.startswith(OF_NONE[task])
        task_id = "" if is_of_none else pick_again(home, task, key).id
    home = writing()
    if task_id and side in get_args(Side) and not is_both:
        done = settle(home, task_id, field.lower(), cast("Side", side), key)
    else:
        done = settle_machines(home, task_id, field, side, key, is_both=is_both)
    return Settled(task_id, field, done)


def is_settled(home: "Home", key: str) -> bool:
    return is_done(home, key) or _settled_before(home, key) is not None


def _side(values: "Sequence[ConflictValue]", machine: str, field: str) -> str:
    """The replica that a word names among the sides of a conflict."""
    sides = sorted({one.replica for one in values if machine in (one.replica, one.label)})
    if len(sides) == 1:
        return sides[0]
    is_double = f"{machine!r} is the name of {len(sides)} machines"
    because = is_double if sides else f"{machine!r} is no side of a conflict in {field!r}"
    known = ", ".join(sides or dict.fromkeys(one.label for one in values))
    code = "ambiguous" if sides else "invalid_value"
    raise Refused(code, because=because, instead=f"name one of {known}")


def _settled_before(home: "Home", key: str) -> "Settling | None":
    logs = (home.services.journal, home.services.agents) if key else ()
    receipts = (one for log in logs for one in log.receipts(nth_key(key, 1)))
    commands = (one.fact.command for one in receipts if isinstance(one.fact, Receipt))
    return next((one for one in commands if isinstance(one, Settling)), None)


def _append(home: "Home", command: SettleAgentsConflict, key: str) -> UseCaseResult:
    appended = home.services.append_agent(command, key=nth_key(key, 1))
    home.views.catch_up()
    has_changed = len(appended.rows) > 1  # one alone is a receipt
    return UseCaseResult(appended.result.ids, has_changed, bool(key) and not appended.rows)
