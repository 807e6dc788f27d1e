"""A home that is synced: its folder, its lock, and what it keeps of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.disputes import disputes
from adapters.documents.syncing import ReplicaLine, SyncReport
from adapters.home.files import FORK
from adapters.home.place import Place
from adapters.home.settings import Settings
from adapters.runtime import finishing, leading
from adapters.store.log import Log
from adapters.sync import memory, syncing
from adapters.sync.shelf import DirectoryShelf, Shelf
from adapters.sync.taking import Told
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.wiring import Home


def shelf_of(place: Place, settings: Settings, folder: str = "") -> DirectoryShelf:
    """The folder where a home meets others: the named one, else the settings', else the last.

    Raises:
        Refused: Code ``invalid_value``: there is none, or the home is one that does not sync.
    """
    if not place.is_folder:
        raise invalid(f"{place.name} is in a database", "sync a home that is a folder")
    if (place.folder / FORK).exists():
        raise invalid(f"{place.name} is a fork, for looking only", "sync the home it came from")
    named = folder or settings.sync.folder or memory.kept(place.folder).folder
    if not named:
        because = "no folder is named where machines meet"
        raise invalid(because, "say `wakelog sync DIR`, or set [sync] folder in settings.toml")
    path = Path(named).expanduser().absolute()
    if path == place.folder.absolute():
        raise invalid(f"{path} is this home", "name a folder beside it")
    return DirectoryShelf(path)


def sync_home(
    home: "Home",
    shelf: Shelf,
    told: Told = lambda _: None,
    *,
    is_dry: bool = False,
    waits: bool = True,
) -> SyncReport:
    """Sync a home with a folder.

    Args:
        home: Open to write, unless it is a dry run.
        shelf: The folder.
        told: Is told how many rows came.
        is_dry: Only look.
        waits: For another sync of the home to end.

    Raises:
        Refused: See `syncing.sync`.
        Busy: Another sync goes on, and nobody waits.
    """
    if is_dry:
        return _told(home, _synced(home, shelf, told, is_dry=True).report)
    with memory.alone(home.path, waits=waits):
        before, led = finishing.reached(home.services), home.services.lead
        done = _synced(home, shelf, told, is_dry=False)
        memory.keep(home.path, done.kept)
        items = finishing.confirm_come(home.services, before)
        if leading.settle(home.services) or items:  # what came is answered, and that is given, too
            again = _synced(home, shelf, told, is_dry=False)
            memory.keep(home.path, again.kept)
            done = syncing.both(done, again)
    home.views.catch_up()
    lead = home.services.lead
    return _told(home, replace(done.report, leads="" if lead == led else lead))


def replicas_of(home: "Home") -> list[ReplicaLine]:
    """All writers of a home. Raises Refused, code ``not_shared``; see `shelf_of`."""
    logs = _logs(home)
    if not logs[0].is_shared:
        because = "this home has never met another machine"
        raise Refused("not_shared", because=because, instead="run `wakelog sync DIR` first")
    shelf = shelf_of(home.place, home.settings)
    return syncing.replicas(logs, shelf, home.services.clock.now(), memory.kept(home.path))


def travelling(place: Place, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the logs of a home that travel. Raises as `open_home` does."""
    from adapters.wiring import open_home  # a command that only shows a folder needs none

    with open_home(place, environ) as home:
        return tuple(one.name for one in _logs(home))


def _synced(home: "Home", shelf: Shelf, told: Told, *, is_dry: bool) -> syncing.Synced:
    now = home.services.clock.now()
    known = memory.kept(home.path)
    hold = home.settings.sync.hold
    return syncing.sync(_logs(home), shelf, now, known, hold=hold, told=told, is_dry=is_dry)


def _told(home: "Home", report: SyncReport) -> SyncReport:
    return replace(report, conflicts=len(disputes(home)))


def _logs(home: "Home") -> list[Log]:
    """Those that travel, see `[sync] agents`."""
    services = home.services
    is_shared = home.settings.sync.agents == "shared"
    return [services.journal, *([services.agents] if is_shared else ())]
