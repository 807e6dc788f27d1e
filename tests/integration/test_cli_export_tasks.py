"""`wakelog export --markdown`: the file is written once, whole, and imports to the same tasks."""

from pathlib import Path

import pytest

from tests.support.cli import done, refused, told

WANTED = """\
<!-- wakelog tasks 1: import this file; a backslash keeps a sign from being a mark -->

# Home

- [ ] Wait for \\#one \\[x\\] ~1h30m !p1 due:2027-03-01 #green status:blocked ^1
  because: Ann is away
  > So it
  >
  > is

  \\# a note

  - [x] Ask

# Work

- [x] Report
  blocks: ^1
"""


@pytest.fixture
def made(home: Path) -> Path:
    done(["category", "add", "Work"], home)
    done(["category", "add", "Home"], home)
    wait = ["task", "add", "Wait for #one [x]", "--category", "Home", "--priority", "P1"]
    done([*wait, "--due", "2027-03-01", "--estimate", "90", "--description", "So it\n\nis"], home)
    done(["task", "item", "add", "Wait", "Ask"], home)
    done(["task", "check", "Wait", "1"], home)
    done(["label", "add", "green"], home)
    done(["label", "assign", "Wait", "green"], home)
    done(["task", "note", "Wait", "# a note"], home)
    done(["task", "set", "Wait", "--status", "blocked", "--reason", "Ann is away"], home)
    done(["task", "add", "Report", "--category", "Work"], home)
    done(["done", "Report"], home)
    done(["task", "link", "Report", "blocks", "Wait"], home)
    done(["task", "add", "Gone"], home)
    done(["task", "delete", "Gone"], home)
    return home


def test_a_file_holds_all_and_is_not_written_over(made: Path, tmp_path: Path) -> None:
    file, fresh = tmp_path / "tasks.md", tmp_path / "fresh"
    told_of = told(["export", "--markdown", str(file)], made)
    assert told_of == {"file": str(file), "tasks": 2, "bytes": len(WANTED)}
    assert file.read_text() == WANTED
    assert file.stat().st_mode & 0o777 == 0o600
    assert "is there already" in refused(["export", "--markdown", str(file)], made)
    one = ["export", "--markdown", str(file), "--replace", "--open", "--category", "home"]
    assert done(one, made) == f"Wrote 1 task to {file}\n"
    assert "Report" not in file.read_text()
    assert done(["export", "--markdown", "-"], made) == WANTED
    file.write_text(WANTED)
    done(["import", str(file)], fresh)
    assert done(["export", "--markdown", "-"], fresh) == WANTED
    assert told(["import", str(file)], fresh)["events"] == 0
    done(["task", "unlink", "Report", "blocks", "Wait"], fresh)
    assert told(["import", str(file)], fresh)["events"] == 0
    assert told(["prove"], fresh)["ok"]


@pytest.mark.parametrize("is_there", [True, False])
def test_no_link_is_followed(made: Path, tmp_path: Path, *, is_there: bool) -> None:
    target, link = tmp_path / "mine.txt", tmp_path / "tasks.md"
    if is_there:
        target.write_text("mine")
    link.symlink_to(target)
    for more in ([], ["--replace"]):
        line = refused(["export", "--markdown", str(link), *more], made)
        assert f"is a link, and no link is followed; name {target} itself" in line
    assert link.is_symlink()
    assert (target.read_text() if target.exists() else None) == ("mine" if is_there else None)


def test_what_cannot_be_written_is_refused(made: Path, tmp_path: Path) -> None:
    export = ["export", "--markdown"]
    assert "is no file" in refused([*export, str(tmp_path), "--replace"], made)
    assert "cannot be written" in refused([*export, str(tmp_path / "no" / "a.md")], made)
    assert "is a database" in refused([*export, str(made / "journal.db"), "--replace"], made)
    assert "name a file" in refused(["--json", *export, "-"], made).replace('"', "")
    assert "one of --markdown FILE" in refused(["export", "--open"], made)
    assert "are of --markdown" in refused(["export", "--parquet", "x", "--open"], made)
