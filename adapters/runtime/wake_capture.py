"""Captures what a wake is given: prompt, snapshot, and where both logs stood (SPEC 4)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from adapters.home.schedules import local_time
from adapters.runtime.services import Services
from domain.agent.agent import AGENT, Agent
from domain.agent.wake_queue import (
    TOO_FEW_FACTS,
    UNCHANGED,
    WAKE_QUEUE,
    Queued,
    heeds_moves,
)
from domain.errors import Refused, Remedy
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import LogState
from domain.log.wire import Payload, payload, words
from domain.policy.gate import is_leaving
from domain.ports import Section
from domain.templates import template as templates
from domain.templates.template import Template
from domain.tools.base import CLIENT
from domain.wake import lookups
from domain.wake.commands import BeginWake, SkipWake
from domain.wake.reading import PromptOptions
from domain.wake.task_search import SearchableTask
from domain.wake.template_context import is_too_few
from domain.wake.unchanged import is_same, last_completed, moved_by
from domain.wake.wake import SectionRef, ToolAsked, ToolReturned, Wake
from domain.wake.wake_inputs import DEFAULTS, client_wake, given_by, given_to


class Captured(NamedTuple):
    """A command that begins a wake, and the texts it names."""

    command: BeginWake
    payloads: list[Payload]


def capture(
    services: Services, agent_id: str, run_key: str, *, is_now: bool,
    given: PromptOptions | None = None,
) -> Captured:  # fmt: skip
    """Read both logs and render the prompt of a queued wake. `given`: what a recorded wake was
    given, where it is told again in another world (a fork); None: what a wake is given now. Raises
    Refused, code ``task_deleted``, ``unknown_task`` or ``out_of_scope``: no prompt may be rendered;
    ``unknown_wake``: it is not queued; what `model_for` refuses."""
    given = given or given_now(services)
    with services.journal.reading() as journal, services.agents.reading() as agents:
        agent = agents.load(AGENT, agent_id)
        queued = agents.load(WAKE_QUEUE, agent_id).queued
        if queued is None or queued.run_key != run_key:
            because = f"the wake {run_key} is not queued any more"
            raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
        given = replace(given, model=services.model_for(services.model_name(agent)).name)
        found = _captured(services, (journal, agents), agent, queued, given)
        template = templates.load(agents, agent.template) if agent.template else Template("")
        of = templates.whose(template.version, agents.replica if agents.is_shared else "")
        moved = moved_by(journal, agents, agent, given)
    command = replace(
        found.command, is_now=is_now, is_enabled=services.is_enabled, template=template.id,
        throttle_seconds=services.settings.agents.throttle, template_version=template.active,
        template_of=of, moved_by=moved,
    )  # fmt: skip
    return found._replace(command=command)


SessionOf = Callable[[str], str]


class ClientCapture(NamedTuple):
    """What a client is given: how its sections are called, see `seen_in`, and its session."""

    seen: str
    session: str
    command: BeginWake
    payloads: list[Payload]


def capture_for_client(
    services: Services, agent_id: str, given: PromptOptions, session_of: SessionOf
) -> ClientCapture:
    """What a client is given that reads an agent's task and proposes. `given`: with the words of
    the client, and who it is; `session_of`: by what it has seen. Raises as `shown`, and as
    `session_of` does."""
    with services.journal.reading() as journal, services.agents.reading() as agents:
        agent, worlds = agents.load(AGENT, agent_id), (journal, agents)
        read = _captured(services, worlds, agent, client_wake(agent_id, ""), given)
    session = session_of(seen := seen_in(read.command))
    # what is read does not hang on the session, which alone makes the key
    command = replace(read.command, run_key=client_wake(agent_id, session).run_key)
    return ClientCapture(seen, session, command, read.payloads)


def seen_in(command: BeginWake) -> str:
    """How what a client was shown is called: the same for the same sections of the same task, its
    own words left out."""
    shown = ((ref.name, ref.payload) for ref in command.user if ref.name != CLIENT)
    return key("seen", *(part for one in shown for part in one))


def _captured(
    services: Services, worlds: tuple[LogState, LogState], agent: Agent, queued: Queued,
    given: PromptOptions,
) -> Captured:  # fmt: skip
    """What of a wake is read from both logs, as they stand."""
    journal, agents = worlds
    positions, lines = (journal.n - 1, agents.n - 1), partial(lines_of, services)
    prompt, seen = given_to(journal, agents, agent, queued, given, positions[0], lines)
    kept = payload(agent.unit, canonical.encode(seen))
    payloads = [kept]
    command = BeginWake(
        agent=agent.id, run_key=queued.run_key, model=given.model, scaffold=given.scaffold,
        journal_position=positions[0], agent_position=positions[1], snapshot=kept.id,
        system=_kept(agent.unit, prompt.system, payloads),
        user=_kept(agent.unit, prompt.user, payloads),
        ttl_days=services.settings.agents.expire_after_days,
        prompt_max_bytes=given.prompt_max_bytes,
        journal_digest=services.journal.digest_at(positions[0]), local=given.local,
        has_secret=is_leaving(given.model),  # it could be had
        seen=services.journal.horizon(positions[0]),
        agent_kind=agent.agent_kind if given.features.names_kind else "",
    )  # fmt: skip
    return Captured(command, payloads)


def heeds(services: Services, agent_id: str) -> bool:
    """Whether the queued wake of an agent need not ask where nothing moved."""
    with services.agents.reading() as world:
        queued = world.load(WAKE_QUEUE, agent_id).queued
        return queued is not None and heeds_moves(world.load(AGENT, agent_id), queued)


def unchanged(
    services: Services, agent_id: str, run_key: str, past: SkipWake | None = None
) -> SkipWake | None:
    """What ends a queued wake of timers that would be given what the wake before was, or hardly
    anything new of its template; None: it is to begin. `past`: one as it was recorded, told again
    in another world (a fork). Raises Refused as `model_for` does."""
    if not heeds(services, agent_id):
        return None
    with services.journal.reading() as journal, services.agents.reading() as agents:
        agent = agents.load(AGENT, agent_id)
        queued = agents.load(WAKE_QUEUE, agent_id).queued
        if queued is not None and is_too_few(agents, agent, queued):
            return SkipWake(agent_id, run_key, TOO_FEW_FACTS)
        if (last := last_completed(agents, agent)) is None:
            return None
        given = given_by(past) if past else given_now(services)
        skipped = SkipWake(
            agent_id, run_key, UNCHANGED, moved_by=moved_by(journal, agents, agent, given),
            journal_position=journal.n - 1, agent_position=agents.n - 1, scaffold=given.scaffold,
            model=past.model if past else services.model_for(services.model_name(agent)).name,
            local=given.local, journal_digest=services.journal.digest_at(journal.n - 1),
        )  # fmt: skip
    return skipped if is_same(last, skipped) else None


def given_now(services: Services) -> PromptOptions:
    """What a wake is given that begins now."""
    max_bytes = services.settings.prompt.max_bytes
    size = 0 if max_bytes == DEFAULTS.prompt_max_bytes else max_bytes
    local = local_time(services.clock.now(), services.settings.timezone)
    return PromptOptions(services.scaffold, size, local)


def _kept(
    unit: str, sections: Iterable[Section], payloads: list[Payload]
) -> tuple[SectionRef, ...]:
    refs: list[SectionRef] = []
    for section in sections:
        kept = payload(unit, section.text.encode())
        payloads.append(kept)
        refs.append(SectionRef(section.name, kept.id, section.units))
    return tuple(refs)


# ------------------------------------------------------------------ what a wake reads while it runs
# Reads of a wake: a look into both logs where they end, which changes nothing (ADR 42).


def answer_read(
    services: Services, wake: Wake, asked: ToolAsked
) -> tuple[ToolReturned, Sequence[Payload]]:
    """What a read is answered with, and the payload that this needs."""
    with services.journal.reading() as journal, services.agents.reading() as agents:
        found = lookups.read(asked, wake, journal, agents, partial(lines_of, services))
        positions = journal.n - 1, agents.n - 1
    message, kept = words(wake.unit, found.text)
    return lookups.returned(asked, found, message, *positions), kept


def lines_of(services: Services, journal: LogState) -> Mapping[str, SearchableTask]:
    """The living tasks; those are read anew that have rows since the last look."""
    kept = services.task_lines
    if not kept.n:
        return kept.of(journal)
    rows = (row for append in services.journal.came(kept.n) for row in append)
    return kept.of(journal, {row.entity for row in rows if row.of_kind == "task"})
