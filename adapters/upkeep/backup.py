"""Copies a home while it is worked in: SQLite's own backup, of one in a database append by append;
the agent log before the journal.

So the journal of a copy is never older than what its agent log refers to (DESIGN 4). The copy
leaves out the replica's name, so that whoever writes in it is another writer, and everything that
can be made anew. It is whole or not there at all: each file gets its name once all are written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import msgspec

from adapters.home import files
from adapters.home.home_location import HomeLocation
from adapters.store.log import Log
from adapters.store.log_copy import CopyProgress, copy_log
from adapters.store.reader import writer_of
from adapters.store.recorder import by_append
from adapters.store.sqlite_files import check_alone
from domain.append import envelope
from domain.errors import Damaged, Refused, invalid

PAGES_A_STEP = -1  # all at once: one state, and no writer makes it begin again
BUSY_SECONDS = 0.5  # that one try waits for who has a log for themselves; it is tried again
LOGS = (files.AGENT, files.JOURNAL)


def back_up(place: HomeLocation, folder: Path, told: CopyProgress = lambda *_: None) -> list[Path]:
    """Copy a home into a folder that is empty or not there yet; the files that were made. `told`:
    how far a copy out of a database has come. Raises Refused, code ``invalid_value`` (the folder
    holds something) or ``read_only``; Damaged, code ``not_a_log``: what was copied is not whole."""
    try:
        with _whole_or_nothing(folder):
            if place.is_folder:
                home = place.folder
                parts = [_copy_log(home / name, folder) for name in LOGS]
                own, meets = files.replica(home, {}), files.met_machines(home).folder
                settings = home / files.SETTINGS
                kept = settings.read_bytes() if settings.exists() else b""
            else:
                own, meets = place.begin({}), ""
                parts = _copy_rows(place, folder, told)
                kept = place.settings_text().encode()
            if kept:
                parts.append(_written(folder, files.SETTINGS, kept))
            note = msgspec.json.encode(_note(folder, own, meets))
            parts.append(_written(folder, files.BACKUP, note))
            names = [part.name.removeprefix(".").removesuffix(".part") for part in parts]
            return [part.rename(folder / name) for part, name in zip(parts, names, strict=True)]
    except OSError as error:
        raise _unusable(folder, error.strerror or str(error)) from None


@contextmanager
def _whole_or_nothing(folder: Path) -> Iterator[None]:
    """A folder to fill; whatever ends that early, it and those around it are left as before."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        because = f"{folder} is not empty, and a backup overwrites nothing"
        raise invalid(because, "name a new folder")
    try:
        yield
    except BaseException:
        for name in (*LOGS, files.SETTINGS, files.BACKUP):
            for made in (folder / name, *folder.glob(f"{_part_path(folder, name).name}*")):
                made.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else has put something there meanwhile
            for one in missing:
                one.rmdir()
        raise


def _part_path(folder: Path, name: str) -> Path:
    """Where a file stands until all are whole."""
    return folder / f".{name}.part"


def _copy_log(source: Path, folder: Path) -> Path:
    """The whole copy of a log, under the name of a part."""
    if not source.exists():  # SQLite would make it
        raise _not_whole(source, "it is missing")
    part = _part_path(folder, source.name)
    part.touch(mode=0o600, exist_ok=False)
    name = f"file:{quote(str(source))}?mode=rw"
    try:
        with (
            closing(sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS)) as here,
            closing(sqlite3.connect(part, isolation_level=None)) as there,
        ):
            # between two tries, a Ctrl-C is heard while Python calls something
            here.backup(there, pages=PAGES_A_STEP, progress=lambda *_: None)
            there.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
            found = there.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise _unusable(folder, str(error)) from None
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise _not_whole(source, found)
    return part


def _copy_rows(place: HomeLocation, folder: Path, told: CopyProgress) -> list[Path]:
    """The copies of both logs of a home in a database, under the names of parts. What is written
    meanwhile may come along: an append is there whole or not at all."""
    journal, agents = place.logs({}, is_writing=False)
    parts: list[Path] = []
    with closing(journal), closing(agents):
        for source, name in zip((agents, journal), LOGS, strict=True):
            parts.append(_written(folder, name, b""))
            with closing(Log.open(source.name, parts[-1], "")) as target:
                copy_log(source, target, told)
            check_alone(parts[-1])  # one file, nothing beside it
    return parts


def _written(folder: Path, name: str, data: bytes) -> Path:
    part = _part_path(folder, name)
    part.touch(mode=0o600, exist_ok=False)
    part.write_bytes(data)
    return part


def _note(folder: Path, own: str, meets: str) -> files.BackupNote:
    """Whose backup it is, by the logs that were copied."""
    journal = Log.read_only("journal", _part_path(folder, files.JOURNAL), "")
    agents = Log.read_only("agent", _part_path(folder, files.AGENT), "")
    with closing(journal), closing(agents):
        at = max(journal.tail().at, agents.tail().at)
        is_shared = journal.recorder.order() is not None
        return files.BackupNote(own, at, is_shared, meets, heads_of(journal, agents))


def heads_of(*logs: Log) -> dict[str, str]:
    """The digest with which each log and replica ends; nothing where a log does not hold together:
    such a home is copied all the same."""
    ends, known = dict[str, str](), {""}
    with suppress(msgspec.MsgspecError):
        for name, rows in ((log.name, rows) for log in logs for rows in by_append(log.rows())):
            if envelope.place_of(rows[0].state).prev not in known:
                return {}
            ends[f"{name}:{writer_of(rows)}"] = digest = envelope.digest(rows)
            known.add(digest)
        return ends
    return {}


def _not_whole(source: Path, why: str) -> Damaged:
    because = f"{source} cannot be copied whole: {why}"
    return Damaged("not_a_log", because=because, instead="run `wakelog doctor`")


def _unusable(folder: Path, why: str) -> Refused:
    instead = "free space, give write permission, or name another folder"
    return Refused("read_only", because=f"{folder} cannot be written: {why}", instead=instead)
