"""A follow-up from end to end, by a model over HTTP: from the note to the new task, and back."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.proof import histories
from tests.support.cli import done, proved, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, GeminiServer, answer, call, text
from tests.support.scripted_server import Answer, Sent, served
from tests.support.waking import agent, at, inbox, reply, report, tape

TITLE, ROOF, REST = "Fix the sink", "Mend the roof", "Make the bathroom nice"
ITEMS = ("Order a seal", "Paint the wall", "Choose tiles")
NOTE = "The sink works again. Painting the wall and the tiles I do next month, before the roof."
QUOTE = "Painting the wall and the tiles I do next month"
REPORT = {"content": "The rest is another task.", "tldr": "Done but for that.", "oneLiner": "Done"}
NEW = "the-new-task"
TOLD = re.compile("will have the id ([a-z2-7]{32})")
LATER, THEN = at("2027-01-02T09:00:00Z"), at("2027-01-03T09:00:00Z")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task with three items and an agent that has seen it, and another task of its category."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setitem(sys.modules, "keyring", None)
    home = tmp_path / "home"
    agent(home, TITLE, note="A new one is here.")
    for one in ITEMS:
        done(["task", "item", "add", TITLE, one], home)
    done(["task", "add", ROOF], home)
    done(["wake"], home)
    done(["task", "note", TITLE, NOTE], home)
    return agreed(home)


class Attentive(GeminiServer):
    """Names the new task as the answer to its call named it."""

    def take(self, sent: Sent) -> Answer:
        said = super().take(sent)
        found = TOLD.findall(json.dumps(sent.body))
        new = found[-1] if found else NEW
        return said._replace(body=said.body.replace(NEW.encode(), new.encode()))


def script(home: Path) -> list[Answer]:
    """Looks the roof up; proposes the follow-up, a link, and what goes there; reports."""
    _, wall, tiles = (one["id"] for one in told(["task", "show", TITLE], home)["items"])
    roof = told(["task", "show", ROOF], home)["id"]
    carried = {"title": REST, "carryOver": [{"id": wall}], "because": QUOTE}
    moved = {"items": [{"id": tiles, "because": "the tiles"}], "targetTaskId": NEW}
    linked = {"relation": "relates_to", "targetTaskId": roof, "because": "before the hall"}
    return [
        answer(call("find_tasks", {"words": "roof"}, signature=SIGNATURE)),
        answer(
            call("create_follow_up_task", carried, signature=SIGNATURE, call_id="c1"),
            call("link_task", linked, call_id="c2"),
        ),
        answer(call("migrate_checklist_items", moved, signature=SIGNATURE)),
        answer(call("update_report", REPORT, signature=SIGNATURE)),
        answer(text("All is said.")),
    ]


def woken(home: Path) -> GeminiServer:
    with served(Attentive(script(home))) as server:
        done(["--model", "gemini", "wake"], home, env={**environment(server), **LATER})
    return server


def answered(server: GeminiServer, turn: int) -> str:
    """What the calls of a turn were answered with, as the model was told."""
    return json.dumps(server.sent[turn].contents[-1])


def titles(home: Path, task: str) -> list[str]:
    items = told(["task", "show", task], home)["items"]
    return [one["title"] for one in items if not one["archived"]]


def test_a_note_becomes_a_follow_up_and_the_follow_up_leads_back_to_it(home: Path) -> None:
    server = woken(home)
    roof = told(["task", "show", ROOF], home)["id"]
    assert roof in answered(server, 1)
    assert (answered(server, 2) + answered(server, 3)).count("Queued for the person") == 3

    items = inbox(home)
    found = [(one["tool"], one["needs"], one["because"], bool(one["because_at"])) for one in items]
    assert found == [
        ("create_follow_up_task", None, QUOTE, True),
        ("link_task", None, "before the hall", False),  # nobody wrote of one
        ("migrate_checklist_item", items[0]["ref"], "the tiles", True),
    ]
    number = items[0]["ref"].partition(".")[0]
    done(["confirm", number, "--all"], home, env=LATER)

    made = told(["task", "show", REST], home)
    assert titles(home, REST) == [*ITEMS[1:]]
    assert titles(home, TITLE) == [ITEMS[0]]
    source = told(["task", "show", TITLE], home)
    assert {(one["relation"], one["direction"], one["task_id"]) for one in source["links"]} == {
        ("follows_up_on", "in", made["id"]),
        ("relates_to", "out", roof),
    }
    heir = told(["agent", "show", made["agent_id"]], home)
    assert (heir["name"], heir["run_status"]) == (REST, "queued")

    origin = told(["why", REST], home)[-1]["what"]
    assert origin.startswith("it was created for the task of proposal ")
    run_key = told(["wakes", TITLE], home)[0]["run_key"]
    assert f' of the wake {run_key[:8]}, which rests on "{QUOTE}"' in origin
    assert "linked by an agent" in done(["why", TITLE], home)
    ((n, row_n),) = rows(
        home,
        f"SELECT n, row_n FROM events WHERE tag = 'task.created.1' AND entity = '{made['id']}'",
    )
    chain = rows(home, f"SELECT tag, data FROM causality('journal', {n}, of_row_n := {row_n})")
    assert {"changes.item_confirming.1", "wake.model_answered.1"} <= {tag for tag, _ in chain}
    assert "command.add_note.1" in chain[-1][1]
    assert proved(home)


def rows(home: Path, query: str) -> list[list[Any]]:
    return [list(one.values()) for one in told(["sql", query], home)]


def test_a_world_without_the_follow_up_has_its_items_where_they_were(
    home: Path, tmp_path: Path
) -> None:
    woken(home)
    ref = inbox(home)[0]["ref"]
    done(["confirm", ref.partition(".")[0], "--all"], home, env=LATER)
    done(["task", "note", TITLE, "Is all done now?"], home, env=LATER)
    model = tape(tmp_path / "then.jsonl", reply(report("All done")), reply(text="Fine."))
    last = told(["--model", model, "wake", TITLE], home, env=THEN)["run_key"]
    other = tape(tmp_path / "else.jsonl", reply(report("Not all")), reply(text="Fine."))
    document = told(["fork", last, "--verdict", f"{ref}=reject", "--model", other], home)
    branch = Path(document["home"])
    assert [one["title"] for one in told(["task", "list"], branch)] == [TITLE, ROOF]
    assert titles(branch, TITLE) == [*ITEMS]
    lapsed = {one["tool"]: one["status"] for one in inbox(branch, "--all")}
    assert (lapsed["create_follow_up_task"], lapsed["migrate_checklist_item"]) == (
        "rejected",
        "retracted",
    )
    assert proved(branch)
    assert proved(home)
    assert titles(home, REST) == [*ITEMS[1:]]


def test_a_redacted_history_of_a_follow_up_proves_and_says_nothing_of_either_task(
    home: Path, tmp_path: Path
) -> None:
    woken(home)
    done(["confirm", inbox(home)[0]["ref"].partition(".")[0], "--all"], home, env=LATER)
    file = tmp_path / "redacted.jsonl"
    done(["export-history", "--all", "--redact", "--out", str(file)], home)
    assert histories.prove_history(histories.read_history(file)).ok
    said = file.read_text(encoding="utf-8").lower()
    for word in ("bathroom", "seal", "paint", "tiles", "roof", "next month", "hall"):
        assert word not in said
