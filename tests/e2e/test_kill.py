"""Real processes, killed with -9 at random moments: `wakelog recover` finishes what they left."""

import random
import signal
from pathlib import Path

import pytest

from tests.support import cli, killing
from tests.support.driver import TASKS, prepare

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here"),
]

KILLS = 6
SECONDS_MAX = 0.5


def test_kills_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare(home)
    dice = random.Random(2027)
    notes: list[str] = []
    for nth in range(KILLS):
        killed = killing.kill_once(home, f"k{nth}", dice, SECONDS_MAX)
        notes += killed.notes
        assert killed.errors == []
        assert killing.checked(home, notes) == []
    again = cli.run(["recover"], home)
    assert (again.exit_code, again.stderr) == (0, "")
    assert cli.proved(home)
    assert killing.counted(home)["wakes"] >= TASKS
