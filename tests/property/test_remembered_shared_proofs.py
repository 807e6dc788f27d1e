"""What a proof of a home that machines share goes on from: each lives, meets by half, late and
twice, and is proved in between, one after the other. What came since of the others is numbered
before what was proved of its own (ADR 111)."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest

from adapters.proof.incremental import LogProved, RawLog, walk_on
from adapters.proof.prove import Proved, prove_logs
from adapters.simulation.fleet import FIRST_STEPS, FleetEpisode, Machine
from adapters.simulation.plan import PlannedStep, plan
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import numbered
from domain.append import envelope
from domain.append.envelope import Row
from domain.log.wire import Payload
from replay.appends import appends
from tests.support.rows import altered

EACH = 6  # steps between two proofs, each of another machine


class Remembered(NamedTuple):
    """A proof of a machine, and what was proved of both logs."""

    proved: Proved
    logs: tuple[LogProved, ...]


def both(one: Machine) -> tuple[Log, Log]:
    return one.services.journal, one.services.agents


def raws_of(known: Remembered, logs: tuple[Log, Log]) -> tuple[RawLog, ...]:
    begin = known.proved.end.ends, {name: end.n for name, end in known.logs[1].ends.items()}
    return tuple(
        RawLog(log, {}, start, then.ends)
        for log, start, then in zip(logs, begin, known.logs, strict=True)
    )


class Proving:
    """Proves a machine now and then, from the beginning and from where it was proved before."""

    def __init__(self) -> None:
        self.known: dict[str, Remembered] = {}
        self.late = self.gone_on = 0

    def __call__(self, fleet: FleetEpisode, step: PlannedStep) -> None:
        if fleet.done >= FIRST_STEPS and fleet.done % EACH == 0:
            self.prove(fleet.machines[fleet.done // EACH % len(fleet.machines)])

    def prove(self, one: Machine) -> None:
        logs = both(one)
        whole = prove_logs(*logs)
        known = self.known.get(one.name)
        if known is not None:
            raws = raws_of(known, logs)
            if all(raw.is_as(then) for raw, then in zip(raws, known.logs, strict=True)):
                self.compare(known, raws, whole)
        if whole.ok:
            self.known[one.name] = Remembered(
                whole, tuple(RawLog(log, {}).proved() for log in logs)
            )

    def compare(self, known: Remembered, raws: tuple[RawLog, ...], whole: Proved) -> None:
        if any(raw.ends.keys() != raw.known.keys() for raw in raws):
            return  # as `prove` has it
        own = max(end.n for end in known.logs[0].ends.values())
        self.late += any(
            raw.known[name].n < end.n <= own for raw in raws[:1] for name, end in raw.ends.items()
        )
        self.gone_on += 1
        after = walk_on(known.proved.end, raws, {})
        assert after.divergences == whole.divergences
        assert (after.digest, after.heads, after.shared) == (
            whole.digest,
            whole.heads,
            whole.shared,
        )
        assert settled(after) == settled(whole)


def settled(proved: Proved) -> tuple[object, ...]:
    """What a walk leaves, but for what an operation still lacks by whichever side was met first."""
    end = proved.end
    return end.ends, end.known, end.repeated, end.inherited, end.effects.applied


@pytest.mark.parametrize("seed", "abcd")
def test_what_came_since_of_all_machines_comes_to_what_a_whole_proof_comes_to(seed: str) -> None:
    proving = Proving()
    fleet = FleetEpisode(3, sabotage=proving)
    assert fleet.run(plan(seed, 150)).faults == ()
    for one in fleet.machines:
        proving.prove(one)
    assert proving.gone_on
    assert proving.late


EDITS = (("minutes", "seconds"), ('"status":"applied"', '"status":"noop"'), ('"at":"2', '"at":"3'))
EACH_FORGED = 8  # rows


def forged(log: Log, rows: list[Row], nth: int, edit: tuple[str, str]) -> Log:
    """A log in which a row says something else, and every digest after it was made to fit."""
    heads: dict[str, str] = {}
    made: list[Row] = []
    for one in appends(rows):
        begin = len(made)
        told = [altered(row, *edit) if begin + n == nth else row for n, row in enumerate(one.rows)]
        if one.first.prev and one.first.prev != heads.get(one.replica, ""):
            told[0] = altered(told[0], one.first.prev, heads[one.replica])
        heads[one.replica] = envelope.digest(told)
        made += told
    recorder = MemoryLogRecorder()
    with recorder.deciding():
        recorder.insert(made, [Payload(*kept) for kept in log.kept_payloads()])
        recorder.keep_order()
    return Log(log.name, recorder, log.replica)


def test_what_somebody_forged_of_what_came_since_is_found_as_from_the_beginning() -> None:
    proving = Proving()
    fleet = FleetEpisode(3, sabotage=proving)
    assert fleet.run(plan("c", 60)).faults == ()
    found = []
    for one, side in product(fleet.machines, (0, 1)):
        known, logs = proving.known[one.name], both(one)
        for there in forged_since(logs[side], known.logs[side]):
            now = (there, logs[1]) if side == 0 else (logs[0], there)
            whole = prove_logs(*now)
            after = walk_on(known.proved.end, raws_of(known, now), {})
            assert told(after) == told(whole)
            found.append(whole.ok)
    assert found.count(False) > 5


def forged_since(log: Log, known: LogProved) -> Iterator[Log]:
    rows = list(log.rows())
    writers = [row.stream.rpartition("@")[2] for row in rows]
    for nth in range(0, len(rows), EACH_FORGED):
        is_new = numbered(rows[nth].state).n > known.ends[writers[nth]].n
        edit = next((one for one in EDITS if one[0].encode() in rows[nth].state), None)
        if is_new and edit is not None:
            yield forged(log, rows, nth, edit)


def told(proved: Proved) -> set[tuple[str, str, str]]:
    return {(one.position, one.kind_of, one.path) for one in proved.divergences}
