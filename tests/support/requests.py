"""Agents in memory that ask each other: models here and elsewhere, a key, consents, and a clock
that goes on where a test says so."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.proof.prove import prove_logs
from adapters.runtime.effect_executor import run_wake
from adapters.store.log import Log
from domain.agent.commands import ConfigureAgent, CreateAgent
from domain.agent.deciders import CATEGORY_AGENT, DAY_AGENT, AgentSettings
from domain.agent.wake_queue import (
    WAKE_QUEUE,
    Queued,
    Trigger,
    TriggerMerged,
    TriggerSuppressed,
    WakeQueue,
    WakeQueued,
)
from domain.errors import Refused
from domain.log.timestamps import later
from domain.policy.commands import GiveConsent, WithdrawConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from domain.ports import ModelFault, Reply, Request
from domain.wake.prompt_sections import ASKED_BY, QUESTIONS
from domain.wake.wake import WAKE, Wake
from tests.support.lone import HOME, MORNING, WORK, Lone, lone_agent, with_tasks
from tests.support.scripted_wakes import call
from tests.support.services import StillClock, queued_key
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

FAR = "gemini:pro"
"""A model that is elsewhere."""
LANGUAGE = call("set_task_language", languageCode="en", confidence="high")
"""What an agent of a task writes at once, where no language is set yet."""
GONE = ModelFault("invalid", "no answer", of_provider=False)
AWAY = ModelFault("overloaded", "later", of_provider=True)


class Voice:
    """A model that makes some calls and then ends its wake; it keeps what it was sent.

    `meanwhile`: by turn, what is done before it answers, once; `fault`: how it fails in the end.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: list[Request] = []
        self.calls: Sequence[tuple[str, str]] = (REPORT,)
        self.meanwhile: dict[int, Callable[[], object]] = {}
        self.fault: ModelFault | None = None
        self.has_key = True

    async def reply(self, request: Request) -> Reply:
        self.sent.append(request)
        self.meanwhile.pop(len(request.exchanges) + 1, lambda: None)()
        if not request.exchanges:
            return reply(*self.calls)
        if self.fault is not None:
            raise self.fault
        return reply(text="Done.")

    def told(self) -> str:
        """All that it was ever sent."""
        return "\n".join(one.text for asked in self.sent for one in (*asked.system, *asked.user))


@dataclass(frozen=True)
class Office(Lone):
    """An agent that looks over Home, one that plans days, and one for each task, by title."""

    day: str
    agents: dict[str, str]
    here: Voice
    far: Voice
    clock: StillClock

    # ---------------------------------------------------------------------------------- wakes

    def runs(self, agent: str, *calls: tuple[str, str], reports: bool = True) -> Wake:
        """The queued wake of an agent, due or not, whose model makes these calls."""
        return self.goes_on(agent, queued_key(self.at, agent), *calls, reports=reports)

    def goes_on(
        self,
        agent: str,
        run_key: str,
        *calls: tuple[str, str],
        reports: bool = True,
        is_now: bool = True,
    ) -> Wake:
        """A wake of that run key, begun or not."""
        for voice in (self.here, self.far):
            voice.calls = (*calls, *([REPORT] if reports or not calls else []))
        asyncio.run(run_wake(self.at, agent, run_key, is_now=is_now))
        return self.wake(run_key)

    def wake(self, run_key: str) -> Wake:
        with self.at.agents.reading() as world:
            return world.load(WAKE, run_key)

    def asks(self, *asked: str, by: str = "", ends: ModelFault | None = None) -> Wake:
        """A wake that asks agents of tasks, ``Tap stale``, and ends, or fails; `by`: whose it is,
        the one's that looks over Home where nobody is named."""
        agent = by or self.agent
        self.at.append_agent(self.at.request(agent))
        for voice in (self.here, self.far):
            voice.fault = ends
        wake = self.runs(agent, *(self.asking(one) for one in asked))
        self.here.fault = self.far.fault = None
        return wake

    def asking(self, asked: str) -> tuple[str, str]:
        """The call that asks the agent of a task, ``Tap stale``."""
        title, about = asked.split()
        return call("ask_agent", taskId=self.tasks[title], about=about)

    # --------------------------------------------------------------------------- what came of it

    def queue(self, agent: str) -> WakeQueue:
        with self.at.agents.reading() as world:
            return world.load(WAKE_QUEUE, agent)

    def queued(self, title: str) -> Queued | None:
        """What waits for the agent of a task."""
        return self.queue(self.agents[title]).queued

    def noticed(self, agent: str) -> list[tuple[str, Trigger]]:
        """What became of each request to an agent, ``queued``, ``merged`` or the rule against it,
        in the order of the log."""
        found: list[tuple[str, Trigger]] = []
        for row in self.at.agents.facts(f"alert:{agent}@r1"):
            match row.fact:
                case WakeQueued(trigger=trigger):
                    found.append(("queued", trigger))
                case TriggerMerged(trigger=trigger):
                    found.append(("merged", trigger))
                case TriggerSuppressed(trigger=trigger, rule=rule):
                    found.append((rule, trigger))
                case _:
                    pass
        return [one for one in found if one[1].reason == "request"]

    def fates(self, title: str) -> list[str]:
        """The same of the agent of a task, without the triggers."""
        return [rule for rule, _ in self.noticed(self.agents[title])]

    def sections(self, wake: Wake) -> list[str]:
        """The names of the sections that a wake was shown of the user's part."""
        return [one.name for one in wake.begun.user]

    def questions(self, wake: Wake) -> list[str]:
        """The lines of what other agents ask, as a wake was shown them."""
        refs = [one for one in wake.begun.user if one.name == "requests"]
        with self.at.agents.reading() as world:
            texts = [world.payload(one.payload).decode() for one in refs]
        return [one for text in texts for one in text.split("\n") if one.startswith("- ")]

    def texts(self) -> str:
        """Every row of the agents' log, and every text that a row of it names."""
        rows = [one.state for one in self.at.agents.rows()]
        kept = [data for _, data in self.at.agents.recorder.kept_payloads()]
        return b"\n".join([*rows, *kept]).decode()

    def is_proved(self) -> bool:
        return list(prove_logs(self.at.journal, self.at.agents).divergences) == []

    # ------------------------------------------------------------------------ what a person does

    def configures(self, title: str, wanted: AgentSettings) -> None:
        """Set something of the agent of a task."""
        self.at.append_agent(ConfigureAgent(self.agents[title], wanted))

    def consents(self, notice: int = NOTICE_VERSION) -> None:
        """Agree to what a notice tells; none: withdraw that."""
        self.at.append_agent(WithdrawConsent("gemini:*"))
        if notice:
            given = GiveConsent("gemini:*", (HOME,), notice, sections_of(notice))
            self.at.append_agent(given)

    def passes(self, seconds: int) -> None:
        self.clock.at = later(self.clock.at, seconds=seconds)


def office(*titles: str, agents: Log | None = None, model: str = FAR) -> Office:
    """Tasks of these titles, "Title @Category", and an agent of each, that has nothing to do; the
    model of these is elsewhere, and nobody has agreed to anything."""
    at, tasks = with_tasks(*titles)
    at.agents = agents or at.agents
    at.clock = clock = StillClock(MORNING)
    here, far = Voice("tape"), Voice(FAR)

    def model_for(name: str) -> Voice:
        if name != FAR:
            return here
        if not far.has_key:
            raise Refused("missing_key", because="there is no key", instead="set it")
        return far

    at.model_for = model_for
    home = lone_agent(at, CATEGORY_AGENT, f"category:{HOME}", (HOME,), "Home week")
    day = lone_agent(at, DAY_AGENT, "home", (HOME, WORK), "Day")
    of = Office(at, home, tasks, day, {}, here, far, clock)
    for agent in (home, day):
        of.runs(agent)
    for title, task in tasks.items():
        made = of.task(task)
        born = at.journal.tail().n
        command = CreateAgent(task, title, made.category, born, "hybrid", is_enabled=True)
        of.agents[title] = at.append_agent(command).result.ids[0]
        of.runs(of.agents[title])
        if model:
            of.configures(title, AgentSettings(model=model))
    return of


def told_of(about: str, kind: str) -> str:
    """The line by which a question of an agent of a kind is told."""
    return f"- {about}: {QUESTIONS[about]} (asked by {ASKED_BY[kind]})"


__all__ = ["FAR", "Office", "office", "told_of"]
