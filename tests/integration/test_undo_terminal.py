"""`wakelog undo` at a terminal: it asks where a deed may be another than the person thinks of."""

import os
from pathlib import Path

import pytest

from adapters.home.origin import origin_text, terminal_session
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
    assert terminal_session() == terminal_session()
    assert terminal_session().startswith("terminal ")


@pytest.mark.parametrize(
    ("session", "parents", "told"),
    [
        ("7", {"5": "7", "7": "1"}, "terminal 7 1007"),
        ("7", {"5": "1"}, "terminal 7"),
        ("0", {"5": "0"}, "terminal 5 1005"),
        ("0", {"5": "3", "3": "1", "1": "0"}, "terminal 1 1001"),
        ("0", {"5": "3"}, "terminal 3"),
    ],
)
def test_who_is_in_a_container_has_a_terminal_too(
    tmp_path: Path, session: str, parents: dict[str, str], told: str
) -> None:
    for process, parent in parents.items():
        (tmp_path / process).mkdir()
        line = f"{process} (a (b) c) S {parent} 5 {session} {'0 ' * 15}{1000 + int(process)} 0 0"
        (tmp_path / process / "stat").write_text(line)
    (tmp_path / "self").symlink_to("5")
    assert terminal_session(tmp_path) == told


def test_where_no_processes_are_listed_the_session_has_its_number(tmp_path: Path) -> None:
    assert terminal_session(tmp_path) == f"terminal {os.getsid(0)}" * bool(os.getsid(0))


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
    assert origin_text(who, here) == words
