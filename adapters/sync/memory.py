"""What a home keeps of its syncs, in a file of its own: its label, and files it found whole.

It can be lost: then files are looked at once more, and the label is read from the folder.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.home.files import replace_file, told
from adapters.home.machines import SYNC_FILE
from adapters.sync.have import Void
from adapters.sync.survey import Checked

LOCK = "sync.lock"


class Busy(Exception):
    """Another sync of the home goes on."""


class Kept(Struct, frozen=True):
    """`checked`: whole files of `folder`, by name; `labels`: of the machines that were met; `void`:
    branches that were given up; `was`: names under which this machine wrote before."""

    label: str = ""
    folder: str = ""
    checked: Mapping[str, Checked] = {}
    labels: Mapping[str, str] = {}
    void: tuple[Void, ...] = ()
    was: tuple[str, ...] = ()


def kept(home: Path) -> Kept:
    """What is kept; nothing where it is lost."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((home / SYNC_FILE).read_bytes(), type=Kept)
    return Kept()


def keep(home: Path, value: Kept) -> None:
    """Keep it, where it is another. Raises Refused, code ``read_only``."""
    if value != kept(home):
        with told(home):
            replace_file(home / SYNC_FILE, msgspec.json.encode(value).decode())


@contextmanager
def alone(home: Path, *, waits: bool = True) -> Iterator[None]:
    """One sync of a home at a time.

    Args:
        home: Its folder.
        waits: Another one waits; else `Busy` is raised.

    Raises:
        Refused: Code ``read_only``.
    """
    with told(home):
        file = (home / LOCK).open("a")
    with file:
        try:
            flock(file, LOCK_EX if waits else LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        yield
