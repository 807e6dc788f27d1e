"""The histories that are kept here, each once however many files say it."""

import gzip
from pathlib import Path

from tests.histories.scenes import FOLDER


def each_once() -> list[Path]:
    """The files of all histories but of formats; one of those that say the very same bytes.

    Closed scaffolds are kept packed. As long as scenes are still written under the last one, its
    packed files say what the scenes beside them say, and proving both would prove one thing twice.
    """
    found: dict[bytes, Path] = {}
    files = [file for file in FOLDER.glob("**/*.jsonl*") if "formats" not in file.parts]
    for file in sorted(files, key=lambda one: (one.suffix == ".gz", one)):
        found.setdefault(said(file), file)
    return sorted(found.values())


def said(file: Path) -> bytes:
    """What a file says, unpacked."""
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def unpacked(file: Path, folder: Path) -> Path:
    """A file to read: itself, or what is packed in it, below `folder`."""
    if file.suffix != ".gz":
        return file
    found = folder / file.stem
    found.write_bytes(said(file))
    return found
