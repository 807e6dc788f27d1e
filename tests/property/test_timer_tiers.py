"""A timer's wake asks if and only if something moved since the last one, nobody knows, or it has
other triggers (ADR 101). What moved is kept by a model that knows what was done, not the parts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from adapters.models.rules.model import RulesModel
from adapters.proof.prove import prove_logs
from adapters.runtime import review, timers, watcher
from adapters.runtime.effect_executor import run_wake
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import UNCHANGED
from domain.changes.change_set import CHANGES
from domain.journal import commands as do
from domain.journal.task import TASK
from domain.log.timestamps import later
from domain.log.wire import words
from domain.wake.wake import WakeFinished, WakeStarted
from tests.support.services import StillClock, one_agent, queued_key

DAILY = "every day 07:00"
DAY = 86_400
DUES = ((-30, "long over"), (-7, "a week over"), (-1, "over"), (0, "today"), (1, "tomorrow"),
        (3, "three days"), (7, "a week"))  # fmt: skip
NOTES = ("We need to buy a part. Due by 2027-01-20.", "It takes about 40 minutes.", "Thanks!")
DEEDS = st.one_of(
    st.tuples(st.sampled_from(["title", "rate", "heard note", "note", "confirm", "reject", "ask"]),
              st.integers(0, 2)),
    st.tuples(st.sampled_from(["due", "wait"]), st.integers(-3, 12)),
    st.tuples(st.sampled_from(["status", "goal", "always"]), st.integers(0, 2)),
    st.tuples(st.just("days"), st.integers(1, 9)),
)  # fmt: skip


@dataclass
class Life:
    """A task with a daily timer, and what a person did to it."""

    always: bool = False
    due: str = ""
    wait: str = ""
    status: str = "OPEN"
    since: str = "2027-01-01"
    goal: str = ""
    edits: int = 0
    last: Any = None  # as it stood when the last wake began that ran

    def __post_init__(self) -> None:
        self.at, self.task, self.agent = one_agent(model=RulesModel())
        self.at.clock = self.clock = StillClock("2027-01-01T08:00:00.000000Z")
        self.set_timer()
        self.run()

    @property
    def today(self) -> str:
        return self.clock.at[:10]

    def set_timer(self) -> None:
        timer = timers.timer_command(self.agent, DAILY, "UTC", self.clock.at)
        self.at.append_agent(replace(timer, heeds_moves=not self.always))

    def picture(self) -> tuple[object, ...]:
        """All that may make it worth asking."""
        held = self.days(self.since) if self.status in ("BLOCKED", "ON HOLD") else -1
        ahead = -self.days(self.due) if self.due else 0
        due = next((name for most, name in DUES if ahead <= most), "far") if self.due else ""
        waits = (bool(self.wait), self.today < self.wait)
        with self.at.agents.reading() as world:
            sets = world.load_each(CHANGES, world.load(AGENT, self.agent).sets)
        items = [(one.summary, one.status, one.reason) for each in sets for one in each.items]
        step = sum(held >= most for most in (0, 3, 7, 14, 30))
        return self.edits, self.goal, self.status, step, due, waits, items

    def days(self, day: str) -> int:
        return (date.fromisoformat(self.today) - date.fromisoformat(day)).days

    def run(self) -> Sequence[object]:
        """Run what is queued; the facts of that wake."""
        run_key, picture = queued_key(self.at, self.agent), self.picture()
        asyncio.run(run_wake(self.at, self.agent, run_key))
        facts = [row.fact for row in self.at.agents.facts(f"wake:{run_key}@r1")]
        if isinstance(facts[0], WakeStarted):
            self.last = picture
        return facts

    def act(self, deed: str, nth: int) -> None:
        match deed:
            case "days":
                self.clock.at = later(self.clock.at, seconds=nth * DAY)
                self.ring()
            case "always":
                self.always = bool(nth)
                self.set_timer()
            case "goal":
                self.goal = ("", "Keep it short.", "Ask first.")[nth]
                self.at.append_agent(ConfigureAgent(self.agent, AgentSettings(goal=self.goal)))
            case "ask":
                self.at.append_agent(self.at.request(self.agent))
            case "confirm" | "reject":
                self.decide(deed)
            case "rate":
                self.edits += 1
                self.at.append_journal(do.RateTask(self.task, 1 + nth, comment=str(self.edits)))
            case _:
                self.change(deed, nth)

    def change(self, deed: str, nth: int) -> None:
        if deed.endswith("note"):
            said, kept = words(self.task, NOTES[nth])
            self.edits += 1
            self.at.append_journal(do.AddNote(self.task, "note", said), payloads=kept)
            if deed == "heard note":
                watcher.catch_up(self.at)
            return
        day = (date.fromisoformat(self.today) + timedelta(days=nth)).isoformat()
        was = self.due, self.wait, self.status
        match deed:
            case "title":
                self.edits += 1
                self.at.append_journal(do.EditTask(self.task, title=f"Fix the sink {self.edits}"))
            case "due":
                self.due = day
                self.at.append_journal(do.EditTask(self.task, due=day))
            case "wait":
                self.wait = day
                self.at.append_journal(do.EditTask(self.task, wait_until=day))
            case "status":
                self.status = ("OPEN", "BLOCKED", "ON HOLD")[nth]
                reason = "the plumber" * (nth > 0)
                self.at.append_journal(do.EditTask(self.task, status=self.status, reason=reason))
                self.since = self.today if self.status != was[2] else self.since
        self.edits += was != (self.due, self.wait, self.status)

    def decide(self, verb: str) -> None:
        """Decide the first proposal that waits; what that does to the task is looked up."""
        with self.at.agents.reading() as world:
            sets = world.load_each(CHANGES, world.load(AGENT, self.agent).sets)
        waiting = [(one.id, item.number) for one in sets for item in one.items
                   if item.status == "pending"]  # fmt: skip
        if waiting and verb == "reject":
            review.reject(self.at, *waiting[0], "not now")
        elif waiting:
            review.confirm(self.at, *waiting[0])
            with self.at.journal.reading() as world:
                seen = world.load(TASK, self.task)
            self.since = self.today if self.status != seen.status else self.since
            self.due, self.status = seen.due, seen.status

    def ring(self) -> None:
        """The timer rings: its wake asks, or it does not."""
        is_alone = not queued_key(self.at, self.agent)
        timers.fire(self.at, [self.agent])
        asks = not is_alone or self.always or self.picture() != self.last
        first = self.run()[0]
        assert isinstance(first, WakeStarted) == asks
        assert asks or first == WakeFinished("skipped", code=UNCHANGED)


@example([("days", 1), ("rate", 1), ("days", 1), ("days", 1)])
@example([("days", 1), ("goal", 1), ("goal", 0), ("days", 1), ("ask", 0), ("days", 1)])
@example([("due", 10), *[("days", 1)] * 20, *[("days", 9)] * 4, ("wait", 2), *[("days", 1)] * 4])
@example([("status", 1), ("days", 1), ("days", 1), ("days", 1), ("days", 1)])
@example([("note", 0), ("days", 1), ("confirm", 0), ("days", 1), ("reject", 0), ("days", 1)])
@given(st.lists(DEEDS, max_size=12))
@pytest.mark.slow
def test_a_timer_asks_if_and_only_if_something_moved(deeds: list[tuple[str, int]]) -> None:
    life = Life()
    for deed, nth in deeds:
        life.act(deed, nth)
    assert prove_logs(life.at.journal, life.at.agents).divergences == ()
