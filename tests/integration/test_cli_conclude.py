"""A task is done, and what remains of it follows: by `task conclude` and `confirm --conclude`."""

import json
from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.waking import agent, reply, report, tape

TITLE = "Fix the sink"


def with_items(home: Path) -> None:
    done(["task", "add", TITLE, "--label", "home"], home)
    done(["task", "item", "add", TITLE, "Buy a seal", "Turn off the water"], home)
    done(["task", "check", TITLE, "1"], home)
    done(["task", "item", "add", TITLE, "Paint", "--checklist", "Walls"], home)


def labelled(home: Path) -> None:
    done(["label", "add", "home"], home)
    with_items(home)


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
    proved(home)


def test_items_stay_where_that_is_asked_for(home: Path) -> None:
    labelled(home)
    done(["task", "conclude", TITLE, "--follow-up", "The rest", "--keep-items"], home)
    assert open_items(home, "The rest") == []
    assert open_items(home, TITLE) == ["Turn off the water", "Paint"]


def test_a_task_is_concluded_once_under_a_key(home: Path) -> None:
    labelled(home)
    conclude = ["task", "conclude", TITLE, "--follow-up", "The rest", "--key", "k"]
    first, again = told(conclude, home), told(conclude, home)
    assert first == again
    assert len(told(["task", "list"], home)) == 2
    assert "key_reused" in refused([*conclude, "--keep-items"], home)


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
    proved(home)


def proposed(home: Path, tmp_path: Path) -> None:
    agent(home, TITLE)
    call = ("create_follow_up_task", {"title": "The rest"})
    model = tape(tmp_path / "t.jsonl", reply(call), reply(report()), reply(text="Fine."))
    done(["--model", model, "wake"], home)


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
