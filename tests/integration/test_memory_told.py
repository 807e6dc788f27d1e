"""`wakelog memory`: what a person is told of what an agent remembers, now and then."""

import msgspec
import pytest

from adapters.documents.agents import DigestSources, memory_document, memory_short, sources_document
from adapters.documents.timetravel import at_document
from adapters.runtime.services import Services
from adapters.text.agent import memory_lines, sources_lines
from adapters.text.timetravel import at_lines
from adapters.usecases.time_travel import find_moment
from adapters.wiring import Home
from domain.errors import Refused
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import services, task_with_agent

WIDE = "wide " * 60


def noted(at: Services, agent: str, wakes: int) -> None:
    for nth in range(wakes):
        notes = [{"text": f"{nth}.{one} {WIDE}"} for one in range(19)]
        open_one = {"text": f"{nth} hurts", "priority": "critical", "category": "grievance"}
        woken(at, agent, *ended(call("record_observations", observations=[*notes, open_one])))


@pytest.fixture(scope="module")
def lived() -> tuple[Home, str, int]:
    """An agent of 200 notes, and the end of its log when it had 60."""
    at = services()
    _, agent = task_with_agent(at)
    noted(at, agent, 3)
    early = at.agents.tail().n
    noted(at, agent, 7)
    home = Home.in_memory(at)
    home.views.catch_up()
    return home, agent, early


def test_a_page_is_given_what_is_bounded_and_the_newest_critical_first(
    lived: tuple[Home, str, int],
) -> None:
    home, agent, _ = lived
    whole, short = memory_document(home, agent), memory_short(home, agent)
    assert short.digests == [one for one in whole.digests if one.parent is None]
    assert len(short.digests) < len(whole.digests)
    assert (short.noted, short.uncovered) == (whole.noted, len(whole.uncovered))
    assert short.critical == whole.critical[::-1]


def test_each_digest_is_told_with_its_parent_and_what_it_was_made_of(
    lived: tuple[Home, str, int],
) -> None:
    home, agent, _ = lived
    document = memory_document(home, agent)
    assert document.noted == 200
    top = [one for one in document.digests if one.parent is None]
    assert sum(one.notes for one in top) + len(document.uncovered) == 200
    assert len(document.critical) == 10
    (second,) = [one for one in document.digests if one.depth == 2]
    made_of = sources_document(home, agent, second.id[:8])
    assert [one.id for one in made_of.digests] == second.sources
    assert {one.parent for one in made_of.digests} == {second.id}
    notes = sources_document(home, agent, second.sources[0]).observations
    assert [one.position for one in notes] == made_of.digests[0].sources
    assert notes[0].text.startswith("0.0 wide")
    for one in (document, made_of):
        assert msgspec.convert(msgspec.to_builtins(one), type(one)) == one
    assert isinstance(made_of, DigestSources)


def test_lines_fit_a_narrow_terminal_and_tell_what_is_where(lived: tuple[Home, str, int]) -> None:
    home, agent, _ = lived
    document = memory_document(home, agent)
    lines = list(memory_lines(document, "Europe/Berlin"))
    digest = next(one for one in document.digests if one.depth == 2)
    lines += sources_lines(sources_document(home, agent, digest.id), "Europe/Berlin")
    lines += sources_lines(sources_document(home, agent, digest.sources[0]), "Europe/Berlin")
    assert max(map(len, lines)) <= 80
    assert f"{digest.id[:8]}  2027-01-01 to 2027-01-01  80 notes of 4 digests" in lines
    assert {"Not in a digest", "Critical and not settled", "It was made of"} <= set(lines)


def test_the_memory_of_then_is_told(lived: tuple[Home, str, int]) -> None:
    home, agent, early = lived
    then = memory_document(home, agent, find_moment(home, f"agent:{early}"))
    now = memory_document(home, agent)
    assert (then.noted, len(then.digests), len(then.uncovered)) == (60, 1, 40)
    assert then.digests[0].text == now.digests[0].text
    assert (then.digests[0].parent is None, now.digests[0].parent is None) == (True, False)


def test_at_shows_the_same_memory_as_then(lived: tuple[Home, str, int]) -> None:
    home, agent, early = lived
    for where in (f"agent:{early}", f"agent:{home.services.agents.tail().n}"):
        then = memory_document(home, agent, find_moment(home, where))
        world = at_document(find_moment(home, where), None)
        (known,) = world.agents
        top = [(one.id, one.notes, one.text) for one in then.digests if one.parent is None]
        assert [(one.id, one.notes, one.text) for one in known.digests] == top
        assert [one.text for one in known.uncovered] == [one.text for one in then.uncovered]
        page = "\n".join(at_lines(world, "UTC"))
        assert page.count("20 notes in a digest") == sum(one.depth == 1 for one in known.digests)
        assert page.count("  routine: ") + page.count("  critical: ") == len(then.uncovered)


def test_who_noted_nothing_is_told_so_and_no_digest_is_guessed(
    lived: tuple[Home, str, int],
) -> None:
    home, agent, _ = lived
    _, other = task_with_agent(home.services, "Mend the roof")
    home.views.catch_up()
    (line,) = memory_lines(memory_document(home, other), "UTC")
    assert line == "Mend the roof: nothing noted yet. Agents note things when they wake."
    for wanted, code in (("", "unknown_digest"), ("zzzz", "unknown_digest")):
        with pytest.raises(Refused) as refused:
            sources_document(home, agent, wanted)
        assert refused.value.code == code
