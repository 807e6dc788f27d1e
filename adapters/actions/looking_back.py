"""A wake is run again, a moment is stood in, two of them are compared; nothing is written."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from adapters.actions.naming import pick_task
from adapters.actions.places import check_begun, find_anywhere, wake_named
from adapters.documents.diffs import (
    HomesDiff,
    WakesDiff,
    WorldsDiff,
    homes_document,
    wakes_diff,
    worlds_document,
)
from adapters.documents.timetravel import around, prompt_again, steps_again, wake_seen
from adapters.timetravel.place import Place, past_of
from domain.errors import Refused
from replay.rerun import SectionAgain, Step

if TYPE_CHECKING:
    from adapters.wiring import Home
    from projections.wakes import WakeDocument


class RunAgain(NamedTuple):
    """A wake on its recorded replies, with today's code; `steps` are made as they are asked for."""

    wake: "WakeDocument"
    sections: Sequence[SectionAgain]
    steps: Iterator[Step]


class Compared(NamedTuple):
    """Two moments, wakes or homes, and the document of `diff`."""

    a: Place
    b: Place
    document: WakesDiff | WorldsDiff | HomesDiff


def run_again(home: "Home", run: str) -> RunAgain:
    """Run a wake again: its prompt, and its steps one after the other.

    Raises:
        Refused: There is no such wake, or nothing happened in it.
    """
    wake = wake_named(home, run)
    check_begun(wake, "replay")
    past, replica = past_of(home), wake.replica
    sections = prompt_again(past, wake.run_key, replica)
    return RunAgain(wake, sections, steps_again(past, wake.run_key, replica))


def scope_of(place: Place, task: str, *, is_all: bool) -> Sequence[str] | None:
    """Which tasks are shown: the named one, else the wake's, with their links; None: all."""
    if task:
        return around(place, pick_task(place.home, task))
    if place.wake is None or is_all:
        return None
    own = place.wake.task_id or place.home.services.agent(place.wake.agent_id).task
    return around(place, own)


def compare(home: "Home", a: str, b: str, task: str = "") -> Compared:
    """Compare two wakes, two moments, or two homes.

    Args:
        home: Its views caught up.
        a: WHERE, a home's folder, or DIR::WHERE.
        b: The same.
        task: Only it and what it links to; empty: all.

    Raises:
        Refused: They cannot be compared, or are not there.
    """
    with ExitStack() as others:
        one, other = (_found(home, given, others) for given in (a, b))
        return Compared(one, other, _compared(one, other, task))


def _found(home: "Home", given: str, others: ExitStack) -> Place:
    place, is_other = find_anywhere(home, given)
    if is_other:
        others.callback(place.home.close)
    return place


def _compared(a: Place, b: Place, task: str) -> WakesDiff | WorldsDiff | HomesDiff:
    if a.is_home != b.is_home:
        because = "a home can be compared with a home, and a moment with a moment"
        raise Refused("invalid_value", because=because, instead="name two of a kind")
    if a.is_home:
        return homes_document(a, b)
    runs = [one for one in (a, b) if one.wake is not None and not one.spot.step]
    if len(runs) == 2 and not task:
        for one in runs:
            if one.wake is not None:
                check_begun(one.wake, "compare")
        sides = (wake_seen(one.past, one.spot.run_key, one.replica) for one in runs)
        return wakes_diff(*sides)
    return worlds_document(a, b, scope_of(a, task, is_all=not task))
