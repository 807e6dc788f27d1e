"""The documents of a world at a moment, as `at` prints them; null: there is none.

Times are RFC 3339 in UTC. The keys stand in the order of the fields.
"""

from typing import Any

from msgspec import Struct

from domain.agent.events import Mode
from domain.agent.wake_queue import RunStatus
from domain.journal.document import TaskDetails


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
    run_status: RunStatus
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
