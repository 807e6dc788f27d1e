"""A person takes the words of a task, or of an agent, out of a home for good (ADR 107)."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from adapters.home.home_location import FolderLocation
from adapters.store.command_history import kept
from adapters.upkeep.erase import erase
from adapters.usecases.resolve import pick_task
from adapters.usecases.tasks import add_note
from adapters.wiring import open_home
from domain.journal.task import TASK
from projections.tasks import VIEW
from tests.support import cli
from tests.support.checker import findings
from tests.support.homes import Homes
from tests.support.terminal import on_terminal

WORDS = ("Zwiebelkur", "Quarkwinkel", "Sonderbar", "Pfefferminz", "Hustensaft", "Kamillentee")
"""Each stands in what is erased, and those of `KEPT` nowhere else."""
ILL = "Zwiebelkur with Doctor Quarkwinkel"
KEPT = ("passport", "Bürgeramt", "biometric")
FIXED = {**cli.FIXED, "WAKELOG_TIMEZONE": "UTC"}


def holding(home: Path, words: tuple[str, ...]) -> dict[str, list[str]]:
    """By word, the files that hold it in any byte: read by a stranger, in a process of its own."""
    code = (
        "import gzip, json, pathlib, sys\n"
        "home, *words = sys.argv[1:]\n"
        "files = [p for p in pathlib.Path(home).rglob('*') if p.is_file()]\n"
        "def read(p):\n"
        "    return gzip.decompress(p.read_bytes()) if p.suffix == '.gz' else p.read_bytes()\n"
        "print(json.dumps({w: [p.name for p in files if w.encode() in read(p)]"
        " for w in words}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(home), *words], capture_output=True, check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.fixture
def ill(home: Path, homes: Homes) -> Path:
    """A task whose every kind of words is told, linked with another one; both have woken agents."""
    return homes.copy(illness, home)


def illness(home: Path) -> None:
    cli.done(["add", ILL, "--item", "Buy Hustensaft"], home)
    cli.done(["add", "Renew the passport"], home)
    cli.done(["note", "Zwiebelkur", f"Frau Sonderbar says {'x ' * 600} Montag"], home)
    cli.done(["edit", "Zwiebelkur", "--description", "{Tea} of Pfefferminz twice a day"], home)
    cli.done(["task", "link", "passport", "relates_to", "Zwiebelkur"], home)
    cli.done(["agent", "create", "Zwiebelkur"], home)
    cli.done(["agent", "create", "passport"], home)
    cli.done(["wake"], home)
    cli.done(["note", "Zwiebelkur", "Ask about Kamillentee as well. It takes 20 minutes."], home)
    cli.done(["note", "passport", "The Bürgeramt wants a biometric photo."], home)
    cli.done(["wake", "Zwiebelkur"], home)
    cli.done(["wake", "passport"], home)
    cli.run(["sql", "SELECT count(*) FROM wakes"], home)
    cli.run(["search", "Zwiebelkur"], home)


def test_no_byte_of_the_home_holds_a_word_of_it_and_all_of_the_rest_is_there(ill: Path) -> None:
    assert all(len(found) >= 2 for found in holding(ill, WORDS).values()), "views hold them, too"
    (ill / ".analytics.duckdb.123").write_text("what a crash left of Zwiebelkur", encoding="utf-8")
    did = cli.told(["erase", "task", ILL, "--sure"], ill)
    assert (did["ok"], did["done"], did["left"]) == (True, True, [])
    assert did["texts"] >= 5, "what was searched for"
    assert {word: files for word, files in holding(ill, WORDS).items() if files} == {}
    assert all(holding(ill, KEPT).values())
    assert [one["title"] for one in cli.told(["list", "--all"], ill)] == ["Renew the passport"]
    assert [one["name"] for one in cli.told(["agent", "list"], ill)] == ["Renew the passport"]
    assert findings(ill) == []


def test_who_gave_the_newest_commands_goes_with_it(ill: Path) -> None:
    before = kept(ill / "runtime.db")
    cli.done(["erase", "task", ILL, "--sure"], ill)
    assert before
    assert not {*before} & {*kept(ill / "runtime.db")}


def test_what_is_left_proves_and_it_is_told_what_went(ill: Path) -> None:
    before = cli.told(["prove"], ill)
    did = cli.told(["erase", "task", ILL, "--sure"], ill)
    now = cli.told(["prove"], ill)
    assert (now["ok"], now["divergences"]) == (True, [])
    erased = now["erased"]
    assert erased["rows"] == did["rows"] > 40
    assert erased["payloads"] == did["payloads"] > 10
    assert erased["gone"] > 10
    assert 0 < erased["resting"] <= erased["gone"], (
        "the prompt of the other task's agent, and its link"
    )
    assert [(one["unit"], one["what"]) for one in erased["units"]] == [(did["unit"], "task")]
    assert now["wakes"] == before["wakes"], "a mark counts as what it was"
    said = cli.done(["prove"], ill)
    assert f"{did['rows']} rows were erased; {erased['gone']} causes went with them" in said


def test_an_anchor_that_was_made_before_still_fits(ill: Path, tmp_path: Path) -> None:
    anchors = tmp_path / "anchors.txt"
    cli.done(["prove", "--anchor", str(anchors), "--new-anchor"], ill)
    cli.done(["erase", "task", ILL, "--sure"], ill)
    assert cli.run(["prove", "--anchor", str(anchors)], ill).exit_code == 0


def test_after_it_all_goes_on_and_the_numbers_of_proposals_stay(home: Path) -> None:
    for title in ("Fix the tap", "Paint the fence"):
        cli.done(["add", title], home)
        cli.done(["agent", "create", title], home)
        cli.done(["note", title, "Buy a washer. It takes 30 minutes."], home)
        cli.done(["wake", title], home)
    said = cli.done(["inbox"], home)
    assert "1.1" in said
    assert "2.1" in said
    cli.done(["erase", "task", "Fix the tap", "--sure"], home)
    after = cli.done(["inbox"], home)
    assert "2.1" in after
    assert "1.1" not in after
    cli.done(["confirm", "2.1"], home)
    cli.done(["note", "fence", "Green, I think."], home)
    assert cli.told(["wake", "fence"], home)["outcome"] == "completed"


def test_an_agent_alone_goes_and_what_it_changed_stays(ill: Path) -> None:
    task = cli.told(["show", "Zwiebelkur"], ill)
    did = cli.told(["erase", "agent", ILL, "--sure"], ill)
    assert did["unit"].startswith("agent:")
    now = cli.told(["show", "Zwiebelkur"], ill)
    assert (now["notes"], now["language"]) == (task["notes"], task["language"])
    assert cli.told(["prove"], ill)["erased"]["rows"] == did["rows"]
    assert [one["name"] for one in cli.told(["agent", "list"], ill)] == ["Renew the passport"]
    cli.done(["agent", "create", "Zwiebelkur"], ill)
    assert cli.told(["wake", "Zwiebelkur"], ill)["outcome"] == "completed"
    cli.done(["erase", "task", ILL, "--sure"], ill)
    assert {word: files for word, files in holding(ill, WORDS).items() if files} == {}
    listed = cli.told(["erase", "--list"], ill)
    assert [one["what"] for one in listed] == ["agent", "task"]


def test_what_others_say_of_it_stays_and_is_named(home: Path) -> None:
    cli.done(["add", ILL], home)
    cli.done(["add", "Renew the passport"], home)
    cli.done(["note", "passport", "After the Zwiebelkur with Doctor Quarkwinkel"], home)
    did = cli.told(["erase", "task", ILL, "--sure"], home)
    assert [(one["about"], one["n"]) for one in did["mentions"]] == [("Renew the passport", 4)]
    assert did["ok"], "it was named, so it is no fault"


def test_what_we_call_checklists_and_statuses_is_nobodys_word(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "tasks.md"
    file.write_text(f"- [/] {ILL}\n  - [ ] Tea\n- [/] Renew the passport\n  - [ ] Photo\n", "utf-8")
    cli.done(["import", str(file)], home)
    assert cli.told(["erase", "task", ILL, "--dry-run"], home)["mentions"] == []


def test_a_label_that_no_other_task_bears_is_named_and_stays(home: Path) -> None:
    cli.done(["add", ILL], home)
    cli.done(["add", "Renew the passport"], home)
    for label in ("Tea", "Doctor"):
        cli.done(["label", "add", label], home)
        cli.done(["label", "assign", ILL, label], home)
    cli.done(["label", "assign", "passport", "Doctor"], home)
    (named,) = cli.told(["erase", "task", ILL, "--dry-run"], home)["mentions"]
    assert (named["stream"], named["text"]) == ("catalog:main@r1", "Tea")
    said = cli.done(["erase", "task", ILL, "--sure"], home)
    assert 'Stays, as catalog says it (journal 4): "Tea"' in said
    assert {one["name"] for one in cli.told(["label", "list"], home)} == {"Tea", "Doctor"}


# ----------------------------------------------------------------------------------- what is asked


def test_a_dry_run_tells_what_would_go_and_changes_nothing(ill: Path) -> None:
    before = (ill / "journal.db").read_bytes()
    said = cli.done(["erase", "task", "Zwiebelkur", "--dry-run"], ill)
    assert "rows of the logs with 2 wakes" in said
    assert not cli.told(["erase", "task", "Zwiebelkur", "--dry-run"], ill)["done"]
    assert (ill / "journal.db").read_bytes() == before


def test_backups_and_exports_that_are_known_are_named(ill: Path, tmp_path: Path) -> None:
    backup, file, gone = tmp_path / "backup", tmp_path / "tasks.md", tmp_path / "gone.md"
    cli.done(["backup", str(backup)], ill)
    for one in (file, gone):
        cli.done(["export", "--markdown", str(one)], ill)
    cli.done(["export", "--markdown", str(tmp_path / "redacted.md"), "--redact"], ill)
    gone.unlink()
    plan = cli.told(["erase", "task", ILL, "--dry-run"], ill)
    found = [(one["what"], one["path"]) for one in plan["copies"]]
    assert found == [("backup", str(backup)), ("export", str(file))]
    said = cli.done(["erase", "task", ILL, "--dry-run"], ill)
    assert f"Not in reach: {backup}, a backup of 2027-01-01." in said
    assert not (backup / "copies.json").exists()


def test_its_title_is_asked_for_and_another_one_erases_nothing(home: Path) -> None:
    cli.done(["add", "烏龍茶を買う"], home)
    args = ["erase", "task", "烏龍茶を買う"]
    said = cli.refused(args, home)
    assert "[not_sure]" in said
    assert "--sure" in said
    assert cli.told(["list"], home)


def test_on_a_terminal_it_is_erased_once_its_title_is_typed(home: Path) -> None:
    cli.done(["add", "Call the clinic"], home)
    for typed, word in (("Call the", "nothing was erased"), ("Call the clinic", "none found")):
        with on_terminal(home, "erase", "task", "clinic", env=FIXED) as terminal:
            terminal.until("Type its title: ")
            terminal.press(f"{typed}\n")
            terminal.until(word)
    assert cli.told(["list", "--all"], home) == []


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((), "it is not said what to erase"),
        (("task",), "'task' is not what can be erased"),
        (("note", "x"), "'note x' is not what can be erased"),
        (("task", "Fix the tap", "2"), "'task Fix the tap 2' is not what can be erased"),
        (("task", "Fix the tap", "--keep-agent"), "nothing of task; use it with a note or a block"),
        (("note", "Fix the tap", "7"), "there is no note '7'"),
        (("block", "today", "9"), "unknown_block"),
        (("category", "Gone"), "unknown_category"),
        (("task", "nothing of that name"), "unknown_task"),
        (("agent", "tap"), "no_agent"),
        (("task", "the tap"), "is a part of 'Fix the tap'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    home: Path, args: tuple[str, ...], word: str
) -> None:
    cli.done(["add", "Fix the tap"], home)
    assert word in cli.refused(["erase", *args, "--sure"], home)


def test_what_is_erased_already_is_cleaned_again_and_nothing_is_asked(ill: Path) -> None:
    unit = cli.told(["erase", "task", ILL, "--sure"], ill)["unit"]
    again = cli.told(["erase", "task", unit[5:13]], ill)
    assert (again["rows"], again["payloads"], again["ok"]) == (0, 0, True)
    assert len(cli.told(["erase", "--list"], ill)) == 1


# ------------------------------------------------------------------------------------ coming back


def test_it_comes_back_neither_by_its_file_nor_by_its_key_nor_by_undo(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "todo.md"
    file.write_text("- [ ] Paint the shed\n- [ ] Ring Doctor Quarkwinkel\n", encoding="utf-8")
    cli.done(["import", str(file)], home)
    cli.done(["add", "Buy Hustensaft", "--key", "k"], home)
    cli.done(["task", "link", "shed", "relates_to", "Hustensaft"], home)
    for title in ("Ring Doctor Quarkwinkel", "Buy Hustensaft"):
        cli.done(["erase", "task", title, "--sure"], home)
    for more in ([], ["--dry-run"]):
        (report,) = cli.told(["import", str(file), *more], home)["files"]
        assert (report["created"], report["unchanged"], len(report["erased_here"])) == (0, 2, 1)
    assert "[erased]" in cli.refused(["add", "Buy Hustensaft", "--key", "k"], home)
    deeds = cli.told(["undo", "--list"], home)["deeds"]
    assert not [one for one in deeds if "Quarkwinkel" in json.dumps(one)]
    last = next(one["ref"] for one in deeds if one["what"] == "unlink task")
    assert "[erased]" in cli.refused(["undo", last, "--yes"], home)
    cli.done(["done", "shed"], home)
    cli.done(["write-back", str(file)], home)
    assert file.read_text(encoding="utf-8") == (
        "- [x] Paint the shed\n- [ ] Ring Doctor Quarkwinkel\n"
    )
    file.write_text("- [x] Paint the shed\n", encoding="utf-8")
    cli.done(["import", str(file), "--gone", "delete"], home)
    assert [one["title"] for one in cli.told(["list", "--all"], home)] == ["Paint the shed"]


def test_what_an_import_leaves_out_is_told_in_the_order_of_the_file(
    home: Path, tmp_path: Path
) -> None:
    file, titles = tmp_path / "todo.md", ("Ring Ann", "Ring Bob", "Ring Eve")
    file.write_text("".join(f"- [ ] {one}\n" for one in titles), encoding="utf-8")
    cli.done(["import", str(file)], home)
    ids = [cli.told(["show", one], home)["id"] for one in titles]
    for one in titles:
        cli.done(["erase", "task", one, "--sure"], home)
    (report,) = cli.told(["import", str(file)], home)["files"]
    assert report["erased_here"] == ids != sorted(ids)


def test_a_backup_of_before_brings_it_back_only_where_it_was_not_erased(
    ill: Path, tmp_path: Path
) -> None:
    backup = str(tmp_path / "backup")
    cli.done(["backup", backup], ill)
    cli.done(["erase", "task", ILL, "--sure"], ill)
    env = {"WAKELOG_REPLICA": "r2"}
    assert cli.told(["restore", backup], ill, env=env)["erased"] == 1
    assert {word: files for word, files in holding(ill, WORDS).items() if files} == {}
    assert [one["title"] for one in cli.told(["list", "--all"], ill)] == ["Renew the passport"]
    other = tmp_path / "other"
    assert cli.told(["restore", backup], other, env=env)["erased"] == 0
    assert len(cli.told(["list"], other)) == 2


# ------------------------------------------------------------------------------------- looking back


def test_who_looks_back_is_told_what_was_erased(ill: Path, tmp_path: Path) -> None:
    wakes = cli.told(["wakes"], ill)
    shown = [one["run_key"] for one in wakes if one["outcome"] == "completed"]
    cli.done(["erase", "task", ILL, "--sure"], ill)
    left = [one["run_key"] for one in cli.told(["wakes"], ill)]
    (first, *_) = [one for one in reversed(shown) if one in left]
    assert "[erased]" in cli.done(["show", first, "--prompt"], ill)
    for command in (["replay", first], ["fork", first, "--model", "rules"]):
        assert "[erased]" in cli.refused(command, ill)
    out = str(tmp_path / "history.jsonl")
    assert "[erased]" in cli.refused(["dev", "export-history", first, "--out", out], ill)
    cli.done(["dev", "export-history", "--all", "--out", out], ill)
    assert cli.told(["doctor"], ill)["ok"]


def test_a_fork_of_what_does_not_rest_on_it_proves(home: Path, tmp_path: Path) -> None:
    for title in ("Fix the tap", "Paint the fence"):
        cli.done(["add", title], home)
        cli.done(["agent", "create", title], home)
        cli.done(["wake", title], home)
    cli.done(["erase", "task", "Fix the tap", "--sure"], home)
    (run,) = [one["run_key"] for one in cli.told(["wakes"], home) if one["turns"]]
    fork = tmp_path / "fork"
    cli.done(["fork", run, "--model", "rules", "--out", str(fork)], home)
    assert cli.told(["prove"], fork)["ok"]


def test_a_fork_that_the_home_keeps_of_it_goes_with_it(ill: Path) -> None:
    run = next(one["run_key"] for one in cli.told(["wakes"], ill) if one["turns"])
    cli.done(["fork", run, "--model", "rules"], ill)
    assert list((ill / "forks").iterdir())
    did = cli.told(["erase", "task", ILL, "--sure"], ill)
    assert len(did["forks"]) == 1
    assert {word: files for word, files in holding(ill, WORDS).items() if files} == {}


# ---------------------------------------------------------------------------------------- accidents


@pytest.mark.parametrize("cut", ["deeds", "agent", "journal", "compact", "clean"])
def test_cut_off_before_any_step_it_is_found_and_ended(ill: Path, cut: str) -> None:
    task = cli.told(["show", "Zwiebelkur"], ill)["id"]

    def step(name: str) -> None:
        if name == cut:
            raise KeyboardInterrupt

    environ = {**os.environ, **FIXED}
    with (
        open_home(FolderLocation(ill), environ, is_writing=True) as home,
        pytest.raises(KeyboardInterrupt),
    ):
        erase(home, "task", task, step)
    assert cli.run(["prove"], ill).exit_code == 0
    if cut != "deeds":
        said = cli.run(["doctor"], ill).stdout
        assert "was cut off; `wakelog recover` ends it" in said
        assert "Ended an erasure" in cli.done(["recover"], ill)
        assert {word: files for word, files in holding(ill, WORDS).items() if files} == {}
        assert cli.told(["doctor"], ill)["ok"]
    else:
        assert cli.told(["erase", "task", ILL, "--sure"], ill)["ok"]
    assert findings(ill) == []


def test_a_process_that_has_the_home_open_goes_on_without_it(ill: Path) -> None:
    environ = {**os.environ, **FIXED}
    with open_home(FolderLocation(ill), environ, is_writing=True) as home:
        passport, gone = pick_task(home, "passport"), pick_task(home, "Zwiebelkur")
        cli.done(["erase", "task", ILL, "--sure"], ill)
        add_note(home, passport, "It is ready.")
        home.views.catch_up()
        assert home.views.get(VIEW, gone) is None
        with home.services.journal.reading() as world:
            assert not world.load(TASK, gone).exists


# ---------------------------------------------------------------------------------------- forgeries


def forged(home: Path, log: str, sql: str, *values: object) -> list[str]:
    """What `prove` finds in a copy in which a stranger changed something."""
    copy = home.parent / "forged"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy)
    with closing(sqlite3.connect(copy / f"{log}.db")) as file, file:
        assert file.execute(sql, values).rowcount == 1, "one row was changed"
    found = cli.run(["--json", "prove"], copy)
    document = json.loads(found.stdout)
    assert (found.exit_code, document["ok"]) == (1, False)
    return [f"{one['class']}: {one['path']}" for one in document["divergences"]]


FIRST = "(SELECT min(rowid) FROM stored_events WHERE topic = 'erased.1')"
LIVING = "(SELECT max(rowid) FROM stored_events WHERE topic = 'task.note_added.1')"


def test_what_a_forger_does_to_marks_is_found(ill: Path) -> None:
    cli.done(["erase", "task", ILL, "--sure"], ill)
    change = "UPDATE stored_events SET state = replace(state, ?, ?) WHERE rowid = "
    assert "data altered: erased" in forged(
        ill, "journal", f"DELETE FROM payloads WHERE id = {LISTED}"
    )
    wide = forged(ill, "journal", f"{change}{FIRST}", '{"kind"', '{ "kind"')
    assert "data altered: erased" in wide, "it is not as it is written"
    at = forged(ill, "journal", f"{change}{FIRST}", '"at":"2027', '"at":"2026')
    assert "data altered: data.command.digest" in at, "nothing but the digest holds the time"
    was = forged(ill, "journal", f"{change}{FIRST}", '"was":"receipt.1"', '"was":"receipt.2"')
    assert "data altered: data.command.digest" in was
    cut = "substr(state, 1, length(state) - 4) || '0\"}}'"
    sha = f"UPDATE stored_events SET state = {cut} WHERE rowid = "
    assert any("data altered" in one for one in forged(ill, "journal", f"{sha}{FIRST}"))
    note = forged(ill, "journal", f"{change}{LIVING}", "biometric", "biometrik")
    assert any("data altered" in one for one in note)


LISTED = (
    "(SELECT json_extract(CAST(state AS TEXT), '$.data.listed') FROM stored_events"
    " WHERE topic = 'erasure.made.1')"
)


def test_a_row_that_is_marked_in_silence_is_found(ill: Path) -> None:
    mark = "UPDATE stored_events SET topic = 'erased.1', state = ? WHERE rowid = " + LIVING
    with closing(sqlite3.connect(ill / "journal.db")) as file:
        ((state, topic),) = file.execute(
            f"SELECT state, topic FROM stored_events WHERE rowid = {LIVING}"
        )
    place = json.loads(state)
    sha = hashlib.sha256(state).hexdigest()
    made = {"n": place["n"], "row": place["row"]}
    made["data"] = {"kind": "erased.1", "was": topic, "sha256": sha}
    data = json.dumps(made, separators=(",", ":")).encode()
    assert "data altered: erased" in forged(ill, "journal", mark, data)
