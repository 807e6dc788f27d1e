"""Copies a home while it is worked in: SQLite's own backup, the agent log before the journal.

So the journal of a copy is never older than what its agent log refers to (DESIGN 4). The copy
leaves out the replica's name, so that whoever writes in it is another writer, and everything that
can be made anew.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from adapters import homefiles
from domain.errors import Damaged, Refused

PAGES_A_STEP = -1  # all at once: one state, and no writer makes it begin again


def back_up(home: Path, folder: Path) -> list[Path]:
    """Copy a home into a folder that is empty or not there yet; the files that were made.

    Raises:
        Refused: Code ``invalid_value`` (the folder holds something) or ``read_only``.
        Damaged: Code ``not_a_log``: what was copied is not whole.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            because = f"{folder} is not empty, and a backup overwrites nothing"
            raise Refused("invalid_value", because=because, instead="name a new folder")
        made = [_log(home / name, folder / name) for name in (homefiles.AGENT, homefiles.JOURNAL)]
        settings = home / homefiles.SETTINGS
        if settings.exists():
            copy = folder / homefiles.SETTINGS
            copy.write_bytes(settings.read_bytes())
            made.append(copy)
    except OSError as error:
        raise _unusable(folder, error.strerror or str(error)) from None
    return made


def _log(source: Path, target: Path) -> Path:
    """One log, whole or not at all."""
    written = target.with_name(f".{target.name}.part")
    try:
        with (
            closing(sqlite3.connect(source)) as here,
            closing(sqlite3.connect(written, isolation_level=None)) as there,
        ):
            here.backup(there, pages=PAGES_A_STEP)
            there.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
            found = there.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise _unusable(target.parent, str(error)) from None
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise Damaged(
            "not_a_log",
            because=f"{source} cannot be copied whole: {found}",
            instead="run `wakelog doctor`",
        )
    written.chmod(0o600)
    written.rename(target)
    return target


def _unusable(folder: Path, why: str) -> Refused:
    instead = "free space, give write permission, or name another folder"
    return Refused("read_only", because=f"{folder} cannot be written: {why}", instead=instead)
