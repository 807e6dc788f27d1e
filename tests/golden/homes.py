"""Puts the homes that are kept as files into folders: their logs, and what lies beside them.

None of them is lived in again. What is read of them is what the golden outputs hold.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.histories import make, sharing
from tests.histories.test_formats import restored

FOLDER = Path(__file__).parent / "homes"


class KeptHome(NamedTuple):
    """A home that is kept.

    Args:
        now: When it is looked at.
        put: Writes it below a folder, and says where it is.
        tasks: Whose commands and pages are asked, by their titles; the first two if none is named.
    """

    now: str
    put: Callable[[Path], Path]
    tasks: tuple[str, ...] = ()


def _lived(name: str) -> Callable[[Path], Path]:
    """A home of one machine that was lived in by commands, and its settings."""

    def put(folder: Path) -> Path:
        _machine(name, folder / "home", FOLDER)
        shutil.copyfile(FOLDER / f"{name}.toml", folder / "home/settings.toml")
        return folder / "home"

    return put


def _of_format(name: str) -> Callable[[Path], Path]:
    """The home that a release left: `tests/histories/formats`."""

    def put(folder: Path) -> Path:
        home = folder / "home"
        home.mkdir()
        (home / "replica").write_text("r1\n", encoding="utf-8")
        for log in sharing.LOGS:
            restored(make.FOLDER / name / f"{log}.jsonl", home).close()
        return home

    return put


def _pair(folder: Path) -> Path:
    """Two machines of one home that differ in three things: `tests/histories/shared`."""
    for name in ("laptop", "desk"):
        _machine(name, folder / name, sharing.FOLDER)
    return folder / "desk"


def _machine(name: str, home: Path, kept: Path) -> None:
    journal, agents = sharing.restored(name, home, kept)
    (home / "replica").write_text(f"{journal.replica}\n", encoding="utf-8")
    journal.close()
    agents.close()


HOMES: dict[str, KeptHome] = {
    "demo": KeptHome(
        "2027-01-07T09:00:30.000000Z",
        _lived("demo"),
        (
            "Fix the dripping kitchen tap",
            "Mend the garden fence",
            "Paint the door",
            "Look after the old boiler",
        ),
    ),
    "demo-data": KeptHome("2026-02-02T12:00:00.000000Z", _lived("demo-data")),
    "0.1.0": KeptHome("2027-01-07T09:00:00.000000Z", _of_format("0.1.0")),
    "0.2.0": KeptHome("2027-01-07T09:00:00.000000Z", _of_format("0.2.0")),
    "pair": KeptHome("2027-01-07T09:00:00.000000Z", _pair),
}
READABLE = "demo"
"""The home whose outputs are kept word for word."""
