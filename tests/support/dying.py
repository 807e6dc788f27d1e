"""Confirms an item in a process that kills itself with -9 at a boundary of an append: see `faults`.
Run as ``python -m tests.support.dying HOME REF NTH``; it ends with status 0 where there are fewer.
"""

import os
import signal
import sys
from pathlib import Path

from adapters.store.log import Log
from adapters.usecases.proposals import ItemVerdict, decide_all, named_items
from adapters.wiring import open_home
from tests.support.faults import FaultyRecorder, Fuse
from tests.support.killing import REPLICA


class Deadly(Fuse):
    """A fuse that kills the process, as the kernel does."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._nth = at

    def passes(self) -> None:
        super().passes()
        if self.passed == self._nth:
            os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, ref: str, nth: str) -> None:
    """Confirm an item, and die at the so manieth boundary of either log, counted from 1."""
    deadly = Deadly(int(nth))
    with open_home(Path(folder), REPLICA, is_writing=True) as home:
        services = home.services
        for name in ("journal", "agents"):
            log: Log = getattr(services, name)
            setattr(services, name, Log(log.name, FaultyRecorder(log.recorder, deadly), "r1"))
        items = named_items(home, "confirm", [ref], is_all=False)
        assert all(one.is_done for _, one in decide_all(home, items, ItemVerdict("confirm")))


if __name__ == "__main__":
    main(*sys.argv[1:])
