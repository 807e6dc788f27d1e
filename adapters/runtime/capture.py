"""Captures what a wake is given: prompt, snapshot, and where both logs stood (SPEC 4)."""

from collections.abc import Iterable
from typing import NamedTuple

from adapters.runtime.desk import Desk
from domain import canonical
from domain.agent import identity
from domain.agent.agent import AGENT, Agent
from domain.agent.alertness import ALERT, Queued
from domain.changes.change_set import CHANGES
from domain.errors import Refused
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.ports import Section
from domain.tools.snapshot import snapshot
from domain.wake.commands import BeginWake
from domain.wake.context import gather
from domain.wake.events import SectionRef
from domain.wake.prompt import SCAFFOLD_VERSION, Prompt, render
from domain.wake.reading import Asked, Limits, LinkedAgent, ReportShown
from domain.wake.state import WAKE
from domain.wire import Payload, payload
from domain.world import World

GENERATIONS_MAX = 100  # of a task's agents that are looked through for a living one


class Captured(NamedTuple):
    """A command that begins a wake, and the texts it names."""

    command: BeginWake
    payloads: list[Payload]


def capture(desk: Desk, agent_id: str, run_key: str, *, is_now: bool) -> Captured:
    """Read both logs and render the prompt of a queued wake.

    Raises:
        Refused: Code ``task_deleted``, ``unknown_task`` or ``out_of_scope``: no prompt may be
            rendered; ``unknown_wake``: it is not queued; what `model_for` refuses.
    """
    with desk.journal.reading() as journal, desk.agents.reading() as agents:
        agent = agents.load(AGENT, agent_id)
        queued = agents.load(ALERT, agent_id).queued
        if queued is None or queued.run_key != run_key:
            because = f"the wake {run_key} is not queued any more"
            raise Refused("unknown_wake", because=because, instead="see `wakelog wakes`")
        prompt = read_prompt(desk, journal, agents, agent, queued)
        task = journal.load(TASK, agent.task)
        seen = snapshot(task, journal.load(CATALOG, "main"), journal.n - 1)
        positions = journal.n - 1, agents.n - 1
    kept = payload(agent.task, canonical.encode(seen))
    payloads = [kept]
    command = BeginWake(
        agent=agent.id,
        run_key=run_key,
        model=desk.model_for(agent.model or desk.settings.model).name,
        scaffold=SCAFFOLD_VERSION,
        journal_position=positions[0],
        agent_position=positions[1],
        snapshot=kept.id,
        system=_kept(agent.task, prompt.system, payloads),
        user=_kept(agent.task, prompt.user, payloads),
        is_now=is_now,
        is_enabled=desk.is_enabled,
        ttl_days=desk.settings.agents.expire_after_days,
        throttle_seconds=desk.settings.agents.throttle,
    )
    return Captured(command, payloads)


def read_prompt(desk: Desk, journal: World, agents: World, agent: Agent, queued: Queued) -> Prompt:
    """What the model is shown of a queued wake, rendered from both logs as they stand."""
    words = "\n\n".join(agents.payload(one).decode() for one in queued.words)
    limits = Limits(prompt_max_bytes=desk.settings.prompt.max_bytes)
    reading = gather(
        journal,
        agents,
        agent,
        Asked(queued.reason, queued.triggers, words),
        report=report_of(agents, agent),
        sets=[agents.load(CHANGES, one) for one in agent.sets],
        linked_agents=_linked_agents(journal, agents, agent),
        limits=limits,
    )
    return render(reading, limits)


def report_of(agents: World, agent: Agent) -> ReportShown | None:
    """The agent's current report, if it has one."""
    if not agent.report:
        return None
    drafted = agents.load(WAKE, agent.report).report
    if drafted is None:
        return None
    tldr, content = agents.text(drafted.tldr), agents.text(drafted.content)
    return ReportShown(agent.last_wake_at, tldr, drafted.one_liner, content)


def agent_of_task(agents: World, task: str) -> Agent | None:
    """The newest agent of a task that is not deleted, destroyed ones included."""
    newest = None
    for generation in range(1, GENERATIONS_MAX + 1):
        agent = agents.load(AGENT, identity.agent_id(identity.AGENT_KIND, task, generation))
        if not agent.lifecycle:
            break
        newest = newest if agent.is_deleted else agent
    return newest


def _linked_agents(journal: World, agents: World, agent: Agent) -> dict[str, LinkedAgent]:
    """What the agents of directly linked tasks say in one line."""
    task = journal.load(TASK, agent.task)
    linked = [link.target for link in task.links]
    linked += [edge.source for edge in journal.load(LINKS, agent.task).incoming]
    found: dict[str, LinkedAgent] = {}
    for one in linked:
        other = agent_of_task(agents, one)
        report = report_of(agents, other) if other else None
        if report is not None:
            found[one] = LinkedAgent(report.one_liner)
    return found


def _kept(
    unit: str, sections: Iterable[Section], payloads: list[Payload]
) -> tuple[SectionRef, ...]:
    refs: list[SectionRef] = []
    for section in sections:
        kept = payload(unit, section.text.encode())
        payloads.append(kept)
        refs.append(SectionRef(section.name, kept.id))
    return tuple(refs)
