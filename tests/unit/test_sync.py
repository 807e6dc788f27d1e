"""Machines that meet in a folder: what is given and taken, what waits, what is told of the others,
how files become one, and which branch of a forked chain counts (ADR 72, 74)."""

import gzip
import random
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from adapters.store.recorder import numbered
from adapters.sync import segments
from adapters.sync.branches import abandoned_branches, fork_point, held_branches, without_branches
from adapters.sync.export import FILES_MAX, compact
from adapters.sync.manifest import (
    AbandonedBranch,
    Manifest,
    is_news,
    manifest_bytes,
    manifest_of,
    read_manifest,
)
from adapters.sync.scan import scan_folder
from adapters.sync.segments import SEGMENT_MAX_BYTES, decode_segment, is_small
from adapters.sync.sync_folder import MemorySyncFolder, SyncFolder
from adapters.sync.sync_home import SyncResult, replica_lines, sync_logs
from adapters.sync.sync_state import SyncState
from domain.append import envelope
from domain.errors import Refused
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"


def synced(log: Machine, shelf: SyncFolder, **how: object) -> SyncResult:
    return sync_logs([log], shelf, NOW, SyncState(), **how)  # type: ignore[arg-type]  # of its own


def met(shelf: SyncFolder, story: str, **known: Machine) -> tuple[Machine, ...]:
    """The machines of a story: `desk+home` adds a label there, `desk` brings and takes; `twin` is
    another desk."""
    for word in story.split():
        name, _, label = word.partition("+")
        one = known.setdefault(name, Machine("desk" if name == "twin" else name))
        if label:
            one.add(label)
        else:
            synced(one, shelf)
    return tuple(known.values())


def names(log: Machine) -> set[tuple[str, int]]:
    return {(one, numbered(rows[0].state).n) for one, chain in log.chains.items() for rows in chain}


def waits(log: Machine, shelf: SyncFolder) -> list[tuple[str, str, int]]:
    return [(one.replica, one.for_, one.n) for one in synced(log, shelf).report.waiting]


def test_machines_that_meet_hold_the_same_and_then_write_nothing_more() -> None:
    shelf = MemorySyncFolder()
    three = met(
        shelf, "desk+home desk laptop desk+work laptop+away laptop+later" + " desk laptop phone" * 2
    )
    held = dict(shelf.held)
    reports = [synced(one, shelf).report for one in three]
    assert len({one.digest for one in reports}) == 1
    assert reports[0].equal == ["laptop", "phone"]
    assert not any(one.took or one.gave or one.waiting or one.behind for one in reports)
    assert names(three[0]) == names(three[1]) == names(three[2])
    assert shelf.held == held


def test_an_append_waits_for_all_that_its_writer_knew() -> None:
    shelf, late, phone = MemorySyncFolder(), MemorySyncFolder(), Machine("phone")
    desk, _ = met(shelf, "desk+home desk laptop laptop+away laptop")
    late.held = {name: data for name, data in shelf.held.items() if "/journal-desk" not in name}
    assert waits(phone, late) == [("desk", "gap", 0), ("laptop", "gap", 2)]
    assert not phone.telling_heads()
    late.held |= shelf.held
    assert waits(phone, late) == []
    assert names(desk) <= names(phone)


def test_another_homes_folder_is_refused_and_stays_as_it_is() -> None:
    shelf = MemorySyncFolder()
    _, other = met(shelf, "desk+home other+elsewhere desk")
    before = dict(shelf.held)
    with pytest.raises(Refused) as refused:
        synced(other, shelf)
    assert refused.value.code == "another_home"
    assert (shelf.held, other.is_shared) == (before, False)


def test_a_folder_whose_files_came_by_half_is_not_taken_for_another_homes() -> None:
    shelf, late = MemorySyncFolder(), MemorySyncFolder()
    story = "desk+home desk laptop laptop+mine desk+work desk desk+away desk"
    _, laptop = met(shelf, story)
    late.held = {name: data for name, data in shelf.held.items() if "journal-desk-5" in name}
    assert waits(laptop, late) == [("desk", "gap", 3)]
    late.held = {"desk/have.json": shelf.held["desk/have.json"]}
    assert waits(laptop, late) == [("desk", "gap", 3)]


def test_a_home_that_lost_its_last_rows_is_told_before_it_takes_or_gives() -> None:
    shelf = MemorySyncFolder()
    _, twin = met(shelf, "desk+home twin+home desk+work desk")
    before = dict(shelf.held)
    with pytest.raises(Refused) as refused:
        synced(twin, shelf)
    assert refused.value.code == "forked_replica"
    twin.add("other work")
    with pytest.raises(Refused):
        synced(twin, shelf)
    assert shelf.held == before


def test_of_a_chain_with_two_branches_nothing_more_is_taken_and_others_go_on() -> None:
    shelf, other, both = MemorySyncFolder(), MemorySyncFolder(), MemorySyncFolder()
    story = (
        "desk+home twin+home desk laptop desk+work twin+other_work desk laptop+mine laptop phone"
    )
    _, twin, _, phone = met(shelf, story)
    synced(twin, other)
    both.held = {
        f"copy{nth}/{name.replace('/', ' ')}": data
        for nth, one in enumerate((shelf, other))
        for name, data in one.held.items()
    }
    for _ in range(2):
        assert waits(phone, both) == [("desk", "fork", phone.heads()["desk"].n)]


def test_what_is_held_back_waits() -> None:
    shelf, laptop = MemorySyncFolder(), Machine("laptop")
    met(shelf, "desk+home desk")
    report = synced(laptop, shelf, hold=["desk"]).report
    assert [(one.replica, one.for_) for one in report.waiting] == [("desk", "held")]
    assert not laptop.telling_heads()


def test_a_dry_run_tells_what_would_come_and_writes_nothing() -> None:
    shelf, laptop = MemorySyncFolder(), Machine("laptop")
    (desk,) = met(shelf, "desk+home")
    assert synced(desk, shelf, is_dry=True).report.gave == 3
    assert (shelf.held, desk.is_shared) == ({}, False)
    synced(desk, shelf)
    assert synced(laptop, shelf, is_dry=True).report.took == {"desk": 4}
    assert (laptop.chains, laptop.is_shared) == ({}, False)


class Unwritable(MemorySyncFolder):
    """A folder that may only be read."""

    def write(self, name: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")


def test_a_folder_that_may_only_be_read_is_taken_from_first() -> None:
    shelf, closed, laptop = MemorySyncFolder(), Unwritable(), Machine("laptop")
    met(shelf, "desk+home desk")
    closed.held = shelf.held
    with pytest.raises(Refused) as refused:
        synced(laptop, closed)
    assert refused.value.code == "read_only"
    assert "4 rows were taken" in refused.value.because
    assert ("desk", 1) in names(laptop)


def test_what_was_looked_at_once_is_not_opened_again() -> None:
    shelf = MemorySyncFolder()
    (desk,) = met(shelf, "desk+home desk")
    kept = synced(desk, shelf).kept
    opened: list[str] = []

    class Watched(MemorySyncFolder):
        def read(self, name: str) -> bytes | None:
            opened.append(name)
            return super().read(name)

    watched = Watched()
    watched.held = shelf.held
    sync_logs([desk], watched, NOW, kept)
    assert opened == ["desk/have.json"]


# ------------------------------------------------------------------------------------- what is told


LATER = "2026-03-01T13:01:30.000000Z"


def seen() -> tuple[MemorySyncFolder, Machine, Machine]:
    """A desk that two labels were added at since a laptop saw it."""
    shelf, desk, laptop = MemorySyncFolder(), Machine("desk"), Machine("laptop")
    desk.add("home")
    sync_logs([desk], shelf, NOW, SyncState("My desk"))
    sync_logs([laptop], shelf, LATER, SyncState("My laptop"))
    desk.add("work")
    desk.add("away")
    return shelf, desk, laptop


def test_who_is_behind_is_told_with_what_it_lacked_and_how_far_its_clock_is_ahead() -> None:
    shelf, desk, laptop = seen()
    did = sync_logs([desk], shelf, NOW, SyncState())
    (behind,) = did.report.behind
    assert (behind.replica, behind.label, behind.appends) == ("laptop", "My laptop", 2)
    assert (behind.seen_at, behind.clock_minutes) == (LATER, 61)
    assert did.kept.label == "My desk"  # of the folder, where the home lost it
    report = sync_logs([laptop], shelf, LATER, did.kept).report
    assert (report.took, report.equal) == ({"desk": 4}, ["desk"])
    assert (report.new, report.labels["desk"]) == ([], "My desk")


def test_machines_are_listed_with_what_is_known_of_each() -> None:
    shelf, desk, laptop = seen()

    def states(log: Machine) -> list[tuple[str, str, str | None]]:
        return [
            (one.replica, one.state, one.for_)
            for one in replica_lines([log], shelf, NOW, SyncState())
        ]

    assert states(laptop) == [("laptop", "equal", None), ("desk", "equal", None)]
    sync_logs([desk], shelf, NOW, SyncState())
    assert states(desk) == [("desk", "equal", None), ("laptop", "behind", None)]
    late = MemorySyncFolder()
    late.held = {name: data for name, data in shelf.held.items() if "desk-1-3-" not in name}
    assert [one.for_ for one in replica_lines([Machine("phone")], late, NOW, SyncState())] == [
        None,
        "gap",
        "gap",
    ]


def test_what_a_newer_version_wrote_waits_from_there_and_others_go_on() -> None:
    shelf, desk, laptop = seen()
    phone = Machine("phone")
    sync_logs([desk], shelf, NOW, SyncState())
    laptop.add("mine")
    sync_logs([laptop], shelf, NOW, SyncState())
    for name, data in list(shelf.held.items()):
        if name.startswith("desk/journal") and decode_segment(data).header.first > 1:
            shelf.held[name] = _of_tomorrow(data)
    waiting = sync_logs([phone], shelf, NOW, SyncState()).report.waiting
    assert ("desk", "newer", 3) in [(one.replica, one.for_, one.n) for one in waiting]
    assert "laptop" in phone.chains


def test_a_sign_of_life_is_due_twice_a_day() -> None:
    _, desk, _ = seen()
    have = manifest_of([desk], "desk", "", NOW)
    assert is_news(have, None)
    assert not is_news(replace(have, at="2026-03-01T23:59:59.000000Z"), have)
    assert is_news(replace(have, at="2026-03-02T00:00:00.000000Z"), have)
    assert is_news(replace(have, label="desk"), have)


def test_what_another_says_of_itself_counts_where_it_is_whole_and_its_own() -> None:
    _, desk, _ = seen()
    data = manifest_bytes(manifest_of([desk], "desk", "", NOW))
    assert isinstance(read_manifest(data, "desk"), Manifest)
    assert [read_manifest(one, "desk") for one in (None, b"", data[:-9], b"\xff", b"[]")] == [
        None
    ] * 5
    assert read_manifest(data, "laptop") is None
    assert read_manifest(data.replace(NOW.encode(), b"yesterday"), "desk") is None


def _of_tomorrow(data: bytes) -> bytes:
    """The file, as a version with other rules would have written it."""
    header = decode_segment(data).header
    body = gzip.decompress(data).split(b"\n")[1:-2]
    return segments._file(replace(header, rules=9), body)[1]


# --------------------------------------------------------------------------- small files become one


Offered = set[tuple[str, str]]


class Cut(BaseException):
    """The process ends here."""


class CutShelf(MemorySyncFolder):
    """A folder that ends the process at one of its changes, before it or after."""

    def __init__(self, shelf: MemorySyncFolder, last: int) -> None:
        super().__init__()
        self.held, self._left = shelf.held, last

    def write(self, name: str, data: bytes) -> None:
        self._take()
        super().write(name, data)
        self._take()

    def remove(self, name: str) -> None:
        self._take()
        super().remove(name)
        self._take()

    def _take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Cut


def offered(shelf: MemorySyncFolder) -> Offered:
    """All appends that whole files offer, by replica and digest."""
    return {
        (found.header.replica, envelope.digest(one.rows))
        for name, data in shelf.held.items()
        if name.endswith(".gz")
        for found in [decode_segment(data, name)]
        for one in found.appends
    }


def files(shelf: MemorySyncFolder, writer: str, replica: str) -> list[str]:
    return sorted(name for name in shelf.held if name.startswith(f"{writer}/journal-{replica}-"))


def compacted(log: Machine, shelf: MemorySyncFolder, most: int = 3) -> None:
    compact(log, scan_folder(shelf, {}), shelf, log.replica, most=most)


def test_more_than_thirty_two_small_files_become_one_and_then_nothing_moves() -> None:
    shelf = MemorySyncFolder()
    (desk,) = met(shelf, " ".join(f"desk+{nth} desk" for nth in range(FILES_MAX + 1)))
    before = offered(shelf)
    assert len(files(shelf, "desk", "desk")) == FILES_MAX + 1
    synced(desk, shelf)
    (one,) = files(shelf, "desk", "desk")
    assert offered(shelf) == before
    held = dict(shelf.held)
    for _ in range(3):
        synced(desk, shelf)
    assert shelf.held == held
    laptop = Machine("laptop")
    synced(laptop, shelf)
    assert one.rpartition("-")[2] == f"{laptop.heads()['desk'].digest}.jsonl.gz"
    assert not files(shelf, "laptop", "desk")


def test_what_was_carried_for_another_goes_once_that_one_offers_it() -> None:
    stick, shelf = MemorySyncFolder(), MemorySyncFolder()
    desk, laptop = met(stick, "desk+home desk laptop")
    met(shelf, "laptop phone", laptop=laptop)
    assert files(shelf, "laptop", "desk")
    # it does not give what the laptop offers
    met(shelf, "desk+work desk laptop", desk=desk, laptop=laptop)
    assert files(shelf, "laptop", "desk")
    shelf.held |= {name: data for name, data in stick.held.items() if name.startswith("desk/j")}
    before = offered(shelf)
    synced(laptop, shelf)
    assert not files(shelf, "laptop", "desk")
    assert offered(shelf) == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_compacted_and_cut_off_offers_what_it_did(seed: int) -> None:
    chance = random.Random(seed)
    shelf, other = MemorySyncFolder(), MemorySyncFolder()
    logs = [Machine(name) for name in ("desk", "laptop", "phone")]
    logs[0].add("begin")
    for one in logs:
        synced(one, shelf)
    for step in range(40):
        one = chance.choice(logs)
        if chance.random() < 0.6:
            one.add(f"label {step}")
        folder = other if chance.random() < 0.2 and other.held else shelf
        synced(one, folder)
        if chance.random() < 0.3:
            _copied(chance, shelf, other)
        before = offered(shelf)
        for last in range(chance.randrange(6)):
            _cut(one, shelf, last)
            assert offered(shelf) == before
        compacted(one, shelf)
        assert offered(shelf) == before
    _end(logs, shelf)


def _copied(chance: random.Random, shelf: MemorySyncFolder, other: MemorySyncFolder) -> None:
    """Some files come to the other folder by a stick."""
    for name in sorted(shelf.held):
        if chance.random() < 0.5:
            other.held[name] = shelf.held[name]


def _cut(one: Machine, shelf: MemorySyncFolder, last: int) -> None:
    try:
        compacted(one, CutShelf(shelf, last))
    except Cut:
        return


def _end(logs: Sequence[Machine], shelf: MemorySyncFolder) -> None:
    """Without new work it ends, and all hold and are offered the same."""
    for _ in range(8):
        before = dict(shelf.held)
        for one in logs:
            synced(one, shelf)
            compacted(one, shelf)
        if shelf.held == before:
            break
    else:
        raise AssertionError("it never ends")
    assert len({synced(one, shelf).report.digest for one in logs}) == 1
    joined = Machine("new")
    synced(joined, shelf)
    assert {name: one.digest for name, one in logs[0].telling_heads().items()} == {
        name: one.digest for name, one in joined.telling_heads().items()
    }


def test_files_of_a_chain_that_is_not_held_so_stay_as_they_are() -> None:
    shelf, other = MemorySyncFolder(), MemorySyncFolder()
    _, twin, laptop = met(shelf, "desk+home twin+home desk laptop")
    met(other, " ".join(f"twin+other_{nth} twin" for nth in range(5)), twin=twin)
    for name in files(other, "desk", "desk"):
        shelf.held[name.replace("desk/", "laptop/", 1)] = other.held[name]
    before = dict(shelf.held)
    compacted(laptop, shelf)
    assert shelf.held == before


def test_a_file_that_cannot_be_written_stops_nothing() -> None:
    shelf = MemorySyncFolder()
    (desk,) = met(shelf, " ".join(f"desk+{nth} desk" for nth in range(5)))

    class Full(MemorySyncFolder):
        def write(self, name: str, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    full = Full()
    full.held = before = dict(shelf.held)
    compacted(desk, full)
    assert full.held == before


def test_a_file_is_small_by_its_own_size_and_by_what_it_holds() -> None:
    shelf = MemorySyncFolder()
    met(shelf, "desk+x desk")
    (name,) = files(shelf, "desk", "desk")
    data = shelf.held[name]
    assert is_small(data)
    assert not is_small(data[:-4] + SEGMENT_MAX_BYTES.to_bytes(4, "little"))
    assert not is_small(bytes(SEGMENT_MAX_BYTES // 8) + data)


# ----------------------------------------------------------------------------------------- branches


def waiting(log: Machine, shelf: MemorySyncFolder) -> list[tuple[str, str]]:
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
        waiting(self.twin, other)
        waiting(self.phone, other)
        self.phone.add("mine")
        waiting(self.phone, other)
        for name in "work", "more", "most":
            self.desk.add(name)
        waiting(self.desk, self.folder)
        waiting(self.laptop, self.folder)
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
    assert waiting(fork.laptop, fork.folder) == [("desk", "fork"), ("phone", "fork")]
    assert {**fork.laptop.telling_heads()}.keys() == {"desk"}
    assert fork.laptop.heads()["desk"] == before["desk"]
    fork.rescued()
    waiting(fork.desk, fork.folder)
    assert waiting(fork.laptop, fork.folder) == [("phone", "fork")]
    assert fork.laptop.heads()["desk"] == fork.desk.heads()["desk"]
    assert "phone" not in fork.laptop.telling_heads()


def test_a_machine_that_holds_a_void_branch_is_told_to_rescue_it() -> None:
    fork = Fork()
    fork.rescued()
    before = dict(fork.folder.held)
    with pytest.raises(Refused) as refused:
        waiting(fork.phone, fork.folder)
    assert refused.value.code == "forked_replica"
    assert "was given up" in refused.value.because
    assert fork.folder.held == before


def test_the_writer_takes_its_dead_files_away_and_others_tell_on_what_is_void() -> None:
    fork = Fork()
    dead = {name for name in fork.folder.held if name.startswith("desk/journal")}
    fork.rescued()
    waiting(fork.desk, fork.folder)
    living = {name for name in fork.folder.held if name.startswith("desk/journal")}
    assert len(dead - living) == 1
    waiting(fork.laptop, fork.folder)
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
    waiting(third, other)
    found = {f"desk/{nth}{name[5:]}": data for nth, name in enumerate(other.held)
             for data in [other.held[name]] if name.endswith(".gz")}  # fmt: skip
    fork.folder.held |= found
    assert fork_point(fork.twin, fork.folder, scan_folder(fork.folder, {})) == 3
    assert fork_point(fork.desk, fork.folder, scan_folder(fork.folder, {})) == 2
    assert fork_point(fork.laptop, fork.folder, scan_folder(fork.folder, {})) is None
