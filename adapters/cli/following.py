"""`wakelog run --sync`: the folder of the other machines is followed beside the engine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from adapters.cli.lines import Lines
from adapters.cli.shared import Session
from adapters.documents.syncing import SyncReport
from adapters.sync.following import Follower, Told
from adapters.text.syncing import sync_lines
from domain.errors import WakelogError


@contextmanager
def synced(
    session: Session, lines: Lines, folder: str | None, seconds: float, *, is_until_idle: bool
) -> Iterator[None]:
    """Sync while something runs, where that is wanted.

    Args:
        session: Whose home.
        lines: Are told what comes and goes.
        folder: Where machines meet; empty: see `shelf_of`; None: nothing is synced.
        seconds: That a sync may take to end when all ends.
        is_until_idle: What runs ends by itself: it begins once all is here that lies there.

    Raises:
        Refused: See `shelf_of`.
    """
    if folder is None:
        yield
        return
    told = _Told(lines, session.settings().timezone)
    follower = Follower(session.place, os.environ, folder, told.asked)
    follower.start(is_waiting=is_until_idle)
    try:
        yield
    finally:
        follower.stop(seconds)


class _Told:
    """What a sync did, as lines of the log."""

    def __init__(self, lines: Lines, zone: str) -> None:
        self._lines = lines
        self._zone = zone
        self.asked = Told(self._did, self._failed, self._well)

    def _did(self, did: SyncReport) -> None:
        waits = [one for one in did.waiting if one.is_trouble]
        shown = replace(did, equal=[], behind=[], waiting=waits, skipped=0)
        self._lines.tell(
            "synced",
            level="warning" if waits else "info",
            took=did.took,
            gave=did.gave,
            conflicts=did.conflicts,
            message=" ".join(sync_lines(shown, self._zone)),
        )

    def _failed(self, error: Exception) -> None:
        is_told = isinstance(error, WakelogError)
        code = error.code if isinstance(error, WakelogError) else "internal"
        message = error if is_told else f"{type(error).__name__}: {error}"
        self._lines.tell("trouble", level="error", code=code, message=message)

    def _well(self) -> None:
        self._lines.tell("well_again")
