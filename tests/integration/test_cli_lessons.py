"""`wakelog lessons` and `wakelog rate`: what a person sees of what agents are told."""

from pathlib import Path
from typing import Any

import pytest

from adapters.cli.templates import EMPTY
from tests.support.cli import done, proved, told
from tests.support.lessons import reject_as_before
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
