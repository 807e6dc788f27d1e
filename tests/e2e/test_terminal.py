"""`agent chat` and `agent ask` on a real pseudo-terminal: prompts, keys, and words as they come;
and whoever sits at it is asked once before something leaves the machine."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import KEY, PATH, STREAM_PATH, answer, serving, text
from tests.support.terminal import CTRL_C, CTRL_D, on_terminal
from tests.support.waking import agent, reply, report, tape

pytestmark = pytest.mark.e2e
CHAT = ("agent", "chat", "Fix the sink")
GEMINI = ("--model", "gemini")
HOUR = answer(text("It takes an hour, I think."))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose agent's creation wake is over."""
    agent(tmp_path / "home")
    model = tape(tmp_path / "begun.jsonl", reply(report()), reply(text="Done."))
    done(["--model", model, "wake"], tmp_path / "home")
    return agreed(tmp_path / "home")


@pytest.mark.parametrize("end", ["\n", "  \n", CTRL_D])
def test_a_talk_goes_from_prompt_to_prompt_and_ends_in_a_line_of_its_own(
    home: Path, end: str
) -> None:
    model = tape(home.parent / "talk.jsonl", *(reply(text=f"Answer {nth}.") for nth in range(3)))
    with on_terminal(home, "--model", model, *CHAT) as terminal:
        for nth, line in enumerate(("How long?", "/help", "größer?")):
            terminal.until("> ")
            terminal.press(f"{line}\n")
            assert terminal.until(f"Answer {nth}.\n") == f"{line}\nwaking: Fix the sink\n"
        terminal.until("> ")
        terminal.press(end)
        terminal.until("\nGo on with `wakelog agent chat ")
        assert terminal.ended()[0] == 0
    wakes = told(["wakes"], home)
    assert len({one["thread"] for one in wakes if one["reason"] == "user"}) == 1
    assert proved(home)


def test_ctrl_c_at_the_prompt_ends_it_and_leaves_nothing(home: Path) -> None:
    before = proved(home)
    with on_terminal(home, *CHAT) as terminal:
        terminal.until("> ")
        terminal.press(CTRL_C)
        assert terminal.ended() == (130, "^C\nStopped.\n")
    assert proved(home) == before


def test_ctrl_c_at_a_later_prompt_says_how_to_go_on(home: Path) -> None:
    model = tape(home.parent / "talk.jsonl", reply(text="An hour."))
    with on_terminal(home, "--model", model, *CHAT) as terminal:
        terminal.until("> ")
        terminal.press("How long?\n")
        terminal.until("An hour.\n> ")
        terminal.press(CTRL_C)
        terminal.until("Go on with `wakelog agent chat ")
        assert terminal.ended()[0] == 130


def test_words_come_as_they_are_said_and_ctrl_c_keeps_the_question(home: Path) -> None:
    with serving(HOUR._replace(drip_seconds=60), HOUR, answer(text("A plumber."))) as server:
        env = environment(server)
        with on_terminal(home, *GEMINI, *CHAT, env=env) as terminal:
            terminal.until("> ")
            terminal.press("How long?\n")
            assert terminal.until("It take") == "How long?\nwaking: Fix the sink\n"
            terminal.press(CTRL_C)
            terminal.until("The question is kept")
            terminal.until("in session ")
            status, session = terminal.ended()
            assert status == 130
            assert "Traceback" not in session
        assert told(["wakes"], home)[0]["waits_for"] == "interrupted"
        more = ("--session", session.split(".")[0])
        with on_terminal(home, *GEMINI, *CHAT, *more, env=env) as terminal:
            terminal.until("> ")
            terminal.press("Who?\n")
            terminal.until("A plumber.\n> ")
            terminal.press(CTRL_D)
            assert terminal.ended()[0] == 0
    assert [sent.path for sent in server.sent] == [STREAM_PATH, PATH, STREAM_PATH]
    second, first = [one for one in told(["wakes"], home) if one["reason"] == "user"]
    assert (first["outcome"], second["outcome"]) == ("completed", "completed")
    assert first["thread"] == second["thread"]
    assert proved(home)


def test_a_question_on_a_terminal_is_streamed_and_its_answer_printed_once(home: Path) -> None:
    with serving(HOUR) as server:
        ask = ("agent", "ask", "Fix the sink", "How long?")
        with on_terminal(home, *GEMINI, *ask, env=environment(server)) as terminal:
            status, seen = terminal.ended()
    assert (status, server.sent[0].path) == (0, STREAM_PATH)
    assert seen.count("It takes an hour, I think.\n") == 1
    assert proved(home)


def test_a_secret_in_a_note_or_a_file_is_told_on_a_terminal_and_kept(home: Path) -> None:
    token = f"ghp_{'a1' * 18}"
    (home.parent / "todo.md").write_text(f"- [ ] Rotate {token}\n", encoding="utf-8")
    notes = ("task", "note", "Fix the sink", f"It is {token}.")
    for args, where in ((notes, "the note"), (("import", "todo.md"), "todo.md")):
        with on_terminal(home, *args) as terminal:
            terminal.until(f"Note: {where} holds 1 secret, kept as written; agents see none\n")
            assert terminal.ended()[0] == 0
    assert token in done(["task", "show", "Fix the sink"], home)
    assert proved(home)


# ------------------------------------------------------------------------------------------ consent


ASKS = "Do you agree? [y/N]: "


@pytest.fixture
def queued(tmp_path: Path) -> Path:
    """A home whose agent's creation wake is queued, and nothing is agreed to."""
    agent(tmp_path / "home")
    return tmp_path / "home"


def standing(home: Path) -> Any:
    return told(["policy", "show"], home)


def test_yes_is_a_receipt_and_the_wake_goes_on_at_once(queued: Path) -> None:
    with serving(*[HOUR] * 6) as server:
        ask = (*GEMINI, "agent", "ask", "Fix the sink", "How long?")
        with on_terminal(queued, *ask, env=environment(server)) as terminal:
            notice = terminal.until(ASKS)
            assert "this leaves your machine" in notice
            assert max(map(len, notice.splitlines())) <= 80
            assert server.sent == []
            terminal.press("y\n")
            terminal.until("It takes an hour, I think.")
            assert terminal.ended()[0] == 0
        with on_terminal(queued, *ask, env=environment(server)) as terminal:
            status, seen = terminal.ended()
            assert (status, ASKS in seen) == (0, False)
    assert [one["model"] for one in standing(queued)["receipts"]] == ["gemini:*"]
    assert proved(queued)


@pytest.mark.parametrize("args", [("wake",), ("wake", "Fix the sink"), ("run", "--until-idle")])
def test_no_keeps_the_wake_and_names_the_command_once(queued: Path, args: tuple[str, ...]) -> None:
    with serving() as server:
        with on_terminal(queued, *GEMINI, *args, env=environment(server)) as terminal:
            terminal.until(ASKS)
            terminal.press("n\n")
            terminal.until("Nothing is sent. To agree later: `wakelog policy allow 'gemini:*' ")
            status, seen = terminal.ended()
        assert (status, server.sent) == (0 if args[0] == "run" else 3, [])
    assert ASKS not in seen
    shown = standing(queued)
    assert shown["receipts"] == []
    assert [one["waits_for"] for one in shown["waiting"]] == ["consent"]
    assert proved(queued)


def test_a_talk_asks_once_and_keeps_every_question(queued: Path) -> None:
    with serving() as server:
        chat = (*GEMINI, "agent", "chat", "Fix the sink")
        with on_terminal(queued, *chat, env=environment(server)) as terminal:
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
    (waiting,) = standing(queued)["waiting"]
    causes = told(["show", waiting["run_key"]], queued)["causes"]
    assert sum(one["reason"] == "user" for one in causes) == 2
    assert proved(queued)


def test_allow_asks_once_more_and_yes_beforehand_does_not(queued: Path) -> None:
    with on_terminal(queued, "policy", "allow", "gemini") as terminal:
        terminal.until(ASKS)
        terminal.press("n\n")
        terminal.until("Nothing was agreed to, and nothing is sent.\n")
        assert terminal.ended()[0] == 0
    assert standing(queued)["receipts"] == []
    with on_terminal(queued, "policy", "allow", "gemini", "--yes") as terminal:
        status, seen = terminal.ended()
        assert (status, ASKS in seen) == (0, False)
    assert len(standing(queued)["receipts"]) == 1


def test_who_gives_an_agent_another_model_is_asked(queued: Path) -> None:
    sets = ("agent", "set", "Fix the sink", "--model", "gemini")
    with on_terminal(queued, *sets, env={"GEMINI_API_KEY": KEY}) as terminal:
        terminal.until(ASKS)
        terminal.press("y\n")
        assert terminal.ended()[0] == 0
    assert [one["model"] for one in standing(queued)["receipts"]] == ["gemini:*"]
