"""Homes of which one file was restored without the other, and copies of homes."""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support.cli import done, told

JOURNAL, AGENTS = "journal.db", "agent.db"
SINK = "Fix the sink"


def begun(home: Path) -> Path:
    """A home with an agent that woke once."""
    done(["task", "add", SINK, "--item", "Buy parts"], home)
    done(["agent", "create", SINK], home)
    done(["wake"], home)
    return home


def gone_on(home: Path, note: str = "Takes about 2 hours.") -> None:
    """One more note, and a wake that has seen it."""
    done(["task", "note", SINK, note], home)
    assert told(["wake"], home)[0]["outcome"] == "completed"


def restored_alone(home: Path, file: str, work: Callable[[], object]) -> None:
    """Do some work in a home, and then put one of its files back to where it was."""
    aside = home.with_name(f"{home.name}-{file}")
    shutil.copyfile(home / file, aside)
    work()
    put_back(home, file, aside)


def put_back(home: Path, file: str, source: Path) -> None:
    """Put another file in the place of a log; what SQLite keeps beside it goes with the old one."""
    for end in ("-wal", "-shm"):
        (home / f"{file}{end}").unlink(missing_ok=True)
    shutil.copyfile(source, home / file)
