"""Two processes find the same work: whatever the one has just read, the other may be faster.

The slower process is stopped at each of its accesses to the agent log, one after the other, and
there the faster one does its part. The wake must be performed by one of them alone.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from adapters.home.settings import Settings
from adapters.runtime.on_demand import run_one
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from domain.agent.wake_queue import WAKE_QUEUE
from domain.ports import Reply, Request
from domain.wake.commands import DeferWake, RetakeWake
from tests.support import whole
from tests.support.faults import FaultyRecorder, Meddler
from tests.support.services import TickingClock, queued_key, task_with_agent
from wakelog.testing import calls as reply

ACCESSES_MAX = 60


class Asked:
    """A model that answers once with a report, and counts its questions."""

    name = "tape:asked"

    def __init__(self) -> None:
        self.count = 0

    async def reply(self, request: Request) -> Reply:
        self.count += 1
        report = ("update_report", '{"content":"a","tldr":"b","oneLiner":"c"}')
        return reply(text="Done.") if request.exchanges else reply(report)


def services(folder: Path, model: Asked, meddler: Meddler | None = None) -> Services:
    journal = Log.open("journal", folder / "journal.db", "r1")
    recorder = FaultyRecorder(SQLiteLogRecorder(folder / "agent.db"), meddler=meddler)
    clock = TickingClock()
    return Services(journal, Log("agent", recorder, "r1"), clock, Settings(), lambda _: model)


def begin(at: Services, agent: str, run_key: str) -> None:
    """Begin a wake, or go on with it, and be busy with it."""
    with at.agents.reading() as world:
        wake_queue = world.load(WAKE_QUEUE, agent)
    if wake_queue.waiting:
        at.append_agent(RetakeWake(run_key))
    elif wake_queue.queued:
        captured = capture(at, agent, run_key, is_now=True)
        at.append_agent(captured.command, payloads=captured.payloads)


def perform(at: Services, agent: str, run_key: str) -> None:
    """Perform a wake to its end."""
    asyncio.run(run_one(at, agent, run_key))


def nothing(at: Services, agent: str, run_key: str) -> None:
    """Leave the wake queued."""


def deferred(at: Services, agent: str, run_key: str) -> None:
    """Leave the wake begun, and waiting for its next turn."""
    begin(at, agent, run_key)
    at.append_agent(DeferWake(agent, run_key, at.clock.now(), "interrupted"))


Part = Callable[[Services, str, str], None]


def in_a_thread(part: Part, at: Services, agent: str, run_key: str) -> Callable[[], None]:
    """Do it in a thread of its own: an event loop runs in this one already."""

    def done() -> None:
        thread = Thread(target=part, args=(at, agent, run_key))
        thread.start()
        thread.join()

    return done


@pytest.mark.parametrize("faster", [begin, perform])
@pytest.mark.parametrize("before", [nothing, deferred])
def test_a_wake_is_performed_by_one_process_alone(
    tmp_path: Path, before: Part, faster: Part
) -> None:
    reached = 0
    for k in range(1, ACCESSES_MAX):
        folder = tmp_path / str(k)
        folder.mkdir()
        model = Asked()
        one = services(folder, model)
        _, agent = task_with_agent(one)
        run_key = queued_key(one, agent)
        before(one, agent, run_key)
        meddler = Meddler(k, in_a_thread(faster, one, agent, run_key))
        other = services(folder, model, meddler)
        meddler.accesses = 0
        asyncio.run(run_one(other, agent, run_key))
        reached = max(reached, meddler.accesses)
        takeovers = whole.retaken(one)
        assert whole.late_replies(one) == 0
        assert takeovers == (before is deferred), f"stopped at access {k}"
        assert model.count in (0, 2)
        assert whole.faults(one, is_finished=False) == []
        one.close()
        other.close()
        if meddler.accesses < k:
            break
    assert 5 < reached < ACCESSES_MAX
