"""The gate in whole homes: what a person sees, what the log says, and what left the machine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.usecases import policy
from adapters.wiring import open_home
from domain.wake.wake import ModelAnswered, WakeDeferred, WakeFinished
from tests.support.cli import FIXED, done, proved, run, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, GeminiServer, answer, call, serving, text
from tests.support.scripted_server import Answer, Sent, served
from tests.support.waking import agent

SINK = "Fix the sink"
GEMINI = ["--model", "gemini"]
REPORT = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
SAID = (answer(call("update_report", REPORT, signature=SIGNATURE)), answer(text("Done.")))
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


class Meanwhile(GeminiServer):
    """It has something done before it answers its first request."""

    def __init__(self, script: Sequence[Answer], meanwhile: Callable[[], object]) -> None:
        super().__init__(script)
        self._meanwhile = meanwhile

    def take(self, sent: Sent) -> Answer:
        if not self.sent:
            self._meanwhile()
        return super().take(sent)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    agent(tmp_path / "home", note=f"Log in with {TOKEN}, due by 2027-02-12.")
    return agreed(tmp_path / "home")


def facts(home: Path) -> list[Any]:
    """All that the agent log says, in order."""
    with open_home(home, FIXED) as opened:
        appends = opened.services.agents.appends()
        return [row.fact for rows in appends for row in rows]


def of_wake(home: Path) -> list[Any]:
    kinds = ModelAnswered | WakeDeferred | WakeFinished
    return [one for one in facts(home) if isinstance(one, kinds)]


def withdraw(home: Path) -> None:
    with open_home(home, FIXED, is_writing=True) as opened:
        policy.withdraw(opened, "gemini")


def test_a_receipt_withdrawn_while_the_model_thinks(home: Path) -> None:
    with served(Meanwhile(SAID, lambda: withdraw(home))) as server:
        env = environment(server)
        said = run([*GEMINI, "wake"], home, env=env)
        assert said.exit_code == 3, said.output
        assert "waits until you agree to what its model is sent" in said.stdout
        assert "wakelog policy allow 'gemini:*' --category Inbox" in said.stderr
        answered, deferred = of_wake(home)
        assert isinstance(answered, ModelAnswered), "what came is kept"
        assert (deferred.reason, len(server.sent)) == ("consent", 1)
        run([*GEMINI, "wake"], home, env=env)
        run([*GEMINI, "wake", SINK], home, env=env)
        assert len(server.sent) == 1, "and nothing more is sent"
        agreed(home)
        done([*GEMINI, "wake"], home, env=env)
        assert len(server.sent) == 2, "it goes on where it was"
    assert of_wake(home)[-1] == WakeFinished("completed", stop="answered")
    assert "It is fine." in done(["report", SINK], home), "of the answer before it was withdrawn"
    assert proved(home)


def test_a_secret_in_a_note_stays_here(home: Path) -> None:
    with serving(*SAID) as server:
        env = environment(server)
        tried = run([*GEMINI, "policy", "try", SINK], home, env=env)
        assert "1 secret replaced" in tried.stderr
        assert TOKEN not in tried.output
        done([*GEMINI, "wake"], home, env=env)
        sent = [str(one.body) for one in server.sent]
    assert len(sent) == 2
    for body in sent:
        assert (TOKEN in body, "Log in with [secret: GitHub token], due by" in body) == (
            False,
            True,
        )
    run_key = told(["wakes"], home)[0]["run_key"]
    shown = done(["show", run_key, "--prompt"], home)
    assert (TOKEN in shown, "[secret: GitHub token]" in shown) == (False, True)
    (note,) = told(["task", "show", SINK], home)["notes"]
    assert TOKEN in note["text"], "the journal keeps what the person wrote"
    places = {path.name for path in home.glob("*.db*") if TOKEN.encode() in path.read_bytes()}
    assert not [one for one in places if one.startswith("agent.db")]
    assert proved(home)


def test_a_model_that_is_ruled_out_for_a_category_is_sent_nothing(home: Path) -> None:
    done(["policy", "models", "Inbox", "rules"], home)
    with serving() as server:
        env = environment(server)
        said = run([*GEMINI, "wake"], home, env=env)
        assert (said.exit_code, server.sent) == (0, []), said.output
        why = run([*GEMINI, "why", SINK], home, env=env)
        assert server.sent == []
    assert "the model is ruled out; see `wakelog policy show`." in said.stdout
    assert "its model is not allowed for a category" in why.stdout
    assert "Inbox: only rules" in done(["policy", "show"], home)
    assert told(["policy", "show"], home)["refusals"][-1]["code"] == "disallowed_provider_model"
    assert of_wake(home) == [WakeFinished("skipped", code="disallowed_provider_model")]
    assert proved(home)
