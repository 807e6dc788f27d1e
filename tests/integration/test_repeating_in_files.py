"""Tasks of files that repeat: ticked there, done here, both, and on two machines. The next time is
one task and one line, whoever makes it first."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.usecases.import_sources import ParsedFile, given_file, read_file
from adapters.usecases.import_tasks import Importing
from adapters.wiring import open_home
from tests.support.cli import FIXED, done, proved, told

SECOND = {"env": {"WAKELOG_REPLICA": "r2"}}
MARKDOWN = (
    "- [ ] Water 🔁 every 3 days 🛫 2026-12-31 📅 2027-01-01 #plants\n",
    "- [x] Water 🔁 every 3 days 🛫 2026-12-31 📅 2027-01-01 #plants ✅ 2027-01-01\n",
    "- [ ] Water 🔁 every 3 days 🛫 2027-01-03 📅 2027-01-04 #plants\n",
)
TODO = (
    "(A) 2026-12-20 Water @plants rec:+3d t:2026-12-31 due:2027-01-01\n",
    "x 2027-01-01 2026-12-20 Water @plants rec:+3d t:2026-12-31 due:2027-01-01 pri:A\n",
    "(A) 2027-01-01 Water @plants rec:+3d t:2027-01-03 due:2027-01-04\n",
)
PAIRS = (
    "- [ ] Water [repeat:: every 3 days] [start:: 2026-12-31] [due:: 2027-01-01] #plants\n",
    (
        "- [x] Water [repeat:: every 3 days] [start:: 2026-12-31] [due:: 2027-01-01] #plants"
        " [completion:: 2027-01-01]\n"
    ),
    "- [ ] Water [repeat:: every 3 days] [start:: 2027-01-03] [due:: 2027-01-04] #plants\n",
)
"""A line, the same once it is done, and its next one, as clients write them."""


@pytest.fixture(params=["TODO.md", "todo.txt", "Dataview.md"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with one line that repeats."""
    made: Path = tmp_path / request.param
    made.write_text(lines(made)[0], encoding="utf-8")
    return made


@pytest.fixture
def home(file: Path, tmp_path: Path) -> Path:
    """A home that imported it."""
    path = tmp_path / "home"
    done(["import", str(file)], path)
    return path


def lines(file: Path) -> tuple[str, str, str]:
    return {"TODO.md": MARKDOWN, "todo.txt": TODO, "Dataview.md": PAIRS}[file.name]


def with_next(file: Path) -> str:
    """What its client makes of it by a tick: Obsidian Tasks writes the next line above."""
    _, ticked, following = lines(file)
    return following + ticked if file.suffix == ".md" else ticked + following


def tasks(home: Path) -> list[tuple[str, str, str | None, str | None]]:
    found = told(["list"], home)
    return [(one["title"], one["status"], one["due_date"], one["wait_until"]) for one in found]


FIRST = ("Water", "DONE", "2027-01-01", "2026-12-31")
NEXT = ("Water", "OPEN", "2027-01-04", "2027-01-03")


def test_the_next_line_of_a_client_is_the_next_task_with_all_that_it_had_here(
    home: Path, file: Path
) -> None:
    done(["edit", "Water", "--estimate", "10", "--description", "Not too much."], home)
    done(["task", "item", "add", "Water", "Roses"], home)
    done(["agent", "create", "--all"], home)
    file.write_text(with_next(file), encoding="utf-8")
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, NEXT]
    shown = told(["show", told(["list"], home)[1]["id"]], home)
    assert (shown["estimate_minutes"], shown["description"]) == (10, "Not too much.")
    assert [one["title"] for one in shown["items"]] == ["Roses"]
    assert [one["relation"] for one in shown["links"]] == ["follows_up_on"]
    assert len(told(["agent", "list"], home)) == 2
    assert told(["import", str(file)], home)["events"] == 0
    assert told(["conflicts"], home) == []
    proved(home)
    done(["import", str(file), "--undo"], home)
    assert tasks(home) == [("Water", "OPEN", "2027-01-01", "2026-12-31")]
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, NEXT]


def test_what_is_done_here_is_written_back_as_its_client_would(home: Path, file: Path) -> None:
    done(["done", "Water"], home)
    document = told(["write-back", str(file)], home)["files"][0]
    assert len(document["added"]) == 1
    assert file.read_text(encoding="utf-8") == with_next(file)
    assert told(["import", str(file)], home)["events"] == 0
    done(["done", "Water"], home)
    done(["write-back", str(file)], home)
    assert file.read_text(encoding="utf-8").count("2027-01-07") == 1
    assert told(["import", str(file)], home)["events"] == 0
    proved(home)


def test_done_here_and_ticked_there_is_one_next_with_the_day_of_the_file(
    home: Path, file: Path
) -> None:
    done(["done", "Water"], home)
    file.write_text(with_next(file).replace("2027-01-04", "2027-01-05"), encoding="utf-8")
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, ("Water", "OPEN", "2027-01-05", "2027-01-03")]
    assert told(["conflicts"], home) == []
    assert told(["write-back", str(file)], home)["files"][0]["written"] == []


def test_two_done_here_before_the_first_is_ticked_there(home: Path, file: Path) -> None:
    done(["done", "Water"], home)
    done(["done", "Water"], home)
    file.write_text(with_next(file), encoding="utf-8")
    done(["import", str(file)], home)
    assert [one[1:3] for one in tasks(home)] == [
        ("DONE", "2027-01-01"), ("DONE", "2027-01-04"), ("OPEN", "2027-01-07"),
    ]  # fmt: skip
    done(["write-back", str(file)], home)
    assert told(["import", str(file)], home)["events"] == 0
    assert file.read_text(encoding="utf-8").count("Water") == 3


@pytest.mark.parametrize("is_here", [False, True])
def test_two_ticks_there_between_two_imports(home: Path, file: Path, is_here: bool) -> None:
    if is_here:
        done(["done", "Water"], home)
    _, ticked, following = lines(file)
    second = ticked.replace("2027-01-01", "2027-01-04").replace("2026-12-31", "2027-01-03")
    third = following.replace("2027-01-04", "2027-01-07").replace("2027-01-03", "2027-01-06")
    file.write_text(third + second + ticked, encoding="utf-8")
    done(["import", str(file)], home)
    shown = [one[1:3] for one in tasks(home)]
    assert sorted(shown) == [
        ("DONE", "2027-01-01"), ("DONE", "2027-01-04"), ("OPEN", "2027-01-07"),
    ]  # fmt: skip
    assert told(["write-back", str(file)], home)["files"][0]["added"] == []
    assert told(["import", str(file)], home)["events"] == 0
    assert told(["conflicts"], home) == []


def test_what_was_undone_here_comes_again_by_a_tick_there(home: Path, file: Path) -> None:
    done(["done", "Water"], home)
    done(["undo", "--yes"], home)
    file.write_text(with_next(file), encoding="utf-8")
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, NEXT]


def test_a_next_task_that_was_deleted_here_is_not_brought_back_unasked(
    home: Path, file: Path
) -> None:
    done(["done", "Water"], home)
    done(["delete", "Water"], home)
    file.write_text(with_next(file), encoding="utf-8")
    assert told(["import", str(file)], home)["files"][0]["deleted_here"]
    done(["import", str(file), "--restore"], home)
    assert tasks(home) == [FIRST, NEXT]


def test_a_tick_without_a_next_line_makes_the_task_and_write_back_its_line(
    home: Path, file: Path
) -> None:
    file.write_text(lines(file)[1], encoding="utf-8")
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, NEXT]
    done(["write-back", str(file)], home)
    assert file.read_text(encoding="utf-8") == with_next(file)


def test_one_machine_does_it_and_the_other_one_reads_the_tick(
    home: Path, file: Path, tmp_path: Path
) -> None:
    other, shared = tmp_path / "other", str(tmp_path / "shared")
    done(["sync", shared], home)
    done(["sync", shared], other, **SECOND)
    done(["done", "Water"], home)
    file.write_text(with_next(file), encoding="utf-8")
    done(["import", str(file)], other, **SECOND)
    for _ in range(2):
        done(["sync", shared], home)
        done(["sync", shared], other, **SECOND)
    for one, more in ((home, {}), (other, SECOND)):
        assert [each["due_date"] for each in told(["list"], one, **more)] == [
            "2027-01-01", "2027-01-04",
        ]  # fmt: skip
        # the file says on which day it was done, too: nothing to settle
        assert told(["conflicts"], one, **more) == []
        assert told(["import", str(file)], one, **more)["files"][0]["created"] == 0


def test_a_rule_set_here_goes_into_the_file_and_comes_out_of_it(tmp_path: Path) -> None:
    for name, line, wanted in (
        (
            "a.md",
            "- [ ] Pay ~1h #home\n",
            "- [ ] Pay 🔁 every 2 weeks on Mon 🛫 2027-01-02 ~1h #home\n",
        ),
        ("todo.txt", "Pay @home\n", "Pay @home t:2027-01-02\n"),  # which has no word for a Monday
    ):
        file, home = tmp_path / name, tmp_path / f"home of {name}"
        file.write_text(line, encoding="utf-8")
        done(["import", str(file)], home)
        rule = ("--repeat", "every 2 weeks on mon", "--wait-until", "2027-01-02")
        done(["edit", "Pay", *rule], home)
        done(["write-back", str(file)], home)
        assert file.read_text(encoding="utf-8") == wanted
        assert told(["import", str(file)], home)["events"] == 0
        done(["edit", "Pay", "--repeat", "none", "--wait-until", "none"], home)
        done(["write-back", str(file)], home)
        assert file.read_text(encoding="utf-8") == line


def test_a_file_that_an_older_version_imported_repeats_once_its_line_is_ticked(
    file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "older"
    opened = open_home(home, {**FIXED, "WAKELOG_HOME": str(home)}, is_writing=True)
    read = read_file(opened, given_file(str(file), file.name), FIXED).file
    before = replace(read, tasks=read.earlier[:1], earlier=())
    Importing().take(opened, file.name, ParsedFile(before))
    opened.close()
    assert told(["import", str(file)], home)["events"] == 0  # nobody has edited it
    assert tasks(home)[0][0] != "Water"
    file.write_text(with_next(file), encoding="utf-8")
    done(["import", str(file)], home)
    assert tasks(home) == [FIRST, NEXT]
    proved(home)


def test_an_export_of_ours_says_how_a_task_repeats_and_until_when_it_waits(
    home: Path, tmp_path: Path
) -> None:
    done(["add", "Call 🔁 every day", "--due", "2027-01-02"], home)  # a title, no rule
    text = done(["export", "--markdown", "-"], home)
    other, own = tmp_path / "other", tmp_path / "own.md"
    own.write_text(text, encoding="utf-8")
    done(["import", str(own)], other)
    shown = [(one["title"], one["repeat"], one["wait_until"]) for one in told(["list"], other)]
    assert shown == [
        ("Water", "FREQ=DAILY;INTERVAL=3", "2026-12-31"), ("Call 🔁 every day", None, None),
    ]  # fmt: skip


def test_of_two_lines_of_a_title_the_one_that_repeats_is_the_one_that_was_ticked(
    tmp_path: Path,
) -> None:
    home, file, text = tmp_path / "home", tmp_path / "todo.txt", "Pay rent\n"
    file.write_text(f"{text}Pay rent rec:1m\n", encoding="utf-8")
    done(["import", str(file)], home)
    for day in ("2027-01-02", "2027-01-03"):
        text += f"x {day} Pay rent rec:1m\n"
        file.write_text(f"{text}Pay rent rec:1m\n", encoding="utf-8")
        done(["import", str(file)], home, env={"WAKELOG_NOW": f"{day}T09:00:00Z"})
    shown = [(one["repeat"] is not None, one["status"]) for one in told(["list"], home)]
    assert shown == [(False, "OPEN"), (True, "DONE"), (True, "DONE"), (True, "OPEN")]


def test_a_line_that_went_before_a_write_back_leaves_with_the_next_import(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    lines = [f"- [ ] {one} 📅 2027-01-01\n" for one in ("Rest", "Wash", "Cook", "Read", "Sing")]
    file.write_text("".join([*lines, MARKDOWN[0]]), encoding="utf-8")
    done(["import", str(file), "--gone", "delete"], home)
    done(["done", "Water"], home)
    file.write_text("".join([*lines[1:], MARKDOWN[0]]), encoding="utf-8")
    done(["write-back", str(file)], home)
    assert MARKDOWN[2] in file.read_text(encoding="utf-8")
    done(["import", str(file)], home)
    assert "Rest" not in {one["title"] for one in told(["list"], home)}
    proved(home)
