"""`wakelog undo` at a terminal: it asks where a deed may be another than the person thinks of."""

from pathlib import Path

import pytest

from adapters.home.doing import terminal, where
from tests.support.cli import done, told
from tests.support.terminal import on_terminal


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize(("answer", "status", "left"), [("y", 0, 0), ("n", 130, 1), ("", 130, 1)])
def test_what_another_terminal_did_is_named_and_asked_for(
    home: Path, answer: str, status: int, left: int
) -> None:
    done(["task", "add", "Tap"], home)
    with on_terminal(home, "undo") as other:
        seen = other.until("[y/N]: ")
        other.press(f"{answer}\n")
        assert other.ended()[0] == status
    assert "Undo create task of “Tap”, just now, done in another terminal?" in seen
    assert len(told(["task", "list"], home)) == left


def test_who_says_yes_is_not_asked(home: Path) -> None:
    done(["task", "add", "Tap"], home)
    with on_terminal(home, "undo", "--yes") as other:
        status, seen = other.ended()
    assert (status, "[y/N]" in seen) == (0, False)
    assert told(["task", "list"], home) == []


def test_a_terminal_is_the_same_from_one_command_to_the_next() -> None:
    assert terminal() == terminal()
    assert terminal().startswith("terminal ")


@pytest.mark.parametrize(
    ("who", "here", "words"),
    [
        ("terminal 1", "terminal 1", ""),
        ("terminal 2", "terminal 1", "in another terminal"),
        ("page a", "terminal 1", "on the page"),
        ("page a", "page b", "in another tab"),
        ("terminal 1", "page b", "in another terminal"),
        ("program", "program", ""),
        ("watch", "terminal 1", "by `run --watch`"),
        ("", "", "elsewhere"),
    ],
)
def test_where_something_was_done_is_said_in_words(who: str, here: str, words: str) -> None:
    assert where(who, here) == words
