"""What browser tests share: the command line beside a running browser, and where to look."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support import cli

R = TypeVar("R")
CHROMIUM = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or ""
FLAGS = (
    "--no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --no-first-run "
    "--disable-sync --disable-background-networking --disable-component-update"
).split()
ACTION_MS = 20_000  # a busy machine is no failure

in_browser = [
    pytest.mark.e2e,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium: `make debian`, or set CHROMIUM"),
]


def aside(work: Callable[..., R], *given: Any) -> R:
    """Do something in a thread: playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *given).result()


def done(args: list[str], home: Path) -> str:
    """What a command prints."""
    return aside(cli.done, args, home)


def told(args: list[str], home: Path) -> Any:
    """The document that a command prints."""
    return aside(cli.told, args, home)


def statuses(home: Path) -> dict[str, str]:
    """All proposals ever made: by reference, what became of them."""
    sets = told(["inbox", "--all"], home)
    return {item["ref"]: item["status"] for one in sets for item in one["items"]}


def every_page(home: Path) -> list[str]:
    """An address of each kind, and of what each list's views show."""
    task = told(["task", "list"], home)[0]["id"]
    agent = told(["agent", "list"], home)[0]["id"]
    run = told(["wakes"], home)[0]["run_key"]
    template = told(["template", "list"], home)[0]["id"]
    return [
        "/",
        "/inbox?show=deferred",
        "/inbox?show=decided",
        "/tasks",
        f"/tasks/{task}",
        "/agents",
        f"/agents/{agent}",
        "/wakes",
        f"/wakes/{run}",
        "/templates",
        f"/templates/{template}",
        "/health",
    ]


def refusals() -> list[str]:
    """Addresses where nothing is."""
    return ["/nothing", *(f"/{kind}/nothing" for kind in ("tasks", "agents", "wakes", "templates"))]
