"""Eight processes on one home at once: import, write, wake, decide. Nothing is lost or doubled,
and no two of them work at the same wake."""

from pathlib import Path

import pytest

from tests.bench import runtime_kill, runtime_load
from tests.support import killing
from tests.support.driver import prepare

PROCESSES = 8
SECONDS = 5.0  # on a busy machine each wakes once in half of that


@pytest.mark.slow
def test_eight_processes_on_one_home_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare(home)
    running = [killing.driver(home, f"p{nth}", SECONDS) for nth in range(PROCESSES)]
    notes: list[str] = []
    for one in running:
        told, errors = one.communicate(timeout=120)
        assert (one.returncode, errors) == (0, "")
        notes += [line.removeprefix("note ") for line in told.splitlines() if line != "ready"]
    assert len(notes) >= PROCESSES
    assert killing.checked(home, notes) == []
    counts = killing.counted(home)
    assert counts["wakes"] > PROCESSES
    assert (counts["take-overs"], counts["late replies"]) == (0, 0)
    by_driver = {text.rpartition("(")[2].partition(" ")[0] for text in notes}
    assert len(by_driver) == PROCESSES


# ------------------------------------------------------------------------------ the benches, small


@pytest.mark.slow
def test_every_change_is_in_one_wake_or_one_suppression_under_load() -> None:
    found = runtime_load.main(
        ["--agents", "12", "--changes", "200", "--burst", "50", "--pause", "1"]
    )
    assert (found.triggers, found.double, found.missing, found.overlaps) == (200, 0, 0, 0)


@pytest.mark.slow
def test_runtimes_that_are_killed_lose_nothing_and_do_nothing_twice() -> None:
    found = runtime_kill.main(["--times", "3", "--agents", "8", "--changes", "10"])
    assert (found.triggers, found.double, found.missing, found.overlaps) == (30, 0, 0, 0)
