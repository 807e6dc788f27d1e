"""Wakes that propose a follow-up task and what goes with it."""

from pathlib import Path
from typing import Any

from domain.changes.change_set import set_id
from domain.changes.dependencies import follow_up_id
from tests.support.cli import done, told
from tests.support.waking import agent, reply, report, tape

TITLE = "Fix the sink"
ITEMS = ("Order a seal", "Paint the wall", "Call the plumber")


def item_id(home: Path, title: str, task: str = TITLE) -> str:
    items = told(["task", "show", task], home)["items"]
    return str(next(one["id"] for one in items if one["title"] == title))


def with_items(home: Path, task: str = TITLE) -> str:
    made = agent(home, task, note="The rest next month.")
    for one in ITEMS:
        done(["task", "item", "add", task, one], home)
    return made


def follow_up(home: Path, *titles: str, task: str = TITLE, **more: Any) -> tuple[str, object]:
    carried = [{"id": item_id(home, one, task)} for one in titles]
    return "create_follow_up_task", {"title": "The rest", "carryOver": carried, **more}


def woken(home: Path, tmp_path: Path, *calls: tuple[str, object]) -> None:
    """One wake that makes these calls in one turn, and reports."""
    model = tape(tmp_path / "t.jsonl", reply(*calls), reply(report()), reply(text="Fine."))
    done(["--model", model, "wake"], home)


def made_by(home: Path, number: int) -> str:
    """The id of the task that an item of the next wake's set makes."""
    return follow_up_id(set_id(told(["wakes"], home)[0]["run_key"]), number)


def with_all(home: Path, tmp_path: Path, task: str = TITLE) -> None:
    """A wake proposes a follow-up with one item, then to move and to link there, and another."""
    with_items(home, task)
    made = made_by(home, 1)
    moved = [{"id": item_id(home, one, task)} for one in ITEMS[1:]]
    woken(
        home,
        tmp_path,
        follow_up(home, ITEMS[0], task=task),
        ("migrate_checklist_items", {"items": moved, "targetTaskId": made}),
        ("link_task", {"relation": "blocks", "targetTaskId": made}),
        ("update_task_priority", {"priority": "P0"}),
    )
