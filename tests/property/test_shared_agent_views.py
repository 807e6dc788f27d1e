"""Views of both logs, of machines that all wake, decide and meet by half, late and twice: brought
up to date in place they are those that are made anew."""

from collections import Counter
from pathlib import Path

import pytest

from adapters.home.views import Views
from adapters.simulation.fleet import FIRST_STEPS, FleetEpisode, Machine
from adapters.simulation.plan import PlannedStep, plan
from domain.agent.wake_queue import WakeBegun
from domain.log.state import MAIN, RecordedEvent
from domain.policy.policy import POLICY
from projections.all_views import VIEWS
from projections.policy import VIEW, GatedWake, PolicyViewDocument
from tests.property.test_shared_views import Counted, stored

STEPS_BETWEEN = 3


class Watched:
    """Looks at the documents of one machine after each few steps of a fleet, in turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.forgotten: Counter[str] = Counter()
        self.looks = 0
        self._stores: dict[str, Counted] = {}

    def __call__(self, fleet: FleetEpisode, step: PlannedStep) -> None:
        if fleet.done >= FIRST_STEPS and fleet.done % STEPS_BETWEEN == 0:
            self.look(fleet.machines[fleet.done // STEPS_BETWEEN % len(fleet.machines)])

    def look(self, one: Machine) -> None:
        path = self.folder / f"{one.name}.db"
        is_first = not path.exists()
        store = Counted(path, VIEWS)
        logs = {log.name: log for log in (one.services.journal, one.services.agents)}
        views = Views(store, logs, batch_appends=(1000, 7)[self.looks % 2])
        views.catch_up()
        self.looks += 1
        if not is_first:
            self.forgotten.update(store.forgotten)
        views.close()
        anew = self.folder / "anew.db"
        anew.unlink(missing_ok=True)
        fresh = Views(anew, logs)
        fresh.catch_up()
        fresh.close()
        assert stored(path) == stored(anew)


@pytest.mark.parametrize(
    ("seed", "steps"),
    [("a", 40), *(pytest.param(one, 200, marks=pytest.mark.slow) for one in "abcd")],
)
def test_the_documents_of_both_logs_are_always_those_of_a_new_file(
    seed: str, steps: int, tmp_path: Path
) -> None:
    watched = Watched(tmp_path)
    fleet = FleetEpisode(3, sabotage=watched)
    assert fleet.run(plan(seed, steps)).faults == ()
    for one in fleet.machines:
        watched.look(one)
    assert set(watched.forgotten) <= {"policy"}  # where the gate stopped a wake, see there


@pytest.mark.parametrize(("run_key", "is_taken"), [("waits", False), ("another", True)])
def test_a_late_row_may_end_only_what_does_not_wait_for_the_gate(
    run_key: str, is_taken: bool
) -> None:
    waiting = (GatedWake("2027-01-01T00:00:00.000000Z", "waits", "usage_limit", "a1"),)
    document = PolicyViewDocument(POLICY.initial(MAIN), waiting=waiting)
    row = RecordedEvent("alert:a1@laptop", 3, "laptop", 7, 1, "", WakeBegun(run_key))
    assert VIEW.takes_late
    assert VIEW.takes_late(document, row) is is_taken
    assert (VIEW.apply(document, row) == document) is is_taken
