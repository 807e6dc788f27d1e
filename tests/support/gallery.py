"""Takes the pictures of the gallery: every page, light and dark, wide and narrow.

`make screenshots`; it needs playwright and a Chromium (`CHROMIUM` names another one).
"""

import hashlib
import json
import os
import re
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from adapters.home.clock import SystemClock
from adapters.usecases.import_sources import FileInput
from adapters.web.auth import Guard
from adapters.web.routes import PAGES
from adapters.web.server import beside, closed
from adapters.web.site import Site
from domain.changes.change_set import set_id
from domain.changes.dependencies import follow_up_id
from domain.log.timestamps import later
from projections import agents, templates, wakes
from tests.support import browsing
from tests.support.cli import done, told
from tests.support.remembering import remembering
from tests.support.waking import reply, tape

if TYPE_CHECKING:
    from PIL.PngImagePlugin import PngInfo
    from playwright.sync_api import Browser, ViewportSize

FOLDER = Path(__file__).parents[2] / "tests/gallery"
FRONT = Path(__file__).parents[2] / "docs/inbox.png"
FRONT_NOW = "2026-11-20T14:45:00Z"
FRONT_SIZE: "ViewportSize" = {"width": 1200, "height": 640}
FLAGS = (*browsing.FLAGS, "--hide-scrollbars")
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
    0: (
        ("task", "note", TALK, "Need to call the venue."),
        ("template", "assign", MACHINE, "tom"),
        ("day", "put", PASSPORT, "9-10"),
        ("day", "put", "--title", "Lunch", "12-13"),
        ("day", "pin", TALK),
    ),
}
FENCE = "Mend the garden fence"
FENCE_ITEMS = ("Buy posts", "Set the posts", "Oil the boards", "Paint the gate")
FENCE_NOTE = (
    "The posts stand, worked on them from 9 to 11. The rest in spring: oil the boards, paint the "
    "gate."
)
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLOURS_MAX = 64
JOBS_SECONDS = 30
FORGED = """UPDATE stored_events SET
state = CAST(replace(CAST(state AS TEXT), 'plumber', 'painter') AS BLOB)
WHERE topic = 'wake.model_answered.1'"""
FILE = b"""# Home
- [ ] Paint the door ~2h due:2027-02-12 #home
  - [x] Buy paint
- [ ] Call the chimney sweep
- [x] Return the ladder
"""
NOTING_DAYS = 9


def main() -> None:
    """Take README's picture, and unless that alone is wanted (`front`) those of all homes; refused
    where an address of the page has none."""
    front()
    if sys.argv[1:] == ["front"]:
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[str] = []
    for address, shown in homes():
        _shoot(address, shown, folder)
        taken += shown.values()
    if left := unseen(taken):
        sys.exit(f"no picture of {', '.join(left)}: add one to `pages`")


def front() -> None:
    """The inbox that `wakelog demo` leaves; in the picture stands what it was made of."""
    from PIL.PngImagePlugin import PngInfo

    with tempfile.TemporaryDirectory() as folder:
        home, env = Path(folder) / "home", {"WAKELOG_NOW": FRONT_NOW}
        data = PngInfo()
        data.add_text("data", front_data(home))
        with served(home, {**os.environ, **env}) as (_, address), _browser() as browser:
            page = browser.new_page(color_scheme="light", viewport=FRONT_SIZE)
            page.goto(f"{address}/inbox")
            _keep(page.screenshot(), FRONT, data)


def front_data(home: Path) -> str:
    """What README's picture shows: of the inbox, which the demo fills in a new home, the digest."""
    env = {"WAKELOG_NOW": FRONT_NOW}
    done(["demo"], home, env=env)
    shown = json.dumps(told(["inbox"], home, env=env), sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def unseen(paths: Iterable[str]) -> list[str]:
    """The addresses of pages that none of these paths is."""
    bare = {urlsplit(one).path for one in paths}
    return [route for route, _ in PAGES if not any(re.fullmatch(route, one) for one in bare)]


def homes() -> Iterator[tuple[str, dict[str, str]]]:
    """Each home while it is served: its address, and what to show of it, by name.

    A demo a few days on; the same with a log that somebody changed, proved; one with a follow-up;
    one whose agent has much to remember; and one in which nothing is.
    """
    with tempfile.TemporaryDirectory() as home:
        _make(Path(home))
        with served(Path(home)) as (site, address):
            yield address, pages(site)
        _forge(Path(home))
        with served(Path(home)) as (site, address):
            site.jobs.prove()
            site.jobs.wait(JOBS_SECONDS)
            assert site.jobs.proof.document
            run = site.jobs.proof.document.divergences[0].wake
            yield address, {"proof": f"/wakes/{run}/proof", "proof-all": "/proof"}
    with tempfile.TemporaryDirectory() as home:
        _propose(Path(home), later(SystemClock().now(), seconds=-HOUR))
        with served(Path(home)) as (_, address):
            yield address, {"followup": "/inbox"}
    with tempfile.TemporaryDirectory() as home:
        now = SystemClock().now()
        times = [later(now, seconds=-days * 24 * HOUR) for days in range(NOTING_DAYS, 0, -1)]
        agent = remembering(Path(home), TAP, times)
        kept = told(["memory", agent], Path(home))["digests"][0]["id"]
        with served(Path(home)) as (_, address):
            memory = {"memory": f"/agents/{agent}#memory"}
            yield address, {**memory, "digest": f"/agents/{agent}/memory/{kept}"}
    with tempfile.TemporaryDirectory() as folder:
        desk, task = differing_homes(Path(folder), SystemClock().now())
        with served(desk) as (_, address):
            yield address, {"machines": f"/tasks/{task}", "machines-tasks": "/tasks"}
    with tempfile.TemporaryDirectory() as home, served(Path(home)) as (_, address):
        yield address, {"empty": "/inbox"}


def _make(home: Path) -> None:
    """The demo, a few days on: a template with two versions, verdicts, timers, a paused agent."""
    from click.testing import CliRunner

    from adapters.cli.main import cli

    runner, now = CliRunner(), SystemClock().now()
    for ago, deeds in DEEDS.items():
        at = later(now, seconds=-ago * HOUR)
        for args in deeds:
            ran = runner.invoke(cli, ["--home", str(home), *args], env={"WAKELOG_NOW": at})
            assert ran.exit_code == 0, (args, ran.output)
    env = {"WAKELOG_NOW": now, "WAKELOG_REPLICA": ""}
    run = told(["wakes", TAP], home, env=env)[0]["run_key"]
    done(["fork", run, "--model", "rules", "--note", TAP, "The landlord pays."], home, env=env)


def _forge(home: Path) -> None:
    """Change a word of what a model answered."""
    with closing(sqlite3.connect(home / "agent.db")) as database, database:
        database.execute(FORGED)


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


def differing_homes(folder: Path, now: str) -> tuple[Path, str]:
    """A home whose other machine said something else of a task, timed another one, and links the
    other way round: the home, and the task."""
    shelf, homes = folder / "folder", {one: folder / one for one in ("desk", "laptop")}
    shelf.mkdir()
    envs = {one: {"WAKELOG_NOW": now, "WAKELOG_REPLICA": one} for one in homes}

    def says(one: str, *words: str) -> None:
        done([*words], homes[one], env=envs[one])

    for title in TAP, FENCE:
        says("desk", "task", "add", title)
    for one in homes:
        says(one, "sync", str(shelf))
        says(one, "replicas", "name", one)
    (tap, fence) = (one["id"] for one in told(["task", "list"], homes["desk"], env=envs["desk"]))
    for one, due, here, there in (
        ("desk", "2027-02-12", tap, fence),
        ("laptop", "2027-03-01", fence, tap),
    ):
        says(one, "task", "set", tap, "--description", f"Brandt & Sons come; the {one} knows when.")
        says(one, "task", "set", tap, "--due", due)
        says(one, "task", "timer", "start", here)
        says(one, "task", "link", here, "blocks", there)
    for one in (*homes, "desk"):
        says(one, "sync")
    return homes["desk"], tap


@contextmanager
def served(home: Path, environ: Mapping[str, str] = os.environ) -> Iterator[tuple[Site, str]]:
    """A home on a free port of this machine."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    port = listening.getsockname()[1]
    site = Site(home, environ)
    try:
        with beside(site, Guard("127.0.0.1", port), listening):
            yield site, f"http://127.0.0.1:{port}"
    finally:
        closed(site, listening, JOBS_SECONDS)


def pages(site: Site) -> dict[str, str]:
    """Every kind of page with something on it, by the name of its picture."""
    with site.lock:
        site.home.views.catch_up()
        agent = next(one for one in site.home.views.page(agents.VIEW) if one.name == TAP)
        ran = site.home.views.page(wakes.VIEW, shelf=agent.id, newest_first=True)
        newest, run = ran[0].run_key, max(ran, key=lambda one: one.tool_calls).run_key
        known = [one.template for one in site.home.views.all(templates.VIEW)]
        template = max(known, key=lambda one: len(one.versions)).id
        site.figures.ask(site.ends())
        site.brought["file"] = FileInput("TODO.md", "TODO.md", "", False, FILE)
    site.figures.wait(JOBS_SECONDS)
    fork = next((site.home.path / "forks").glob("*/fork.json")).parent.name
    task, one, by_template = f"/tasks/{agent.task_id}", f"/agents/{agent.id}", f"?agent={agent.id}"
    return {
        "inbox": "/inbox",
        "decided": "/inbox?show=decided",
        "day": "/day",
        "first": "/first",
        "first-file": "/first?file=file",
        "tasks": "/tasks",
        "search": "/search?q=quote",
        "task": task,
        "why": f"{task}/why/language",
        "history": f"{task}/history",
        "erase": f"{task}/erase",
        "agents": "/agents",
        "agent": one,
        "life": f"{one}/life?nth=6",
        "life-diff": f"{one}/life?from=60&to=105",
        "reports": f"{one}/reports",
        "wakes": "/wakes",
        "wake": f"/wakes/{run}",
        "turn": f"/wakes/{run}?turn=1#turn",
        "call": f"/wakes/{run}?turn=1.1#turn",
        "before": f"/wakes/{run}/at",
        "differs": f"/wakes/{newest}/diff",
        "what-if": f"/wakes/{run}/what-if",
        "forked": f"/wakes/{newest}/forked",
        "forks": "/forks",
        "fork": f"/forks/{fork}",
        "templates": "/templates",
        "template": f"/templates/{template}",
        "template-diff": f"/templates/{template}/diff",
        "preview": f"/templates/{template}/preview{by_template}",
        "catalog": "/catalog",
        "lessons": "/lessons",
        "policy": "/policy",
        "health": "/health",
        "nothing": "/tasks/nothing",
    }


@contextmanager
def _browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=browsing.CHROMIUM or None, args=FLAGS)
        yield browser
        browser.close()


def _shoot(address: str, shown: Mapping[str, str], folder: Path) -> None:
    with _browser() as browser:
        for (size, (width, height)), colours in product(WIDTHS.items(), COLOURS):
            page = browser.new_page(
                color_scheme=colours, viewport={"width": width, "height": height}
            )
            for name, path in shown.items():
                page.goto(address + path)
                _keep(page.screenshot(), folder / f"{name}-{size}-{colours}.png")
            page.close()


def _keep(picture: bytes, path: Path, data: "PngInfo | None" = None) -> None:
    """Write a picture with few colours: a third of its size, and nobody sees it."""
    from PIL import Image

    few = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS_MAX)
    few.save(path, optimize=True, pnginfo=data)


if __name__ == "__main__":
    main()
