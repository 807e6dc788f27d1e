"""Prompts that render again are dropped, and old replies (ADR 109)."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from adapters.proof.histories import prove_history, read_history
from adapters.runtime.engine_options import Tell
from adapters.upkeep.retain import retaining
from adapters.wiring import open_home
from tests.support import cli
from tests.support.checker import findings
from tests.support.checking.sharing import check
from tests.support.machines import Machine, pair

NOW = {"WAKELOG_NOW": "2027-09-01T09:00:00Z"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of two months with wakes that ended, none of which is young."""
    home = tmp_path_factory.mktemp("retain") / "home"
    cli.done(["demo-data", "--agents", "3", "--months", "1", "--seed", "r"], home)
    return home


@pytest.fixture
def home(told: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "home"
    shutil.copytree(told, copy)
    return copy


def retain(home: Path, *options: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(cli.done(["--json", "retain", *options], home, env=NOW))
    return found


def proved(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cli.run(["--json", "prove"], home).stdout)
    return found


def rows(home: Path, sql: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        return file.execute(sql).fetchall()


def wakes(home: Path) -> list[str]:
    return [one["run_key"] for one in cli.told(["wakes", "--all"], home) if one["started_at"]]


PROMPTS = (
    "SELECT DISTINCT json_extract(CAST(state AS TEXT), '$.data.snapshot') FROM stored_events"
    " WHERE topic = 'wake.started.1'"
)


def test_what_was_dropped_is_proved_shown_and_replayed_byte_for_byte(home: Path) -> None:
    run = wakes(home)[-1]
    shown = cli.done(["show", run, "--prompt"], home)
    before = proved(home)
    did = retain(home, "--prompts", "1", "--compact")
    assert did["prompts"] > 20
    assert did["after"] < did["before"]
    after = proved(home)
    assert (after["ok"], after["prompts"], after["wakes"]) == (
        True, before["prompts"], before["wakes"],
    )  # fmt: skip
    again = cli.run(["show", run, "--prompt"], home)
    assert (again.stdout, "Rendered anew" in again.stderr) == (shown, True)
    assert cli.run(["replay", run], home).exit_code == 0
    assert findings(home) == []
    assert retain(home, "--prompts", "1")["prompts"] == 0, "all of it went at once"


def test_of_replies_the_bytes_go_and_what_they_said_stays(home: Path) -> None:
    did = retain(home, "--replies", "1")
    assert did["replies"] > 0
    after = proved(home)
    assert (after["ok"], after["dropped_replies"]) == (True, did["replies"])
    assert findings(home) == []


def test_a_reply_that_no_retention_covers_is_missed(home: Path) -> None:
    replies = (
        "SELECT json_extract(CAST(state AS TEXT), '$.data.reply'), substr(state, 8, 27)"
        " FROM stored_events WHERE topic = 'wake.model_answered.1' ORDER BY rowid DESC"
    )
    (reply, *_), *_ = rows(home, replies)
    rows(home, f"DELETE FROM payloads WHERE id = '{reply}'")
    assert {one["class"] for one in proved(home)["divergences"]} == {"payload missing"}


def test_a_history_is_written_with_what_renders_and_refused_without_a_reply(
    home: Path, tmp_path: Path
) -> None:
    run, agent = wakes(home)[-1], cli.told(["agent", "list"], home)[0]["id"]
    whole, short = tmp_path / "whole", tmp_path / "short"
    retain(home, "--prompts", "1")
    own = {"WAKELOG_REPLICA": "demo"}  # which made its wakes
    cli.done(["export-history", run, "--out", f"{short}"], home, env=own)
    for args in (
        ["fork", run, "--model", "rules"],
        ["bisect", agent, "--python", "report != ''"],
    ):
        assert cli.run(args, home, env=own).exit_code == 0, args
    assert prove_history(read_history(short)).ok
    retain(home, "--replies", "1")
    assert "retain" in cli.refused(["export-history", run], home, env=own)
    cli.done(["export-history", "--all", "--out", f"{whole}"], home)
    assert prove_history(read_history(whole)).ok
    assert proved(home)["ok"]


def test_a_dry_run_and_what_is_young_change_nothing(home: Path) -> None:
    kept = (home / "agent.db").read_bytes()
    assert retain(home, "--prompts", "1", "--dry-run")["prompts"] > 0
    assert retain(home, "--prompts", "30000", "--replies", "30000")["prompts"] == 0
    assert (home / "agent.db").read_bytes() == kept


def test_what_no_retention_covers_is_missed_even_where_an_older_wake_was_shown_it(
    home: Path,
) -> None:
    (snapshot, *_), *_ = rows(home, PROMPTS)
    rows(home, f"DELETE FROM payloads WHERE id = '{snapshot}'")
    found = proved(home)
    assert {one["class"] for one in found["divergences"]} == {"payload missing"}
    retain(home, "--replies", "1")
    assert not proved(home)["ok"], "what was dropped were replies"


def test_a_prompt_that_renders_otherwise_is_told_and_not_dropped(home: Path) -> None:
    retain(home, "--prompts", "1")
    with closing(sqlite3.connect(home / "journal.db")) as file, file:
        changed = file.execute(
            "UPDATE stored_events SET state = replace(CAST(state AS TEXT), ?, ?)"
            " WHERE topic = 'task.created.1'",
            ('"title":"', '"title":"X'),
        )
        assert changed.rowcount
    classes = {one["class"] for one in proved(home)["divergences"]}
    assert "prompt changed" in classes


def test_what_was_erased_and_what_was_dropped_prove_in_either_order(
    home: Path, tmp_path: Path
) -> None:
    task = next(one["title"] for one in cli.told(["list", "--all"], home))
    other = tmp_path / "other"
    shutil.copytree(home, other)
    cli.done(["erase", "task", task, "--sure"], home)
    retain(home, "--prompts", "1", "--replies", "1")
    assert (proved(home)["ok"], findings(home)) == (True, [])
    retain(other, "--prompts", "1", "--replies", "1")
    cli.done(["erase", "task", task, "--sure"], other)
    assert (proved(other)["ok"], findings(other)) == (True, [])


@pytest.mark.parametrize("seconds", [0.5, 0.9, 1.3])
def test_killed_at_any_moment_all_is_there_or_all_is_said(home: Path, seconds: float) -> None:
    ran = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "retain"]
    environ = {**os.environ, **cli.FIXED, **NOW}
    with subprocess.Popen([*ran, "--prompts", "1", "--compact"], env=environ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    assert proved(home)["ok"]
    retain(home, "--prompts", "1")
    assert (proved(home)["ok"], findings(home)) == (True, [])


@pytest.mark.parametrize(
    ("options", "because"),
    [((), "it is not said what to drop"), (("--prompts", "0"), "--prompts")],
)
def test_what_makes_no_sense_is_refused(home: Path, options: tuple[str, ...], because: str) -> None:
    found = cli.run(["retain", *options], home)
    assert (found.exit_code, because in found.stderr) == (2, True)


def test_machines_that_share_a_home_each_drop_their_own_and_give_what_the_others_lack(
    tmp_path: Path,
) -> None:
    desk, laptop = pair(tmp_path)
    old, young = {"WAKELOG_NOW": "2027-01-05T09:00:00Z"}, {"WAKELOG_NOW": "2027-04-05T09:00:00Z"}
    desk.more |= old
    laptop.more |= old
    for task in ("Paint the fence", "Renew the passport"):
        desk.told("add", task)
        desk.told("agent", "create", task)
    desk.said("wake")
    desk.sync()
    laptop.sync()
    laptop.said("note", "passport", "New")
    laptop.said("wake", "passport")
    laptop.sync()
    desk.sync()
    desk.more |= young
    laptop.more |= young
    before = desk.told("prove")
    did = desk.told("retain", "--prompts", "30")
    assert did["prompts"] > 5
    laptop.said("note", "passport", "The photo is there")  # named again, and kept there
    laptop.said("wake", "passport")
    for file in (desk.folder / "laptop").glob("agent*"):  # offered anew as one file: a text
        file.unlink()  # stands with its first row, which the desk has, and the text no more
    late = Machine(tmp_path / "late", desk.folder, **young)
    for one in (laptop, desk, late, laptop):
        one.sync()
    shared = {one.told("prove")["shared"] for one in (desk, laptop, late)}
    assert len(shared) == 1
    for one in (desk, laptop, late):
        found = one.told("prove")
        assert (found["ok"], found["prompts"] > before["prompts"]) == (True, True)
        assert [*check(one.home)] == []


def tell(told: Event) -> Tell:
    def heard(event: str, level: str = "info", **_: object) -> None:
        assert (event, level) == ("retained", "info")
        told.set()

    return heard


def test_a_run_drops_once_a_day_what_the_settings_say(home: Path) -> None:
    cli.done(["settings", "set", "retain.prompts_days", "30"], home)
    ran = cli.run(["run", "--until-idle"], home, env=NOW)
    assert "dropped as the settings say" in ran.stderr
    cli.done(["settings", "set", "retain.replies_days", "30"], home)
    assert "dropped" not in cli.run(["run", "--until-idle"], home, env=NOW).stderr, "once a day"
    dry = cli.told(["retain", "--dry-run"], home, env=NOW)
    assert (dry["prompts"], dry["replies"] > 0) == (0, True), "the days are those of the settings"
    assert (proved(home)["ok"], findings(home)) == (True, [])
    later, told = {**cli.FIXED, "WAKELOG_NOW": "2027-09-03T09:00:00Z"}, Event()
    with open_home(home, later) as opened, retaining(opened, later, tell(told), once=False):
        assert told.wait(30), "beside what runs"
    assert proved(home)["dropped_replies"] > 0
