"""What the tests of verdicts ask: which proposal is which, and what came of them."""

import json
from pathlib import Path
from typing import Any

from tests.support.cli import run
from tests.support.waking import inbox


def ref_of(home: Path, tool: str) -> str:
    (found,) = [item["ref"] for item in inbox(home, "--all") if item["tool"] == tool]
    return str(found)


def results(arguments: list[str], home: Path, status: int = 0) -> list[Any]:
    result = run(["--json", *arguments], home)
    assert result.exit_code == status, result.output
    found: list[Any] = json.loads(result.stdout)["results"]
    return found
