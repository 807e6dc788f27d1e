"""Watches files for edits, until they are quiet: an editor may write in pieces, or put another
file in the place of the old one."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

POLL_SECONDS = 0.25
LOOKS = 4  # that must find a file as the first one did: a second, in which it may be empty
CHECKS_MAX = 128  # between two tries of a file that could not be taken
Take = Callable[[str], bool]
"""``take(file)``: the file has another content now, and has been quiet; whether that was taken
over. If not, it is tried again, less and less often."""


class FileState(NamedTuple):
    """A file as it was when it was looked at; None where there was none."""

    node: int
    size: int
    changed: int


def look(file: str) -> FileState | None:
    """A file as it is, without reading it; None for what is no file: a pipe may not be waited for
    while agents run."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    if not S_ISREG(found.st_mode):
        return None
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


class FileWatcher:
    """Some files, and how each was when it was taken last. `settle` is told of each that is quiet
    and taken over, again and again."""

    def __init__(
        self, files: list[str], take: Take, settle: Callable[[str], None] = lambda _: None
    ) -> None:
        self._take = take
        self._settle = settle
        self._taken: dict[str, FileState | None] = dict.fromkeys(files)
        self._before: dict[str, FileState | None] = dict.fromkeys(files)
        self._same: dict[str, int] = dict.fromkeys(files, 0)  # looks since it was another one
        self._again: dict[str, tuple[int, int]] = {}  # checks to leave out: now, and next time

    def check(self) -> int:
        """Take each file that is another one than before, and has not changed for a few checks; how
        many. One that is gone is waited for."""
        count = 0
        for file, taken in self._taken.items():
            now = look(file)
            is_same = now is not None and now == self._before[file]
            self._before[file] = now
            self._same[file] = self._same[file] + 1 if is_same else 0
            if now != taken and self._same[file] >= LOOKS and self._may_try(file):
                count += self._try(file, now)
            elif is_same and now == taken:
                self._settle(file)
        return count

    def take_all(self) -> None:
        """Take all, quiet or not, as the first thing."""
        for file in self._taken:
            now = self._before[file] = look(file)
            self._try(file, now)

    async def follow(self, poll_seconds: float = POLL_SECONDS) -> None:
        """Check a few times a second, for ever."""
        while True:
            await asyncio.sleep(poll_seconds)
            self.check()

    def _may_try(self, file: str) -> bool:
        left, following = self._again.get(file, (0, 0))
        if left:
            self._again[file] = left - 1, following
        return not left

    def _try(self, file: str, now: FileState | None) -> bool:
        is_taken = self._take(file)
        if is_taken:
            self._taken[file] = now
            self._again.pop(file, None)
        else:
            _, wait = self._again.get(file, (0, 4))
            self._again[file] = wait, min(2 * wait, CHECKS_MAX)
        return is_taken
