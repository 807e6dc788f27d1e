"""What an agent remembers, and what it may be shown of it once it is allowed less than before."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from domain.agent import memory as memories
from domain.agent.agent import Agent, AgentObservation, AgentObserved, observation
from domain.agent.memory import MEMORY, Memory, MemoryFolded, is_covered
from domain.changes.change_set import CHANGES
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Payload, words
from domain.policy.flow import may_enter
from domain.policy.scrub import scrub
from domain.scaffold import Features
from domain.wake.wake import WAKE

FOLDED_MAX = 32
"""Digests that one append makes; an agent of an older scaffold may have many notes to cover."""


def may_read(agents: LogState, agent: Agent) -> Callable[[str], bool]:
    """Tells of a wake, by its run key, whether the agent as it is now may read what it wrote."""

    @cache
    def may(run_key: str) -> bool:
        begun = [one.started for one in agents.load_all(WAKE, run_key) if one.started is not None]
        return bool(begun) and all(may_enter(one.categories, agent) for one in begun)

    return may


def with_readable_memory(agents: LogState, agent: Agent) -> Agent:
    """An agent without the report, observations and change sets of wakes that were allowed a
    category that it is not allowed now, and without the loops it opened. What a wake writes can
    hold no more than it was shown, so later ones are free of it. Wakes are looked up only where it
    was ever allowed more."""
    if may_enter(agent.categories_ever or (), agent):
        return agent
    may = may_read(agents, agent)

    def readable(observed: tuple[AgentObservation, ...]) -> tuple[AgentObservation, ...]:
        return tuple(one for one in observed if may(one.run_key))

    return replace(
        agent,
        loops=tuple(one for one in agent.loops if one not in agent.own_loops),
        report=agent.report if may(agent.report) else "",
        observations=readable(agent.observations),
        critical=readable(agent.critical),
        sets=tuple(one for one in agent.sets if may(agents.load(CHANGES, one).run_key)),
    )


# ------------------------------------------------------------------------------ notes and digests


def uncovered(agents: LogState, agent: Agent) -> Sequence[AgentObservation]:
    """The observations that no digest covers, oldest first. Where they are few, the agent's fold
    holds them; else the log is read from the first of them on."""
    memory = agents.load(MEMORY, agent.id)
    known = newest_uncovered(memory, agent)
    if len(known) == agent.noted - memory.count:
        return known
    ends = [n for n, replica, _ in memory.covered if replica == agents.replica]
    rows = (
        agents.history("agent", agent.id)
        if agents.is_merged
        else agents.recorded("agent", agent.id, max(ends, default=1) - 1)
    )
    notes = (observation(row.fact, row) for row in rows if isinstance(row.fact, AgentObserved))
    return [one for one in notes if not is_covered(memory, one.position)]


def newest_uncovered(memory: Memory, agent: Agent) -> list[AgentObservation]:
    """Of the newest observations, which the agent's fold holds, those that no digest covers."""
    return [one for one in agent.newest or () if not is_covered(memory, one.position)]


def readable_notes(agents: LogState, agent: Agent) -> Sequence[AgentObservation]:
    """The uncovered observations that the agent as it is now may read."""
    may = _may_read_notes(agents, agent)
    return [one for one in uncovered(agents, agent) if may(one.run_key)]


def readable_digests(agents: LogState, agent: Agent) -> Sequence[MemoryFolded]:
    """The digests whose words the agent as it is now may read, oldest first."""
    return [one for one in agents.load(MEMORY, agent.id).top if _may_hold(one, agent)]


def _may_read_notes(agents: LogState, agent: Agent) -> Callable[[str], bool]:
    if may_enter(agent.categories_ever or (), agent):
        return lambda _: True
    return may_read(agents, agent)


def _may_hold(digest: MemoryFolded, agent: Agent) -> bool:
    """Whether an agent may be shown a digest; one that holds nobody's words, anybody may."""
    return not digest.categories or may_enter(digest.categories, agent)


class FoldedNotes(NamedTuple):
    """The digests that one append makes, and the payloads of their words."""

    facts: list[MemoryFolded]
    payloads: list[Payload]


def fold_notes(
    agents: LogState, agent: Agent, unit: str, coming: int, features: Features
) -> FoldedNotes:
    """What becomes a digest as a wake ends, so that few enough notes are left uncovered. `coming`:
    how many notes the append brings, which are covered later; `unit`: whose texts are repeated;
    `features`: of the wake."""
    contract = memories.CONTRACT_WITH_WORDS if features.ranks_reads else memories.CONTRACT
    memory, made = agents.load(MEMORY, agent.id), FoldedNotes([], [])
    is_full = agent.noted - memory.count + coming > memories.UNCOVERED_MAX
    notes = uncovered(agents, agent) if is_full else ()
    for _ in range(FOLDED_MAX):
        if digests := memories.too_many(memory):
            fact, said = _of_digests(agents, agent, digests, contract)
        elif len(notes) + coming > memories.UNCOVERED_MAX and notes:
            part = memories.oldest(notes)
            notes = notes[len(part) :]
            fact, said = _of_notes(agents, agent, part, contract)
        else:
            break
        kept, payloads = words(unit, said)
        made.payloads.extend(payloads)
        agents.bring(payloads)
        made.facts.append(replace(fact, words=kept))
        memory = memories.evolve(memory, RecordedEvent("", 0, "", 0, 0, "", made.facts[-1]))
    return made


def _of_notes(
    agents: LogState, agent: Agent, notes: Sequence[AgentObservation], contract: int
) -> tuple[MemoryFolded, str]:
    may = _may_read_notes(agents, agent)
    seen = [one for one in notes if may(one.run_key)]
    wrote = {one.run_key for one in seen}
    started = [wake.started for one in sorted(wrote) for wake in agents.load_all(WAKE, one)]
    return memories.of_notes(
        agent.id,
        notes,
        [(one, scrub(agents.text(one.words)).text) for one in seen],
        [one.position for one in agent.critical],
        [category for one in started if one for category in one.categories],
        contract,
    )


def _of_digests(
    agents: LogState, agent: Agent, digests: Sequence[MemoryFolded], contract: int
) -> tuple[MemoryFolded, str]:
    seen = [one for one in digests if _may_hold(one, agent)]
    return memories.of_digests(
        agent.id,
        digests,
        [agents.text(one.words) for one in seen],
        [
            memories.line_of(one.at, one.priority, scrub(agents.text(one.words)).text)
            for one in agent.critical
        ],
        [category for one in seen for category in one.categories],
        contract,
    )
