"""Bad luck at an append: the process dies before or after it, or the disk is full."""

from collections.abc import Sequence

from adapters.store.log import Appended, Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.remote_appends import RemoteAppend
from domain.append.causes import Cause
from domain.errors import Refused
from domain.log.wire import Payload


class Crashed(BaseException):
    """The process is gone: nothing may catch this and go on."""


class FaultyLog(Log):
    """A log whose process may die at an append: before it, or right after it."""

    fuse = 0  # appends until it blows; 0: never
    is_after = False
    is_disk_full = False
    dies_after = 0  # so many times that others' appends came in, 1 for before it; 0: never

    @classmethod
    def fused(cls, name: str) -> "FaultyLog":
        """An empty one in memory."""
        return cls(name, MemoryLogRecorder(), "r1")

    def bring(self, appends: Sequence[RemoteAppend], now: str) -> int:
        """As `Log.bring`, as long as the process lives."""
        dies, self.dies_after = self.dies_after, 0
        if dies == 1:
            raise Crashed
        count = super().bring(appends, now)
        if dies:
            raise Crashed
        return count

    def append(
        self, cause: Cause, now: str, *, key: str = "", payloads: Sequence[Payload] = ()
    ) -> Appended:
        """As `Log.append`, as long as the process lives."""
        self.fuse -= 1
        is_blown = self.fuse == 0
        if is_blown and self.is_disk_full:
            raise Refused("read_only", because="the disk is full", instead="free some space")
        if is_blown and not self.is_after:
            raise Crashed
        appended = super().append(cause, now, key=key, payloads=payloads)
        if is_blown:
            raise Crashed
        return appended
