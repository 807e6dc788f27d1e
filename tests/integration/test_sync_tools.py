"""A folder as the tools that carry it, full disks and hands leave it: nothing is lost, doubled or
half taken. Whatever a sync is cut off at, the next one makes it whole."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.store.recorder import numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.sync_folder import ListedFile, LocalSyncFolder, MemorySyncFolder, SyncFolder
from adapters.sync.sync_home import SyncResult, sync_logs
from adapters.sync.sync_state import SyncState
from domain.errors import Refused
from domain.log.wire import SHARED, payload
from tests.support.disks import small_disk
from tests.support.process import ended, ran, read
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"


def synced(log: Machine, shelf: SyncFolder) -> SyncResult:
    return sync_logs([log], shelf, NOW, SyncState())


def rows(log: Machine) -> dict[tuple[str, int], int]:
    return {
        (one, numbered(append[0].state).n): hash(tuple(append))
        for one, chain in log.chains.items()
        for append in chain
    }


def desk_with(count: int) -> Machine:
    made = Machine("desk")
    for nth in range(count):
        made.add(f"label {nth}")
    return made


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/journal-*.gz"))


# ------------------------------------------------------------------------------ other tools' hands


def test_a_file_under_a_tools_own_name_is_not_there_until_it_is_renamed(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk = desk_with(3)
    synced(desk, shelf)
    (whole,) = segments(tmp_path)
    names = f".syncthing.{whole.name}.tmp", f"~syncthing~{whole.name}.tmp", "x.gz.part"
    for nth, name in enumerate(names):
        waits = whole.rename(whole.with_name(name))
        laptop = Machine(f"laptop{nth}")
        assert ("desk", "gap") in [
            (one.replica, one.for_) for one in synced(laptop, shelf).report.waiting
        ]
        assert "desk" not in laptop.chains
        waits.rename(whole)
        assert synced(laptop, shelf).report.took["desk"] == 8


def test_a_conflicted_copy_alone_and_beside_the_file_is_taken_once(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk = desk_with(3)
    synced(desk, shelf)
    (whole,) = segments(tmp_path)
    copy = whole.with_name(f"{whole.stem} (conflicted copy 2026-03-01).gz")
    copy.write_bytes(whole.read_bytes())
    (tmp_path / "desk" / "have (conflicted copy).json").write_text("{}")
    beside, alone = Machine("laptop"), Machine("phone")
    assert synced(beside, shelf).report.took == {"desk": 8}
    whole.unlink()
    assert synced(alone, shelf).report.took["desk"] == 8
    assert [one for one in rows(alone) if one[0] == "desk"] == [
        one for one in rows(beside) if one[0] == "desk"
    ]
    assert synced(desk, shelf).report.gave == 0  # the copy offers it


@pytest.mark.parametrize("what", ["empty", "sparse", "cut", "head alone", "a folder", "closed"])
def test_a_placeholder_waits_until_the_file_is_there(tmp_path: Path, what: str) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop = desk_with(3), Machine("laptop")
    synced(desk, shelf)
    (whole,) = segments(tmp_path)
    data = whole.read_bytes()
    held = {"empty": b"", "sparse": bytes(len(data)), "cut": data[: len(data) // 2]}
    held["head alone"] = data[:64] + bytes(len(data))
    whole.unlink()
    if what == "a folder":
        whole.mkdir()
    elif what == "closed":
        whole.symlink_to("nowhere")
    else:
        whole.write_bytes(held[what])
    did = synced(laptop, shelf)
    assert [(one.replica, one.n) for one in did.report.waiting] == [("desk", 0)]
    assert "desk" not in laptop.chains
    if what == "a folder":
        whole.rmdir()
    else:
        whole.unlink()
    whole.write_bytes(data)
    assert sync_logs([laptop], shelf, NOW, did.kept).report.took == {"desk": 8}


def test_a_file_that_became_a_placeholder_after_it_was_read_is_harmless(tmp_path: Path) -> None:
    """A cloud takes content away, and leaves name, size and time."""
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop, phone = desk_with(3), Machine("laptop"), Machine("phone")
    synced(desk, shelf)
    (whole,) = segments(tmp_path)
    kept = sync_logs([phone], shelf, NOW, SyncState(), is_dry=True).kept
    about, size = whole.stat(), whole.stat().st_size
    whole.write_bytes(b"")
    os.truncate(whole, size)
    os.utime(whole, ns=(about.st_atime_ns, about.st_mtime_ns))
    (waits,) = sync_logs([phone], shelf, NOW, kept).report.waiting
    assert (waits.for_, "desk" in phone.chains) == ("gap", False)
    assert synced(laptop, shelf).report.skipped == 1
    synced(desk, shelf)  # its own look at it finds it broken, and gives it again
    assert synced(laptop, shelf).report.took == {"desk": 8}


def test_files_that_were_deleted_are_given_again_by_who_holds_them(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop = desk_with(3), Machine("laptop")
    for one in desk, laptop, desk:
        kept = synced(one, shelf).kept
    before = {one.name: one.read_bytes() for one in segments(tmp_path)}
    for path in segments(tmp_path):
        path.unlink()
    sync_logs([desk], shelf, NOW, kept)  # the laptop's rows, too
    assert {one.parent.name for one in segments(tmp_path)} == {"desk"}
    assert {one.name: one.read_bytes() for one in segments(tmp_path)} == before
    phone = Machine("phone")
    synced(phone, shelf)
    assert rows(phone).items() >= rows(desk).items()


def test_what_a_writer_left_unfinished_it_takes_away_itself(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop = desk_with(3), Machine("laptop")
    for one in desk, laptop:
        synced(one, shelf)
    left = [tmp_path / one / "journal-desk-9-9-x.jsonl.gz.part" for one in ("desk", "laptop")]
    for path in left:
        path.write_bytes(b"half")
    synced(desk, shelf)
    assert [path.exists() for path in left] == [False, True]
    synced(laptop, shelf)
    assert not left[1].exists()


# ----------------------------------------------------------------------------------- disks


@pytest.mark.slow
def test_a_folder_that_may_only_be_read_is_taken_from_by_the_command(tmp_path: Path) -> None:
    folder, desk, laptop = tmp_path / "folder", tmp_path / "desk", tmp_path / "laptop"
    folder.mkdir()
    ran(desk, "task", "add", "Buy milk")
    ran(desk, "sync", str(folder))
    with small_disk(tmp_path / "disk", 1) as disk:
        ran(desk, "sync", str(disk))
        os.system(f"mount -o remount,ro {disk}")
        done = ended(laptop, "sync", str(disk))
        assert (done.returncode, "[read_only]" in done.stderr) == (2, True), done.stderr
        assert [one["title"] for one in read(laptop, "task", "list")] == ["Buy milk"]
        again = ended(laptop, "sync", str(disk))
        assert "0 rows were taken" in again.stderr
    assert read(laptop, "sync", str(folder))["gave"] > 0
    assert read(laptop, "prove")["ok"]


@pytest.mark.slow
def test_a_full_folder_takes_nothing_half_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    desk, laptop = tmp_path / "desk", tmp_path / "laptop"
    ran(desk, "task", "add", "Buy milk")
    with small_disk(tmp_path / "disk", 1) as disk:
        filling = disk / "filling"
        filling.write_bytes(b"")
        with suppress(OSError), filling.open("ab", buffering=0) as file:
            while file.write(bytes(4096)):  # until it is full
                pass
        done = ended(desk, "sync", str(disk))
        assert (done.returncode, "[read_only]" in done.stderr) == (2, True), done.stderr
        assert [one for one in disk.glob("*/*") if one.stat().st_size] == []
        filling.unlink()
        assert read(desk, "sync", str(disk))["gave"] > 0
        assert read(laptop, "sync", str(disk))["took"]
        assert [one.name for one in disk.glob("*/*.part")] == []


# ----------------------------------------------------------------------------- cut at each step


class Cut(BaseException):
    """The process ends here."""


class Steps:
    """Counts steps, and ends at one."""

    def __init__(self, last: int) -> None:
        self.left = last

    def take(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cut


class CutShelf(MemorySyncFolder):
    """A folder in whose every call, before and after, a process may end."""

    def __init__(self, shelf: MemorySyncFolder, steps: Steps) -> None:
        super().__init__()
        self.held, self._steps = shelf.held, steps

    def files(self) -> Sequence[ListedFile]:
        self._steps.take()
        return super().files()

    def read(self, name: str) -> bytes | None:
        self._steps.take()
        return super().read(name)

    def write(self, name: str, data: bytes) -> None:
        self._steps.take()
        super().write(name, data)
        self._steps.take()

    def remove(self, name: str) -> None:
        self._steps.take()
        super().remove(name)
        self._steps.take()


class CutMachine(Machine):
    """A log whose every transaction, before and after, a process may end."""

    steps = Steps(10**9)

    def share(self, now: str) -> None:
        self.steps.take()
        super().share(now)
        self.steps.take()

    def bring(self, appends: Sequence[RemoteAppend], now: str) -> int:
        self.steps.take()
        count = super().bring(appends, now)
        self.steps.take()
        return count


def cut_at(last: int) -> tuple[bool, list[Machine], MemorySyncFolder]:
    """Two machines with news for each other; a sync of the laptop's is cut off at a step, done
    anew, and all go on until nothing moves; whether it was cut."""
    shelf = MemorySyncFolder()
    desk, laptop = desk_with(1), CutMachine("laptop")
    for one in desk, laptop, desk:
        synced(one, shelf)
    for nth in range(2):
        desk.add(f"desk {nth}", payload(SHARED, b"%d" % nth))
        synced(desk, shelf)
        laptop.add(f"laptop {nth}")
    held = rows(laptop)
    laptop.steps = Steps(last)
    was_cut = False
    try:
        synced(laptop, CutShelf(shelf, laptop.steps))
    except Cut:
        was_cut = True
    laptop.steps = Steps(10**9)
    assert rows(laptop).items() >= held.items()
    for one in laptop, desk, laptop, desk:
        synced(one, shelf)
    return was_cut, [desk, laptop], shelf


def test_a_sync_that_is_cut_off_at_any_step_is_made_whole_by_the_next() -> None:
    whole = rows(cut_at(10**9)[1][0])
    last = 0
    while True:
        was_cut, machines, found = cut_at(last)
        for one in machines:
            assert rows(one) == whole, last
            report = synced(one, found).report
            assert (report.took, report.gave, report.waiting) == ({}, 0, [])
        joined = Machine("phone")
        synced(joined, found)
        assert rows(joined).items() >= whole.items(), last
        if not was_cut:
            break
        last += 1
    assert last > 12


class Full(MemorySyncFolder):
    """A disk with room for so many more files."""

    def __init__(self, shelf: MemorySyncFolder, room: int) -> None:
        super().__init__()
        self.held, self._room = shelf.held, room

    def write(self, name: str, data: bytes) -> None:
        self._room -= 1
        if self._room < 0:
            raise OSError(28, "No space left on device")
        super().write(name, data)


@pytest.mark.parametrize("room", range(3))
def test_a_disk_that_fills_up_while_it_is_given_stops_it_and_loses_nothing(room: int) -> None:
    shelf = MemorySyncFolder()
    desk, laptop = desk_with(3), Machine("laptop")
    for one in desk, laptop:
        synced(one, shelf)
    desk.add("more")
    synced(desk, shelf)
    laptop.add("mine")
    if room < 2:
        with pytest.raises(Refused, match="No space left on device; 2 rows were taken"):
            synced(laptop, Full(shelf, room))
    else:
        synced(laptop, Full(shelf, room))
    for one in laptop, desk, laptop:
        synced(one, shelf)
    assert rows(desk) == rows(laptop)
