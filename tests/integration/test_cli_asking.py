"""`wakelog agent ask`: a question is a wake, and its session goes on."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, run, told
from tests.support.waking import agent


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_question_is_answered_and_its_session_goes_on(home: Path) -> None:
    agent(home)
    done(["wake"], home)
    result = run(["agent", "ask", "Fix the sink", "What is left?"], home)
    assert result.exit_code == 0
    assert "offline rules model" in result.stdout
    assert "--session" in result.stderr
    first = told(["agent", "ask", "Fix the sink", "And now?"], home)
    assert (first["reason"], first["turn"], first["outcome"]) == ("user", 1, "completed")
    assert first["thread"] == f"agent:session:{first['session']}"
    second = told(
        ["agent", "ask", "Fix the sink", "Really?", "--session", first["session"][:8]], home
    )
    assert (second["session"], second["turn"]) == (first["session"], 2)
    named = told(["agent", "ask", "Fix the sink", "Hm", "--session", "kitchen"], home)
    assert (named["session"], named["turn"]) == ("kitchen", 1)
    assert proved(home)


def test_an_autonomous_agent_takes_no_questions(home: Path) -> None:
    agent(home, "Fix the sink", "--mode", "autonomous")
    assert "hybrid" in refused(["agent", "ask", "Fix the sink", "Hello?"], home)


@pytest.mark.parametrize("words", ["", "  ", "x" * 20_000])
def test_a_question_has_bounds(home: Path, words: str) -> None:
    agent(home)
    assert "[invalid_value]" in refused(["agent", "ask", "Fix the sink", words], home)
