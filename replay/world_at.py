"""The world at a moment: what the person's tasks and their agents were, byte for byte then.

`world_document` reads it through two scenes, one for each log: the `World` of a store at an `n`.
Whoever folds a log forward, append by append, has the same: the world at `n`, folded by append
`n + 1`, is the world at `n + 1`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from domain.agent import deciders
from domain.agent import wake_queue as a
from domain.agent.agent import AGENT, Agent, AgentObservation, Mode
from domain.agent.memory import MEMORY
from domain.changes.change_set import CHANGES, ChangeItem, ChangeSet, is_open, status_of
from domain.journal.catalog import CATALOG, Catalog
from domain.journal.document import TaskDetails, category_name, task_document
from domain.journal.links import LINKS
from domain.journal.task import TASK, Task
from domain.lessons.lessons import CATEGORY, LESSONS, LessonVerdict, count
from domain.log.state import MAIN, StreamType, joined
from domain.log.wire import Words
from domain.wake.memory import newest_uncovered
from domain.wake.wake import anyones


class TaskThen(TaskDetails, frozen=True):
    """A task as `task show` has it; `deleted`: it was by then."""

    deleted: bool


class ReportThen(Struct, frozen=True):
    """An agent's report; `content` is Markdown."""

    run_key: str
    tldr: str
    one_liner: str
    content: str


class ObservationThen(Struct, frozen=True):
    """What an agent noted for itself."""

    at: str
    run_key: str
    text: str
    priority: str
    category: str
    target: str | None


class DigestThen(Struct, frozen=True):
    """A digest that no other one had taken in: the beginnings of `notes` observations."""

    id: str
    depth: int
    since: str
    until: str
    notes: int
    text: str


class AgentThen(Struct, frozen=True):
    """An agent with its report and what it is shown of its journal, the oldest first.
    `allowed_categories` are names; `last_run` is the run key of its newest wake. `digests` hold
    what it noted long ago, `uncovered` is what of its newest notes stood in none."""

    id: str
    name: str
    task_id: str
    kind: str
    mode: Mode
    lifecycle: str
    run_status: a.RunStatus
    next_wake_at: str | None
    last_wake_at: str | None
    failures: int
    wakes: int
    stale: bool
    pause_reason: str | None
    allowed_categories: list[str]
    model: str | None
    turns: int
    automatic: bool
    goal: str | None
    open_loops: list[str]
    preferences: dict[str, str]
    last_run: str | None
    last_outcome: str | None
    report: ReportThen | None
    journal: list[ObservationThen]
    digests: list[DigestThen]
    uncovered: list[ObservationThen]


class ProposalThen(Struct, frozen=True):
    """An open item of a change set; `set` is the id of the set, `arguments` are those of `tool`."""

    ref: str
    set: str
    set_status: str
    task_id: str
    agent_id: str
    run_key: str
    created_at: str
    tool: str
    arguments: dict[str, Any]
    summary: str
    status: str
    fingerprint: str


class WakeThen(Struct, frozen=True):
    """A wake that was ``queued``, ``running`` or ``waiting``; `triggers` counts what asked for
    it."""

    run_key: str
    agent_id: str
    task_id: str
    state: str
    reason: str
    thread: str
    queued_at: str
    due_at: str
    begun_at: str | None
    waits_until: str | None
    waits_for: str | None
    triggers: int


class LessonThen(Struct, frozen=True):
    """How the newest proposals of a tool had fared in the category of some of the tasks."""

    scope: str
    tool: str
    confirmed: int
    rejected: int
    deferred: int
    edited: int


class WorldThen(Struct, frozen=True):
    """Some tasks and their agents, open proposals, wakes without an end, and lessons."""

    tasks: list[TaskThen]
    agents: list[AgentThen]
    proposals: list[ProposalThen]
    wakes: list[WakeThen]
    lessons: list[LessonThen]


# -------------------------------------------------------------------------------- how they are read

S = TypeVar("S")
VERDICTS: tuple[LessonVerdict, ...] = ("confirmed", "rejected", "deferred")
GENERATIONS_MAX = 100  # of a task's agents


class Scene(Protocol):
    """One log at a moment."""

    def load(self, kind: StreamType[S], entity: str) -> S:
        """The state of an entity then; its initial state if there was none."""

    def load_all(self, kind: StreamType[S], entity: str) -> Sequence[S]:
        """Of a kind that each replica has for itself: the states of all."""

    def text(self, words: Words) -> str:
        """A text, wherever it is kept."""


UNIT = "agent:"  # how the unit of an agent begins that has no task


def world_document(
    journal: Scene, agents: Scene, tasks: Iterable[str], names: Mapping[str, str]
) -> WorldThen:
    """The world of some tasks and of their agents, from both logs then. `tasks`: ids, or the units
    of agents without one, ``agent:<id>``; those that did not exist yet are left out; `names`: what
    a person calls change sets by, by their ids; else the beginning of the id."""
    catalog, wanted = journal.load(CATALOG, MAIN), list(tasks)
    alone = [one.removeprefix(UNIT) for one in wanted if one.startswith(UNIT)]
    named = (journal.load(TASK, one) for one in wanted if not one.startswith(UNIT))
    found = [task for task in named if task.exists]
    scopes = dict.fromkeys(CATEGORY + task.category for task in found if task.category)
    living = {task.id: _agents_of(agents, task.id) for task in found}
    each = [agent for task in found for agent in living[task.id]]
    each += [agent for one in alone if (agent := agents.load(AGENT, one)).lifecycle]
    return WorldThen(
        tasks=[_task(journal, task, catalog, living[task.id]) for task in found],
        agents=[_agent(agents, agent, catalog) for agent in each],
        proposals=[one for agent in each for one in _proposals(agents, agent, names)],
        wakes=[one for agent in each for one in _wakes(agents, agent)],
        lessons=[one for scope in scopes for one in _lessons(agents, scope)],
    )


def linked_tasks(journal: Scene, task_id: str) -> list[str]:
    """A task, and the tasks that are linked to it either way: the graph that its agent sees."""
    task = journal.load(TASK, task_id)
    others = [link.target for link in task.links]
    others += [edge.source for edge in journal.load(LINKS, task_id).incoming]
    return list(dict.fromkeys((task_id, *others)))


def _task(journal: Scene, task: Task, catalog: Catalog, agents: Sequence[Agent]) -> TaskThen:
    living = [agent.id for agent in agents if agent.lifecycle != "destroyed"]
    links = journal.load(LINKS, task.id)
    shown = task_document(task, links, catalog, living[-1] if living else "", journal.text)
    return TaskThen(**asdict(shown), deleted=task.is_deleted)


def _agents_of(agents: Scene, task: str) -> list[Agent]:
    """All agents that a task has had, the oldest first; deleted ones are left out."""
    generations = (
        agents.load(AGENT, deciders.agent_id(deciders.AGENT_KIND, task, generation))
        for generation in range(1, GENERATIONS_MAX + 1)
    )
    made = takewhile(lambda agent: agent.lifecycle, generations)
    return [agent for agent in made if not agent.is_deleted]


def _agent(agents: Scene, agent: Agent, catalog: Catalog) -> AgentThen:
    wake_queue, memory = agents.load(a.WAKE_QUEUE, agent.id), agents.load(MEMORY, agent.id)
    every = [one.changed_of or {} for one in agents.load_all(a.WAKE_QUEUE, agent.id)]
    noticed = replace(wake_queue, changed_of=reduce(joined, every, dict[str, int]()))
    digests = [
        DigestThen(one.id, one.depth, one.since, one.until, one.count, agents.text(one.words))
        for one in memory.top
    ]
    preferences = {name: one.value for name, one in sorted(agent.preferences.items()) if one.value}
    return AgentThen(
        id=agent.id, name=agent.name, task_id=agent.task, kind=agent.agent_kind, mode=agent.mode,
        lifecycle=agent.lifecycle, run_status=a.run_status(wake_queue),
        next_wake_at=a.next_due(a.heeding(wake_queue, agent)) or None,
        last_wake_at=agent.last_wake_at or None, failures=agent.failures, wakes=agent.wakes,
        stale=a.is_news(noticed, agent.fresh_position, agent.fresh_seen),
        pause_reason=agent.pause_reason or None,
        allowed_categories=[category_name(catalog, one) for one in agent.categories],
        model=agent.model or None, turns=agent.turn_max, automatic=agent.is_automatic,
        goal=agent.goal.value or None, open_loops=list(agent.loops), preferences=preferences,
        last_run=agent.last_run or None, last_outcome=agent.last_outcome or None,
        report=_report(agents, agent),
        journal=[_observation(agents, one) for one in _remembered(agent)], digests=digests,
        uncovered=[_observation(agents, one) for one in newest_uncovered(memory, agent)],
    )  # fmt: skip


def _report(agents: Scene, agent: Agent) -> ReportThen | None:
    drafted = anyones(agents, agent.report).report if agent.report else None
    if drafted is None:
        return None
    tldr, content = agents.text(drafted.tldr), agents.text(drafted.content)
    return ReportThen(agent.report, tldr, drafted.one_liner, content)


def _remembered(agent: Agent) -> list[AgentObservation]:
    """What the agent is shown of its journal: all critical ones, and the newest; oldest first."""
    shown = len([one for one in agent.observations if one.priority == "critical"])
    older = agent.critical[: max(0, len(agent.critical) - shown)]
    return [*older, *agent.observations]


def _observation(agents: Scene, one: AgentObservation) -> ObservationThen:
    said = one.at, one.run_key, agents.text(one.words)
    return ObservationThen(*said, one.priority, one.category, one.target or None)


def _proposals(agents: Scene, agent: Agent, names: Mapping[str, str]) -> Iterator[ProposalThen]:
    for one in agent.sets:
        changes, name = agents.load(CHANGES, one), names.get(one, one[:8])
        for item in filter(is_open, changes.items):
            yield _proposal(agents, changes, item, f"{name}.{item.number}")


def _proposal(agents: Scene, changes: ChangeSet, item: ChangeItem, ref: str) -> ProposalThen:
    arguments = agents.text(item.arguments_now or item.arguments)
    return ProposalThen(
        ref=ref, set=changes.id, set_status=status_of(changes), task_id=changes.task,
        agent_id=changes.agent, run_key=changes.run_key, created_at=changes.opened_at,
        tool=item.tool, arguments=msgspec.json.decode(arguments), summary=item.summary,
        status=item.status, fingerprint=item.fingerprint,
    )  # fmt: skip


def _wakes(agents: Scene, agent: Agent) -> Iterator[WakeThen]:
    wake_queue: a.WakeQueue = agents.load(a.WAKE_QUEUE, agent.id)
    if wake_queue.begun is not None:
        yield _wake(agent, wake_queue.begun, "waiting" if wake_queue.waiting else "running")
    if wake_queue.queued is not None:
        yield _wake(agent, wake_queue.queued, "queued")


def _wake(agent: Agent, wake: a.Queued, state: str) -> WakeThen:
    return WakeThen(
        run_key=wake.run_key, agent_id=agent.id, task_id=agent.task, state=state,
        reason=wake.reason, thread=wake.thread, queued_at=wake.queued_at, due_at=wake.due_at,
        begun_at=wake.begun_at or None, waits_until=wake.until or None,
        waits_for=wake.waits_for or None, triggers=wake.trigger_count,
    )  # fmt: skip


def _lessons(agents: Scene, scope: str) -> Iterator[LessonThen]:
    for tool, lessons in sorted(agents.load(LESSONS, scope).tools.items()):
        yes, no, later = (count(lessons, one) for one in VERDICTS)
        edited = sum(one.is_edited for one in lessons)
        yield LessonThen(scope, tool, yes, no, later, edited)


class LogMoment(Struct, frozen=True):
    """A moment: up to which append each log is read, and the later one's time."""

    journal: int
    agent: int
    at: str = ""
