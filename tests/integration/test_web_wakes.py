"""Wakes on the page: one as a conversation, lists, proofs, and what if."""

import fcntl
import json
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from pathlib import Path
from typing import Any, Literal

import pytest
from starlette.testclient import TestClient

import wakelog
from adapters.proof import histories
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.usecases.forks import ForkRequest
from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.jobs import Jobs
from adapters.web.site import Site
from adapters.web.text_diff import differences
from domain.log.wire import Payload
from tests.histories import scenes
from tests.integration.test_named_endpoint import ENVIRON, ONE_WAKE, set_model, woken
from tests.support.cli import FIXED, done, proved, refused, run, told
from tests.support.openai_server import OpenAIServer
from tests.support.pages import ORIGIN, Visitor, text_of, visiting
from tests.support.pasts import FIRST
from tests.support.process import until
from tests.support.scripted_server import served
from tests.support.waking import agent, at, fault, reply, report, sink, tape

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
    for query in ("from=2027-01-02", "to=2027-01-02"):  # what it leaves out is not walked through
        assert visitor.get(f"/wakes.json?{query}").json()["looked_through"] == 1
    page = visitor.page("/wakes?from=2027-01-01&limit=1&model=")
    assert "limit=1&amp;before=" in page or "before=" in page
    assert 'value="2027-01-01"' in page
    assert "from=2027-01-01" in visitor.get("/wakes.json?from=2027-01-01&limit=1").json()["next"]
    assert "Wakes by day and outcome" not in page


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
        for path in ("/health", f"/wakes/{runs[1]}"):
            assert "changed after it was written" in said(visitor, path)
            assert "Caused by <code>wake." in visitor.page(path)
        assert visitor.json(own)["divergences"]
        other = visitor.json(f"/wakes/{runs[0]}/proof")
        assert (other["ok"], other["divergences"]) == (True, [])
        assert f'href="{own}"' in visitor.page(f"/wakes/{runs[1]}")
        assert visitor.get("/wakes/nothing/proof").status_code == 404


def test_a_proof_tells_how_far_it_is(home: Path) -> None:
    beats: list[str] = []
    jobs = Jobs(home, FIXED, "", 1, lambda: beats.append(f"{jobs.proof.log} {jobs.proof.done}"))
    jobs.prove()
    jobs.wait(30)
    assert jobs.proof.state == "done"
    assert [one.split()[0] for one in beats if one.split()[0] in ("journal", "agent")]


SECONDS = 60  # that a fork may take on a busy machine
LOGS = ("journal.db", "agent.db")


@contextmanager
def held(home: Path) -> Iterator[None]:
    """As a process that makes a fork holds its folder."""
    (home / "forks").mkdir(exist_ok=True)
    opened = os.open(home / "forks", os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX)
    yield
    os.close(opened)


def rows(home: Path, log: str) -> list[Any]:
    with sqlite3.connect(f"file:{home / log}?mode=ro", uri=True) as found:
        return found.execute("SELECT * FROM stored_events ORDER BY rowid").fetchall()


def asked(visitor: Visitor, run: str, **wanted: Any) -> Any:
    """The answer to a form of `what-if`; what it began is waited for."""
    url = f"/wakes/{run}/what-if"
    answer = visitor.send(visitor.form(url, url), **wanted)
    for _ in range(SECONDS * 20):
        if visitor.json(f"/wakes/{run}/forked").get("state") != "running":
            break
        time.sleep(0.05)
    return answer


def names(home: Path) -> list[str]:
    return sorted(one.name for one in (home / "forks").iterdir())


def test_a_fork_from_the_page_is_the_one_of_the_command_line(past: Path, keys: list[str]) -> None:
    before = {log: rows(past, log) for log in LOGS}
    with visiting(past) as visitor:
        answer = asked(visitor, keys[1], text="Be quick.", model="rules")
        assert answer.status_code == 200
        page = visitor.page(f"/wakes/{keys[1]}/forked")
        (kept,) = visitor.json("/forks")["forks"]
        assert "First difference" in page
        assert 'id="turn-1"' in page
        assert "one more note, model rules" in text_of(page)
        shown = visitor.json(f"/forks/{kept['name']}")
    line = told(["fork", keys[1], "--note", FIRST, "Be quick.", "--model", "rules"], past)
    other = Path(line["home"])
    for log in LOGS:
        assert rows(past / "forks" / kept["name"], log) == rows(other, log)
        assert rows(past, log) == before[log], "nothing came of it"
    assert shown["diff"] == line["diff"]
    assert proved(other) > 0


class Comparing:
    """Hears in each new thread of a comparison, and lets it wait until it may go on."""

    def __init__(self) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.waited: list[bool] = []

    def __call__(self, frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code is differences.__code__:
            self.begun.set()
            self.waited.append(self.may_go_on.wait(SECONDS))


@pytest.mark.parametrize("page", ["/forks/FORK", "/wakes/RUN/diff"])
def test_nobody_waits_for_somebody_elses_comparison(past: Path, keys: list[str], page: str) -> None:
    line = told(["fork", keys[1], "--note", FIRST, "Be quick.", "--model", "rules"], past)
    page = page.replace("FORK", Path(line["home"]).name).replace("RUN", keys[1])
    comparing = Comparing()
    threading.setprofile(comparing)
    try:
        with visiting(past) as visitor:
            one = threading.Thread(target=visitor.page, args=(page,))
            one.start()
            assert comparing.begun.wait(SECONDS), "nothing was compared"
            visitor.page("/tasks")
            comparing.may_go_on.set()
            one.join()
    finally:
        threading.setprofile(None)
    assert all(comparing.waited), "the page of tasks came after it"


def test_one_fork_is_made_at_a_time_and_what_was_left_half_goes(
    past: Path, keys: list[str]
) -> None:
    half = past / "forks" / f".{keys[0][:8]}-7.making"
    with visiting(past) as visitor:
        with held(past):
            half.mkdir()
            (half / "journal.db").write_bytes(b"half")
            there = [one for one in names(past) if not one.startswith(".")]
            asked(visitor, keys[0], text="Be slow.", model="rules")
            page = text_of(visitor.page(f"/wakes/{keys[0]}/forked"))
            assert "It was not made: another fork of this home is being made just now" in page
            line = refused(["fork", keys[0], "--note", FIRST, "x", "--model", "rules"], past)
            assert "another fork of this home is being made just now" in line
        assert sorted(one["name"] for one in visitor.json("/forks")["forks"]) == there
        assert half.exists(), "who makes it may be at work"
        asked(visitor, keys[0], text="Be slow.", model="rules")
        assert not half.exists()
        assert names(past) == sorted([*there, f"{keys[0][:8]}-1"])


@pytest.mark.parametrize("name", ["proof", "forking"])
def test_long_work_tells_how_far_it_is_and_is_stopped(
    past: Path, keys: list[str], name: Literal["proof", "forking"]
) -> None:
    halfway, may_go_on = threading.Event(), threading.Event()

    def beat() -> None:
        known = getattr(jobs, name)
        if known.of and known.state == "running":  # who stops it beats, too, and does not wait
            halfway.set()
            may_go_on.wait(SECONDS)

    def begin(key: str) -> None:
        wish = ForkRequest("rules", notes=[(FIRST, "Be slow.")])
        jobs.prove() if name == "proof" else jobs.fork(key, keys[0], wish)

    before, site = sorted(past.glob("forks/*")), Site(past, FIXED)
    jobs = site.jobs = Jobs(past, FIXED, "", 1, beat)
    pages = ["/proof", "/health"] if name == "proof" else [f"/wakes/{keys[0]}/forked"]
    with closing(site), TestClient(make_app(site, Guard("127.0.0.1", 8765)), ORIGIN) as client:
        begin("first")
        assert halfway.wait(SECONDS)
        visitor = Visitor(client)
        for page in pages:
            assert re.search(r"\d+ of \d+ in the journal", text_of(visitor.page(page)))
        assert "Stopped." in visitor.send(visitor.form(pages[0], f"/stop/{name}")).text
        may_go_on.set()
        jobs.wait(SECONDS)
        assert "It was stopped." in visitor.page(pages[0])
        assert sorted(past.glob("forks/*")) == before
        begin("second")
        jobs.wait(SECONDS)
        assert getattr(jobs, name).state == "done"


def test_what_has_ended_is_not_stopped(home: Path) -> None:
    with visiting(home) as visitor:
        form = visitor.form("/health", "/prove")
        form.action = "/stop/proof"
        assert "It has ended already" in visitor.send(form).text
        assert visitor.json("/health")["proof"]["state"] == "none"


def test_what_a_form_of_a_fork_leaves_out_is_told(past: Path, keys: list[str]) -> None:
    with visiting(past) as visitor:
        said = {
            "nothing is otherwise": {},
            "is no model": {"text": "x", "model": "-1"},
            "may cost money, and you did not agree": {"text": "x", "model": "gemini"},
            "is no number of tokens": {"text": "x", "tokens": "many"},
            "there is no template": {"template": "nobody.1"},
        }
        for told_so, wanted in said.items():
            answer = asked(visitor, keys[1], **wanted)
            assert answer.status_code in (404, 422)
            assert told_so in text_of(answer.text)
        agreed = asked(visitor, keys[1], text="x", model="gemini", paid="yes")
        assert agreed.status_code == 200
        page = text_of(visitor.page(f"/wakes/{keys[1]}/forked"))
        assert "It was not made:" in page, "there is no key, and nobody agreed to what is sent"


def test_a_fork_is_deleted_when_nobody_works_in_it(past: Path, keys: list[str]) -> None:
    name = Path(told(["fork", keys[2]], past)["home"]).name
    folder = past / "forks" / name
    with visiting(past) as visitor:
        form = visitor.form("/forks", f"/forks/{name}/delete")
        assert visitor.send(form).status_code == 422, "it asks first"
        with visiting(folder) as other:
            answer = visitor.send(form, sure="yes", nonce="another-nonce")
            assert "has the fork" in text_of(answer.text)
            assert other.page("/tasks"), "its server goes on"
        form = visitor.form(f"/forks/{name}", f"/forks/{name}/delete")
        assert visitor.send(form, sure="yes").status_code == 200
        assert not folder.exists()
        assert visitor.get(f"/forks/{name}").status_code == 404
    assert done(["--home", str(past), "prove"], past)


def by_a_program_of_few_tokens(home: Path, key: str, out: Path) -> None:
    with wakelog.open_home(home, environ=ENVIRON) as program:
        otherwise: Any = {"model": "openai:local", "notes": [(FIRST, "It drips.")]}
        few = program.fork(key, **otherwise, out=out, tokens=10)
        assert (few.stopped or "").startswith("its limit is 10 tokens")
        with pytest.raises(wakelog.Refused, match="0 tokens"):
            program.fork(key, tokens=0)


def test_a_paid_fork_needs_a_tick_and_counts_into_the_day_for_all(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home)
    with served(OpenAIServer(ONE_WAKE * 4)) as server:
        set_model(home, server.base_url, "[budget]\ntokens_per_day = 7000\n")
        done(["policy", "allow", "openai:local", "--yes"], home, env=ENVIRON)
        key = woken(home)["run_key"]
        with visiting(home, env=ENVIRON) as visitor:
            wish = {"text": "Now it leaks.", "model": "openai:local"}
            assert "did not agree" in text_of(asked(visitor, key, **wish).text)
            by_a_program_of_few_tokens(home, key, tmp_path / "few")
            assert len(server.sent) == len(ONE_WAKE), "nobody was asked"
            asked(visitor, key, **wish, paid="yes")
            (kept,) = visitor.json("/forks")["forks"]
        assert (kept["tokens"], kept["stopped"]) == (3060, None)
        line = ["fork", key, "--model", "openai:local", "--note", FIRST, "It drips."]
        stopped = run(line, home, env=ENVIRON)
        assert stopped.exit_code == 1
        assert "stopped: a budget of the home is spent until" in stopped.stdout
        done(["task", "note", FIRST, "Urgent!"], home)
        held = run(["--json", "wake", FIRST], home, env=ENVIRON)
        assert json.loads(held.stdout)["waits_for"] == "budget"
        assert len(server.sent) == 2 * len(ONE_WAKE) + 1
