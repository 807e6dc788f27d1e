"""A bit that falls over in a file of the folder where machines meet, in each of them in turn."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.documents.sync import IgnoredManifest, SyncReport
from adapters.sync.manifest import MANIFEST_FILE, ChainHead, manifest_bytes, read_manifest
from adapters.sync.sync_folder import README, LocalSyncFolder, MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from adapters.text.sync import sync_lines
from domain.errors import Refused
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"
STEP = 23  # bytes from one bit that is tried to the next


def synced(log: Machine, shelf: LocalSyncFolder | MemorySyncFolder) -> SyncReport:
    return sync_logs([log], shelf, NOW, SyncState()).report


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
    first = synced(phone, shelf)
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
        last = synced(one, shelf)
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
    did = synced(desk, shelf)
    assert did.ignored == [IgnoredManifest("laptop", "alone", "desk", n)]
    told = f"laptop/have.json tells another append {n} of desk than is here, and nothing else does"
    assert f"{told}: it was left out." in lines(did)
    shelf.held["phone/have.json"] = shelf.held["laptop/have.json"].replace(b"laptop", b"phone", 1)
    assert "not as it was written" in " ".join(lines(synced(desk, shelf)))
    synced(Machine("phone"), shelf)
    _with_head(shelf, "phone", ChainHead(n, 32 * "a"))
    with pytest.raises(Refused) as refused:
        synced(desk, shelf)
    assert refused.value.code == "forked_replica"
