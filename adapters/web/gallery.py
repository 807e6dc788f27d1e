"""Takes the pictures of the gallery: every page, light and dark, wide and narrow.

`make screenshots`; it needs playwright and a Chromium (`CHROMIUM` names another one).
"""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Literal

from adapters.documents.agents import all_agents
from adapters.web.guard import Guard
from adapters.web.server import beside, closed
from adapters.web.site import Site
from projections import inbox, wakes

FOLDER = Path(__file__).parent / "gallery"
FLAGS = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")
WIDTHS = {"wide": (1000, 640), "narrow": (375, 640)}
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
JOBS_SECONDS = 10


def main() -> None:
    """Make a demo home, serve it, and take the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        _make(Path(home))
        with served(Path(home)) as (site, address):
            _shoot(site, address, folder)


def _make(home: Path) -> None:
    from click.testing import CliRunner

    from adapters.cli.main import cli

    for args in (["demo", "--home", str(home)], ["--home", str(home), "confirm", "1", "--all"]):
        CliRunner().invoke(cli, args)


@contextmanager
def served(home: Path) -> Iterator[tuple[Site, str]]:
    """A home on a free port of this machine."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    port = listening.getsockname()[1]
    site = Site(home, os.environ)
    try:
        with beside(site, Guard("127.0.0.1", port), listening):
            yield site, f"http://127.0.0.1:{port}"
    finally:
        closed(site, listening, JOBS_SECONDS)


def pages(site: Site) -> dict[str, str]:
    """Every kind of page with something on it, by the name of its picture."""
    with site.lock:
        site.home.views.catch_up()
        sets = site.home.views.page(inbox.VIEW, shelf="open", newest_first=True, limit=1)
        newest = site.home.views.page(wakes.VIEW, newest_first=True, limit=1)
        agent = sets[0].agent_id if sets else all_agents(site.home)[0].id
        task = site.home.views.get(wakes.VIEW, newest[0].run_key) if newest else None
    task_id = sets[0].task_id if sets else (task.task_id if task else "")
    run = sets[0].run_key if sets else newest[0].run_key
    return {
        "inbox": "/inbox",
        "decided": "/inbox?show=decided",
        "tasks": "/tasks",
        "task": f"/tasks/{task_id}",
        "agents": "/agents",
        "agent": f"/agents/{agent}",
        "wakes": "/wakes",
        "wake": f"/wakes/{run}",
        "templates": "/templates",
        "health": "/health",
    }


def _shoot(site: Site, address: str, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=FLAGS)
        for (size, (width, height)), colours in product(WIDTHS.items(), COLOURS):
            page = browser.new_page(
                color_scheme=colours, viewport={"width": width, "height": height}
            )
            for name, path in pages(site).items():
                page.goto(address + path)
                page.screenshot(path=folder / f"{name}-{size}-{colours}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
