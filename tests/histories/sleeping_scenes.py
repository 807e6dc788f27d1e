"""Scenes of what holds an agent's attention off: a person, and that nothing moved."""

from msgspec.structs import replace

from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.runtime.timers import fire, timer_command
from adapters.runtime.wake_capture import unchanged
from domain.agent.commands import DestroyAgent, SleepAgent
from domain.journal import commands as do
from domain.log.timestamps import later
from domain.wake.commands import SkipWake
from tests.histories.acting import (
    REPORT,
    Scene,
    answers,
    begun,
    refused,
    set_clock,
    time_of,
    told,
    woken,
)
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

DAY = 86_400


def _edited(at: Services, task: str, title: str) -> None:
    told(at, do.EditTask(task, title=title))
    watcher.catch_up(at)


def asleep() -> Services:
    """What comes while an agent sleeps waits for the date, or for the person; some is cancelled."""
    at = services()
    task, agent = task_with_agent(at)
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    until = later(time_of(at), seconds=DAY)
    told(at, SleepAgent(agent, until))
    told(at, SleepAgent(agent, until), key="said again")
    refused(at, "invalid_value", SleepAgent(agent, time_of(at)))
    _edited(at, task, "While it sleeps")
    for is_now in (False, True):
        begun(at, agent, queued_key(at, agent), is_now=is_now)
    told(at, at.request(agent))
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    _edited(at, task, "While it sleeps on")
    cancelled = queued_key(at, agent)
    told(at, SkipWake(agent, cancelled, "cancelled"))
    refused(at, "unknown_wake", SkipWake(agent, cancelled, "cancelled"))
    _edited(at, task, "Once more")
    set_clock(at, later(until, seconds=1))
    run_key = queued_key(at, agent)
    begun(at, agent, run_key, is_now=False)
    refused(at, "agent_running", SkipWake(agent, run_key, "cancelled"))
    told(at, SleepAgent(agent, later(time_of(at), seconds=DAY)), key="a second night")
    told(at, SleepAgent(agent))
    told(at, SleepAgent(agent), key="awake already")
    told(at, DestroyAgent(agent))
    refused(at, "unknown_agent", SleepAgent(agent, later(time_of(at), seconds=DAY)))
    return at


def ordered_to_sleep() -> Services:
    """What was said as 0.2.0 says it is still heeded, until an order takes its place."""
    at = services()
    task, agent = task_with_agent(at)
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    until = later(time_of(at), seconds=DAY)
    told(at, SleepAgent(agent, later(until, seconds=DAY)))
    told(at, SleepAgent(agent, until, is_ordered=True), key="an order")
    told(at, SleepAgent(agent, until, is_ordered=True), key="said again")
    told(at, SleepAgent(agent, later(until, seconds=60)))
    refused(at, "invalid_value", SleepAgent(agent, time_of(at), is_ordered=True))
    _edited(at, task, "While it sleeps")
    run_key = queued_key(at, agent)
    for is_now in (False, True):
        begun(at, agent, run_key, is_now=is_now)
    set_clock(at, later(until, seconds=1))
    begun(at, agent, run_key, is_now=False)
    set_clock(at, later(until, seconds=61))
    begun(at, agent, run_key, is_now=False)
    told(at, SleepAgent(agent, later(until, seconds=DAY), is_ordered=True), key="a second night")
    told(at, SleepAgent(agent, is_ordered=True))
    told(at, SleepAgent(agent, is_ordered=True), key="awake already")
    return at


def nothing_moved() -> Services:
    """A daily timer meets nothing new twice, then a date that came near; then it is to ask always.
    A skip that comes late, and one of a day before, say nothing."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, do.EditTask(task, due="2027-01-11"))
    answers(at, [reply(REPORT), reply(text="First.")])
    woken(at, agent)
    timer = timer_command(agent, "every day 07:00", "UTC", at.clock.now(), heeds_moves=True)
    for nth, texts in enumerate(((), (), ("Nearer.",), ("As ever.",))):
        if nth == 3:
            timer = replace(timer, heeds_moves=False)
        told(at, timer)
        set_clock(at, later("2027-01-01T08:00:00.000000Z", seconds=DAY * (nth + 1)))
        fire(at, [agent])
        early = unchanged(at, agent, queued_key(at, agent))
        if nth == 1 and early is not None and early.local is not None:
            told(at, replace(early, local=replace(early.local, time="2027-01-02T08:00")))
        answers(at, [reply(text=one) for one in texts])
        woken(at, agent)
        if early is not None:
            refused(at, "unknown_wake", early)
    return at


SCENES: tuple[Scene, ...] = (asleep, ordered_to_sleep, nothing_moved)
