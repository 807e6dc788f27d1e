"""Wakes on demand: at most so many at once, one after another with a clock set by hand, and
nothing that goes wrong in one wake reaches another."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.home.clock import ManualClock
from adapters.home.home_location import FolderLocation
from adapters.runtime import effect_executor, on_demand
from adapters.runtime.on_demand import RanWake, run_one
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.agent.commands import RequestWake
from domain.ports import Reply, Request
from domain.wake.commands import RetakeWake
from domain.wake.wake import WAKE, Wake
from tests.support.services import START, divergences, queued_key, services, task_with_agent
from tests.support.whole import late_replies
from wakelog.testing import calls as reply


class Busy:
    """A model that takes its time, and counts how many ask it at once."""

    name = "tape:busy"

    def __init__(self, trouble: Callable[[int], None] = lambda nth: None) -> None:
        self.at_once = self.most = self.asked = 0
        self.is_asked = asyncio.Event()
        self._trouble = trouble

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        self.is_asked.set()
        self._trouble(self.asked)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.01)
        self.at_once -= 1
        arguments = '{"content":"a","tldr":"b","oneLiner":"c"}'
        calls = () if request.exchanges else (("update_report", arguments),)
        made = reply(*calls)
        return Reply(b"[%d]" % self.asked, calls=made.calls)


def quiet(nth: int, of: int, agent_id: str) -> None:
    """Progress that nobody hears."""


def silent(text: str) -> None:
    """A message that nobody hears."""


def agents_of(at: Services, count: int) -> list[str]:
    return [task_with_agent(at, f"Task {nth}")[1] for nth in range(count)]


def wake_of(at: Services, run_key: str) -> Wake:
    with at.agents.reading() as world:
        return world.load(WAKE, run_key)


class One:
    """One agent with a queued wake."""

    def __init__(self, trouble: Callable[[int], None] = lambda nth: None) -> None:
        self.model = Busy(trouble)
        self.at = services(model=self.model)
        (self.agent,) = agents_of(self.at, 1)
        self.run_key = queued_key(self.at, self.agent)

    @property
    def wake(self) -> Wake:
        return wake_of(self.at, self.run_key)

    def run(self, *, is_left: bool = False) -> Coroutine[Any, Any, RanWake]:
        return run_one(self.at, self.agent, self.run_key, is_left=is_left)

    def together(self, *runs: Coroutine[Any, Any, object]) -> None:
        async def both() -> None:
            await asyncio.gather(*runs, return_exceptions=True)

        asyncio.run(both())
        assert (self.model.asked, late_replies(self.at)) == (2, 0)
        assert divergences(self.at) == []

    def begun(self) -> None:
        """By a process that dies then."""
        captured = capture(self.at, self.agent, self.run_key, is_now=True)
        self.at.append_agent(captured.command, payloads=captured.payloads)

    def interrupted(self, first: Callable[[], object] = lambda: None) -> None:
        """Stopped while its model thinks, after what happens first."""

        async def interrupt() -> None:
            running = asyncio.create_task(self.run())
            await self.model.is_asked.wait()
            first()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        asyncio.run(interrupt())


@pytest.fixture
def one() -> One:
    return One()


def test_so_many_run_at_once_and_no_more() -> None:
    model = Busy()
    at = services(model=model)
    ran = on_demand.run_ready(at, agents_of(at, 8), quiet)
    assert [one.error for one in ran] == [""] * 8
    assert model.most == at.settings.agents.parallel == 3
    assert divergences(at) == []


def asked_for(at: Services, agent: str) -> str:
    return at.append_agent(RequestWake(agent, "manual", is_enabled=True)).result.ids[1]


def test_with_a_clock_set_by_hand_they_run_one_after_another_in_queue_order() -> None:
    model = Busy()
    at = services(model=model)
    at.clock = ManualClock(START)
    agents = agents_of(at, 4)
    told: list[tuple[int, int, str]] = []
    on_demand.run_ready(at, agents, lambda *one: told.append(one))
    assert model.most == 1
    assert told == [(nth, 4, agent) for nth, agent in enumerate(agents, start=1)]


def test_what_a_bug_raises_fails_its_own_wake_alone() -> None:
    def trouble(nth: int) -> None:
        if nth == 2:
            raise ZeroDivisionError("a bug")

    at = services(model=Busy(trouble))
    ran = on_demand.run_ready(at, agents_of(at, 3), quiet)
    assert [one.code for one in ran] == ["", "internal", ""]
    outcomes = [wake_of(at, one.run_key).outcome for one in ran]
    assert outcomes == ["completed", "failed", "completed"]
    assert divergences(at) == []


def test_an_interrupted_wake_waits_for_its_next_turn_at_once(one: One) -> None:
    one.interrupted()
    assert one.wake.phase == "deferred"
    (again,) = on_demand.run_ready(one.at, [one.agent], quiet)
    assert (again.run_key, again.error) == (one.run_key, "")
    assert one.wake.outcome == "completed"
    assert divergences(one.at) == []


def test_a_request_waits_for_the_wake_that_runs(one: One) -> None:
    told: list[str] = []

    async def both() -> RanWake:
        running = asyncio.create_task(one.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        run_key = asked_for(one.at, one.agent)
        ran = await on_demand.run_asked(one.at, one.agent, run_key, told.append)
        await running
        return ran

    ran = asyncio.run(both())
    assert len(told) == 1
    assert [wake_of(one.at, key).outcome for key in (one.run_key, ran.run_key)] == ["completed"] * 2
    assert divergences(one.at) == []


def test_a_repeated_request_for_a_wake_that_has_ended_runs_nothing(one: One) -> None:
    run_key = asked_for(one.at, one.agent)
    on_demand.run_requested(one.at, one.agent, run_key, silent)
    asked = one.model.asked
    assert on_demand.run_requested(one.at, one.agent, run_key, silent).error == ""
    assert one.model.asked == asked


def test_a_second_process_that_comes_too_late_asks_nothing(one: One) -> None:
    """Two processes find the same wake queued; the second begins nothing and performs nothing."""
    one.together(one.run(), one.run())


def test_two_that_found_the_same_wake_abandoned_take_it_over_once(one: One) -> None:
    """Each has seen it in doubt before the other has taken it over."""
    one.begun()
    run = partial(effect_executor.run_wake, one.at, one.agent, one.run_key, seen=one.wake)
    one.together(run(), run())
    assert one.wake.outcome == "completed"


def test_who_saw_a_wake_queued_does_not_take_it_over_once_it_runs(one: One) -> None:
    run = partial(effect_executor.run_wake, one.at, one.agent, one.run_key, seen=one.wake)
    one.together(run(is_now=True), run(is_now=True))


@pytest.mark.parametrize("fault", [TimeoutError("away for an hour"), ZeroDivisionError("a bug")])
def test_who_was_away_for_long_ends_no_attempt_but_its_own(fault: Exception) -> None:
    """While its model was asked, another process has taken the wake over."""

    def away(nth: int) -> None:
        if nth == 1:
            left.at.append_agent(RetakeWake(left.run_key))
            raise fault

    left = One(away)
    asyncio.run(left.run())
    assert left.wake.phase == "waiting"
    asyncio.run(left.run(is_left=True))
    assert left.wake.outcome == "completed"
    assert divergences(left.at) == []


def test_who_is_stopped_late_defers_no_attempt_but_its_own(one: One) -> None:
    one.interrupted(lambda: one.at.append_agent(RetakeWake(one.run_key)))
    assert one.wake.phase == "waiting"


def leased(model: Busy, folder: Path) -> tuple[Services, list[str]]:
    """Services at a home with other processes, and five agents with a queued wake each."""
    at = services(model=model)
    at.leases = FolderLocation(folder).leases
    return at, agents_of(at, 5)


def test_a_round_leaves_an_agent_alone_that_another_process_is_at(tmp_path: Path) -> None:
    model = Busy()
    at, agents = leased(model, tmp_path)
    with closing(at.leases()) as other:
        assert other.take(agents[0], "another wake", at.clock.now(), 3)
        ran = on_demand.run_ready(at, agents, quiet)
        assert [one.agent_id for one in ran] == agents[1:]
        assert model.most == 2  # with the other one's wake, three
        assert [one.agent for one in other.all(at.clock.now())] == agents[:1]
    assert divergences(at) == []


def test_a_request_waits_while_another_process_has_the_lease(tmp_path: Path) -> None:
    model = Busy()
    at, agents = leased(model, tmp_path)
    run_key = asked_for(at, agents[0])
    told: list[str] = []
    with closing(at.leases()) as other:
        other.take(agents[0], run_key, at.clock.now(), 3)

        def heard(text: str) -> None:
            told.append(text)
            assert model.asked == 0
            other.give_back(agents[0])

        assert on_demand.run_requested(at, agents[0], run_key, heard).error == ""
    assert told == [f"process {os.getpid()} is at this agent: waiting for it to end"]
    assert wake_of(at, run_key).outcome == "completed"


def test_a_request_waits_for_room_and_then_stays_queued(tmp_path: Path) -> None:
    at, agents = leased(Busy(), tmp_path)
    at.settings = msgspec.structs.replace(
        at.settings, agents=msgspec.structs.replace(at.settings.agents, deadline_seconds=-30)
    )
    with closing(at.leases()) as other:
        for agent in agents[1:4]:
            other.take(agent, "another wake", at.clock.now(), 3)
        run_key = queued_key(at, agents[0])
        ran = on_demand.run_requested(at, agents[0], run_key, silent)
    told = f"3 wakes run already, in process {os.getpid()}; it stays queued"
    assert (ran.error, ran.code) == (told, "agent_running")
    assert queued_key(at, agents[0]) == run_key


def test_a_wake_whose_process_is_gone_is_taken_over_at_once(tmp_path: Path) -> None:
    model = Busy()
    at, agents = leased(model, tmp_path)
    run_key = queued_key(at, agents[0])
    captured = capture(at, agents[0], run_key, is_now=True)
    at.append_agent(captured.command, payloads=captured.payloads)
    assert on_demand.run_ready(at, agents[:1], quiet) == []  # nobody knows, so it may still run
    with closing(at.leases()) as gone:
        gone.take(agents[0], run_key, at.clock.now(), 3)
        gone.leave(is_in_doubt=True)
    assert [one.error for one in on_demand.run_ready(at, agents[:1], quiet)] == [""]
    assert wake_of(at, run_key).outcome == "completed"
    assert divergences(at) == []
