"""A wake is run again, a moment is stood in, two of them are compared; nothing is written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from msgspec import to_builtins

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
from adapters.documents.timetravel import (
    BisectDetails,
    BisectedWake,
    BisectProbe,
    PredicateDetails,
    around,
    names_of,
    prompt_again,
    steps_again,
    wake_seen,
)
from adapters.timetravel import predicates
from adapters.timetravel.bisection import first_since, world_after
from adapters.timetravel.place import Place, past_of
from domain.errors import Refused
from projections.wakes import VIEW
from replay.rerun import SectionAgain, Step

if TYPE_CHECKING:
    from adapters.timetravel.predicates import Predicate
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
    sections = prompt_again(past, wake.key, replica)
    return RunAgain(wake, sections, steps_again(past, wake.key, replica))


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


# ---------------------------------------------------------------------------------------- bisect


class Question(NamedTuple):
    """What shall hold of the world after a wake, and as the person asked it."""

    holds: "Predicate"
    asked: PredicateDetails


def question_of(**given: Sequence[str]) -> Question:
    """The one question that is asked: ``sql``, ``text`` or ``python``, once.

    Raises:
        Refused: There is none, there are more, or it cannot be asked.
    """
    named = [(kind, one) for kind, said in given.items() for one in said]
    if len(named) != 1:
        because = "one question is needed" if not named else "only one question can be asked"
        raise Refused("invalid_value", because=because, instead="give --sql, --text or --python")
    kind, said = named[0]
    makers = {
        "sql": predicates.sql, "text": predicates.text_in_report, "python": predicates.python,
    }  # fmt: skip
    return Question(makers[kind](said), PredicateDetails(kind, said))


def bisect_wakes(
    home: "Home", agent_id: str, question: Question, told: Callable[[int, BisectProbe], None]
) -> BisectDetails:
    """Find the wake of an agent since which something holds.

    Args:
        home: Its views caught up.
        agent_id: Whose wakes.
        question: What shall hold.
        told: Is told how many wakes there are, and of each that was looked at.
    """
    ended = _ended(home, agent_id)
    past, names, probes = past_of(home), names_of(home), list[BisectProbe]()

    def holds(nth: int) -> bool:
        wake = ended[nth - 1]
        world = world_after(past, wake, names)
        probes.append(BisectProbe(nth, wake.run_key, question.holds(to_builtins(world))))
        told(len(ended), probes[-1])
        return probes[-1].holds

    found = first_since(len(ended), holds)
    since, before = (_wake_line(ended, nth) for nth in (found, (found or len(ended) + 1) - 1))
    return BisectDetails(agent_id, question.asked, len(ended), since, before, probes)


def _ended(home: "Home", agent_id: str) -> "list[WakeDocument]":
    """The agent's wakes that began and ended, in the order of their ends."""
    page = home.views.page(VIEW, shelf=agent_id)
    found = [one for wake in page for one in wake.every if one.started_at]
    return sorted((one for one in found if one.ended_at), key=lambda one: (one.ended_at, one.place))


def _wake_line(ended: "Sequence[WakeDocument]", nth: int) -> BisectedWake | None:
    if not nth:
        return None
    wake = ended[nth - 1]
    return BisectedWake(nth, wake.run_key, wake.ended_at)
