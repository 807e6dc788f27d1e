"""`wakelog at` and `replay` on a home that was lived in; it is only read."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, refused, run, told
from tests.support.pasts import FIRST, SECOND, lived


@pytest.fixture(scope="module")
def home(past: Path) -> Path:
    return past


def world(home: Path, where: str, *options: str) -> Any:
    return told(["at", where, *options], home)


def steps(home: Path, key: str) -> list[int]:
    found = told(["show", key], home)["steps"]
    return sorted({one["n"] for one in found if one["kind"].startswith("wake.")})


# -------------------------------------------------------------------------------------------- at


def test_before_its_first_wake_an_agent_has_nothing(home: Path, keys: list[str]) -> None:
    then = world(home, keys[0])
    assert [task["title"] for task in then["tasks"]] == [FIRST, SECOND]
    agent = then["agents"][0]
    assert (agent["report"], agent["journal"], agent["wakes"]) == (None, [], 0)
    assert then["proposals"] == []
    (queued, *_) = then["wakes"]
    assert (queued["run_key"], queued["state"]) == (keys[0], "queued")
    assert then["tasks"][0]["language"] is None


def test_a_later_wake_finds_what_the_earlier_ones_and_the_person_did(
    home: Path, keys: list[str]
) -> None:
    then = world(home, keys[1])
    assert [item["title"] for item in then["tasks"][0]["items"]] == ["Buy a seal"]
    assert then["tasks"][0]["language"] == "en"
    assert then["agents"][0]["report"]["one_liner"] == "Under way"
    assert then["agents"][0]["journal"][0]["text"] == "The person likes lists."
    assert then["proposals"] == []
    assert then["tasks"][0]["links"] == [
        {"relation": "blocks", "direction": "in", "task_id": then["tasks"][1]["id"]}
    ]


def test_a_step_is_the_world_right_after_it(home: Path, keys: list[str]) -> None:
    begun, answered, *_, last = steps(home, keys[0])
    assert world(home, f"{keys[0]}.{begun}")["wakes"][0]["state"] == "running"
    assert world(home, f"{keys[0]}.{answered}")["tasks"][0]["language"] is None
    after = world(home, f"{keys[0]}.{last}")
    assert after["tasks"][0]["language"] == "en"
    assert [one["ref"] for one in after["proposals"]] == ["1.1", "1.2"]
    assert after["proposals"][0]["arguments"] == {"minutes": 60}
    assert after["agent"] == f"agent:r1:{last}"
    decided = told(["show", keys[0]], home)["steps"][-1]["n"]
    assert decided > last
    assert world(home, f"{keys[0]}.{decided}")["proposals"] == []


def test_a_position_bounds_the_other_log_by_its_time(home: Path) -> None:
    then = world(home, "journal:r1:1")
    assert (then["journal"], then["agent"]) == ("journal:r1:1", "agent:r1:0")
    assert [task["title"] for task in then["tasks"]] == []  # the epoch alone
    assert [task["title"] for task in world(home, "journal:r1:2")["tasks"]] == [FIRST]
    end = world(home, "agent:r1:3")
    assert end["journal"] != "journal:r1:0"
    assert world(home, "agent:r1:0")["at"] is None


def test_a_time_that_leaves_something_out_stands_for_its_end(home: Path) -> None:
    day = world(home, "2027-01-02")
    assert day["at"] == "2027-01-02T23:59:59.999999Z"
    assert day["tasks"][0]["items"] != []
    minute = world(home, "2027-01-02 09:00")
    assert [one["ref"] for one in minute["proposals"]] == ["1.2"]
    assert world(home, "2027-01-02T09:00:00Z")["at"] == "2027-01-02T09:00:00.000000Z"
    assert world(home, "2026-01-01")["tasks"] == []


def test_a_task_narrows_it_down_and_all_widens_it(home: Path, keys: list[str]) -> None:
    done(["task", "add", "Water the plants"], home)
    later = "2030-01-01"
    assert len(world(home, later)["tasks"]) == 3
    assert [task["title"] for task in world(home, later, "--task", SECOND)["tasks"]] == [
        SECOND,
        FIRST,
    ]
    assert len(world(home, keys[0])["tasks"]) == 2
    assert len(world(home, keys[0], "--all")["tasks"]) == 2, "the third was not there yet"


def test_it_reads_as_a_page(home: Path, keys: list[str]) -> None:
    last = steps(home, keys[0])[-1]
    shown = done(["at", f"{keys[0]}.{last}"], home)
    assert shown.startswith(f"after step {last} of the manual wake {keys[0]}\n2027-01-01 09:00")
    assert "1.1  pending: Set estimate to 60 minutes" in shown
    assert "report of" in shown
    assert "Wakes\n  none" in done(["at", "2026-01-01"], home)


# ---------------------------------------------------------------------------------------- prompt


def test_the_prompt_is_what_show_shows(home: Path, keys: list[str]) -> None:
    for key in keys:
        assert done(["at", key, "--prompt"], home) == done(["show", key, "--prompt"], home)


def test_a_later_turn_was_shown_the_earlier_ones_too(home: Path, keys: list[str]) -> None:
    numbers = steps(home, keys[0])
    first, later = (world(home, f"{keys[0]}.{n}", "--prompt") for n in (numbers[0], numbers[-1]))
    assert (first["turn"], first["exchanges"]) == (1, [])
    assert later["turn"] == 2
    assert "Let me see." in later["exchanges"][0]["reply"]
    assert len(later["exchanges"][0]["results"]) == 6
    assert first["request"] != later["request"]
    text = done(["at", f"{keys[0]}.{numbers[-1]}", "--prompt"], home)
    assert text.startswith(done(["show", keys[0], "--prompt"], home))
    assert "The report is kept" in text


def test_a_moment_shows_the_newest_prompt_until_then(home: Path, keys: list[str]) -> None:
    assert world(home, "2027-01-03 12:00", "--prompt")["run_key"] == keys[1]
    assert world(home, "2028-01-01", "--prompt", "--task", FIRST)["run_key"] == keys[2]
    assert "no model had been asked" in refused(["at", "2026-01-01", "--prompt"], home)
    assert "no model" in refused(["at", "2028-01-01", "--prompt", "--task", SECOND], home)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("where", "told_so"),
    [
        ("journal:r1:9999", "has no append 9999"),
        ("journal:r2:2", "not r2's"),
        ("2027-13-01", "no moment"),
        ("27:00", "no moment"),
        ("agent:r1", "no moment"),
        ("zzzz", "there is no wake"),
        ("{key}.x", "names no step"),
        ("{key}.1", "has no step 1"),
    ],
)
def test_what_is_no_moment_is_told(home: Path, keys: list[str], where: str, told_so: str) -> None:
    assert told_so in refused(["at", where.format(key=keys[0])], home)


def test_a_wake_that_never_began_stands_where_it_was_queued(home: Path) -> None:
    (queued,) = told(["wakes", SECOND], home)
    then = world(home, queued["run_key"])
    assert then["wakes"][0]["run_key"] == queued["run_key"]
    assert "has no step" in refused(["at", queued["run_key"] + ".3"], home)
    assert "no model" in refused(["at", queued["run_key"], "--prompt"], home)
    assert "has not begun" in refused(["replay", queued["run_key"]], home)


# ---------------------------------------------------------------------------------------- replay


def test_a_wake_runs_again_to_the_same_bytes(home: Path, keys: list[str]) -> None:
    for key in keys:
        again = told(["replay", key], home)
        assert again["same"]
        assert all(one["same"] for one in (*again["prompt"], *again["steps"]))
        logs = [step["position"].partition(":")[0] for step in again["steps"]]
        assert set(logs) == ({"agent", "journal"} if key == keys[0] else {"agent"})


def test_replay_says_what_was_asked_answered_decided_and_why(home: Path, keys: list[str]) -> None:
    shown = done(["replay", keys[0]], home)
    assert "rendered again: role, directives" in shown
    assert "asked     tape:" in shown
    assert "answered  wake.model_answered: Let me see.; calls set_task_language" in shown
    assert "refused before it had an effect: unknown_tool" in shown
    assert "the person decides about it" in shown
    assert "the model called nothing more" in shown
    assert shown.endswith("Every byte is the same.\n")


def test_replay_waits_before_each_step_if_it_is_told_to(home: Path, keys: list[str]) -> None:
    for typed, count in (("\nq\n", 1), ("\n" * 20, 4), ("", 0)):
        shown = done(["replay", keys[1], "--step"], home, input=typed)
        assert shown.count("\nstep ") == min(count, 3)
        *_, last = shown.splitlines()
        assert last.endswith("very byte is the same.")
        assert last.startswith(f"Stopped after {count} step") is (count < 3)


def test_what_was_changed_in_the_log_is_found_by_replay(tmp_path: Path) -> None:
    home = tmp_path / "home"
    key = lived(home, tmp_path)[0]
    with sqlite3.connect(home / "agent.db") as database:
        database.execute(
            "UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), "
            '\'"stop":"answered"\', \'"stop":"turn_limit"\') AS BLOB) '
            "WHERE originator_id = ? AND topic = 'wake.finished.1'",
            (f"wake:{key}@r1",),
        )
    database.close()
    result = run(["replay", key], home)
    assert result.exit_code == 1
    assert "Some bytes are others." in result.stdout
    assert "bytes     OTHERS" in result.stdout
    found = run(["--json", "replay", key], home)
    assert found.exit_code == 1
