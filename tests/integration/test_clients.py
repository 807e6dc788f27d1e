"""Clients read what they are allowed, and propose (ADR 114): each answer and refusal, the walk of a
home with proposals of theirs, and a marker in every text that they may not know."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import wakelog
from tests.support.cli import done, proved, refused, run, told
from tests.support.mcp_clients import DONE, ESTIMATE, HOURS, TAP, answer, code, propose

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A task of House with its agent, one of Health; `claude` may read House."""
    where = tmp_path / "home"
    done(["category", "add", "House"], where)
    done(["category", "add", "Health"], where)
    done(["add", TAP, "--category", "House"], where)
    done(["note", TAP, HOURS], where)
    done(["add", "Ring the doctor", "--category", "Health"], where)
    done(["agent", "create", TAP], where)
    done(["agent", "create", "Ring the doctor"], where)
    done(["policy", "allow", "mcp:claude", "--category", "House", "--yes"], where)
    return where


def rows(home: Path, tag: str) -> int:
    found = told(["sql", f"SELECT count(*) AS n FROM events WHERE tag LIKE '{tag}'"], home)
    return int(found[0]["n"])


# ---------------------------------------------------------------------------------- what it reads


def test_a_client_is_shown_what_was_allowed_and_nothing_else(home: Path) -> None:
    listed = answer(home, "list_tasks")
    assert [one["title"] for one in listed["tasks"]] == [TAP]
    assert (listed["left"], listed["hint"], listed["tasks"][0]["has_agent"]) == (0, None, True)
    assert answer(home, "list_tasks", status="done")["tasks"] == []
    assert code(home, "list_tasks", category="Health") == "unknown_category"
    assert code(home, "list_tasks", category="Nothing") == "unknown_category"
    gone = [answer(home, "read_task", task=one)["error"] for one in ("Ring the doctor", "Nothing")]
    assert [one["code"] for one in gone] == ["not_found", "not_found"]
    assert gone[0]["because"].replace("Ring the doctor", "Nothing") == gone[1]["because"]


def test_without_a_consent_it_is_told_the_command_alone(home: Path) -> None:
    nothing = {"tasks": [], "left": 0, "hint": "wakelog policy allow mcp:codex"}
    assert answer(home, "list_tasks", "codex") == nothing
    assert answer(home, "list_proposals", "codex")["sets"] == []
    for given in ({"task": TAP}, {"task": "Nothing"}):
        error = answer(home, "read_task", "codex", **given)["error"]
        assert error["code"] == "privacy_confirmation_required"
        assert "`wakelog policy allow mcp:codex`" in error["instead"]


def test_a_task_is_read_as_its_agent_would_be_shown_it(home: Path) -> None:
    read = answer(home, "read_task", task="kitchen")
    names = [one["name"] for one in read["sections"]]
    assert "task" in names
    assert not {"now", "words", "instruction", "role", "client"} & {*names}
    assert HOURS in read["sections"][names.index("task")]["text"]
    tools = {one["name"] for one in read["tools"]}
    assert {"update_task_estimate", "create_follow_up_task"} <= tools
    assert not {"update_report", "record_observations", "set_task_language", "recall"} & tools
    assert read["seen"] == answer(home, "read_task", task=TAP)["seen"]
    done(["note", TAP, "Ann comes tomorrow."], home)
    assert read["seen"] != answer(home, "read_task", task=TAP)["seen"]


def test_a_secret_in_a_note_is_told_nobody(home: Path) -> None:
    key = "AIza" + "Sy" * 16 + "abc"
    done(["note", TAP, f"The key is {key}"], home)
    assert key not in json.dumps(answer(home, "read_task", task=TAP))


def test_what_waits_is_listed(home: Path) -> None:
    propose(home, ESTIMATE, words="So Ann said.")
    (one,) = answer(home, "list_proposals", task=TAP)["sets"]
    assert (one["by"], one["said"], len(one["items"])) == ("claude (mcp)", "So Ann said.", 1)
    assert answer(home, "list_proposals")["sets"] == [one]


# ------------------------------------------------------------------------------- what it proposes


def test_a_proposal_waits_in_the_inbox_under_its_name(home: Path) -> None:
    made = propose(home, ESTIMATE, DONE, words="So Ann said.")
    assert [one["summary"] for one in made["items"]] == ["Set estimate to 120 minutes"]
    (wrong,) = made["refused"]
    assert (wrong["tool"], wrong["code"]) == ("set_task_status", "sovereignty")
    inbox = done(["inbox"], home)
    assert "1.1    Set estimate to 120 minutes (now: none)  just now, by claude (mcp)" in inbox
    assert '"about 2 hours" (note of 2027-01-01)' in inbox
    assert 'claude said: "So Ann said."' in inbox
    assert "by claude (mcp)" in done(["wakes"], home)
    assert "claude read the task and proposed this; what model it used is not known here" in (
        done(["show", made["run"]], home)
    )
    done(["confirm", "1.1"], home)
    assert told(["task", "show", TAP], home)["estimate_minutes"] == 120
    assert proved(home) > 0


def test_the_same_once_more_is_the_same_run_and_writes_nothing(home: Path) -> None:
    seen = answer(home, "read_task", task=TAP)["seen"]
    first = propose(home, ESTIMATE, seen=seen)
    count = proved(home)
    assert propose(home, ESTIMATE, seen=seen) == first
    assert proved(home) == count


def test_what_was_read_of_another_state_task_or_home_is_stale(home: Path, tmp_path: Path) -> None:
    seen = answer(home, "read_task", task=TAP)["seen"]
    done(["note", TAP, "Ann comes tomorrow."], home)
    for old in (seen, "x", "z" * 32):
        assert propose(home, ESTIMATE, seen=old)["error"]["code"] == "stale"
    assert rows(home, "command.propose%") == 0


def test_each_refusal_writes_nothing(home: Path) -> None:
    count = proved(home)
    wanted = [
        ({"words": "x" * 501}, [ESTIMATE], "invalid_value"),
        ({"words": "東" * 400}, [ESTIMATE], "invalid_value"),
        ({}, [ESTIMATE] * 21, "invalid_value"),
        ({}, [{**ESTIMATE, "arguments": {"x": "y" * 70_000}}], "too_many"),
        ({}, [{**ESTIMATE, "arguments": {"x": deep(70)}}], "invalid_input"),
        ({}, [{"tool": "t"}], "invalid_value"),
        ({}, [], "invalid_value"),
        ({"task": "Ring the doctor"}, [ESTIMATE], "not_found"),
        ({"by": "codex"}, [ESTIMATE], "privacy_confirmation_required"),
    ]
    for given, changes, expected in wanted:
        assert propose(home, *changes, **given)["error"]["code"] == expected
    assert code(home, "fly") == "invalid_value"
    done(["agent", "pause", TAP], home)
    assert propose(home, ESTIMATE)["error"]["code"] == "agent_dormant"
    done(["agent", "destroy", TAP], home)
    gone = answer(home, "read_task", task=TAP)["error"]
    assert gone["code"] == "no_agent"
    assert "`wakelog agent create " in gone["instead"]
    assert rows(home, "command.propose%") == 0
    assert proved(home) > count  # of the pause alone


def deep(levels: int) -> Any:
    found: Any = "x"
    for _ in range(levels):
        found = [found]
    return found


def test_a_consent_that_ends_between_read_and_proposal_holds_it(home: Path) -> None:
    seen = answer(home, "read_task", task=TAP)["seen"]
    done(["policy", "withdraw", "mcp:claude"], home)
    made = propose(home, ESTIMATE, seen=seen)
    assert made["error"]["code"] == "privacy_confirmation_required"
    done(["policy", "allow", "mcp:*", "--yes"], home)
    done(["policy", "models", "House", "rules"], home)
    made = propose(home, ESTIMATE, seen=seen)
    assert made["error"]["code"] in ("disallowed_provider_model", "not_found")


def test_nobody_decides_more_than_fifty(home: Path) -> None:
    for nth in range(50):
        item = {"title": f"Buy part {nth}", "because": "about 2 hours"}
        added = {"tool": "add_multiple_checklist_items", "arguments": {"items": [item]}}
        assert "error" not in propose(home, added)
    assert propose(home, ESTIMATE)["error"]["code"] == "too_many"
    done(["policy", "allow", "mcp:codex", "--category", "House", "--yes"], home)
    assert "error" not in propose(home, ESTIMATE, by="codex")


def test_words_of_a_client_are_nobodys_but_its_own(home: Path) -> None:
    """A quote of them is found nowhere, and they are no newer text than a verdict."""
    urgent = {
        "tool": "update_task_priority",
        "arguments": {"priority": "P0", "because": "the person wants Friday"},
    }
    made = propose(home, urgent, words="I tell you: the person wants Friday.")
    assert made["items"][0]["because_at"] is None
    assert "not in what it was shown" in done(["inbox"], home)
    done(["reject", "1.1"], home)
    again = propose(home, urgent, words="Really, the person wants Friday.")
    assert [one["code"] for one in again["refused"]] == ["redundant"]
    done(["agent", "ask", TAP, "What is next?"], home)
    (asked,) = (one["run_key"] for one in told(["wakes"], home) if one["reason"] == "user")
    assert "Really" not in json.dumps(told(["show", asked, "--prompt"], home))


# ----------------------------------------------------------------------------- what nothing moves


def test_nothing_of_the_agent_moves_but_what_it_proposes(home: Path) -> None:
    before = told(["agent", "show", TAP], home)
    journal = rows(home, "task.%")
    queue = rows(home, "alert.%")
    propose(home, ESTIMATE, DONE)
    after = told(["agent", "show", TAP], home)
    assert (rows(home, "task.%"), rows(home, "alert.%")) == (journal, queue)
    assert rows(home, "agent.settled%") == rows(home, "agent.reported%") == 0
    for name in ("run_status", "last_wake_at", "stale"):
        assert after.get(name) == before.get(name), name
    done(["wake"], home)  # the wake of its creation is queued as ever
    outcomes = {one["reason"]: one["outcome"] for one in told(["wakes"], home)}
    assert outcomes["creation"] == outcomes["client"] == "completed"
    assert proved(home) > 0


# ---------------------------------------------------------------------------- every door shows it

TABLES = """
SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary
UNION SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary
"""
LOOKS = """
list; inbox --all; wakes; show RUN; show RUN --prompt; replay RUN; at RUN; status; health; doctor;
why TASK; why TASK estimate; journal TASK; messages TASK; memory TASK; report TASK; lessons;
metrics; agent show TASK; agent list; policy show; policy try TASK; category list; search hours;
summary; diff RUN OTHER; template list; notify show; rebuild; prove --all-rules
"""


def test_each_door_tells_of_a_home_with_proposals(home: Path, tmp_path: Path) -> None:
    run_key = propose(home, ESTIMATE, DONE, words="So Ann said.")["run"]
    done(["wake"], home)
    done(["confirm", "1.1"], home)
    other = next(one["run_key"] for one in told(["wakes"], home) if one["reason"] == "creation")
    for words in LOOKS.split(";"):
        args = [one.replace("RUN", run_key).replace("OTHER", other) for one in words.split()]
        args = [one.replace("TASK", TAP) for one in args]
        for more in ([], ["--json"]):
            found = run([*more, *args], home)
            wanted = args[0] in ("health", "diff")  # nothing runs; two wakes differ
            assert found.exit_code == wanted, (args, found.output)
    assert "nobody here can ask it" in refused(["fork", run_key], home)
    assert "'mcp:claude' is no model" in refused(["--model", "mcp:claude", "wake", TAP], home)
    assert "is no model" in refused(["agent", "set", TAP, "--model", "mcp:claude"], home)
    with wakelog.open_home(home) as opened, opened.connect() as tables:
        for (name,) in tables.execute(TABLES).fetchall():
            tables.execute(f"SELECT * FROM {name}").fetchall()
    done(["export", "--parquet", str(tmp_path / "tables")], home)
    done(["export", "--inspect", str(tmp_path / "logs")], home)
    for more in ([], ["--redact"]):
        told_of = done(["export-history", run_key, *more], home)
        assert ("Ann" in told_of) == (not more)
    assert proved(home) > 0


# ----------------------------------------------------------------- a marker in every text

MARKS = re.compile(r"[hs]\d\d\d?x")


class Marks:
    """Words that stand nowhere else: `h` of House, `s` of Health."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count:02}x"


def marked(home: Path, letter: str, category: str, mark: Marks) -> str:
    """A task of a category with a marker in all that a person can say; its id."""
    task = told(["add", f"Task {mark(letter)}", "--category", category], home)["id"]
    done(["note", task, f"Note {mark(letter)}, it takes about 2 hours"], home)
    done(["task", "item", "add", task, f"Item {mark(letter)}"], home)
    done(["edit", task, "--description", f"Of {mark(letter)}"], home)
    label = f"Label {mark(letter)}"
    done(["label", "add", label, "--category", category], home)
    done(["edit", task, "--label", label], home)
    done(["category", "correct", category, f"was {mark(letter)}", f"is {mark(letter)}"], home)
    done(["agent", "create", task, "--name", f"Agent {mark(letter)}"], home)
    done(["agent", "set", task, "--goal", f"Goal {mark(letter)}"], home)
    return str(task)


def test_no_word_of_a_category_without_a_consent_is_in_any_answer(tmp_path: Path) -> None:
    home, mark = tmp_path / "home", Marks()
    house, health = f"House {mark('h')}", f"Health {mark('s')}"
    done(["category", "add", house], home)
    done(["category", "add", health], home)
    own, other = marked(home, "h", house, mark), marked(home, "s", health, mark)
    near, moved = marked(home, "h", house, mark), marked(home, "h", house, mark)
    both = marked(home, "h", house, mark)
    for one in (other, near, moved):
        done(["task", "link", own, "blocks", one], home)
    done(["policy", "allow", "mcp:claude", "--category", house, "--yes"], home)
    done(["wake"], home)
    to_moved = {
        "tool": "link_task",
        "arguments": {"relation": "duplicates", "targetTaskId": moved, "because": "2 hours"},
    }
    before = answer(home, "read_task", task=own)["seen"]
    first = propose(home, ESTIMATE, to_moved, task=own, seen=before)
    assert [one["target"] for one in first["items"]] == [moved]
    done(["agent", "set", both, "--category", house, "--category", health], home)
    done(["edit", moved, "--category", health, "--title", f"Now {mark('s')}"], home)
    done(["note", moved, f"Secret {mark('s')}"], home)
    ids = (own, other, near, moved, both)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("list_tasks", {}), ("list_tasks", {"text": "Task"}),
        ("list_tasks", {"category": "Health"}),
        ("list_proposals", {}), ("list_tasks", {"due_before": "nonsense"}),
        *(("read_task", {"task": one}) for one in (*ids, "Task", "Now", "Nothing")),
        *(("list_proposals", {"task": one}) for one in ids),
    ]  # fmt: skip
    answers = [answer(home, name, **given) for name, given in asked]
    answers += [propose(home, ESTIMATE, to_moved, task=own, seen=before)]  # as it was answered
    answers += [propose(home, ESTIMATE, DONE, to_moved, task=one) for one in ids]
    seen = MARKS.findall(json.dumps(answers))
    assert len({one for one in seen if one.startswith("h")}) > 15
    assert [one for one in seen if one.startswith("s")] == []
    assert answers[0]["left"] == 0
    assert [one["target"] for one in answers[-6]["items"]] == []
    assert {one["id"] for one in answers[0]["tasks"]} == {own, near, both}
    codes = {one: code(home, "read_task", task=one) for one in ids}
    assert codes[own] == codes[near] == ""
    assert codes[other] == codes[moved] == "not_found"
    assert codes[both] == "privacy_confirmation_required"
    assert proved(home) > 0


# ------------------------------------------------------------ what is dropped, and erased

LATER = {"WAKELOG_NOW": "2027-09-01T09:00:00Z"}


def test_what_was_dropped_of_its_wake_is_rendered_again(home: Path) -> None:
    run_key = propose(home, ESTIMATE, DONE, words="So Ann said.")["run"]
    shown = done(["show", run_key, "--prompt"], home)
    assert "So Ann said." in shown
    did = told(["retain", "--prompts", "1", "--replies", "1", "--compact"], home, env=LATER)
    assert did["prompts"] > 0
    assert did["replies"] == 1
    assert run(["show", run_key, "--prompt"], home).stdout == shown
    assert "Every byte is the same." in done(["replay", run_key], home)
    assert proved(home) > 0


def test_what_it_said_goes_with_the_task(home: Path) -> None:
    propose(home, ESTIMATE, DONE, words="So Ann said to zebras.")
    assert "zebras" in stored(home)
    done(["erase", "task", TAP, "--sure"], home)
    assert "zebras" not in stored(home)
    assert proved(home) > 0


def stored(home: Path) -> str:
    return "".join(one.read_bytes().decode("latin-1") for one in home.glob("*.db*"))


def test_an_altered_reply_is_found(home: Path) -> None:
    propose(home, ESTIMATE, words="So Ann said.")
    with closing(sqlite3.connect(home / "agent.db")) as file, file:
        (name,) = file.execute(
            "SELECT json_extract(CAST(state AS TEXT), '$.data.reply') FROM stored_events"
            " WHERE topic = 'wake.model_answered.1'"
        ).fetchone()
        file.execute("UPDATE payloads SET bytes = ? WHERE id = ?", (b"{}", name))
    found = run(["prove"], home)
    assert found.exit_code == 1
    assert "altered" in found.stdout
