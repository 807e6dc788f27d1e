"""The forks that a home keeps: made one at a time, whole or not there, listed, and deleted.

One is made in a folder whose name begins with a dot, and gets its own name last. What was left
there by a process that was killed goes when the page is served again, or the next one is made or
deleted.
"""

import fcntl
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import msgspec

from adapters.documents.forks import KeptFork
from adapters.home import files
from adapters.text.common import ID_SHOWN
from domain.errors import Refused
from replay.diff import WakesCompared

ABOUT, SIDES = files.FORK, "diff.json"
FORKS_MAX = 10_000
Sides = WakesCompared
"""Both sides of a fork, as they are compared."""
_NAME = re.compile(r"[a-z0-9]{1,32}-[1-9][0-9]{0,4}")
_MAKING, _GOING = ".making", ".going"


@contextmanager
def new_fork(home: Path, run_key: str, out: str, *, is_alone: bool) -> Iterator[tuple[Path, Path]]:
    """Make a fork's folder; whatever ends that early, nothing is kept.

    Args:
        home: Whose fork it is.
        run_key: Of which wake.
        out: The folder that a person named; empty: the next free one in the home's `forks`.
        is_alone: It is paid for: no other one is made meanwhile, wherever this one is.

    Yields:
        Where it will be, and where it is made.

    Raises:
        Refused: Another one is being made, or there is no place for it.
    """
    with _one_at_a_time(home) if is_alone or not out else nullcontext():
        folder = _folder(home, run_key, out)
        made = folder.with_name(f".{folder.name}{_MAKING}")
        try:
            yield folder, made
            made.rename(folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _folder(home: Path, run_key: str, out: str) -> Path:
    if out:
        folder = Path(out).expanduser().absolute()
        if folder.exists() and any(folder.iterdir()):
            because = f"{folder} is there already and is not empty"
            raise Refused("invalid_value", because=because, instead="name a new folder with --out")
        return folder
    free = (home / files.FORKS / f"{run_key[:ID_SHOWN]}-{nth}" for nth in range(1, FORKS_MAX))
    found = next((path for path in free if not path.exists()), None)
    if found is None:
        because = f"there are {FORKS_MAX} forks of this wake"
        raise Refused("invalid_value", because=because, instead="name a folder with --out")
    return found


@contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    """Nobody else makes or deletes a fork of this home; what was left half is taken away."""
    folder = home / files.FORKS
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        because = f"the folder {folder} cannot be made: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another with --out") from None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in _halves(folder):
            with suppress(OSError):
                _remove(left)
        yield
    except BlockingIOError:
        because = "another fork of this home is being made just now"
        raise Refused("stale", because=because, instead="wait until it is done") from None
    finally:
        os.close(opened)


def tidy(home: Path) -> None:
    """Take away what a process that was killed left half; where one is being made, that is left."""
    with suppress(Refused, OSError):
        if _halves(home / files.FORKS):
            with _one_at_a_time(home):
                pass  # who comes in has taken it away


def _halves(folder: Path) -> list[Path]:
    return [*folder.glob(f".*{_MAKING}"), *folder.glob(f".*{_GOING}")]


# ------------------------------------------------------------------------------------ to look at


def kept_forks(home: Path, run_key: str = "") -> list[KeptFork]:
    """The forks in a home's `forks`, of one wake or of all, the newest first."""
    found = list[KeptFork]()
    with suppress(OSError):
        names = (one.name for one in (home / files.FORKS).iterdir())
        for name in filter(_NAME.fullmatch, names):
            with suppress(Refused):
                found.append(kept_fork(home, name))
    of_it = [one for one in found if run_key in ("", one.run_key)]
    return sorted(of_it, key=lambda one: (one.made_at, one.number), reverse=True)


def kept_fork(home: Path, name: str) -> KeptFork:
    """A fork by the name of its folder.

    Raises:
        Refused: Code ``unknown_fork``.
    """
    with suppress(OSError, msgspec.DecodeError):
        about = home / files.FORKS / name / ABOUT
        if _NAME.fullmatch(name) and about.is_file():  # of a pipe nobody would see the end
            data = about.read_bytes()
            return msgspec.structs.replace(msgspec.json.decode(data, type=KeptFork), name=name)
    because = f"there is no fork {name[: ID_SHOWN * 2]!r} in this home"
    raise Refused("unknown_fork", because=because, instead="it may have been deleted")


def sides_of(home: Path, fork: KeptFork) -> Sides | None:
    """Both sides of a fork, as they were compared when it was made; None of an older one."""
    try:
        data = (home / files.FORKS / fork.name / SIDES).read_bytes()
        return msgspec.json.decode(data, type=Sides)
    except (OSError, msgspec.DecodeError):
        return None


# ------------------------------------------------------------------------------------- to delete


def delete_fork(home: Path, name: str) -> None:
    """Delete a fork, unless a process has its logs open. Of a link only the link goes.

    Raises:
        Refused: Code ``unknown_fork``; ``stale``: somebody works in it; ``read_only``.
    """
    with _one_at_a_time(home), files.told(home):
        kept_fork(home, name)
        folder = home / files.FORKS / name
        going = folder.with_name(f".{name}{_GOING}")
        folder.rename(going)  # from here on nobody finds it who does not have it open
        is_there = not going.is_symlink()  # what a link leads to is somebody else's
        if is_there and any(_is_open(going / log) for log in (files.JOURNAL, files.AGENT)):
            going.rename(folder)
            because = f"a process has the fork {name} open"
            raise Refused("stale", because=because, instead="end it first, then delete the fork")
        _remove(going)


def _remove(path: Path) -> None:
    """A folder with all that is in it; a file; a link, and nothing behind it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _is_open(log: Path) -> bool:
    """Whether another connection has a log open: its journal mode can be changed by the last one
    alone."""
    try:
        with closing(sqlite3.connect(f"file:{log}?mode=rw", uri=True, timeout=0)) as found:
            mode = found.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    except sqlite3.DatabaseError:
        return False
    return bool(mode != "delete")
