"""`wakelog run` in a process of its own, and a receiver that hangs, or a process that is killed."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.support.cli import proved
from tests.support.process import begun, did, read, until
from tests.support.receivers import read as heard
from tests.support.receivers import settings

pytestmark = pytest.mark.e2e

HANGS = "import sys, time; open(sys.argv[1], 'a').write(sys.stdin.read()); time.sleep(20)"


def waiting(home: Path, given: list[str]) -> None:
    """A home whose next wake proposes something, with a receiver that is allowed."""
    settings(home, f"command = {json.dumps(given)}", "every_minutes = 0")
    did(home, "task", "add", "Fix the sink")
    did(home, "task", "note", "Fix the sink", "Takes about 60 minutes. Urgent!")
    did(home, "notify", "allow")
    did(home, "agent", "create", "Fix the sink")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_hangs_holds_up_nothing_and_what_it_was_told_is_told_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    waiting(home, [sys.executable, "-c", HANGS, str(kept)])
    runtime = begun(home, "run", log=tmp_path / "run.log")
    until(lambda: heard(kept), every=0.05)
    (wake,) = read(home, "wakes")  # it has ended, though the receiver hangs
    assert wake["outcome"] == "completed"
    runtime.send_signal(number)
    assert runtime.wait(timeout=60) == (0 if number == signal.SIGINT else -signal.SIGKILL)
    runtime = begun(home, "run", log=tmp_path / "run.log")
    until(lambda: len(heard(kept)) > 1, every=0.05)
    runtime.kill()
    runtime.wait()
    first, again = heard(kept)
    assert first == again
    assert proved(home) > 0
