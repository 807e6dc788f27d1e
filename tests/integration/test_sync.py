"""A folder where machines meet, as disks, the tools that carry it, and hands leave it: nothing is
lost, doubled or half taken. Whatever a sync is cut off at, the next one makes it whole."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.documents.sync import IgnoredManifest, SyncReport
from adapters.store.recorder import numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.manifest import MANIFEST_FILE, ChainHead, manifest_bytes, read_manifest
from adapters.sync.sync_folder import (
    README,
    ListedFile,
    LocalSyncFolder,
    MemorySyncFolder,
    SyncFolder,
)
from adapters.sync.sync_home import SyncResult, sync_logs
from adapters.sync.sync_state import SyncState, read_sync_state, sync_lock, write_sync_state
from adapters.text.sync import sync_lines
from domain.errors import Refused
from domain.log.wire import SHARED, payload
from tests.support.disks import small_disk
from tests.support.process import ended, ran, read
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"
GIVES = """
import sys
from pathlib import Path
from tests.integration.test_sync import NOW, desk_with
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
print("begins", flush=True)
sync_logs([desk_with()], LocalSyncFolder(Path(sys.argv[1])), NOW, SyncState())
"""


def desk_with(count: int = 60) -> Machine:
    made = Machine("desk")
    for number in range(count):
        made.add(f"label {number}")
    return made


def test_two_machines_meet_in_a_folder_on_the_disk(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop = desk_with(3), Machine("laptop")
    sync_logs([desk], shelf, NOW, SyncState())
    (tmp_path / "desk" / "journal-desk-4-4-x.jsonl.gz.part").write_bytes(b"half")
    (tmp_path / "desk" / ".syncthing.have.json.tmp").write_bytes(b"half")
    (tmp_path / "desk" / "~notes.txt").write_bytes(b"something else")
    (tmp_path / ".stfolder").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "journal.db").write_bytes(b"SQLite opens it, and nobody else")
    did = sync_logs([laptop], shelf, NOW, SyncState())
    assert (did.report.took, did.report.skipped) == ({"desk": 8}, 1)
    assert sync_logs([desk], shelf, NOW, SyncState()).report.equal == ["laptop"]
    assert (tmp_path / "README.txt").read_text().startswith("Here the machines")
    listed = [one.name for one in shelf.files()]
    assert all("part" not in one and "tmp" not in one for one in listed)
    write_sync_state(tmp_path, did.kept)
    assert read_sync_state(tmp_path) == did.kept
    again = sync_logs([laptop], shelf, NOW, read_sync_state(tmp_path)).report
    assert (again.took, again.gave, again.skipped) == ({}, 0, 1)
    (tmp_path / "sync.json").write_text("{")
    assert read_sync_state(tmp_path) == SyncState()


@pytest.mark.parametrize("what", ["missing", "file", "home"])
def test_what_is_no_folder_to_meet_in_is_told(tmp_path: Path, what: str) -> None:
    path = tmp_path / what
    if what == "file":
        path.write_text("x")
    elif what == "home":
        path.mkdir()
        (path / "journal.db").touch()
    with pytest.raises(Refused) as refused:
        LocalSyncFolder(path)
    assert refused.value.code == "invalid_value"
    assert str(path) in refused.value.because


@pytest.mark.slow
def test_one_sync_of_a_home_waits_for_another(tmp_path: Path) -> None:
    waits = (
        "from pathlib import Path; from adapters.sync.sync_state import sync_lock\n"
        f"with sync_lock(Path({str(tmp_path)!r})): pass"
    )
    with sync_lock(tmp_path):
        other = subprocess.Popen([sys.executable, "-c", waits])
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.6)
    assert other.wait(60) == 0


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_gives_leaves_whole_files_or_none(tmp_path: Path) -> None:
    for nth in range(5):
        giving = subprocess.Popen(
            [sys.executable, "-c", GIVES, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert giving.stdout is not None
        giving.stdout.readline()
        time.sleep(0.002 * nth)
        os.kill(giving.pid, signal.SIGKILL)
        giving.wait()
        giving.stdout.close()
        laptop = Machine("laptop")
        report = sync_logs(
            [laptop], LocalSyncFolder(tmp_path), NOW, SyncState(), is_dry=True
        ).report
        assert report.skipped == 0
        assert report.took in ({}, {"desk": 122})
    if not report.took:  # else it gave all before it was killed, and its log went with it
        sync_logs([desk_with()], LocalSyncFolder(tmp_path), NOW, SyncState())
    report = sync_logs([Machine("laptop")], LocalSyncFolder(tmp_path), NOW, SyncState()).report
    assert report.took == {"desk": 122}


def synced(log: Machine, shelf: SyncFolder) -> SyncResult:
    return sync_logs([log], shelf, NOW, SyncState())


def rows(log: Machine) -> dict[tuple[str, int], int]:
    return {
        (one, numbered(append[0].state).n): hash(tuple(append))
        for one, chain in log.chains.items()
        for append in chain
    }


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
    why = {"a folder": "gap", "closed": "gap"}.get(what, "cut short")
    assert [(one.replica, one.for_, one.n) for one in did.report.waiting] == [("desk", why, 0)]
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


@pytest.mark.slow
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


# ------------------------------------------------------------------------------ bits that fall over


STEP = 23  # bytes from one bit that is tried to the next


def lines(did: SyncReport) -> list[str]:
    return [*sync_lines(did, "UTC")]


def met(folder: Path) -> tuple[Machine, Machine]:
    """A desk and a laptop that hold the same, and the folder with the files of both."""
    folder.mkdir(exist_ok=True)
    desk, laptop, shelf = Machine("desk"), Machine("laptop"), LocalSyncFolder(folder)
    desk.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    laptop.add("away")
    for one in (laptop, desk, laptop):
        synced(one, shelf)
    return desk, laptop


@pytest.mark.slow
def test_a_bit_that_falls_over_in_any_file_is_told_accuses_nobody_and_loses_nothing(
    tmp_path: Path,
) -> None:
    met(tmp_path)
    found = [one for one in sorted(tmp_path.rglob("*")) if one.is_file()]
    assert {MANIFEST_FILE, README} <= {one.name for one in found}
    files = {one.relative_to(tmp_path): one.stat().st_size for one in found}
    for name, size in files.items():
        for at in range(0, size, STEP):
            shutil.rmtree(tmp_path)
            desk, laptop = met(tmp_path)
            flipped = bytearray((tmp_path / name).read_bytes())
            flipped[at] ^= 1 << at % 8
            (tmp_path / name).write_bytes(flipped)
            _look_at(tmp_path, name, Machine("phone"), desk, laptop)


def _look_at(folder: Path, name: Path, phone: Machine, desk: Machine, laptop: Machine) -> None:
    """A new machine meets the folder, then those whose rows lie there, then it again."""
    shelf = LocalSyncFolder(folder)
    first = synced(phone, shelf).report
    if name.name == MANIFEST_FILE:
        assert first.ignored == [IgnoredManifest(name.parts[0], "broken")]
        assert any(one.startswith(f"{name} is not as it was written") for one in lines(first))
    elif name.name != README:
        is_told = "1 file of the folder could not be read." in lines(first)
        assert is_told == (first.skipped == 1)
        assert is_told or not first.waiting
    held = desk.telling_heads()
    for replica, head in phone.telling_heads().items():
        assert desk.digest_at(head.n, replica) == head.digest
    for one in (desk, laptop, phone, desk, laptop):
        last = synced(one, shelf).report
    assert (last.ignored, last.skipped, last.waiting, last.behind) == ([], 0, [], [])
    assert phone.telling_heads() == laptop.telling_heads() == desk.telling_heads() == held


def _with_head(shelf: MemorySyncFolder, writer: str, head: ChainHead) -> None:
    """Have a writer tell, with a sum that fits, that it holds this of the desk's chain."""
    name = f"{writer}/{MANIFEST_FILE}"
    have = read_manifest(shelf.held[name], writer)
    assert have is not None
    shelf.held[name] = manifest_bytes(replace(have, heads={**have.heads, "journal:desk": head}))


@pytest.mark.parametrize("n", [2, 9])
def test_a_fork_is_accused_by_two_manifests_that_agree_and_not_by_one(n: int) -> None:
    shelf, desk, laptop = MemorySyncFolder(), Machine("desk"), Machine("laptop")
    desk.add("home")
    synced(desk, shelf)
    synced(laptop, shelf)
    synced(desk, shelf)
    _with_head(shelf, "laptop", ChainHead(n, 32 * "a"))
    did = synced(desk, shelf).report
    assert did.ignored == [IgnoredManifest("laptop", "alone", "desk", n)]
    told = f"laptop/have.json tells another append {n} of desk than is here, and nothing else does"
    assert f"{told}: it was left out." in lines(did)
    shelf.held["phone/have.json"] = shelf.held["laptop/have.json"].replace(b"laptop", b"phone", 1)
    assert "not as it was written" in " ".join(lines(synced(desk, shelf).report))
    synced(Machine("phone"), shelf)
    _with_head(shelf, "phone", ChainHead(n, 32 * "a"))
    with pytest.raises(Refused) as refused:
        synced(desk, shelf)
    assert refused.value.code == "forked_replica"
