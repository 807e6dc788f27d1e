"""The folder of a home, and the name of the installation that writes there (DESIGN 4).

The first writing command makes the home; reading makes nothing. The file `replica` holds a name
that is drawn once, and anew where the file is missing (a backup leaves it out, so that a restored
home is another writer). `installation` says for which folder it was drawn: see `write_guard`.
`WAKELOG_REPLICA` wins over the file, for as long as it is set; it is stored only where there is
no file yet, so a name once drawn is never lost."""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from adapters.home.settings_toml import DEFAULT_TOML
from domain.errors import Damaged, Refused, invalid
from domain.log import canonical

HOME_VARIABLE = "WAKELOG_HOME"
DATABASE_PREFIX = "pg:"  # of the name of a home in a database
REPLICA_VARIABLE = "WAKELOG_REPLICA"
FOLDER = ".wakelog"
JOURNAL, AGENT, VIEWS = "journal.db", "agent.db", "views.db"
ANALYTICS, RUNTIME, SEARCH = "analytics.duckdb", "runtime.db", "search.db"
FORKS = "forks"
FORK = "fork.json"  # of a fork: what it is of
REPLICA, SETTINGS, INSTALLATION = "replica", "settings.toml", "installation"
ERASING = "erasing"  # what is being erased, until it is done
HOLD = "hold"  # why the home may not be written: it is copied, or went elsewhere

_DATABASE_FILES = frozenset(
    f"{name}{ending}"
    for name in (JOURNAL, AGENT, VIEWS, RUNTIME, ANALYTICS, SEARCH)
    for ending in ("", "-wal", "-shm", ".wal")
)
_OTHERS_MODE = 0o077
_REPLICA_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")
_NAME_READ_MAX = 64
_DRAWN_FROM = "abcdefghijklmnopqrstuvwxyz234567"
_DRAWN_LENGTH = 8


def home_path(option: str | None, environ: Mapping[str, str]) -> Path:
    """Where the home is: the option, else `WAKELOG_HOME`, else `~/.wakelog`. Makes nothing. Raises
    Refused, code ``invalid_value``: it cannot be a path."""
    if option is not None and not option.strip():
        raise invalid("--home is empty", "name a folder, or leave --home out")
    given = option or environ.get(HOME_VARIABLE, "") or f"~/{FOLDER}"
    if given.startswith(DATABASE_PREFIX):
        raise invalid(f"{given} is a home in a database", "name a folder; ./pg:... is one, too")
    if "\0" in given:
        raise invalid("the path of a home holds a NUL character", "name a folder")
    if canonical.clean(given) != given:  # SQLite's and DuckDB's files have names in UTF-8
        raise invalid("the path of the home is no UTF-8", "name another folder")
    try:
        own = environ.get("HOME", "")
        if own and (given == "~" or given.startswith("~/")):
            return Path(own, given[2:]).absolute()
        return Path(given).expanduser().absolute()
    except RuntimeError:
        instead = "name a folder with --home or WAKELOG_HOME"
        raise invalid(f"{given} stands for no folder: there is no such person", instead) from None


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where wakelog keeps what can be made again, for this person alone: below `XDG_CACHE_HOME`,
    else where the system has such things. Makes nothing. Raises Refused, code ``invalid_value``:
    there is no place for it."""
    given = Path(environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "wakelog"
    try:
        own = Path(environ.get("HOME", "") or Path("~").expanduser())
    except RuntimeError:
        own = Path()
    if not own.is_absolute():
        because = "this person has no home directory, and XDG_CACHE_HOME names no folder"
        raise invalid(because, "set XDG_CACHE_HOME to a folder")
    return own / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "wakelog"


def exists(home: Path) -> bool:
    """Whether the home has been made: it holds a log. Settings alone make no home. Raises Refused,
    code ``not_a_log``: it is no folder; ``read_only``: it cannot be looked into."""
    with readable_errors(home):
        if home.exists() and not home.is_dir():
            raise _not_a_folder(home)
        return (home / JOURNAL).exists() or (home / AGENT).exists()


def check_logs(home: Path) -> None:
    """Look whether a home that was written has lost both its logs: to begin anew there, under the
    name that wrote them, would be another past. Raises Damaged, code ``not_a_log``."""
    if exists(home) or not (home / VIEWS).exists():
        return
    if not exists(home):  # they may just have been made
        because = f"both logs of {home} are gone, and {VIEWS} beside them is not"
        instead = "restore both from one backup; to begin anew, name another home with --home"
        raise Damaged("not_a_log", because=because, instead=instead)


def is_database(path: Path | str) -> bool:
    """Whether a path that a person names leads to a database of a home. None is ever opened by
    hand: closing it would drop this process's locks on it (ADR 20). It is no text anyway."""
    return Path(os.path.realpath(path)).name in _DATABASE_FILES


def check_no_database(path: Path | str) -> None:
    """Refuse a file that a person names to be read or written, before it is opened. Raises Refused,
    code ``unreadable_file``: it is a database of a home."""
    if is_database(path):
        because = f"{path} is a database of a home, and nothing else"
        raise Refused("unreadable_file", because=because, instead="name another file")


def ensure(home: Path, environ: Mapping[str, str]) -> str:
    """Make what is missing of a home: folder (0700), `replica` and, in a new home, settings; the
    name under which to write. Safe to call by every writing command, and by several at once: one
    draws the name, all use it.

    Raises:
        Refused: Code ``read_only``, ``not_a_log`` (it is no folder) or ``invalid_value`` (a bad
            `WAKELOG_REPLICA`, or the folder around it is missing).
        Damaged: Code ``not_a_log``: the file `replica` holds no name.
    """
    given = replica_given(environ)
    with readable_errors(home):
        if not home.parent.exists():
            instead = "make it first, or name another home with --home"
            raise invalid(f"the folder {home.parent} for the home is missing", instead)
        try:
            home.mkdir(mode=0o700)
        except FileExistsError:
            if not home.is_dir():
                raise _not_a_folder(home) from None
        stored = _stored_replica(home)
        if not stored:
            is_new = not exists(home)
            (home / INSTALLATION).unlink(missing_ok=True)  # of another name
            make_file(home / REPLICA, given or draw_name())
            if is_new:
                make_file(home / SETTINGS, DEFAULT_TOML)
            stored = _stored_replica(home)
    own = (*sorted(_DATABASE_FILES), REPLICA, INSTALLATION, SETTINGS)  # a person may keep others
    close_to_others(home / one for one in own)  # 0.1.0 made them for everybody to read
    return given or stored


def close_to_others(paths: Iterable[Path]) -> None:
    """Leave files and folders to their owner alone; what is another person's, and what is a device
    for example, stays as it is."""
    for path in paths:
        with suppress(OSError):
            mode = path.stat().st_mode
            if mode & _OTHERS_MODE and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS_MODE)


def replica(home: Path, environ: Mapping[str, str]) -> str:
    """The name under which a home is written, for commands that only read; empty if none is
    known yet. Raises as `ensure` does, and makes nothing."""
    given = replica_given(environ)
    with readable_errors(home):
        return given or _stored_replica(home)


def draw_name(first: str = "r", length: int = _DRAWN_LENGTH) -> str:
    """A name for a new replica, one of 2**40; it is never drawn for the same home twice. An
    installation's id begins with another letter and is longer."""
    import secrets  # only who draws or writes waits for it

    return first + "".join(secrets.choice(_DRAWN_FROM) for _ in range(length))


def draw_new_replica(home: Path) -> str:
    """Draw another name for the home's writer; the new one. Raises Refused, code ``read_only``."""
    name = draw_name()
    with readable_errors(home):
        replace_file(home / REPLICA, name)
    return name


def replica_given(environ: Mapping[str, str]) -> str:
    """The name to write under that the environment gives, or nothing. Raises Refused."""
    given = environ.get(REPLICA_VARIABLE, "")
    if given and _REPLICA_NAME.fullmatch(given) is None:
        because = f"{REPLICA_VARIABLE} is {given!r}, which is no name of a replica"
        raise invalid(because, "use a small letter, then at most 15 small letters and digits")
    return given


def _stored_replica(home: Path) -> str:
    path = home / REPLICA
    try:
        with path.open("rb") as file:
            name = file.read(_NAME_READ_MAX).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""
    if _REPLICA_NAME.fullmatch(name) is None:
        because = f"{path} holds {name!r}, which is no name of a replica"
        instead = "delete the file: the next writing command draws a new name"
        raise Damaged("not_a_log", because=because, instead=instead)
    return name


def make_file(path: Path, text: str) -> bool:
    """Make a file, whole or not at all; one that is there stays as it is. Whether it was made."""
    return bool(write_beside(path, text.encode(), _put_unless_there))


def replace_file(path: Path, text: str) -> None:
    """Make a file, whole or not at all, in the place of one that is there."""
    write_beside(path, text.encode(), Path.rename)


def write_beside(path: Path, data: bytes, put: Callable[[Path, Path], object]) -> object:
    """Write a new file beside a path, and let ``put(written, path)`` give it its name; what that
    returns. Nothing is left of it otherwise."""
    import secrets

    written = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        written.touch(mode=0o600, exist_ok=False)
        with written.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return put(written, path)
    finally:
        with suppress(OSError):
            written.unlink(missing_ok=True)


def _put_unless_there(written: Path, path: Path) -> bool:
    """Give a written file its name, unless another process was faster."""
    try:
        path.hardlink_to(written)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        written.rename(path)
    return True


@contextmanager
def readable_errors(home: Path) -> Iterator[None]:
    """The system's errors as one clear line each."""
    try:
        yield
    except NotADirectoryError:
        raise _not_a_folder(home) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise invalid("the path of the home is too long", "name another folder") from None
        because = f"the home {home} cannot be used: {error.strerror or error}"
        instead = "give yourself permission, free space, or name another home with --home"
        raise Refused("read_only", because=because, instead=instead) from None


def _not_a_folder(home: Path) -> Refused:
    because = f"{home} is no folder, so it cannot be a home"
    instead = "name a folder with --home; one that is missing is made"
    return Refused("not_a_log", because=because, instead=instead)


# ------------------------------------------------------------ the names of a synced home's machines
# What the machines of a synced home are called, as the last sync kept it.

SYNC_FILE = "sync.json"  # of a home, see `adapters.sync.sync_state`


class MetMachines(Struct, frozen=True):
    """The part of the file that tells of machines: what this one is called and the others are, when
    each of them was heard of last, when this one met them, and in which folder; `waits`: whose rows
    are not taken before the person does something, and why."""

    label: str = ""
    folder: str = ""
    labels: Mapping[str, str] = {}
    heard: Mapping[str, str] = {}
    met_at: str = ""
    waits: Mapping[str, Literal["newer", "fork", "erasure"]] = {}


def met_machines(home: Path) -> MetMachines:
    """What a home keeps of the machines that it met; nothing where it is lost."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((home / SYNC_FILE).read_bytes(), type=MetMachines)
    return MetMachines()


def restoring(home: Path) -> Path:
    """Where a home is made of its backup, until it is whole."""
    return home.with_name(f"{home.name}.restoring")


BACKUP = "backup.json"  # of a backup: whose it is


class BackupNote(Struct, frozen=True):
    """Whose backup a folder is. `of`: the name under which its home was written, `at`: of its
    newest append; `is_shared`: machines share it, and meet in the folder `meets`; `heads`: the
    digest of the newest append of each log and replica, as ``journal:r1``."""

    of: str = ""
    at: str = ""
    is_shared: bool = False
    meets: str = ""
    heads: Mapping[str, str] = {}


def backup_note(folder: Path) -> BackupNote | None:
    """What a backup says of its home; None where nothing is said, or nothing that can be read."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((folder / BACKUP).read_bytes(), type=BackupNote)
    return None


def machine_names(home: Path, own: str) -> Mapping[str, str]:
    """Labels by replica, of those that have one; the `own` one is ``here`` without."""
    named = met_machines(home)
    return {**named.labels, own: named.label or "here"}
