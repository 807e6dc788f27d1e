"""A pipe is read as long as somebody writes to it, and not waited for without end."""

import subprocess
from pathlib import Path

import pytest

from adapters.home.read_input import PIPE_SECONDS
from tests.support.process import command, environ, read

pytestmark = pytest.mark.e2e

LATE = f"sleep {PIPE_SECONDS + 1}; echo '- [ ] a'; sleep 1; echo '- [ ] b'"
SCRIPTS = {  # all at once; what each must say, and its exit status
    "late": (f"wakelog import --source a <({LATE})", "2 created", 0),
    "long": (  # more than a pipe holds
        "wakelog import --source b <(echo '- [ ] c'; echo; head -c 200000 /dev/zero | tr '\\0' x)",
        "1 created",
        0,
    ),
    "stdin": ("echo '- [ ] d' | wakelog import --source c /dev/stdin", "1 created", 0),
    "dash": ("echo '- [ ] e' | wakelog import --source d -", "1 created", 0),
    "named": ("mkfifo p; (sleep 1; echo '- [ ] f' > p) & wakelog import p", "1 created", 0),
    "nobody": ("mkfifo q; wakelog import q", "q: it is a pipe that nobody writes to", 2),
    "watched": (
        "mkfifo r; wakelog run --until-idle --watch r",
        "r cannot be watched: it is a pipe that nobody writes to",
        2,
    ),
}


def test_pipes_are_read_while_somebody_writes_and_refused_where_nobody_does(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    whole = f'wakelog() {{ {" ".join(command())} "$@"; }}; '
    started = {
        name: subprocess.Popen(
            ["bash", "-c", whole + script],
            cwd=home.parent,
            env=environ(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for name, (script, _, _) in SCRIPTS.items()
    }
    for name, process in started.items():
        told, _ = process.communicate(timeout=60)
        _, wanted, status = SCRIPTS[name]
        assert wanted in told, (name, told)
        assert process.returncode == status, name
    assert {task["title"] for task in read(home, "task", "list")} == set("abcdef")
