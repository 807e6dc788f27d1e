"""A model behind an address, from the command line: consent, key, and a server of one's own."""

from pathlib import Path

import pytest

from tests.support.asking import TOOLS, places_of_key, request
from tests.support.cli import done, proved, refused, told, waits
from tests.support.consents import agreed
from tests.support.families import OPENAI, REPORT, ask, home_of
from tests.support.homes import Homes
from tests.support.openai_server import KEY, MODEL, OpenAIServer
from tests.support.scripted_server import page, served
from tests.support.waking import agent


class Local(OpenAIServer):
    """One that wants no key, and is sent none."""

    key = ""


def test_a_server_of_ones_own_is_asked_without_a_key_and_once_there_is_a_receipt_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person's key is for others, and a proxy is nobody's business."""
    monkeypatch.delenv("NO_PROXY")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    script = (OPENAI.answer("", REPORT), OPENAI.answer("Done."))
    home, environ = tmp_path / "home", {"OPENAI_API_KEY": KEY}
    agent(home)
    with served(Local(script)) as server, served(Local(())) as other:
        asked = ["--model", server.model, "wake"]
        done(["policy", "allow", f"openai:*@{other.url}"], home)
        assert waits(asked, home, env=environ)[0]["waits_for"] == "consent"
        assert server.sent == []
        done(["--model", server.model, "policy", "allow", "openai"], home)
        (page_,) = told(asked, home, env=environ)
        assert (page_["outcome"], page_["model"]) == ("completed", server.model)
        done(["policy", "withdraw", "openai"], home)
        assert told(["policy", "show"], home)["receipts"] == []
    assert other.sent == []
    assert proved(home)
    assert places_of_key(home, KEY) == []


def test_the_address_of_the_settings_is_asked_and_recorded_and_gets_the_key(tmp_path: Path) -> None:
    with OPENAI.serving(OPENAI.answer("", REPORT), OPENAI.answer("Done.")) as server:
        home = home_of(tmp_path, f"openai:*@{server.url}")
        (home / "settings.toml").write_text(
            f'model = "openai:{MODEL}"\n[openai]\nbase_url = "{server.url}/v1/"\n'
        )
        (shown,) = told(["wake"], home, env={"OPENAI_API_KEY": KEY})
    assert shown["model"] == OPENAI.named(server)
    assert proved(home)


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("gemini", "missing_key"),
        ("openai:m", "model_unavailable"),
        ("openai:m@https://example.org/v1", "missing_key"),
        ("openai:m@https://me:hunter2@example.org/v1", "invalid_value"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line_and_nothing_is_queued(
    tmp_path: Path, homes: Homes, model: str, code: str
) -> None:
    home = agreed(homes.copy(agent, tmp_path / "home"))
    line = refused(["--model", model, "wake", "Fix the sink"], home)
    rows = proved(home)
    assert refused(["--model", model, "wake", "Fix the sink"], home) == line
    assert f"[{code}]" in line
    assert "hunter2" not in line
    assert proved(home) == rows


@pytest.mark.parametrize("is_aloud", [False, True], ids=["whole", "streamed"])
def test_a_server_that_fails_at_the_word_for_a_forced_tool_is_told_its_name(
    is_aloud: bool,
) -> None:
    """llama-cpp-python's fails so; it is no try that failed, and nothing is waited for."""
    forced = request(forced="update_report", tools=TOOLS[1:])
    with OPENAI.serving(page(500), OPENAI.answer("", REPORT)) as server:
        (call,) = ask(OPENAI, server, forced, is_aloud=is_aloud).calls
    assert call.tool == "update_report"
    named = {"type": "function", "function": {"name": "update_report"}}
    assert [sent.body["tool_choice"] for sent in server.sent] == ["required", named]
