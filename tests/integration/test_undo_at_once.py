"""Undoing, learning and rating by several processes, and beside a served page."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.home.files import AGENT
from adapters.wiring import open_home
from domain.changes.commands import RejectItem
from tests.support import checker
from tests.support.cli import done, proved, told
from tests.support.forms import forms
from tests.support.pages import decision, refs, visiting
from tests.support.process import ended
from tests.support.waking import agent, inbox, proposing

pytestmark = pytest.mark.slow
SINK = "Fix the sink"
REPLICA = {"WAKELOG_REPLICA": "r1"}


def at_once(home: Path, *lines: list[str]) -> list[int]:
    """The statuses of processes that were begun together."""
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(ended, home, *line, more=REPLICA) for line in lines]
    return [one.result().returncode for one in runs]


def facts(home: Path, topic: str) -> int:
    """How many facts of a kind the agent log has."""
    with closing(sqlite3.connect(f"file:{home / AGENT}?mode=ro", uri=True)) as log:
        (count,) = log.execute(
            "SELECT count(*) FROM stored_events WHERE topic = ?", (topic,)
        ).fetchone()
    return int(count)


def sound(home: Path) -> None:
    assert proved(home)
    assert checker.findings(home, is_settled=True) == []


def estimate(home: Path) -> Any:
    return told(["task", "show", SINK], home)["estimate_minutes"]


def test_page_and_command_line_undo_one_deed_once(home: Path) -> None:
    proposing(home)
    done(["task", "set", SINK, "--estimate", "25"], home)
    with visiting(home) as visitor:
        form = decision(visitor.page("/inbox"), refs(home)["update_task_estimate"])
        answer = visitor.send(form, verdict="anyway")
        undo = next(one for one in forms(answer.text) if one.action == "/undo")
        ref = told(["undo", "--list"], home)["deeds"][0]["ref"]
        with ThreadPoolExecutor() as pool:
            other = pool.submit(ended, home, "undo", ref, more=REPLICA)
            mine = visitor.send(undo)
        codes = other.result().returncode, mine.status_code
    assert codes in ((0, 409), (2, 200), (0, 400))
    assert estimate(home) == 25
    sound(home)


def test_an_undo_while_a_wake_runs_to_its_end_loses_neither(home: Path) -> None:
    proposing(home)
    done(["task", "set", SINK, "--estimate", "25"], home)
    done(["task", "note", SINK, "It takes about 4 hours."], home)
    done(["undo", "--key", "note"], home)
    ref = told(["undo", "--list"], home)["deeds"][1]["ref"]  # the note is undone
    redo = told(["undo", "--key", "note"], home)["redo"].split()[1:]
    assert at_once(home, ["wake", SINK], ["undo", ref], redo) == [0, 0, 0]
    done(["recover"], home)
    assert (estimate(home), len(told(["task", "show", SINK], home)["notes"])) == (None, 2)
    sound(home)


def test_the_past_is_learnt_and_a_wake_is_rated_once_by_three(home: Path) -> None:
    agent(home, SINK, "--template", "laura")
    done(["wake"], home)
    with closing(open_home(home, REPLICA, is_writing=True)) as at:  # as before lessons were kept
        (made,), count = told(["inbox"], home), len(inbox(home))
        for number in range(1, count + 1):
            n = at.services.journal.tail().n
            at.services.append_agent(RejectItem(made["id"], number, "person", n, "no"))
    assert at_once(home, *[["lessons", "--from-history"]] * 3) == [0, 0, 0]
    assert facts(home, "lessons.decided.1") == 2 * count
    assert at_once(home, *[["rate", SINK, "4", "--key", "stars"]] * 3) == [0, 0, 0]
    assert facts(home, "lessons.rated.1") == 1
    sound(home)
