"""Where a home's texts went: backups and exports, in `copies.json`, for who erases some of them
(ADR 107). It may be thrown away at any time: what is not known there went elsewhere, too."""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.home.files import replace_file

COPIES = "copies.json"
KEPT = 100


class Copied(Struct, frozen=True):
    """A ``backup``, ``export`` or ``history``, where it was written, and when."""

    what: str
    path: str
    at: str


def copies(home: Path) -> list[Copied]:
    """The newest ones that still stand where they were written, the oldest first."""
    return [one for one in _kept(home) if Path(one.path).exists()]


def keep_copy(home: Path, one: Copied) -> None:
    """Keep that there is one, where the home can be written."""
    others = [other for other in _kept(home) if other.path != one.path]
    with suppress(OSError):
        kept = [*others, one][-KEPT:]
        replace_file(home / COPIES, msgspec.json.format(msgspec.json.encode(kept)).decode() + "\n")


def _kept(home: Path) -> list[Copied]:
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((home / COPIES).read_bytes(), type=list[Copied])
    return []
