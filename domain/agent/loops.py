"""The open loops that an agent keeps itself: beside the person's, of which it closes none."""

from collections.abc import Sequence
from typing import NamedTuple

from domain.agent.agent import Agent
from domain.agent.events import LoopClosed, LoopOpened
from domain.agent.limits import LOOPS_MAX
from domain.text import cut

OWN_LOOPS_MAX = 10
NAMED_MAX = 80  # characters of a loop, in a message


class Updated(NamedTuple):
    """What comes of an agent's wish: facts, and why the rest of it is not done, as codes and
    texts for the model."""

    facts: list[LoopOpened | LoopClosed]
    refused: list[tuple[str, str]]


def update(agent: Agent, add: Sequence[str], close: Sequence[str]) -> Updated:
    """Close loops, then open others, each as far as it may; texts are in one line."""
    by = f"agent:{agent.id}"
    version = agent.loops_version
    loops, own = list(agent.loops), list(agent.own_loops)
    done = Updated([], [])
    for loop in close:
        if code := _not_closed(loop, loops, own):
            done.refused.append((code, _WHY[code].format(_named(loop))))
            continue
        version += 1
        loops.remove(loop)
        own.remove(loop)
        done.facts.append(LoopClosed(version, loop, by))
    for loop in add:
        if code := _not_opened(loop, loops, own):
            done.refused.append((code, _WHY[code].format(_named(loop))))
            continue
        version += 1
        loops.append(loop)
        own.append(loop)
        done.facts.append(LoopOpened(version, loop, by))
    return done


_WHY = {
    "not_found": "There is no open loop {}.",
    "sovereignty": "The person keeps the loop {} open.",
    "redundant": "The loop {} is open already.",
    "limit": f"The loop {{}} is over the limit of {OWN_LOOPS_MAX} of yours, {LOOPS_MAX} in all.",
}


def _not_closed(loop: str, loops: Sequence[str], own: Sequence[str]) -> str:
    if loop not in loops:
        return "not_found"
    return "" if loop in own else "sovereignty"


def _not_opened(loop: str, loops: Sequence[str], own: Sequence[str]) -> str:
    if loop in loops:
        return "redundant"
    return "limit" if len(own) >= OWN_LOOPS_MAX or len(loops) >= LOOPS_MAX else ""


def _named(loop: str) -> str:
    return f'"{cut(loop, length_max=NAMED_MAX)}"'
