"""`wakelog write-back`: what was done here stands in the file, and all else as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.usecases.import_sources import ParsedFile, given_file, read_file
from adapters.usecases.import_tasks import Importing
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
    assert file.read_text() == "x 2027-01-01 Call Mom +Family pri:A\n(A) Buy oat milk @shop\nRest\n"
    assert told(["import", str(file)], home)["events"] == 0


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
    proved(home)


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
    proved(home)


def test_lines_of_one_title_are_told_apart_with_their_days(home: Path, tmp_path: Path) -> None:
    """Older readers took the day for words of the title, of which the ids are made."""
    file = tmp_path / "TODO.md"
    before = "- [ ] Late 📅 2027-02-12\n# Home\n- [ ] Paint\n# Work\n- [ ] Paint\n"
    file.write_text(before)
    done(["import", str(file)], home)
    ids = [one["id"] for one in told(["task", "list"], home)]
    done(["done", *ids], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text().count("✅ 2027-01-01") == 3
    assert told(["import", str(file)], home)["events"] == 0
    for one in ids:
        done(["task", "set", one, "--status", "open"], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text() == before
    assert told(["import", str(file)], home)["events"] == 0


def test_one_of_two_equal_lines_is_ticked_with_its_day(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Late 📅 2027-02-12\n- [ ] Paint\n- [ ] Paint\n- [ ] Sand\n")
    done(["import", str(file)], home)
    ids = [one["id"] for one in told(["task", "list"], home)]
    done(["done", ids[1], ids[3]], home)
    assert written(home, file)["left_out"] == []
    assert file.read_text() == (
        "- [ ] Late 📅 2027-02-12\n"
        "- [x] Paint ✅ 2027-01-01\n- [ ] Paint\n- [x] Sand ✅ 2027-01-01\n"
    )
    assert told(["import", str(file)], home)["events"] == 0
    assert [one["id"] for one in told(["task", "list"], home)] == ids


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


# ------------------------------------------------------------------------------- tasks of no file

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
    proved(home)


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
    assert "--add belongs to one file" in refused(["write-back", "a.md", "b.md", "--add"], home)
