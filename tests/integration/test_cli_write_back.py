"""`wakelog write-back`: what was done here stands in the file, and all else as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.actions.importing import Importing
from adapters.actions.sources import Found, given_file, read_file
from adapters.wiring import open_home
from tests.support.cli import FIXED, done, proved, refused, run, told

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


def test_a_link_is_followed_and_the_copy_is_of_the_days_first(
    home: Path, todo: Path, tmp_path: Path
) -> None:
    link = tmp_path / "lists" / "TODO.md"
    link.parent.mkdir()
    link.symlink_to(todo)
    assert len(written(home, link)["written"]) == 8
    assert link.is_symlink()
    done(["task", "set", "Call Ann", "--status", "done"], home)
    assert [one["field"] for one in written(home, todo)["written"]] == ["status"]
    assert todo.with_name("TODO.md.bak").read_bytes() == TODO
    later = {"WAKELOG_NOW": "2027-01-02T09:00:00Z"}
    done(["task", "set", "Call Ann", "--due", "2027-01-03"], home, env=later)
    before = todo.read_bytes()
    done(["write-back", str(todo)], home, env=later)
    assert todo.with_name("TODO.md.bak").read_bytes() == before


def test_todo_txt_is_written_too(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("(A) Call Mom +Family due:2027-02-12\nBuy milk @shop\nx 2027-01-01 Rest\n")
    done(["import", str(file)], home)
    done(["task", "set", "Call Mom", "--status", "done", "--due", "none"], home)
    done(["task", "set", "Buy milk", "--priority", "P0", "--title", "Buy oat milk"], home)
    done(["task", "set", "Rest", "--status", "open"], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text() == "x (A) Call Mom +Family\n(A) Buy oat milk @shop\nRest\n"
    assert told(["import", str(file)], home)["events"] == 0


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
    assert [one["field"] for one in found["left_out"]] == ["item title Twice", "title"]
    text = file.read_bytes().decode("utf-8-sig")
    assert text == (
        "- [ ] \\[x\\] \\#paint due\\:2027\\-01\\-01\\, \\!p1 ~2h\r\n"
        "  - [x] [x] Sand #1 all\r\n"
        "  - [x] [[Paint]] <b>due:2027-01-01</b>\r\n"
        "  - [ ] Twice\r\n  - [ ] twice\r\n"
        "  - [ ] - \\[ \\] \\*new\\* \\#one\r\n  - [ ] due:2027-02-02\r\n\r\n"
        "- [ ] Call Ann\r\n- [ ] Call Ann\r\n- [ ] \\~2h"
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


def test_nothing_is_written_where_the_file_says_something_new(home: Path, todo: Path) -> None:
    todo.write_bytes(TODO.replace(b"Call Ann", b"Call Bob"))
    assert "import it first [stale]" in refused(["write-back", str(todo)], home)
    assert b"[x] Fix" not in todo.read_bytes()


@pytest.mark.parametrize(
    ("file", "why"),
    [("-", "no file that could be written"), ("https://example.org/TODO.md", "no file")],
)
def test_what_is_no_file_is_refused(home: Path, todo: Path, file: str, why: str) -> None:
    assert why in refused(["write-back", file, "--source", "x"], home)


def test_a_format_that_is_exported_anew_is_refused(home: Path, todo: Path, tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text('[{"uuid": "a1", "description": "Fix the tap"}]')
    assert "use Markdown or todo.txt" in refused(["write-back", str(file)], home)


def test_a_line_that_an_older_version_imported_is_ticked_and_read_as_if_edited(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint ⏫\n- [ ] Call ⏫\n- [ ] Rest 🔽\n")
    opened = open_home(home, FIXED, is_writing=True)
    read = read_file(opened, given_file(str(file), file.name), FIXED).file
    Importing().take(opened, file.name, Found(replace(read, tasks=read.earlier, earlier=())))
    opened.close()
    assert told(["import", str(file)], home)["events"] == 0
    done(["done", "Paint"], home)
    done(["task", "set", "Call", "--priority", "P0"], home)
    done(["task", "set", "Rest", "--status", "blocked", "--reason", "x"], home)
    found = written(home, file)
    assert [one["field"] for one in found["written"]] == ["status"]
    assert [one["field"] for one in found["left_out"]] == ["status"]
    assert file.read_text() == "- [x] Paint ⏫\n- [ ] Call ⏫\n- [ ] Rest 🔽\n"
    shown = {one["title"]: one["priority"] for one in told(["task", "list", "--all"], home)}
    assert shown == {"Paint": "P1", "Call": "P0", "Rest 🔽": "P2"}
    assert [one["field"] for one in told(["conflicts"], home)] == ["priority"]
    assert len(found["read_anew"]) == 2
    assert told(["import", str(file)], home)["events"] == 0
    proved(home)


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
    assert (Path("b.md").read_text(), Path("c.txt").read_text()) == ("- [x] Bob", "x (B) Eve")
    done(["import", "a.md"], home)
    assert "a.md: 1 written" in done(["write-back"], home)
