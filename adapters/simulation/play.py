"""Plays a plan in memory: a virtual clock, a scripted person, an unruly model, crashes.

After every step the laws of DESIGN 2 are checked over the rows it wrote; in the end everything is
recovered, and both logs are proved. The same seed writes the same bytes, in any process. A run of
many wakes is a row of episodes, each a home of its own with a seed of its own, so that memory
stays small and a failing plan short."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Protocol

from msgspec import Struct

from adapters.home.clock import ManualClock
from adapters.home.settings import Settings
from adapters.proof import histories
from adapters.proof.prove import Proved, prove_logs
from adapters.runtime.services import Services
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.simulation.fuzz_model import FuzzModel
from adapters.simulation.plan import PlannedStep, plan, shrink_plan
from adapters.simulation.steps import Steps
from adapters.store.log import Log
from adapters.wiring import Home
from domain.errors import WakelogError
from domain.log.keys import key
from replay.appends import appends
from replay.invariants import Invariants

START = "2027-01-01T00:00:00.000000Z"
EPISODE_STEPS = 400
WAKES_MAX = 10_000_000
PlanProgress = Callable[[int, int], None]
"""``progress(wakes, of)``."""


class EpisodeResult(Struct, frozen=True):
    """What came of a plan: `faults` is empty where all laws held and both logs proved."""

    digest: str
    wakes: int
    rows: int
    crashes: int
    refusals: int
    until: str
    faults: tuple[str, ...] = ()
    steps: int = 0  # that were done


class SimulationResult(Struct, frozen=True):
    """What came of a whole simulation. `failed`: the seed of the episode that broke a law, and
    `steps` the shortest plan found that still does."""

    digest: str
    episodes: int
    wakes: int
    rows: int
    crashes: int
    faults: tuple[str, ...] = ()
    failed: str = ""
    steps: tuple[PlannedStep, ...] = ()


class Episode(Protocol):
    """One episode, on one machine or on several."""

    @property
    def logs(self) -> tuple[Log, Log]:
        """The journal and the agent log, of several machines those of the first."""

    def run(self, steps: Sequence[PlannedStep], *, wakes_max: int = WAKES_MAX) -> EpisodeResult:
        """Do the steps, until enough wakes have run or a law is broken."""


class HomeEpisode:
    """One episode: a home in memory, and what was seen of it."""

    def __init__(self, *, sabotage: Callable[[Services, PlannedStep], None] | None = None) -> None:
        """`sabotage`: is called after each step; for tests that want to see a law broken."""
        self.model = FuzzModel()
        self.journal, self.agents = FaultyLog.fused("journal"), FaultyLog.fused("agent")
        clock = ManualClock(START)
        self.services = Services(self.journal, self.agents, clock, Settings(), lambda _: self.model)
        self.home = Home.in_memory(self.services)
        self.deeds = Steps(self.home, self.model)
        self._laws = Invariants()
        self._taken = {"journal": 0, "agent": 0}
        self._sabotage = sabotage

    def run(self, steps: Sequence[PlannedStep], *, wakes_max: int = WAKES_MAX) -> EpisodeResult:
        """Do the steps, until enough wakes have run or a law is broken."""
        faults: list[str] = []
        done = crashes = refusals = 0
        with closing(self.home.views), asyncio.Runner() as runner:
            for step in steps:
                done += 1
                try:
                    self.deeds.do(step, runner)
                except Crashed:
                    crashes += 1
                    self.deeds.restart()
                except WakelogError:
                    refusals += 1
                if self._sabotage:
                    self._sabotage(self.services, step)
                faults += self._checked()
                if faults or self.deeds.wakes >= wakes_max:
                    break
            if not faults:
                self.deeds.settle()
                faults += self._checked()
        proved = prove_logs(self.journal, self.agents)
        faults += self._proved(proved) if not faults else []
        until = max(self.journal.tail().at, self.agents.tail().at)
        return EpisodeResult(
            proved.digest, proved.wakes, proved.rows, crashes, refusals, until, tuple(faults), done
        )

    @property
    def logs(self) -> tuple[Log, Log]:
        return self.journal, self.agents

    def _checked(self) -> list[str]:
        """The laws, over what was written since the last time."""
        found: list[str] = []
        for log in (self.agents, self.journal):  # an intent is there before its effect
            for one in appends(log.rows(self._taken[log.name])):
                found += self._laws.take(log.name, one)
                self._taken[log.name] = one.n
        return found

    def _proved(self, proved: Proved) -> list[str]:
        taken = self.journal.tail().n - self.deeds.lag()
        found = [*self._laws.ended(taken)]
        for one in proved.divergences:
            differs = f"{one.path}: {one.expected[:300]} is {one.actual[:300]}"
            found.append(f"{one.position}: law 6: {one.kind_of}: {differs}")
        return found


def simulate(
    seed: str,
    wakes: int,
    progress: PlanProgress | None = None,
    play: Callable[[], Episode] = HomeEpisode,
) -> SimulationResult:
    """Play episodes until so many wakes have run, or one breaks a law. `play` makes the home of an
    episode, or the machines of one."""
    digests: list[str] = []
    count = rows = crashes = 0
    while count < wakes:
        own = f"{seed}/{len(digests)}"
        played = play().run(plan(own, EPISODE_STEPS), wakes_max=wakes - count)
        digests.append(played.digest)
        rows, crashes = rows + played.rows, crashes + played.crashes
        if played.faults:
            steps = shortest(plan(own, played.steps), play)
            faults = play().run(steps).faults or played.faults
            return SimulationResult(
                key("simulation", *digests), len(digests), count, rows, crashes, faults, own,
                tuple(steps),
            )  # fmt: skip
        count += max(played.wakes, 1)
        if progress:
            progress(count, wakes)
    return SimulationResult(key("simulation", *digests), len(digests), count, rows, crashes)


def shortest(
    steps: Sequence[PlannedStep], play: Callable[[], Episode] = HomeEpisode
) -> list[PlannedStep]:
    """A shorter plan that still breaks a law."""
    return shrink_plan(steps, lambda tried: bool(play().run(tried).faults))


def history_of(
    steps: Sequence[PlannedStep], play: Callable[[], Episode] = HomeEpisode
) -> histories.History:
    """What a plan writes, as a history."""
    played = play()
    played.run(steps)
    return histories.take_history(*played.logs)
