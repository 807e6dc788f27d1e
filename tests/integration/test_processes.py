"""Eight processes on one home at once: import, write, wake, decide. Nothing is lost or doubled,
and no two of them work at the same wake."""

from pathlib import Path

import pytest

from tests.support import killing
from tests.support.driver import prepare

PROCESSES = 8
SECONDS = 4.0


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
