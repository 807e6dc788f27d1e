"""A recorder that counts what is read of it: work, where time would be noise."""

from collections.abc import Sequence

from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import Timed


class CountingRecorder(MemoryLogRecorder):
    """Keeps rows in memory, and counts the streams that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.streams = 0

    def stream(self, stream: str, after: int) -> Sequence[Timed]:
        self.streams += 1
        return super().stream(stream, after)
