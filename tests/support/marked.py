"""Homes in memory with a marker in every text, and a model that repeats whatever it is shown.

A text of a person holds `m` markers; the model repeats them as `e` markers, so that what came by
way of another agent is told from what was read where it stands.
"""

import asyncio
import json
import re
from collections.abc import Sequence

from msgspec import Struct
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.runtime import effect_executor, review
from adapters.runtime.services import Services
from adapters.telemetry.otel import OtelSpans
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent, CreateAgent
from domain.agent.deciders import AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE
from domain.errors import Refused
from domain.journal import commands as j
from domain.journal.catalog import category_id
from domain.journal.task import Relation
from domain.log.wire import SHARED, Payload, Words, payload
from domain.ports import Reply, Request
from domain.wake.reading import PromptOptions
from domain.wake.wake_inputs import shown
from tests.support.services import queued_key, services
from wakelog.testing import calls as reply

MARKS = re.compile(r"\b[me][0-9]{3}x\b")
ONE_LINER_MARKS = 30
TLDR_MARKS = 300
NAMES = ("Home", "Work", "Health")
IDS = tuple(category_id(name) for name in NAMES)


class Source(Struct, frozen=True):
    """Where a marker was written: a field of a task, an agent or a category."""

    field: str
    category: str
    task: str = ""
    agent: int = -1


class Told(Struct, frozen=True):
    """All that one wake's model was asked, and what the agent was allowed then."""

    agent: int
    allowed: tuple[str, ...]
    requests: tuple[Request, ...]


class Echo:
    """A model that looks up all it can, and puts every marker it is shown into all that it may
    write."""

    name = "tape:echo"

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.reads: list[tuple[str, str]] = []  # its first calls in a wake
        self.notes = 1  # that it records in a wake

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        if not request.exchanges:
            return reply(*self.reads)
        if len(request.exchanges) > 1:
            return Reply(raw=b"{}", text="Done.")
        known = {one.replace("m", "e") for one in MARKS.findall(text_of(request))}
        found = [*sorted(known), "nothing"]
        told = " ".join(found[:TLDR_MARKS])
        report = {"oneLiner": " ".join(found[:ONE_LINER_MARKS]), "tldr": told, "content": told}
        item = {"items": [{"title": " ".join(found[:ONE_LINER_MARKS])}]}
        note = {"priority": "critical", "category": "grievance"}
        seen = {"observations": [{"text": told, **note} for _ in range(self.notes)]}
        made = {"add_multiple_checklist_items": item, "record_observations": seen}
        calls = [(name, json.dumps(one)) for name, one in made.items()]
        return reply(*calls, ("update_report", json.dumps(report)))


def text_of(request: Request) -> str:
    """All that a request says."""
    return f"{prompt_of(request)}\n{results_of(request)}"


def prompt_of(request: Request) -> str:
    """What its sections say."""
    return "\n".join(one.text for one in (*request.system, *request.user))


def results_of(request: Request) -> str:
    """What its calls were answered with."""
    return "\n".join(one.output for turn in request.exchanges for one in turn.results)


class Marked:
    """A home whose every text is marked, one agent for each task."""

    def __init__(self, categories: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        """`categories`: of each task; `edges`: from one task to another."""
        self.sources: dict[str, Source] = {}
        self.told: list[Told] = []
        self.exporter = InMemorySpanExporter()
        self.model = Echo()
        self.services: Services = services(model=self.model)
        self.services.spans_for = lambda: OtelSpans(self.exporter)
        self.agents: list[str] = []
        self.tasks: list[str] = []
        self._category_of: list[str] = []
        for nth, name in enumerate(NAMES):
            self._category(nth, name)
        for nth, category in enumerate(categories):
            self._task(nth, IDS[category])
        for source, target in edges:
            relation: Relation = "relates_to" if (source + target) % 2 else "blocks"
            self._try(j.LinkTask(self.tasks[source], relation, self.tasks[target]))

    def mark(self, field: str, category: str, task: str = "", agent: int = -1) -> str:
        """A text with a new marker in it."""
        made = f"m{len(self.sources):03}x"
        self.sources[made] = Source(field, category, task, agent)
        return made

    def source(self, mark: str) -> Source:
        """Where a marker, also one that was repeated, comes from."""
        return self.sources[mark.replace("e", "m")]

    def allow(self, agent: int, categories: Sequence[int]) -> None:
        """Give an agent other categories."""
        wanted = AgentSettings(categories=tuple(IDS[one] for one in categories))
        self.services.append_agent(ConfigureAgent(self.agents[agent], wanted))

    def prompt(self, agent: int, scaffold: int) -> str:
        """What a wake of the agent would be shown under a scaffold."""
        at, agent_id = self.services, self.agents[agent]
        self._queued(agent_id)
        with at.journal.reading() as journal, at.agents.reading() as agents:
            queued = agents.load(WAKE_QUEUE, agent_id).queued
            assert queued is not None
            known = agents.load(AGENT, agent_id)
            prompt = shown(journal, agents, known, queued, PromptOptions(scaffold))
        return "\n".join(one.text for one in (*prompt.system, *prompt.user))

    def wake(self, agent: int) -> None:
        """Wake an agent, and keep what its model was asked."""
        at, agent_id = self.services, self.agents[agent]
        allowed = at.agent(agent_id).categories
        self.model.reads = self._reads(agent)
        asyncio.run(effect_executor.run_wake(at, agent_id, self._queued(agent_id), is_now=True))
        self.told.append(Told(agent, allowed, tuple(self.model.asked)))
        self.model.asked.clear()

    def _reads(self, agent: int) -> list[tuple[str, str]]:
        """Reads that would find every task by its title, and all that an agent wrote."""
        titles = [mark for mark, one in self.sources.items() if one.field == "title"]
        others = [task for task in self.tasks if task != self.tasks[agent]]
        calls: list[tuple[str, object]] = [
            ("find_tasks", {"words": " ".join(titles)}),
            *(("read_task", {"taskId": one}) for one in others),
            ("recall", {"words": "nothing"}),
            ("recall", {"words": ("blocked", "rejected")[len(self.told) % 2]}),
        ]
        return [(name, json.dumps(given)) for name, given in calls]

    def reject(self, agent: int) -> None:
        """Decline what an agent proposed last, with a reason."""
        known = self.services.agent(self.agents[agent])
        if known.sets:
            reason = self.mark("reason", self._category_of[agent], self.tasks[agent])
            try:
                review.reject(self.services, known.sets[-1], 1, reason)
            except Refused:
                return

    def _queued(self, agent_id: str) -> str:
        """Run key of the agent's queued wake, which is asked for if there is none."""
        if not queued_key(self.services, agent_id):
            self.services.append_agent(self.services.request(agent_id))
        return queued_key(self.services, agent_id)

    # ---------------------------------------------------------------------------------- making

    def _category(self, nth: int, name: str) -> None:
        category = IDS[nth]
        self._try(j.AddCategory(name))
        sides = [payload(SHARED, self.mark("correction", category).encode()) for _ in range(2)]
        self._try(j.AddCorrection(category, sides[0].id, sides[1].id), sides)
        self._try(j.AddLabel(self.mark("labels", category), (category,)))
        renamed = f"{name} {self.mark('category', category)}"
        self._try(j.RenameCategory(category, renamed))

    def _task(self, nth: int, category: str) -> None:
        self._category_of.append(category)
        task = self.services.append_journal(j.CreateTask("untold", category)).result.ids[0]
        self.tasks.append(task)
        title, why = self.mark("title", category, task), self.mark("reason", category, task)
        self._try(j.EditTask(task, title=title, status="BLOCKED", reason=why))

        def words(field: str) -> Words:
            return Words(self.mark(field, category, task))

        self._try(j.EditTask(task, description=words("description")))
        self._try(j.AddItems(task, (self.mark("item", category, task),)))
        for kind in ("note", "transcript"):
            self._try(j.AddNote(task, kind, words("note")))
        start, end = "2026-12-01T09:00:00.000000Z", "2026-12-01T10:00:00.000000Z"
        self._try(j.LogTime(task, start, end, self.mark("time", category, task)))
        labels = (mark for mark, one in self.sources.items() if one.field == "labels")
        label = next(mark for mark in labels if self.sources[mark].category == category)
        self._try(j.ChangeLabels(task, assign=(label,)))
        made = CreateAgent(task, title, category, self.services.journal.tail().n, "hybrid")
        agent = self.services.append_agent(made).result.ids[0]
        self.agents.append(agent)
        slots = [self.mark(field, category, task, nth) for field in ("goal", "loop", "preference")]
        wanted = AgentSettings(
            goal=slots[0], open_loops=(slots[1],), preferences=(("tone", slots[2]),)
        )
        self.services.append_agent(ConfigureAgent(agent, wanted))

    def _try(self, command: j.JournalCommand, payloads: Sequence[Payload] = ()) -> None:
        """What is there already, or would close a circle, is left out."""
        try:
            self.services.append_journal(command, payloads=payloads)
        except Refused:
            return
