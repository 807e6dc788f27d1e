"""Where a home is: a folder of this machine, or a name in a PostgreSQL database (ADR 66).

Whatever is a file of a folder is asked of a place here; `wiring.open_home` puts the rest together.
"""

import atexit
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.home import files, write_guard
from adapters.home.settings import (
    Settings,
    database_defaults,
    load,
    unless_locked,
    with_environment,
)
from adapters.home.write_guard import WriteGuard
from adapters.home.zones import checked_zone, with_zone
from adapters.store.log import Log
from adapters.store.sqlite_files import ChangeProbe, FileProbe, check_alone, take_away
from domain.errors import Damaged, Refused, invalid

if TYPE_CHECKING:
    from adapters.store.document_store import SharedDocumentStore
    from adapters.store.leases import Leases
    from adapters.store.notice_rows import NoticeRows
    from adapters.store.postgres.database import Database
    from adapters.store.postgres.homes import HomeRow, Homes

DATABASE_VARIABLE = "WAKELOG_DATABASE"
DATABASE_PREFIX = files.DATABASE_PREFIX
MEMORY = ":memory:"
SettingsEdit = Callable[[str], str]


def location_of(
    option: str | None, environ: Mapping[str, str], *, is_brief: bool = False
) -> "HomeLocation":
    """Where the home is that `--home` or `WAKELOG_HOME` names: ``pg:NAME`` or a folder. `is_brief`:
    for a command that is soon over, in this thread, until `end_command`. Raises Refused, code
    ``invalid_value``; ``missing_extra``; ``not_here``: it is ``:memory:``."""
    given = option or environ.get(files.HOME_VARIABLE, "")
    if given == MEMORY:
        because = "a home in memory would be gone with the command"
        instead = "name a folder; a program has one by wakelog.open_home(':memory:')"
        raise Refused("not_here", because=because, instead=instead)
    if not given.startswith(DATABASE_PREFIX):
        return FolderLocation(files.home_path(option, environ))
    name = given.removeprefix(DATABASE_PREFIX)
    if is_brief and (database := database_of(environ)).begin_command(name):
        from adapters.store.postgres.homes import Homes

        return DatabaseLocation(Homes(database), name, environ)
    return DatabaseLocation(homes_of(environ), name, environ)


def homes_of(environ: Mapping[str, str]) -> "Homes":
    """The homes of the database that `WAKELOG_DATABASE` names, which holds its tables. Raises
    Refused, see `database_of`; Damaged, code ``newer_format``; ``not_a_log``: it was not prepared.
    """
    database = database_of(environ)
    from adapters.store.postgres.homes import Homes

    database.look()
    return Homes(database)


def database_of(environ: Mapping[str, str]) -> "Database":
    """The database that `WAKELOG_DATABASE` names: one pool for each in this process. Raises
    Refused, code ``invalid_value``: it names none; ``missing_extra``; ``read_only``."""
    url = environ.get(DATABASE_VARIABLE, "")
    if not url:
        because = f"{DATABASE_VARIABLE} is not set, and it says in which database homes are"
        raise invalid(because, "set it to postgresql://HOST/DATABASE or service=NAME")
    return _database(url)


@cache
def _database(url: str) -> "Database":
    try:
        from adapters.store.postgres.database import Database
    except ImportError:
        instead = "install it with `pip install 'wakelog[cluster]'`"
        because = "`pg:` needs what is not installed here"
        raise Refused("missing_extra", because=because, instead=instead) from None
    made = Database(url)
    atexit.register(made.close)  # else its threads are met by an interpreter that is half gone
    return made


def keep_zone(place: "HomeLocation", zone: str, environ: Mapping[str, str]) -> None:
    """Write a time zone into a home's settings; the home is begun if it is not there. Raises
    Refused: `zone` is none, or the home cannot be written."""
    place.edit_settings(partial(with_zone, zone=checked_zone(zone)), environ)


class FolderLocation:
    """A home in a folder of this machine. `name`: how messages call it; `folder`: where this one
    keeps what is not in the logs: analytics, forks, and of a folder also views and leases."""

    is_folder = True  # its logs are files in `folder`

    def __init__(self, path: Path) -> None:
        self.folder = path
        self.name = str(path)

    def end_command(self) -> None:
        """A short command in it is over."""

    def looked(self) -> "HomeLocation":
        """The same, for whoever asks several things at once: it may look only once."""
        return self

    def exists(self) -> bool:
        """Whether the home has been made. Raises Refused."""
        self._check_not_aside()
        files.check_logs(self.folder)
        return files.exists(self.folder)

    def settings(self, environ: Mapping[str, str], model: str = "") -> Settings:
        """Its settings; the defaults where it has none. Raises Refused."""
        return load(self.folder, environ, model)

    def settings_text(self) -> str:
        """Its settings as they are kept. Raises Refused."""
        path = self.folder / files.SETTINGS
        with files.readable_errors(self.folder):
            return path.read_text("utf-8-sig") if path.exists() else ""

    def hold(self) -> WriteGuard:
        """Whether it may be written, and if not why."""
        path = self.folder / files.HOLD
        with files.readable_errors(self.folder):
            text = path.read_text("utf-8") if path.exists() else "open"
        state, _, of = text.strip().partition(" ")
        return WriteGuard(state, of)

    def keep_hold(self, hold: WriteGuard) -> None:
        """Say whether it may be written from now on. Raises Refused."""
        is_taken = hold.state in ("frozen", "rescued")
        for name in (files.JOURNAL, files.AGENT) if is_taken else ():
            check_alone(self.folder / name)
        with files.readable_errors(self.folder):
            if hold.state == "open":
                (self.folder / files.HOLD).unlink(missing_ok=True)
            else:
                files.replace_file(self.folder / files.HOLD, f"{hold.state} {hold.of}\n")

    def begin_copy(self, replica: str, settings: str, hold: WriteGuard) -> None:
        """Make an empty home that nobody may write yet, or find one that was begun like that.
        Raises Refused, code ``invalid_value``: something else is there."""
        if self.folder.exists() and any(self.folder.iterdir()):
            if self.hold() == hold:
                return
            because = f"{self.folder} is not empty, and a copy overwrites nothing"
            raise invalid(because, "name a new folder")
        with files.readable_errors(self.folder):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.keep_hold(hold)
            files.make_file(self.folder / files.REPLICA, replica)
            files.make_file(self.folder / files.SETTINGS, settings)

    def edit_settings(self, edit: SettingsEdit, environ: Mapping[str, str]) -> None:
        """Write other settings, made of the text of those that are there; begins the home.
        Raises Refused."""
        self.begin(environ)
        with files.readable_errors(self.folder):
            text = edit(self.settings_text())
            files.replace_file((self.folder / files.SETTINGS).resolve(), text)

    def begin(self, environ: Mapping[str, str]) -> str:
        """Make what is missing, where a first write does so; the name to write under.
        Raises Refused, Damaged."""
        self._check_not_aside()
        return files.ensure(self.folder, environ)

    def _check_not_aside(self) -> None:
        """Refuse where a restore was cut off that has moved the home aside: another one would be
        begun in its place."""
        if not self.folder.exists():
            FolderLocation(files.restoring(self.folder)).hold().check(self.name)

    def check_writing(self, environ: Mapping[str, str]) -> None:
        """Look whether it may be written. Raises Refused, code ``moved_home`` for example."""
        self.hold().check(self.name)
        write_guard.check_installation(self.folder, environ)

    def logs(self, environ: Mapping[str, str], *, is_writing: bool) -> tuple[Log, Log]:
        """The journal and the agent log. Raises Refused, Damaged."""
        self.exists()
        replica = (files.ensure if is_writing else files.replica)(self.folder, environ)
        return open_logs(self.folder, replica, is_writing=is_writing)

    def leases(self, *, is_looking: bool = False) -> "Leases":
        """Who works for the home, to be closed at the end. `is_looking`: nothing is made. Raises
        Refused."""
        from adapters.store.leases import SqliteLeases  # only who runs wakes needs it

        path = self.folder / files.RUNTIME
        return SqliteLeases(None if is_looking and not path.exists() else path)

    def documents(self) -> "SharedDocumentStore | Path":
        """What its views are kept in, or the file."""
        return self.folder / files.VIEWS

    def check_erasing(self) -> None:
        """Look whether words may be taken out of it for good: who may write may. Raises Refused."""

    def clear_views(self) -> None:
        """Throw away what its views are kept in. Raises Refused."""
        take_away(self.folder / files.VIEWS)

    def tables_with(
        self,
        wanted: Iterable[bytes],  # noqa: ARG002  of databases
    ) -> tuple[int, list[str]]:
        """How many tables hold it beside the files of `folder`, and which of them one of these
        texts. Raises Refused."""
        return 0, []

    def notices(self) -> "NoticeRows":
        """Up to where whom was told that something waits."""
        from adapters.store.notice_rows import SqliteNoticeRows  # only where somebody is told

        return SqliteNoticeRows(self.folder / files.RUNTIME)

    def names(self) -> Mapping[str, str]:
        """What members are called whom its log names by an id. Raises Refused."""
        return {}

    def identity(self) -> list[str]:
        """What tells this home from a copy of it elsewhere: a receiver is allowed here alone.
        Raises Refused."""
        known = write_guard.kept_installation(self.folder)
        inode = str(self.folder.stat().st_ino)
        return [os.uname().nodename, inode, known.id if known else ""]

    def probes(self) -> list[ChangeProbe]:
        """Each gives another value once its log has changed; to be made where they are used."""
        return [FileProbe(self.folder / name) for name in (files.JOURNAL, files.AGENT)]


class DatabaseLocation:
    """A home in a PostgreSQL database. No write makes it: that is `wakelog home create`."""

    is_folder = False

    def __init__(self, homes: "Homes", name: str, environ: Mapping[str, str]) -> None:
        self._homes, self._home_name, self._environ = homes, name, environ
        self._looked: HomeRow | None = None
        self.name = f"{DATABASE_PREFIX}{name}"
        self.folder = files.cache_folder(environ) / "pg" / homes.database.id / name

    def looked(self) -> "HomeLocation":
        found = DatabaseLocation(self._homes, self._home_name, self._environ)
        found._looked = self._row()
        return found

    def exists(self) -> bool:
        self._row()
        return True

    def settings(self, environ: Mapping[str, str], model: str = "") -> Settings:
        source, below = f"settings of {self.name}", database_defaults(self._homes)
        return with_environment(lambda: self._row().settings, source, environ, model, below)

    def edit_settings(
        self,
        edit: SettingsEdit,
        environ: Mapping[str, str],  # noqa: ARG002  of folders
    ) -> None:
        homes = self._homes
        homes.edit_settings(self._row(), lambda text: unless_locked(homes, text, edit(text)))

    def begin(self, environ: Mapping[str, str]) -> str:  # noqa: ARG002  all write under one name
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._row().replica

    def check_writing(self, environ: Mapping[str, str]) -> None:  # noqa: ARG002  of folders
        self.hold().check(self.name)

    def settings_text(self) -> str:
        return self._row().settings

    def hold(self) -> WriteGuard:
        return WriteGuard((row := self._row()).state, row.moved_to)

    def keep_hold(self, hold: WriteGuard) -> None:
        self._homes.hold(self._row(), hold.state, hold.of)

    def begin_copy(self, replica: str, settings: str, hold: WriteGuard) -> None:
        try:
            found = self.hold()
        except Refused as refused:
            if refused.code != "unknown_home":
                raise
            self._homes.create(self._home_name, replica, settings, hold.state, hold.of)
            return
        if found == WriteGuard("moved", hold.of.removeprefix("from ")):  # and it comes back
            self._homes.take_back(self._row(), replica, settings, hold.of)
        elif found != hold:
            because = f"there is a home {self.name}, and a copy overwrites nothing"
            raise invalid(because, "name a new home")

    def logs(
        self,
        environ: Mapping[str, str],
        *,
        is_writing: bool,  # noqa: ARG002  nothing is made by writing
    ) -> tuple[Log, Log]:
        self.begin(environ)
        return self._homes.log(row := self._row(), "journal"), self._homes.log(row, "agent")

    def leases(self, *, is_looking: bool = False) -> "Leases":
        from adapters.store.postgres.leases import HomeLeases

        return HomeLeases(self._homes.database, self._row().number, is_looking=is_looking)

    def documents(self) -> "SharedDocumentStore | Path":
        return self._homes.documents(self._row())

    def check_erasing(self) -> None:
        if not self._homes.database.may_erase():
            because = f"this login may erase nothing in {self._homes.database.name}"
            instead = "use the owner's, or say as the owner `wakelog database init --login eraser="
            raise Refused("read_only", because=because, instead=f"{instead}NAME`")

    def clear_views(self) -> None:
        self._homes.documents(self._row()).clear()

    def tables_with(self, wanted: Iterable[bytes]) -> tuple[int, list[str]]:
        from adapters.store.postgres.schema import TEXTS

        return len(TEXTS), self._homes.database.tables_with(self._row().number, wanted)

    def notices(self) -> "NoticeRows":
        from adapters.store.postgres.notice_rows import PostgresNoticeRows

        return PostgresNoticeRows(self._homes.database, self._row().number)

    def names(self) -> Mapping[str, str]:
        return self._homes.names(self._row())

    def identity(self) -> list[str]:
        return [*self._homes.database.identity(), str(self._row().number)]

    def probes(self) -> list[ChangeProbe]:
        return [self._homes.probe(self._row())]

    def end_command(self) -> None:
        """Give back what a short command was given."""
        self._homes.database.end_command()

    def _row(self) -> "HomeRow":
        return self._looked or self._homes.named(self._home_name)


class MemoryLocation(FolderLocation):
    """A home of one program that is nowhere, and over with it (`wakelog.open_home(":memory:")`): it
    reads as one that is not there, whose logs are in memory."""

    is_folder = False

    def __init__(self, settings: str = "") -> None:
        """`settings`: TOML, as of a file."""
        super().__init__(Path(os.devnull, MEMORY))  # nothing is there, or can be
        self.name, self._settings = MEMORY, settings

    def exists(self) -> bool:
        return False

    def settings(self, environ: Mapping[str, str], model: str = "") -> Settings:
        return with_environment(self.settings_text, MEMORY, environ, model)

    def settings_text(self) -> str:
        return self._settings


HomeLocation = FolderLocation | DatabaseLocation
"""Where a home is; what `FolderLocation` says of its methods holds for both."""


def open_logs(path: Path, replica: str, *, is_writing: bool) -> tuple[Log, Log]:
    """The journal and the agent log of a folder, made if they are not there. Raises Refused: a file
    cannot be used; Damaged, see `wiring.open_home`."""
    open_log = Log.open if is_writing else _open_for_reading
    journal_file, agent_file = path / files.JOURNAL, path / files.AGENT
    if agent_file.exists() and not journal_file.exists():  # it is made first
        raise _missing_log(journal_file, agent_file)
    journal = open_log("journal", journal_file, replica)
    if journal.tail().n and not agent_file.exists():  # it is there before the first row
        journal.close()
        raise _missing_log(agent_file, journal_file)
    return journal, open_log("agent", agent_file, replica)


def _missing_log(gone: Path, other: Path) -> Damaged:
    because = f"{gone} is missing, and {other.name} beside it is not"
    instead = f"restore both from one backup, or put {gone.name} back; nothing was changed"
    return Damaged("not_a_log", because=because, instead=instead)


def _open_for_reading(name: str, path: Path, replica: str) -> Log:
    """A log for a command that may only read: where it cannot be written, it is read all the
    same; one that is not there, and cannot be made, is empty."""
    try:
        return Log.open(name, path, replica)
    except Refused as refused:
        if refused.code != "read_only":
            raise
        return Log.read_only(name, path, replica) if path.exists() else Log.in_memory(name)
