"""In any order of asking, agreeing, pausing and running, a request comes to one trigger, no chain
is deeper than three, and no wake waits for the sake of a request (kinds.md 0.3 and law 4).

The model knows of each agent whether it listens and what waits for it, and nothing of the code.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.runtime import watcher
from domain.agent.commands import PauseAgent, ResumeAgent, WatchTokens
from domain.agent.deciders import CATEGORY_AGENT, DAY_AGENT
from domain.journal import commands as do
from domain.log.wire import Words
from domain.tools.category import ABOUT
from domain.wake.wake import Wake
from tests.support.requests import GONE, LANGUAGE, Office, office, told_of

TITLES = ("T0", "T1", "T2")
HOPS, TOLD, AGREED = 3, 3, 1
"""The longest chain; the notices that tell of requests, and of what a task's agent is told."""

mostly = st.sampled_from([True, True, False])
titles = st.sampled_from(TITLES)
asked = st.dictionaries(titles, st.sampled_from(ABOUT), min_size=1)
steps = st.one_of(
    st.tuples(st.just("ask"), st.booleans(), asked, mostly),
    st.tuples(st.just("run"), titles, mostly),
    st.tuples(st.just("run"), titles, mostly, mostly),
    st.tuples(st.just("hear"), asked),
    st.tuples(st.just("agree"), st.sampled_from([TOLD, TOLD, 0, 1, 2])),
    st.tuples(st.just("key"), mostly),
    st.tuples(st.sampled_from(["change", "want", "pause", "resume"]), titles),
)
Step = tuple[Any, ...]


@dataclass(frozen=True)
class Meant:
    """A trigger; `question`: how it is told, of a request."""

    reason: str
    hop: int = 0
    question: str = ""


@dataclass
class Asked:
    """The agent of a task; `came`: what each request of a wake came to."""

    is_active: bool = True
    waits: list[Meant] = field(default_factory=list)
    came: list[tuple[str, str]] = field(default_factory=list)
    asked_by: list[str] = field(default_factory=list)  # of those that wait, the wakes
    is_held: bool = False
    has_language: bool = False


class World:
    """An office, and what should be there."""

    def __init__(self) -> None:
        self.of: Office = office(*TITLES)
        self.of.at.append_agent(WatchTokens(self.of.agent, ("key:TASK",), hears_agents=True))
        watcher.catch_up(self.of.at)
        self.model = {one: Asked() for one in TITLES}
        self.heard: list[int] = []  # the hops of what waits for who looks over Home
        self.failed = 0
        self.has_key = True
        self.agree(TOLD)

    # ------------------------------------------------------------------------------------ steps

    def ask(self, is_day: bool, wanted: dict[str, str], completes: bool) -> None:
        """An agent without a task wakes and asks; its wake completes, or fails."""
        completes = completes or self.failed > 2  # who fails often is paused
        hop = 0 if is_day else max(self.heard, default=0)
        by = self.of.day if is_day else self.of.agent
        questions = (f"{title} {about}" for title, about in wanted.items())
        wake = self.of.asks(*questions, by=by, ends=None if completes else GONE)
        self.failed = 0 if completes else self.failed + 1
        if not is_day:
            self.heard = []
        self._handed_on(wake, wanted, hop, DAY_AGENT if is_day else CATEGORY_AGENT, completes)

    def hear(self, wanted: dict[str, str]) -> None:
        """Who looks over Home heard of a write, and asks."""
        if not self.heard:
            return
        hop, self.heard = max(self.heard), []
        made = (self.of.asking(f"{title} {about}") for title, about in wanted.items())
        wake = self.of.runs(self.of.agent, *made)
        assert wake.begun.reason == "subscription"
        self._handed_on(wake, wanted, hop, CATEGORY_AGENT, completes=True)

    def _handed_on(
        self, wake: Wake, wanted: dict[str, str], hop: int, kind: str, completes: bool
    ) -> None:
        assert wake.outcome == ("completed" if completes else "failed")
        assert wake.begun.hop == hop
        assert len(wake.requests) == len(wanted)
        for title, about in wanted.items() if completes else ():
            one = self.model[title]
            if not one.is_active:
                one.came.append(("dormant", wake.run_key))
            elif hop + 1 > HOPS:
                one.came.append(("hops", wake.run_key))
            else:
                one.came.append(("merged" if one.waits else "queued", wake.run_key))
                one.waits.append(Meant("request", hop + 1, told_of(about, kind)))
                one.asked_by.append(wake.run_key)

    def run(self, title: str, writes: bool, keeps: bool = True) -> None:
        """What is queued for the agent of a task has its turn, due or not. `keeps`: what was agreed
        to; else it is withdrawn while a wake runs that requests alone made."""
        one = self.model[title]
        if not one.waits:
            return
        sent = len(self.of.far.sent)
        is_pure = all(each.reason == "request" for each in one.waits)
        may_ask = self.agreed >= AGREED and self.has_key
        is_told = self.agreed >= TOLD
        if is_pure and not keeps:
            self.of.far.meanwhile[1] = lambda: self.agree(0)
        wake = self.of.runs(self.of.agents[title], *[LANGUAGE][:writes])
        self.of.far.meanwhile.clear()
        if not may_ask and not is_pure:
            one.is_held = True
            assert (wake.phase, len(self.of.far.sent)) == ("absent", sent)
            return
        waits, one.waits, one.asked_by, one.is_held = one.waits, [], [], False
        begins = not is_pure or (may_ask and is_told)
        if not begins or (is_pure and not keeps):
            assert (wake.outcome, len(self.of.far.sent)) == ("skipped", sent + begins)
            return
        hop = max(each.hop for each in waits)
        assert (wake.outcome, wake.begun.hop) == ("completed", hop)
        questions = sorted({each.question for each in waits if each.question})
        assert self.of.questions(wake) == (questions if is_told else [])
        if writes and not one.has_language:
            one.has_language = True
            self.heard += [hop + 1] * (hop + 1 <= HOPS)

    def agree(self, notice: int) -> None:
        """The person agrees to what a notice tells, and to nothing else."""
        self.agreed = notice
        self.of.consents(notice)

    def key(self, is_there: bool) -> None:
        self.has_key = self.of.far.has_key = is_there

    def change(self, title: str) -> None:
        """The person writes to a task."""
        self.of.at.append_journal(do.AddNote(self.of.tasks[title], "note", Words("More.")))
        if self.model[title].is_active:
            self.model[title].waits.append(Meant("subscription"))

    def want(self, title: str) -> None:
        """The person asks for a wake, which takes along what waits."""
        one = self.model[title]
        if not one.is_active:
            return
        self.of.at.append_agent(self.of.at.request(self.of.agents[title]))
        one.waits.insert(0, Meant("manual"))
        one.came += [("merged", by) for by in one.asked_by]
        one.is_held = False

    def pause(self, title: str) -> None:
        one = self.model[title]
        self.of.at.append_agent(PauseAgent(self.of.agents[title]))
        one.is_active, one.waits, one.asked_by, one.is_held = False, [], [], False

    def resume(self, title: str) -> None:
        one = self.model[title]
        self.of.at.append_agent(ResumeAgent(self.of.agents[title], is_enabled=True))
        if not one.is_active:
            one.is_active, one.waits = True, [Meant("recovery")]

    # ----------------------------------------------------------------------------------- checks

    def check(self) -> None:
        """That it is as it should be."""
        for title, one in self.model.items():
            queue = self.of.queue(self.of.agents[title])
            assert queue.begun is None
            triggers = queue.queued.triggers if queue.queued else ()
            assert [(each.reason, each.hop) for each in triggers] == [
                (each.reason, each.hop) for each in one.waits
            ]
            waits_for = queue.queued.waits_for if queue.queued else ""
            assert (waits_for in ("consent", "secret")) == one.is_held
            assert all(each.hop <= HOPS for each in triggers)
            is_pure = all(each.reason == "request" for each in triggers)
            assert not (is_pure and waits_for)
            noticed = self.of.noticed(self.of.agents[title])
            assert [(rule, each.reason_id) for rule, each in noticed] == one.came


@settings(max_examples=15, deadline=None)
@given(st.lists(steps, min_size=6, max_size=16))
@example(
    [
        ("ask", False, {"T0": "stale"}, True),
        ("run", "T0", True),
        ("hear", {"T1": "blocked", "T2": "blocked"}),
        ("run", "T1", True),
        ("run", "T2", True),
    ]
)
@example(
    [
        ("want", "T0"),
        ("agree", 1),
        ("run", "T0", True),
        ("hear", {"T1": "stale", "T2": "stale"}),
        ("change", "T1"),
        ("run", "T1", True),
        ("hear", {"T0": "stale", "T1": "stale", "T2": "stale"}),
        ("agree", 3),
        ("run", "T2", False),
    ]
)
@pytest.mark.slow
def test_a_request_comes_to_one_trigger_and_holds_nobody_up(done: list[Step]) -> None:
    world = World()
    for name, *given_ in done:
        getattr(world, name)(*given_)
        watcher.catch_up(world.of.at)
        world.check()
    assert world.of.is_proved()
