"""`wakelog import`: what it takes over, what it leaves alone, and what it says."""

from pathlib import Path
from typing import Any

import pytest

from adapters.usecases import import_tasks
from tests.support.cli import done, proved, refused, run, told

SAMPLES = Path(__file__).parents[1] / "data"
DATA = Path(__file__).parents[2].parent / "shared/data/markdown"

TODO = """\
# Home
- [ ] Paint the door ~2h !p1 #green due:2027-02-12
  - [x] Buy paint
  - [ ] Sand it

  Ann prefers green.
- [x] Fix the tap

# Work
- [ ] Write the report
"""


@pytest.fixture
def todo(tmp_path: Path) -> Path:
    file = tmp_path / "TODO.md"
    file.write_text(TODO)
    return file


def imported(home: Path, *args: object, **more: Any) -> Any:
    """The document of an import; it must end with status 0."""
    return told(["import", *map(str, args)], home, **more)


def counts(document: Any) -> tuple[int, int, int, int]:
    """Of one file: created, changed, unchanged, gone."""
    (file,) = document["files"]
    return file["created"], file["changed"], file["unchanged"], len(file["gone"])


def test_the_document_has_the_fixed_keys(home: Path, todo: Path) -> None:
    document = imported(home, todo)
    assert list(document) == ["files", "events"]
    assert document["files"] == [
        {
            "file": str(todo),
            "format": "markdown",
            "created": 3,
            "changed": 0,
            "unchanged": 0,
            "gone": [],
            "unreadable": [],
            "gone_items": [],
            "remarks": [],
            "boxes": {"read_as_open": 0, "left_out": 0},
            "keys_replaced": {},
            "conflicts": 0,
            "retitled": [],
            "gone_settled": [],
            "named": [],
            "agents": 0,
            "told": [],
            "deleted_here": [],
            "done_here": [],
            "added_here": [],
            "gone_held": [],
            "restored": [],
            "moved_from": "",
        }
    ]
    assert document["events"] == proved(home) - 1  # all but the epoch's row


def test_all_that_a_line_says_is_taken_over(home: Path, todo: Path) -> None:
    imported(home, todo)
    tasks = told(["task", "list"], home)
    assert [(task["title"], task["status"], task["category"]) for task in tasks] == [
        ("Paint the door", "OPEN", "Home"),
        ("Fix the tap", "DONE", "Home"),
        ("Write the report", "OPEN", "Work"),
    ]
    page = told(["task", "show", "Paint the door"], home)
    fields = ("priority", "estimate_minutes", "due_date", "labels", "checklist")
    assert [page[name] for name in fields] == [
        *("P1", 120, "2027-02-12"),
        ["green"],
        {"done": 1, "total": 2},
    ]
    assert page["items"][0]["checked_by"] == "import:TODO.md"
    assert [note["text"] for note in page["notes"]] == ["Ann prefers green."]


def test_the_same_file_twice_writes_nothing(home: Path, todo: Path) -> None:
    imported(home, todo)
    count = proved(home)
    again = imported(home, todo)
    assert (counts(again), again["events"]) == ((0, 0, 3, 0), 0)
    assert proved(home) == count


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the sample plans are not in {DATA}")
@pytest.mark.parametrize("headings", [[], ["--headings", "tasks"]])
def test_a_real_plan_twice_writes_nothing(home: Path, headings: list[str]) -> None:
    plan = DATA / "daily-os-plan.md"
    first = imported(home, plan, *headings)
    assert counts(first)[0] == (18 if headings else 95)
    count = proved(home)
    assert imported(home, plan, *headings)["events"] == 0
    assert proved(home) == count


def test_a_persons_edits_survive_what_the_file_changes(home: Path, todo: Path) -> None:
    imported(home, todo)
    done(["task", "set", "Paint the door", "--due", "2027-03-01", "--title", "Paint it"], home)
    todo.write_text(TODO.replace("~2h", "~3h").replace("- [ ] Write", "- [x] Write"))
    assert counts(imported(home, todo)) == (0, 2, 1, 0)
    page = told(["task", "show", "Paint it"], home)
    assert (page["due_date"], page["estimate_minutes"]) == ("2027-03-01", 180)


def test_a_name_that_is_spelled_otherwise_is_no_change(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("Paint the door +Home @green")
    imported(home, file)
    file.write_text("Paint the door +HOME @Green @new")
    assert counts(imported(home, file, "--key", "k")) == (0, 1, 0, 0)
    assert imported(home, file, "--key", "k")["events"] == 0
    (task,) = told(["task", "list"], home)
    assert (task["category"], task["labels"]) == ("Home", ["green", "new"])
    file.write_text("Paint the door +home @GREEN @NEW")
    assert imported(home, file)["events"] == 0


def test_what_is_gone_from_the_file_is_named_and_left_alone(home: Path, todo: Path) -> None:
    imported(home, todo)
    todo.write_text(TODO.replace("- [x] Fix the tap\n", "- [ ] Water the plants\n"))
    document = imported(home, todo)
    assert counts(document) == (1, 0, 2, 1)
    (gone,) = document["files"][0]["gone"]
    assert told(["task", "show", gone], home)["title"] == "Fix the tap"
    assert "Fix the tap" in done(["import", str(todo)], home)
    done(["task", "delete", gone], home)
    assert counts(imported(home, todo)) == (0, 0, 3, 0)


def test_items_that_are_gone_are_named_until_they_are_put_aside(home: Path, todo: Path) -> None:
    imported(home, todo)
    done(["task", "item", "add", "Paint the door", "Mine"], home)
    todo.write_text(TODO.replace("  - [x] Buy paint\n", "").replace("it\n", "it\n  - [ ] Call 2\n"))
    for _ in range(2):  # as with tasks, the second import says it, too
        (file,) = imported(home, todo)["files"]
        assert [one["title"] for one in file["gone_items"]] == ["Buy paint"]
    text = done(["import", str(todo)], home)
    assert ", 1 item gone" in text
    assert "Paint the door: Buy paint" in text
    text = done(["import", str(todo)], home)
    assert (", 1 item gone" in text, "Paint the door" in text) == (True, False)
    items = told(["task", "show", "Paint the door"], home)["items"]
    assert [one["title"] for one in items] == ["Buy paint", "Sand it", "Mine", "Call 2"]
    done(["task", "item", "archive", "Paint the door", file["gone_items"][0]["id"]], home)
    assert imported(home, todo)["files"][0]["gone_items"] == []


def test_an_item_that_is_renamed_in_the_file_stays_that_item(home: Path, todo: Path) -> None:
    imported(home, todo)
    done(["task", "check", "Paint the door", "2"], home)
    before = told(["task", "show", "Paint the door"], home)["items"]
    text = TODO.replace("Buy paint", "Buy red paint").replace("Sand it", "Sand it down")
    todo.write_text(text)
    document = imported(home, todo)
    assert counts(document) == (0, 1, 2, 0)
    assert document["files"][0]["gone_items"] == []
    items = told(["task", "show", "Paint the door"], home)["items"]
    assert [one["title"] for one in items] == ["Buy red paint", "Sand it down"]
    for was, now in zip(before, items, strict=True):
        assert (now["id"], now["checked"]) == (was["id"], was["checked"])
    assert counts(imported(home, todo)) == (0, 0, 3, 0)
    assert [
        one["field"] for one in told(["write-back", str(todo)], home)["files"][0]["written"]
    ] == ["tick Sand it down"]
    assert todo.read_text() == text.replace("[ ] Sand", "[x] Sand")
    done(["task", "item", "rename", "Paint the door", "2", "Sand it"], home)
    done(["write-back", str(todo)], home)
    assert todo.read_text() == text.replace("[ ] Sand it down", "[x] Sand it")
    assert counts(imported(home, todo)) == (0, 0, 3, 0)
    todo.write_text(text.replace("[ ] Sand it down", "[ ] Sand it"))
    assert counts(imported(home, todo)) == (0, 1, 2, 0)
    last = told(["task", "show", "Paint the door"], home)["items"]
    assert [(one["id"], one["checked"]) for one in last] == [
        (before[0]["id"], True),
        (before[1]["id"], False),
    ]
    proved(home)


def test_an_import_that_renamed_an_item_is_taken_back(home: Path, todo: Path) -> None:
    imported(home, todo)
    before = done(["task", "list", "--json"], home), told(["task", "show", "door"], home)["items"]
    todo.write_text(TODO.replace("Buy paint", "Buy red paint"))
    imported(home, todo)
    done(["import", "--undo", str(todo)], home)
    items = told(["task", "show", "door"], home)["items"]
    assert (done(["task", "list", "--json"], home), items) == before
    proved(home)


def test_a_source_has_a_name(home: Path, todo: Path) -> None:
    assert "--source is blank" in refused(["import", str(todo), "--source", " "], home)


def test_a_deleted_task_stays_deleted(home: Path, todo: Path) -> None:
    imported(home, todo)
    done(["task", "delete", "Fix the tap"], home)
    todo.write_text(TODO.replace("- [x] Fix the tap", "- [ ] Fix the tap"))
    for args in (["--dry-run"], []):
        assert counts(imported(home, todo, *args)) == (0, 0, 3, 0)
    assert [task["title"] for task in told(["task", "list", "--deleted"], home)] == ["Fix the tap"]


def test_a_dry_run_tells_what_the_import_then_does(home: Path, todo: Path) -> None:
    planned = imported(home, todo, "--dry-run")
    assert planned["events"] == 0
    assert not home.exists()
    assert imported(home, todo)["files"] == planned["files"]
    todo.write_text(TODO.replace("~2h", "~3h").replace("Fix the tap", "Wash Bob's car"))
    planned = imported(home, todo, "--dry-run")
    assert counts(planned) == (1, 1, 1, 1)
    assert imported(home, todo)["files"] == planned["files"]
    assert "would be 3 unchanged" in done(["import", str(todo), "--dry-run"], home)


def test_long_files_come_in_batches(home: Path, todo: Path) -> None:
    many = 2 * import_tasks.TASKS_MAX + 1
    todo.write_text("\n".join(f"- [ ] Task {number}" for number in range(many)))
    first = imported(home, todo, "--key", "k")
    assert (counts(first), first["events"]) == ((many, 0, 0, 0), 2 * many + 4)
    again = imported(home, todo, "--key", "k")
    assert (counts(again), again["events"]) == ((0, 0, many, 0), 0)
    todo.write_text("- [ ] Another")
    assert "key_reused" in refused(["import", str(todo), "--key", "k"], home)


def test_a_task_that_the_rules_refuse_does_not_stop_the_others(home: Path, todo: Path) -> None:
    items = "\n".join(f"  - [ ] Item {number}" for number in range(501))
    todo.write_text(f"- [ ] One\n- [ ] Long\n{items}\n- [ ] Two")
    result = run(["import", str(todo)], home)
    titles = [task["title"] for task in told(["task", "list"], home)]
    assert (result.exit_code, "Long" in titles) in ((0, True), (1, False))
    assert {"One", "Two"} <= set(titles)


def test_stdin_needs_a_name(home: Path) -> None:
    assert "--source" in refused(["import", "-"], home, input=TODO)
    document = imported(home, "-", "--source", "chat", input=TODO)
    assert (document["files"][0]["file"], counts(document)) == ("-", (3, 0, 0, 0))
    assert counts(imported(home, "-", "--source", "chat", input=TODO)) == (0, 0, 3, 0)


def test_an_unchanged_file_is_told_of_as_before_from_what_was_kept(home: Path, todo: Path) -> None:
    imported(home, todo)
    todo.write_text(TODO.replace("  - [ ] Sand it\n", "").replace("- [x] Fix the tap", "- [~] Odd"))
    imported(home, todo)
    for more in ([], ["--json"], ["--dry-run"], ["--dry-run", "--json"]):
        arguments = ["import", str(todo), *more]
        (home / "views.db").unlink()
        read = run(arguments, home)
        imported(home, todo)
        kept = run(arguments, home)
        before = read.stdout.splitlines()
        if not more:  # what is gone is told once
            once = ("(told once", "Fix the", "Sand it")
            before = [line for line in before if not any(one in line for one in once)]
        assert (kept.stdout.splitlines(), kept.stderr) == (before, read.stderr)
        assert kept.exit_code == read.exit_code == 0
        if "--json" not in more:
            assert "Sand it" in read.stdout
            assert "Fix the tap" in read.stdout
            assert "3 unchanged, 1 gone, 1 item gone, 1 read as open" in kept.stdout


def test_a_source_tells_files_of_one_name_apart(home: Path, todo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "TODO.md"
    other.parent.mkdir()
    other.write_text("- [ ] Another")
    assert "one by one" in refused(["import", str(todo), "x.md", "--source", "s"], home)
    assert not home.exists()
    assert counts(imported(home, todo)) == (3, 0, 0, 0)
    assert counts(imported(home, other)) == (1, 0, 0, 0)
    assert counts(imported(home, other)) == (0, 0, 1, 0)
    assert "twice" in refused(["import", str(todo), str(todo)], home)


def test_lines_that_cannot_be_read_are_named_and_the_rest_comes_in(home: Path, todo: Path) -> None:
    todo.write_text(TODO + "- [ ]\n- [ ] Call Ann due:2027-02-30\n")
    result = run(["import", str(todo)], home)
    assert result.exit_code == 1
    assert f"{todo}:11: " in result.stdout
    assert len(told(["task", "list"], home)) == 4
    assert run(["import", str(todo), "--json"], home).exit_code == 1


def test_files_that_cannot_be_read_are_named_and_the_others_come_in(
    home: Path, todo: Path, tmp_path: Path
) -> None:
    (tmp_path / "photo.md").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "data.json").write_text('{"a": 1}')
    names = ["photo.md", "data.json", "missing.md", "."]
    files = [str(tmp_path / name) for name in names]
    result = run(["import", *files[:2], str(todo), *files[2:]], home)
    assert result.exit_code == 2
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == [
        str(Path(file)) for file in files
    ]
    assert len(told(["task", "list"], home)) == 3


def test_only_unreadable_files_make_no_home(home: Path, tmp_path: Path) -> None:
    result = run(["import", str(tmp_path / "missing.md"), "--json"], home)
    assert (result.exit_code, '"line": 0' in result.stdout) == (2, True)
    assert not home.exists()


def test_a_file_without_boxes_gets_a_hint(home: Path, todo: Path) -> None:
    todo.write_text("# Notes\n- plain\n")
    result = run(["import", str(todo)], home)
    assert (result.exit_code, result.stdout) == (0, f"{todo}: no tasks found\n")
    assert "- [ ]" in result.stderr
    assert not home.exists()


def test_an_unknown_format_is_refused_by_name(home: Path, todo: Path) -> None:
    told_so = refused(["import", str(todo), "--format", "org"], home)
    assert "use markdown, todotxt, taskwarrior or github" in told_so
    assert counts(imported(home, todo, "--format", "markdown")) == (3, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "form", "created"),
    [
        ("taskwarrior/export.json", "taskwarrior", 5),
        ("taskwarrior/lines.json", "taskwarrior", 5),
        ("todotxt/todo.txt", "todotxt", 4),
        ("github/gh.json", "github", 2),
        ("github/rest.json", "github", 2),
    ],
)
def test_other_formats_come_in_and_come_in_once(
    home: Path, name: str, form: str, created: int
) -> None:
    first = imported(home, SAMPLES / name)
    assert (counts(first), first["files"][0]["format"]) == ((created, 0, 0, 0), form)
    count = proved(home)
    again = imported(home, SAMPLES / name)
    assert (counts(again), again["events"]) == ((0, 0, created, 0), 0)
    assert proved(home) == count
    assert f"{name} ({form}): {created} unchanged" in done(["import", str(SAMPLES / name)], home)


def test_what_is_no_task_is_counted_and_is_no_finding(home: Path) -> None:
    said = done(["import", str(SAMPLES / "taskwarrior/export.json")], home)
    assert "  Left out: 1 template of a recurring task, 1 deleted task\n" in said
    assert "1 pull request" in done(["import", str(SAMPLES / "github/rest.json")], home)


def test_days_are_those_of_the_persons_time_zone(home: Path) -> None:
    file = SAMPLES / "taskwarrior/export.json"
    imported(home, file, env={"WAKELOG_TIMEZONE": "Europe/Berlin"})
    assert told(["task", "show", "Paint the door"], home)["due_date"] == "2027-02-12"


def test_an_issue_is_known_by_its_repository_whatever_the_file(home: Path, tmp_path: Path) -> None:
    imported(home, SAMPLES / "github/gh.json")
    assert counts(imported(home, SAMPLES / "github/rest.json")) == (1, 1, 0, 0)
    assert len(told(["task", "list"], home)) == 3


def test_a_persons_edits_survive_the_same_issues_under_another_name(
    home: Path, tmp_path: Path
) -> None:
    issues = (SAMPLES / "github/gh.json").read_text()
    old, new = tmp_path / "monday.json", tmp_path / "friday.json"
    old.write_text(issues)
    new.write_text(issues)
    imported(home, old)
    task = told(["task", "list"], home)[0]
    done(["task", "set", task["id"], "--title", "Mine"], home)
    assert imported(home, new, "--dry-run")["files"][0]["changed"] == 0
    assert imported(home, new)["events"] == 0
    new.write_text(issues.replace(task["title"], "Theirs", 1))
    assert counts(imported(home, new, "--key", "k")) == (0, 1, 1, 0)
    assert told(["task", "list"], home)[0]["title"] == "Mine"
    assert [one["field"] for one in told(["conflicts"], home)] == ["title"]
    assert imported(home, new, "--key", "k")["events"] == 0
    done(["task", "set", task["id"], "--title", "Mine"], home)
    assert imported(home, old)["events"] == imported(home, new)["events"] == 0


def test_done_lines_that_a_client_moved_away_are_found_under_the_same_source(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.txt"
    file.write_text("(A) Call Mom\nBuy milk\n")
    imported(home, file)
    archived = tmp_path / "done.txt"
    file.write_text("(A) Call Mom\n")
    archived.write_text("x 2027-01-02 2027-01-01 Buy milk\n")
    document = imported(home, archived, "--source", "todo.txt")
    assert counts(document) == (0, 1, 1, 0)
    assert told(["task", "show", "Buy milk"], home)["status"] == "DONE"


@pytest.mark.parametrize("name", ["list.txt", "TODO", "plan.MD"])
def test_the_format_is_known_by_ending_or_boxes(home: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"\xef\xbb\xbf* [ ] Pack\r\n")
    assert counts(imported(home, file)) == (1, 0, 0, 0)


def test_quiet_says_no_hint(home: Path, todo: Path) -> None:
    assert "wakelog task list" in run(["import", str(todo)], home).stderr
    assert run(["--quiet", "import", str(todo), "--dry-run"], home).stderr == ""
