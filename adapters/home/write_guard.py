"""Whether a home may be written, and if not why: it is copied, rescued or moved, or its folder is
another than that where its replica's name was drawn (ADR 0021).

The file `installation` keeps a random id and the folder's inode and device, beside the name and in
no log: a copy of the folder has the name of its original, and two must not write under one name.
A backup, a fork and every other copy of ours leaves the file out. Where `WAKELOG_REPLICA` names
the writer, nothing is looked at and nothing is kept."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from adapters.home import files
from domain.errors import Refused


class WriteGuard(NamedTuple):
    """`state`: ``open``, ``frozen`` (it is being copied), ``rescued`` (it gets other logs just now)
    or ``moved``; `of`: where to or from."""

    state: str = "open"
    of: str = ""

    def check(self, name: str) -> None:
        """Refuse to write. Raises Refused, with the state as its code."""
        if self.state == "frozen" and not self.of:
            instead = f"whoever runs it says `wakelog --home {name} home thaw`"
            raise Refused("frozen", because=f"the home {name} is frozen", instead=instead)
        if self.state == "frozen":
            because = f"the home {name} is being copied {self.of}, or that was cut off"
            instead = f"repeat the copy, or `wakelog --home {name} home thaw`"
            raise Refused("frozen", because=because, instead=instead)
        if self.state == "rescued":
            because = f"the home {name} gets other logs just now, or that was cut off"
            instead = f"repeat {self.of.removeprefix('by ')}"
            raise Refused("frozen", because=because, instead=instead)
        if self.state == "moved":
            because = f"the home {name} has moved to {self.of}"
            raise Refused("moved", because=because, instead=f"go on there: --home {self.of}")


# ---------------------------------------------------- the folder where the replica's name was drawn

InstallationState = Literal["unchecked", "unknown", "here", "elsewhere"]
"""`unchecked`: the variable names the writer; `unknown`: nothing is kept yet; `elsewhere`: what is
kept is another folder's, or unreadable."""


class Installation(Struct, frozen=True):
    """What is kept: an id, and which folder it was."""

    id: str
    inode: int
    device: int


def installation_state(home: Path, environ: Mapping[str, str]) -> InstallationState:
    if environ.get(files.REPLICA_VARIABLE):
        return "unchecked"
    needed = files.REPLICA, files.INSTALLATION
    with files.readable_errors(home):
        if not all((home / one).exists() for one in needed):
            return "unknown"
    known = kept_installation(home)
    return "here" if known is not None and known.inode == home.stat().st_ino else "elsewhere"


def kept_installation(home: Path) -> Installation | None:
    """What is kept; None where there is nothing, or nothing that can be read."""
    with suppress(OSError, msgspec.DecodeError):
        data = (home / files.INSTALLATION).read_bytes()
        return msgspec.json.decode(data, type=Installation)
    return None


def check_installation(home: Path, environ: Mapping[str, str]) -> None:
    """Look before the home is written, and keep where it is, if that is not known. Raises Refused,
    code ``moved_home``: the folder was moved or copied; ``put_back``: it is a backup of a home that
    machines share, and nobody has said whether that home is gone."""
    found = installation_state(home, environ)
    if found == "unchecked":
        return
    if not (home / files.REPLICA).exists():  # a name is drawn first
        if (note := files.backup_note(home)) is not None and note.is_shared:
            because = f"{home} is a backup of a home that other machines share"
            instead = f"go on in it with `wakelog --home {home} restore {home}`"
            raise Refused("put_back", because=because, instead=instead)
        return
    match found:
        case "unknown":
            with suppress(OSError):  # the next command that writes does it
                text = _installation_text(home, _new_installation_id())
                files.make_file(home / files.INSTALLATION, text)
        case "here":
            known = kept_installation(home)
            if known is not None and known.device != home.stat().st_dev:  # mounted anew
                with suppress(OSError):
                    keep_installation(home, is_copy=False)
        case "elsewhere":
            raise Refused(
                "moved_home",
                because=f"{home} is not the folder where its writer's name was drawn",
                instead="if it was moved, run `wakelog home adopt moved`; if it is a copy, "
                "`wakelog home adopt copy`; if it was put back, `wakelog home adopt restored`",
            )


def keep_installation(home: Path, *, is_copy: bool) -> None:
    """Keep that the home is where it is now; a copy is another installation."""
    known = None if is_copy else kept_installation(home)
    installation = known.id if known is not None else _new_installation_id()
    files.replace_file(home / files.INSTALLATION, _installation_text(home, installation))


def _new_installation_id() -> str:
    return files.draw_name("i", 16)


def _installation_text(home: Path, installation: str) -> str:
    found = home.stat()
    made = Installation(installation, found.st_ino, found.st_dev)
    return msgspec.json.encode(made).decode() + "\n"
