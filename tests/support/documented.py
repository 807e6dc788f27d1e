"""The pages that people read: what they show is run here, and is what is said today.

A page is a walk from top to bottom in one fresh folder, which is the person's home directory, at a
fixed time. Of its fenced blocks

- one with a `title` is a file that is written;
- ``console`` is typed, and what stands below a command is what it says; `...` stands for lines that
  are left out, ``# exit 1`` behind a command for its status;
- ``python`` is run, and the ``text`` block after it is what it prints;
- ``bash`` is not run, as it needs a provider, a database or another machine; its commands and
  options, and those in running text, exist (`unknown`).

`python -m tests.support.documented PAGE ...` writes what is said today into pages, all without one.
"""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import click

from adapters.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))
RUN = ("console", "python")
BEGAN = datetime.fromisoformat("2026-11-20T14:45:00+00:00")
VARIABLES = {
    "COLUMNS": "120",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PS1": "",
    "PYTHONPATH": str(ROOT),
    "TERM": "dumb",
    "TZ": "Europe/Berlin",
    "WAKELOG_REPLICA": "r1",
    "WAKELOG_TIMEZONE": "Europe/Berlin",
}
FENCE = re.compile(
    r"^( *)```([a-z]+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE
)
COMMAND = re.compile(r"^\$ (.+?(?:\\\n.+?)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
STATUS = re.compile(r"  +# exit (\d)$")
SECONDS = re.compile(r"\b\d+\.\d+ s\b")
INLINE = re.compile(r"(?<!`)`(?:\$ )?wakelog ([^`]+)`")
END = "\x1e"
SECONDS_MAX = 240


class Block(NamedTuple):
    """A fenced block: where its text stands in the page, and what it is."""

    start: int
    end: int
    language: str
    title: str
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*one.span(4), one[2], one[3] or "", one[4]) for one in FENCE.finditer(page)]


def redone(page: str) -> str:
    """The page with what its commands and programs say today; the rest is as it was."""
    # a line is broken by the length of a folder's name, so that is always the same
    with tempfile.TemporaryDirectory(prefix="docs-", dir="/tmp") as folder, _Shell(folder) as shell:
        new, at, printed = "", 0, None
        for one in blocks(page):
            text = one.text
            if one.title:
                path = Path(folder) / one.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
            elif one.language == "console":
                text = COMMAND.sub(lambda typed: _typed(typed[1], typed[2], shell), text)
            elif one.language == "python":
                printed = shell.said(f"python -c {shlex.quote(text)}")[0]
            elif one.language == "text" and printed is not None:
                text, printed = _kept(text, printed), None
            new, at = new + page[at : one.start] + text, one.end
        return new + page[at:]


def _typed(command: str, said: str, shell: "_Shell") -> str:
    today, status = shell.said(command)
    bare = STATUS.sub("", command)
    command = f"{bare}   # exit {status}" if status else bare
    return f"$ {command}\n{_kept(said, today)}"


def _kept(old: str, new: str) -> str:
    """What stands there if it is what is said; else what is said, left out as much as before."""
    lines = (
        ".*" if one == "..." else re.escape(one) for one in SECONDS.sub("0 s", old).split("\n")
    )
    if re.fullmatch("\n".join(lines), SECONDS.sub("0 s", new), re.DOTALL):
        return old
    shown = old.splitlines()
    if shown[-1:] != ["..."]:
        return new
    return "".join(f"{one}\n" for one in [*new.splitlines()[: len(shown) - 1], "..."])


class _Shell:
    """A shell whose output is a terminal, and whose input is not: nothing is asked."""

    def __init__(self, folder: str) -> None:
        self._folder, self._typed = folder, 0
        self._terminal, slave = pty.openpty()
        plain = termios.tcgetattr(slave)
        plain[1] &= ~termios.OPOST  # lines end as they are written
        termios.tcsetattr(slave, termios.TCSANOW, plain)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env={**VARIABLES, "HOME": folder, "PATH": path},
            stdin=subprocess.PIPE,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)

    def __enter__(self) -> "_Shell":
        return self

    def __exit__(self, *_: object) -> None:
        self._bash.communicate(timeout=60)
        os.close(self._terminal)

    def said(self, command: str) -> tuple[str, int]:
        """What a command says, on both streams, and its status; a minute after the one before."""
        now = (BEGAN + timedelta(minutes=self._typed)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._typed += 1
        body = (
            f"{{ {command}\n}} </dev/null\n"
            if not command.startswith("export ")
            else f"{command}\n"
        )
        assert self._bash.stdin
        self._bash.stdin.write(
            f"export WAKELOG_NOW={now}\n{body}printf '{END}%s{END}' $?\n".encode()
        )
        self._bash.stdin.flush()
        found = b""
        while found.count(END.encode()) < 2:  # before and behind the status
            if not select.select([self._terminal], [], [], SECONDS_MAX)[0]:
                raise TimeoutError(f"{command} waits for something")
            found += os.read(self._terminal, 65_536)
        said, status, _ = found.decode().split(END)
        lines = said.replace(self._folder, "~").split("\n")
        bare = [one.rpartition("\r")[2].rstrip() for one in lines]  # a bar draws over itself
        return "\n".join(one for one in bare if "[###" not in one), int(status)


# -------------------------------------------------------------------------------- what is not run


def unknown(page: str) -> list[str]:
    """The commands of a page that the program has not, and options that they have not."""
    found = [*_commands(page)]
    return [told for one in found if (told := _wrong(one))]


def _commands(page: str) -> Iterator[str]:
    for one in blocks(page):
        if one.language in {"bash", "console"}:
            for typed in COMMAND.finditer(one.text):
                yield from re.findall(r"\bwakelog ((?:[^|;&#\n\\]|\\\n)+)", typed[1])
    bare = FENCE.sub("", page)
    yield from (one[1] for one in INLINE.finditer(bare))


def _wrong(line: str) -> str:
    """What is wrong with a command line; empty: nothing."""
    try:
        words = shlex.split(line.replace("\\\n", " "))
    except ValueError:
        return f"wakelog {line}: cannot be split into words"
    command: click.Command = cli
    context = click.Context(cli, info_name="wakelog")
    while words and isinstance(command, click.Group):
        if command.name == "day" and words[0] not in command.list_commands(context):
            words = ["show", *words]  # as it does itself
        if (word := words.pop(0)).startswith("-"):
            named = _option(command, word)
            if not named:
                return f"wakelog {line}: no option {word}"
            if not named.is_flag and "=" not in word and words:
                words.pop(0)
            continue
        inner = command.get_command(context, word)
        if inner is None:
            is_words = command is not cli and getattr(command, "invoke_without_command", False)
            return (
                ""
                if is_words or word.isupper() or word == "..."
                else f"wakelog {line}: no command {word!r}"
            )
        command, context = inner, click.Context(inner, parent=context, info_name=word)
    options = [one for one in words if re.match(r"--[a-z]", one)]
    return next(
        (f"wakelog {line}: no option {one}" for one in options if not _option(command, one)), ""
    )


def _option(command: click.Command, word: str) -> click.Option | None:
    name = word.partition("=")[0]
    options = (one for one in command.params if isinstance(one, click.Option))
    of_help = click.Option(["--help", "-h"], is_flag=True)
    found = (one for one in (*options, of_help) if name in (*one.opts, *one.secondary_opts))
    return next(found, None)


def main(names: list[str]) -> None:
    """Write what is said today into pages."""
    for page in [Path(one).resolve() for one in names] or PAGES:
        text = page.read_text("utf-8")
        if any(one.language in RUN for one in blocks(text)):
            page.write_text(redone(text), "utf-8")
        for wrong in unknown(text):
            sys.stderr.write(f"{page.name}: {wrong}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
