"""`wakelog lessons` and `wakelog rate`: what a person sees of what agents are told."""

from pathlib import Path
from typing import Any

import pytest

from adapters.cli.templates import EMPTY
from tests.support.cli import done, proved, refused, run, told
from tests.support.lessons import declining, reject_as_before
from tests.support.machines import pair
from tests.support.waking import agent

TASK = "Fix the sink"


def by_tool(home: Path, *args: str) -> dict[str, Any]:
    return {one["tool"]: one for one in told(["lessons", *args], home)}


@pytest.mark.slow
def test_lessons_are_learnt_from_the_past_and_seen_and_a_fork_has_its_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = agent(home, TASK, "--template", "laura")
    assert done(["lessons"], home).strip() == EMPTY
    done(["wake"], home)
    reject_as_before(home, 1, 2)
    assert told(["lessons"], home) == []
    assert "1 wake ended" in done(["lessons", "laura"], home)
    first = by_tool(home, "Inbox", "--from-history")
    assert by_tool(home, "Inbox", "--from-history") == first
    due, estimate = first["update_task_due_date"], first["update_task_estimate"]
    assert due == {
        "scope": due["scope"],
        "name": "Inbox",
        "tool": "update_task_due_date",
        "confirmed": 0,
        "rejected": 1,
        "deferred": 0,
        "edited": 0,
        "reasons": [{"text": "it depends on the weather", "count": 1}],
        "ruled_out": False,
        "rule_offered": False,
    }
    assert estimate["rejected"] == 1
    assert by_tool(home, "laura").keys() == first.keys()
    assert 'update_task_due_date\t0\t1\t0\t0\t"it depends on the weather" (1)' in done(
        ["lessons", "Inbox"], home
    )
    done(["wake", TASK], home)
    run_key = told(["wakes", made], home)[0]["run_key"]
    document = told(["fork", run_key, "--verdict", "1.1=confirm", "--model", "rules"], home)
    branch = Path(document["home"])
    assert document["left_out"] == 0
    assert proved(branch) > 0
    there = by_tool(branch, "Inbox")
    assert (there[due["tool"]]["confirmed"], there[due["tool"]]["rejected"]) == (1, 0)
    assert there[estimate["tool"]]["rejected"] == 1
    assert proved(home) > 0


TOOL = "update_task_estimate"
HINT = "wakelog lessons Garden --{} " + TOOL


@pytest.mark.slow
def test_a_rule_is_offered_made_and_taken_back_and_the_reports_are_true(tmp_path: Path) -> None:
    home = tmp_path / "home"
    declining(home)
    offer = f"{TOOL}: 0 of 8 accepted. Have none proposed: `{HINT.format('never')}`"
    assert offer in run(["inbox"], home).stderr
    assert offer in done(["lessons"], home)
    assert by_tool(home)[TOOL]["rule_offered"]
    for words, said in (
        (["Nowhere", "--never", TOOL], "`wakelog category list`"),
        (["Garden", "--never", "x"], "name one of add_checklist_item, "),
        (["Garden", "--never", TOOL, "--again", TOOL], "name one of them"),
    ):
        assert said in refused(["lessons", *words], home)

    never = run(["lessons", "Garden", "--never", TOOL], home)
    assert never.stderr == f"Ruled out in Garden: {TOOL}.\n"
    assert f"{TOOL}: ruled out. Take it back: `{HINT.format('again')}`" in never.stdout
    rows = proved(home)
    assert "already" in run(["lessons", "garden", "--never", TOOL], home).stderr
    assert proved(home) == rows
    assert HINT.format("never") not in run(["inbox"], home).stderr

    texts = "Takes about 2 hours. Due by 2027-02-12."
    done(["add", "Dig", "--category", "Garden", "--description", texts], home)
    done(["agent", "create", "--task", "Dig"], home)
    done(["wake", "Dig"], home)
    (item,) = told(["inbox", "Dig"], home)[0]["items"]
    assert item["tool"] == "update_task_due_date"
    report = told(["report", "Dig"], home)
    assert "Proposed: Due date." in report["tldr"]
    assert "1 found and not proposed" in report["content"]

    told_again = told(["lessons", "Garden", "--again", TOOL], home)
    assert [(one["tool"], one["ruled_out"]) for one in told_again] == [(TOOL, False)]
    done(["task", "note", "Dig", "Estimate: 3 hours."], home)
    done(["wake", "Dig"], home)
    assert TOOL in [one["tool"] for made in told(["inbox", "Dig"], home) for one in made["items"]]
    assert proved(home) > rows


@pytest.mark.slow
def test_a_rule_holds_on_every_machine_and_so_does_its_end(tmp_path: Path) -> None:
    desk, laptop = pair(tmp_path)
    desk.said("category", "add", "Garden")
    desk.said("lessons", "Garden", "--never", TOOL)
    desk.said("add", "Dig", "--category", "Garden", "--description", "Takes about 2 hours.")
    desk.said("agent", "create", "--task", "Dig")
    desk.sync(), laptop.sync()
    laptop.said("wake", "Dig")
    assert laptop.told("inbox") == []
    laptop.said("lessons", "Garden", "--again", TOOL)
    desk.said("lessons", "Garden", "--never", "link_task")
    laptop.sync(), desk.sync(), laptop.sync()
    for one in desk, laptop:
        assert {each["tool"] for each in one.told("lessons")} == {"link_task"}
        assert one.told("conflicts") == []
        assert one.told("prove")["ok"]
