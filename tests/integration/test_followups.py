"""A task is done but for the rest: a follow-up is proposed, confirmed, and there with its items."""

from pathlib import Path
from typing import Any

from tests.support.cli import done, proved, told
from tests.support.waking import agent, inbox, reply, report, tape

TITLE = "Fix the sink"
ITEMS = ("Order a seal", "Paint the wall", "Call the plumber")


def item_id(home: Path, title: str, task: str = TITLE) -> str:
    items = told(["task", "show", task], home)["items"]
    return str(next(one["id"] for one in items if one["title"] == title))


def with_items(home: Path) -> str:
    made = agent(home, TITLE, note="The rest next month.")
    for one in ITEMS:
        done(["task", "item", "add", TITLE, one], home)
    return made


def follow_up(home: Path, *titles: str, **more: Any) -> tuple[str, object]:
    carried = [{"id": item_id(home, one)} for one in titles]
    return "create_follow_up_task", {"title": "The rest", "carryOver": carried, **more}


def woken(home: Path, tmp_path: Path, *calls: tuple[str, object]) -> None:
    """One wake that makes these calls in one turn, and reports."""
    model = tape(tmp_path / "t.jsonl", reply(*calls), reply(report()), reply(text="Fine."))
    done(["--model", model, "wake"], home)


def test_a_follow_up_is_proposed_confirmed_and_there(home: Path, tmp_path: Path) -> None:
    with_items(home)
    woken(home, tmp_path, follow_up(home, *ITEMS[:2], dueDate="2027-03-01", priority="P1"))
    (item,) = inbox(home)
    assert item["summary"] == (
        'Create follow-up task "The rest", due 2027-03-01, P1, with "Order a seal", '
        '"Paint the wall"'
    )
    done(["confirm", item["ref"]], home)
    made, source = told(["task", "show", "The rest"], home), told(["task", "show", TITLE], home)
    assert (made["due_date"], made["priority"], made["category"]) == (
        "2027-03-01",
        "P1",
        source["category"],
    ), made
    assert [one["title"] for one in made["items"]] == ["Order a seal", "Paint the wall"]
    assert [one["title"] for one in source["items"] if not one["archived"]] == [ITEMS[2]]
    link = {"relation": "follows_up_on", "task_id": source["id"]}
    assert made["links"] == [{**link, "direction": "out"}]
    assert source["links"] == [{**link, "direction": "in", "task_id": made["id"]}]
    proved(home)
