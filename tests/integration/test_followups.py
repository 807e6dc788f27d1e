"""A task is done but for the rest: a follow-up is proposed, confirmed, and there with its items."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.followups import (
    ITEMS,
    TITLE,
    follow_up,
    with_all,
    with_items,
    woken,
)
from tests.support.waking import agent, inbox, reply, report, tape


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


def test_what_needs_another_item_is_refused_before_it(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    rows = proved(home)
    result = run(["confirm", "1.2"], home)
    assert result.exit_code == 1
    assert "item 1.2 needs the task that item 1.1 makes; confirm 1.1 first" in result.stdout
    assert proved(home) == rows
    assert done(["confirm", "1", "--all"], home).count("confirmed") == 5
    made = told(["task", "show", "The rest"], home)
    assert sorted(one["title"] for one in made["items"]) == sorted(ITEMS)
    assert len(made["links"]) == 2
    assert proved(home) > rows


def test_a_whole_set_is_rejected_with_what_lapses_on_the_way(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    told_of = done(["reject", "1", "--all"], home)
    assert told_of.count("rejected") == 2
    assert told_of.count("retracted") == 3


def test_an_item_that_was_ticked_meanwhile_makes_a_follow_up_stale(
    home: Path, tmp_path: Path
) -> None:
    with_items(home)
    woken(home, tmp_path, follow_up(home, *ITEMS[:2]))
    done(["task", "check", TITLE, ITEMS[0]], home)
    assert [one["stale"] for one in inbox(home)] == [True]
    assert "[stale]" in run(["confirm", "1.1"], home).stdout
    done(["confirm", "1.1", "--anyway"], home)
    made = told(["task", "show", "The rest"], home)["items"]
    ticks = [(one["title"], one["checked"], one["checked_by"]) for one in made]
    assert ticks == [(ITEMS[0], True, "person"), (ITEMS[1], False, None)]


def proposed(home: Path, tmp_path: Path, *options: str) -> str:
    """A wake of an agent that was made with these options proposed a follow-up; the agent's id."""
    made = agent(home, TITLE, *options)
    woken(home, tmp_path, ("create_follow_up_task", {"title": "The rest"}))
    return made


def test_a_follow_up_gets_an_agent_like_the_one_of_its_source(home: Path, tmp_path: Path) -> None:
    source = proposed(home, tmp_path, "--turns", "7", "--mode", "autonomous")
    done(["category", "add", "Garden"], home)
    done(["agent", "set", source, "--category", "Garden", "--category", "Inbox"], home)
    done(["confirm", "1.1"], home)
    made, (_, heir) = told(["task", "show", "The rest"], home), told(["agent", "list"], home)
    assert heir["id"] == made["agent_id"]
    heir, source = (told(["agent", "show", one], home) for one in (heir["id"], source))
    same = ("mode", "allowed_categories", "template_id", "config")
    assert {one: heir[one] for one in same} == {one: source[one] for one in same}
    assert (heir["name"], heir["run_status"]) == ("The rest", "queued")
    done(["confirm", "1.1"], home)
    assert len(told(["agent", "list"], home)) == 2
    assert "The rest: completed" in done(["wake"], home)


def test_a_follow_up_that_was_made_is_not_proposed_again(home: Path, tmp_path: Path) -> None:
    proposed(home, tmp_path)
    done(["confirm", "1.1"], home)
    done(["task", "note", TITLE, "Go on."], home)
    later = {"WAKELOG_NOW": "2027-01-02T09:00:00Z"}
    again = ("create_follow_up_task", {"title": "the REST"})
    model = tape(tmp_path / "t.jsonl", reply(again), reply(report()), reply(text="Fine."))
    done(["--model", model, "wake", TITLE], home, env=later)
    assert inbox(home) == []


def test_a_follow_up_leads_back_to_the_note_that_it_comes_of(home: Path, tmp_path: Path) -> None:
    with_items(home)
    done(["wake"], home)
    done(["task", "note", TITLE, "The rest is for next month."], home)
    later = {"WAKELOG_NOW": "2027-01-02T09:00:00Z"}
    calls = follow_up(home, *ITEMS[:2]), report("Almost done")
    model = tape(tmp_path / "t.jsonl", reply(*calls), reply(text="Fine."))
    done(["--model", model, "wake"], home, env=later)
    ref = next(one["ref"] for one in inbox(home) if one["tool"] == "create_follow_up_task")
    done(["confirm", ref], home, env=later)
    made = told(["task", "show", "The rest"], home)["id"]
    where = f"tag = 'task.created.1' AND entity = '{made}'"
    ((n, row_n),) = sql(home, f"SELECT n, row_n FROM events WHERE {where}")
    chain = sql(home, f"SELECT tag, data FROM causality('journal', {n}, of_row_n := {row_n})")
    assert {"changes.item_confirming.1", "wake.model_answered.1"} <= {tag for tag, _ in chain}
    assert "command.add_note.1" in chain[-1][1]
    assert "by an agent" in done(["why", TITLE], home)
    (woke, *_) = told(["why", "The rest"], home)
    assert woke["what"].startswith("it was created for the task of proposal ")


def sql(home: Path, query: str) -> list[list[Any]]:
    return [list(row.values()) for row in told(["sql", query], home)]


def labelled(home: Path) -> None:
    done(["label", "add", "home"], home)
    done(["task", "add", TITLE, "--label", "home"], home)
    done(["task", "item", "add", TITLE, "Buy a seal", "Turn off the water"], home)
    done(["task", "check", TITLE, "1"], home)
    done(["task", "item", "add", TITLE, "Paint", "--checklist", "Walls"], home)


def open_items(home: Path, title: str) -> list[str]:
    items = told(["task", "show", title], home)["items"]
    return [one["title"] for one in items if not one["archived"] and not one["checked"]]


def test_concluding_a_task_moves_its_open_items_to_the_one_that_follows(home: Path) -> None:
    labelled(home)
    said = done(["task", "conclude", TITLE, "--follow-up", " The  rest"], home)
    source, made = (told(["task", "show", one], home) for one in (TITLE, "The rest"))
    assert said == (
        f'Concluded "Fix the sink" ({source["id"][:8]}); added: "The rest" ({made["id"][:8]})\n'
    )
    assert (source["status"], made["status"], made["labels"]) == ("DONE", "OPEN", ["home"])
    assert open_items(home, "The rest") == ["Turn off the water", "Paint"]
    assert open_items(home, TITLE) == []
    (link,) = made["links"]
    assert (link["relation"], link["task_id"]) == ("follows_up_on", source["id"])
    assert source["checklist"] == {"done": 1, "total": 1}


def test_items_stay_where_that_is_asked_for(home: Path) -> None:
    labelled(home)
    done(["task", "conclude", TITLE, "--follow-up", "The rest", "--keep-items"], home)
    assert open_items(home, "The rest") == []
    assert open_items(home, TITLE) == ["Turn off the water", "Paint"]


def test_what_is_done_is_not_concluded_again(home: Path) -> None:
    labelled(home)
    done(["task", "set", TITLE, "--status", "done"], home)
    line = refused(["task", "conclude", TITLE, "--follow-up", "The rest"], home)
    assert "the task 'Fix the sink' is DONE already; set it open first" in line
    assert "the title is empty" in refused(["task", "conclude", TITLE, "--follow-up", " "], home)


@pytest.mark.parametrize("setting", ["inherit", "none"])
def test_the_task_that_follows_gets_an_agent_where_that_is_the_setting(
    home: Path, setting: str
) -> None:
    agent(home, TITLE)
    settings = f'[agents]\nfollow_up = "{setting}"\n'
    (home / "settings.toml").write_text(settings, encoding="utf-8")
    conclude = ["task", "conclude", TITLE, "--follow-up", "The rest", "--key", "k"]
    done(conclude, home)
    done(conclude, home)
    names = [one["name"] for one in told(["agent", "list"], home)]
    assert names == [TITLE, *["The rest"] * (setting == "inherit")]
    assert (told(["task", "show", "The rest"], home)["agent_id"] is None) == (setting == "none")


def test_a_confirmation_concludes_the_task_by_a_command_of_its_own(
    home: Path, tmp_path: Path
) -> None:
    proposed(home, tmp_path)
    confirm = ["confirm", "1.1", "--conclude", "--key", "k"]
    assert done(confirm, home).endswith('"The rest"\n       the task is DONE\n')
    (last, *_) = told(["task", "show", TITLE], home)["history"][::-1]
    assert (last["status"], last["by"]) == ("DONE", "person")
    rows = proved(home)
    (result,) = told(confirm, home)["results"]
    assert (result["status"], result["concluded"]) == ("confirmed", True)
    assert proved(home) == rows


def test_nothing_is_concluded_where_the_confirmation_fails(home: Path, tmp_path: Path) -> None:
    proposed(home, tmp_path)
    done(["reject", "1.1"], home)
    result = run(["--json", "confirm", "1.1", "--conclude"], home)
    assert (result.exit_code, json.loads(result.stdout)["results"][0]["concluded"]) == (1, False)
    assert told(["task", "show", TITLE], home)["status"] == "OPEN"
    assert "--conclude goes with one item" in refused(["confirm", "--all", "--conclude"], home)
