"""Whole wakes with Gemini, through the command line: from the task to the proposal, and waits."""

import importlib
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from adapters.home import api_keys
from tests.support.cli import done, proved, refused, run, told
from tests.support.consents import agreed
from tests.support.gemini import NAME, environment, places_of_key
from tests.support.gemini_server import (
    KEY,
    SIGNATURE,
    answer,
    call,
    error,
    limited,
    quota,
    retry_info,
    serving,
    text,
)
from tests.support.waking import agent, at, inbox

REPORT = {"content": "60 minutes, due in February.", "tldr": "On its way.", "oneLiner": "On track"}
GEMINI = ["--model", "gemini"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # the person's proxy is not asked for this
    monkeypatch.setitem(sys.modules, "keyring", None)  # nor their keyring
    return tmp_path / "home"


def observation(words: str, **more: Any) -> dict[str, Any]:
    return call("record_observations", {"observations": [words]}, signature=SIGNATURE, **more)


def test_five_turns_with_parallel_calls_and_signatures(home: Path) -> None:
    agent(home)
    agreed(home)
    first = [
        call("update_task_estimate", {"minutes": 60.0}, call_id="e1", signature=SIGNATURE),
        call("set_task_language", {"languageCode": "en", "confidence": "high"}, call_id="l1"),
    ]
    script = [
        answer(*first, tokens=(1000, 20, 300)),
        answer(observation("Turn two."), tokens=(1100, 10)),
        answer(call("no_such_tool", {"x": 1}, signature=SIGNATURE), observation("Turn three.")),
        answer(text("I write it down."), call("update_report", REPORT, signature=SIGNATURE)),
        answer(text("All is said.")),
    ]
    with serving(*script) as server:
        page = told([*GEMINI, "wake", "Fix the sink"], home, env=environment(server))
    assert (page["outcome"], page["turns"], page["model"]) == ("completed", 5, NAME)
    assert page["report"]["one_liner"] == REPORT["oneLiner"]
    (item,) = inbox(home)
    assert (item["tool"], item["arguments"]) == ("update_task_estimate", {"minutes": 60})
    assert told(["task", "show", "Fix the sink"], home)["language"] == "en"

    contents = server.sent[4].contents
    assert [content["role"] for content in contents] == ["user", *["model", "user"] * 4]
    assert [json.loads(one.body)["candidates"][0]["content"] for one in script[:4]] == [
        content for content in contents if content["role"] == "model"
    ]
    answered = [part["functionResponse"] for part in contents[2]["parts"]]
    assert [(one["id"], one["name"]) for one in answered] == [
        ("e1", "update_task_estimate"),
        ("l1", "set_task_language"),
    ]
    assert all("output" in one["response"] for one in answered)
    denied = contents[6]["parts"][0]["functionResponse"]["response"]
    assert "no_such_tool" in denied["error"]
    usage = told(["show", page["run_key"]], home)["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (2400, 90)
    assert proved(home)
    assert places_of_key(home) == []


def test_a_first_wake_without_a_report_is_asked_for_one(home: Path) -> None:
    agent(home)
    agreed(home)
    script = [answer(text("Nothing to do.")), answer(call("update_report", REPORT, signature="AA"))]
    with serving(*script) as server:
        page = told([*GEMINI, "wake"], home, env=environment(server))[0]
    assert (page["outcome"], page["turns"]) == ("completed", 2)
    assert server.sent[1].calling == {"mode": "ANY", "allowedFunctionNames": ["update_report"]}
    (tools,) = server.sent[1].body["tools"]
    assert [one["name"] for one in tools["functionDeclarations"]] == ["update_report"]
    assert proved(home)


@pytest.mark.parametrize(
    ("details", "until"),
    [
        ((retry_info("90s"),), "2027-01-01T09:01:30"),
        ((quota("RequestsPerDay"),), "2027-01-01T10:00:00"),
    ],
)
def test_a_long_delay_defers_the_wake_and_it_goes_on_under_its_run_key(
    home: Path, details: tuple[dict[str, Any], ...], until: str
) -> None:
    agent(home)
    agreed(home)
    script = [
        answer(call("update_task_estimate", {"minutes": 60}, call_id="e1", signature=SIGNATURE)),
        limited(*details),
        answer(call("update_report", REPORT, signature=SIGNATURE)),
        answer(text("Done.")),
    ]
    with serving(*script) as server:
        environ = environment(server)
        (first,) = told([*GEMINI, "wake"], home, env=environ)
        assert (first["outcome"], first["waits_for"], first["turns"]) == (None, "provider", 1)
        assert first["waits_until"].startswith(until)
        assert told([*GEMINI, "wake"], home, env=environ) == []
        (page,) = told(["wake"], home, env={**environ, **at("2027-01-01T10:01:00Z")})
    assert (page["run_key"], page["outcome"]) == (first["run_key"], "completed")
    refused_then, asked_again = server.sent[1:3]
    assert asked_again.body == refused_then.body
    (known,) = told(["agent", "list"], home)
    assert known["failures"] == 0
    assert proved(home)
    assert places_of_key(home) == []


def test_a_refused_key_fails_the_wake_and_says_what_to_do(home: Path) -> None:
    agent(home)
    agreed(home)
    with serving(error(401, "UNAUTHENTICATED", f"Key {KEY} is revoked.")) as server:
        result = run([*GEMINI, "wake", "Fix the sink"], home, env=environment(server))
    assert result.exit_code == 1
    assert "failed (bad_key)" in result.stdout
    assert "[key] is revoked" in result.stdout
    assert KEY not in result.output
    assert proved(home)
    assert places_of_key(home) == []


# -------------------------------------------------------------------------------------- the key


def test_without_a_key_nothing_is_queued(home: Path) -> None:
    agent(home)
    agreed(home)
    told_so = refused([*GEMINI, "wake", "Fix the sink"], home)
    assert "[missing_key]" in told_so
    rows = proved(home)
    assert refused([*GEMINI, "wake", "Fix the sink"], home) == told_so
    assert proved(home) == rows


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "x" * 600])
def test_what_can_be_no_key_is_refused_unrepeated(home: Path, key: str) -> None:
    agent(home)
    agreed(home)
    told_so = refused([*GEMINI, "wake", "Fix the sink"], home, env={"GEMINI_API_KEY": key})
    assert "[invalid_value]" in told_so
    assert key not in told_so


def test_the_keyring_is_asked_where_the_environment_has_no_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _keyring(monkeypatch, lambda service, user: {("wakelog", "gemini"): KEY}.get((service, user)))
    agent(home)
    agreed(home)
    script = [answer(call("update_report", REPORT, signature="AA")), answer(text("Done."))]
    with serving(*script) as server:
        environ = {**environment(server), "GEMINI_API_KEY": ""}
        (page,) = told([*GEMINI, "wake"], home, env=environ)
    assert page["outcome"] == "completed"
    assert places_of_key(home) == []


def test_a_keyring_that_cannot_be_opened_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from domain.errors import Refused

    def locked(service: str, user: str) -> str:
        raise importlib.import_module("keyring.errors").KeyringError("locked")

    _keyring(monkeypatch, locked)
    with pytest.raises(Refused, match="GEMINI_API_KEY is not set"):
        api_keys.gemini_key({})


def _keyring(monkeypatch: pytest.MonkeyPatch, get_password: Any) -> None:
    """A keyring in place of the person's; the package itself is optional."""
    package, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    vars(package)["get_password"] = get_password
    vars(errors)["KeyringError"] = type("KeyringError", (Exception,), {})
    monkeypatch.setitem(sys.modules, "keyring", package)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


# -------------------------------------------------------------------------------------- loading


def test_the_sdk_is_loaded_when_gemini_is_asked_and_not_before(home: Path) -> None:
    """It takes most of a second, and who uses another model does not pay for it."""
    code = (
        "import sys; from adapters.models.gemini import GeminiModel; import adapters.wiring;"
        "GeminiModel('gemini', 'k'); assert not {'google.genai', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_show_prompt_tells_what_gemini_was_sent(home: Path) -> None:
    agent(home)
    agreed(home)
    with serving(
        answer(call("update_report", REPORT, signature="AA")), answer(text("."))
    ) as server:
        (page,) = told([*GEMINI, "wake"], home, env=environment(server))
    shown = done(["show", page["run_key"], "--prompt"], home)
    sent = server.sent[0].contents[0]["parts"][0]["text"]
    assert sent.split("\n\n")[0] in shown
