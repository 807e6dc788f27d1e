"""What a home keeps of its syncs, in a file of its own: its label, and files it found whole.

It can be lost: then files are looked at once more, and the label is read from the folder."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.documents.sync import WaitsFor
from adapters.home.files import SYNC_FILE, readable_errors, replace_file
from adapters.sync.manifest import AbandonedBranch
from adapters.sync.scan import CheckedFile

LOCK_FILE = "sync.lock"


class SyncBusy(Exception):
    """Another sync of the home goes on."""


class SyncState(Struct, frozen=True):
    """`checked`: whole files of `folder`, by name; `labels`: of the machines that were met; `void`:
    branches that were given up; `was`: names under which this machine wrote before; `heard`: when
    each other machine last told of itself, as far as was seen at `met_at`; `erased`: how many
    erasures the files in the folder heed; `waits`: of machines whose rows wait for the person, why.
    """

    label: str = ""
    folder: str = ""
    checked: Mapping[str, CheckedFile] = {}
    labels: Mapping[str, str] = {}
    void: tuple[AbandonedBranch, ...] = ()
    was: tuple[str, ...] = ()
    heard: Mapping[str, str] = {}
    met_at: str = ""
    erased: int = 0
    waits: Mapping[str, WaitsFor] = {}


def read_sync_state(home: Path) -> SyncState:
    """What is kept; nothing where it is lost."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((home / SYNC_FILE).read_bytes(), type=SyncState)
    return SyncState()


def write_sync_state(home: Path, value: SyncState) -> None:
    """Keep it, where it is another. Raises Refused, code ``read_only``."""
    if value != read_sync_state(home):
        with readable_errors(home):
            replace_file(home / SYNC_FILE, msgspec.json.encode(value).decode())


@contextmanager
def sync_lock(home: Path, *, waits: bool = True) -> Iterator[None]:
    """One sync of a home at a time. `waits`: another one waits; else `SyncBusy` is raised. Raises
    Refused, code ``read_only``."""
    with readable_errors(home):
        file = (home / LOCK_FILE).open("a")
    with file:
        try:
            flock(file, LOCK_EX if waits else LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise SyncBusy from None
        yield
