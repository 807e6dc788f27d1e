"""The invariants of logs that machines share, over rows and files alone (S1 to S9, ADR 70 to 72).

It reads JSON, counts and digests by itself, and uses nothing of what derives horizons, merges or
publishes: what those say is held against what each machine really held at each moment."""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from adapters.store.log import Log
from domain.append.envelope import Row, digest

TellingAppends = tuple[tuple[str, str, int], ...]
"""By log and replica: the last append that tells more than of its log."""

FIELDS = {"task.due_set.1": "due", "task.priority_set.1": "priority"}
"""Facts of one field each, and the names of their values."""
_ID = re.compile(rb'"([a-z2-7]{32})"')


class WrittenAppend(NamedTuple):
    """An append as its writer wrote it. `knew`: up to which telling append of each replica its
    writer held."""

    digest: str
    knew: Mapping[str, int]


class FieldValue(NamedTuple):
    """What an append says of a field."""

    replica: str
    n: int
    value: str
    operation: str


class ReplicaChain(Struct):
    """What is known of one replica's appends in one log."""

    appends: dict[int, WrittenAppend] = {}
    last: int = 0


class HeldLog(Struct):
    """What one machine holds of one log."""

    count: int = 0  # rows that were looked at
    last: dict[str, int] = {}
    telling: dict[str, int] = {}
    named: dict[str, int] = {}  # by its markers, and what those knew


class SharedInvariants:
    """Looks at what each step wrote, on all machines."""

    def __init__(self, machines: Mapping[str, Mapping[str, Log]]) -> None:
        self._machines = machines
        self._chains: defaultdict[tuple[str, str], ReplicaChain] = defaultdict(ReplicaChain)
        self._held: defaultdict[tuple[str, str], HeldLog] = defaultdict(HeldLog)
        self._values: defaultdict[tuple[str, str], list[FieldValue]] = defaultdict(list)
        self._gone: set[str] = set()  # tasks that somebody deleted
        self._applied: defaultdict[str, set[tuple[str, int, str]]] = defaultdict(set)
        self._done: set[str] = set()  # operations that somebody applied
        self._undoes: dict[str, str] = {}  # by operation the one that it takes back
        self._asked: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        self._files: dict[str, bytes] = {}

    def telling(self, machine: str) -> TellingAppends:
        """What a machine holds, but for what logs say of themselves."""
        every = (
            (log, replica, n)
            for log in self._machines[machine]
            for replica, n in self._held[machine, log].telling.items()
        )
        return tuple(sorted(every))

    def check(self, machine: str) -> Iterator[str]:
        """What is wrong with what came into a machine's logs since it was looked at last."""
        for name, log in self._machines[machine].items():
            held = self._held[machine, name]
            new = log.newest(log.count() - held.count) if log.count() > held.count else ()
            if log.count() < held.count:
                yield f"S6: rows of {name} are gone on {machine}"
            held.count = log.count()
            for rows in _by_append(new):
                found = [*self._append(machine, name, held, rows)]
                yield from (f"{machine}: {name}: {told}" for told in found)
        yield from self._lost(machine)
        yield from self._twice(machine)

    # --------------------------------------------------------------------------------- one append

    def _append(self, machine: str, log: str, held: HeldLog, rows: Sequence[Row]) -> Iterator[str]:
        first: dict[str, Any] = json.loads(rows[0].state)
        replica, n = _replica_of(rows[0]), int(first["n"])
        place = f"{replica}:{n}"
        if {_replica_of(row) for row in rows} != {replica}:
            yield f"S1: {place} has rows of several replicas"
        if [json.loads(row.state).get("row", 0) for row in rows] != list(range(len(rows))):
            yield f"S1: {place} is not whole"
        if replica == machine:
            yield from self._own(log, held, rows, first)
        else:
            yield from self._foreign(machine, log, held, rows, first)
        held.last[replica] = n
        if not rows[0].stream.startswith("log:"):
            held.telling[replica] = n

    def _own(
        self, log: str, held: HeldLog, rows: Sequence[Row], first: Mapping[str, Any]
    ) -> Iterator[str]:
        """What a machine itself wrote: S2 and S9."""
        replica, n = _replica_of(rows[0]), int(first["n"])
        is_telling = not rows[0].stream.startswith("log:")
        chain = self._chains[log, replica]
        before = chain.appends.get(chain.last)
        if n <= chain.last:
            yield f"S9: {replica}:{n} comes after {chain.last}"
        if first.get("prev", "") != (before.digest if before else ""):
            yield f"S9: {replica}:{n} follows another append than the last"
        for name, last in _brought_replicas(first):
            known = self._chains[log, name].appends.get(last)
            if known is None:
                yield f"S2: a marker names {name}:{last}, which nobody wrote"
                continue
            for one, m in ((name, last), *known.knew.items()):
                held.named[one] = max(m, held.named.get(one, 0))
        others = {name: m for name, m in held.telling.items() if name != replica}
        named = {name: m for name, m in held.named.items() if name != replica}
        if is_telling and others != named:
            yield f"S2: {replica}:{n} knows {named} by its markers, and holds {others}"
        if any(m >= n for m in named.values()):
            yield f"S2: {replica}:{n} stands before an append that it knows, of {named}"
        operation = _applied_operation(first)
        knew = {**named, replica: n}
        chain.appends[n] = WrittenAppend(digest(rows), knew)
        chain.last = n
        if log == "journal":
            self._note(rows, replica, n, operation)
        for row in rows:
            if row.topic == "changes.undo_asked.1":
                data = json.loads(row.state)["data"]
                self._undoes[data["operation"]] = data["undoes"]
            elif row.topic == "changes.item_confirming.1":
                data = json.loads(row.state)["data"]
                self._asked[_entity_of(row), data["item"]].add(data["operation"])

    def _foreign(
        self, machine: str, log: str, held: HeldLog, rows: Sequence[Row], first: Mapping[str, Any]
    ) -> Iterator[str]:
        """What came in: S1, unchanged, in order, with all that it rests on."""
        replica, n = _replica_of(rows[0]), int(first["n"])
        chain = self._chains[log, replica]
        known = chain.appends.get(n)
        if known is None or known.digest != digest(rows):
            yield f"S1: {replica}:{n} is not what {replica} wrote"
            return
        last = held.last.get(replica, 0)
        if [one for one in chain.appends if last < one < n] or n <= last:
            yield f"S1: {replica}:{n} comes after {last}, out of order"
        if missing := [
            f"{one}:{m}" for one, m in known.knew.items() if not self._has(held, one, m, n, replica)
        ]:
            yield f"S2: {replica}:{n} came before {', '.join(missing)}, which it knows"
        there, here = self._machines[replica][log], self._machines[machine][log]
        for found in {one.decode() for row in rows for one in _ID.findall(row.state)}:
            if there.payload(found) is not None and here.payload(found) != there.payload(found):
                yield f"S1: {replica}:{n} came without its payload {found}"

    @staticmethod
    def _has(held: HeldLog, name: str, m: int, n: int, writer: str) -> bool:
        here = max(held.telling.get(name, 0), held.last.get(name, 0))
        return (name, m) == (writer, n) or here >= m

    # -------------------------------------------------------------------------- S4, S6: the values

    def _note(self, rows: Sequence[Row], replica: str, n: int, operation: str) -> None:
        self._done |= {operation} - {""}
        for row in rows:
            task = _entity_of(row)
            if operation not in ("", *self._undoes) and row.stream.startswith("task:"):
                self._applied[operation].add((replica, n, task))
            if (field := FIELDS.get(row.topic)) is not None:
                value = str(json.loads(row.state)["data"].get(field, ""))
                self._values[task, field].append(FieldValue(replica, n, value, operation))
            elif row.topic == "task.deleted.1":
                self._gone.add(task)

    def _lost(self, machine: str) -> Iterator[str]:
        """S6: of values that did not know each other, one stands, and the others are told of."""
        log, held = self._machines[machine]["journal"], self._held[machine, "journal"]
        wanted = {
            (task, field): [one for one in values if one.n <= held.last.get(one.replica, 0)]
            for (task, field), values in self._values.items()
            if task not in self._gone and len({one.replica for one in values}) > 1
        }
        if not wanted:
            return
        from domain.journal.task import TASK  # what is checked

        with log.reading() as world:
            for (task, field), values in wanted.items():
                if any(len({by for by, *_ in self._applied[one.operation]}) > 1 for one in values):
                    continue  # one operation on several machines: S4 counts it once
                heads = [one for one in values if not self._is_replaced(one, values)]
                told = {one.field for one in world.disputes(TASK, task)}
                if len({one.value for one in heads}) > 1 and field not in told:
                    yield f"{machine}: S6: {field} of {task} is {heads}, and told of are {told}"
                state = world.load(TASK, task)
                if heads and str(getattr(state, field)) not in {one.value for one in heads}:
                    yield f"{machine}: S6: {field} of {task} is none of {heads}"

    def _twice(self, machine: str) -> Iterator[str]:
        """S4: an operation that several machines applied has its effect once."""
        from domain.journal.task import TASK  # what is checked

        log, held = self._machines[machine]["journal"], self._held[machine, "journal"]
        for operation, found in self._applied.items():
            here = {one for one in found if one[1] <= held.last.get(one[0], 0)}
            if len({one[:2] for one in here}) < 2:
                continue
            with log.reading() as world:
                tasks = sorted({task for *_, task in here})
                rows = [row for task in tasks for row in world.rows(TASK, task)]
            done = {(row.replica, row.n) for row in rows} & {one[:2] for one in here}
            if len(done) > 1:  # none, where somebody set it otherwise
                yield f"{machine}: S4: {operation} counts {len(done)} times: {sorted(done)}"

    def both(self, machine: str) -> Iterator[str]:
        """T3: once all have met and recovered, the agent log says of each item what the journal
        holds: it is confirmed where an operation for it was applied, and not taken back, and only
        there."""
        from domain.changes.change_set import CHANGES, find  # what is checked

        log = self._machines[machine]["agent"]
        stands = self._done - {self._undoes[one] for one in self._done & self._undoes.keys()}
        with log.reading() as world:
            for (name, number), operations in sorted(self._asked.items()):
                item = find(world.load(CHANGES, name), number)
                if (item and item.status == "confirmed") != bool(operations & stands):
                    done = "was applied" if operations & stands else "was not applied"
                    yield f"{machine}: T3: {name}:{number} is {item and item.status}, and it {done}"

    def _is_replaced(self, one: FieldValue, values: Sequence[FieldValue]) -> bool:
        for other in values:
            knew = self._chains["journal", other.replica].appends[other.n].knew
            if (
                other is not one
                and one.n <= knew.get(one.replica, 0)
                and (
                    (other.replica, other.n) != (one.replica, one.n)
                    or values.index(other) > values.index(one)
                )
            ):
                return True
        return False

    # ------------------------------------------------------------------------------- S8: the files

    def check_folder(self, files: Mapping[str, bytes]) -> Iterator[str]:
        """What is wrong with the files that are new: S1 and S8."""
        for name, data in files.items():
            if self._files.get(name) == data:
                continue
            if name in self._files and not name.endswith("have.json"):
                yield f"S8: the file {name} was changed"
            self._files[name] = data
            if name.endswith(".gz"):
                yield from self._file(name, data)

    def _file(self, name: str, data: bytes) -> Iterator[str]:
        lines = [json.loads(line) for line in gzip.decompress(data).splitlines()]
        header = lines[0]
        chain = self._chains[header["log"], header["replica"]]
        known = chain.appends.get(header["last"])
        if known is None or known.digest != header["head"]:
            yield f"S8: {name} offers what {header['replica']} has not written"
        streams = {one["stream"].rpartition("@")[2] for one in lines if "stream" in one}
        if streams != {header["replica"]}:
            yield f"S8: {name} has rows of {sorted(streams)}"


def _by_append(rows: Sequence[Row]) -> Iterator[list[Row]]:
    one: list[Row] = []
    for row in rows:
        if one and not json.loads(row.state).get("row", 0):
            yield one
            one = []
        one.append(row)
    if one:
        yield one


def _entity_of(row: Row) -> str:
    return row.stream.partition(":")[2].rpartition("@")[0]


def _replica_of(row: Row) -> str:
    return row.stream.rpartition("@")[2]


def _brought_replicas(first: Mapping[str, Any]) -> list[tuple[str, int]]:
    data = first["data"]
    is_marker = data.get("kind") == "log.imported.1"
    return [(one["replica"], one["n"]) for one in data.get("replicas", ())] if is_marker else []


def _applied_operation(first: Mapping[str, Any]) -> str:
    """The operation that a receipt of the journal says was applied."""
    data = first["data"]
    command = data.get("command", {})
    is_it = command.get("kind") in ("command.apply_operation.1", "command.undo_deed.1")
    is_applied = is_it and data["result"].get("status") == "applied"
    return str(command["operation"]) if is_applied else ""
