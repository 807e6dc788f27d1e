"""`wakelog at`, `replay`, `diff` and `bisect` on a home that was lived in, and a life as a line
on the page: it is only read."""

import json
import sqlite3
from math import log2
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.support.cli import done, refused, run, told
from tests.support.pages import text_of, visiting
from tests.support.pasts import FIRST, SECOND, lived


def world(past: Path, where: str, *options: str) -> Any:
    return told(["at", where, *options], past)


def steps(past: Path, key: str) -> list[int]:
    found = told(["show", key], past)["steps"]
    return sorted({one["n"] for one in found if one["kind"].startswith("wake.")})


# -------------------------------------------------------------------------------------------- at


def test_a_step_is_the_world_right_after_it(past: Path, keys: list[str]) -> None:
    begun, answered, *_, last = steps(past, keys[0])
    assert world(past, f"{keys[0]}.{begun}")["wakes"][0]["state"] == "running"
    assert world(past, f"{keys[0]}.{answered}")["tasks"][0]["language"] is None
    after = world(past, f"{keys[0]}.{last}")
    assert after["tasks"][0]["language"] == "en"
    assert [one["ref"] for one in after["proposals"]] == ["1.1", "1.2"]
    assert after["proposals"][0]["arguments"] == {"minutes": 60}
    assert after["agent"] == f"agent:r1:{last}"
    decided = told(["show", keys[0]], past)["steps"][-1]["n"]
    assert decided > last
    assert world(past, f"{keys[0]}.{decided}")["proposals"] == []


def test_a_time_that_leaves_something_out_stands_for_its_end(past: Path) -> None:
    day = world(past, "2027-01-02")
    assert day["at"] == "2027-01-02T23:59:59.999999Z"
    assert day["tasks"][0]["items"] != []
    minute = world(past, "2027-01-02 09:00")
    assert [one["ref"] for one in minute["proposals"]] == ["1.2"]
    assert world(past, "2027-01-02T09:00:00Z")["at"] == "2027-01-02T09:00:00.000000Z"
    assert world(past, "2026-01-01")["tasks"] == []


# ---------------------------------------------------------------------------------------- prompt


def test_the_prompt_is_what_show_shows(past: Path, keys: list[str]) -> None:
    for key in keys:
        assert done(["at", key, "--prompt"], past) == done(["show", key, "--prompt"], past)


def test_a_later_turn_was_shown_the_earlier_ones_too(past: Path, keys: list[str]) -> None:
    numbers = steps(past, keys[0])
    first, later = (world(past, f"{keys[0]}.{n}", "--prompt") for n in (numbers[0], numbers[-1]))
    assert (first["turn"], first["exchanges"]) == (1, [])
    assert later["turn"] == 2
    assert "Let me see." in later["exchanges"][0]["reply"]
    assert len(later["exchanges"][0]["results"]) == 6
    assert first["request"] != later["request"]
    text = done(["at", f"{keys[0]}.{numbers[-1]}", "--prompt"], past)
    assert text.startswith(done(["show", keys[0], "--prompt"], past))
    assert "The report is kept" in text


def test_a_moment_shows_the_newest_prompt_until_then(past: Path, keys: list[str]) -> None:
    assert world(past, "2027-01-03 12:00", "--prompt")["run_key"] == keys[1]
    assert world(past, "2028-01-01", "--prompt", "--task", FIRST)["run_key"] == keys[2]
    assert "no model had been asked" in refused(["at", "2026-01-01", "--prompt"], past)
    assert "no model" in refused(["at", "2028-01-01", "--prompt", "--task", SECOND], past)


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
def test_what_is_no_moment_is_told(past: Path, keys: list[str], where: str, told_so: str) -> None:
    assert told_so in refused(["at", where.format(key=keys[0])], past)


def test_a_wake_that_never_began_stands_where_it_was_queued(past: Path) -> None:
    (queued,) = told(["wakes", SECOND], past)
    then = world(past, queued["run_key"])
    assert then["wakes"][0]["run_key"] == queued["run_key"]
    assert "has no step" in refused(["at", queued["run_key"] + ".3"], past)
    assert "no model" in refused(["at", queued["run_key"], "--prompt"], past)
    assert "has not begun" in refused(["replay", queued["run_key"]], past)


def test_replay_waits_before_each_step_if_it_is_told_to(past: Path, keys: list[str]) -> None:
    for typed, count in (("\nq\n", 1), ("\n" * 20, 4), ("", 0)):
        shown = done(["replay", keys[1], "--step"], past, input=typed)
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


def differing(past: Path, *args: str) -> Any:
    """The document of `diff` of what differs."""
    result = run(["--json", "diff", *args], past)
    assert result.exit_code == 1, result.output
    return json.loads(result.stdout)


# ------------------------------------------------------------------------------------------ diff


def test_a_wake_does_not_differ_from_itself(past: Path, keys: list[str]) -> None:
    same = told(["diff", keys[0], keys[0]], past)
    assert (same["kind"], same["same"]) == ("wakes", True)
    assert done(["diff", keys[0], keys[0]], past) == "Nothing differs.\n"


def test_the_sides_of_a_difference_have_colours_on_a_terminal(past: Path, keys: list[str]) -> None:
    shown = run(["diff", *keys[:2]], past, {"NO_COLOR": ""}, is_coloured=True).stdout
    assert "\x1b[31m  - Set estimate to 60 minutes\x1b[0m\n" in shown
    assert "\x1b[31m  -Under way\x1b[0m\n\x1b[36m  +Waiting\x1b[0m\n" in shown
    assert "\nreport\n" in shown
    assert "\x1b" not in run(["diff", *keys[:2]], past, {"NO_COLOR": "1"}, is_coloured=True).stdout


def test_two_homes_are_compared_row_by_row(past: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    copytree(past, other)
    assert told(["diff", str(past), str(other)], past)["same"]
    done(
        ["task", "set", FIRST, "--priority", "P1"],
        other,
        env={"WAKELOG_NOW": "2028-01-01T00:00:00Z"},
    )
    found = differing(past, str(past), str(other))
    journal, agents = found["logs"]
    assert (journal["same"], agents["same"]) == (False, True)
    assert journal["first"]["a"] is None
    assert journal["first"]["b"]["kind"] == "receipt.1"
    (priority,) = [one for one in found["changes"] if one["path"].endswith(".priority")]
    assert (priority["a"], priority["b"]) == ("P2", "P1")


def test_what_cannot_be_compared_is_told(past: Path, keys: list[str], tmp_path: Path) -> None:
    assert "compared with a home" in refused(["diff", keys[0], str(past)], past)
    assert "there is no home in" in refused(["diff", keys[0], str(tmp_path)], past)
    assert "there is no home in" in refused(["diff", keys[0], "./no-such"], past)


# ---------------------------------------------------------------------------------------- bisect


@pytest.mark.parametrize(
    ("question", "nth"),
    [
        (["--text", "IT  is"], 1),
        (["--sql", "SELECT one_liner = 'Waiting' OR one_liner = 'Nearly done' FROM reports"], 2),
        (["--sql", "SELECT count(*) > 2 FROM tasks, agents, links, observations"], 0),
        (["--python", "agent['wakes'] >= 2 and not proposals and not wakes"], 2),
    ],
)
def test_bisect_finds_since_when_something_holds(
    past: Path, keys: list[str], question: list[str], nth: int
) -> None:
    result = run(["--json", "bisect", FIRST, *question], past)
    assert result.exit_code == (0 if nth else 1), result.output
    found = json.loads(result.stdout)
    assert found["wakes"] == 3
    assert (found["since"] or {}).get("run_key") == (keys[nth - 1] if nth else None)
    assert len(found["probes"]) <= log2(3) + 1
    if nth == 3:
        assert found["before"]["run_key"] == keys[1]


def test_where_it_comes_and_goes_bisect_claims_no_more_than_it_saw(
    past: Path, keys: list[str]
) -> None:
    shown = done(["bisect", FIRST, "--python", "agent.wakes != 2"], past)
    assert shown.splitlines() == [
        f"wake 2 of 3  {keys[1][:8]}  does not hold",
        f"wake 3 of 3  {keys[2][:8]}  holds",
        f"It holds since wake 3 of 3: {keys[2][:8]}, 2027-01-04 09:00, and not after wake 2.",
    ]


def test_where_nothing_holds_or_nothing_ended_bisect_says_so(past: Path) -> None:
    for title, said in (
        (FIRST, "It does not hold after the last of 3 wakes."),
        (SECOND, "No wake of this agent has ended yet."),
    ):
        none = run(["bisect", title, "--text", "no such words"], past)
        assert (none.exit_code, none.stdout.splitlines()[-1]) == (1, said)


@pytest.mark.parametrize(
    ("question", "told_so"),
    [
        ([], "one question is needed"),
        (["--text", "a", "--sql", "SELECT 1"], "only one question"),
        (["--text", "a", "--text", "b"], "only one question"),
        (["--text", " "], "is empty"),
        (["--sql", "SELECT nothing FROM nowhere"], "the query fails"),
        (["--sql", "SELECT * FROM read_text('/etc/passwd')"], "the query fails"),
        (["--sql", "DROP TABLE tasks"], "the query fails"),
        (["--sql", "SELECT colour FROM notes"], "notes has task_id, id, kind, "),
        (["--sql", " "], "the query is empty"),
        (["--python", "task."], "fails: SyntaxError"),
        (["--python", "task.colour"], "no 'colour' here"),
        (["--python", "open('/etc/passwd')"], "NameError"),
    ],
)
def test_what_is_no_question_is_told(past: Path, question: list[str], told_so: str) -> None:
    assert told_so in refused(["--quiet", "--json", "bisect", FIRST, *question], past)


# --------------------------------------------------------------------------------- a life as a line


@pytest.mark.slow
def test_each_moment_is_as_at_tells_it_and_two_differ_as_diff_does(past: Path) -> None:
    agent = next(one for one in told(["agent", "list"], past) if one["name"] == FIRST)
    url = f"/agents/{agent['id']}/life"
    with visiting(past) as visitor:
        last = visitor.json(url)
        assert last["nth"] == last["moments"] > 10
        seen = {}
        for nth in (1, last["moments"] // 2, last["moments"]):
            moment = visitor.get(f"{url}.json?nth={nth}").json()["moment"]
            shown = told(["at", moment["agent"]], past)
            scope = {one["id"] for one in moment["tasks"]}
            for name in ("tasks", "agents"):
                wanted = [one for one in shown[name] if {one["id"], one.get("task_id")} & scope]
                assert moment[name] == wanted
            assert moment["journal"] == shown["journal"]
            seen[nth] = moment["agent"]
        first, middle = (seen[one].rpartition(":")[2] for one in sorted(seen)[:2])
        differs = visitor.get(f"{url}.json?from={middle}&to={first}").json()
        asked = ["--json", "diff", f"agent:{first}", f"agent:{middle}", "--task", FIRST]
        assert differs["changes"] == json.loads(run(asked, past).stdout)["changes"] != []
        page = visitor.page(f"{url}?at={middle}")
        assert "Each mark is one event, each step one moment." in page
        assert 'rel="prev"' in page
        assert 'rel="next"' in page
        day = visitor.get(f"{url}.json?on=2027-01-02").json()
        assert day["moment"]["at"].startswith("2027-01-02")
        assert "What differs between" in text_of(visitor.page(f"{url}?at={middle}&from={first}"))


@pytest.mark.slow
def test_a_moment_that_is_not_there_is_the_nearest_one(past: Path) -> None:
    agent = told(["agent", "list"], past)[0]["id"]
    with visiting(past) as visitor:
        for asked in ("?nth=99999", "?at=x", "?on=2020-01-01"):
            assert visitor.get(f"/agents/{agent}/life{asked}").status_code == 200
        assert "has no append 999" in visitor.get(f"/agents/{agent}/life?at=999").text
        assert visitor.get(f"/agents/{agent}/life?to=5").status_code == 422
        assert visitor.get(f"/agents/{agent}/life?on=never").status_code == 422
        assert visitor.get("/agents/nobody/life").status_code == 404
