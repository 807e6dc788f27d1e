"""Wakes on the page: one as a conversation, lists with filters, proofs in two columns."""

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest

from adapters.proof import histories
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.web.jobs import Jobs
from domain.log.wire import Payload
from tests.histories import scenes
from tests.support.cli import FIXED, done, run, told
from tests.support.pages import Visitor, text_of, visiting
from tests.support.waking import at, fault, reply, report, sink, tape

LATER, LATEST = "2027-01-03T09:05:00Z", "2027-01-05T10:00:00Z"
BROKEN = ("log_time", {"minutes": "many"})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wake that was put off, tried again, and made two calls at once, one of them refused; and
    one of the offline rules, two days later, because of a note."""
    home = tmp_path_factory.mktemp("home")
    sink(home)
    done(["agent", "create", "Fix the sink"], home)
    estimate = ("update_task_estimate", {"minutes": 60, "because": "Takes about 60 minutes."})
    model = tape(home / "tape.jsonl", fault())
    run(["--model", model, "wake"], home)
    talk = (reply(estimate, BROKEN, text="Let me *see*."), reply(report()), reply(text="Done."))
    tape(home / "tape.jsonl", *talk)
    done(["--model", model, "wake"], home, env=at("2027-01-01T09:10:00Z"))
    note = ["task", "note", "Fix the sink", "Need to buy a <b>seal</b>."]
    done(note, home, env=at(LATER))
    done(["wake"], home, env=at(LATER))
    return home


@pytest.fixture
def visitor(home: Path) -> Iterator[Visitor]:
    with visiting(home, env=at(LATEST)) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def runs(home: Path) -> list[str]:
    """The wakes, the newest first."""
    return [one["run_key"] for one in told(["wakes"], home)]


def said(visitor: Visitor, path: str) -> str:
    return unescape(text_of(visitor.page(path)))


def test_a_wake_is_a_conversation_with_a_timeline(visitor: Visitor, runs: list[str]) -> None:
    run = f"/wakes/{runs[1]}"
    first, second = (said(visitor, f"{run}?turn={nth}") for nth in (1, 2))
    assert "waiting 9 min" in first
    for words in ("Search in the prompt", "The task what it may know of it", "Let me see",
                  "became a proposal for you", "not accepted",
                  "The model gave no answer that could be used.",
                  "The wake was put off."):  # fmt: skip
        assert words in first, words
    assert "What its 2 calls of the turn before came to" in second
    assert "update report" in second
    assert "Turn 3" in second
    page = visitor.page(f"{run}?turn=1.2")
    assert '<li class="is-here" aria-current="true" id="call-1.2">' in page
    assert 'aria-current="step"' in page
    assert page.count('class="bar"') >= 3
    assert "style=" not in page
    assert len(page) < 200_000
    assert "It was given the model tape:" in said(visitor, f"{run}?turn=start")
    assert "1 proposal" in said(visitor, f"{run}?turn=end")
    found = visitor.json(run)["timeline"]
    assert [one["turn"] for one in found] == [1, 2, 3]
    assert max(part["seconds"] for part in found[0]["segments"] if part["kind"] == "waiting") > 590


def test_wakes_lead_to_their_neighbours_and_their_causes(
    visitor: Visitor, home: Path, runs: list[str]
) -> None:
    task = told(["task", "list"], home)[0]["id"]
    newest, oldest = (visitor.page(f"/wakes/{run}") for run in runs)
    assert f'<a href="/wakes/{runs[1]}" data-arrow="ArrowLeft">' in newest
    assert "ArrowRight" not in newest
    assert f'<a href="/wakes/{runs[0]}" data-arrow="ArrowRight">' in oldest
    assert "ArrowLeft" not in oldest
    assert "your note of Sunday 2027-01-03, 09:05" in text_of(newest)
    assert "Need to buy a &lt;b&gt;seal&lt;/b&gt;." in newest
    assert f'href="/tasks/{task}#note:' in newest
    anchor = newest.partition(f'href="/tasks/{task}#')[2].partition('"')[0]
    assert f'id="{anchor}"' in visitor.page(f"/tasks/{task}")
    assert 'title="first, subscription, journal:r1:' in newest
    assert "the agent was made on Friday 2027-01-01" in said(visitor, f"/wakes/{runs[1]}")


def test_a_prompt_tells_what_is_new_and_is_searched(visitor: Visitor, runs: list[str]) -> None:
    page = visitor.page(f"/wakes/{runs[0]}?turn=1")
    marked = [line for line in page.split("<ins>")[1:] if "seal" in line.partition("</ins>")[0]]
    assert marked
    assert "as before" in page
    assert "<ins>" not in visitor.page(f"/wakes/{runs[1]}?turn=1")  # nothing was before it
    found = visitor.page(f"/wakes/{runs[0]}?turn=1&find=SEAL")
    assert "<mark>seal</mark>" in found
    assert "0 places with" in said(visitor, f"/wakes/{runs[0]}?turn=1&find=zebra")


def listed(visitor: Visitor, query: str) -> list[str]:
    answer = visitor.get(f"/wakes.json?{query}").json()
    return [one["run_key"] for one in answer["wakes"]]


def test_wakes_are_filtered_and_sorted(visitor: Visitor, runs: list[str]) -> None:
    newest, oldest = runs
    assert listed(visitor, "") == [newest, oldest]
    assert listed(visitor, "from=2027-01-02") == [newest]
    assert listed(visitor, "to=2027-01-02") == listed(visitor, "to=2027-01-01") == [oldest]
    assert listed(visitor, "from=2027-01-04&to=2027-01-05") == []
    assert listed(visitor, "from=whenever") == [newest, oldest]
    assert listed(visitor, "model=TAPE") == [oldest]
    assert listed(visitor, "q=sink+FIX") == [newest, oldest]
    assert listed(visitor, "q=sink+roof") == []
    assert listed(visitor, "sort=longest") == [oldest, newest]
    assert listed(visitor, "sort=turns&limit=1") == [oldest]
    page = visitor.page("/wakes?from=2027-01-01&limit=1&model=")
    assert "limit=1&amp;before=" in page or "before=" in page
    assert 'value="2027-01-01"' in page
    assert "from=2027-01-01" in visitor.get("/wakes.json?from=2027-01-01&limit=1").json()["next"]
    assert "Wakes by day and outcome" not in page


def test_what_a_date_leaves_out_is_not_walked_through(visitor: Visitor) -> None:
    found = visitor.get("/wakes.json?to=2027-01-02").json()
    assert (len(found["wakes"]), found["looked_through"]) == (1, 1)
    assert visitor.get("/wakes.json?from=2027-01-02").json()["looked_through"] == 1


def test_each_turn_of_a_kept_history_has_its_page(tmp_path: Path) -> None:
    history = histories.read_history(scenes.FOLDER / "providers.jsonl")
    payloads = [Payload(name, data) for name, data in history.payloads.items()]
    for name in ("journal", "agent"):
        recorder = SQLiteLogRecorder(tmp_path / f"{name}.db")
        with recorder.deciding():
            recorder.insert(history.rows[name], payloads)
        recorder.close()
    shown = 0
    with visiting(tmp_path) as visitor:
        for one in visitor.json("/wakes")["wakes"]:
            found = visitor.json(f"/wakes/{one['run_key']}")
            for turn in ("start", *(line["turn"] for line in found["timeline"]), "end"):
                page = visitor.page(f"/wakes/{one['run_key']}?turn={turn}")
                assert "Why it woke" in page
                shown += "retries" in page
    assert shown > 3


FORGED = "CAST(replace(CAST(state AS TEXT), 'Let me', 'Let you') AS BLOB)"


def test_what_parted_stands_in_two_columns(home: Path, runs: list[str], tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(home, forged)
    with closing(sqlite3.connect(forged / "agent.db")) as database, database:
        database.execute(
            f"UPDATE stored_events SET state = {FORGED} WHERE topic = 'wake.model_answered.1'"
        )
    own = f"/wakes/{runs[1]}/proof"
    with visiting(forged) as visitor:
        assert "Not proved since" in said(visitor, own)
        visitor.send(visitor.form(own, "/prove"))
        until(lambda: visitor.json("/proof")["state"] == "done")
        page = visitor.page(own)
        assert "<del>you</del>" in page
        assert "<ins>me</ins>" in page
        assert "<del>you</del>" in visitor.page("/proof")
        assert visitor.json(own)["divergences"]
        other = visitor.json(f"/wakes/{runs[0]}/proof")
        assert (other["ok"], other["divergences"]) == (True, [])
        assert f'href="{own}"' in visitor.page(f"/wakes/{runs[1]}")
        assert visitor.get("/wakes/nothing/proof").status_code == 404


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_a_proof_tells_how_far_it_is(home: Path) -> None:
    beats: list[str] = []
    jobs = Jobs(home, FIXED, "", 1, lambda: beats.append(f"{jobs.proof.log} {jobs.proof.done}"))
    jobs.prove()
    jobs.wait(30)
    assert jobs.proof.state == "done"
    assert [one.split()[0] for one in beats if one.split()[0] in ("journal", "agent")]
