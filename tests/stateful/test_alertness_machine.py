"""Any order of changes, ticks, requests, runs, faults and pauses loses no trigger.

The test keeps its own small model, in whole seconds and plain lists: which triggers stand behind
which wake, what waits, and until when. It knows nothing of the fold but what it compares.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from domain.agent.agent import Agent, AutomationSet, Outcome, Subscribed
from domain.agent.deciders import pause, resume, set_timer, tick
from domain.agent.wake_queue import (
    AgentSlept,
    Reason,
    Trigger,
    TriggerMerged,
    TriggerSuppressed,
    WakeBegun,
    WakeDropped,
    WakeQueue,
    WakeQueued,
    WakeQueueFact,
    WakeSettled,
    heeding,
    next_due,
    run_key_of,
    run_status,
)
from domain.agent.wake_queue_rules import (
    Setting,
    back_off,
    begin,
    cancel,
    drop_all_for_lifecycle,
    notice,
    order_sleep,
    provider_until,
    request,
    settle,
    sleep,
)
from domain.errors import Refused
from tests.support.agents import AGENT_ID, BUILT_IN, after, agent_of, born, change, wake_queue_of

EARS = Subscribed("ears", ("key:TASK",), hears_agents=True, defers_propagated=True)
DAWN = 40_000
TICK_SECONDS = 500
OUTCOMES = st.sampled_from(["failed", "completed", "failed", "skipped"])


@dataclass
class Meant:
    """A wake in the model, in seconds since the start."""

    key: str
    due: int
    triggers: list[str] = field(default_factory=list)
    calm: bool = True  # nothing but changes
    far: bool = True  # only through links
    urgent: bool = False
    until: int = 0
    runs: bool = False


class WakeQueueMachine(RuleBasedStateMachine):
    @initialize()
    def begin_anew(self) -> None:
        self.agent: Agent = born("hybrid", EARS)
        made = set_timer(self.agent, "timer-1", "often", "UTC", after(TICK_SECONDS))
        self.agent = agent_of(made, self.agent)
        self.wake_queue = WakeQueue(AGENT_ID)
        self.log: list[tuple[WakeQueueFact, str]] = []
        self.clock = self.at = self.nth = self.ticked = 0
        self.queued: Meant | None = None
        self.begun: Meant | None = None
        self.hold = self.failures = self.doubling = 0
        self.said = self.sleeps = self.ordered = 0  # here alone, and as far as it is not over
        self.is_active = self.is_on = self.is_automatic = True
        self.behind: dict[str, str] = {}  # each trigger's id: the wake it stands behind, or ""
        self.ends: dict[str, str] = {}  # each queued wake's end
        self.suppressed: list[str] = []

    # ------------------------------------------------------------------------------ the machine

    @property
    def now(self) -> str:
        return after(self.at)

    @property
    def setting(self) -> Setting:
        return Setting(is_enabled=self.is_on, propagated_due=after(DAWN))

    def record(self, facts: list[WakeQueueFact]) -> list[WakeQueueFact]:
        """Append; the audit follows the facts alone, without looking at the state."""
        first = len(self.log) + 1
        self.log += [(fact, self.now) for fact in facts]
        self.wake_queue = wake_queue_of(facts, self.wake_queue, self.now, first)
        return facts

    # -------------------------------------------------------------------------------- the model

    def expect(self, trigger: Trigger, rule: str, due: int, *, is_far: bool = False) -> None:
        """What should become of a trigger that asks for no more than a place in the queue."""
        named = run_key_of(AGENT_ID, trigger)
        if rule:
            self.suppressed.append(rule)
            self.behind[named] = ""
            return
        only_changes = trigger.reason == "subscription"
        if self.queued is None:
            self.queued = Meant(named, due)
        elif not only_changes or (self.queued.far and not is_far):
            self.queued.due = min(self.queued.due, due)
        self.queued.triggers.append(named)
        self.queued.far &= trigger.is_propagated
        self.queued.calm &= only_changes
        self.queued.urgent |= trigger.reason not in ("subscription", "timer")
        self.behind[named] = self.queued.key

    def rule_of_life(self) -> str:
        if not self.is_active:
            return "dormant"
        return "" if self.is_on else "switched_off"

    def due_in_the_model(self) -> int | None:
        if self.begun is not None:
            return None if self.begun.runs else self.begun.until
        if self.queued is None:
            return None
        hold = 0 if self.queued.urgent else max(self.hold, self.sleeps, self.ordered)
        return max(self.queued.due, self.queued.until, hold)

    # ------------------------------------------------------------------------------------ rules

    @rule(seconds=st.sampled_from([1, 30, 119, 120, 121, 1_000, 5_000, -1, -600]))
    def the_clock_jumps(self, seconds: int) -> None:
        self.clock += seconds
        self.at = max(self.at, self.clock)  # what is recorded never goes back

    @rule(
        burst=st.integers(1, 4),
        origin=st.sampled_from(["person", "import:x", "agent:other", f"agent:{AGENT_ID}"]),
        is_ears=st.booleans(),
        is_link=st.booleans(),
        hop=st.integers(0, 4),
    )
    def the_task_changes(
        self, burst: int, origin: str, is_ears: bool, is_link: bool, hop: int
    ) -> None:
        for _ in range(burst):
            self.nth += 1
            subscription = "ears" if is_ears else BUILT_IN
            one = change(self.nth, subscription=subscription, is_propagated=is_link, hop=hop)
            rule = self.rule_of_life() or ("" if self.is_automatic else "automation_off")
            if not rule and origin == f"agent:{AGENT_ID}":
                rule = "own_write"
            elif not rule and origin == "agent:other":
                rule = "agent_write" if not is_ears else "hops" if hop == 4 else ""
            is_far = is_link and is_ears
            due = max(self.at, self.hold, DAWN) if is_far else max(self.at + 120, self.hold)
            self.expect(one, rule, due, is_far=is_far)
            found = notice(self.wake_queue, self.agent, one, self.now, self.setting, origin=origin)
            assert len(self.record(found)) == 1
            again = notice(self.wake_queue, self.agent, one, self.now, self.setting, origin=origin)
            assert again == []

    @rule()
    def the_timer_fires(self) -> None:
        upto = self.at // TICK_SECONDS
        ticks = [after(TICK_SECONDS * nth) for nth in range(1, upto + 1)]
        facts, trigger = tick(self.agent, "timer-1", ticks, after(TICK_SECONDS * (upto + 1)))
        self.agent = agent_of(facts, self.agent)
        assert (trigger is None) == (upto == self.ticked)
        if trigger is None:
            return
        assert len(trigger.ticks) == min(upto - self.ticked, 100)
        self.ticked = upto
        rule = self.rule_of_life() or ("" if self.is_automatic else "automation_off")
        self.expect(trigger, rule, max(self.at, self.hold))
        found = notice(self.wake_queue, self.agent, trigger, self.now, self.setting)
        assert len(self.record(found)) == 1

    @rule(reason=st.sampled_from(["manual", "user"]))
    def a_person_asks(self, reason: Reason) -> None:
        self.nth += 1
        trigger = Trigger(reason, f"request-{self.nth}", replica="r1")
        if self.rule_of_life():
            code = "switched_off" if self.is_active else "agent_dormant"
            with pytest.raises(Refused) as refused:
                request(self.wake_queue, self.agent, trigger, self.now, self.setting)
            assert refused.value.code == code
            return
        found = request(self.wake_queue, self.agent, trigger, self.now, self.setting)
        self.record(found)
        self.hold = 0
        named, old = run_key_of(AGENT_ID, trigger), self.queued
        self.queued = Meant(named, self.at, [named], calm=False, far=False, urgent=True)
        self.behind[named] = named
        if old is not None:
            self.queued.triggers += old.triggers
            self.behind |= dict.fromkeys(old.triggers, named)
            self.ends[old.key] = "superseded"
        if self.begun is not None and not self.begun.runs:
            self.begun.until = min(self.begun.until, self.at)

    @rule(now=st.booleans())
    def the_next_wake_begins(self, now: bool) -> None:
        wake = self.begun or self.queued
        if wake is None:
            return
        due = self.due_in_the_model()
        found = begin(self.wake_queue, self.agent, wake.key, self.now, self.setting, now=now)
        self.record(found)
        if due is None:
            assert found == []
        elif self.rule_of_life():
            self.all_ends("skipped")
        elif wake is self.queued and not self.is_automatic and not wake.urgent and not now:
            assert found == [WakeDropped(wake.key, "automation_off")]
            self.ends[wake.key], self.queued = "skipped", None
        elif due <= self.at or (now and (wake is self.begun or self.is_awake_for(wake))):
            assert found == [WakeBegun(wake.key)]
            self.begun = wake
            wake.runs = True
            if wake is self.queued:
                self.queued, self.doubling = None, 0
        else:
            assert found == []

    def is_awake_for(self, wake: Meant) -> bool:
        return wake.urgent or max(self.sleeps, self.ordered) <= self.at

    @rule(seconds=st.sampled_from([0, 90, 20_000]))
    def the_agent_sleeps(self, seconds: int) -> None:
        until = self.at + seconds if seconds else 0
        is_so = self.said == until or (not until and self.said <= self.at)
        found = sleep(self.wake_queue, self.agent, after(until) if until else "", self.now)
        assert self.record(found) == ([] if is_so else [AgentSlept(after(until) if until else "")])
        if not is_so:
            self.said = self.sleeps = until

    @rule(seconds=st.sampled_from([0, 90, 20_000]))
    def the_agent_is_ordered_to_sleep(self, seconds: int) -> None:
        until = self.at + seconds if seconds else 0
        told = after(until) if until else ""
        made = order_sleep(self.agent, [self.wake_queue], told, self.now)
        is_here = self.sleeps > self.at
        is_so = self.ordered == until or (not until and self.ordered <= self.at)
        assert [one.until for one in made] == ([] if is_so and not is_here else [told])
        self.agent = agent_of(made, self.agent)
        if made:
            self.ordered = until
            self.sleeps = 0 if is_here else self.sleeps

    @rule()
    def a_wake_is_cancelled(self) -> None:
        if self.queued is not None:
            found = self.record(cancel(self.wake_queue, self.queued.key))
            assert found == [WakeDropped(self.queued.key, "cancelled")]
            self.ends[self.queued.key], self.queued = "skipped", None
        elif self.begun is not None:
            with pytest.raises(Refused, match="has begun"):
                cancel(self.wake_queue, self.begun.key)

    @precondition(lambda self: self.due_in_the_model() is not None)
    @rule()
    def the_next_wake_begins_when_it_is_due(self) -> None:
        self.at = self.clock = max(self.at, self.due_in_the_model() or 0)
        self.the_next_wake_begins(now=False)

    @precondition(lambda self: self.due_in_the_model() is not None)
    @rule(outcome=OUTCOMES)
    def the_next_wake_runs_to_its_end(self, outcome: Outcome) -> None:
        self.the_next_wake_begins(now=True)
        if self.begun is not None and self.begun.runs:
            self.the_running_wake_ends(outcome)

    def all_ends(self, how: str) -> None:
        """One that waits goes first; the queued one follows when it is looked at."""
        if self.begun is not None:
            self.ends[self.begun.key], self.begun = how, None
        elif self.queued is not None:
            self.ends[self.queued.key], self.queued = how, None

    @precondition(lambda self: self.begun is not None and self.begun.runs)
    @rule(outcome=OUTCOMES)
    def the_running_wake_ends(self, outcome: Outcome) -> None:
        assert self.begun is not None
        key = self.begun.key
        self.record(settle(self.wake_queue, key, outcome, self.now))
        hold = self.hold if outcome == "skipped" else 0
        if self.queued is not None and self.queued.calm:
            hold = max(hold, self.at + 120)
        if outcome == "failed":
            self.failures += 1
            hold = max(hold, self.at + min(60 * 2 ** (self.failures - 1), 3600))
        elif outcome == "completed":
            self.failures = 0
        self.hold, self.ends[key], self.begun = hold, outcome, None

    @precondition(lambda self: self.begun is not None and self.begun.runs)
    @rule(named=st.sampled_from([0, 0, 45]))
    def the_provider_fails(self, named: int) -> None:
        assert self.begun is not None
        until = provider_until(self.wake_queue, self.now, named)
        self.record(back_off(self.wake_queue, self.begun.key, until, "provider"))
        seconds = named or min(60 * 2**self.doubling, 3600)
        self.doubling += 1
        self.begun.runs, self.begun.until = False, self.at + seconds

    @precondition(lambda self: self.queued is not None)
    @rule(seconds=st.sampled_from([60, 10_000]))
    def the_budget_is_spent(self, seconds: int) -> None:
        assert self.queued is not None
        until = after(self.at + seconds)
        self.record(back_off(self.wake_queue, self.queued.key, until, "budget"))
        self.queued.until = self.at + seconds

    @rule(really=st.integers(1, 4))
    def the_agent_is_paused(self, really: int) -> None:
        if really > 1:  # rare, or hardly a wake would come to its end
            return
        self.agent = agent_of(pause(self.agent), self.agent)
        self.record(drop_all_for_lifecycle(self.wake_queue, "dormant"))
        if self.begun is not None and not self.begun.runs:
            self.ends[self.begun.key], self.begun = "skipped", None
        if self.queued is not None:
            self.ends[self.queued.key], self.queued = "skipped", None
        self.is_active = False

    @rule()
    def the_agent_is_resumed(self) -> None:
        if self.is_active:
            assert resume(self.agent) == []
            return
        self.agent = agent_of(resume(self.agent), self.agent)
        self.is_active, self.failures, self.hold = True, 0, 0
        self.nth += 1
        trigger = Trigger("recovery", f"request-{self.nth}", replica="r1")
        self.expect(trigger, self.rule_of_life(), self.at)
        self.record(request(self.wake_queue, self.agent, trigger, self.now, self.setting))

    @rule(
        is_on=st.sampled_from([True] * 7 + [False]),
        is_automatic=st.sampled_from([True] * 7 + [False]),
    )
    def switches_are_set(self, is_on: bool, is_automatic: bool) -> None:
        self.is_on, self.is_automatic = is_on, is_automatic
        self.agent = agent_of([AutomationSet(is_automatic)], self.agent)

    @rule()
    def a_process_crashes(self) -> None:
        """Another one folds the log from its first row, and stands where the first one stood."""
        wake_queue = WakeQueue(AGENT_ID)
        for n, (fact, at) in enumerate(self.log, start=1):
            wake_queue = wake_queue_of([fact], wake_queue, at, n)
        assert wake_queue == self.wake_queue

    # ------------------------------------------------------------------------------- invariants

    @invariant()
    def agrees_with_the_model(self) -> None:
        wake_queue, due = heeding(self.wake_queue, self.agent), self.due_in_the_model()
        assert next_due(wake_queue) == ("" if due is None else after(due))
        runs = self.begun is not None and self.begun.runs
        assert wake_queue.running == (self.begun.key if self.begun and runs else "")
        assert (run_status(wake_queue) == "queued") == (due is not None)
        assert wake_queue.failures == self.failures
        assert wake_queue.not_before == (after(self.hold) if self.hold else "")
        for seen, meant in ((wake_queue.queued, self.queued), (wake_queue.begun, self.begun)):
            assert (seen is None) == (meant is None)
            if seen is not None and meant is not None:
                keys = [run_key_of(AGENT_ID, trigger) for trigger in seen.triggers]
                assert keys == meant.triggers

    @invariant()
    def no_trigger_is_lost(self) -> None:
        """The facts alone say where every trigger went, and how every wake ended."""
        where: dict[str, str] = {}
        ends: dict[str, str] = {}
        running = ""
        rules = []
        for fact, _ in self.log:
            match fact:
                case WakeQueued(run_key=run_key, trigger=trigger):
                    assert run_key not in ends
                    ends[run_key] = "open"
                    where[run_key_of(AGENT_ID, trigger)] = run_key
                case TriggerMerged(run_key=run_key, trigger=trigger):
                    assert ends[run_key] == "open"
                    where[run_key_of(AGENT_ID, trigger)] = run_key
                case TriggerSuppressed(trigger=trigger, rule=rule):
                    where[run_key_of(AGENT_ID, trigger)] = ""
                    rules.append(rule)
                case WakeBegun(run_key=run_key):
                    assert running in ("", run_key)
                    assert ends[run_key] in ("open", "begun")
                    running, ends[run_key] = run_key, "begun"
                case WakeDropped(run_key=run_key, code=code, by=by):
                    assert ends[run_key] == "open"
                    ends[run_key] = code if by else "skipped"
                case WakeSettled(run_key=run_key, outcome=outcome):
                    assert (running, ends[run_key]) == (run_key, "begun")
                    running, ends[run_key] = "", outcome
        assert (where, rules) == (self.behind, self.suppressed)
        closed = {named: end for named, end in ends.items() if end not in ("open", "begun")}
        assert closed == self.ends


TestWakeQueueMachine = WakeQueueMachine.TestCase
TestWakeQueueMachine.settings = settings(max_examples=150, stateful_step_count=50)
