"""Whether a home's folder is the one where its replica's name was drawn (ADR 0021).

The file `installation` keeps a random id and the folder's inode and device, beside the name and in
no log: a copy of the folder has the name of its original, and two must not write under one name.
A backup, a fork and every other copy of ours leaves the file out. Where `WAKELOG_REPLICA` names
the writer, nothing is looked at and nothing is kept.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from adapters.home import files
from domain.errors import Refused

State = Literal["unchecked", "unknown", "here", "elsewhere"]
"""`unchecked`: the variable names the writer; `unknown`: nothing is kept yet; `elsewhere`: what is
kept is another folder's, or unreadable."""


class Installation(Struct, frozen=True):
    """What is kept: an id, and which folder it was."""

    id: str
    inode: int
    device: int


def state(home: Path, environ: Mapping[str, str]) -> State:
    """Whether the home is where it was."""
    if environ.get(files.REPLICA_VARIABLE):
        return "unchecked"
    needed = files.REPLICA, files.INSTALLATION
    with files.told(home):
        if not all((home / one).exists() for one in needed):
            return "unknown"
    known = kept(home)
    return "here" if known is not None and known.inode == home.stat().st_ino else "elsewhere"


def kept(home: Path) -> Installation | None:
    """What is kept; None where there is nothing, or nothing that can be read."""
    with suppress(OSError, msgspec.DecodeError):
        data = (home / files.INSTALLATION).read_bytes()
        return msgspec.json.decode(data, type=Installation)
    return None


def check(home: Path, environ: Mapping[str, str]) -> None:
    """Look before the home is written, and keep where it is, if that is not known.

    Raises:
        Refused: Code ``moved_home``: the folder was moved or copied.
    """
    found = state(home, environ)
    if found != "unchecked" and not (home / files.REPLICA).exists():
        return  # a name is drawn first
    match found:
        case "unchecked":
            return
        case "unknown":
            with suppress(OSError):  # the next command that writes does it
                files.make_file(home / files.INSTALLATION, _text(home, _new_id()))
        case "here":
            known = kept(home)
            if known is not None and known.device != home.stat().st_dev:  # mounted anew
                with suppress(OSError):
                    settle(home, is_copy=False)
        case "elsewhere":
            raise Refused(
                "moved_home",
                because=f"{home} is not the folder where its writer's name was drawn",
                instead="if it was moved, run `wakelog home adopt moved`; if it is a copy, "
                "`wakelog home adopt copy`",
            )


def settle(home: Path, *, is_copy: bool) -> None:
    """Keep that the home is where it is now; a copy is another installation."""
    known = None if is_copy else kept(home)
    installation = known.id if known is not None else _new_id()
    files.replace_file(home / files.INSTALLATION, _text(home, installation))


def _new_id() -> str:
    return files.drawn("i", 16)


def _text(home: Path, installation: str) -> str:
    found = home.stat()
    made = Installation(installation, found.st_ino, found.st_dev)
    return msgspec.json.encode(made).decode() + "\n"
