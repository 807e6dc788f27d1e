"""Forks in a home of several machines: of the moment of a wake a fork holds what its machine knew
then, and no more, wherever it is made (ADR 75)."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.home.settings import Settings
from adapters.models.rules.model import RulesModel
from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from adapters.simulation.fleet import FleetEpisode
from adapters.simulation.plan import plan
from adapters.timetravel.fork import Branch, ForkChanges
from adapters.timetravel.logs_at import Past
from domain.agent.agent import AGENT
from domain.changes.change_set import CHANGES
from domain.errors import Refused
from domain.wake.wake import WAKE, WakeStarted
from replay.fork import ChangedVerdict
from replay.world_at import LogMoment
from tests.support.cli import done, proved
from tests.support.machines import Machine

NAMES = "desk", "laptop"
FLIGHT = "Book the flight by Friday"
VAN = "Wash the van by 2027-02-01"


def begun(past: Past) -> Iterator[tuple[str, str, int]]:
    """The run key of each wake that began, its machine, and the append by which it did."""
    for stream in sorted(past.agents.log.streams_of(WAKE.name)):
        for row in past.agents.rows_of(stream):
            if isinstance(row.fact, WakeStarted):
                yield row.entity, row.replica, row.n


def forked(at: Services, folder: Path) -> dict[tuple[str, str], str]:
    """Each wake forked with nothing otherwise: it is asked what it was asked first, and the fork
    proves. Where each of them stopped."""
    past, stopped = Past(at.journal, at.agents), dict[tuple[str, str], str]()
    for run_key, replica, n in begun(past):
        spot = past.run(run_key, replica, n)
        branch = Branch(past, run_key, replica, Settings())
        made = branch.make(folder / f"{replica}-{n}", spot, ForkChanges(), None)
        was = past.agents.world(n, replica).load(WAKE, run_key).begun
        there = made.agents.world_at(made.agents.tail().n, replica).load(WAKE, made.run_key).begun
        assert was is not None
        assert there is not None
        assert (there.system, there.user) == (was.system, was.user)
        assert prove_logs(made.journal, made.agents).divergences == ()
        stopped[run_key, replica] = made.stopped
        made.close()
    return stopped


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["b", "e"])
def test_a_fork_with_nothing_otherwise_asks_what_was_asked_on_every_machine(
    seed: str, tmp_path: Path
) -> None:
    fleet = FleetEpisode(3)
    assert fleet.run(plan(seed, 200)).faults == ()
    found = [forked(one.services, tmp_path / str(nth)) for nth, one in enumerate(fleet.machines)]
    assert len({replica for _, replica in found[0]}) > 1
    assert all(one == found[0] for one in found)
    assert "" in found[0].values()


def otherwise(past: Past, agent: str, where: LogMoment, replica: str) -> list[ChangedVerdict]:
    """For each item of the agent that was decided then, the other verdict."""
    world = past.agents.world(where.agent, replica)
    items = [
        (one, item)
        for one in world.load(AGENT, agent).sets
        for item in world.load(CHANGES, one).items
    ]
    return [
        ChangedVerdict(one, item.number, "reject" if item.status == "confirmed" else "confirm")
        for one, item in items
        if item.status in ("confirmed", "rejected")
    ]


def decided(at: Services, folder: Path) -> int:
    """Each wake forked with one or two other verdicts, where they are possible; how many forks were
    made, which all prove."""
    past, made = Past(at.journal, at.agents), 0
    for run_key, replica, n in begun(past):
        spot = past.run(run_key, replica, n)
        wake = past.agents.world(n, replica).load(WAKE, run_key).begun
        assert wake is not None
        branch = Branch(past, run_key, replica, Settings())
        for verdict in otherwise(past, wake.agent, spot.where, replica)[:2]:
            wanted = ForkChanges("rules", verdicts=(verdict,))
            to = folder / f"{replica}-{n}-{verdict.changes}-{verdict.item}"
            with suppress(Refused):
                found = branch.make(to, spot, wanted, RulesModel())
                assert prove_logs(found.journal, found.agents).divergences == ()
                found.close()
                made += 1
    return made


@pytest.mark.slow
def test_another_verdict_whoever_gave_the_first_makes_a_fork_that_proves(tmp_path: Path) -> None:
    fleet = FleetEpisode(3)
    assert fleet.run(plan("b", 250)).faults == ()
    counts = [decided(one.services, tmp_path / str(nth)) for nth, one in enumerate(fleet.machines)]
    assert sum(counts) > 10


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """Each has changed the flight without knowing of the other; then the laptop woke its agent."""
    (tmp_path / "folder").mkdir()
    desk, laptop = both = [Machine(tmp_path / one, tmp_path / "folder") for one in NAMES]
    for title in FLIGHT, VAN:
        desk.said("task", "add", title)
    desk.said("agent", "create", "--all")
    desk.said("wake")
    for one in both:
        one.sync()
    desk.said("task", "set", "flight", "--title", "Book the train by Sunday")
    desk.said("confirm", "1.1")
    laptop.said("task", "note", "flight", "It takes 3 hours.")
    laptop.said("wake", "flight")
    for one in (*both, desk):
        one.sync()
    return both


def test_what_another_machine_said_and_the_wake_did_not_know_is_in_no_fork_of_it(
    both: list[Machine],
) -> None:
    for one in both:
        (run,) = [wake["run_key"] for wake in one.told("wakes") if wake["reason"] == "manual"]
        document = one.told("fork", run, "--model", "rules")
        assert [answer["how"] for answer in document["answers"]] == ["recorded"] * 2
        assert document["diff"]["same"]
        fork = Path(document["home"])
        assert proved(fork)
        assert "Book the train" not in done(["task", "list"], fork, env=one.more)


def test_a_proposal_of_another_machine_is_decided_otherwise_by_the_name_it_has_here(
    both: list[Machine],
) -> None:
    desk, laptop = both
    laptop.said("wake", "flight")  # knows that the desk has confirmed
    for one in (*both, desk):
        one.sync()
    for one, name in (desk, "1.1"), (laptop, "desk/1.1"):
        run = one.told("wakes")[0]["run_key"]
        document = one.told("fork", run, "--verdict", f"{name}=reject", "--model", "rules")
        assert "rejected" in str(document["diff"])
        assert proved(Path(document["home"]))
