"""A folder where machines meet, as it is on a disk: left-overs, and what is no folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState, read_sync_state, sync_lock, write_sync_state
from domain.errors import Refused
from tests.support.sharing import Machine

NOW = "2026-03-01T12:00:00.000000Z"
GIVES = """
import sys
from pathlib import Path
from tests.integration.test_sync_shelf import many
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
print("begins", flush=True)
sync_logs([many()], LocalSyncFolder(Path(sys.argv[1])), "2026-03-01T12:00:00.000000Z", SyncState())
"""


def many(count: int = 60) -> Machine:
    made = Machine("desk")
    for number in range(count):
        made.add(f"label {number}")
    return made


def test_two_machines_meet_in_a_folder_on_the_disk(tmp_path: Path) -> None:
    shelf = LocalSyncFolder(tmp_path)
    desk, laptop = many(3), Machine("laptop")
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
    assert other.wait(20) == 0


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
        sync_logs([many()], LocalSyncFolder(tmp_path), NOW, SyncState())
    report = sync_logs([Machine("laptop")], LocalSyncFolder(tmp_path), NOW, SyncState()).report
    assert report.took == {"desk": 122}
