"""Where machines leave files for each other: a folder that Syncthing, a cloud or a stick carries.

Files are named ``WRITER/FILE``. Each writer writes in its own place alone, and a file appears whole
or not at all; what is half there has a name that is not listed."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from domain.errors import Refused, invalid
from domain.log.keys import sha

PART = ".part"
UNFINISHED = (PART, ".tmp")
README = "README.txt"
GZIP = b"\x1f\x8b"
JOURNAL = "journal.db"  # what only SQLite may open, see ADR 20


class ListedFile(NamedTuple):
    """A file, and what changes when it does."""

    name: str
    stamp: str


class SyncFolder(Protocol):
    """Files of several writers. `name`: how messages call it."""

    @property
    def name(self) -> str: ...

    def begin(self, text: bytes) -> None:
        """Say what the folder is, where nothing says so. Raises OSError."""

    def files(self) -> Sequence[ListedFile]:
        """What is there, by name; what is not finished, and hidden files, are left out.
        Raises Refused, code ``unreadable_file``."""

    def read(self, name: str) -> bytes | None:
        """What a file holds; None where it is gone, cannot be read now, or is none of ours."""

    def write(self, name: str, data: bytes) -> None:
        """Make a file, whole or not at all, also in the place of one. Raises OSError."""

    def remove(self, name: str) -> None:
        """Take a file away; nothing where it is gone. Raises OSError."""

    def tidy(self, writer: str) -> None:
        """Take away what the writer, who is asked to be alone, left unfinished; what cannot be
        taken away stays."""


class LocalSyncFolder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        """Raises Refused, code ``invalid_value``: it is missing, no folder, or a home."""
        self.path = path
        self.name = str(path)
        if not path.exists():
            raise invalid(f"there is no folder {path}", "make it, or name another one")
        if not path.is_dir():
            raise invalid(f"{path} is a file, and machines meet in a folder", "name a folder")
        if (path / JOURNAL).exists():
            because = f"{path} is a home, and machines meet in a folder beside it"
            raise invalid(because, "name a folder that is no home")

    def begin(self, text: bytes) -> None:
        if not (self.path / README).exists():
            self.write(README, text)

    def files(self) -> Sequence[ListedFile]:
        try:
            places = [one for one in sorted(self.path.iterdir()) if _is_listed(one.name)]
            return [one for place in places for one in _listed_files(place)]
        except OSError as error:
            because = f"{self.path} cannot be read: {error.strerror or error}"
            instead = "give yourself permission, or name another folder"
            raise Refused("unreadable_file", because=because, instead=instead) from None

    def read(self, name: str) -> bytes | None:
        try:
            with (self.path / name).open("rb") as file:
                begins = file.read(len(GZIP))
                return begins + file.read() if begins == GZIP or begins[:1] == b"{" else None
        except OSError:
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        part = path.with_name(f"{path.name}{PART}")  # one name: what a kill leaves is written over
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def tidy(self, writer: str) -> None:
        with suppress(OSError):
            for one in (self.path / writer).glob(f"*{PART}"):
                one.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder where nothing but itself is missing. Raises Refused, code ``read_only``."""
    try:
        if path.parent.is_dir() and not path.exists():
            path.mkdir()
    except OSError as error:
        because = f"{path} cannot be made: {error.strerror or error}"
        instead = "give yourself permission, or name another folder"
        raise Refused("read_only", because=because, instead=instead) from None


class MemorySyncFolder:
    """A folder in memory, for tests."""

    name = "memory"

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self._stamps: dict[str, tuple[bytes, str]] = {}

    def begin(self, text: bytes) -> None:
        """Nobody reads it here."""

    def files(self) -> Sequence[ListedFile]:
        return [ListedFile(name, self._stamp(name)) for name in sorted(self.held)]

    def _stamp(self, name: str) -> str:
        """As little work as a look at a file's size and time, but for the first."""
        data, known = self.held[name], self._stamps.get(name)
        if known is None or known[0] is not data:
            self._stamps[name] = known = data, sha(data)
        return known[1]

    def read(self, name: str) -> bytes | None:
        return self.held.get(name)

    def write(self, name: str, data: bytes) -> None:
        self.held[name] = data

    def remove(self, name: str) -> None:
        self.held.pop(name, None)

    def tidy(self, writer: str) -> None:
        """Nothing is half written here."""


def _listed_files(place: Path) -> list[ListedFile]:
    """What is there; nothing of a home that lies in the folder."""
    found: list[ListedFile] = []
    is_place = place.is_dir() and not (place / JOURNAL).exists()
    for one in sorted(place.iterdir()) if is_place else ():
        if _is_listed(one.name) and one.is_file():
            with suppress(FileNotFoundError):  # another tool took it away meanwhile
                about = one.stat()
                stamp = f"{about.st_size}:{about.st_mtime_ns}"
                found.append(ListedFile(f"{place.name}/{one.name}", stamp))
    return found


def _is_listed(name: str) -> bool:
    return not (name.startswith(".") or name.endswith(UNFINISHED))
