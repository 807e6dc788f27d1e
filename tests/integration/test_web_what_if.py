"""What if, from the page: one home is looked at, forked as the command line forks it, and left."""

import fcntl
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import wakelog
from adapters.web.text_diff import differences
from tests.integration.test_named_endpoint import ENVIRON, ONE_WAKE, set_model, woken
from tests.support.cli import done, proved, refused, run, told
from tests.support.openai_server import OpenAIServer
from tests.support.pages import Visitor, text_of, visiting
from tests.support.pasts import FIRST
from tests.support.scripted_server import served
from tests.support.waking import agent

pytestmark = pytest.mark.slow
SECONDS = 20  # that a fork may take on a busy machine
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
