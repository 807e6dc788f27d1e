"""`wakelog diff` and `bisect` on a home that was lived in; it is only read."""

from math import log2
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.support.cli import done, refused, run, told
from tests.support.pasts import FIRST, SECOND


@pytest.fixture(scope="module")
def home(past: Path) -> Path:
    return past


def differing(home: Path, *args: str) -> Any:
    """The document of `diff` of what differs."""
    import json

    result = run(["--json", "diff", *args], home)
    assert result.exit_code == 1, result.output
    return json.loads(result.stdout)


# ------------------------------------------------------------------------------------------ diff


def test_a_wake_does_not_differ_from_itself(home: Path, keys: list[str]) -> None:
    same = told(["diff", keys[0], keys[0]], home)
    assert (same["kind"], same["same"]) == ("wakes", True)
    assert done(["diff", keys[0], keys[0]], home) == "Nothing differs.\n"


def test_two_wakes_are_compared_part_by_part(home: Path, keys: list[str]) -> None:
    found = differing(home, keys[0], keys[1])
    changed = {one["section"]: (one["a"], one["b"]) for one in found["prompt"] if not one["same"]}
    assert changed["first_wake"][1] is None
    assert changed["report"][0] is None
    assert "Buy a seal" in changed["task"][1]
    assert found["proposals"]["only_a"] == ["Set estimate to 60 minutes", 'Add: "Buy a seal"']
    assert found["report"]["a"]["one_liner"] == "Under way"
    assert found["report"]["b"]["one_liner"] == "Waiting"
    assert found["replies"][0]["calls"][0]["b"]["tool"] == "update_report"
    assert found["tokens"]["a"] == {"input_tokens": 150, "output_tokens": 0, "turns": 2}
    assert found["tokens"]["b"]["input_tokens"] is None


def test_two_wakes_read_as_a_page(home: Path, keys: list[str]) -> None:
    shown = run(["diff", keys[0], keys[1]], home).stdout
    assert shown.startswith(f"- wake {keys[0][:8]}, ")
    assert shown.splitlines()[1].startswith(f"+ wake {keys[1][:8]}, ")
    assert "model: tape:" in shown
    assert "  - Set estimate to 60 minutes" in shown
    assert "  -Under way\n  +Waiting" in shown
    assert shown.endswith(
        "tokens: 150 in, 0 out in 2 turns -> unknown in, unknown out in 2 turns\n"
    )


def test_the_sides_of_a_difference_have_colours_on_a_terminal(home: Path, keys: list[str]) -> None:
    shown = run(["diff", *keys[:2]], home, {"NO_COLOR": ""}, is_coloured=True).stdout
    assert "\x1b[31m  - Set estimate to 60 minutes\x1b[0m\n" in shown
    assert "\x1b[31m  -Under way\x1b[0m\n\x1b[36m  +Waiting\x1b[0m\n" in shown
    assert "\nreport\n" in shown
    assert "\x1b" not in run(["diff", *keys[:2]], home, {"NO_COLOR": "1"}, is_coloured=True).stdout


def test_two_moments_are_compared_as_worlds(home: Path, keys: list[str]) -> None:
    found = differing(home, "2027-01-01", "2027-01-02", "--task", FIRST)
    assert found["kind"] == "worlds"
    paths = {one["path"]: one["change"] for one in found["changes"]}
    assert paths["proposals[1.1]"] == "removed"
    assert any(path.endswith("].checklist.total") for path in paths)
    assert [change for path, change in paths.items() if ".items[" in path] == ["added"]
    shown = run(["diff", "2027-01-01", "2027-01-02", "--task", FIRST], home).stdout
    assert "- proposals[1.1]: Set estimate to 60 minutes" in shown, "a thing goes by its name"
    assert shown.startswith("- 2027-01-01: 2027-01-01 23:59, journal:r1:")
    assert ".checklist.total: 0 -> 1" in shown
    assert told(["diff", "2027-01-02", "agent:r1:13"], home)["same"], "nothing came between"


def test_two_homes_are_compared_row_by_row(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    copytree(home, other)
    assert told(["diff", str(home), str(other)], home)["same"]
    done(
        ["task", "set", FIRST, "--priority", "P1"],
        other,
        env={"WAKELOG_NOW": "2028-01-01T00:00:00Z"},
    )
    found = differing(home, str(home), str(other))
    journal, agents = found["logs"]
    assert (journal["same"], agents["same"]) == (False, True)
    assert journal["first"]["a"] is None
    assert journal["first"]["b"]["kind"] == "receipt.1"
    (priority,) = [one for one in found["changes"] if one["path"].endswith(".priority")]
    assert (priority["a"], priority["b"]) == ("P2", "P1")
    shown = run(["diff", str(home), str(other)], home).stdout
    assert "journal: the same for" in shown
    assert "agent: the same to the byte" in shown


def test_a_wake_is_compared_with_one_of_another_home(
    home: Path, keys: list[str], tmp_path: Path
) -> None:
    copytree(home, tmp_path / "other")
    assert told(["diff", keys[0], f"{tmp_path}/other::{keys[0]}"], home)["same"]
    shown = run(["diff", keys[0], f"{tmp_path}/other::{keys[1]}"], home).stdout.splitlines()
    assert "other" not in shown[0]
    assert shown[1].endswith(f" in {tmp_path}/other")


def test_what_cannot_be_compared_is_told(home: Path, keys: list[str], tmp_path: Path) -> None:
    assert "compared with a home" in refused(["diff", keys[0], str(home)], home)
    assert "there is no home in" in refused(["diff", keys[0], str(tmp_path)], home)
    assert "there is no home in" in refused(["diff", keys[0], "./no-such"], home)


# ---------------------------------------------------------------------------------------- bisect


@pytest.mark.parametrize(
    ("question", "nth"),
    [
        (["--text", "IT  is"], 1),
        (["--text", "nearly"], 3),
        (["--sql", "SELECT one_liner = 'Waiting' OR one_liner = 'Nearly done' FROM reports"], 2),
        (["--sql", "SELECT count(*) FROM items"], 2),
        (["--sql", "SELECT 1 FROM notes WHERE text LIKE '%seal%'"], 3),
        (["--sql", "SELECT count(*) > 2 FROM tasks, agents, links, observations"], 0),
        (["--python", "report.one_liner == 'Nearly done'"], 3),
        (["--python", "task.language == 'en' and len(journal) == 1"], 1),
        (["--python", "agent['wakes'] >= 2 and not proposals and not wakes"], 2),
    ],
)
def test_bisect_finds_since_when_something_holds(
    home: Path, keys: list[str], question: list[str], nth: int
) -> None:
    import json

    result = run(["--json", "bisect", FIRST, *question], home)
    assert result.exit_code == (0 if nth else 1), result.output
    found = json.loads(result.stdout)
    assert found["wakes"] == 3
    assert (found["since"] or {}).get("run_key") == (keys[nth - 1] if nth else None)
    assert len(found["probes"]) <= log2(3) + 1
    if nth == 3:
        assert found["before"]["run_key"] == keys[1]


def test_where_it_comes_and_goes_bisect_claims_no_more_than_it_saw(
    home: Path, keys: list[str]
) -> None:
    shown = done(["bisect", FIRST, "--python", "agent.wakes != 2"], home)
    assert shown.splitlines() == [
        f"wake 2 of 3  {keys[1][:8]}  does not hold",
        f"wake 3 of 3  {keys[2][:8]}  holds",
        f"It holds since wake 3 of 3: {keys[2][:8]}, 2027-01-04 09:00, and not after wake 2.",
    ]


def test_bisect_prints_what_it_looks_at(home: Path, keys: list[str]) -> None:
    shown = done(["bisect", FIRST, "--text", "waiting"], home)
    first, *_, last = shown.splitlines()
    assert first == f"wake 2 of 3  {keys[1][:8]}  holds"
    assert (
        last
        == f"It holds since wake 2 of 3: {keys[1][:8]}, 2027-01-03 09:00, and not after wake 1."
    )
    none = run(["bisect", FIRST, "--text", "no such words"], home)
    assert none.exit_code == 1
    assert none.stdout.endswith("It does not hold after the last of 3 wakes.\n")
    assert (
        "No wake of this agent has ended yet."
        in run(["bisect", SECOND, "--text", "x"], home).stdout
    )


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
def test_what_is_no_question_is_told(home: Path, question: list[str], told_so: str) -> None:
    assert told_so in refused(["--quiet", "--json", "bisect", FIRST, *question], home)
