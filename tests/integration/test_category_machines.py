"""What processes and machines make of a category that is looked over: one agent, and of each task
that is proposed one, whoever is killed in it (ADR 104)."""

import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.runtime import review
from adapters.simulation.fault_injection import Crashed, FaultyLog
from domain.agent.deciders import agent_id
from domain.changes.dependencies import follow_up_id
from tests.support import checker
from tests.support.cli import FIXED, proved
from tests.support.homes import Homes
from tests.support.house import (
    ENV,
    PLUMBER,
    TAP,
    agents,
    answering,
    asked_by,
    did,
    house,
    proposing,
    seen,
    seen_status,
)
from tests.support.lone import reviewer
from tests.support.pages import visiting
from tests.support.process import ended, environ
from tests.support.scripted_wakes import call


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(house, tmp_path / "home")


@pytest.mark.slow
def test_two_processes_and_a_server_make_one_agent(home: Path) -> None:
    line = ["--json", "category", "review", "House"]
    with visiting(home, env=ENV) as visitor:
        category = agents_of_page(visitor.page("/catalog"))
        form = visitor.form("/catalog", f"/catalog/categories/{category}/review")
        with ThreadPoolExecutor() as pool:
            runs = [pool.submit(ended, home, *line, more={**FIXED, **ENV}) for _ in range(2)]
            answer = visitor.send(form)
        codes = [one.result().returncode for one in runs]
    assert (answer.status_code, codes) == (200, [0, 0])
    (agent,) = seen(home, "agent", "list")
    assert (agent["kind"], agent["run_status"]) == ("category_agent", "idle")
    assert len(seen(home, "agent", "show", "House week")["timers"]) == 1
    assert {one["outcome"] for one in seen(home, "wakes")} <= {"completed", "superseded"}
    assert [*checker.findings(home)] == []
    assert proved(home)


def agents_of_page(page: str) -> str:
    """The id of the first category of the catalog that can be looked over."""
    return page.partition('/review"')[0].rpartition("/catalog/categories/")[2]


LAPTOP = {**ENV, "WAKELOG_REPLICA": "r2"}


def meet(home: Path, other: Path, shared: Path) -> None:
    for _ in range(2):
        did(home, "sync", str(shared))
        did(other, "sync", str(shared), env=LAPTOP)


def test_two_machines_make_one_agent_and_one_task_of_what_both_confirm(
    home: Path, tmp_path: Path
) -> None:
    other, shared = tmp_path / "other", tmp_path / "shared"
    proposing(home, tmp_path)
    meet(home, other, shared)
    (waiting,) = seen(other, "inbox", env=LAPTOP)
    assert waiting["subject"]["title"] == "House"
    did(home, "confirm", "1.1")
    did(other, "confirm", waiting["items"][0]["ref"], env=LAPTOP)
    did(other, "category", "review", "House", env=LAPTOP)
    did(home, "category", "review", "Work")
    did(other, "category", "review", "Work", env=LAPTOP)
    meet(home, other, shared)
    for machine, env in ((home, ENV), (other, LAPTOP)):
        named = [one["title"] for one in seen(machine, "list", env=env)]
        assert named.count("Call the plumber") == 1
        made = sorted(one["name"] for one in seen(machine, "agent", "list", env=env))
        assert made == ["Call the plumber", "House week", "Work week"]
        task = seen(machine, "task", "show", "Call the plumber", env=env)
        assert [one["title"] for one in task["items"]] == ["Ask for a price", "Agree on a day"]
        assert seen(machine, "prove", env=env)["ok"]


def test_what_one_machine_asks_wakes_an_agent_once(home: Path, tmp_path: Path) -> None:
    other, shared = tmp_path / "other", tmp_path / "shared"
    answering(home)
    meet(home, other, shared)
    asked_by(home, tmp_path, (TAP, "stale"))
    meet(home, other, shared)
    did(home, "wake")
    did(other, "wake", env=LAPTOP)
    meet(home, other, shared)
    for machine, env in ((home, ENV), (other, LAPTOP)):
        wakes = [one for one in seen(machine, "wakes", env=env) if one["reason"] == "request"]
        assert [one["outcome"] for one in wakes] == ["completed"]
        assert seen(machine, "prove", env=env)["ok"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_process_that_is_killed_in_a_confirmation_makes_the_task_once(
    home: Path, tmp_path: Path, homes: Homes
) -> None:
    """Wherever the process is killed: the task stands once, and has one agent."""
    proposing(home, tmp_path)
    for nth in range(1, BOUNDARIES_MAX):
        copy = tmp_path / f"killed-{nth}"
        shutil.copytree(home, copy)
        dying = [sys.executable, "-m", "tests.support.dying", str(copy), "1.1", str(nth)]
        killed = subprocess.run(dying, env=environ(copy, ENV), capture_output=True, check=False)
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr
        did(copy, "recover")
        titles = [one["title"] for one in seen(copy, "list")]
        assert titles.count("Call the plumber") == (seen_status(copy) == "confirmed"), nth
        did(copy, "confirm", "1.1")
        titles = [one["title"] for one in seen(copy, "list")]
        assert titles.count("Call the plumber") == 1, nth
        assert [*agents(copy)] == ["House week", "Call the plumber"], nth
        assert [*checker.findings(copy)] == [], nth
        assert proved(copy)
        shutil.rmtree(copy)
        if killed.returncode == 0:
            break
    assert 6 < nth < BOUNDARIES_MAX - 1, "each boundary of each append was one to die at"


BOUNDARIES_MAX = 40


@pytest.mark.parametrize("log", ["journal", "agents"])
@pytest.mark.parametrize("is_after", [False, True])
def test_a_process_that_dies_between_effect_and_outcome_makes_the_task_once(
    log: str, is_after: bool
) -> None:
    """The same in memory, at each append of a confirmation."""
    for fuse in range(1, 6):
        of = reviewer("Tap")
        of.wakes(call("create_task", **{**PLUMBER, "because": "Tap"}))
        dying = FaultyLog(log, getattr(of.at, log).recorder, "r1")
        setattr(of.at, log, dying)
        dying.fuse, dying.is_after = fuse, is_after
        with suppress(Crashed):
            of.confirm(1)
        dying.fuse = 0
        review.recover(of.at, of.sets[-1])
        of.confirm(1)
        assert of.items()[0].status == "confirmed"
        made = follow_up_id(of.sets[-1], 1)
        assert [one.title for one in of.task(made).items] == ["Ask for a price", "Agree on a day"]
        assert of.at.agent(agent_id("task_agent", made, 1)).lifecycle == "active"
        assert not of.at.agent(agent_id("task_agent", made, 2)).lifecycle
        assert of.proved() == []
