"""How long each page takes to its first byte, and what it weighs, on a large home.

    python tests/bench/web_pages.py [TASKS] [WAKES]

The home is made of demo tasks and wakes by the offline model, then its views are filled up with
copies, so that the pages meet as many documents as a home of that size has.
"""

import os
import platform
import re
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from click.testing import CliRunner
from starlette.testclient import TestClient

from adapters.cli.main import cli
from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from projections import templates, wakes

TASKS, WAKES = 10_000, 100_000
TRIES = 3
SAYS = ("--general", "Be calm.", "--report", "Briefly.")
ADDRESS = "http://127.0.0.1:8765"


def copied(path: Path, name: str, number: int) -> None:
    """Fill a view up with copies under keys of their own, older than the real ones."""
    connection = sqlite3.connect(path / "views.db")
    rows = connection.execute(
        "SELECT key, shelf, mark, due, tally, turn, document FROM documents WHERE view = ?", (name,)
    ).fetchall()
    made = []
    for nth in range(number - len(rows)):
        key, shelf, mark, *counted, data = rows[nth % len(rows)]
        document = msgspec.json.decode(data)
        place = f"000000000000 r0 {nth:09d}"
        document["place"] = place
        other = f"{key[:24]}{nth:08d}"
        if name == "inbox":
            shelf = other  # of a task of its own
        if name == "wakes":
            document["run_key"] = other  # a set is of one wake
        if name in ("tasks", "agents"):
            inner = document["task" if name == "tasks" else "agent"]
            inner["id"] = other
            if name == "agents":
                shelf = inner["task"] = f"{inner['task'][:24]}{nth:08d}"
        made.append((name, other, shelf, place, mark, *counted, msgspec.json.encode(document)))
    connection.executemany(
        "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", made
    )
    connection.commit()
    connection.close()


def pages(site: Site) -> list[str]:
    """One address of each kind."""
    views = site.home.views
    wake = views.page(wakes.VIEW, newest_first=True, limit=1)[0]
    template = views.page(templates.VIEW, limit=1)[0].template.id
    return [
        "/first",
        "/inbox",
        "/inbox?q=due&by=category",
        "/tasks",
        "/tasks?q=nothing%20is%20called%20so",
        "/search?q=paint",
        f"/tasks/{wake.task_id}",
        f"/tasks/{wake.task_id}/why/status",
        f"/tasks/{wake.task_id}/history",
        "/agents",
        f"/agents/{wake.agent_id}",
        f"/agents/{wake.agent_id}/life",
        f"/agents/{wake.agent_id}/reports",
        "/wakes",
        "/wakes?outcome=failed",
        "/wakes?to=2026-01-01",
        "/wakes?q=nothing%20is%20called%20so",
        "/wakes?sort=longest",
        f"/wakes/{wake.run_key}",
        f"/wakes/{wake.run_key}?turn=1&find=the",
        f"/wakes/{wake.run_key}?turn=end",
        *(f"/wakes/{wake.run_key}/{one}" for one in ("at", "diff", "proof", "what-if")),
        "/forks",
        "/templates",
        f"/templates/{template}",
        f"/templates/{template}/diff",
        f"/templates/{template}/preview?agent={wake.agent_id}",
        "/catalog",
        "/lessons",
        "/policy",
        "/proof",
        "/health",
        "/static/page.css",
        "/static/page.js",
        "/static/htmx.min.js",
    ]


def measured(client: TestClient, path: str) -> tuple[float, float, int]:
    """The best time of a page and of the processor in milliseconds, and its bytes; 0 of none."""
    if client.get(path).status_code != 200:
        return 0, 0, 0
    times, spent = [], []
    for _ in range(TRIES):
        begun, before = time.perf_counter(), time.process_time()
        answer = client.get(path)
        times.append(time.perf_counter() - begun)
        spent.append(time.process_time() - before)
    return min(times) * 1000, min(spent) * 1000, len(answer.content)


def main() -> None:
    number = [int(one) for one in sys.argv[1:]] or [TASKS, WAKES]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        CliRunner().invoke(cli, ["demo", "--home", folder])
        CliRunner().invoke(cli, ["--home", folder, "template", "create", "Calm", *SAYS])
        copied(home, "tasks", number[0])
        copied(home, "agents", number[0])
        copied(home, "wakes", number[-1])
        copied(home, "inbox", number[0] // 10)
        site = Site(home, os.environ)
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print(f"{number[0]:,} tasks and agents, {number[-1]:,} wakes, {number[0] // 10:,} sets")
        print(f"{'page':34} {'first byte':>12} {'processor':>12} {'weight':>12}")
        with TestClient(make_app(site, Guard("127.0.0.1", 8765)), base_url=ADDRESS) as client:
            for path in pages(site):
                took, spent, size = measured(client, path)
                shown = re.sub(r"[a-z0-9]{20,}", "ID", path)[:34]
                print(f"{shown:34} {took:9.1f} ms {spent:9.1f} ms {size / 1024:9.1f} KB")
        site.close()


if __name__ == "__main__":
    main()
