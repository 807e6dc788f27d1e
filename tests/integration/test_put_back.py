"""A file of a person gets another content in one step, or stays as it is."""

import fcntl
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.home.atomic_write import replace_if_unchanged
from domain.errors import Refused

DAY = datetime(2027, 1, 1, 9, tzinfo=UTC)
OLD, NEW = b"old\r\n", b"new\r\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "lists" / "TODO.md"
    made.parent.mkdir()
    made.write_bytes(OLD)
    made.chmod(0o600)
    return made


def beside(file: Path) -> list[str]:
    return sorted(one.name for one in file.parent.iterdir())


def test_what_was_read_is_replaced_and_kept_once_a_day(file: Path) -> None:
    replace_if_unchanged(file, OLD, NEW, DAY)
    assert (file.read_bytes(), file.stat().st_mode & 0o7777) == (NEW, 0o600)
    replace_if_unchanged(file, NEW, b"newer", DAY)
    copy = file.with_name("TODO.md.bak")
    assert (copy.read_bytes(), copy.stat().st_mode & 0o7777) == (OLD, 0o600)
    assert beside(file) == ["TODO.md", "TODO.md.bak"]


def test_a_file_that_was_changed_meanwhile_stays_as_it_is(file: Path) -> None:
    with pytest.raises(Refused, match="changed while it was written; import it first"):
        replace_if_unchanged(file, b"older", NEW, DAY)
    assert beside(file) == ["TODO.md"]
    replace_if_unchanged(file, OLD, NEW, DAY)
    with pytest.raises(Refused, match="import it first"):  # the second of two who read the same
        replace_if_unchanged(file, OLD, b"other", DAY)
    assert file.read_bytes() == NEW


def test_owner_and_mode_are_those_of_the_target_and_the_link_stays(
    file: Path, tmp_path: Path
) -> None:
    file.chmod(0o4640)
    if os.geteuid() == 0:
        os.chown(file, 1234, 1235)
        file.chmod(0o4640)
    was, link = file.stat(), tmp_path / "TODO.md"
    link.symlink_to(Path("lists") / "TODO.md")
    replace_if_unchanged(link, OLD, NEW, DAY)
    now = file.stat()
    assert (now.st_uid, now.st_gid, now.st_mode) == (was.st_uid, was.st_gid, was.st_mode)
    assert link.is_symlink()
    assert file.read_bytes() == NEW


def test_a_copy_is_a_file_of_its_own_whatever_had_its_name(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    file.with_name("TODO.md.bak").symlink_to(other)
    replace_if_unchanged(file, OLD, NEW, DAY)
    assert other.read_bytes() == b"mine"
    assert file.with_name("TODO.md.bak").read_bytes() == OLD


def test_where_no_copy_can_be_made_nothing_is_written(file: Path) -> None:
    file.with_name("TODO.md.bak").mkdir()
    with pytest.raises(Refused, match="cannot be written: Is a directory"):
        replace_if_unchanged(file, OLD, NEW, DAY)
    assert file.read_bytes() == OLD
    assert beside(file) == ["TODO.md", "TODO.md.bak"]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_where_there_is_no_room_the_file_stays(file: Path) -> None:
    with room_for(100), pytest.raises(Refused, match="cannot be written: File too large"):
        replace_if_unchanged(file, OLD, b"x" * 101, DAY)
    assert file.read_bytes() == OLD
    assert beside(file) == ["TODO.md", "TODO.md.bak"]


def test_two_at_once_are_one_after_the_other(file: Path) -> None:
    opened = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX)
    with pytest.raises(Refused, match="another process writes beside"):
        replace_if_unchanged(file, OLD, NEW, DAY)
    os.close(opened)
    replace_if_unchanged(file, OLD, NEW, DAY)
    assert file.read_bytes() == NEW


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written_is_told(file: Path) -> None:
    file.parent.chmod(0o500)
    try:
        with pytest.raises(Refused, match="give yourself permission"):
            replace_if_unchanged(file, OLD, NEW, DAY)
    finally:
        file.parent.chmod(0o700)
    assert file.read_bytes() == OLD
