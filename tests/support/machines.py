"""A person's machines that share a home by a folder, used from outside: by commands."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from tests.support import cli, process

NAMES = "desk", "laptop"
Lines = Callable[[], list[dict[str, Any]]]
"""What a process has logged so far."""


class Machine:
    """A home on a machine of its own. Commands that end run in this process, which is quick;
    those that are left running have processes of their own."""

    def __init__(self, home: Path, folder: Path, **more: str) -> None:
        """`more`: variables of its shell."""
        self.home, self.folder = home, folder
        self.more = {"WAKELOG_REPLICA": home.name, "WAKELOG_TIMEZONE": "UTC", **more}

    def told(self, *words: str) -> Any:
        with chdir(self.home.parent):
            return cli.told([*words], self.home, env=self.more)

    def said(self, *words: str, status: int = 0) -> str:
        with chdir(self.home.parent):
            done = cli.run([*words], self.home, env=self.more)
        assert done.exit_code == status, done.output
        return done.output

    def refused(self, *words: str) -> str:
        return cli.refused([*words], self.home, env=self.more)

    def sync(self) -> Any:
        return self.told("sync", str(self.folder))

    def titles(self) -> set[str]:
        return {one["title"] for one in self.told("task", "list")}

    def begun(self, *words: str) -> "subprocess.Popen[bytes]":
        """It is left running; what it logs goes to a file beside the home."""
        return process.begun(self.home, *words, log=self._log, more=self.more)

    @contextmanager
    def running(self, *words: str) -> Iterator[Lines]:
        """`wakelog ...` is left running, and ends with status 0 when it is told to."""
        begun = self.begun("--json", *words)
        try:
            yield lambda: list(process.lines(self._log)) if self._log.exists() else []
        finally:
            begun.send_signal(signal.SIGTERM)
            try:
                status = begun.wait(30)
            except subprocess.TimeoutExpired:
                begun.kill()
                raise
        assert status == 0, self.logged()

    def logged(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def _log(self) -> Path:
        return self.home.with_suffix(".log")


def pair(path: Path) -> list[Machine]:
    """A desk and a laptop that share a folder; they may be there already."""
    (path / "folder").mkdir(exist_ok=True)
    return [Machine(path / one, path / "folder") for one in NAMES]
