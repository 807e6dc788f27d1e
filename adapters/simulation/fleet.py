"""Plays a plan on several machines of one home, in memory, that meet in a folder by bad luck.

Every machine edits, wakes and decides. Files come late, twice, or not at all while a machine is cut
off; processes die between taking and giving, and in the middle; the folder is full; clocks are
hours off. After every step the laws of shared logs are checked over the rows and the files
alone."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.proof.prove import Proved, prove_logs
from adapters.runtime import leadership, orphaned_effects
from adapters.runtime.services import Services
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.simulation.fuzz_model import FuzzModel
from adapters.simulation.plan import Dice, PlannedStep
from adapters.simulation.play import WAKES_MAX, EpisodeResult
from adapters.simulation.shared_invariants import SharedInvariants, TellingAppends
from adapters.simulation.steps import Steps
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from adapters.wiring import Home
from domain.append.envelope import STREAM_TYPES
from domain.errors import WakelogError
from domain.log.keys import key, sha
from domain.log.timestamps import later
from domain.machines.commands import Lead, RetireReplica
from projections.all_views import VIEWS

START = "2027-01-01T00:00:00.000000Z"
NAMES = ("desk", "laptop", "phone", "tablet", "shed")
SHIFTS = (0, -3_600, 4_980, 86_400, -7)  # seconds by which their clocks are off
FIRST_STEPS = 12  # that the first machine does before it meets the others
ROUNDS_MAX = 12  # of syncs, until nothing more is written
COMPARED_EVERY = 8  # of the times at which machines hold the same

SYNCS = {"sync": 60, "cut_off": 6, "crash_giving": 6, "crash_taking": 6, "full": 4, "lead": 8}
"""What becomes of a machine that meets the others, and how often."""


class FaultyFolder(MemorySyncFolder):
    """What a machine sees of the folder. `fuse`: writes until its process dies or the disk is
    full; 0: never."""

    fuse = 0
    is_full = False

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[str] = set()  # what was taken away

    def remove(self, name: str) -> None:
        self.gone.add(name)
        super().remove(name)

    def write(self, name: str, data: bytes) -> None:
        self.fuse -= 1
        if self.fuse == 0 and not self.is_full:
            raise Crashed
        if self.fuse == 0 or (self.fuse < 0 and self.is_full):
            raise OSError(28, "No space left on device")
        super().write(name, data)


class Machine:
    """One machine: both logs, its clock, its person and its model."""

    def __init__(self, name: str, shift: int) -> None:
        self.name = name
        self.model = FuzzModel()
        self.logs = [FaultyLog(log, MemoryLogRecorder(), name) for log in ("journal", "agent")]
        journal, agents = self.logs
        clock = ManualClock(later(START, seconds=shift))
        self.services = Services(journal, agents, clock, Settings(), lambda _: self.model)
        self.home = Home.in_memory(self.services)
        self.deeds = Steps(self.home, self.model)
        self.is_cut_off = False
        self._kept = SyncState()  # of the last sync; it is lost with the process

    def sync(self, folder: MemorySyncFolder) -> None:
        """Take what is in the folder, and give."""
        kept, self._kept = self._kept, SyncState()
        before = orphaned_effects.reached(self.services)
        try:
            self._kept = sync_logs(self.logs, folder, self.services.clock.now(), kept).kept
            orphaned_effects.confirm_come(self.services, before)
            leadership.settle(self.services)
        finally:
            self.deeds.look()

    def state(self) -> dict[tuple[str, str, str], object]:
        """What all entities that machines share have come to."""
        found: dict[tuple[str, str, str], object] = {}
        merged = [kind for kind in STREAM_TYPES.values() if kind.is_merged]
        for log in self.logs:
            with log.reading() as world:
                names = [(kind, one) for kind in merged for one in world.entities(kind.name)]
                found |= {(log.name, kind.name, one): world.load(kind, one) for kind, one in names}
        return found

    def shown(self) -> dict[tuple[str, str], object]:
        """The documents of all views that are alike on every machine."""
        views = self.home.views
        views.catch_up()
        alike = [view for view in VIEWS if not view.own]
        every = ((view.name, enumerate(views.all(view))) for view in alike)
        return {(name, str(nth)): one for name, found in every for nth, one in found}


class FleetEpisode:
    """One episode on several machines."""

    def __init__(
        self, count: int, *, sabotage: Callable[["FleetEpisode", PlannedStep], None] | None = None
    ) -> None:
        """`sabotage`: is called after each step; for tests that want to see a law broken."""
        self.machines = [Machine(*one) for one in zip(NAMES[:count], SHIFTS, strict=False)]
        self.folder: dict[str, bytes] = {}
        self.faults: list[str] = []
        self.done = self.crashes = self.refusals = 0
        self._dice = Dice("")
        logs = {one.name: {log.name: log for log in one.logs} for one in self.machines}
        self._laws = SharedInvariants(logs)
        self._sabotage = sabotage
        self._compared = 0

    @property
    def logs(self) -> tuple[Log, Log]:
        services = self.machines[0].services
        return services.journal, services.agents

    @property
    def wakes(self) -> int:
        return sum(one.deeds.wakes for one in self.machines)

    @property
    def rows(self) -> int:
        return sum(log.count() for log in self.machines[0].logs)

    def run(self, steps: Sequence[PlannedStep], *, wakes_max: int = WAKES_MAX) -> EpisodeResult:
        """Do the steps, until enough wakes have run or a law is broken; then let all meet."""
        with ExitStack() as stack:
            for one in self.machines:
                stack.enter_context(closing(one.home.views))
            runner = stack.enter_context(asyncio.Runner())
            for nth, step in enumerate(steps):
                if nth == FIRST_STEPS:
                    self._rounds()
                self._step(nth, step, runner)
                if self.faults or self.wakes >= wakes_max:
                    break
            if not self.faults:
                self._end()
        until = max(log.tail().at for one in self.machines for log in one.logs)
        counts = self.wakes, self.rows, self.crashes, self.refusals
        return EpisodeResult(self.digest, *counts, until, tuple(self.faults), self.done)

    @property
    def digest(self) -> str:
        """Of all rows and files, so that a single byte would change it."""
        rows = (row for one in self.machines for log in one.logs for row in log.rows())
        parts = [sha(repr(tuple(row)).encode()) for row in rows]
        return key("fleet", *parts, *(sha(data) for _, data in sorted(self.folder.items())))

    def _step(self, nth: int, step: PlannedStep, runner: asyncio.Runner) -> None:
        self.done += 1
        self._dice = Dice(f"{step.deed}/{step.who}/{step.how}/machines")  # a step alone says all
        one = self.machines[0] if nth < FIRST_STEPS else self._dice.pick(self.machines)
        try:
            if nth >= FIRST_STEPS and self._dice.number(4) == 0:
                self._meet(one)
            else:
                one.deeds.do(step, runner)
        except Crashed:
            self.crashes += 1
            one.deeds.restart()
        except WakelogError:
            self.refusals += 1
        if self._sabotage:
            self._sabotage(self, step)
        self.faults += self._laws.check(one.name)
        self.faults += self._laws.check_folder(self.folder)
        self.faults += self._agree()

    # ---------------------------------------------------------------------------------- meeting

    def _meet(self, one: Machine) -> None:
        """One machine syncs with what came of the folder so far."""
        what = self._dice.weighed(SYNCS)
        if what == "cut_off":
            one.is_cut_off = not one.is_cut_off
        if what == "lead" and one.services.agents.is_shared:
            one.services.append_agent(Lead(one.name, one.services.first))
        if one.is_cut_off:
            return
        folder = self._seen()
        if what == "crash_taking":
            self._dice.pick(one.logs).dies_after = 1 + self._dice.number(2)
        elif what in ("crash_giving", "full"):
            folder.fuse, folder.is_full = 1 + self._dice.number(3), what == "full"
        try:
            one.sync(folder)
        finally:
            for log in one.logs:
                log.dies_after = 0
            self._left(one, folder)

    def _seen(self) -> FaultyFolder:
        """The folder as it came so far: files are missing, and some are there twice."""
        seen = FaultyFolder()
        for name in sorted(self.folder):
            if name.endswith("have.json") or self._dice.number(4):
                seen.held[name] = self.folder[name]
            if self._dice.number(12) == 0:
                seen.held[f"copy/{name.replace('/', ' ')} (1)"] = self.folder[name]
        return seen

    def _left(self, one: Machine, folder: FaultyFolder) -> None:
        """What a machine wrote comes into the folder of all."""
        mine = {name: data for name, data in folder.held.items() if name.startswith(f"{one.name}/")}
        self.folder = {n: data for n, data in self.folder.items() if n not in folder.gone} | mine

    def _end(self) -> None:
        """Everybody meets until nothing more is written, one settles all, and they meet again."""
        for one in self.machines:
            one.deeds.restart()
        self._rounds()
        self._retire_all_but(self.machines[-1])
        self.machines[-1].deeds.settle()
        self.faults += self._laws.check(self.machines[-1].name)
        self._rounds()
        self.faults += self._in_flight()
        for one in self.machines:
            self.faults += self._laws.both(one.name)
        self.faults += self._agree(is_last=True)
        homes = [one.services for one in self.machines]
        proofs = [prove_logs(one.journal, one.agents) for one in homes]
        for one, proof in zip(self.machines, proofs, strict=True):
            self.faults += [f"{one.name}: law 6: {told}" for told in _told(proof)]
        shown = [one.shown() for one in self.machines]
        self.faults += _differing("the view ", self.machines, shown)
        if len({proof.shared for proof in proofs}) > 1:
            self.faults.append("S3: all hold the same, and their digests differ")

    def _retire_all_but(self, last: Machine) -> None:
        """S5: what others began and never ended is ended by who stays, as they are gone."""
        services = last.services
        for one in self.machines:
            if one is not last and services.agents.is_shared:
                services.append_agent(RetireReplica(one.name, services.first))

    def _rounds(self) -> None:
        """S7: it ends."""
        for _ in range(ROUNDS_MAX):
            before = dict(self.folder)
            counts = [log.count() for one in self.machines for log in one.logs]
            for one in self.machines:
                folder = FaultyFolder()
                folder.held = dict(self.folder)
                with suppress(WakelogError):
                    one.sync(folder)
                self._left(one, folder)
                self.faults += self._laws.check(one.name)
            self.faults += self._laws.check_folder(self.folder)
            after = [log.count() for one in self.machines for log in one.logs]
            if self.faults or (before == self.folder and counts == after):
                return
        self.faults.append(f"S7: after {ROUNDS_MAX} rounds they still write")

    def _in_flight(self) -> Iterator[str]:
        """S5: what anybody left in flight, one machine has finished."""
        for one in self.machines:
            yield from (f"S5: {told} on {one.name}" for told in one.deeds.in_flight())

    def _agree(self, *, is_last: bool = False) -> Iterator[str]:
        """S3: the same rows, the same state; looked at now and then, and at the end."""
        holding: dict[TellingAppends, list[Machine]] = {}
        for one in self.machines:
            holding.setdefault(self._laws.telling(one.name), []).append(one)
        for held, alike in holding.items():
            if len(alike) < 2 or not held:
                continue
            self._compared += 1
            if is_last or self._compared % COMPARED_EVERY == 0:
                yield from _differing("", alike, [one.state() for one in alike])
        if is_last and len(holding) > 1:
            yield "S7: they met, and do not hold the same"


def _differing(
    what: str, machines: Sequence[Machine], states: Sequence[Mapping[Any, object]]
) -> Iterator[str]:
    """What has come out otherwise on a machine than on the first."""
    first, *others = states
    for one, other in zip(machines[1:], others, strict=True):
        names = (n for n in sorted({*first, *other}) if first.get(n) != other.get(n))
        yield from (f"S3: {what}{n} differs on {one.name}" for n in names)


def _told(proof: Proved) -> Iterator[str]:
    for one in proof.divergences:
        differs = f"{one.path}: {one.expected[:300]} is {one.actual[:300]}"
        yield f"{one.position}: {one.kind_of}: {differs}"
