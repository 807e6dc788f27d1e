"""Three machines of one home by a seed: every law after each step, the same bytes every time."""

import os
import subprocess
import sys
from functools import partial

import pytest

from adapters.simulation.fleet import FleetEpisode
from adapters.simulation.plan import PlannedStep, plan
from adapters.simulation.play import simulate
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import by_append
from domain.append.envelope import Row
from domain.journal.commands import CreateTask

SCRIPT = (
    "from functools import partial; from adapters.simulation.fleet import FleetEpisode; "
    "from adapters.simulation.play import simulate; "
    "print(simulate('bytes', 12, play=partial(FleetEpisode, 3)).digest)"
)


def test_machines_keep_every_law_and_repeat_themselves() -> None:
    first, second = (simulate("three", 30, play=partial(FleetEpisode, 3)) for _ in range(2))
    assert first.faults == ()
    assert first == second
    assert first.wakes >= 30


def test_another_process_elsewhere_writes_the_same_bytes() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    ]
    assert told[0] == told[1] != ""


def broken(sabotage: "Sabotage") -> str:
    """What the laws say of three machines with which something is wrong."""
    faults = FleetEpisode(3, sabotage=sabotage).run(plan("broken", 60)).faults
    assert faults
    return faults[0]


class Sabotage:
    """Does one bad thing, once the machines have met."""

    def __init__(self) -> None:
        self.is_done = False

    def __call__(self, fleet: FleetEpisode, step: PlannedStep) -> None:
        if not self.is_done and fleet.done > 30:
            self.is_done = self.harm(fleet)

    def harm(self, fleet: FleetEpisode) -> bool:
        raise NotImplementedError


class AForeignRow(Sabotage):
    """A machine writes under another one's name."""

    def harm(self, fleet: FleetEpisode) -> bool:
        log = fleet.machines[1].logs[0]
        log.replica = "desk"
        log.append(CreateTask("not mine"), log.tail().at)
        log.replica = "laptop"
        return True


class AChangedFile(Sabotage):
    """A file of the folder becomes another one."""

    def harm(self, fleet: FleetEpisode) -> bool:
        names = sorted(one for one in fleet.folder if one.endswith(".gz"))
        fleet.folder[names[0]] = fleet.folder[names[-1]]
        return len(names) > 1


class AnAlteredRow(Sabotage):
    """What came in is not what its writer wrote."""

    def harm(self, fleet: FleetEpisode) -> bool:
        log = fleet.machines[2].logs[0]
        last = [one for one in by_append(log.rows()) if one[0].stream.endswith("@desk")][-1]
        forged = [Row(*one) for one in last]
        n = log.heads()["desk"].n
        state = forged[0].state.replace(b'"n":%d,' % n, b'"n":%d,' % (n + 1), 1)
        versions = (log.recorder.last_version(row.stream) + 1 for row in forged)
        rows = [
            row._replace(state=state if not nth else row.state, version=version)
            for nth, (row, version) in enumerate(zip(forged, versions, strict=True))
        ]
        with log.recorder.deciding():
            log.recorder.insert(rows, ())
        return True


class GoneRows(Sabotage):
    """The newest rows of a machine are gone."""

    def harm(self, fleet: FleetEpisode) -> bool:
        events = fleet.machines[0].logs[0].recorder
        assert isinstance(events, MemoryLogRecorder)
        gone, last = "DELETE FROM stored_events WHERE rowid > ?", events.count()
        events._connection.execute(gone, (last - 12,))  # no log does that
        return True


@pytest.mark.parametrize(
    ("sabotage", "law"),
    [(AForeignRow, "S1"), (AChangedFile, "S8"), (AnAlteredRow, "S1"), (GoneRows, "S6")],
)
def test_a_broken_law_is_told(sabotage: type[Sabotage], law: str) -> None:
    assert f"{law}: " in broken(sabotage())
