"""The real command line on a pseudo-terminal of its own, typed at as a person would."""

import os
import pty
import select
import subprocess
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support import process

SECONDS = 60.0
PLAIN = {"NO_PROXY": "127.0.0.1", "COLUMNS": "200", "TZ": "UTC"}  # no line is wrapped
WAKELOG = process.command()
CTRL_C, CTRL_D = "\x03", "\x04"
OWN = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """What a process shows on its terminal, and keys pressed at it."""

    def __init__(self, master: int, running: subprocess.Popen[bytes]) -> None:
        self._master = master
        self._running = running
        self._decoder = getincrementaldecoder("utf-8")()  # a read may end within a character
        self.seen = ""

    def press(self, keys: str) -> None:
        """Press keys; Ctrl-C once the process waits: Python misses one that comes just before."""
        state = Path(f"/proc/{self._running.pid}/stat")
        end = time.monotonic() + SECONDS
        while CTRL_C in keys and time.monotonic() < end and " S " not in state.read_text("utf-8"):
            time.sleep(0.01)
        os.write(self._master, keys.encode())

    def until(self, words: str) -> str:
        """Read on until these words stand behind what was waited for last; what came up to them."""
        end = time.monotonic() + SECONDS
        while words not in self.seen:
            assert time.monotonic() < end, f"waited for {words!r}, saw {self.seen!r}"
            assert self._read(), f"it ended before {words!r}: {self.seen!r}"
        before, self.seen = self.seen.split(words, 1)
        return before

    def ended(self) -> tuple[int, str]:
        """Wait for the end: the exit status, and what was shown since."""
        while self._read():
            pass
        return self._running.wait(SECONDS), self.seen

    def _read(self) -> bool:
        """Some more, or nothing for a while; False: it has ended."""
        if not select.select([self._master], [], [], 1.0)[0]:
            return self._running.poll() is None
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.seen = (self.seen + self._decoder.decode(data)).replace("\r\n", "\n")
        return bool(data)


@contextmanager
def on_terminal(
    home: Path,
    *args: str,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = WAKELOG,
) -> Iterator[Terminal]:
    """Run a command on a terminal; it is gone at the end."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", OWN, *program, *args],
        cwd=home.parent,
        env={**process.environ(home), **PLAIN, **(env or {})},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master, running)
    finally:
        running.kill()
        running.wait(SECONDS)
        os.close(master)
