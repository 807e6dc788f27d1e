"""Branches of a chain in a folder: who waits for what, and what is left out once one is void."""

import msgspec
import pytest

from adapters.sync.branches import abandoned_branches, fork_point, held_branches, without_branches
from adapters.sync.manifest import AbandonedBranch, Manifest, read_manifest
from adapters.sync.scan import scan_folder
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.append import envelope
from domain.errors import Refused
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"


def synced(log: Machine, shelf: MemorySyncFolder) -> list[tuple[str, str]]:
    """What waits, for what."""
    report = sync_logs([log], shelf, NOW, SyncState()).report
    return [(one.replica, one.for_) for one in report.waiting]


class Fork:
    """A desk and its twin. The laptop knows the desk, and the phone the twin; `folder` has all."""

    def __init__(self) -> None:
        self.folder, other = MemorySyncFolder(), MemorySyncFolder()
        self.desk, self.twin = Machine("desk"), Machine("desk")
        self.laptop, self.phone = Machine("laptop"), Machine("phone")
        for one in self.desk, self.twin:
            one.add("home")
        self.twin.add("other work")
        synced(self.twin, other)
        synced(self.phone, other)
        self.phone.add("mine")
        synced(self.phone, other)
        for name in "work", "more", "most":
            self.desk.add(name)
        synced(self.desk, self.folder)
        synced(self.laptop, self.folder)
        self.folder.held = {**other.held, **self.folder.held}

    def void(self) -> AbandonedBranch:
        """What the twin wrote."""
        digests = tuple(envelope.digest(rows) for rows in self.twin.appends_of("desk", 2))
        return AbandonedBranch("journal", "desk", 2, digests[-1], digests, "desk2")

    def rescued(self) -> None:
        """The rescued twin tells of it."""
        told = Manifest(1, "desk2", "", NOW, 1, 2, {}, {}, "", (self.void(),))
        self.folder.held["desk2/have.json"] = msgspec.json.encode(told)


def test_what_rests_on_another_branch_is_not_taken_before_or_after_it_is_void() -> None:
    fork = Fork()
    fork.desk.add("news")
    before = fork.laptop.heads()
    assert synced(fork.laptop, fork.folder) == [("desk", "fork"), ("phone", "fork")]
    assert {**fork.laptop.telling_heads()}.keys() == {"desk"}
    assert fork.laptop.heads()["desk"] == before["desk"]
    fork.rescued()
    synced(fork.desk, fork.folder)
    assert synced(fork.laptop, fork.folder) == [("phone", "fork")]
    assert fork.laptop.heads()["desk"] == fork.desk.heads()["desk"]
    assert "phone" not in fork.laptop.telling_heads()


def test_a_machine_that_holds_a_void_branch_is_told_to_rescue_it() -> None:
    fork = Fork()
    fork.rescued()
    before = dict(fork.folder.held)
    with pytest.raises(Refused) as refused:
        synced(fork.phone, fork.folder)
    assert refused.value.code == "forked_replica"
    assert "was given up" in refused.value.because
    assert fork.folder.held == before


def test_the_writer_takes_its_dead_files_away_and_others_tell_on_what_is_void() -> None:
    fork = Fork()
    dead = {name for name in fork.folder.held if name.startswith("desk/journal")}
    fork.rescued()
    synced(fork.desk, fork.folder)
    living = {name for name in fork.folder.held if name.startswith("desk/journal")}
    assert len(dead - living) == 1
    synced(fork.laptop, fork.folder)
    for writer in "desk", "laptop":
        have = read_manifest(fork.folder.held[f"{writer}/have.json"], writer)
        assert have is not None
        assert have.void == (fork.void(),)


def test_without_a_void_branch_nothing_is_left_out() -> None:
    fork = Fork()
    found = scan_folder(fork.folder, {})
    assert without_branches(found, abandoned_branches(found)) is found
    assert held_branches(fork.desk, ()) == []
    assert b"void" not in fork.folder.held["desk/have.json"]
    other = AbandonedBranch("agent", "desk", 2, "x", ("x",))
    unknown = AbandonedBranch("journal", "nobody", 0, "x", ("x",))
    assert held_branches(fork.twin, (other, unknown, fork.void())) == [fork.void()]
    assert held_branches(fork.desk, (fork.void(),)) == []


def test_of_several_other_branches_the_one_that_goes_with_the_own_one_longest_counts() -> None:
    """What is in that one is done there, and would be done twice."""
    fork, other = Fork(), MemorySyncFolder()
    third = Machine("desk")
    for name in "home", "other work", "third":
        third.add(name)
    synced(third, other)
    found = {f"desk/{nth}{name[5:]}": data for nth, name in enumerate(other.held)
             for data in [other.held[name]] if name.endswith(".gz")}  # fmt: skip
    fork.folder.held |= found
    assert fork_point(fork.twin, fork.folder, scan_folder(fork.folder, {})) == 3
    assert fork_point(fork.desk, fork.folder, scan_folder(fork.folder, {})) == 2
    assert fork_point(fork.laptop, fork.folder, scan_folder(fork.folder, {})) is None
