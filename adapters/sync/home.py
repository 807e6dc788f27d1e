"""A home that is synced: its folder, its lock, and what it keeps of it."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.actions.forks import ABOUT as FORK
from adapters.documents.disputes import disputes
from adapters.documents.syncing import ReplicaLine, SyncReport
from adapters.home.place import Place
from adapters.home.settings import Settings
from adapters.store.log import Log
from adapters.sync import memory, syncing
from adapters.sync.shelf import DirectoryShelf, Shelf
from adapters.sync.taking import Told
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.wiring import Home

LABEL_MAX = 40  # characters
SIDES = ("file", "mine")
"""What `settle --keep` calls the sides of a conflict with a file."""


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
    home: "Home", shelf: Shelf, told: Told = lambda _: None, *, is_dry: bool = False
) -> SyncReport:
    """Sync a home with a folder.

    Args:
        home: Open to write, unless it is a dry run.
        shelf: The folder.
        told: Is told how many rows came.
        is_dry: Only look.

    Raises:
        Refused: See `syncing.sync`.
    """
    if is_dry:
        return _told(home, _synced(home, shelf, told, is_dry=True).report)
    with memory.alone(home.path):
        done = _synced(home, shelf, told, is_dry=False)
        memory.keep(home.path, done.kept)
    home.views.catch_up()
    return _told(home, done.report)


def replicas_of(home: "Home") -> list[ReplicaLine]:
    """All writers of a home. Raises Refused, code ``not_shared``; see `shelf_of`."""
    logs = _logs(home)
    if not logs[0].is_shared:
        because = "this home has never met another machine"
        raise Refused("not_shared", because=because, instead="run `wakelog sync DIR` first")
    shelf = shelf_of(home.place, home.settings)
    return syncing.replicas(logs, shelf, home.services.clock.now(), memory.kept(home.path))


def name_replica(home: "Home", label: str) -> None:
    """Call this machine something; the others hear of it with the next sync. Raises Refused."""
    if not label.isprintable() or not label.strip() or len(label) > LABEL_MAX:
        raise invalid(f"{label[:LABEL_MAX]!r} is no name", f"use 1 to {LABEL_MAX} characters")
    if label.strip().casefold() in SIDES:
        raise invalid(f"{label!r} names a side of a conflict with a file", "use another name")
    with memory.alone(home.path):
        memory.keep(home.path, replace(memory.kept(home.path), label=label))


def _synced(home: "Home", shelf: Shelf, told: Told, *, is_dry: bool) -> syncing.Synced:
    now = home.services.clock.now()
    known = memory.kept(home.path)
    hold = home.settings.sync.hold
    return syncing.sync(_logs(home), shelf, now, known, hold=hold, told=told, is_dry=is_dry)


def _told(home: "Home", report: SyncReport) -> SyncReport:
    return replace(report, conflicts=len(disputes(home)))


def _logs(home: "Home") -> list[Log]:
    """Those that travel: the journal. Agents stay where they are (ADR 72)."""
    return [home.services.journal]
