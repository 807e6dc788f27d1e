"""Somebody at a terminal is asked once before something leaves the machine."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import proved, told
from tests.support.gemini import environment
from tests.support.gemini_server import KEY, answer, serving, text
from tests.support.terminal import CTRL_D, on_terminal
from tests.support.waking import agent

pytestmark = pytest.mark.e2e

GEMINI = ("--model", "gemini")
ASKS = "Do you agree? [y/N]: "
HOUR = answer(text("It takes an hour, I think."))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose agent's creation wake is queued, and nothing is agreed to."""
    agent(tmp_path / "home")
    return tmp_path / "home"


def standing(home: Path) -> Any:
    return told(["policy", "show"], home)


def test_yes_is_a_receipt_and_the_wake_goes_on_at_once(home: Path) -> None:
    with serving(*[HOUR] * 6) as server:
        ask = (*GEMINI, "agent", "ask", "Fix the sink", "How long?")
        with on_terminal(home, *ask, env=environment(server)) as terminal:
            notice = terminal.until(ASKS)
            assert "this leaves your machine" in notice
            assert max(map(len, notice.splitlines())) <= 80
            assert server.sent == []
            terminal.press("y\n")
            terminal.until("It takes an hour, I think.")
            assert terminal.ended()[0] == 0
        with on_terminal(home, *ask, env=environment(server)) as terminal:
            status, seen = terminal.ended()
            assert (status, ASKS in seen) == (0, False)
    assert [one["model"] for one in standing(home)["receipts"]] == ["gemini:*"]
    assert proved(home)


@pytest.mark.parametrize("args", [("wake",), ("wake", "Fix the sink"), ("run", "--until-idle")])
def test_no_keeps_the_wake_and_names_the_command_once(home: Path, args: tuple[str, ...]) -> None:
    with serving() as server:
        with on_terminal(home, *GEMINI, *args, env=environment(server)) as terminal:
            terminal.until(ASKS)
            terminal.press("n\n")
            terminal.until("Nothing is sent. To agree later: `wakelog policy allow 'gemini:*' ")
            status, seen = terminal.ended()
        assert (status, server.sent) == (0 if args[0] == "run" else 3, [])
    assert ASKS not in seen
    shown = standing(home)
    assert shown["receipts"] == []
    assert [one["waits_for"] for one in shown["waiting"]] == ["consent"]
    assert proved(home)


def test_a_talk_asks_once_and_keeps_every_question(home: Path) -> None:
    with serving() as server:
        chat = (*GEMINI, "agent", "chat", "Fix the sink")
        with on_terminal(home, *chat, env=environment(server)) as terminal:
            terminal.until("> ")
            terminal.press("How long?\n")
            terminal.until(ASKS)
            terminal.press("n\n")
            terminal.until("what its model is sent; see `wakelog policy show`.\n> ")
            terminal.press("And who?\n")
            assert ASKS not in terminal.until("waits until you agree")
            terminal.press(CTRL_D)
            assert terminal.ended()[0] == 1, "a question had no answer"
        assert server.sent == []
    (waiting,) = standing(home)["waiting"]
    causes = told(["show", waiting["run_key"]], home)["causes"]
    assert sum(one["reason"] == "user" for one in causes) == 2
    assert proved(home)


def test_allow_asks_once_more_and_yes_beforehand_does_not(home: Path) -> None:
    with on_terminal(home, "policy", "allow", "gemini") as terminal:
        terminal.until(ASKS)
        terminal.press("n\n")
        terminal.until("Nothing was agreed to, and nothing is sent.\n")
        assert terminal.ended()[0] == 0
    assert standing(home)["receipts"] == []
    with on_terminal(home, "policy", "allow", "gemini", "--yes") as terminal:
        status, seen = terminal.ended()
        assert (status, ASKS in seen) == (0, False)
    assert len(standing(home)["receipts"]) == 1


def test_who_gives_an_agent_another_model_is_asked(home: Path) -> None:
    sets = ("agent", "set", "Fix the sink", "--model", "gemini")
    with on_terminal(home, *sets, env={"GEMINI_API_KEY": KEY}) as terminal:
        terminal.until(ASKS)
        terminal.press("y\n")
        assert terminal.ended()[0] == 0
    assert [one["model"] for one in standing(home)["receipts"]] == ["gemini:*"]
