"""`wakelog write-back` and `export --markdown`: what a file says then, and what stays as it was."""

import fcntl
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.home.atomic_write import replace_if_unchanged
from adapters.usecases.import_sources import ParsedFile, given_file, read_file
from adapters.usecases.import_tasks import Importing
from adapters.wiring import open_home
from domain.errors import Refused
from tests.support.cli import FIXED, done, proved, refused, run, told

# --------------------------------------------------------------------------------------- write-back


TODO = (
    b"\xef\xbb\xbf# Home\r\n\r\nSome words.\r\n"
    b"- [ ] Paint the door ~2h !p1 #green due:2027-02-12\r\n"
    b"  - [ ] Sand it\r\n  - [x] Buy paint\r\n\r\n  Ann prefers green.\r\n* [ ] Fix the tap\r\n"
    b"- [ ] Call Ann"
)


DOOR = "Paint the red door"


@pytest.fixture
def todo(home: Path, tmp_path: Path) -> Path:
    """A file, imported; and what was done to its tasks since."""
    file = tmp_path / "TODO.md"
    file.write_bytes(TODO)
    file.chmod(0o640)
    done(["import", str(file)], home)
    for line in (
        ["task", "set", "Paint the door", "--due", "2027-03-01", "--estimate", "none"],
        ["task", "set", "Paint the door", "--title", DOOR, "--priority", "P3"],
        ["task", "check", DOOR, "1"],
        ["task", "item", "add", DOOR, "Clean up"],
        ["task", "item", "add", "Fix the tap", "Buy a seal"],
        ["task", "set", "Fix the tap", "--status", "done"],
        ["task", "set", "Call Ann", "--status", "blocked", "--reason", "She is away"],
    ):
        done(line, home)
    return file


def written(home: Path, file: Path) -> Any:
    (found,) = told(["write-back", str(file)], home)["files"]
    return found


def test_what_was_done_stands_in_the_file_and_all_else_as_it_was(home: Path, todo: Path) -> None:
    text = done(["write-back", str(todo)], home)
    assert "8 written, 1 left out" in text
    assert "Call Ann: status cannot be said in the file" in text
    wanted = TODO.replace(
        b"Paint the door ~2h !p1 #green due:2027-02-12",
        b"Paint the red door !p3 #green due:2027-03-01",
    )
    wanted = wanted.replace(b"[ ] Sand", b"[x] Sand")
    wanted = wanted.replace(b"Buy paint\r\n", b"Buy paint\r\n  - [ ] Clean up\r\n")
    wanted = wanted.replace(b"[ ] Fix the tap\r\n", b"[x] Fix the tap\r\n  - [ ] Buy a seal\r\n")
    assert todo.read_bytes() == wanted
    assert todo.with_name("TODO.md.bak").read_bytes() == TODO
    assert todo.stat().st_mode & 0o777 == 0o640
    rows = proved(home)
    assert told(["import", str(todo)], home)["events"] == 0
    assert [one["field"] for one in written(home, todo)["left_out"]] == ["status"]
    assert proved(home) == rows


@pytest.mark.parametrize("more", [[], ["--add"]])
def test_what_would_be_written_is_what_is_written_then(
    home: Path, todo: Path, more: list[str]
) -> None:
    done(["add", "Mow"], home)
    rows, line = proved(home), ["write-back", str(todo), *more]
    would = told([*line, "--dry-run"], home)
    text = done([*line, "--dry-run"], home)
    assert "8 would be written" in text
    assert (todo.read_bytes(), proved(home)) == (TODO, rows)
    assert not todo.with_name("TODO.md.bak").exists()
    assert told(line, home) == would


def test_todo_txt_is_written_as_its_clients_write_it(home: Path, tmp_path: Path) -> None:
    """The day is that of the person's zone; the day of creation stands only where it stood."""
    file = tmp_path / "todo.txt"
    before = (
        "(A) 2026-11-01 Call Mom +Family @phone due:2027-02-12\n(B) Water the fern\r\n"
        "2026-12-01 Buy milk\nx 2026-12-24 2026-12-01 Wrap it pri:C\nx (D) Bake\n"
    )
    file.write_bytes(before.encode())
    done(["import", str(file)], home)
    late = {"WAKELOG_NOW": "2027-01-01T23:30:00Z", "WAKELOG_TIMEZONE": "Europe/Berlin"}
    done(["done", "Call Mom", "Water the fern", "Buy milk"], home, env=late)
    done(["task", "set", "Bake", "--priority", "P0"], home)
    (found,) = told(["write-back", str(file)], home, env=late)["files"]
    assert (len(found["written"]), found["left_out"]) == (4, [])
    assert file.read_bytes().decode() == (
        "x 2027-01-02 2026-11-01 Call Mom +Family @phone due:2027-02-12 pri:A\n"
        "x 2027-01-02 Water the fern pri:B\r\nx 2027-01-02 2026-12-01 Buy milk\n"
        "x 2026-12-24 2026-12-01 Wrap it pri:C\nx Bake pri:A\n"
    )
    assert told(["import", str(file)], home, env=late)["events"] == 0
    assert told(["conflicts"], home) == []
    for title in ("Call Mom", "Water", "Buy", "Wrap", "Bake"):
        done(["task", "set", title, "--status", "open"], home)
    done(["write-back", str(file)], home)
    after = before.replace("x (D) Bake", "(A) Bake").replace(
        "x 2026-12-24 2026-12-01 Wrap it pri:C", "(C) 2026-12-01 Wrap it"
    )
    assert file.read_bytes().decode() == after
    assert told(["import", str(file)], home)["events"] == 0


@pytest.mark.parametrize(
    "others", ["- [x] Old ✅ 2026-12-24\n", "- [ ] Later 🛫 2027-06-01\n", "- [ ] Soon ⏫\n"]
)
def test_a_file_that_says_days_is_told_the_day(home: Path, tmp_path: Path, others: str) -> None:
    file = tmp_path / "TODO.md"
    before = f"{others}- [ ] Paint 📅 2027-02-12 ^a1b2\n  - [ ] Sand\n- [ ] Call Ann"
    file.write_text(before)
    done(["import", str(file)], home)
    done(["done", "Paint"], home)
    done(["task", "check", "Paint", "1"], home)
    done(["task", "set", "Call Ann", "--status", "rejected", "--reason", "She called"], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text() == (
        f"{others}- [x] Paint 📅 2027-02-12 ✅ 2027-01-01 ^a1b2\n  - [x] Sand\n"
        "- [-] Call Ann ❌ 2027-01-01"
    )
    assert told(["import", str(file)], home)["events"] == 0
    assert told(["task", "show", "Call Ann"], home)["history"][-1]["reason"] == "She called"
    assert told(["conflicts"], home) == []
    done(["task", "set", "Call Ann", "--status", "done"], home)
    done(["task", "set", "Paint", "--status", "open"], home)
    done(["task", "uncheck", "Paint", "1"], home)
    assert written(home, file)["left_out"] == []
    wanted = before.replace("- [ ] Call Ann", "- [x] Call Ann ✅ 2027-01-01")
    assert file.read_text() == wanted
    assert told(["import", str(file)], home)["events"] == 0


def test_a_file_that_says_no_days_is_told_none(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] ✅ the review due:2027-02-12\n- [ ] Call Ann\n")
    done(["import", str(file)], home)
    done(["done", "Ann"], home)
    done(["write-back", str(file)], home)
    assert file.read_text() == "- [ ] ✅ the review due:2027-02-12\n- [x] Call Ann\n"


def test_another_day_than_that_on_which_it_was_done_here_is_news(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("Call Ann\n")
    done(["import", str(file)], home)
    done(["done", "Ann"], home)
    file.write_text("x 2026-12-24 Call Ann\n")
    assert told(["import", str(file)], home)["files"][0]["changed"] == 1
    assert [one["field"] for one in told(["conflicts"], home)] == ["status"]


def test_what_file_and_person_say_differently_is_told_as_left_out(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint due:2027-02-12\n- [ ] Call Ann\n")
    done(["import", str(file)], home)
    done(["task", "set", "Paint", "--due", "2027-03-01"], home)
    done(["done", "Ann"], home)
    file.write_text("- [ ] Paint due:2027-02-20\n- [ ] Call Ann\n")
    done(["import", str(file)], home)
    said = run(["write-back", str(file)], home)
    assert "1 written, 1 left out" in said.stdout
    assert "Paint: due: 2027-03-01 here, 2027-02-20 in TODO.md" in said.stdout
    assert "wakelog settle TASK FIELD --keep file|mine" in said.stderr
    (left,) = written(home, file)["left_out"]
    assert (left["field"], left["because"]) == ("due", "both_changed")
    assert file.read_text() == "- [ ] Paint due:2027-02-20\n- [x] Call Ann\n"
    done(["settle", "Paint", "due", "--keep", "mine"], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text() == "- [ ] Paint due:2027-03-01\n- [x] Call Ann\n"


ODD = ["[x] Sand #1 all", "[[Paint]] <b>due:2027-01-01</b>", "Thrice"]


def test_odd_and_new_titles_are_escaped_and_the_next_import_finds_them(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_bytes(
        b"\xef\xbb\xbf- [ ] **Paint** the \\#1 *door* ~2h\r\n  - [ ] Sand *it*\r\n"
        b"  - [x] Buy paint\r\n  - [ ] Twice\r\n  - [ ] twice\r\n\r\n- [ ] Call Ann\r\n"
        b"- [ ] Call Ann\r\n- [ ] Bob"
    )
    done(["import", str(file)], home)
    paint, ann, _, bob = (one["id"] for one in told(["task", "list"], home))
    for nth, title in enumerate(ODD, start=1):
        done(["task", "item", "rename", paint, str(nth), title], home)
    done(["task", "check", paint, "1"], home)
    done(["task", "item", "add", paint, "--", "- [ ] *new* #one", "due:2027-02-02"], home)
    done(["task", "set", paint, "--title", "[x] #paint due:2027-01-01, !p1"], home)
    done(["task", "set", ann, "--title", "Call Eve"], home)
    done(["task", "set", bob, "--title", "~2h"], home)
    found = written(home, file)
    assert [one["field"] for one in found["left_out"]] == ["item title Twice"]
    text = file.read_bytes().decode("utf-8-sig")
    assert text == (
        "- [ ] \\[x\\] \\#paint due\\:2027\\-01\\-01\\, \\!p1 ~2h\r\n"
        "  - [x] [x] Sand #1 all\r\n"
        "  - [x] [[Paint]] <b>due:2027-01-01</b>\r\n"
        "  - [ ] Twice\r\n  - [ ] twice\r\n"
        "  - [ ] - \\[ \\] \\*new\\* \\#one\r\n  - [ ] due:2027-02-02\r\n\r\n"
        "- [ ] Call Eve\r\n- [ ] Call Ann\r\n- [ ] \\~2h"
    )
    assert told(["import", str(file)], home)["events"] == 0
    assert written(home, file)["written"] == []
    assert len(told(["task", "show", paint], home)["items"]) == 6


def test_a_file_that_was_exported_says_every_status_and_why(home: Path, tmp_path: Path) -> None:
    for title, status in (("Ann", "blocked"), ("Bob", "on hold"), ("Eve", "open")):
        done(["task", "add", title, "--due", "2027-03-01"], home)
        done(["task", "set", title, "--status", status, "--reason", "No: *time*"], home)
    file, fresh = tmp_path / "tasks.md", tmp_path / "fresh"
    done(["export", "--markdown", str(file)], home)
    done(["import", str(file)], fresh)
    done(["done", "Ann"], fresh)
    done(["task", "set", "Bob", "--status", "open"], fresh)
    done(["task", "set", "Eve", "--status", "blocked", "--reason", "> so"], fresh)
    assert written(fresh, file)["left_out"] == []
    assert file.read_text().partition("# Inbox\n\n")[2] == (
        "- [x] Ann due:2027-03-01\n\n- [ ] Bob due:2027-03-01\n\n"
        "- [ ] Eve due:2027-03-01 status:blocked\n  because: \\> so\n"
    )
    assert told(["import", str(file)], fresh)["events"] == 0


def test_what_cannot_be_written_is_refused_and_stays_as_it_is(
    home: Path, todo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "tasks.json"
    other.write_text('[{"uuid": "a1", "description": "Fix the tap"}]')
    todo.write_bytes(TODO.replace(b"Call Ann", b"Call Bob"))
    for args, because in (
        (["-", "--source", "x"], "no file that could be written"),
        (["https://example.org/TODO.md", "--source", "x"], "no file"),
        ([str(other)], "use Markdown or todo.txt"),
        ([str(todo)], "import it first [stale]"),
        (["a.md", "b.md", "--add"], "--add belongs to one file"),
    ):
        assert because in refused(["write-back", *args], home)
    assert todo.read_bytes() == TODO.replace(b"Call Ann", b"Call Bob")


def test_a_line_that_an_older_version_imported_is_ticked_and_read_as_if_edited(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint ⏫\n- [ ] Call ⏫\n- [ ] Rest 🔽\n")
    opened = open_home(home, FIXED, is_writing=True)
    read = read_file(opened, given_file(str(file), file.name), FIXED).file
    Importing().take(opened, file.name, ParsedFile(replace(read, tasks=read.earlier, earlier=())))
    opened.close()
    assert told(["import", str(file)], home)["events"] == 0
    done(["done", "Paint"], home)
    done(["task", "set", "Call", "--priority", "P0"], home)
    done(["task", "set", "Rest", "--status", "blocked", "--reason", "x"], home)
    found = written(home, file)
    assert [one["field"] for one in found["written"]] == ["status"]
    assert [one["field"] for one in found["left_out"]] == ["status", "priority"]
    assert file.read_text() == "- [x] Paint ⏫ ✅ 2027-01-01\n- [ ] Call ⏫\n- [ ] Rest 🔽\n"
    shown = {one["title"]: one["priority"] for one in told(["task", "list", "--all"], home)}
    assert shown == {"Paint": "P1", "Call": "P0", "Rest 🔽": "P2"}
    assert [one["field"] for one in told(["conflicts"], home)] == ["priority"]
    assert len(found["read_anew"]) == 2
    assert told(["import", str(file)], home)["events"] == 0


def test_without_a_name_all_that_can_be_written_is_whatever_else_was_imported(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"a.md": "- [ ] Ann", "b.md": "- [ ] Bob", "c.txt": "(B) Eve"}
    texts["b.json"] = '[{"uuid": "a1", "description": "Fix the tap", "status": "pending"}]'
    for name, text in texts.items():
        Path(name).write_text(text)
    done(["import", *sorted(texts)], home)
    for name in ("Ann", "Bob", "Eve"):
        done(["done", name], home)
    Path("a.md").write_text("- [ ] Ann\n- [ ] New")
    result = run(["--json", "write-back"], home)
    assert (result.exit_code, "import it first" in result.stderr) == (2, True)
    files = [one["file"] for one in json.loads(result.stdout)["files"]]
    assert files == ["b.md", "c.txt"]
    assert (Path("b.md").read_text(), Path("c.txt").read_text()) == (
        "- [x] Bob",
        "x 2027-01-01 Eve pri:B",
    )
    done(["import", "a.md"], home)
    assert "a.md: 1 written" in done(["write-back"], home)


def test_a_line_is_ticked_only_as_it_stood_when_its_task_was_done(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Pay rent due:2027-01-05\n- [ ] Call Ann\n- [ ] Sand\n")
    done(["import", str(file)], home)
    done(["task", "set", "Sand", "--title", "Sand it"], home)
    done(["done", "rent", "Ann", "Sand"], home)
    file.write_text("- [ ] Pay rent due:2027-02-05\n- [ ] Call Anne\n- [ ] Sand\n")
    done(["import", str(file)], home)
    found = written(home, file)
    assert [one["because"] for one in found["left_out"]] == ["closed_as_another"] * 2
    assert file.read_text() == "- [ ] Pay rent due:2027-02-05\n- [ ] Call Anne\n- [x] Sand it\n"
    assert "open it here" in done(["write-back", str(file)], home)


HOUSE = "- [ ] Loose\n\n# House\n\n- [ ] Paint\n  - [ ] Sand\n\n  A note.\n\n# Work\n- [ ] Report"


def test_tasks_of_no_file_get_a_line_below_their_heading(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(HOUSE)
    done(["import", str(file)], home)
    done(["category", "add", "Garden"], home)
    made = ["task", "add", "Mow the #lawn", "--category", "Garden", "--due", "2027-04-01"]
    done([*made, "--item", "Fuel"], home)
    done(["task", "add", "日本語", "--category", "House", "--priority", "P1"], home)
    done(["task", "add", "In the box"], home)
    ids = {one["id"] for one in told(["task", "list"], home)[3:]}
    (found,) = told(["write-back", str(file), "--add"], home)["files"]
    assert ({*found["added"]}, found["not_added"]) == (ids, [])
    assert file.read_text() == (
        "- [ ] Loose\n- [ ] In the box\n\n# House\n\n- [ ] Paint\n  - [ ] Sand\n\n  A note.\n"
        "- [ ] 日本語 !p1\n\n# Work\n- [ ] Report\n\n"
        "# Garden\n\n- [ ] Mow the \\#lawn due:2027-04-01\n  - [ ] Fuel\n"
    )
    assert told(["import", str(file)], home)["events"] == 0
    assert told(["write-back", str(file), "--add"], home)["files"][0]["added"] == []


def test_a_task_is_added_to_a_file_at_once_and_told_where_it_cannot_be(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("Call Mom\n")
    done(["import", str(file)], home)
    done(["task", "add", "Bread", "--due", "2027-01-01", "--file", str(file)], home)
    assert file.read_text() == "Call Mom\nBread due:2027-01-01\n"
    assert told(["import", str(file)], home)["events"] == 0
    result = run(["task", "add", "x +y", "--file", str(file)], home)
    assert (result.exit_code, "cannot be said" in result.stderr) == (1, True)
    file.write_text("Call Mom\nBread due:2027-01-01\nNew\n")
    result = run(["task", "add", "Milk", "--file", str(file)], home)
    assert (result.exit_code, "import it first" in result.stderr) == (1, True)
    assert len(told(["task", "list"], home)) == 4


def test_what_is_written_back_stands_where_obsidian_reads_it(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(
        "- [ ] Paint 🔼 🔁 every week 📅 2027-02-01 ^p1\n- [ ] Plan ⏳ 2027-02-01\n- [ ] Go ^g1\n"
    )
    done(["import", str(file)], home)
    fields = ("--due", "2027-02-03", "--priority", "P0", "--estimate", "2h")
    for task in ("Paint", "Plan", "Go"):
        done(["task", "set", task, *fields], home)
    assert "0 left out" in done(["write-back", str(file)], home)
    assert file.read_text() == (
        "- [ ] Paint ~2h 🔺 🔁 every week 📅 2027-02-03 ^p1\n"
        "- [ ] Plan ~2h 🔺 📅 2027-02-03 ⏳ 2027-02-01\n"
        "- [ ] Go due:2027-02-03 !p0 ~2h ^g1\n"
    )
    assert told(["import", str(file)], home)["events"] == 0


# --------------------------------------------------------------------- `export --markdown` (ADR 53)


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
    assert "are of tasks" in refused(["export", "--parquet", "x", "--open"], made)


# ----------------------------------------------------------------------------- the step on the disk


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
    replace_if_unchanged(file, b"newer", NEW, DAY + timedelta(days=1))
    assert copy.read_bytes() == b"newer"


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
