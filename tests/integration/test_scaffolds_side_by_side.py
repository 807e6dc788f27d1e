"""A home of release 0.1.0 in which agents wake again: wakes of the first and newest scaffold."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.proof import histories
from domain.append import envelope
from domain.scaffold import SCAFFOLD
from domain.wake.commands import BeginWake
from replay.appends import appends
from tests.histories import make
from tests.histories.test_formats import restored
from tests.support.cli import done, proved, run, told
from tests.support.waking import at

TAP = "Fix the kitchen tap"
GARDEN = "庭の掃除"
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
LATER = at("2027-01-02T09:00:00Z")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose older wakes are of scaffold 1, and its three newest of today's."""
    home = tmp_path_factory.mktemp("side_by_side") / "home"
    home.mkdir()
    for name in ("journal", "agent"):
        restored(make.FOLDER / "0.1.0" / f"{name}.jsonl", home).close()
    done(["task", "note", TAP, f"It takes about 3 hours. The key is {TOKEN}"], home)
    done(["task", "note", GARDEN, "Need to call the gardener."], home)
    done(["wake"], home)
    return home


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[int, list[str]]:
    """The run keys of the tap's wakes, oldest first, by scaffold."""
    known = scaffolds(home)
    task = told(["task", "show", TAP], home)["id"]
    mine = [one["run_key"] for one in told(["wakes"], home) if one["task_id"] == task][::-1]
    return {number: [one for one in mine if known[one] == number] for number in (1, SCAFFOLD)}


def exported(home: Path, *options: str) -> histories.History:
    """The whole home as a history; the file proved itself."""
    file = home.parent / f"export{len(options)}-{home.name}.jsonl"
    done(["export-history", "--all", *options, "--out", str(file)], home)
    history = histories.read_history(file)
    assert histories.prove_history(history).ok
    file.unlink()
    return history


def scaffolds_in(history: histories.History) -> dict[str, int]:
    """What scaffold each wake of a history records, in the order in which they began."""
    causes = [envelope.cause_of(one.facts[0])[0] for one in appends(history.rows["agent"])]
    return {one.run_key: one.scaffold for one in causes if isinstance(one, BeginWake)}


def scaffolds(home: Path) -> dict[str, int]:
    return scaffolds_in(exported(home))


def prompt_of(home: Path, run_key: str) -> str:
    return done(["at", run_key, "--prompt"], home)


def forked(home: Path, run_key: str, *options: str) -> Any:
    """The document of a fork that came to its end, made on a later day; its home was proved."""
    document = told(["fork", run_key, *options], home, env=LATER)
    assert proved(Path(document["home"]))
    return document


def test_wakes_of_both_scaffolds_prove_and_replay(home: Path, keys: dict[int, list[str]]) -> None:
    assert (len(keys[1]), len(keys[SCAFFOLD])) == (5, 1)
    assert proved(home)
    for run_key in scaffolds(home):
        assert told(["replay", run_key], home)["same"]


def test_at_shows_each_wake_what_its_own_scaffold_gave(
    home: Path, keys: dict[int, list[str]]
) -> None:
    old, new = prompt_of(home, keys[1][-1]), prompt_of(home, keys[SCAFFOLD][0])
    assert ("## Now\n" in old, "## Now\n" in new) == (False, True)
    assert (f'"title": "{TAP}"' in old, f'"title": {{"value":"{TAP}"' in new) == (True, True)
    assert (TOKEN in new, "[secret: GitHub token]" in new) == (False, True)
    assert TOKEN in told(["task", "show", TAP], home)["notes"][-1]["text"]
    known = [told(["at", one], home)["agents"][0] for one in (keys[1][-1], keys[SCAFFOLD][0])]
    assert [one["wakes"] for one in known] == [4, 5]
    assert known[1]["report"]["run_key"] == keys[1][-1]


def test_a_wake_of_one_scaffold_is_compared_with_one_of_the_other(
    home: Path, keys: dict[int, list[str]]
) -> None:
    result = run(["--json", "diff", keys[1][0], keys[SCAFFOLD][0]], home)
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)
    sides = {one["section"]: (one["a"], one["b"]) for one in found["prompt"] if not one["same"]}
    assert {"role", "now", "task"} <= set(sides)
    assert sides["now"][0] is None
    assert "Set estimate to 180 minutes" in found["proposals"]["only_b"]


def test_a_fork_of_each_wake_without_a_difference_has_none(
    home: Path, keys: dict[int, list[str]]
) -> None:
    for run_key in (keys[1][0], keys[1][-1], keys[SCAFFOLD][0]):
        document = forked(home, run_key)
        assert (document["stopped"], document["diff"]["same"]) == (None, True)
        assert {one["how"] for one in document["answers"]} == {"recorded"}


def test_a_fork_keeps_scaffolds_and_wakes_anew_under_the_newest(
    home: Path, keys: dict[int, list[str]]
) -> None:
    known = scaffolds(home)
    for options in ([], ["--verdict", "1.1=reject"]):
        document = forked(home, keys[1][2], *options, "--model", "rules")
        branch = Path(document["home"])
        there = scaffolds(branch)
        assert set(there.values()) == {1}
        assert there.items() <= known.items() or options
        done(["task", "note", TAP, "It takes about 4 hours."], branch, env=LATER)
        new = told(["wake", TAP], branch, env=LATER)["run_key"]
        assert scaffolds(branch)[new] == SCAFFOLD
        assert proved(branch)


def test_both_scaffolds_outlive_an_export_and_a_redaction(home: Path) -> None:
    plain, redacted = exported(home), exported(home, "--redact")
    assert set(scaffolds_in(plain).values()) == {1, SCAFFOLD}
    assert [*scaffolds_in(redacted).values()] == [*scaffolds_in(plain).values()]
    kept = b"".join(redacted.payloads.values()) + repr(redacted.rows).encode()
    assert TOKEN.encode() not in kept
    assert TOKEN.encode() in b"".join(plain.payloads.values()) + repr(plain.rows).encode()
