"""Scenes of what waits for what: throttle, backoff, provider, budget, deadline, and a second wake.

Times are set to the second, so that each limit stands in a history exactly and one second short.
"""

from msgspec.structs import replace

from adapters.home.settings import AgentsSettings, Settings
from adapters.runtime import timers, watcher
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.agent import commands as agents
from domain.agent import wake_queue_rules as rules
from domain.agent.wake_queue import WAKE_QUEUE, WakeQueue, next_wake
from domain.append.causes import Replied
from domain.handlers.wakes import SKIPS
from domain.journal import commands as do
from domain.log.timestamps import later
from domain.log.wire import payload
from domain.ports import ModelFault
from domain.wake.commands import BeginWake, DeferWake, RetakeWake, SkipWake, StopWake
from domain.wake.wake import ModelAnswered, ModelFailed
from tests.histories.acting import (
    REPORT,
    Scene,
    answers,
    begun,
    pass_time,
    refused,
    set_clock,
    time_of,
    told,
    woken,
)
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply


def wake_queue_of(at: Services, agent: str) -> WakeQueue:
    with at.agents.reading() as world:
        return world.load(WAKE_QUEUE, agent)


def _edited(at: Services, task: str, title: str) -> None:
    told(at, do.EditTask(task, title=title))
    watcher.catch_up(at)


def _begins_at(at: Services, agent: str, moment: str) -> None:
    """Ask that the next wake begins a second before a moment, then at it."""
    wake = next_wake(wake_queue_of(at, agent))
    assert wake is not None
    for seconds in (-2, -1):  # the clock goes on by one when it is read
        set_clock(at, later(moment, seconds=seconds))
        if not wake_queue_of(at, agent).running:
            begun(at, agent, wake.run_key, is_now=False)


def _ends(at: Services, agent: str, *, well: bool = True) -> None:
    run_key, task = wake_queue_of(at, agent).running, at.agent(agent).task
    for turn in (1, 2):  # the second one of a first wake asks for its report
        raw = payload(task, f"answer {turn} of {run_key}".encode())
        answer = ModelAnswered(turn, 1, raw.id)
        fails = ModelFailed(turn, 1, "blocked", "unsafe")
        if wake_queue_of(at, agent).running:
            at.append_reply(
                Replied("wake", run_key, answer if well else fails), [raw] if well else ()
            )


def throttled() -> Services:
    """Changes wait two minutes, or as long as is set; ticks and persons do not."""
    at = services()
    task, agent = task_with_agent(at)
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    for seconds in (rules.THROTTLE_SECONDS, 10):
        at.settings = Settings(agents=AgentsSettings(throttle_seconds=seconds))
        _edited(at, task, f"First {seconds}")
        due = later(time_of(at), seconds=seconds)
        pass_time(at, 3)
        _edited(at, task, f"Merged {seconds}")
        _begins_at(at, agent, due)
        _edited(at, task, f"While it runs {seconds}")
        _ends(at, agent)
        _begins_at(at, agent, wake_queue_of(at, agent).not_before)
        _edited(at, task, f"While it runs again {seconds}")
        _ends(at, agent, well=False)
        told(at, timers.timer_command(agent, "every hour", "UTC", at.clock.now()))
        set_clock(at, later(at.agent(agent).timers[0].next_at, seconds=-1))
        timers.fire(at, [agent])
        _begins_at(at, agent, later(at.clock.now(), seconds=9))
        _edited(at, task, f"Behind a timer {seconds}")
        told(at, at.request(agent))
        _ends(at, agent)
        told(at, at.request(agent))
        _edited(at, task, f"Behind a person {seconds}")
        _begins_at(at, agent, later(at.clock.now(), seconds=9))
        _ends(at, agent)
        _ticks(at, task, agent, f"Then a tick {seconds}")
    return at


def _ticks(at: Services, task: str, agent: str, title: str) -> None:
    """A change is queued; a timer ticks before it is due, and again when it is."""
    soon = later(at.clock.now(), seconds=5)
    (timer,) = told(at, agents.SetTimer(agent, title, "UTC", soon))
    _edited(at, task, title)
    for seconds in (0, 600):
        tick = later(soon, seconds=seconds)
        set_clock(at, tick)
        after = later(tick, seconds=60)
        told(at, agents.TickTimer(agent, timer, (tick,), after, is_enabled=True))
    begun(at, agent, queued_key(at, agent), is_now=False)
    _ends(at, agent)


def backed_off() -> Services:
    """Failures in a row, each waiting longer; a tick, a change and a person meet them."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, timers.timer_command(agent, "every hour", "UTC", at.clock.now()))
    begun(at, agent, queued_key(at, agent))
    _ends(at, agent, well=False)
    for nth in range(rules.FAILURES_MAX - 2):
        timer = at.agent(agent).timers[0]
        if nth % 2:
            set_clock(at, later(timer.next_at, seconds=-1))
            timers.fire(at, [agent])
        else:
            _edited(at, task, f"Try {nth}")
        wake, wake_queue = next_wake(wake_queue_of(at, agent)), wake_queue_of(at, agent)
        _begins_at(at, agent, max(wake.due_at if wake else "", wake_queue.not_before))
        _ends(at, agent, well=False)
    _edited(at, task, "Not yet")
    told(at, at.request(agent))
    begun(at, agent, queued_key(at, agent))
    _ends(at, agent, well=False)
    told(at, agents.ResumeAgent(agent, is_enabled=True))
    begun(at, agent, queued_key(at, agent))
    _ends(at, agent)
    _edited(at, task, "Anew")
    pass_time(at, 200)
    for reason in ("manual", "subscription"):
        begun(at, agent, queued_key(at, agent), is_now=False)
        if reason == "manual":
            told(at, at.request(agent))
        _edited(at, task, f"Behind what fails {reason}")
        _ends(at, agent, well=False)
    begun(at, agent, queued_key(at, agent), is_now=False)
    return at


def providers() -> Services:
    """A provider is away again and again, longer than it says, or for more than a day."""
    at = services()
    task, agent = task_with_agent(at)
    _, other = task_with_agent(at, "Another")
    day = rules.PROVIDER_SECONDS_MAX
    for one, delays in ((agent, (0,) * 8), (other, (1, day, day + 1))):
        for seconds in delays:
            fault = ModelFault("overloaded", "503", of_provider=True, retry_seconds=seconds)
            answers(at, [fault])
            woken(at, one)
            _edited(at, task, f"Meanwhile {len(at.agent(agent).name)} {at.clock.now()}")
    told(at, at.request(agent))
    told(at, at.request(agent, "user", "s", 1))
    waiting = wake_queue_of(at, agent).waiting
    assert waiting is not None
    queued = queued_key(at, agent)
    for until in (1, 2):
        moment = later(at.clock.now(), seconds=60 * until)
        for run_key in (waiting.run_key, queued, "n" * 32):
            told(at, DeferWake(agent, run_key, moment, "budget"), key=f"{run_key} {until}")
    answers(at, [reply(REPORT), reply()] * 3)
    woken(at, agent)
    woken(at, agent)
    told(at, DeferWake(agent, waiting.run_key, moment, "budget"), key="too late")
    woken(at, other)
    return at


def stopped() -> Services:
    """A wake is stopped for each reason, by who saw it wait for this, or for something else."""
    at = services()
    task, agent = task_with_agent(at)
    codes = (*SKIPS, "deadline", "internal", "limit")
    for nth, code in enumerate(codes):
        run_key = queued_key(at, agent)
        refused(at, "unknown_wake", RetakeWake(run_key), StopWake(run_key, code))
        begun(at, agent, run_key)
        others = ((2, 1, ""), (1, 2, ""), (1, 1, "operation"))
        turn, attempt, operation = others[nth % 3]
        told(at, StopWake(run_key, code, "", turn, attempt, operation), key=f"other {nth}")
        told(at, RetakeWake(run_key, turn, attempt, operation), key=f"other retake {nth}")
        until = later(at.clock.now(), seconds=9)
        defer = DeferWake(agent, run_key, until, "budget", turn, attempt, operation)
        told(at, defer, key=f"other defer {nth}")
        told(at, RetakeWake(run_key, 1, 1), key=f"retake {nth}")
        told(at, RetakeWake(run_key, 1, 1), key=f"the same retake {nth}")
        told(at, StopWake(run_key, code, f"because {nth}", 1, 2))
        told(at, StopWake(run_key, code, "again"), key=f"again {nth}")
        told(at, agents.ResumeAgent(agent, is_enabled=True))
        told(at, at.request(agent))
    run_key = queued_key(at, agent)
    told(at, SkipWake(agent, "n" * 32, "out_of_scope"), key="another")
    told(at, SkipWake(agent, run_key, "missing_category", "it has none"))
    told(at, SkipWake(agent, run_key, "task_deleted"), key="skipped already")
    told(at, do.DeleteTask(task))
    told(at, at.request(agent))
    woken(at, agent)
    return at


def second_wakes() -> Services:
    """Another wake is asked for while one runs or waits; the same one is asked for again."""
    at = services()
    task, agent = task_with_agent(at)
    first = queued_key(at, agent)
    begun(at, agent, first)
    _edited(at, task, "While it runs")
    queued = queued_key(at, agent)
    captured = _refused_begin(at, agent, queued)
    refused(at, "unknown_wake", replace(captured, run_key="n" * 32))
    told(at, at.request(agent, "user", "s", 1))
    told(at, at.request(agent, "user", "s", 1), key="said again")
    _ends(at, agent)
    begun(at, agent, queued_key(at, agent))
    at.append_reply(Replied("wake", wake_queue_of(at, agent).running,
                     ModelFailed(1, 1, "overloaded", "503", of_provider=True)))  # fmt: skip
    _edited(at, task, "While it waits")
    waiting = wake_queue_of(at, agent).waiting
    assert waiting is not None
    _refused_begin(at, agent, queued_key(at, agent))
    refused(at, "agent_running", replace(captured, run_key=waiting.run_key))
    told(at, at.request(agent))
    told(at, SkipWake(agent, waiting.run_key, "out_of_scope", "while it waits"))
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    return at


def _refused_begin(at: Services, agent: str, run_key: str) -> BeginWake:
    command = capture(at, agent, run_key, is_now=True).command
    refused(at, "agent_running", command)
    return command


SCENES: tuple[Scene, ...] = (throttled, backed_off, providers, stopped, second_wakes)
