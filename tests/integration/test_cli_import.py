"""`wakelog import`: what it takes over, what it leaves alone, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.usecases import import_tasks
from adapters.usecases.import_sources import given_file, read_file
from adapters.usecases.import_tasks import TASKS_MAX, Importing
from adapters.wiring import open_home
from domain.journal.commands import ImportedRef, ImportTasks
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import payload
from tests.support.cli import FIXED, done, refused, run, told

SAMPLES = Path(__file__).parents[1] / "data"


# ------------------------------------------------------------------------------- what is taken over


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


def report(home: Path, *args: object) -> Any:
    """The same of an import of one file: what is told of it."""
    (file,) = imported(home, *args)["files"]
    return file


def counts(document: Any) -> tuple[int, int, int, int]:
    """Of one file: created, changed, unchanged, gone."""
    (file,) = document["files"]
    return file["created"], file["changed"], file["unchanged"], len(file["gone"])


def test_how_a_file_is_named_is_refused_where_it_could_be_another(home: Path, todo: Path) -> None:
    for args, because in (
        ([str(todo), "--source", " "], "--source is blank"),
        (["-"], "--source"),
        ([str(todo), "x.md", "--source", "s"], "one by one"),
        ([str(todo), str(todo)], "twice"),
        ([str(todo), "--format", "org"], "use markdown, todotxt, taskwarrior, github or tasks"),
    ):
        assert because in refused(["import", *args], home, input=TODO)
    assert not home.exists()
    document = imported(home, "-", "--source", "chat", input=TODO)
    assert (document["files"][0]["file"], counts(document)) == ("-", (3, 0, 0, 0))
    assert counts(imported(home, "-", "--source", "chat", input=TODO)) == (0, 0, 3, 0)


def test_quiet_says_no_hint(home: Path, todo: Path) -> None:
    assert "wakelog list" in run(["import", str(todo), "--format", "markdown"], home).stderr
    assert run(["--quiet", "import", str(todo), "--dry-run"], home).stderr == ""


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
    many = import_tasks.TASKS_MAX + 1
    todo.write_text("\n".join(f"- [ ] Task {number}" for number in range(many)))
    first = imported(home, todo, "--key", "k")
    assert (counts(first), first["events"]) == ((many, 0, 0, 0), 2 * many + 3)
    again = imported(home, todo, "--key", "k")
    assert (counts(again), again["events"]) == ((0, 0, many, 0), 0)
    todo.write_text("- [ ] Another")
    assert "key_reused" in refused(["import", str(todo), "--key", "k"], home)


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
    empty = todo.with_name("todo.txt")
    empty.write_text("")
    assert run(["import", str(empty)], home).stderr == ""
    assert not home.exists()


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


BOXES = """\
- [ ] Bake
  > - [ ] Buy flour
  - [x] Salt
- [>] Trip
- [!] Lease
- [>] Tap
- [i] Idea
-[ ] Bake
"""


def id_of(title: str, nth: str = "0") -> str:
    return key("task", "TODO.md", "[]", title, nth)


def as_0_1_0_read_it(home: Path) -> None:
    """A home that `BOXES` was report into by 0.1.0, which took four of its boxes for text."""
    bake = ImportedTask(
        id_of("bake"),
        "Bake",
        items=(ImportedItem("Salt", is_checked=True),),
        notes=(ImportedNote("> - [ ] Buy flour"),),
    )
    others = [ImportedTask(id_of(title.lower()), title) for title in ("Trip", "Lease", "Tap")]
    kept = [payload(task.task_id, canonical.encode(task)) for task in (bake, *others)]
    refs = [
        ImportedRef(task.task_id, one.id) for task, one in zip([bake, *others], kept, strict=True)
    ]
    with open_home(home, {**FIXED, "WAKELOG_HOME": str(home)}, is_writing=True) as opened:
        opened.services.append_journal(ImportTasks("TODO.md", tuple(refs)), payloads=kept)


def test_after_an_upgrade_boxes_come_in_as_new_ones_and_nothing_else_changes(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(BOXES)
    as_0_1_0_read_it(home)
    done(["task", "set", "Tap", "--status", "done"], home)
    before = {one["id"]: told(["task", "show", one["id"]], home) for one in listed(home)}
    found = report(home, file)
    assert (found["created"], found["changed"], found["unchanged"]) == (2, 3, 1)
    now = {one["id"]: told(["task", "show", one["id"]], home) for one in listed(home)}
    assert set(now) - set(before) == {id_of("idea"), id_of("bake", "1")}
    bake = now[id_of("bake")]
    assert [item["title"] for item in bake["items"]] == ["Salt", "Buy flour"]
    assert bake["notes"] == before[id_of("bake")]["notes"]
    assert bake["items"][0] == before[id_of("bake")]["items"][0]
    assert now[id_of("tap")] == before[id_of("tap")], "a [>] opened what was done here"
    assert (now[id_of("trip")]["status"], now[id_of("lease")]["priority"]) == ("ON HOLD", "P1")
    assert report(home, file)["unchanged"] == 6


def listed(home: Path) -> Any:
    return told(["task", "list", "--all"], home)


# --------------------------------------------------------------------- agents for new tasks; UTF-16


def test_new_tasks_of_a_file_get_agents_as_the_option_or_the_settings_say(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint\n- [x] Plan\n")
    first = run(["import", str(file)], home)
    assert "`import --agents` to new ones" in first.stderr
    assert told(["agent", "list"], home) == []
    file.write_text("- [ ] Paint\n- [x] Plan\n- [ ] Buy\n- [x] Sell\n")
    found = report(home, file, "--agents")
    assert (found["created"], found["agents"]) == (2, 1)
    assert [one["name"] for one in told(["agent", "list"], home)] == ["Buy"]
    (home / "settings.toml").write_text("[import]\nagents = true\n")
    file.write_text(f"{file.read_text()}- [ ] Call\n")
    assert "0 created" not in done(["import", str(file), "--no-agents"], home)
    file.write_text(f"{file.read_text()}- [ ] Write\n")
    assert "1 created, 1 given an agent, 5 unchanged" in done(["import", str(file)], home)
    assert {one["name"] for one in told(["agent", "list"], home)} == {"Buy", "Write"}


def test_a_watched_file_gives_agents_to_new_tasks_or_says_how(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint\n")
    watch = ["run", "--watch", str(file), "--until-idle"]
    assert "new tasks have no agents; add --agents" in run(watch, home).stderr
    file.write_text("- [ ] Paint\n- [ ] Buy\n")
    assert "1 given an agent" in run([*watch, "--agents"], home).stderr
    assert [(one["name"], one["wakes"]) for one in told(["agent", "list"], home)] == [("Buy", 1)]
    assert "add --watch FILE" in refused(["run", "--agents", "--until-idle"], home)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_read_and_not_written_back(
    home: Path, tmp_path: Path, encoding: str
) -> None:
    file = tmp_path / "TODO.md"
    data = "\ufeff- [ ] Größe prüfen\r\n- [ ] Paint\r\n".encode(encoding)
    file.write_bytes(data)
    assert told(["import", str(file)], home)["files"][0]["created"] == 2
    assert {one["title"] for one in told(["task", "list"], home)} == {"Größe prüfen", "Paint"}
    done(["done", "Paint"], home)
    assert "is UTF-16" in refused(["write-back", str(file)], home)
    assert file.read_bytes() == data
    file.write_bytes(data[:-1])
    assert "broken UTF-16" in refused(["import", str(file)], home)


# ---------------------------------------------- which file it is, and what is gone from it (ADR 80)


MANY = "".join(f"- [ ] Task {word}\n" for word in "one two three four five six".split())


def file_at(folder: Path, text: str, name: str = "TODO.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


def sources(home: Path) -> set[str]:
    pages = [
        told(["task", "show", one["id"]], home) for one in told(["task", "list", "--all"], home)
    ]
    return {entry["by"] for page in pages for entry in page["history"]}


def test_a_second_file_of_a_name_has_its_folder_in_its_name(home: Path, tmp_path: Path) -> None:
    one, two = (
        file_at(tmp_path / "x", MANY),
        file_at(tmp_path / "y", "- [ ] Task one\n- [ ] Other\n"),
    )
    assert report(home, one)["created"] == 6
    assert report(home, two)["created"] == 2
    assert sources(home) == {"import:TODO.md", "import:y/TODO.md"}
    assert report(home, two)["unchanged"] == 2


def test_a_file_that_moved_is_told_and_nothing_is_doubled(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path / "x", MANY)
    report(home, file)
    moved = tmp_path / "plans.md"
    file.rename(moved)
    moved.write_text(MANY.replace("Task six", "Task six, with care"))
    found = report(home, moved)
    assert (found["moved_from"], found["created"], found["changed"]) == (str(file), 0, 1)
    assert report(home, moved)["moved_from"] == ""
    assert "it was" not in done(["import", str(moved)], home)


def test_another_file_in_the_place_of_one_that_is_gone_is_another_one(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path / "x", MANY)
    report(home, file)
    file.unlink()
    other = file_at(tmp_path / "y", "- [ ] Call Ann\n- [ ] Call Bob\n")
    found = report(home, other)
    assert (found["created"], found["gone"]) == (2, [])


def test_a_name_without_a_path_is_asked_about_where_the_file_says_other_things(
    home: Path, tmp_path: Path
) -> None:
    done(["import", str(file_at(tmp_path / "x", MANY))], home)
    (home / "views.db").unlink()
    other = file_at(tmp_path / "y", "- [ ] Call Ann\n- [ ] Call Bob\n")
    line = refused(["import", str(other)], home)
    assert "--source TODO.md" in line
    assert "--source y/TODO.md" in line
    assert report(home, other, "--source", "y/TODO.md")["created"] == 2
    assert report(home, other)["unchanged"] == 2  # its path is known from then on


def test_much_that_is_gone_is_left_alone_unless_one_says_yes(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, MANY)
    report(home, file)
    file.write_text("- [ ] Task one\n- [ ] Task two\n- [ ] Task three\n")
    result = run(["import", str(file), "--gone", "delete"], home)
    assert result.exit_code == 1
    assert "not closed unasked" in result.stdout
    assert len(told(["task", "list"], home)) == 6
    assert len(report(home, file, "--gone", "delete", "--yes")["gone_settled"]) == 3
    assert len(told(["task", "list"], home)) == 3
    file.write_text(MANY)
    found = report(home, file)
    assert (found["created"], len(found["restored"])) == (0, 3)
    assert len(told(["task", "list"], home)) == 6


def test_what_was_said_before_closes_only_what_leaves_the_file_now(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path, MANY)
    report(home, file)
    file.write_text(MANY.replace("- [ ] Task one\n", "- [ ] Task one and more\n") + "- [ ] New\n")
    report(home, file, "--gone", "keep")
    file.write_text(
        "- [ ] Task two\n- [ ] Task three\n- [ ] Task four\n- [ ] Task five\n- [ ] New\n"
    )
    assert len(report(home, file)["gone"]) == 2
    report(home, file, "--gone", "keep", "--key", "again")
    file.write_text("- [ ] Task two\n- [ ] Task three\n- [ ] Task four\n- [ ] New\n")
    found = report(home, file, "--gone", "reject", "--yes")
    assert len(found["gone_settled"]) == 3  # said now: all that it has no more


def test_what_the_file_does_not_say_yet_is_counted(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, MANY)
    report(home, file)
    done(["done", "one"], home)
    done(["task", "delete", "two"], home)
    done(["task", "add", "Loose"], home)
    shown = done(["import", str(file)], home)
    for line in (
        "1 done here, not in the file yet",
        "1 deleted here, open in",
        "1 added here, in no",
    ):
        assert line in shown
    found = report(home, file, "--restore")
    assert (found["changed"], len(found["restored"]), found["deleted_here"]) == (1, 1, [])
    assert len(told(["task", "list"], home)) == 7


def test_an_archive_is_read_along_from_then_on(home: Path, tmp_path: Path) -> None:
    todo = file_at(tmp_path, "Call Mom\nBuy milk\n", "todo.txt")
    archive = file_at(tmp_path, "", "done.txt")
    report(home, todo, "--archive", archive, "--gone", "delete")
    todo.write_text("Call Mom\n")
    archive.write_text("x 2027-01-02 Buy milk\n")
    assert report(home, todo)["changed"] == 1
    assert told(["task", "show", "milk"], home)["status"] == "DONE"
    assert report(home, archive)["unchanged"] == 2
    archive.unlink()
    assert report(home, todo)["gone_held"] == []


def test_a_line_of_which_nobody_can_tell_is_told_and_a_new_task(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, "- [ ] Call Ann\n- [ ] Call Ann\n")
    report(home, file)
    first = told(["task", "list"], home)[0]["id"]
    done(["task", "note", first, "The old number"], home)
    file.write_text("- [ ] Call Ann\n")
    found = report(home, file)
    assert [one["line"] for one in found["told"]] == [1]
    assert (found["created"], len(found["gone"])) == (1, 2)
    assert report(home, file)["unchanged"] == 1


def test_one_name_at_two_lines_names_nobody(home: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, "- [ ] Call Ann 🆔 a1\n- [ ] Call Bob 🆔 a1\n")
    (line,) = report(home, file)["told"]
    assert (line["line"], "a1" in line["reason"]) == (2, True)


@pytest.mark.slow
def test_an_import_that_is_cut_off_between_two_appends_loses_no_link(
    home: Path, tmp_path: Path
) -> None:
    many = TASKS_MAX + 50
    file = file_at(
        tmp_path, "".join(f"- [ ] Task {nth} 🆔 t{nth} ⛔ t{nth + 1}\n" for nth in range(many))
    )
    told_of: list[int] = []

    def cut_off(count: int) -> None:
        told_of.append(count)
        if count:
            raise KeyboardInterrupt

    with open_home(home, FIXED, is_writing=True) as opened:
        parsed = read_file(opened, given_file(str(file), file.name), FIXED)
        with pytest.raises(KeyboardInterrupt):
            Importing().take(opened, file.name, parsed, cut_off)
    assert told_of == [0, TASKS_MAX]
    assert report(home, file)["created"] == many - TASKS_MAX
    for nth in (0, TASKS_MAX - 1, TASKS_MAX, many - 2):
        links = told(["task", "show", f"Task {nth}"], home)["links"]
        assert len(links) == (1 if nth == 0 else 2), nth
    assert report(home, file)["unchanged"] == many


def test_two_exports_of_taskwarrior_under_two_names_make_no_doubles(
    home: Path, tmp_path: Path
) -> None:
    one = {
        "uuid": "a1b2c3d4-0000-4000-8000-00000000000a",
        "description": "Paint",
        "status": "pending",
    }
    two = {**one, "uuid": "a1b2c3d4-0000-4000-8000-00000000000b", "due": "20270201T000000Z"}
    exports = [tmp_path / "monday.json", tmp_path / "tuesday.json"]
    exports[0].write_text(json.dumps([one, two]))
    imported(home, exports[0])
    tasks = [one["id"] for one in told(["task", "list"], home)]
    exports[1].write_text(json.dumps([{**one, "status": "completed"}, two]))
    imported(home, exports[1])
    found = told(["task", "list"], home)
    assert [one["id"] for one in found] == tasks
    assert [one["status"] for one in found] == ["DONE", "OPEN"]


def test_a_circle_of_blocking_tasks_is_one_line_and_all_else_comes_in(
    home: Path, tmp_path: Path
) -> None:
    file = file_at(
        tmp_path,
        "- [ ] Ask Ann 🆔 a ⛔ b\n- [ ] Ask Bob 🆔 b ⛔ a\n"
        "- [ ] Paint 🆔 c ⛔ d\n- [ ] Sand 🆔 d\n- [ ] Rest ⛔ c due:2027-02-01\n",
    )
    for nth in range(2):
        result = run(["import", str(file)], home)
        assert result.exit_code == 1, nth  # and the second import says it again
        (line,) = [one for one in result.stdout.splitlines() if "a circle:" in one]
        assert "TODO.md:" in line
    ids = {one["title"]: one["id"] for one in told(["task", "list"], home)}
    assert len(ids) == 5
    for title, other in (("Paint", "Sand"), ("Rest", "Paint")):
        links = told(["task", "show", ids[title]], home)["links"]
        needs = [one["task_id"] for one in links if one["direction"] == "in"]
        assert needs == [ids[other]], title
