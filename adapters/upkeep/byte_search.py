"""Searches every byte of files for texts, in a process of its own: who closes a log's file that was
opened by hand drops the locks that SQLite holds on it in that process (ADR 20)."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct


class Asked(Struct, frozen=True):
    folder: str
    wanted: list[bytes]


class Found(Struct, frozen=True):
    """How many files there are in a folder, and which of them, by their paths in it, hold any."""

    files: int
    holding: list[str]


def files_with(folder: Path, wanted: Iterable[bytes]) -> Found:
    """The files below a folder that hold any of these bytes, whoever wrote them."""
    asked = msgspec.json.encode(Asked(str(folder), sorted(set(wanted))))
    command = [sys.executable, "-P", __file__]  # nothing of the working folder is imported
    told = subprocess.run(command, input=asked, capture_output=True, check=True)
    return msgspec.json.decode(told.stdout, type=Found)


def _looked(asked: Asked) -> Found:
    folder = Path(asked.folder)
    every = sorted(one for one in folder.rglob("*") if one.is_file())
    holding = [one for one in every if _holds(one, asked.wanted)]
    return Found(len(every), [str(one.relative_to(folder)) for one in holding])


def _holds(path: Path, wanted: Iterable[bytes]) -> bool:
    """One that cannot be read may hold any."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(one in data for one in wanted)


if __name__ == "__main__":
    found = _looked(msgspec.json.decode(sys.stdin.buffer.read(), type=Asked))
    sys.stdout.buffer.write(msgspec.json.encode(found))
