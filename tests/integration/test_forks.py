"""Forks of a home of several machines: of the moment of a wake a fork holds what its machine knew
then, and no more, wherever it is made (ADR 75). And the folder of forks as it may be left."""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
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
from adapters.usecases import forks
from adapters.web.site import Site
from domain.agent.agent import AGENT
from domain.changes.change_set import CHANGES
from domain.errors import Refused
from domain.wake.wake import WAKE, WakeStarted
from replay.fork import ChangedVerdict
from replay.world_at import LogMoment
from tests.support.cli import done, proved
from tests.support.machines import Machine, pair

FLIGHT = "Book the flight by Friday"
VAN = "Wash the van by 2027-02-01"


def begun(past: Past) -> Iterator[tuple[str, str, int]]:
    """The run key of each wake that began, its machine, and the append by which it did."""
    for stream in sorted(past.agents.log.streams_of(WAKE.name)):
        for row in past.agents.rows_of(stream):
            if isinstance(row.fact, WakeStarted):
                yield row.entity, row.replica, row.n


def forked(at: Services, folder: Path) -> dict[tuple[str, str], str]:
    """Every second wake forked with nothing otherwise: it is asked what it was asked first, and
    the fork proves. Where each of them stopped."""
    past, stopped = Past(at.journal, at.agents), dict[tuple[str, str], str]()
    for run_key, replica, n in islice(begun(past), None, None, 2):
        spot = past.run(run_key, replica, n)
        branch = Branch(past, run_key, replica, Settings())
        made = asyncio.run(branch.make(folder / f"{replica}-{n}", spot, ForkChanges(), None))
        was = past.agents.world(n, replica).load(WAKE, run_key).begun
        there = made.agents.world_at(made.agents.tail().n, replica).load(WAKE, made.run_key).begun
        assert was is not None
        assert there is not None
        assert (there.system, there.user) == (was.system, was.user)
        assert prove_logs(made.journal, made.agents).divergences == ()
        stopped[run_key, replica] = made.stopped
        made.close()
    return stopped


def test_a_fork_with_nothing_otherwise_asks_what_was_asked_on_every_machine(
    tmp_path: Path,
) -> None:
    fleet = FleetEpisode(3)
    assert fleet.run(plan("b", 200)).faults == ()
    found = [
        forked(one.services, tmp_path / str(nth)) for nth, one in enumerate(fleet.machines[:2])
    ]
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
                found = asyncio.run(branch.make(to, spot, wanted, RulesModel()))
                assert prove_logs(found.journal, found.agents).divergences == ()
                found.close()
                made += 1
    return made


def test_another_verdict_whoever_gave_the_first_makes_a_fork_that_proves(tmp_path: Path) -> None:
    fleet = FleetEpisode(3)
    assert fleet.run(plan("b", 250)).faults == ()
    counts = [decided(one.services, tmp_path / str(nth)) for nth, one in enumerate(fleet.machines)]
    assert sum(counts) > 10


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """Each has changed the flight without knowing of the other; then the laptop woke its agent."""
    desk, laptop = both = pair(tmp_path)
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


# ------------------------------------------------------------------------------ the folder of forks


ABOUT = json.dumps({"run_key": "run1", "forked_run_key": "run2", "made_at": "2026-01-01T00:00:00Z"})


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "fork.json").write_text(ABOUT, encoding="utf-8")
    (folder / "journal.db").write_bytes(b"a log")
    return folder


def test_what_is_no_fork_is_not_listed_and_stays(tmp_path: Path) -> None:
    kept = tmp_path / "forks"
    strange = ("run1-0", "RUN1-1", "..-1", "run1-1 ", "run1", "-1", "run1-123456", "\u202erun-1")
    for name in strange:
        made(kept / name)
    (kept / "half-1").mkdir()
    made(kept / "torn-1").joinpath("fork.json").write_text(ABOUT[:40], encoding="utf-8")
    made(kept / "bytes-1").joinpath("fork.json").write_bytes(b"\xff\x00")
    os.mkfifo(kept / "half-1" / "fork.json")
    (kept / "file-1").write_text(ABOUT, encoding="utf-8")
    made(kept / "run1-1")
    there = sorted(one.name for one in kept.iterdir())
    assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    for name in (*strange, "half-1", "torn-1", "bytes-1", "file-1", "../forks/run1-1", "", "."):
        with pytest.raises(Refused, match="there is no fork"):
            forks.delete_fork(tmp_path, name)
    assert sorted(one.name for one in kept.iterdir()) == there


def test_what_was_left_half_goes_as_the_page_begins_unless_one_is_being_made(
    tmp_path: Path,
) -> None:
    forks.remove_unfinished(tmp_path)
    assert not (tmp_path / "forks").exists()
    kept = made(tmp_path / "forks" / "run1-1").parent
    for name in (".run1-2.making", ".run1-3.going"):
        made(kept / name)
    assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    with forks.new_fork(tmp_path, "run4", "", is_alone=False) as (_, making):
        made(making)
        forks.remove_unfinished(tmp_path)
        made(kept / ".run1-2.making")
        assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    assert sorted(one.name for one in kept.iterdir()) == [".run1-2.making", "run1-1", "run4-1"]
    Site(tmp_path, {}).close()
    assert sorted(one.name for one in kept.iterdir()) == ["run1-1", "run4-1"]


def test_of_a_link_the_link_is_deleted_and_nothing_behind_it(tmp_path: Path) -> None:
    behind = made(tmp_path / "elsewhere")
    kept = made(tmp_path / "forks" / "run1-1").parent
    (kept / "run1-2").symlink_to(behind)
    forks.delete_fork(tmp_path, "run1-2")
    assert sorted(one.name for one in kept.iterdir()) == ["run1-1"]
    assert (behind / "journal.db").read_bytes() == b"a log"
    (kept / "run1-1" / "link").symlink_to(behind)
    (kept / ".run1-1.going").write_text("in the way", encoding="utf-8")
    (kept / ".run1-9.making").symlink_to(behind)
    forks.delete_fork(tmp_path, "run1-1")
    assert (list(kept.iterdir()), len(list(behind.iterdir()))) == ([], 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="the system refuses root nothing")
def test_a_folder_that_cannot_be_changed_is_told_in_one_line(tmp_path: Path) -> None:
    kept = made(tmp_path / "forks" / "run1-1").parent
    kept.chmod(0o500)
    with pytest.raises(Refused, match="cannot be used: Permission"):
        forks.delete_fork(tmp_path, "run1-1")
    kept.chmod(0o700)
    assert (kept / "run1-1" / "journal.db").exists()
