"""Gemini's key and prompt, through the command line; wakes stand in `test_model_families`."""

import importlib
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from adapters.home import api_keys
from adapters.home.endpoints import endpoint_key, endpoint_of
from adapters.home.settings import parse
from domain.errors import Refused
from tests.support.asking import places_of_key
from tests.support.cli import done, proved, refused, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import (
    KEY,
    answer,
    call,
    serving,
    text,
)
from tests.support.waking import agent

REPORT = {"content": "60 minutes, due in February.", "tldr": "On its way.", "oneLiner": "On track"}
GEMINI = ["--model", "gemini"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # the person's proxy is not asked for this
    monkeypatch.setitem(sys.modules, "keyring", None)  # nor their keyring
    return tmp_path / "home"


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
    assert places_of_key(home, KEY) == []


def test_the_entry_of_a_named_endpoint_is_its_own_in_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {("wakelog", "openai:fast"): f"f{KEY}", ("wakelog", "openai"): f"o{KEY}"}
    _keyring(monkeypatch, lambda service, user: entries.get((service, user)))
    url = 'base_url = "https://{}.example/v1"\nkey = "keyring"\n'
    text = f'[openai]\n{url.format("a")}[models.fast]\n{url.format("b")}model = "m"\n'
    settings = parse(f'{text}[models.gemini]\n{url.format("c")}model = "m"\n')
    for name, key in (("openai:fast", f"f{KEY}"), ("openai:m", f"o{KEY}")):
        assert endpoint_key(endpoint_of(name, settings), {}) == key
    with pytest.raises(Refused, match="keyring set wakelog openai:gemini"):
        endpoint_key(endpoint_of("openai:gemini", settings), {})


def test_a_keyring_that_cannot_be_opened_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
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
        "import sys; from adapters.models.gemini.model import GeminiModel; import adapters.wiring;"
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
