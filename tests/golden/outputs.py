"""Asks the kept homes, at a fixed time and in a fixed environment: what they say, cleaned.

What only a machine can know is put into one form by `CLEANED`; all else is kept as it is.
"""

import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple
from unittest.mock import patch

import click
from starlette.testclient import TestClient

from adapters.cli.main import cli
from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from tests.golden import asked
from tests.golden.homes import HOMES, READABLE

ENVIRONMENT = {
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "USER": "kim",
}
KEPT_VARIABLES = ("PATH", "TMPDIR")
PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
JOBS_SECONDS = 60
WAKES_MAX = 5
CLEANED = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\bin \d+(?:\.\d+)? s\b", "in T s"),
        (r'"seconds": [\d.e-]+', '"seconds": T'),
        (r"proofs/\w+\.json", "proofs/X.json"),  # named by where the home is
        (r"[\d,]+ bytes", "N bytes"),  # of files of SQLite
        (r'(data-tail=")[0-9a-f]{8}(-\d+-\d+)-\d+', r"\1X\2-N"),  # a server's name, and its news
        (r'(name="(?:csrf|nonce|key)" value=")[^"]+', r"\1X"),  # and so does each form
    )
)


class Output(NamedTuple):
    """What was asked, and what came of it. `page`: the kind of the page, if its text is kept."""

    asked: str
    text: str
    page: str = ""


class Found(NamedTuple):
    """What the words in braces stand for: all values of a word, by the word."""

    words: dict[str, list[str]]

    def filled(self, line: str) -> Iterator[str]:
        """The line, once for each value of its word; none if the home has nothing of the kind."""
        names = [name for _, name, _, _ in Formatter().parse(line) if name]
        lists = [self.words.get(name, []) for name in names]
        for nth in range(max(map(len, lists), default=1)):
            if all(lists):
                values = [each[min(nth, len(each) - 1)] for each in lists]
                yield line.format(**dict(zip(names, values, strict=True)))


class Asker:
    """One home, put into a folder, and what it is asked.

    Args:
        name: Which of `HOMES`.
        folder: An empty one.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.kept = HOMES[name]
        self.folder = folder
        self.home = self.kept.put(folder)
        self.is_readable = name == READABLE
        self.is_pair = name == "pair"
        self.is_counted = name in {READABLE, "demo-data"}  # which takes half a second for each

    def commands(self) -> Iterator[Output]:
        """What every reading command says, as text and as JSON."""
        found = self._found()
        lines = [asked.ALL, asked.OF_TASK, asked.OF_WAKE]
        if self.is_readable:
            lines += [asked.MORE, asked.OF_TASK_MORE]
        if self.is_pair:
            lines.append(asked.OF_PAIR)
        if self.is_counted:
            lines.append("metrics")
        for line in _lines(*lines):
            found = self._found() if "{fork}" in line else found  # it was made on the way
            for filled in found.filled(line):
                yield self._output(filled)
                yield self._output(f"--json {filled}")

    def others(self) -> Iterator[Output]:
        """What is said to bad input, and the schema of every JSON document."""
        for one in self.told("schema"):
            yield self._output(f"schema {one['name']}")
        found = self._found()
        for nth, line in enumerate(_lines(asked.REFUSED)):
            for filled in found.filled(line):
                yield self._output(filled)
                if nth % 4 == 0:
                    yield self._output(f"--json {filled}")

    def pages(self) -> Iterator[Output]:
        """Every page, as HTML and as JSON, once what is counted and proved beside it is there."""
        if self.is_readable:
            (line,) = (one for one in _lines(asked.MORE) if one.startswith("fork "))
            for filled in self._found().filled(line):
                self.run(filled)
        found = self._found()
        site = Site(self.home, dict(os.environ))
        try:
            if self.is_readable:
                site.figures.ask(site.ends())
                site.figures.wait(JOBS_SECONDS)
                site.jobs.prove()
                site.jobs.wait(JOBS_SECONDS)
            app = make_app(site, Guard("127.0.0.1", PORT))
            with TestClient(app, base_url=ORIGIN) as client:  # one loop for all
                for kind, address in self._addresses():
                    yield from self._each_page(client, kind, found.filled(address))
        finally:
            site.jobs.wait(JOBS_SECONDS)
            site.close()

    def _each_page(self, client: TestClient, kind: str, paths: Iterable[str]) -> Iterator[Output]:
        for nth, path in enumerate(paths):
            yield self._page(client, path, "" if nth else kind)
            bare, _, query = path.partition("?")
            yield self._page(client, f"{bare}.json{'?' if query else ''}{query}")

    def _addresses(self) -> Iterator[tuple[str, str]]:
        """Kinds and addresses; without a kind, its text is not kept."""
        if self.is_readable:
            yield from asked.PAGES.items()
            yield from (("", one) for one in _lines(asked.PAGES_MORE))
        else:
            yield from (("", asked.PAGES[one]) for one in asked.PAGES_FEW)

    def run(self, line: str) -> tuple[int, str, str]:
        """A command: its exit status, and what it wrote to both streams."""
        told, noted = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe")
        status: object = 0
        with (
            redirect_stdout(told),
            redirect_stderr(noted),
            patch.object(sys, "stdin", io.StringIO()),
        ):
            try:
                cli.main(args=["--home", str(self.home), *shlex.split(line)], prog_name="wakelog")
            except SystemExit as end:
                status = end.code
        said, beside = (one.buffer.getvalue().decode("utf-8", "replace") for one in (told, noted))
        return status if isinstance(status, int) else 0, said, beside

    def told(self, line: str) -> Any:
        """The JSON document that a command prints."""
        return json.loads(self.run(f"--json {line}")[1] or "[]")

    def _output(self, line: str) -> Output:
        status, said, beside = self.run(line)
        text = said if said.endswith("\n") or not said else f"{said}\n(no end of line)\n"
        text += "".join(f"stderr: {one}\n" for one in beside.splitlines())
        if status:
            text += f"status: {status}\n"
        return Output(f"$ wakelog {self._cleaned(line)}", self._cleaned(text))

    def _page(self, client: TestClient, path: str, kind: str = "") -> Output:
        got = client.get(path, headers={"accept": "text/html"})
        text = f"{got.status_code} {got.headers['content-type']}\n{got.text}\n"
        return Output(f"GET {path}", self._cleaned(text), kind)

    def _cleaned(self, text: str) -> str:
        text = text.replace(str(self.folder), "FOLDER")
        for pattern, new in CLEANED:
            text = pattern.sub(new, text)
        return text

    # -------------------------------------------------------------------- what there is to ask of

    def _found(self) -> Found:
        tasks, agents = self.told("task list --all"), self.told("agent list")
        wakes, templates = self.told("wakes --limit 500"), self.told("template list")
        titles = self.kept.tasks or tuple(one["title"] for one in tasks[:2])
        looked_at = [one["id"] for title in titles for one in tasks if one["title"] == title]
        of_task = {one["task_id"]: one["id"] for one in agents}
        words = {
            "home": [str(self.home)],
            "folder": [str(self.folder)],
            "task": looked_at,
            "agent": [of_task[one] for one in looked_at if one in of_task],
            "run": _one_of_each_kind(wakes),
            "titled": [shlex.quote(titles[0])],
            "fork": [one.parent.name for one in sorted(self.home.glob("forks/*/fork.json"))],
            "template": [one["id"] for one in templates if one.get("versions")][:1],
        }
        ran = [one["run_key"] for one in wakes if one["agent_id"] == words["agent"][0]]
        words |= {"newest": ran[:1], "before": ran[1:2], "templated": words["agent"][:1]}
        if self.is_readable:
            digests = self.told(f"memory {looked_at[-1]}")["digests"]
            words |= {
                "remembering": [of_task[looked_at[-1]]],
                "digest": [one["id"] for one in digests][:1],
            }
        return Found(words)


def helped() -> Iterator[Output]:
    """The help of every command and group by its own words."""
    yield from _helped(cli, ("wakelog",), None)


def _helped(
    command: click.Command, path: tuple[str, ...], above: click.Context | None
) -> Iterator[Output]:
    context = command.context_class(
        command, info_name=path[-1], parent=above, **command.context_settings
    )
    yield Output(f"$ {' '.join(path)} --help", f"{command.get_help(context)}\n")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            if not inner.hidden and path[1:] not in (("server",), ("dev",)):
                yield from _helped(inner, (*path, name), context)


@contextmanager
def fixed(folder: Path, now: str = "") -> Iterator[None]:
    """The environment in which all is asked: nothing of the person's, nor of the machine's."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    own = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "WAKELOG_NOW": now}
    with patch.dict(os.environ, {**kept, **ENVIRONMENT, **own}, clear=True):
        yield


def _one_of_each_kind(wakes: list[dict[str, Any]]) -> list[str]:
    """The newest wake of each reason and end, those with most calls first."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for one in wakes:
        kinds.setdefault((str(one["reason"]), str(one["outcome"])), one)
    ordered = sorted(kinds.values(), key=lambda one: -int(one["tool_calls"]))
    return [str(one["run_key"]) for one in ordered[:WAKES_MAX]]


def _lines(*texts: str) -> list[str]:
    return [line for text in texts for line in text.strip().splitlines()]
