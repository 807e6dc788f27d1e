"""The real command line in a process of its own, for tests and benches."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from tests.support import cli

ROOT = Path(__file__).parents[2]
TIMEOUT = 120


NOTHING: Mapping[str, str] = {}


def environ(home: Path, more: Mapping[str, str] = NOTHING) -> dict[str, str]:
    """What a process needs, and nothing of the person's."""
    kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
    return kept | {
        "HOME": str(home.parent),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "WAKELOG_HOME": str(home),
        **more,
    }


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "adapters.cli.main", *args]


def ended(
    home: Path, *args: str, more: Mapping[str, str] = NOTHING
) -> "subprocess.CompletedProcess[str]":
    """A command that has ended, with whatever status."""
    return subprocess.run(
        command(*args),
        cwd=home.parent,
        env=environ(home, more),
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def ran(home: Path, *args: str, more: Mapping[str, str] = NOTHING) -> str:
    """What a command prints; it must end with status 0."""
    done = ended(home, *args, more=more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(home: Path, *args: str, more: Mapping[str, str] = NOTHING) -> Any:
    """The JSON document that a command prints, which is run in this process: that is quick."""
    return json.loads(did(home, "--json", *args, more=more))


def did(home: Path, *args: str, more: Mapping[str, str] = NOTHING) -> str:
    """What a command prints, run so: for what is done before and beside the processes."""
    own = {"WAKELOG_REPLICA": "", "WAKELOG_NOW": "", "HOME": str(home.parent), **more}
    with chdir(home.parent):
        return cli.done([*args], home, env=own)


def begun(
    home: Path, *args: str, log: Path, more: Mapping[str, str] = NOTHING
) -> subprocess.Popen[bytes]:
    """A process that is left running; its stderr goes to a file."""
    with log.open("ab") as told:
        return subprocess.Popen(
            command(*args),
            cwd=home.parent,
            env=environ(home, more),
            stdout=subprocess.DEVNULL,
            stderr=told,
            start_new_session=True,
        )


def until(
    what: Callable[[], Any],
    seconds: float = 30,
    every: float = 0.2,
    told: Callable[[], Any] = lambda: "",
) -> Any:
    """Wait for something to come true; what it gave. `told`: what is there if it does not."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"it did not happen in time: {told()}"
        time.sleep(every)
    return found


def lines(log: Path) -> Sequence[dict[str, Any]]:
    """The log lines of a runtime that was started with --json."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
