"""A note, a block of a day or a category is taken out of a home for good, and what speaks of it as
well, if that is wanted (ADR 107)."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.test_cli_erase import holding
from tests.support import cli
from tests.support.checker import findings
from tests.support.machines import pair

ILL = "Call the clinic"
FIRST, AFTER = "Doctor Quarkwinkel says Zwiebelkur", "Doctor Quarkwinkel says Kamillentee"
WORDS = ("Quarkwinkel", "Zwiebelkur", "Kamillentee")
OTHER = "The Bürgeramt wants a biometric photo"


@pytest.fixture
def noted(home: Path) -> Path:
    """A task with a note that was edited and corrected, and another one; both with agents."""
    cli.done(["add", ILL, "--category", "Gesundheitswesen"], home)
    cli.done(["add", "Renew the passport", "--category", "Behörden"], home)
    cli.done(["note", ILL, FIRST], home)
    cli.done(["note", ILL, OTHER], home)
    cli.done(["agent", "create", "--all"], home)
    cli.done(["wake"], home)
    cli.done(["note", ILL, "--edit", "1", AFTER], home)
    cli.done(["wake", ILL], home)
    return home


def left(home: Path, words: tuple[str, ...] = WORDS) -> dict[str, list[str]]:
    return {word: files for word, files in holding(home, words).items() if files}


def proves(home: Path) -> None:
    proved = cli.told(["prove"], home)
    assert (proved["ok"], proved["divergences"]) == (True, [])
    assert findings(home) == []


def removed_note(home: Path) -> str:
    with closing(sqlite3.connect(home / "journal.db")) as log:
        sql = "SELECT state FROM stored_events WHERE topic = 'task.note_removed.1'"
        return str(json.loads(log.execute(sql).fetchone()[0])["data"]["note"])


def test_a_note_goes_with_all_that_it_said_and_who_was_told_of_it(noted: Path) -> None:
    assert len(left(noted)) == 3
    did = cli.told(["erase", "note", ILL, "1", "--sure"], noted)
    assert (did["ok"], did["wakes"]) == (True, 2)
    assert left(noted) == {}
    assert [one["text"] for one in cli.told(["show", ILL], noted)["notes"]] == [OTHER]
    assert [one["name"] for one in cli.told(["agent", "list"], noted)] == ["Renew the passport"]
    proves(noted)
    cli.done(["agent", "create", ILL], noted)
    assert cli.told(["wake", ILL], noted)["outcome"] == "completed"
    cli.done(["note", ILL, "--edit", "1", "The photo is done"], noted)
    for args in (["history", ILL], ["why", ILL], ["undo", "--list"], ["search", "photo"]):
        cli.run(args, noted)
    proves(noted)
    again = cli.told(["erase", "note", ILL, did["unit"].partition("/")[2][:9]], noted)
    assert (again["rows"], again["ok"]) == (0, True)


def test_a_note_that_was_removed_stands_in_the_log_and_goes_by_its_id(noted: Path) -> None:
    cli.done(["note", ILL, "--remove", "1"], noted)
    assert left(noted)
    assert "unknown_item" in cli.refused(["erase", "note", ILL, "7", "--sure"], noted)
    cli.told(["erase", "note", ILL, removed_note(noted)[:8], "--sure"], noted)
    assert left(noted) == {}
    proves(noted)


def test_agents_may_be_left_and_then_it_is_named_what_they_keep(noted: Path) -> None:
    args = ["erase", "note", ILL, "1", "--keep-agent", "--sure"]
    said = cli.done([*args, "--dry-run"], noted)
    assert f'Stays, as "{ILL}" says it (agent' in said
    did = cli.told(args, noted)
    assert (did["ok"], did["wakes"]) == (True, 0)
    assert all("agent.db" in files for files in left(noted).values())
    assert all("journal.db" not in files for files in left(noted).values())
    assert len(cli.told(["agent", "list"], noted)) == 2
    assert cli.told(["wake", ILL], noted)["outcome"] == "completed"
    proves(noted)
    assert [one["what"] for one in cli.told(["erase", "--list"], noted)] == ["note only"]


def test_what_others_say_of_it_goes_where_that_is_wanted(noted: Path) -> None:
    cli.done(["note", "passport", f"After this: {AFTER}, at noon"], noted)
    cli.done(["edit", "passport", "--description", f"Not while {FIRST}!"], noted)
    cli.done(["wake", "passport"], noted)
    dry = cli.told(["erase", "note", ILL, "1", "--dry-run"], noted)
    assert [one.partition(":")[0] for one in dry["derived"]] == ["note", "agent"]
    said = cli.done(["erase", "note", ILL, "1", "--derived", "--sure"], noted)
    assert "Of these 1 agent and 1 note go, too." in said
    assert left(noted, ("Kamillentee",)) == {}, "a note and an agent said it"
    assert left(noted, ("Zwiebelkur",)), "a description does, which was named"
    assert cli.told(["show", "passport"], noted)["notes"] == []
    proves(noted)


def test_a_note_that_a_file_brought_stays_in_what_is_kept_of_the_file(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tasks.md"
    file.write_text(f"- [ ] {ILL}\n  > {FIRST}\n", encoding="utf-8")
    cli.done(["import", str(file)], home)
    notes = cli.told(["show", ILL], home)["notes"]
    if not notes:
        pytest.fail("the file has a note")
    did = cli.told(["erase", "note", ILL, "1", "--sure"], home)
    assert [one["about"] for one in did["mentions"]] == [ILL]
    cli.done(["import", str(file)], home)
    assert cli.told(["show", ILL], home)["notes"] == [], "it does not come back"
    proves(home)
    cli.told(["erase", "task", ILL, "--sure"], home)
    assert left(home) == {}


def test_a_block_goes_and_the_others_of_its_day_stay(noted: Path) -> None:
    for title, span in (("Zahnarzt Doktor Hubermann", "9-10"), ("Kuchen mit Tante Else", "11-12")):
        cli.done(["day", "put", "--title", title, span, "--on", "2027-01-04"], noted)
    cli.done(["day", "put", ILL, "14-15", "--on", "2027-01-04"], noted)
    assert "unknown_block" in cli.refused(["erase", "block", "2027-01-04", "10", "--sure"], noted)
    assert cli.told(["erase", "block", "2027-01-04", "9", "--sure"], noted)["ok"]
    assert left(noted, ("Hubermann",)) == {}
    blocks = cli.told(["day", "2027-01-04"], noted)["blocks"]
    assert [one["start"] for one in blocks] == ["11:00", "14:00"]
    cli.told(["erase", "task", ILL, "--sure"], noted)
    blocks = cli.told(["day", "2027-01-04"], noted)["blocks"]
    assert [one["start"] for one in blocks] == ["11:00"], "a task's blocks go with it"
    proves(noted)


def test_a_category_goes_with_its_tasks_its_name_and_its_labels(noted: Path) -> None:
    cli.done(["add", "Buy Hustensaft", "--category", "Gesundheitswesen"], noted)
    cli.done(["label", "add", "Sonderlabelchen", "--category", "Gesundheitswesen"], noted)
    said = cli.done(["erase", "category", "Gesundheitswesen", "--dry-run"], noted)
    assert 'The category "Gesundheitswesen"' in said
    assert cli.told(["erase", "category", "Gesundheitswesen", "--sure"], noted)["ok"]
    words = (*WORDS, "Hustensaft", "Sonderlabelchen", "Gesundheitswesen", "clinic")
    assert left(noted, words) == {}
    assert [one["title"] for one in cli.told(["list", "--all"], noted)] == ["Renew the passport"]
    names = [one["name"] for one in cli.told(["category", "list"], noted)]
    assert "Gesundheitswesen" not in names
    assert "Behörden" in names
    proves(noted)
    cli.done(["add", "Buy tea", "--category", "Gesundheitswesen"], noted)
    assert cli.told(["erase", "category", "Gesundheitswesen", "--sure"], noted)["rows"] > 2
    assert left(noted, ("Buy tea", "Gesundheitswesen")) == {}
    proves(noted)


def test_a_note_and_a_category_go_on_the_other_machine_as_well(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("add", ILL, "--category", "Gesundheitswesen")
    desk.said("add", "Renew the passport")
    desk.said("note", "passport", FIRST)
    desk.said("note", ILL, "Hühnersuppe, says Frau Sonderbar")
    desk.said("agent", "create", "--all")
    desk.said("wake")
    desk.sync()
    laptop.sync()
    laptop.said("note", "passport", "--edit", "1", AFTER)
    desk.told("erase", "category", "Gesundheitswesen", "--sure")
    desk.told("erase", "note", "Renew the passport", "1", "--keep-agent", "--sure")
    desk.sync()
    laptop.said("add", "Buy tea", "--category", "Gesundheitswesen")
    laptop.said("sync", str(desk.folder), status=1)
    assert AFTER in str(laptop.told("show", "passport")["notes"]), "a person's words wait"
    laptop.told("sync", str(desk.folder), "--accept-erasures")
    desk.sync()
    laptop.sync()
    for one in (desk, laptop):
        assert left(one.home, ("clinic", "Hühnersuppe")) == {}
        assert {*left(one.home).pop("Kamillentee", ["agent.db"])} <= {"agent.db"}
        assert one.titles() == {"Renew the passport", "Buy tea"}, "nobody had erased that one"
        assert len(one.told("agent", "list")) == 1, "it was to stay"
        assert one.told("prove")["ok"]
    assert laptop.sync()["equal"] == ["desk"]
    assert desk.told("prove")["shared"] == laptop.told("prove")["shared"]
