"""A whole home under a restless person, an unreliable model and crashes: nothing is lost.

The test keeps its own list of what it wrote to the journal. At every step each of these writes
must stand in exactly one wake's causes or one suppression, each proposed item in one status,
and both logs must prove at the end (DESIGN 2, laws 5 to 9).
"""

import asyncio
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from adapters.runtime import review, watcher
from adapters.runtime.effect_executor import perform, run_wake
from adapters.runtime.wake_capture import capture
from domain.agent.agent import AGENT
from domain.agent.commands import PauseAgent, RequestWake, ResumeAgent
from domain.agent.wake_queue import (
    WAKE_QUEUE,
    TriggerMerged,
    TriggerSuppressed,
    WakeQueued,
    next_wake,
)
from domain.changes.change_set import CHANGES
from domain.changes.commands import ConfirmItem
from domain.errors import Refused, Remedy
from domain.journal.commands import AddItems, AddNote, EditTask
from domain.journal.task import TASK
from domain.log.timestamps import later
from domain.log.wire import Words
from domain.ports import ModelFault, Reply
from domain.wake.commands import RetakeWake
from domain.wake.wake import WAKE, WakeFinished, WakeStarted
from tests.support.services import divergences, services, task_with_agent
from wakelog.testing import ScriptedModel, faults, replies


class Home(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.model = ScriptedModel()
        self.services = services(model=self.model)
        self.task, self.agent = task_with_agent(self.services)
        watcher.catch_up(self.services)
        self.writes: list[int] = []  # the journal's n of each write after the agent was made
        self.count = 0

    # ---------------------------------------------------------------------------- the person

    def wrote(self) -> None:
        self.writes.append(self.services.journal.tail().n)

    @rule(what=st.sampled_from(["note", "item", "title"]))
    def person_writes(self, what: str) -> None:
        self.count += 1
        match what:
            case "note":
                self.services.append_journal(
                    AddNote(self.task, "note", Words(f"note {self.count}"))
                )
            case "item":
                self.services.append_journal(AddItems(self.task, (f"item {self.count}",)))
            case _:
                self.services.append_journal(EditTask(self.task, title=f"title {self.count}"))
        self.wrote()

    @rule(minutes=st.integers(1, 300))
    def time_passes(self, minutes: int) -> None:
        clock = self.services.clock
        clock.at = later(clock.at, seconds=60 * minutes)  # type: ignore[attr-defined]  # ours ticks

    @rule(is_pausing=st.booleans())
    def person_pauses_or_resumes(self, is_pausing: bool) -> None:
        self.services.append_agent(
            PauseAgent(self.agent) if is_pausing else ResumeAgent(self.agent, is_enabled=True)
        )

    @rule()
    def person_asks_for_a_wake(self) -> None:
        command = RequestWake(self.agent, "manual", is_enabled=True)
        if self.services.agent(self.agent).lifecycle == "active":
            self.services.append_agent(command)
            return
        with pytest.raises(Refused) as found:
            self.services.append_agent(command)
        assert found.value.remedy == Remedy("resume_agent")

    def open_items(self) -> list[tuple[str, int]]:
        with self.services.agents.reading() as world:
            sets = [world.load(CHANGES, one) for one in world.load(AGENT, self.agent).sets]
        return [
            (one.id, item.number)
            for one in sets
            for item in one.items
            if item.status in ("pending", "deferred")
        ]

    @precondition(lambda self: self.open_items())
    @rule(data=st.data(), verdict=st.sampled_from(["confirm", "anyway", "reject", "defer", "die"]))
    def person_decides(self, data: st.DataObject, verdict: str) -> None:
        set_id, number = data.draw(st.sampled_from(self.open_items()))
        before = self.services.journal.tail().n
        match verdict:
            case "confirm" | "anyway":
                review.confirm(self.services, set_id, number, is_anyway=verdict == "anyway")
            case "reject":
                review.reject(self.services, set_id, number, "no")
            case "defer":
                review.defer(self.services, set_id, number, "later")
            case _:  # the process dies between intent and effect
                self.services.append_agent(ConfirmItem(set_id, number, "person", before))
        self.agents_wrote(before)

    def agents_wrote(self, before: int) -> None:
        """What an agent's operation changed is an own write: told, and suppressed."""
        for rows in self.services.journal.appends(before):
            if any(row.of_kind == "task" for row in rows):
                self.writes.append(rows[0].n)

    # --------------------------------------------------------------------------- the machinery

    @rule()
    def watcher_catches_up(self) -> None:
        watcher.catch_up(self.services)

    def next_run(self) -> str:
        with self.services.agents.reading() as world:
            wake = next_wake(world.load(WAKE_QUEUE, self.agent))
        return wake.run_key if wake else ""

    @precondition(lambda self: self.next_run())
    @rule(said=st.lists(replies() | faults(), max_size=6), dies=st.booleans())
    def a_wake_runs(self, said: list[Reply | ModelFault], dies: bool) -> None:
        self.model.then(*said)
        before = self.services.journal.tail().n
        run_key = self.next_run()
        with self.services.agents.reading() as world:
            is_fresh = world.load(WAKE, run_key).phase == "absent"
        if dies and is_fresh:  # the process dies right after the start
            captured = capture(self.services, self.agent, run_key, is_now=True)
            self.services.append_agent(captured.command, payloads=captured.payloads)
        else:
            asyncio.run(run_wake(self.services, self.agent, run_key, is_now=True))
        self.agents_wrote(before)

    @rule()
    def recover(self) -> None:
        before = self.services.journal.tail().n
        with self.services.agents.reading() as world:
            running = world.load(WAKE_QUEUE, self.agent).running
            sets = world.load(AGENT, self.agent).sets
        if running:
            self.services.append_agent(RetakeWake(running))
            asyncio.run(perform(self.services, running))
        for one in sets:
            review.recover(self.services, one)
        self.agents_wrote(before)

    # ------------------------------------------------------------------------------ the laws

    @invariant()
    def every_write_is_in_one_wake_or_one_suppression(self) -> None:
        rows = self.services.agents.facts(f"alert:{self.agent}@r1")
        first: Counter[int] = Counter()
        for row in rows:
            match row.fact:
                case WakeQueued(trigger=trigger) | TriggerSuppressed(trigger=trigger):
                    first[trigger.position] += trigger.reason == "subscription"
                case TriggerMerged(trigger=trigger, run_key=run_key):
                    is_inherited = self.is_superseding(run_key) and trigger.position in first
                    counts = trigger.reason == "subscription" and not is_inherited
                    first[trigger.position] += counts
                case _:
                    pass
        taken = self.services.journal.tail().n - watcher.lag(self.services)
        assert {n: count for n, count in first.items() if count} == {
            n: 1 for n in self.writes if n <= taken
        }

    def is_superseding(self, run_key: str) -> bool:
        rows = self.services.agents.facts(f"alert:{self.agent}@r1")
        made = [row.fact for row in rows if isinstance(row.fact, WakeQueued)]
        return any(one.run_key == run_key and one.trigger.reason == "manual" for one in made)

    @invariant()
    def a_wake_starts_once_and_ends_once(self) -> None:
        started: Counter[str] = Counter()
        ended: Counter[str] = Counter()
        for rows in self.services.agents.appends():
            for row in rows:
                started[row.entity] += isinstance(row.fact, WakeStarted)
                ended[row.entity] += isinstance(row.fact, WakeFinished)
        assert max(started.values(), default=0) <= 1
        assert max(ended.values(), default=0) <= 1

    def teardown(self) -> None:
        self.recover()
        assert divergences(self.services) == []
        with self.services.journal.reading() as world:
            titles = [item.title for item in world.load(TASK, self.task).items]
        assert len(titles) == len(set(titles)), "an operation was applied twice"


TestHome = Home.TestCase
TestHome.settings = settings(max_examples=40, stateful_step_count=25)
