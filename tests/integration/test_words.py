"""The words of every day, and what they were called before."""

from pathlib import Path

import click
import pytest

from adapters.cli.main import cli
from adapters.wiring import open_home
from domain.journal.commands import EditTask
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.terminal import on_terminal

BEFORE = (Path(__file__).parent.parent / "data" / "words-0.2.txt").read_text().splitlines()
"""All commands of 0.2, groups too."""


def resolved(words: str) -> click.Command | None:
    found: click.Command | None = cli
    for word in words.split():
        assert isinstance(found, click.Group), words
        found = found.get_command(click.Context(found), word)
    return found


def test_whatever_was_typed_before_is_a_command_still() -> None:
    found = {words: resolved(words) for words in BEFORE}
    assert {words: one.name for words, one in found.items() if one} == {
        words: words.split()[-1] for words in BEFORE
    }


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (["add", "Dig", "--due", "friday"], ["task", "add", "Dig", "--due", "friday"]),
        (["edit", "Call Ann", "--priority", "p1"], ["task", "set", "Call Ann", "--priority", "p1"]),
        (["note", "Call Ann", "She is away."], ["task", "note", "Call Ann", "She is away."]),
        (["delete", "Call Ann"], ["task", "delete", "Call Ann"]),
        (["start", "Call Ann"], ["task", "timer", "start", "Call Ann"]),
        (["list"], ["task", "list"]),
        (["show", "Call Ann"], ["task", "show", "Call Ann"]),
        (["server", "home", "show"], ["home", "show"]),
        (["dev", "schema", "tasks"], ["schema", "tasks"]),
        (["status", "--check"], ["health"]),
    ],
)  # fmt: skip
def test_a_word_does_what_its_old_spelling_does(
    tmp_path: Path, new: list[str], old: list[str]
) -> None:
    said: list[str] = []
    for name, words in (("new", new), ("old", old)):
        home = tmp_path / name
        done(["add", "Call Ann", "--key", "a"], home)
        result = run(["--json", *words], home)
        said.append(result.stdout.replace(str(home), "HOME"))
        said.append(told(["prove"], home)["digest"])
    assert said[:2] == said[2:]


def test_help_tells_of_a_topic_or_a_command_and_of_nothing_else(tmp_path: Path) -> None:
    assert "  prove " in done(["help", "looking-back"], tmp_path)
    assert done(["help", "task", "link"], tmp_path) == done(["task", "link", "--help"], tmp_path)
    assert done(["help"], tmp_path) == done(["--help"], tmp_path)
    assert "there is no command 'task nothing'" in refused(["help", "task", "nothing"], tmp_path)


# --------------------------------------------------------------------------------- a task or a wake


@pytest.fixture
def woken(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["add", "Fix the sink"], home)
    done(["agent", "create", "--all"], home)
    done(["wake"], home)
    return home


def test_show_tells_of_a_task_by_its_words_and_of_a_wake_by_its_key(woken: Path) -> None:
    (wake,) = told(["wakes"], woken)
    assert told(["show", "sink"], woken) == told(["task", "show", "sink"], woken)
    for words in (wake["run_key"], wake["run_key"][:8], wake["run_key"][:4]):
        assert told(["show", words], woken)["run_key"] == wake["run_key"]
    assert told(["show", "sink", "--wake"], woken)["run_key"] == wake["run_key"]
    assert "Fix the sink" in done(["show", "sink", "--prompt"], woken)


def test_show_refuses_what_names_both_and_what_names_neither(woken: Path) -> None:
    begun = told(["wakes"], woken)[0]["run_key"][:8]
    done(["add", begun], woken)
    line = refused(["show", begun], woken)
    assert f"`wakelog show {begun} --wake` or `wakelog task show {begun}`" in line
    assert told(["show", begun, "--wake"], woken)["run_key"].startswith(begun)
    assert "there is no wake and no task 'fridge'" in refused(["show", "fridge"], woken)


# ------------------------------------------------------------------------------------ several tasks


def titles(home: Path, *options: str) -> list[str]:
    return [one["title"] for one in told(["list", *options], home)]


def test_several_tasks_are_edited_and_deleted_as_one_deed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for title in ("Sow", "Dig", "Rake"):
        done(["add", title], home)
    edited = told(["edit", "Sow", "Dig", "--priority", "p0"], home)
    assert [one["priority"] for one in edited] == ["P0", "P0"]
    done(["delete", "Sow", "Rake"], home)
    assert titles(home) == ["Dig"]
    done(["undo", "--yes"], home)
    assert titles(home) == ["Sow", "Dig", "Rake"]
    done(["undo", "--yes"], home)
    assert [one["priority"] for one in told(["list"], home)] == ["P2"] * 3
    assert "--title names one task" in refused(["edit", "Sow", "Dig", "--title", "x"], home)


def test_more_than_ten_tasks_are_asked_about_and_none_is_touched_before(tmp_path: Path) -> None:
    home = tmp_path / "home"
    names = [f"Bed {n}" for n in range(11)]
    for title in names:
        done(["add", title], home)
    assert "these are 11 tasks; say --yes" in refused(["delete", *names], home)
    with on_terminal(home, "delete", *names) as shown:
        shown.until("These are 11 tasks. Go on? [y/N]: ")
        shown.press("n\r")
        shown.until("Stopped.")
    assert titles(home) == names
    done(["edit", *names[:10], "--due", "friday"], home)
    done(["delete", *names, "--yes"], home)
    assert titles(home) == []


def test_what_was_done_already_is_written_down_with_its_time_and_undone_as_one(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    made = told(["log", "Called Ann", "--time", "1h30", "--category", "Phone"], home)
    (entry,) = made["time"]
    assert (made["status"], made["category"]) == ("DONE", "Phone")
    assert (entry["start"][11:16], entry["end"][11:16]) == ("07:30", "09:00")
    done(["undo", "--yes"], home)
    assert titles(home) == []
    assert "is no duration" in refused(["log", "x", "--time", "soon"], home)


# --------------------------------------------------------------------------- what a list is made of


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["label", "add", "errand"], home)
    done(["add", "Call Ann", "--due", "2027-01-03"], home)
    done(["add", "Buy paint", "--due", "2027-01-05", "--label", "errand"], home)
    done(["add", "Paint the door", "--due", "2027-01-09"], home)
    done(["task", "link", "Buy paint", "blocks", "Paint the door"], home)
    return home


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("--due-before 2027-01-05", "Call Ann"),
        ("--due-after 2027-01-05", "Paint the door"),
        ("--due-after 2027-01-03 --due-before 2027-01-09", "Buy paint"),
        ("--not-label errand", "Call Ann|Paint the door"),
        ("--blocked", "Paint the door"),
        ("--ready", "Call Ann|Buy paint"),
        ("paint", "Buy paint|Paint the door"),
        ("paint door", "Paint the door"),
    ],
)
def test_a_list_is_narrowed(listed: Path, options: str, found: str) -> None:
    assert "|".join(titles(listed, *options.split())) == found


def test_what_is_done_or_waits_is_not_ready(listed: Path) -> None:
    done(["edit", "Buy paint", "--wait-until", "2027-02-01"], listed)
    done(["done", "Call Ann"], listed)
    assert titles(listed, "--ready") == []
    assert titles(listed, "--ready", "--status", "done") == ["Call Ann"]
    assert titles(listed, "--blocked") == ["Paint the door"]


def test_what_waits_for_a_task_is_ready_once_that_is_done(listed: Path) -> None:
    done(["add", "Buy a brush"], listed)
    done(["task", "link", "Buy a brush", "blocks", "Paint the door"], listed)
    assert "Unblocked" not in done(["done", "Buy a brush"], listed)
    assert '  Unblocked: "Paint the door" (' in done(["done", "Buy paint"], listed)
    assert titles(listed, "--blocked") == []
    done(["undo", "--yes"], listed)
    assert titles(listed, "--blocked") == ["Paint the door"]


def test_a_task_that_its_file_says_waits_is_open_once_what_it_waits_for_is_done(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    text = "- [ ] Buy paint 🆔 a1\n- [ ] Paint the door ⛔ a1\n"
    file.write_text(text, encoding="utf-8")
    done(["import", str(file)], home)
    assert [one["status"] for one in told(["list"], home)] == ["OPEN", "BLOCKED"]
    assert '  Unblocked: "Paint the door"' in done(["done", "Buy paint"], home)
    assert [one["status"] for one in told(["list"], home)] == ["DONE", "OPEN"]
    done(["write-back", str(file)], home)
    assert told(["import", str(file)], home)["files"][0]["changed"] == 0
    assert told(["conflicts"], home) == []
    done(["undo", "--yes"], home)
    assert [one["status"] for one in told(["list"], home)] == ["OPEN", "BLOCKED"]


def test_a_retry_opens_what_waited_where_the_first_was_cut_off(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    file.write_text("- [ ] Buy paint 🆔 a1\n- [ ] Paint the door ⛔ a1\n", encoding="utf-8")
    done(["import", str(file)], home)
    with open_home(home, FIXED, is_writing=True) as opened:
        paint = told(["list"], home)[0]["id"]
        opened.services.append_journal(EditTask(paint, status="DONE"), key="k:1")
    assert [one["status"] for one in told(["list"], home)] == ["DONE", "BLOCKED"]
    done(["done", paint, "--key", "k"], home)
    assert [one["status"] for one in told(["list"], home)] == ["DONE", "OPEN"]


def test_a_list_of_the_settings_is_named_by_its_name(listed: Path) -> None:
    assert "there is no list '@soon'; there are none yet" in refused(["list", "@soon"], listed)
    done(["settings", "set", "lists.soon", '"--due-before 2027-01-06 --not-label errand"'], listed)
    assert titles(listed, "@soon") == ["Call Ann"]
    assert titles(listed, "@soon", "paint") == []
    assert "there are @soon" in refused(["list", "@son"], listed)


def test_a_title_needs_no_quotes_and_labels_are_edited_with_the_rest(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["add", "Paint", "the", "door", "--label", "wood", "--repeat", "daily"], home)
    done(["log", "Called", "Bob"], home)
    done(["add", "Call Ann"], home)
    before = told(["list"], home)
    assert [one["title"] for one in before] == ["Paint the door", "Called Bob", "Call Ann"]
    fields = ("--label", "green", "--no-label", "wood", "--status", "done")
    assert "[unknown_label]" in refused(["edit", "Ann", "--due", "friday", "--no-label", "x"], home)
    done(["edit", "Paint", "Ann", *fields], home)
    assert [(one["title"], one["labels"]) for one in told(["list"], home)] == [
        ("Paint the door", ["green"]), ("Called Bob", []), ("Call Ann", ["green"]),
        ("Paint the door", ["green"]),
    ]  # fmt: skip
    done(["undo", "--yes"], home)  # all of it, as one deed
    assert told(["list"], home) == before
    assert proved(home)


def test_a_label_may_begin_like_a_list_and_a_quote_without_its_end_is_told(listed: Path) -> None:
    done(["add", "Ring", "--label", "@phone"], listed)
    assert titles(listed, "--label", "@phone") == ["Ring"]
    done(["settings", "set", "lists.odd", '"--category \'Work"'], listed)
    line = refused(["list", "@odd"], listed)
    assert "the options of the list '@odd' have a quote without its end" in line
    assert titles(listed, "--text", "@odd") == []


def test_a_list_on_a_terminal_ends_with_what_it_comes_to(listed: Path) -> None:
    done(["start", "Buy paint"], listed)
    assert "3 open, 1 overdue, 1 running 72:24" in seen(listed, "2027-01-04T09:25:00Z", "list")
    assert "Nothing is due today." in seen(listed, "2027-01-01T09:00:00Z", "today")
    for day, style in (("03", "\x1b[1m"), ("04", "\x1b[31m")):
        shown = seen(listed, f"2027-01-{day}T09:00:00Z", "today")
        assert shown.partition("Call Ann")[0].rpartition("\n")[2].startswith(style)
    assert "\x1b" not in seen(listed, "2027-01-04T09:00:00Z", "today", NO_COLOR="1")


def seen(home: Path, now: str, *args: str, **env: str) -> str:
    """What a command shows on a terminal at a time."""
    with on_terminal(home, *args, env={"WAKELOG_NOW": now, **env}) as shown:
        return shown.ended()[1]
