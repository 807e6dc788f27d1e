"""Takes the pictures of the gallery: every page, light and dark, wide and narrow.

`make screenshots`; it needs playwright and a Chromium (`CHROMIUM` names another one).
"""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Literal

from adapters.documents.agents import all_agents
from adapters.home.clock import SystemClock
from adapters.web.guard import Guard
from adapters.web.server import beside, closed
from adapters.web.site import Site
from domain.changes.change_set import set_id
from domain.changes.needs import follow_up_id
from domain.timestamps import later
from projections import agents, templates, wakes
from tests.support.cli import done, told
from tests.support.remembering import remembering
from tests.support.waking import reply, tape

FOLDER = Path(__file__).parents[2] / "tests/gallery"
FLAGS = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")
WIDTHS = {"wide": (1000, 640), "narrow": (375, 640)}
HOUR = 3600
TAP, PASSPORT, TALK, MACHINE = (
    "Fix the dripping kitchen tap",
    "Renew the passport",
    "Prepare the talk on offline sync for the team day",
    "Set up the new build machine",
)
DEEDS: dict[int, tuple[tuple[str, ...], ...]] = {  # by how many hours ago
    150: (
        ("demo",),
        *(("template", "assign", one, "laura") for one in (TAP, PASSPORT, TALK)),
    ),
    126: (
        ("confirm", "1", "--all"),
        ("reject", "2.1", "--reason", "it drips for weeks, no hurry"),
        ("defer", "4.2", "--reason", "after the holidays"),
        ("task", "note", TAP, "Brandt & Sons sent the quote. Takes about 90 minutes."),
        ("wake",),
    ),
    78: (
        ("template", "version", "laura", "--report", "Two sentences: where it stands, what next."),
        ("confirm", "11", "--all"),
        ("confirm", "2", "--all"),
        ("task", "note", PASSPORT, "Need to book an appointment at the office."),
        ("task", "note", TALK, "Done: ask Tomasz for the adapter for the projector"),
        ("wake",),
    ),
    30: (
        ("agent", "timer", TAP, "set", "every weekday 07:00", "--zone", "Europe/Berlin"),
        ("policy", "allow", "gemini"),
        ("policy", "models", "--every", "rules", "gemini:*"),
        ("agent", "watch", TAP, "--task", PASSPORT),
        ("agent", "ask", TAP, "What is left to do?"),
        ("agent", "pause", MACHINE),
        ("task", "check", TAP, "1"),
        ("wake",),
    ),
    2: (("task", "note", TAP, "The landlord wants it done by 2027-02-12."), ("wake",)),
    0: (("task", "note", TALK, "Need to call the venue."), ("template", "assign", MACHINE, "tom")),
}
FENCE = "Mend the garden fence"
FENCE_ITEMS = ("Buy posts", "Set the posts", "Oil the boards", "Paint the gate")
FENCE_NOTE = (
    "The posts stand, worked on them from 9 to 11. The rest in spring: oil the boards, paint the "
    "gate."
)
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
JOBS_SECONDS = 10
NOTING_DAYS = 9


def main() -> None:
    """Make a demo home, serve it, and take the pictures; then a follow-up, and digests."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        _make(Path(home))
        with served(Path(home)) as (site, address):
            _shoot(address, pages(site), folder)
    with tempfile.TemporaryDirectory() as home:
        _propose(Path(home), later(SystemClock().now(), seconds=-HOUR))
        with served(Path(home)) as (_, address):
            _shoot(address, {"followup": "/inbox"}, folder)
    with tempfile.TemporaryDirectory() as home:
        now = SystemClock().now()
        times = [later(now, seconds=-days * 24 * HOUR) for days in range(NOTING_DAYS, 0, -1)]
        agent = remembering(Path(home), TAP, times)
        with served(Path(home)) as (_, address):
            _shoot(address, {"memory": f"/agents/{agent}#memory"}, folder)


def _make(home: Path) -> None:
    """The demo, a few days on: a template with two versions, verdicts, timers, a paused agent."""
    from click.testing import CliRunner

    from adapters.cli.main import cli

    runner, now = CliRunner(), SystemClock().now()
    for ago, deeds in DEEDS.items():
        at = later(now, seconds=-ago * HOUR)
        for args in deeds:
            done = runner.invoke(cli, ["--home", str(home), *args], env={"WAKELOG_NOW": at})
            assert done.exit_code == 0, (args, done.output)


def _propose(home: Path, at: str) -> None:
    """A wake that proposes a follow-up, what goes with it, and the time that was spent."""
    env = {"WAKELOG_NOW": at, "WAKELOG_REPLICA": ""}
    items = [part for one in FENCE_ITEMS for part in ("--item", one)]
    done(["task", "add", FENCE, *items], home, env=env)
    done(["task", "note", FENCE, FENCE_NOTE], home, env=env)
    done(["agent", "create", FENCE], home, env=env)
    ids = {one["title"]: one["id"] for one in told(["task", "show", FENCE], home, env=env)["items"]}
    (queued,) = told(["wakes"], home, env=env)
    rest = {
        "title": "Oil the fence and paint its gate",
        "dueDate": f"{int(at[:4]) + 1}-04-15",
        "carryOver": [{"id": ids["Oil the boards"]}],
        "because": FENCE_NOTE[FENCE_NOTE.index("The rest") :],
    }
    target, day = follow_up_id(set_id(queued["run_key"]), 1), later(at, seconds=-24 * HOUR)[:10]
    spent = {"startedAt": f"{day}T09:00", "endedAt": f"{day}T11:00", "summary": "Set the posts"}
    said = {
        "oneLiner": "The posts stand; oil and paint are for spring",
        "tldr": "The posts stand. Oil and paint wait for spring; I propose a task for them.",
        "content": "**Done**: the posts stand.\n\n**Left**: oil the boards, paint the gate.",
    }
    calls = (
        ("create_follow_up_task", rest),
        (
            "migrate_checklist_items",
            {"items": [{"id": ids["Paint the gate"]}], "targetTaskId": target},
        ),
        ("log_time", {**spent, "because": "worked on them from 9 to 11"}),
        ("update_report", said),
    )
    model = tape(home / "fence.jsonl", reply(*calls), reply(text="The rest is for spring."))
    done(["--model", model, "wake"], home, env=env)


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
        found = [one for one in site.home.views.page(agents.VIEW) if one.name == TAP]
        agent = found[0] if found else all_agents(site.home)[0]
        ran = site.home.views.page(wakes.VIEW, shelf=agent.id, newest_first=True)
        newest, run = ran[0].run_key, max(ran, key=lambda one: one.tool_calls).run_key
        known = [one.template for one in site.home.views.all(templates.VIEW)]
        template = max(known, key=lambda one: len(one.versions)).id if known else ""
        site.figures.ask(site.ends())
    site.figures.wait(JOBS_SECONDS)
    return {
        "inbox": "/inbox",
        "decided": "/inbox?show=decided",
        "tasks": "/tasks",
        "task": f"/tasks/{agent.task_id}",
        "agents": "/agents",
        "agent": f"/agents/{agent.id}",
        "wakes": "/wakes",
        "wake": f"/wakes/{run}",
        "before": f"/wakes/{run}/at",
        "differs": f"/wakes/{newest}/diff",
        "templates": "/templates",
        "template": f"/templates/{template}",
        "lessons": "/lessons",
        "policy": "/policy",
        "health": "/health",
    }


def _shoot(address: str, shown: Mapping[str, str], folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=FLAGS)
        for (size, (width, height)), colours in product(WIDTHS.items(), COLOURS):
            page = browser.new_page(
                color_scheme=colours, viewport={"width": width, "height": height}
            )
            for name, path in shown.items():
                page.goto(address + path)
                page.screenshot(path=folder / f"{name}-{size}-{colours}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
