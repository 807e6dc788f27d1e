"""Another content for a file that a person keeps: in one step, and only over what was read."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from adapters.home.files import check_no_database, write_beside
from domain.errors import Refused

_DAY_SECONDS = 86_400


def replace_if_unchanged(file: Path, before: bytes, after: bytes, now: datetime) -> None:
    """Put another content into a file, in one step, where it is still what was read. A link is
    followed, mode and owner stay, and FILE.bak keeps it as it was, once a day. Raises Refused, code
    ``stale``: it is not what was read; ``read_only``: it cannot be written."""
    target = file.resolve()
    check_no_database(target)

    def check() -> None:
        if target.read_bytes() != before:
            because = f"{file} was changed while it was written"
            raise Refused("stale", because=because, instead="import it first")

    def put(written: Path, path: Path) -> None:
        _copy_owner_and_mode(written, path)
        check()
        written.rename(path)

    try:
        with _locked_folder(file, target.parent):
            check()
            _keep_backup(target, before, now)
            write_beside(target, after, put)
    except OSError as error:
        because = f"{file} cannot be written: {error.strerror}"
        instead = "give yourself permission to its folder, and free space"
        raise Refused("read_only", because=because, instead=instead) from None


@contextmanager
def _locked_folder(file: Path, folder: Path) -> Iterator[None]:
    """One at a time in a folder: between the last look and the rename nobody else of us writes."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        because = f"another process writes beside {file}"
        raise Refused("stale", because=because, instead="try again") from None
    finally:
        os.close(opened)


def _copy_owner_and_mode(written: Path, path: Path) -> None:
    """Give a new file the owner and the mode of the one in whose place it comes."""
    wanted, is_of = path.stat(), written.stat()
    if (wanted.st_uid, wanted.st_gid) != (is_of.st_uid, is_of.st_gid):
        os.chown(written, wanted.st_uid, wanted.st_gid)
    written.chmod(wanted.st_mode & 0o7777)


def _keep_backup(target: Path, data: bytes, now: datetime) -> None:
    """A copy of a file beside it, once a day; it is one of its own, whatever had its name."""
    copy = target.with_name(f"{target.name}.bak")
    seconds = now.timestamp()
    if copy.is_file() and int(copy.stat().st_mtime // _DAY_SECONDS) == int(seconds // _DAY_SECONDS):
        return

    def put(written: Path, path: Path) -> None:
        _copy_owner_and_mode(written, target)
        os.utime(written, (seconds, seconds))
        written.rename(path)

    write_beside(copy, data, put)
