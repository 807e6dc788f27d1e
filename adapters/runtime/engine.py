"""The process people leave running: it watches, waits, wakes, and survives (SPEC 3, DESIGN 7).

It decides nothing. What is due is said by the log, through `turns`; who may try is said by
`RunLeases`; what became of it is said by the log again. So two engines on one home are as good as
one, and an engine that dies at any moment loses nothing.

Between two looks it sleeps on a `Signal`. A change in this process is told by `set`; one by another
process is found by cheap probes, a few times a second. Times are the clock's, read anew at each
probe: so neither a clock that jumps nor a machine that slept makes a wait longer than one
interval."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic

from adapters.home.clock import ManualClock, SystemClock, lag_text
from adapters.runtime import effect_executor, gate, leadership, review, timers, watcher
from adapters.runtime.due_index import AgentSchedule, DueIndex, WakeTurn, turns
from adapters.runtime.effect_executor import WakeExecution
from adapters.runtime.engine_options import (
    DEFAULT_OPTIONS,
    EngineCounts,
    EngineOptions,
    EngineStart,
    Tell,
)
from adapters.runtime.on_demand import fault_of
from adapters.runtime.retry_backoff import OUTSIDE, RetryBackoff, say
from adapters.runtime.run_leases import RunLeases
from adapters.runtime.services import Services
from adapters.store.leases import Leases
from domain.errors import WakelogError
from domain.log.timestamps import instant, later
from domain.ports import Clock
from domain.wake.commands import DeferWake
from domain.wake.wake import Wake

POLL_SECONDS = 0.25
Probe = Callable[[], object]
"""Gives another value once something has changed."""


class Signal:
    """What the engine sleeps on."""

    def __init__(
        self, clock: Clock, probes: Sequence[Probe] = (), *, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._clock = clock
        self._probes = probes
        self._poll = poll_seconds
        self._event = asyncio.Event()
        self._last = [probe() for probe in probes]

    def set(self) -> None:
        """Something has changed."""
        self._event.set()

    async def wait(self, until: str, *, is_busy: bool = False) -> None:
        """Wait for a change, or for a time; empty: only for a change. `is_busy`: something runs
        here that will end. A clock set by hand stands still then; else it is put forward to
        `until`."""
        while not self._event.is_set() and not self._has_changed():
            left = self._poll
            if until:
                left = (instant(until) - instant(self._clock.now())).total_seconds()
            if left <= 0:
                break
            if isinstance(self._clock, ManualClock) and not is_busy and until:
                self._clock.advance(seconds=int(left) + 1)
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._event.wait(), min(left, self._poll))
        self._event.clear()

    def _has_changed(self) -> bool:
        found = [probe() for probe in self._probes]
        is_new = found != self._last
        self._last = found
        return is_new


# --------------------------------------------------------------------------------------- the engine

BLOCKED_SECONDS = 2  # until it is looked again whether another process has given a lease back
CLOCK_SECONDS = 60  # that a clock must have been set back further, to be told of again


class Engine:
    """One runtime of a home."""

    def __init__(
        self, services: Services, leases: Leases, signal: Signal, tell: Tell,
        options: EngineOptions = DEFAULT_OPTIONS,
    ) -> None:  # fmt: skip
        self._services = services
        self._leases = RunLeases(services, leases, lambda seconds: tell("slept", seconds=seconds))
        self._signal = signal
        self._tell = tell
        self._options = options
        self._due_index = DueIndex(services)
        self._running: dict[str, tuple[WakeExecution, asyncio.Task[None]]] = {}
        self._unsaid: dict[str, DeferWake] = {}  # of wakes let go, while the disk was full
        self._holds = RetryBackoff()
        self._is_outside = False  # the last trouble is a person's to put right
        self._behind = 0  # seconds that the machine's clock was set back
        self._is_stopping = False
        self.is_in_doubt = False  # it was stopped twice
        self._is_blocked = False
        self._lead = ""  # another machine that leads
        self._limited_until = ""  # by what homes share: no wake is taken up before
        self._allowed = 0  # questions that were allowed, and asked by no wake yet
        self._ends = inf  # its slice, which begins once all was looked through
        self.counts = EngineCounts()

    async def run(self, found: EngineStart) -> None:
        """Recover what is left over, as the turns come, then watch and wake until stopped, or
        idle."""
        async with self._leases:
            try:
                self._due_index.start(found.agents, [*found.sets, *found.in_flight], found.known)
                await self._until_stopped()
            finally:
                await self._end()

    async def _until_stopped(self) -> None:
        while not self._is_stopping:
            has_more = self._guarded(self._turn)
            if self._is_done(has_more=has_more):
                break
            if has_more:
                await asyncio.sleep(0)
            else:
                await self._signal.wait(self.next_at(), is_busy=bool(self._running))

    @property
    def is_in_trouble(self) -> bool:
        """Whether the last turn failed, and is to be tried again later."""
        return bool(self._holds.until("", self._now()))

    @property
    def reached(self) -> tuple[int, int]:
        """Up to which append of the journal and of the agent log all was seen to."""
        return watcher.position(self._services), self._due_index.seen

    def _is_done(self, *, has_more: bool) -> bool:
        if self._options.slice is None:
            return self._options.is_until_idle and not has_more and self._is_idle()
        if self._running:
            return False
        if self.is_in_trouble or self.is_over:
            return True
        return not has_more and self._is_at_rest(self._now())

    @property
    def is_over(self) -> bool:
        """Whether others are to have their turn."""
        given = self._options.slice
        return given is not None and monotonic() >= self._ends and given.others_wait()

    def stop(self) -> None:
        """Begin nothing more; what runs may end within the grace, and is handed back then. Called
        again: leave what runs in doubt, and end at once."""
        self.is_in_doubt = self._is_stopping
        self._is_stopping = True
        word = "interrupted" if self.is_in_doubt else "stopping"
        self._tell(word, running=len(self._running))
        if self.is_in_doubt:
            for _, task in self._running.values():
                task.cancel()
        self._signal.set()

    def _now(self) -> str:
        return self._services.clock.now()

    # ------------------------------------------------------------------------------- one round

    def _turn(self) -> bool:
        """Do all that can be done without waiting; whether more is to be done at once."""
        self._look_at_clock()
        self._say_unsaid()
        leadership.settle(self._services)
        self._look_at_lead()
        taken = watcher.take(self._services)
        if taken:
            self.counts.taken += taken
            self._tell("looked", appends=taken, lag=watcher.lag(self._services))
        self._due_index.follow()
        now = self._now()
        self._fire(now)
        for set_id in self._due_index.expired(now):
            if review.expire(self._services, set_id):
                self._tell("expired", set_id=set_id)
        self._finish(now)
        self._due_index.follow()
        self._resume_held()
        self._stop_cancelled()
        self._launch()
        return taken == watcher.APPENDS_MAX

    def _look_at_clock(self) -> None:
        """A clock that was set back is told of; time goes on from the last row all the same."""
        clock = self._services.clock
        if not isinstance(clock, SystemClock):
            return
        self._leases.keep_time()
        behind = clock.seconds_behind
        if behind > self._behind + CLOCK_SECONDS:
            told = lag_text(behind)
            self._tell("clock_back", level="warning", seconds=behind, told=told)
        self._behind = behind

    def _look_at_lead(self) -> None:
        if (lead := leadership.elsewhere(self._services)) != self._lead:
            self._lead = lead
            self._tell("led" if lead else "leads", lead=lead)

    def _say_unsaid(self) -> None:
        for agent_id, defer in list(self._unsaid.items()):
            self._services.append_agent(defer)
            del self._unsaid[agent_id]
            self._leases.give_back(agent_id)

    def _finish(self, now: str) -> None:
        """Drive the effects in doubt again: whoever was to do them is gone."""
        for set_id in self._due_index.in_doubt(now):
            if self._holds.until(set_id, now):
                continue
            try:
                taken = review.recover(self._services, set_id)
            except WakelogError as error:
                self._holds.add(set_id, now, self._trouble(error, set_id=set_id))
                continue
            self._holds.clear(set_id)
            for item in taken:
                self.counts.recovered += 1
                self._tell("recovered", what="operation", set_id=set_id, item=item)

    def _resume_held(self) -> None:
        """Make due what waited for a consent or a key: when one may have been given, and at the
        start, as keys come with the process."""
        if not self._due_index.is_policy_new:
            return
        self._due_index.is_policy_new = False
        if gate.let_go(self._services, self._due_index.schedules.held()):
            self._due_index.follow()

    def _fire(self, now: str) -> None:
        ticking = [one for one in self._due_index.ticking(now) if not self._holds.until(one, now)]
        if not ticking or not self._services.leads:
            return
        for trouble in timers.fire(self._services, ticking):
            self._tell("trouble", level="error", message=trouble)
        self._due_index.follow()
        for agent_id in self._due_index.ticking(now):  # its tick could not be noted
            self._holds.add(agent_id, now)
        self._tell("ticked", agents=len(ticking))

    def _launch(self) -> None:
        """Begin what is due, in queue order, as far as there is room; take over what is left."""
        self._is_blocked = False
        if self._ends == inf and self._options.slice:
            self._ends = monotonic() + self._options.slice.seconds
        elif self.is_over:
            return
        now = self._now()
        if self._limited_until > now:
            return
        for turn in turns(self._due_index.schedules, now, self._is_abandoned):
            if len(self._running) >= self._leases.limit:
                return
            agent = turn.schedule.agent
            if agent in self._running or self._holds.until(agent, now):
                continue
            if self._is_limited(now):
                return
            taken = self._leases.take(agent, turn.run_key)
            if taken == "taken":
                self._begin(turn)
                continue
            self._allowed += 1
            self._is_blocked = True
            if taken == "limit":  # no other would be given either
                return

    def _is_limited(self, now: str) -> bool:
        """Whether no model may be asked for now: then no wake is taken up, and nothing is written,
        however long that lasts."""
        if self._allowed:
            self._allowed -= 1
        elif seconds := self._services.allowance.take():
            self._limited_until = later(now, seconds=seconds)
            self._tell("limited", until=self._limited_until)
            return True
        return False

    def _is_abandoned(self, one: AgentSchedule) -> bool:
        return one.agent not in self._running and self._leases.is_abandoned(one)

    def next_at(self) -> str:
        """When there is something to do, if nothing changes."""
        now = self._now()
        times = [self._holds.next_at(now), self._leases.patient_until, self._due_index.next_at(now)]
        times.append(self._limited_until)
        for one in self._due_index.schedules.running():
            if one.agent not in self._running:
                times += [self._leases.given_up_at(one), later(now, seconds=self._leases.seconds)]
        if self._is_blocked:
            times.append(later(now, seconds=BLOCKED_SECONDS))
        return min((at for at in times if at > now), default="")

    def _is_idle(self) -> bool:
        if self._running:
            return False
        soon = later(self._now(), seconds=self._services.settings.agents.throttle_seconds)
        return self._is_at_rest(soon) and not self._due_index.schedules.running()

    def _is_at_rest(self, until: str) -> bool:
        """Whether nothing can be begun here up to then: what is due is held off."""
        if watcher.lag(self._services):
            return False
        if self._limited_until > self._now():
            return True
        waits = (one for one in self._due_index.schedules.queued(until) if not one.waits_for)
        return all(self._holds.until(one.agent, self._now()) for one in waits)

    def _guarded(self, turn: Callable[[], bool]) -> bool:
        """A turn that ends in trouble is told of and tried again later, not given up."""
        if self._holds.until("", self._now()):
            return False
        try:
            has_more = turn()
        except Exception as error:  # noqa: BLE001  a bug in one part must not end the process
            code = self._trouble(error)
            self._holds.add("", self._now(), code)
            return False
        self._holds.clear("")
        return has_more

    def _trouble(self, error: Exception, **fields: object) -> str:
        """Tell of a trouble once, not each time it is met again; its code."""
        self.counts.troubles += 1
        code = error.code if isinstance(error, WakelogError) else "internal"
        told = str(error) if isinstance(error, WakelogError) else f"{type(error).__name__}: {error}"
        self._is_outside |= code in OUTSIDE
        if code not in OUTSIDE or self._holds.is_news(told, self._now()):
            message = error if isinstance(error, WakelogError) else told
            self._tell("trouble", level="error", code=code, message=message, **fields)
        return code

    def _is_well(self) -> None:
        """Something was written: what a person had to put right has been."""
        if self._is_outside and self._holds.is_over():
            self._tell("well_again")
        self._is_outside = False

    # -------------------------------------------------------------------------------- one wake

    def _begin(self, turn: WakeTurn) -> None:
        one, run_key, is_left = turn
        self.counts.recovered += is_left
        word = "taken_over" if is_left else "resumed" if one.is_begun else "waking"
        self._tell(word, agent=one.name, agent_id=one.agent, run_key=run_key, reason=one.reason)
        work = WakeExecution(one.agent, run_key)
        work.may_ask = True
        self._running[one.agent] = work, asyncio.create_task(self._work(turn, work))

    async def _work(self, turn: WakeTurn, work: WakeExecution) -> None:
        one, run_key, is_left = turn
        is_new = not one.is_begun and not is_left
        seen = Wake(run_key) if is_new else None  # one begun elsewhere meanwhile is not ours
        wake = effect_executor.run_wake(self._services, one.agent, run_key, seen=seen, work=work)
        try:
            fault = await fault_of(wake)
            if fault is not None:
                self._failed(one, work, fault)
            else:
                self._holds.clear(one.agent)
                self._is_well()
            self._ended(one, run_key)
        finally:
            self._running.pop(one.agent, None)
            self._allowed += work.may_ask
            if not self.is_in_doubt and one.agent not in self._unsaid:
                say(partial(self._leases.give_back, one.agent))
            self._signal.set()

    def _failed(self, one: AgentSchedule, work: WakeExecution, fault: Exception) -> None:
        """What went wrong outside the wake: it is held off here, and that is recorded."""
        code = fault.code if isinstance(fault, WakelogError) else "internal"
        if code in ("unknown_wake", "agent_running"):
            return  # another process was faster
        self._trouble(fault, agent=one.name, agent_id=one.agent, run_key=work.run_key)
        until = self._holds.add(one.agent, self._now(), code)
        if isinstance(fault, WakelogError):
            self._let_go(work, until, code)
        else:
            say(partial(effect_executor.fail, self._services, work, fault))

    def _let_go(self, work: WakeExecution, until: str, reason: str) -> None:
        """Let a wake wait. Where that cannot be noted, its lease is kept until it can be."""
        defer = work.defer(until, reason)
        if not say(partial(self._services.append_agent, defer)):
            self._unsaid[work.agent_id] = defer

    def _ended(self, one: AgentSchedule, run_key: str) -> None:
        if (held := gate.held_wake(self._services, one.agent)) and held.run_key == run_key:
            self._tell("held", agent=one.name, run_key=run_key, waits_for=held.waits_for)
            return
        wake = self._services.wake(run_key)
        if wake.phase == "deferred":
            self._tell("waits", agent=one.name, run_key=run_key, until=wake.deferred_until)
            return
        if wake.phase != "done":
            return
        self.counts.wakes += 1
        self.counts.failed += wake.outcome == "failed"
        about = {"agent": one.name, "agent_id": one.agent, "run_key": run_key}
        level = "warning" if wake.outcome == "failed" else "info"
        self._tell("ended", level=level, **about, outcome=wake.outcome, turns=wake.turn)

    def _stop_cancelled(self) -> None:
        """End the wakes of agents that were paused or destroyed, though a model is being asked."""
        for agent_id, (work, task) in list(self._running.items()):
            one = self._due_index.schedules.get(agent_id)
            if one is not None and one.stop and one.running == work.run_key:
                self._services.append_agent(work.stop(one.stop))
                task.cancel()
                self._tell("cancelled", agent=one.name, run_key=work.run_key, reason=one.stop)

    # ------------------------------------------------------------------------------------- end
    async def _end(self) -> None:
        """Let what runs end within the grace, then hand it back; in doubt, leave it as it is. A
        second signal ends the grace."""
        tasks = {task: work for work, task in self._running.values()}
        if tasks and not self.is_in_doubt:
            waiting = asyncio.gather(*tasks, return_exceptions=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), self._options.grace_seconds)
        for task, work in tasks.items():
            if task.done():
                continue
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not self.is_in_doubt and self._services.wake(work.run_key).phase == "waiting":
                self._let_go(work, self._now(), "interrupted")
                self._tell("handed_back", agent_id=work.agent_id, run_key=work.run_key)
        say(partial(self._services.allowance.give_back, self._allowed))
