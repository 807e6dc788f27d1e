"""The folder of forks as somebody may leave it: strange names, links, halves, pipes, no rights."""

import json
import os
from pathlib import Path

import pytest

from adapters.usecases import forks
from adapters.web.site import Site
from domain.errors import Refused

ABOUT = json.dumps({"run_key": "run1", "forked_run_key": "run2", "made_at": "2026-01-01T00:00:00Z"})


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "fork.json").write_text(ABOUT, encoding="utf-8")
    (folder / "journal.db").write_bytes(b"a log")
    return folder


def test_what_is_no_fork_is_not_listed_and_stays(tmp_path: Path) -> None:
    kept = tmp_path / "forks"
    strange = ("run1-0", "RUN1-1", "..-1", "run1-1 ", "run1", "-1", "run1-123456", "\u202erun-1")
    for name in strange:
        made(kept / name)
    (kept / "half-1").mkdir()
    made(kept / "torn-1").joinpath("fork.json").write_text(ABOUT[:40], encoding="utf-8")
    made(kept / "bytes-1").joinpath("fork.json").write_bytes(b"\xff\x00")
    os.mkfifo(kept / "half-1" / "fork.json")
    (kept / "file-1").write_text(ABOUT, encoding="utf-8")
    made(kept / "run1-1")
    there = sorted(one.name for one in kept.iterdir())
    assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    for name in (*strange, "half-1", "torn-1", "bytes-1", "file-1", "../forks/run1-1", "", "."):
        with pytest.raises(Refused, match="there is no fork"):
            forks.delete_fork(tmp_path, name)
    assert sorted(one.name for one in kept.iterdir()) == there


def test_what_was_left_half_goes_as_the_page_begins_unless_one_is_being_made(
    tmp_path: Path,
) -> None:
    forks.remove_unfinished(tmp_path)
    assert not (tmp_path / "forks").exists()
    kept = made(tmp_path / "forks" / "run1-1").parent
    for name in (".run1-2.making", ".run1-3.going"):
        made(kept / name)
    assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    with forks.new_fork(tmp_path, "run4", "", is_alone=False) as (_, making):
        made(making)
        forks.remove_unfinished(tmp_path)
        made(kept / ".run1-2.making")
        assert [one.name for one in forks.kept_forks(tmp_path)] == ["run1-1"]
    assert sorted(one.name for one in kept.iterdir()) == [".run1-2.making", "run1-1", "run4-1"]
    Site(tmp_path, {}).close()
    assert sorted(one.name for one in kept.iterdir()) == ["run1-1", "run4-1"]


def test_of_a_link_the_link_is_deleted_and_nothing_behind_it(tmp_path: Path) -> None:
    behind = made(tmp_path / "elsewhere")
    kept = made(tmp_path / "forks" / "run1-1").parent
    (kept / "run1-2").symlink_to(behind)
    forks.delete_fork(tmp_path, "run1-2")
    assert sorted(one.name for one in kept.iterdir()) == ["run1-1"]
    assert (behind / "journal.db").read_bytes() == b"a log"
    (kept / "run1-1" / "link").symlink_to(behind)
    (kept / ".run1-1.going").write_text("in the way", encoding="utf-8")
    (kept / ".run1-9.making").symlink_to(behind)
    forks.delete_fork(tmp_path, "run1-1")
    assert (list(kept.iterdir()), len(list(behind.iterdir()))) == ([], 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="the system refuses root nothing")
def test_a_folder_that_cannot_be_changed_is_told_in_one_line(tmp_path: Path) -> None:
    kept = made(tmp_path / "forks" / "run1-1").parent
    kept.chmod(0o500)
    with pytest.raises(Refused, match="cannot be used: Permission"):
        forks.delete_fork(tmp_path, "run1-1")
    kept.chmod(0o700)
    assert (kept / "run1-1" / "journal.db").exists()
