"""Whatever ends a process, and whenever: what waits is told, and once.

The receiver counts by itself, by the ids of what it is told: a message may come again under the
same id only if a process was killed after it was heard and before that was noted.
"""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from adapters.home.settings import NotifySettings, Settings
from adapters.models.tape import TapeModel
from adapters.notify.delivery_progress import DeliveryProgress, DeliveryStore
from adapters.notify.notifier import Notifier, NotifierOptions
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.notice_rows import SqliteNoticeRows
from domain.agent.wake_queue import HELD_UNTIL, WAKE_QUEUE
from domain.log.timestamps import later
from domain.wake.commands import DeferWake
from tests.support.receivers import Kept, delivered, tells_nobody
from tests.support.services import StillClock, task_with_agent

ENDS = st.sampled_from(["answered", "failed", "killed before", "killed after"])


class Notices(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = StillClock()
        logs = Log.in_memory("journal"), Log.in_memory("agent")
        tape = TapeModel("tape", [])
        chosen = Settings(notify=NotifySettings(every_minutes=15))
        self.at = Services(*logs, self.clock, chosen, lambda _: tape)
        self.told_of: dict[str, bool] = {}  # each task: whether it still waits
        self.agents: dict[str, str] = {}
        self.wait("an older one")  # before anybody was allowed: never told
        self.older = self.told_of.copy()
        tail = self.at.agents.tail()
        self.options = NotifierOptions(
            SqliteNoticeRows(Path(self.folder.name, "runtime.db")), (0.0,)
        )
        self.progress = DeliveryStore(self.options.rows)
        self.receiver = Kept()
        allowed = DeliveryProgress(self.receiver.identity, tail.n, tail.digest)
        self.progress.save(self.receiver.name, allowed)
        self.repeats = 0  # that a kill made possible
        self.restart()

    def teardown(self) -> None:
        """Everything has come to rest: each task that still waits was told, in one message."""
        self.receiver.ends = "answered"
        for _ in range(3):
            self.time()
            delivered(self.notifier)
        told = self.receiver.heard
        heard = {message.id: {one.task_id for one in message.waits} for message in told}
        count = Counter(task for tasks in heard.values() for task in tasks)
        for task, is_waiting in self.told_of.items():
            most = 0 if task in self.older else 1
            assert count[task] <= most
            assert count[task] == most or not is_waiting
        assert len(told) - len(heard) <= self.repeats
        self.folder.cleanup()

    # ------------------------------------------------------------------------------ what happens

    @rule()
    def waits(self) -> None:
        """One more wake needs a consent."""
        self.wait("a task")

    def wait(self, title: str) -> None:
        task, agent = task_with_agent(self.at, title)
        self.told_of[task], self.agents[task] = True, agent
        self.defer(agent, HELD_UNTIL, "consent")

    @precondition(lambda self: any(self.told_of.values()))
    @rule(nth=st.integers(0, 20))
    def given(self, nth: int) -> None:
        """A person ends one of the waits, told or not."""
        waiting = [task for task, is_waiting in self.told_of.items() if is_waiting]
        task = waiting[nth % len(waiting)]
        self.told_of[task] = False
        self.defer(self.agents[task], self.clock.now(), "requested")

    def defer(self, agent: str, until: str, reason: str) -> None:
        with self.at.agents.reading() as world:
            queued = world.load(WAKE_QUEUE, agent).queued
        assert queued is not None
        self.at.append_agent(DeferWake(agent, queued.run_key, until, reason))

    @rule(ends=ENDS, is_later=st.booleans())
    def look(self, ends: str, *, is_later: bool) -> None:
        """The notifier looks; if it is killed, another process goes on."""
        if is_later:
            self.time()
        before, self.receiver.ends = len(self.receiver.heard), ends
        delivered(self.notifier)
        if ends.startswith("killed"):
            self.repeats += len(self.receiver.heard) - before
            self.restart()

    @rule()
    def restart(self) -> None:
        self.notifier = Notifier(self.at, self.receiver, self.options, tells_nobody)

    def time(self) -> None:
        """As much passes as it takes until more may be told."""
        self.clock.at = later(self.clock.at, seconds=901)


KILLED = "ignore::pytest.PytestUnhandledThreadExceptionWarning"  # the thread of a delivery
TestNotices = pytest.mark.filterwarnings(KILLED)(Notices.TestCase)
TestNotices.settings = settings(max_examples=50, stateful_step_count=16, deadline=None)
