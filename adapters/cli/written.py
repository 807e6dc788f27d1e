"""Files that `run --watch` follows are told what was decided here, once for each decision."""

import os
from typing import TYPE_CHECKING

from adapters.actions import watched
from adapters.actions.sources import sources_of
from adapters.cli.shared import Session
from adapters.home.given import Unreadable
from domain.errors import Refused, WakelogError

if TYPE_CHECKING:
    from adapters.actions.writing_back import WrittenBack


class Written:
    """How far each file was told: up to which append of the journal, and what it was refused."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[str, int] = {}
        self._stale: set[str] = set()
        self._refused: dict[str, str] = {}

    def taken(self, file: str) -> None:
        """A file has another content, which was imported: it is looked at anew."""
        self._told.pop(file, None)
        self._stale.discard(file)

    def write(self, file: str) -> "WrittenBack | None":
        """Write a file back, if anything was decided since; None: there was nothing to do, or
        another machine of the home leads, which does it.

        Raises:
            WakelogError: It cannot be written; the same is raised once.
        """
        home = self._session.opened()
        if not home.settings.import_.write_back or not home.services.leads:
            return None
        n = home.services.journal.tail().n
        if self._told.get(file) == n:
            return None
        self._told[file] = n
        try:
            done = self._written(file)
        except WakelogError as error:
            if self._may_be_passing(file, error) or self._refused.get(file) == str(error):
                return None
            self._refused[file] = str(error)
            raise
        self._refused.pop(file, None)
        self._stale.discard(file)
        self._told[file] = home.services.journal.tail().n
        return done

    def _written(self, file: str) -> "WrittenBack":
        from adapters.actions.writing_back import write_back

        (source,) = sources_of(self._session.opened(), [file], "", os.environ)
        try:
            home = self._session.writing()
            done = write_back(home, file, source, os.environ)
        except Unreadable as error:
            because = f"{file} cannot be written back: {error.because}"
            raise Refused("unreadable_file", because=because, instead=error.instead) from None
        if done.written:
            watched.keep(home, file, done.data)
        return done

    def _may_be_passing(self, file: str, error: WakelogError) -> bool:
        """Whether the file may just be changing: then it is imported first, and tried again."""
        is_first = error.code == "stale" and file not in self._stale
        if is_first:
            self._stale.add(file)
            self._told.pop(file, None)
        return is_first
