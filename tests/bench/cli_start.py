"""How long the command line takes to start, beside Python itself.

    .venv/bin/python tests/bench/cli_start.py [--rounds 12]

Each start is a process of its own; the commands take turns.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import Piece, in_turns, machine, table

WAKELOG = "import sys; sys.argv[0] = 'wakelog'; from adapters.cli.main import main; main()"


def started(arguments: list[str], folder: str) -> None:
    # as the installed script does it, without what a shell adds
    subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, check=True)


def starts(arguments: list[str], folder: str, rounds: int) -> Iterator[Piece]:
    return iter([partial(started, arguments, folder)] * rounds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        home = ["--home", f"{folder}/home"]
        commands = {
            "python -c pass": ["-c", "pass"],
            "python -c 'import click'": ["-c", "import click"],
            "wakelog --help": ["-c", WAKELOG, "--help"],
            "wakelog task list": ["-c", WAKELOG, *home, "task", "list"],
        }
        started(["-c", WAKELOG, *home, "task", "add", "Fix the sink"], folder)
        for arguments in commands.values():  # what Python compiles and caches, it does once
            started(arguments, folder)
        seconds = in_turns(*(starts(one, folder, rounds) for one in commands.values()))
    bare, click = seconds[:2]
    print(machine())
    table(
        ("start", "milliseconds", "of bare Python", "of import click"),
        [
            (name, f"{one * 1e3:.0f}", f"{one / bare:.1f}", f"{one / click:.1f}")
            for name, one in zip(commands, seconds, strict=True)
        ],
    )


if __name__ == "__main__":
    main()
