"""A read of a wake made once more, at the positions that it was recorded with (ADR 42)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from domain.log.keys import payload_id
from domain.log.state import LogState
from domain.log.wire import PayloadId
from domain.tools import registry
from domain.wake import lookups
from domain.wake.lookups import LookupAnswer, LookupLines
from domain.wake.machine import ticket
from domain.wake.wake import WAKE, ToolAsked, ToolReturned
from replay.divergence import CHANGED, PROMPT, RowDifference


class ReadAgain(NamedTuple):
    """What a read was answered with, and what it is answered with today; `unit`: of its text."""

    fact: ToolReturned
    today: LookupAnswer
    unit: str


class ReadIntent(NamedTuple):
    """An intent, and the append of the agent log that holds it."""

    n: int
    fact: ToolAsked


def is_read(fact: object) -> bool:
    """Whether a fact is the answer to a read: it says where it was made, or its tool only reads."""
    return isinstance(fact, ToolReturned) and bool(
        fact.agent_position or (fact.attempt and registry.is_read(fact.tool))
    )


def read_intent(run_key: str, fact: ToolReturned, agents: LogState) -> ReadIntent | None:
    """What asks for what a fact answers; None: nothing does so far."""
    for row in agents.history("wake", run_key):
        if isinstance(row.fact, ToolAsked) and ticket(row.fact) == ticket(fact):
            return ReadIntent(row.n, row.fact)
    return None


def misplaced_read(asked: ReadIntent, fact: ToolReturned, n: int) -> Iterator[RowDifference]:
    """A read that is not said to be made after it was asked for, and before append n answers it."""
    if not asked.n <= fact.agent_position < n:
        path = f"turn {fact.turn}.{fact.tool}.agentPosition"
        yield RowDifference(0, CHANGED, path, f"{asked.n} to {n - 1}", str(fact.agent_position))


def read_again(
    run_key: str, fact: ToolReturned, journal: LogState, agents: LogState, lines: LookupLines
) -> ReadAgain | None:
    """A read of a wake, answered with `fact`, as today's code makes it from both logs where it was
    made; None where nothing asked for it. `lines`: gives the living tasks of the journal."""
    wake = agents.load(WAKE, run_key)
    asked = read_intent(run_key, fact, agents)
    if asked is None:
        return None
    return ReadAgain(fact, lookups.read(asked.fact, wake, journal, agents, lines), wake.unit)


def read_differences(
    again: ReadAgain, payload: Callable[[PayloadId], bytes | None]
) -> Iterator[RowDifference]:
    """What a read is answered with otherwise."""
    fact, today = again.fact, again.today
    path = f"turn {fact.turn}.{fact.tool}"
    if today.code != fact.code:
        yield RowDifference(0, CHANGED, f"{path}.code", today.code, fact.code)
    data = today.text.encode()
    if not fact.message.payload:
        if fact.message.text != today.text:
            yield RowDifference(0, PROMPT, path, today.text, fact.message.text)
        return
    if payload_id(again.unit, data) != fact.message.payload:
        was = payload(fact.message.payload)
        if was is not None and was != data:  # else told where it is named
            yield RowDifference(0, PROMPT, path, today.text, was.decode("utf-8", "replace"))
