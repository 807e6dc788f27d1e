"""Small files become one, relayed ones go, and no row is ever missing from the folder."""

import random
from collections.abc import Sequence

import pytest

from adapters.sync.export import FILES_MAX, compact
from adapters.sync.scan import scan_folder
from adapters.sync.segments import SEGMENT_MAX_BYTES, decode_segment, is_small
from adapters.sync.sync_folder import MemorySyncFolder, SyncFolder
from adapters.sync.sync_home import SyncResult, sync_logs
from adapters.sync.sync_state import SyncState
from domain.append import envelope
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"
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


def synced(log: Machine, shelf: SyncFolder) -> SyncResult:
    return sync_logs([log], shelf, NOW, SyncState())


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
    desk = Machine("desk")
    for nth in range(FILES_MAX + 1):
        desk.add(f"label {nth}")
        synced(desk, shelf)
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
    desk, laptop, phone = Machine("desk"), Machine("laptop"), Machine("phone")
    desk.add("home")
    synced(desk, stick)
    synced(laptop, stick)
    synced(laptop, shelf)
    synced(phone, shelf)
    assert files(shelf, "laptop", "desk")
    desk.add("work")
    synced(desk, shelf)  # it does not give what the laptop offers
    synced(laptop, shelf)
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
    desk, twin, laptop = Machine("desk"), Machine("desk"), Machine("laptop")
    for one in desk, twin:
        one.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    for nth in range(5):
        twin.add(f"other {nth}")
        synced(twin, other)
    for name in files(other, "desk", "desk"):
        shelf.held[name.replace("desk/", "laptop/", 1)] = other.held[name]
    before = dict(shelf.held)
    compacted(laptop, shelf)
    assert shelf.held == before


def test_a_file_that_cannot_be_written_stops_nothing() -> None:
    shelf = MemorySyncFolder()
    desk = Machine("desk")
    for nth in range(5):
        desk.add(f"label {nth}")
        synced(desk, shelf)

    class Full(MemorySyncFolder):
        def write(self, name: str, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    full = Full()
    full.held = before = dict(shelf.held)
    compacted(desk, full)
    assert full.held == before


def test_a_file_is_small_by_its_own_size_and_by_what_it_holds() -> None:
    desk = Machine("desk")
    shelf = MemorySyncFolder()
    desk.add("x")
    synced(desk, shelf)
    (name,) = files(shelf, "desk", "desk")
    data = shelf.held[name]
    assert is_small(data)
    assert not is_small(data[:-4] + SEGMENT_MAX_BYTES.to_bytes(4, "little"))
    assert not is_small(bytes(SEGMENT_MAX_BYTES // 8) + data)
