"""Runs the command line inside the test's process, and proves what it wrote."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner, Result

from adapters.cli.main import cli

NOW = "2027-01-01T09:00:00Z"
CACHE = TemporaryDirectory(prefix="wakelog-cache-")  # what is remembered by these tests alone
FIXED = {"WAKELOG_REPLICA": "r1", "WAKELOG_NOW": NOW, "XDG_CACHE_HOME": CACHE.name}


def run(
    args: list[str],
    home: Path | str,
    env: Mapping[str, str] | None = None,
    input: str | bytes | None = None,  # noqa: A002  named as CliRunner names it
    *,
    is_coloured: bool = False,  # as on a terminal
) -> Result:
    """One command on a home, at a fixed time and under a fixed replica name.

    Anything raised but an exit is a traceback for the user, so it fails the test here.
    """
    variables = {**FIXED, "WAKELOG_HOME": str(home), **(env or {})}
    result = CliRunner().invoke(cli, args, input=input, env=variables, color=is_coloured)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(args: list[str], home: Path | str, **more: Any) -> Any:
    """The JSON document that a command prints; it must end with status 0."""
    result = run(["--json", *args], home, **more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def waits(args: list[str], home: Path | str, **more: Any) -> Any:
    """The same of a command that wakes, where what it wakes waits: with status 3."""
    result = run(["--json", *args], home, **more)
    assert result.exit_code == 3, result.output
    return json.loads(result.stdout)


def done(args: list[str], home: Path | str, **more: Any) -> str:
    """What a command prints for a person; it must end with status 0."""
    result = run(args, home, **more)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(args: list[str], home: Path | str, **more: Any) -> str:
    """The one line that a refused command says; it must end with status 2."""
    result = run(args, home, **more)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def proved(home: Path) -> int:
    """Prove the home, both logs together and every view; how many rows the logs have."""
    count: int = told(["prove"], home)["rows"]
    return count
