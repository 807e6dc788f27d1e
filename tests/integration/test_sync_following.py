"""A home is synced beside what runs on it: when, and what is told of it."""

import gzip
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.documents.sync import SyncReport
from adapters.home.home_location import FolderLocation
from adapters.sync import sync_state
from adapters.sync.background_sync import BackgroundSync, SyncListener, SyncRounds
from adapters.sync.segments import _file, decode_segment
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal.commands import AddLabel

ROWS = 2  # of a label


class Heard:
    """What was told."""

    def __init__(self) -> None:
        self.did: list[SyncReport] = []
        self.failed: list[str] = []
        self.well = 0
        self.asked = SyncListener(
            self.did.append, lambda error: self.failed.append(str(error)), self._well
        )

    def _well(self) -> None:
        self.well += 1


class Desk:
    """A home that is followed, by a clock of the test's."""

    def __init__(self, path: Path, folder: Path, name: str = "desk") -> None:
        self.home, self.folder = path / name, folder
        self.environ = {"WAKELOG_REPLICA": name, "WAKELOG_TIMEZONE": "UTC"}
        self.opens = partial(open_home, self.home, self.environ, is_writing=True)
        self.told = Heard()
        self.begin()

    def begin(self) -> None:
        settings = FolderLocation(self.home).settings(self.environ, "")
        self.rounds = SyncRounds(self.opens, settings, str(self.folder), self.told.asked)

    def write(self, label: str) -> None:
        with self.opens() as home:
            home.services.append_journal(AddLabel(label))

    def gave(self) -> int:
        return sum(one.gave for one in self.told.did)

    def took(self) -> int:
        return sum(sum(one.took.values()) for one in self.told.did)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def test_own_writes_are_given_after_five_quiet_seconds(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    desk.rounds.check(100)
    first = desk.gave()
    assert first > 0
    desk.write("two")
    for now in (101, 104):
        desk.rounds.check(now)
    desk.write("three")
    for now in (105, 109):
        desk.rounds.check(now)
    assert desk.gave() == first
    desk.rounds.check(110)
    assert desk.gave() == first + 2 * ROWS
    desk.write("four")
    desk.rounds.finish()
    assert desk.gave() == first + 3 * ROWS


def test_who_never_rests_gives_as_the_folder_is_looked_at(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    desk.rounds.check(100)
    first = desk.gave()
    for now in range(101, 114):
        desk.write(f"label {now}")
        desk.rounds.check(now)
    assert desk.gave() == first
    desk.rounds.check(115)
    assert desk.gave() == first + 13 * ROWS
    desk.rounds.finish()


def test_what_others_left_comes_within_fifteen_seconds(tmp_path: Path, folder: Path) -> None:
    desk, laptop = Desk(tmp_path, folder), Desk(tmp_path, folder, "laptop")
    desk.write("one")
    for one in desk, laptop:
        one.rounds.check(100)
    assert laptop.took() > 0
    for now in (115, 130, 145):
        for one in desk, laptop:
            one.rounds.check(now)
    before = laptop.took()
    desk.write("two")
    desk.rounds.check(160)
    laptop.rounds.check(159)
    assert laptop.took() == before
    laptop.rounds.check(160)
    assert laptop.took() > before
    for one in desk, laptop:
        one.rounds.finish()
        assert one.told.failed == []


def test_nothing_is_done_while_nothing_changes(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    for now in (100, 115):
        desk.rounds.check(now)
    kept = sync_state.read_sync_state(desk.home)
    (folder / "desk" / "have.json").touch()  # it would be news to who looked into the files
    (folder / "desk" / "have.json").unlink()
    desk.rounds.check(129)
    assert not (folder / "desk" / "have.json").exists()
    desk.rounds.check(130)
    assert (folder / "desk" / "have.json").exists()
    assert sync_state.read_sync_state(desk.home).folder == kept.folder
    told = len(desk.told.did)
    for now in range(145, 3000, 15):
        desk.rounds.check(now)
    assert len(desk.told.did) == told
    desk.rounds.finish()


def test_a_trouble_is_told_once_and_tried_again(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    moved = folder.with_name("moved")
    folder.rename(moved)
    for now in (100, 101, 115, 130, 131):
        desk.rounds.check(now)
    (told,) = desk.told.failed
    assert "there is no folder" in told
    moved.rename(folder)
    desk.rounds.check(140)
    assert (desk.gave(), desk.told.well) == (0, 0)
    desk.rounds.check(145)
    assert desk.gave() > 0
    assert desk.told.well == 1
    desk.rounds.finish()
    assert len(desk.told.failed) == 1


def test_a_round_is_left_out_while_a_command_syncs(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    with sync_state.sync_lock(desk.home):
        for now in (100, 101):
            desk.rounds.check(now)
    assert (desk.told.failed, desk.gave()) == ([], 0)
    desk.rounds.check(102)
    assert desk.gave() > 0
    desk.rounds.finish()


def test_a_round_that_is_cut_off_is_done_by_the_next_run(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    desk.rounds.is_over.set()
    desk.rounds.check(100)
    desk.rounds.finish()
    assert (desk.told.failed, desk.gave(), list(folder.iterdir())) == ([], 0, [])
    desk.begin()
    desk.rounds.check(200)
    assert desk.gave() > 0
    desk.rounds.finish()


def test_what_a_home_keeps_of_its_syncs_may_be_deleted(tmp_path: Path, folder: Path) -> None:
    desk, laptop = Desk(tmp_path, folder), Desk(tmp_path, folder, "laptop")
    desk.write("one")
    for now in range(100, 160, 15):
        for one in desk, laptop:
            one.rounds.check(now)
    before = sorted((one.name, one.read_bytes()) for one in folder.glob("*/*"))
    for one in desk, laptop:
        for name in ("sync.json", "sync.lock"):
            (one.home / name).unlink()
        one.write(f"of {one.home.name}")
    for now in range(200, 290, 15):
        for one in desk, laptop:
            one.rounds.check(now)
    after = {one.name: one.read_bytes() for one in folder.glob("*/*")}
    kept = [(name, data) for name, data in before if name != "have.json"]
    assert all(after[name] == data for name, data in kept)
    assert sync_state.read_sync_state(desk.home).folder == str(folder)
    assert desk.told.did[-1].digest == laptop.told.did[-1].digest
    for one in desk, laptop:
        one.rounds.finish()
        assert one.told.failed == []


def test_a_follower_begins_with_a_round_and_ends_with_one(tmp_path: Path, folder: Path) -> None:
    desk = Desk(tmp_path, folder)
    desk.write("one")
    follower = BackgroundSync(FolderLocation(desk.home), desk.environ, str(folder), desk.told.asked)
    follower.start(is_waiting=True)
    first = desk.gave()
    assert first > 0
    desk.write("two")
    follower.stop(10)
    assert desk.gave() == first + ROWS


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_folder_that_is_none_is_told_before_anything_runs(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path, tmp_path)
    desk.write("one")
    named = str(tmp_path / name) if name else ""
    with pytest.raises(Refused, match="folder"):
        BackgroundSync(FolderLocation(desk.home), desk.environ, named, desk.told.asked)


def test_a_machine_that_must_be_upgraded_is_told_once(tmp_path: Path, folder: Path) -> None:
    desk, laptop = Desk(tmp_path, folder), Desk(tmp_path, folder, "laptop")
    desk.write("one")
    desk.rounds.check(100)
    laptop.rounds.check(100)
    desk.write("two")
    desk.rounds.check(130)
    _made_newer(folder)
    for now in range(131, 200, 15):
        laptop.rounds.check(now)
    waiting = [one.waiting for one in laptop.told.did if one.waiting]
    assert [[(each.replica, each.for_) for each in one] for one in waiting] == [[("desk", "newer")]]
    for one in desk, laptop:
        one.rounds.finish()


def _made_newer(folder: Path) -> None:
    """Let the newest segment of the desk be one that this version cannot read."""
    path = max((folder / "desk").glob("*.gz"), key=lambda one: one.stat().st_mtime_ns)
    lines = gzip.decompress(path.read_bytes()).split(b"\n")[1:-2]
    header = replace(decode_segment(path.read_bytes()).header, rules=9)
    path.write_bytes(_file(header, lines)[1])
