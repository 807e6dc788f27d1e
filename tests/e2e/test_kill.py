"""Real processes, killed with -9 at random moments: `wakelog recover` finishes what they left."""

import random
import signal
from pathlib import Path

import pytest

from tests.support import killing
from tests.support.driver import TASKS, prepare

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here"),
]

KILLS = 10
SECONDS_MAX = 0.5


def test_ten_kills_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare(home)
    dice = random.Random(2027)
    notes: list[str] = []
    for nth in range(KILLS):
        killed = killing.kill_once(home, f"k{nth}", dice, SECONDS_MAX)
        notes += killed.notes
        assert killed.errors == []
        assert killing.checked(home, notes) == []
    again = killing.wakelog(home, "recover")
    assert (again.returncode, again.stderr) == (0, "")
    proved = killing.wakelog(home, "prove")
    assert (proved.returncode, proved.stderr) == (0, "")
    assert killing.counted(home)["wakes"] >= TASKS
