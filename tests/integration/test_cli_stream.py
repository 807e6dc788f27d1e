"""`agent ask` and `agent chat` with a model that streams: what is printed, and what is recorded."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.cli.wake import AGAIN
from tests.support.cli import proved, run, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import (
    PATH,
    SIGNATURE,
    STREAM_PATH,
    answer,
    call,
    limited,
    retry_info,
    serving,
    text,
)
from tests.support.scripted_server import Answer
from tests.support.waking import agent

REPORT = {"content": "An hour.", "tldr": "On its way.", "oneLiner": "On track"}
SCRIPT = (
    answer(text("I look at it."), call("update_report", REPORT, signature=SIGNATURE)),
    answer(text("It takes an hour; größer ist es nicht.")),
)
ASK = ["--model", "gemini", "agent", "ask", "Fix the sink", "How long?"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # the person's proxy is not asked for this
    monkeypatch.setitem(sys.modules, "keyring", None)  # nor their keyring
    return tmp_path / "home"


def ask(home: Path, *script: Answer, options: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
    """The command's result, and the paths that were asked."""
    with serving(*script) as server:
        result = run([*ASK, *options], home, env=environment(server))
    return result, [sent.path for sent in server.sent]


def test_streamed_or_not_the_same_is_recorded(home: Path) -> None:
    home.mkdir()
    digests = []
    for name, option, path in (("a", "--stream", STREAM_PATH), ("b", "--no-stream", PATH)):
        agent(home / name)
        agreed(home / name)
        result, paths = ask(home / name, *SCRIPT, options=(option,))
        assert result.exit_code == 0, result.output
        assert paths == [path, path]
        digests.append(told(["prove"], home / name)["digest"])
        told_words = "It takes an hour; größer ist es nicht.\n"
        seen = "I look at it.\n" + told_words if option == "--stream" else told_words
        assert result.stdout == seen
    assert digests[0] == digests[1]


@pytest.mark.parametrize("options", [(), ("--json", "--stream")])
def test_in_a_pipe_and_with_json_nothing_is_streamed(home: Path, options: tuple[str, ...]) -> None:
    agent(home)
    agreed(home)
    result, paths = ask(home, *SCRIPT, options=options)
    assert paths == [PATH, PATH]
    assert "I look at it." not in result.stdout


def test_what_came_to_nothing_is_said_before_it_is_printed_again(home: Path) -> None:
    agent(home)
    agreed(home)
    broken = answer(text("I call it"), finish="MALFORMED_FUNCTION_CALL")
    result, _ = ask(home, broken, *SCRIPT, options=("--stream",))
    assert result.stdout.startswith("I call it\nI look at it.\nIt takes")
    assert AGAIN in result.stderr
    assert result.output.index(AGAIN) < result.output.index("I look at it.")
    assert proved(home)


def test_words_that_break_off_for_good_are_followed_by_what_became_of_the_wake(home: Path) -> None:
    agent(home)
    agreed(home)
    limit = json.dumps(json.loads(limited(retry_info("90s")).body)).encode()
    broken = SCRIPT[1]._replace(breaks_after=2, then=limit)
    result, _ = ask(home, broken, options=("--stream",))
    assert result.stdout.startswith("It takes an ho\nFix the sink: waits for its provider until")
    assert result.exit_code == 3
    assert proved(home)


def test_a_chat_streams_each_answer(home: Path) -> None:
    agent(home)
    agreed(home)
    script = (*SCRIPT, answer(text("Now it is done.")))
    with serving(*script) as server:
        result = run(
            ["--model", "gemini", "agent", "chat", "Fix the sink", "--stream"],
            home,
            env=environment(server),
            input="How long?\nAnd now?\n",
        )
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("ist es nicht.\nNow it is done.\n")
    assert {sent.path for sent in server.sent} == {STREAM_PATH}


def test_a_terminal_obeys_nothing_that_a_model_says(home: Path) -> None:
    agent(home)
    agreed(home)
    script = (SCRIPT[0], answer(text("\x1b[2JGone.\x07")))
    result, _ = ask(home, *script, options=("--stream",))
    assert "\x1b" not in result.stdout
    assert "[2JGone." in result.stdout
