"""What the shell offers for values, asked as the shell's script asks."""

import os
import pty
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.cli.main import cli
from tests.support import process
from tests.support.cli import FIXED, done, told
from tests.support.terminal import OWN, Terminal
from tests.support.waking import agent, inbox

pytestmark = pytest.mark.slow
PROMPT = "ready> "


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two open tasks, one of them with an agent that has proposed; one that is done."""
    home = tmp_path_factory.mktemp("completed") / "home"
    agent(home, "Fix the sink")
    done(["task", "note", "Fix the sink", "Deadline: 2027-02-12. Not before."], home)
    done(["wake", "Fix the sink"], home)
    done(["task", "add", "Call Ann"], home)
    done(["task", "add", "Was done", "--status", "done"], home)
    done(["category", "add", "Garden and house"], home)
    return home


def offered(home: Path, *words: str, shell: str = "zsh") -> list[str]:
    """What is offered for the last word, and what it is called: asked as the shell's script asks,
    but in this process."""
    asked = {
        "COMP_WORDS": " ".join(("wakelog", *words)),
        "COMP_CWORD": str(len(words)),
        "_WAKELOG_COMPLETE": f"{shell}_complete",
    }
    env = {**FIXED, "WAKELOG_HOME": str(home), **asked}
    said = CliRunner().invoke(cli, [], prog_name="wakelog", env=env)
    assert said.exit_code == 0, said.output
    return said.stdout.splitlines()


def test_a_task_is_offered_by_its_id_and_the_words_of_its_title(home: Path) -> None:
    ids = {one["title"]: one["id"][:8] for one in told(["task", "list"], home)}
    every = offered(home, "task", "show", "")
    assert every[1:3] + every[4:6] == [
        ids["Fix the sink"],
        "Fix the sink",
        ids["Call Ann"],
        "Call Ann",
    ]
    assert "Was done" not in every
    for typed in ("ANN", ids["Call Ann"][:3]):
        assert ids["Call Ann"] in offered(home, "task", "check", typed)
    assert offered(home, "done", "Call", "sink")[1] == ids["Fix the sink"]
    assert "".join(offered(home, "task", "show", "nothing")) == ""


def test_each_kind_of_value_is_offered_where_it_is_asked_for(home: Path) -> None:
    refs = {one["ref"] for one in inbox(home)}
    assert refs
    assert refs <= set(offered(home, "confirm", ""))
    wake = told(["wakes"], home)[0]
    assert wake["run_key"][:8] in offered(home, "show", "")
    (one,) = told(["agent", "list"], home)
    assert one["id"][:8] in offered(home, "agent", "pause", "sink")
    assert "Laura" in offered(home, "template", "show", "la")
    assert "in-progress" in offered(home, "task", "list", "--status", "in")
    assert r"plain,Garden\ and\ house" in offered(
        home, "task", "add", "x", "--category", "gar", shell="bash"
    )
    assert offered(home, "import", "")[0] == "file"
    done(["day", "put", "--title", "Lunch", "12-13"], home)
    assert "put" in offered(home, "day", "")
    assert offered(home, "day", "move", "")[1:3] == ["1200", "Lunch"]


def test_a_home_that_is_not_there_offers_nothing_and_is_not_made(tmp_path: Path) -> None:
    assert "".join(offered(tmp_path / "none", "task", "show", "")) == ""
    assert not (tmp_path / "none").exists()


def test_models_are_offered_wherever_one_is_named_by_any_part_of_their_names(home: Path) -> None:
    named = '[models.local]\nbase_url = "http://localhost:11434/v1"\nmodel = "qwen3"\n'
    with (home / "settings.toml").open("a", encoding="utf-8") as file:
        file.write(named)
    done(["agent", "set", "Fix the sink", "--model", "gemini:small"], home)
    doors = (
        ("--model",),
        ("agent", "set", "Fix", "--model"),
        ("agent", "create", "Call", "--model"),
        ("template", "create", "Calm", "--model"),
        ("policy", "allow"),
    )
    for words in doors:
        found = offered(home, *words, "", shell="bash")
        assert [one.partition(",")[2] for one in found] == [
            "rules",
            "gemini",
            "openai:local",
            "gemini:small",
        ]
    assert offered(home, "--model", "lo", shell="bash") == ["plain,openai:local"]


@pytest.fixture
def bash(home: Path, tmp_path: Path) -> Iterator[Terminal]:
    """An interactive bash that has read the script of `wakelog completion bash`."""
    program = tmp_path / "wakelog"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(process.command())} "$@"\n')
    program.chmod(0o700)
    env = process.environ(home)
    env |= {"PATH": f"{tmp_path}:{env['PATH']}", "PS1": PROMPT, "TERM": "dumb", "COLUMNS": "200"}
    master, slave = pty.openpty()
    shell = [shutil.which("bash") or "bash", "--norc", "--noprofile", "-i"]
    running = subprocess.Popen(
        [sys.executable, "-c", OWN, *shell],
        cwd=tmp_path, env={**env, "INPUTRC": "/dev/null"},
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    terminal = Terminal(master, running)
    terminal.until(PROMPT)  # before it, a TAB is a TAB
    terminal.press('eval "$(wakelog completion bash)"\n')
    terminal.until(PROMPT)
    yield terminal
    running.kill()
    running.wait()
    os.close(master)


def test_bash_lists_several_with_their_titles_and_inserts_an_id_alone(
    home: Path, bash: Terminal
) -> None:
    ids = {one["title"]: one["id"][:8] for one in told(["list"], home)}
    assert ids["Call Ann"][0] != ids["Fix the sink"][0]
    bash.press("wakelog done \t\t")
    bash.until("wakelog done ")
    shown = bash.until("wakelog done ")
    assert f"{ids['Call Ann']}  Call Ann" in shown
    assert f"{ids['Fix the sink']}  Fix the sink" in shown
    assert "Was done" not in shown
    bash.press(f"{ids['Call Ann'][:3]}\t#\n")
    assert bash.until("#") == f"{ids['Call Ann']} "
    bash.until(PROMPT)
    bash.press("wakelog list --category Gard\t#\n")
    bash.until("--category ")
    assert bash.until("#") == r"Garden\ and\ house "
