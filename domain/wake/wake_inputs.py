"""What a queued wake is given, from the states of both logs (SPEC 4), live and in a proof: its
prompt, the captured task, its change sets, the tools it is offered."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from domain.agent import deciders
from domain.agent.agent import AGENT, Agent, template_in
from domain.agent.wake_queue import WAKE_QUEUE, Queued, Trigger, run_key_of
from domain.changes.change_set import CHANGES, ChangeSet, own_set_id
from domain.journal.catalog import CATALOG
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import payload_id
from domain.log.state import MAIN, LogState
from domain.log.timestamps import later
from domain.log.wire import SHARED, Imported, Payload, PayloadId, payload
from domain.policy.flow import may_enter
from domain.scaffold import Features, features_of
from domain.templates import template as templates
from domain.tools import improving, registry
from domain.tools.snapshot import Snapshot, captured
from domain.wake.commands import Begins, BeginWake, ProposeChanges, SkipWake
from domain.wake.context import (
    gather,
    lessons_of,
    linked_tasks,
    requests_of,
    ruled_out_in,
    sets_of_task,
    thread_of,
)
from domain.wake.day_context import day_seen, snapshot_of_day
from domain.wake.manifests import manifest_of
from domain.wake.memory import with_readable_memory
from domain.wake.prompt import Prompt, render
from domain.wake.reading import LinkedAgent, PromptLimits, PromptOptions, ReportShown, WakeReason
from domain.wake.task_search import SearchableTask, TaskSearchIndex
from domain.wake.template_context import decided_of, template_seen
from domain.wake.tool_call import WakeInputs
from domain.wake.wake import Wake, anyones
from domain.wake.week_context import snapshot_of_week, week_seen

DAY_SECONDS = 86_400
GENERATIONS_MAX = 100  # of a task's agents that are looked through for a living one
DEFAULTS = PromptLimits()


def limits_of(prompt_max_bytes: int) -> PromptLimits:
    """The limits of a prompt of so many bytes; 0: the default's."""
    return replace(DEFAULTS, prompt_max_bytes=prompt_max_bytes) if prompt_max_bytes else DEFAULTS


def given_by(cause: Begins | SkipWake) -> PromptOptions:
    """What a recorded command says of its prompt, or of the one that was not made."""
    if isinstance(cause, ProposeChanges):
        return replace(given_by(cause.begin), client=cause.said_text)
    size = cause.prompt_max_bytes if isinstance(cause, BeginWake) else 0
    return PromptOptions(cause.scaffold, size, cause.local, cause.model)


def client_wake(agent: str, session: str) -> Queued:
    """What a client does, as a wake that never was queued."""
    trigger = Trigger("client", session)
    return Queued(run_key_of(agent, trigger), "client", session, "", "", (trigger,))


def queued_of(cause: Begins | SkipWake, agents: LogState) -> Queued | None:
    """The wake that a cause begins, or does not, in the world before it; None: none was queued."""
    if isinstance(cause, ProposeChanges):
        found: Queued | None = client_wake(cause.agent, cause.session)
    else:
        found = agents.load(WAKE_QUEUE, cause.agent).queued
    return found if found is not None and found.run_key == cause.run_key else None


TaskLines = Callable[[LogState], Mapping[str, SearchableTask]]
"""The living tasks of a journal; `task_search.TaskSearchIndex` keeps them."""


def all_lines(journal: LogState) -> Mapping[str, SearchableTask]:
    """The living tasks, for who asks but once."""
    return TaskSearchIndex().of(journal)


def given_to(
    journal: LogState,
    agents: LogState,
    agent: Agent,
    queued: Queued,
    given: PromptOptions,
    position: int,
    lines: TaskLines = all_lines,
) -> tuple[Prompt, Snapshot]:
    """The prompt of a queued wake, as both logs stand in these worlds, and what its tools see;
    `position`: the journal's.

    Raises: as `shown`."""
    prompt = shown(journal, agents, agent, queued, given, lines)
    seen = snapshot_of(journal, agent, position, queued.reason, given, prompt)
    if (template := template_in(agent.subject or "")) is not None:
        seen = improving.seen_now(agents, template, decided_of(agents, template))
        seen = replace(seen, position=position, places=prompt.places)
    return prompt, seen


def rendered(
    journal: LogState, agents: LogState, begun: Begins, lines: TaskLines = all_lines
) -> dict[PayloadId, bytes]:
    """What a recorded wake would be shown and see today, in the worlds where it began, by the ids
    that this has; nothing where it was not queued. Raises: as `shown`."""
    agent = agents.load(AGENT, begun.agent)
    if (queued := queued_of(begun, agents)) is None:
        return {}
    position, given = begun.journal_position, given_by(begun)
    prompt, seen = given_to(journal, agents, agent, queued, given, position, lines)
    texts = [one.text.encode() for one in (*prompt.system, *prompt.user)]
    return {payload_id(agent.unit, one): one for one in (canonical.encode(seen), *texts)}


def shown(
    journal: LogState,
    agents: LogState,
    agent: Agent,
    queued: Queued,
    given: PromptOptions,
    lines: TaskLines = all_lines,
) -> Prompt:
    """The prompt of a queued wake, as both logs stand in these worlds. Raises Refused, code
    ``task_deleted``, ``unknown_task``, ``out_of_scope`` or ``overshared_payload_blocked``."""
    words = "\n\n".join(agents.payload(one).decode() for one in queued.words)
    if given.features.has_memory:
        agent = with_readable_memory(agents, agent)
    limits = limits_of(given.prompt_max_bytes)
    manifest = manifest_of(given.scaffold, agent.agent_kind)
    asked = WakeReason(queued.reason, queued.triggers, words)
    sets = agents.load_each(CHANGES, agent.sets)
    has_task = manifest.subject == "task"

    def one_liner(task: str) -> str:
        """What the agent of a task says of it, as far as this one may know."""
        other = agent_of_task(agents, task)
        report = (
            other and may_enter(other.categories_ever or (), agent) and report_of(agents, other)
        )
        return report.one_liner if report else ""

    reading = gather(
        journal,
        agents,
        agent,
        asked,
        report=report_of(agents, agent),
        sets=sets,
        linked_agents=_linked_agents(journal, agents, agent, given.features) if has_task else {},
        limits=limits,
        given=given,
        day=day_seen(
            journal,
            agent,
            asked,
            given,
            lines=lines(journal),
            sets=sets,
            ruled_out=lambda category: ruled_out_in(agents, category, given.features),
            one_liner=one_liner,
            text=agents.text,
        )
        if manifest.subject == "home"
        else None,
        week=week_seen(journal, agent, given, lines=lines(journal), one_liner=one_liner)
        if manifest.subject == "category"
        else None,
        template=template_seen(agents, agent, given) if manifest.subject == "template" else None,
    )
    if requests := requests_of(agents, agent, queued, given):
        reading = replace(reading, requests=requests)
    if directives := _directives(agents, agent):
        reading = replace(reading, directives=directives)
    if given.features.has_lessons and has_task:
        lessons = lessons_of(agents, agent, reading.task.category.id, given.features)
        reading = replace(reading, lessons=lessons)
    if given.features.has_thread:
        reading = replace(reading, thread=thread_of(agents, agent, queued, limits))
    return render(reading, limits)


def snapshot_of(
    journal: LogState,
    agent: Agent,
    position: int,
    reason: str,
    given: PromptOptions,
    prompt: Prompt,
) -> Snapshot:
    """What the tools of a wake see of its task, its day or its category, as the journal stands in
    this world, and where its prompt has what."""
    if prompt.day is not None and given.local is not None:
        is_asked = reason == "user"
        seen = snapshot_of_day(journal, prompt.day, given.local, position, is_asked=is_asked)
        return replace(seen, places=prompt.places)
    if prompt.week is not None:
        week = snapshot_of_week(journal, agent, prompt.week, position)
        return replace(week, places=prompt.places)
    features = given.features
    task, catalog = journal.load(TASK, agent.task), journal.load(CATALOG, MAIN)
    links = linked_tasks(journal, task, agent) if features.captures_all else ()
    seen = replace(captured(task, catalog, position, features, links), places=prompt.places)
    if not journal.is_shared:
        return seen
    touched = {one.n for one in seen.touched} | {one.touched for one in seen.items}
    touched |= {one.touched for one in seen.time}
    wrote = {(row.replica, row.n) for row in journal.rows(TASK, task.id) if row.n in touched}
    return replace(seen, wrote=tuple(Imported(*one) for one in sorted(wrote)))


def _directives(agents: LogState, agent: Agent) -> str:
    """What the active version of the agent's template says; empty where it has none."""
    version = templates.load(agents, agent.template).version if agent.template else None
    if version is None:
        return ""
    parts = (agents.text(version.general), agents.text(version.report))
    return "\n\n".join(part for part in parts if part)


def report_of(agents: LogState, agent: Agent) -> ReportShown | None:
    """The agent's current report, if it has one."""
    if not agent.report:
        return None
    if (drafted := anyones(agents, agent.report).report) is None:
        return None
    tldr, content = agents.text(drafted.tldr), agents.text(drafted.content)
    return ReportShown(agent.last_wake_at, tldr, drafted.one_liner, content)


def agent_of_task(agents: LogState, task: str) -> Agent | None:
    """The newest agent of a task that is not deleted, destroyed ones included."""
    newest = None
    for generation in range(1, GENERATIONS_MAX + 1):  # pragma: no branch  # none has so many
        agent = agents.load(AGENT, deciders.agent_id(deciders.AGENT_KIND, task, generation))
        if not agent.lifecycle:
            break
        newest = newest if agent.is_deleted else agent
    return newest


def _linked_agents(
    journal: LogState, agents: LogState, agent: Agent, features: Features
) -> dict[str, LinkedAgent]:
    """What the agents of directly linked tasks say, as far as it may be told to this one."""
    task = journal.load(TASK, agent.task)
    linked = [link.target for link in task.links]
    linked += [edge.source for edge in journal.load(LINKS, agent.task).incoming]
    found: dict[str, LinkedAgent] = {}
    for one in linked:
        if (other := agent_of_task(agents, one)) is None:
            continue
        if features.keeps_flow and not may_enter(other.categories_ever or (), agent):
            continue
        if (report := report_of(agents, other)) is not None:
            found[one] = LinkedAgent(report.one_liner, report.tldr)
    return found


# ----------------------------------------------------------------- what its calls are answered with

SNAPSHOTS_KEPT = 16  # of running wakes

_snapshot = lru_cache(SNAPSHOTS_KEPT)(msgspec.json.Decoder(Snapshot).decode)


def inputs_of(
    world: LogState, agent: Agent, run_key: str, snapshot: str, features: Features, at: str
) -> WakeInputs:
    """What the calls of a wake are answered with, looked at at `at`."""

    def own() -> ChangeSet:
        return world.load(CHANGES, own_set_id(world, run_key))

    def others() -> tuple[ChangeSet, ...]:
        mine = own_set_id(world, run_key)
        sets = [one for one in agent.sets if one != mine]
        if features.heeds_verdicts:  # those on proposals of earlier agents of its task, too
            sets = [*sets_of_task(world, agent, agent.generation - 1), *sets]
        return world.load_each(CHANGES, sets)

    def ruled_out() -> Collection[str]:
        return ruled_out_in(world, seen.category, features)

    def agent_of(task: str) -> str:
        other = agent_of_task(world, task)
        return other.id if other and other.lifecycle != "destroyed" else ""

    seen = replace(_snapshot(world.payload(snapshot)), at=at)
    return WakeInputs(seen, own, others, world.text, agent, ruled_out, agent_of)


def expires_at(world: LogState, wake: Wake, at: str) -> str:
    """When the undecided proposals of a wake that ends at `at` expire; empty: never. Those of a day
    do with it."""
    day = _snapshot(world.payload(wake.begun.snapshot)).day if not wake.begun.task else None
    if day is not None:
        return day.ends
    days = wake.begun.ttl_days
    return later(at, seconds=days * DAY_SECONDS) if days else ""


@cache
def specs_of(tools: tuple[str, ...], features: Features) -> Payload:
    """The tools as the model is offered them: no task's, so no task's unit."""
    return payload(SHARED, canonical.encode(registry.specs(tools, features)))


def tools_of(
    world: LogState, agent: Agent, reason: str, scaffold: int, snapshot: Snapshot
) -> tuple[str, ...]:
    """The tools that a wake is offered for the task as it was captured."""
    sets = world.load_each(CHANGES, agent.sets) if features_of(scaffold).offers_by_task else ()
    has_open = any(item.status == "pending" for one in sets for item in one.items)
    return registry.offered(agent.agent_kind, reason, scaffold, snapshot, has_open=has_open)
