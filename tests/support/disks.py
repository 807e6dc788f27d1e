"""Disks that fill up quickly, mounted in memory: only root can make one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def mount(*args: str) -> None:
    subprocess.run(["mount", *args], check=True, capture_output=True)


@contextmanager
def small_disk(disk: Path, megabytes: int) -> Iterator[Path]:
    """A disk of so many megabytes at a new folder; the test is skipped where there can be none."""
    disk.mkdir()
    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    try:
        mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small disk cannot be mounted here: {error}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True, capture_output=True)
