"""`wakelog models`: what could be asked, what each still needs; how it did when it was tried."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.models.probe import REQUEST, TOOL
from tests.support.asking import places_of_key
from tests.support.cli import done, refused, run, told
from tests.support.openai_server import KEY, OpenAIServer, answer, call, document, error
from tests.support.scripted_server import Answer, Sent, page, served

pytestmark = pytest.mark.slow

NOTE = "My sister's birthday is a secret."
CALLS = [call(TOOL.name, {"number": 7}, call_id="c1")]
BODY = b'{"choices": ["' + b"x" * 10_000_000 + b'"]}'
ANSWERS = {
    "good": answer(None, *CALLS),
    "twice": answer(None, *CALLS, *CALLS),  # one id for both
    "words": answer("Seven."),
    "empty": document(choices=[], usage={}),
    "page": page(),
    "leaky": error(401, f"The key {KEY} is revoked.", "authentication_error", 401),
    "away": Answer(status=307, headers=(("location", "http://127.0.0.2:1/v1/chat/completions"),)),
    "large": Answer(BODY),
    "none": error(400, "this model does not support tools"),
    "gone": error(404, "model 'gone' not found"),
    "hangs": answer("Late.")._replace(seconds=30),
}
OUTCOMES = {
    "good": "",
    "twice": "",
    "words": "answered with words instead of a call",
    "empty": "[empty_reply]",
    "page": "[bad_reply]",
    "leaky": "The key [key] is revoked",
    "away": "sent us elsewhere, which is not followed",
    "large": "more than 4194304 bytes",
    "none": "[no_tools]",
    "gone": "[unknown_model]",
    "hangs": "no answer within 5 seconds",
}


class ByModel(OpenAIServer):
    """Answers each model as `ANSWERS` says."""

    def take(self, sent: Sent) -> Answer:
        self.sent.append(sent)
        if not self.has_key(sent):
            self.broken.append("no key")
        return ANSWERS[sent.body["model"]]


def settings(home: Path, lines: str) -> None:
    """Add to the settings of a home."""
    path = home / "settings.toml"
    path.write_text(f"{path.read_text('utf-8')}{lines}", encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    done(["task", "add", "Buy flowers"], made)
    done(["task", "note", "Buy flowers", NOTE], made)
    return made


def by_name(found: Any) -> dict[str, Any]:
    return {one["name"]: one for one in found}


def test_what_the_settings_agents_and_templates_name_is_listed_once_and_no_key_is_shown(
    home: Path,
) -> None:
    local = '[models.local]\nbase_url = "http://localhost:11434/v1"\nmodel = "qwen3"\n'
    fast = '[models.fast]\nbase_url = "https://h.example/v1"\nmodel = "m"\nkey = "env:FAST_KEY"\n'
    settings(home, local + fast)
    done(["category", "add", "House"], home)
    done(["agent", "create", "Buy flowers", "--model", "openai:local"], home)
    done(["template", "create", "Calm", "--model", "openai:x@http://localhost:1"], home)
    done(["policy", "allow", "openai:local", "--category", "Inbox", "--yes"], home)
    environ = {"FAST_KEY": KEY, "GEMINI_API_KEY": "", "OPENAI_API_KEY": ""}
    document = told(["models"], home, env=environ)
    found = by_name(document)
    assert list(found) == [
        "rules", "gemini", "openai:local", "openai:fast", "openai:x@http://localhost:1",
    ]  # fmt: skip
    local_one = found["openai:local"]
    assert local_one["recorded"] == "openai:qwen3@http://localhost:11434/v1"
    assert local_one["named_by"] == ["settings", "agent"]
    assert (local_one["key"], local_one["agreed"], local_one["lacking"]) == (
        "none", ["Inbox"], ["House"],
    )  # fmt: skip
    assert (found["openai:fast"]["key"], found["openai:fast"]["key_from"]) == ("set", "FAST_KEY")
    assert found["openai:x@http://localhost:1"]["named_by"] == ["template"]
    assert (found["gemini"]["key"], found["rules"]["leaves"]) == ("missing", False)
    assert KEY not in json.dumps(document)
    result = run(["models"], home, env=environ)
    assert KEY not in result.output
    assert "agreed for Inbox; not for House" in result.stdout
    assert "  key: FAST_KEY" in result.stdout
    missing = by_name(told(["models"], home, env={**environ, "FAST_KEY": ""}))["openai:fast"]
    assert missing["key"] == "missing"
    assert "FAST_KEY is not set; set it where wakelog is started" in missing["problem"]


def test_without_a_home_what_comes_with_wakelog_is_listed(tmp_path: Path) -> None:
    found = by_name(told(["models"], tmp_path / "none", env={"WAKELOG_MODEL": "gemini:x"}))
    assert list(found) == ["rules", "gemini", "gemini:x"]
    assert not (tmp_path / "none").exists()
    assert "Name others below [models.NAME]" in run(["models"], tmp_path / "none").stderr


def test_each_is_tried_with_a_tool_and_what_is_wrong_is_told_in_one_line(home: Path) -> None:
    with served(ByModel(())) as server:
        server.listing = document(object="list", data=[{"id": one} for one in ANSWERS])
        url = f'base_url = "{server.base_url}"\nkey = "env:SCRIPTED_KEY"\n'
        tables = [f'[models.{one}]\nmodel = "{one}"\n{url}' for one in ANSWERS]
        settings(home, "".join(tables))
        environ = {"SCRIPTED_KEY": KEY, "GEMINI_API_KEY": ""}
        unasked = run(["models", "--ask", "--seconds", "1"], home, env=environ)
        assert (server.sent, server.looked) == ([], []), "no key goes where nothing was agreed to"
        assert "not tried: it would be sent its key; name it, `wakelog models openai:good" in (
            unasked.stdout
        )
        names = [f"openai:{one}" for one in ANSWERS]
        asked = ["--json", "models", *names, "--ask", "--seconds", "5"]
        result = run(asked, home, env=environ)
    assert result.exit_code == 1
    found = by_name(json.loads(result.stdout))
    tried = {name: found[f"openai:{name}"]["trial"] for name in ANSWERS}
    for name, outcome in OUTCOMES.items():
        assert tried[name]["called"] == (outcome == ""), name
        problem = tried[name]["problem"] or ""
        assert outcome in problem, name
        assert "\n" not in problem
        assert len(problem) < 500
    assert tried["good"]["offers"] == list(ANSWERS)
    assert len(server.sent) == len(ANSWERS), "each is asked once"
    assert NOTE not in str(server.sent)
    assert "Buy flowers" not in str(server.sent)
    assert REQUEST.user[0].text in str(server.sent[0].body)
    assert KEY not in result.output
    assert places_of_key(home, KEY) == []


def test_a_listing_that_is_none_hides_nothing_and_one_line_tells_how_it_went(home: Path) -> None:
    for listing in (page(), Answer(BODY), document(data="x"), Answer(status=302)):
        with served(OpenAIServer((answer(None, *CALLS),))) as server:
            server.listing = listing
            server.key = ""
            shown = run(["models", server.model, "--ask"], home, env={"OPENAI_API_KEY": KEY})
        assert shown.exit_code == 0, shown.output
        assert "  called the tool, " in shown.stdout
        assert "its server has" not in shown.stdout
        assert [one.path for one in server.looked] == ["/v1/models"]
    assert "no text of yours" in shown.stderr
    for none in ("gpt", ""):
        assert "is no model; use rules" in refused(["models", none, "--ask"], home)
    nowhere = done(["models", "openai:nope"], home)
    assert "names no address" in nowhere
    assert "policy allow" not in nowhere


def test_a_key_is_sent_unasked_where_something_was_agreed_to(home: Path) -> None:
    with served(OpenAIServer((answer(None, *CALLS),))) as server:
        named = f'[models.good]\nbase_url = "{server.base_url}"\nmodel = "m"\nkey = "env:MY_KEY"\n'
        settings(home, named)
        done(["policy", "allow", "openai:good", "--yes"], home)
        shown = done(["models", "--ask"], home, env={"MY_KEY": KEY, "GEMINI_API_KEY": ""})
    assert "called the tool" in shown
