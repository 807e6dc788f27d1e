"""A task is done but for the rest: a follow-up is proposed, confirmed, and there with its items."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, run, told
from tests.support.followups import (
    ITEMS,
    TITLE,
    follow_up,
    item_id,
    made_by,
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
    proved(home)


def test_the_inbox_shows_what_an_item_needs(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    made = made_by(home, 1)
    assert [(one["target"], one["needs"]) for one in inbox(home)] == [
        (None, None),
        *[(made, "1.1")] * 3,
        (None, None),
    ]
    assert [line for line in done(["inbox"], home).splitlines() if "1." in line] == [
        '  1.1    Create follow-up task "The rest", with "Order a seal"  just now',
        '    1.2    Move: "Paint the wall" to "The rest"  just now',
        '    1.3    Move: "Call the plumber" to "The rest"  just now',
        '    1.4    Link: blocks "The rest"  just now',
        "  1.5    Set priority to P0 (now: P2)  just now",
    ]


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


def test_rejecting_a_follow_up_ends_what_needs_it(home: Path, tmp_path: Path) -> None:
    with_all(home, tmp_path)
    done(["defer", "1.3"], home)
    done(["reject", "1.1"], home)
    found = {one["ref"]: (one["status"], one["reason"]) for one in inbox(home, "--all")}
    lapsed = "retracted", "what it needs was rejected"
    assert found == {
        "1.1": ("rejected", None),
        **dict.fromkeys(("1.2", "1.3", "1.4"), lapsed),
        "1.5": ("pending", None),
    }
    assert run(["confirm", "1.2"], home).exit_code == 1
    assert len(told(["task", "list"], home)) == 1
    proved(home)


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
    proved(home)


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
    proved(home)


def test_a_follow_up_gets_no_agent_where_none_is_wanted_or_the_source_s_sleeps(
    home: Path, tmp_path: Path
) -> None:
    source = proposed(home, tmp_path)
    done(["agent", "pause", source], home)
    done(["confirm", "1.1"], home)
    assert told(["task", "show", "The rest"], home)["agent_id"] is None
    done(["agent", "resume", source], home)
    (home / "settings.toml").write_text('[agents]\nfollow_up = "none"\n', encoding="utf-8")
    woken(home, tmp_path, ("create_follow_up_task", {"title": "More"}))
    done(["confirm", "2.1"], home)
    assert told(["task", "show", "More"], home)["agent_id"] is None
    assert len(told(["agent", "list"], home)) == 1


def test_a_follow_up_that_was_made_is_not_proposed_again(home: Path, tmp_path: Path) -> None:
    proposed(home, tmp_path)
    done(["confirm", "1.1"], home)
    done(["task", "note", TITLE, "Go on."], home)
    later = {"WAKELOG_NOW": "2027-01-02T09:00:00Z"}
    again = ("create_follow_up_task", {"title": "the REST"})
    model = tape(tmp_path / "t.jsonl", reply(again), reply(report()), reply(text="Fine."))
    done(["--model", model, "wake", TITLE], home, env=later)
    assert inbox(home) == []
    proved(home)


@pytest.mark.slow
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


def test_the_agent_of_the_other_task_hears_of_it_as_of_any_write_of_an_agent(
    home: Path, tmp_path: Path
) -> None:
    source = with_items(home)
    other = agent(home, "Mend the roof")
    done(["wake"], home)
    done(["task", "link", TITLE, "blocks", "Mend the roof"], home)
    done(["wake"], home, env={"WAKELOG_NOW": "2027-01-02T09:00:00Z"})
    target = told(["task", "show", "Mend the roof"], home)["id"]
    moved = {"items": [{"id": item_id(home, ITEMS[0])}], "targetTaskId": target}
    done(["task", "note", TITLE, "It belongs to the roof."], home)
    later = {"WAKELOG_NOW": "2027-01-03T09:00:00Z"}
    model = tape(tmp_path / "t.jsonl", reply(("migrate_checklist_items", moved)), reply(text="!"))
    done(["--model", model, "wake", TITLE], home, env=later)
    (item,) = [one for one in inbox(home) if one["tool"] == "migrate_checklist_item"]
    assert (item["target"], item["needs"]) == (target, None)
    assert item["summary"] == 'Move: "Order a seal" to "Mend the roof"'
    done(["confirm", item["ref"]], home, env=later)
    done(["wake"], home, env={"WAKELOG_NOW": "2027-01-04T09:00:00Z"})
    n = told(["why", TITLE], home)[0]["position"]
    found = {one["agent_id"]: (one["outcome"], one["rule"]) for one in told(["why", n], home)}
    assert found == {
        source: ("suppressed", "own_write"),
        other: ("suppressed", "agent_write"),
    }
