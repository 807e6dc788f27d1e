"""A home is synced beside what runs on it: soon after its own writes, and as its folder changes.

A thread with a home of its own, so that neither waits for the other. A round that fails changes
nothing, and the next one tries again."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.sync import LeadAway, SyncReport
from adapters.home.home_location import HomeLocation
from adapters.home.settings import Settings
from adapters.sync.sync_folder import ListedFile, LocalSyncFolder
from adapters.sync.sync_home import sync_folder_of, sync_home
from adapters.sync.sync_state import SyncBusy

if TYPE_CHECKING:
    from adapters.wiring import Home

QUIET_SECONDS = 5.0  # after the last own write
LOOK_SECONDS = 15.0  # between two looks at the folder
LOOK_ANYWAY_SECONDS = 3600.0  # though nothing has changed: a sign of life may be due
CHECK_SECONDS = 0.25
BUSY_SECONDS = 1.0  # until it is looked again whether another sync has ended


class SyncPace(NamedTuple):
    """How soon, in seconds."""

    quiet: float = QUIET_SECONDS
    look: float = LOOK_SECONDS
    anyway: float = LOOK_ANYWAY_SECONDS


DEFAULT_PACE = SyncPace()


class SyncListener(NamedTuple):
    """Who hears of it: `did` of a round that moved rows, or after which something waits that time
    does not settle; `failed` of each new trouble, once; `well` of the first round after one; `away`
    of the machine that leads, once it is silent."""

    did: Callable[[SyncReport], None]
    failed: Callable[[Exception], None]
    well: Callable[[], None]
    away: Callable[[LeadAway], None] = lambda _: None


class SyncStopped(Exception):
    """A round was cut off, between two transactions or files."""


class StoppableSyncFolder(LocalSyncFolder):
    """A folder in which nothing more is written once `is_over` is set."""

    def __init__(self, shelf: LocalSyncFolder, is_over: threading.Event) -> None:
        super().__init__(shelf.path)
        self._is_over = is_over

    def write(self, name: str, data: bytes) -> None:
        if self._is_over.is_set():
            raise SyncStopped
        super().write(name, data)


class SyncRounds:
    """When a home is synced, and what became of it. `open_home` gives the home, to be written;
    `host`: see `sync_home`."""

    def __init__(
        self,
        open_home: Callable[[], "Home"],
        settings: Settings,
        folder: str,
        told: SyncListener,
        pace: SyncPace = DEFAULT_PACE,
        host: str = "",
    ) -> None:
        self.is_over = threading.Event()
        self._open_home, self._settings, self._folder = open_home, settings, folder
        self._told, self._pace, self._host = told, pace, host
        self._home: Home | None = None
        self._tails: tuple[int, ...] = ()
        self._synced_tails: tuple[int, ...] = ()
        self._written_at = self._looked_at = self._synced_at = self._not_before = 0.0
        self._listed: Sequence[ListedFile] | None = None  # None: it is to be synced at once
        self._trouble = ""
        self._waiting: tuple[tuple[str, str], ...] = ()
        self._away = ""  # the machine that leads and is silent

    def check(self, now: float) -> None:
        """Sync, if it is time. `now`: seconds that never go back."""
        if now < self._not_before:
            return
        try:
            if self._is_time(now):
                self._sync(now)
        except Exception as error:  # noqa: BLE001  a bug in a sync must not end the process
            self._not_before = now + self._pace.look
            self._failed(error)

    def finish(self) -> None:
        """Give what was written last, and close the home."""
        try:
            if self._own() != self._synced_tails and not self.is_over.is_set():
                self._sync(monotonic())
        except Exception as error:  # noqa: BLE001  as above
            self._failed(error)
        self._close()

    def _is_time(self, now: float) -> bool:
        own = self._own()
        if own != self._tails:
            self._tails, self._written_at = own, now
        is_new = own != self._synced_tails
        if self._listed is None or (is_new and now - self._written_at >= self._pace.quiet):
            return True
        if now - self._looked_at < self._pace.look:
            return False
        self._looked_at = now
        is_due = is_new or now - self._synced_at >= self._pace.anyway
        return is_due or self._shelf().files() != self._listed

    def _sync(self, now: float) -> None:
        shelf = self._shelf()
        listed = shelf.files()
        try:
            did = sync_home(self._opened(), shelf, self._took, waits=False, host=self._host)
        except SyncBusy:  # another one does it
            self._not_before = now + BUSY_SECONDS
            return
        self._looked_at = self._synced_at = now
        self._tails = self._synced_tails = self._own()
        self._listed = listed
        if self._trouble:
            self._trouble = ""
            self._told.well()
        waiting = tuple((one.replica, one.for_) for one in did.waiting if one.is_trouble)
        is_news, self._waiting = waiting != self._waiting and bool(waiting), waiting
        if did.took or did.gave or is_news:
            self._told.did(did)
        was, self._away = self._away, did.lead_away.replica if did.lead_away else ""
        if did.lead_away and self._away != was:
            self._told.away(did.lead_away)

    def _failed(self, error: Exception) -> None:
        """Tell of a trouble once, and begin the next round with files opened anew."""
        self._close()
        self._listed = None
        told = f"{type(error).__name__}: {error}"
        if not isinstance(error, SyncStopped) and told != self._trouble:
            self._told.failed(error)
            self._trouble = told

    def _took(self, _: int) -> None:
        if self.is_over.is_set():
            raise SyncStopped

    def _own(self) -> tuple[int, ...]:
        """The last append of this home in each log."""
        services = self._opened().services
        return services.journal.tail().n, services.agents.tail().n

    def _shelf(self) -> LocalSyncFolder:
        shelf = sync_folder_of(self._opened().place, self._settings, self._folder)
        return StoppableSyncFolder(shelf, self.is_over)

    def _opened(self) -> "Home":
        if self._home is None:
            self._home = self._open_home()
        return self._home

    def _close(self) -> None:
        if self._home is not None:
            self._home.close()
            self._home = None


class BackgroundSync:
    """Rounds in a thread of their own, where `told` is told what happens. `folder`: as it was
    named, empty: see `sync_folder_of`. Raises as that does."""

    def __init__(
        self,
        place: HomeLocation,
        environ: Mapping[str, str],
        folder: str,
        told: SyncListener,
        pace: SyncPace = DEFAULT_PACE,
    ) -> None:
        from adapters.sync.machines import host_name  # both load what stores
        from adapters.wiring import open_home

        settings = place.settings(environ, "")
        sync_folder_of(place, settings, folder)
        opens = partial(open_home, place, environ, is_writing=True)
        self._rounds = SyncRounds(opens, settings, folder, told, pace, host_name(environ))
        self._is_stopping = threading.Event()
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="wakelog-sync", daemon=True)

    def start(self, *, is_waiting: bool = False) -> None:
        """Begin; `is_waiting`: return after the first round."""
        self._thread.start()
        if is_waiting:
            self._has_begun.wait()

    def stop(self, seconds: float) -> None:
        """End a round that goes on within so many seconds, or cut it off; give what is new."""
        self._is_stopping.set()
        self._thread.join(seconds)
        self._rounds.is_over.set()
        self._thread.join()

    def _run(self) -> None:
        self._rounds.check(monotonic())
        self._has_begun.set()
        while not self._is_stopping.wait(CHECK_SECONDS):
            self._rounds.check(monotonic())
        self._rounds.finish()
