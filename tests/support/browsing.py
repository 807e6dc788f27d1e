"""What browser tests share: the command line beside a running browser, and where to look."""

import asyncio
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn

from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from tests.support import cli

R = TypeVar("R")
_PROGRAMS = "chromium-headless-shell", "chromium"  # the first takes half of the processor's time
CHROMIUM = os.environ.get("CHROMIUM", "") or next(filter(None, map(shutil.which, _PROGRAMS)), "")
FLAGS = (
    "--no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --no-first-run "
    "--disable-sync --disable-background-networking --disable-component-update"
).split()
CARDS: Any = {"width": 960, "height": 720}  # of a window: narrower than two panes
TABS_MAX = 80
FOCUSED = """(() => {
    const one = document.activeElement;
    return (one.labels?.[0]?.innerText || one.innerText || '').trim().replaceAll('\\n', ' ');
})()"""  # what it is called: the words of its label, or its own
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOK = """async (tags) => {
    const dear = ['color-contrast', 'link-in-text-block', 'target-size'];
    const rules = Object.fromEntries(
        tags.includes('') ? dear.map((one) => [one, {enabled: false}]) : []);
    const runOnly = tags.filter((one) => one);
    const found = await axe.run({runOnly, rules, resultTypes: ['violations']});
    return {violations: found.violations, passes: found.passes.length};
}"""  # what passes is counted, not described: twice as fast
TWO_FRAMES = "new Promise(one => requestAnimationFrame(() => requestAnimationFrame(one)))"
"""After a resize: the page makes reachable by keys what scrolls now, a moment later."""
NONE_WAITS = "!document.querySelector('[aria-busy]')"
TOO_WIDE = "document.scrollingElement.scrollWidth - window.innerWidth"
WHO_IS_WIDE = """[...document.querySelectorAll('#page *')].filter(
    (one) => one.getBoundingClientRect().right > window.innerWidth + 1
        && !one.closest('pre, .wide, .hide, table')
).slice(0, 3).map((one) => one.outerHTML.slice(0, 120))"""
SENT = "window.sent = 0; addEventListener('htmx:before:request', () => { window.sent += 1; })"
ACTION_MS = 20_000  # a busy machine is no failure
START_SECONDS = 30

in_browser = [
    pytest.mark.e2e,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium: `make debian`, or set CHROMIUM"),
]


def aside(work: Callable[..., R], *given: Any) -> R:
    """Do something in a thread: playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *given).result()


@contextmanager
def served(
    home: Path, port: int = 0, token: str = "", others: int = 0, slow: float = 0
) -> Iterator[str]:
    """A real server of a home, in a thread; its address. `slow`: seconds that a form takes."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    port = listening.getsockname()[1]
    site = Site(home, cli.FIXED)
    app = make_app(site, Guard("127.0.0.1", port, token, others=others))

    async def slowed(scope: Any, receive: Any, send: Any) -> None:
        if scope.get("method") == "POST":
            await asyncio.sleep(slow)
        await app(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(slowed, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    for _ in range(START_SECONDS * 100):
        if server.started:
            break
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        site.live.close()
        server.should_exit = True
        thread.join()
        site.jobs.wait(60)
        site.close()
        listening.close()


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


def press(page: Any, name: str, key: str = "Enter") -> int:
    """Reach what is called so by Tab alone, and press it; how often Tab was pressed."""
    for tabs in range(1, TABS_MAX):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == name:
            page.keyboard.press(key)
            return tabs
    raise AssertionError(f"no way to {name!r} by keyboard")


def of_task(address: str, home: Path, title: str = "Paint the door") -> str:
    """The address of a task, on whose page its proposals are whole cards."""
    return f"{address}/tasks/{told(['task', 'show', title], home)['id']}"


def chosen(page: Any, ref: str) -> Any:
    """The pane of the inbox, with a proposal that is chosen by a click."""
    page.locator(f"#item-{ref.replace('.', '-')} .entry").click()
    return page.locator(f"#pane[data-item=item-{ref.replace('.', '-')}]")


def middle(found: Any) -> tuple[float, float]:
    """Where a click on something goes."""
    box = found.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def too_wide(page: Any, path: str) -> list[str]:
    wide = page.evaluate(TOO_WIDE)
    return [f"{path}: {wide} pixels too wide: {page.evaluate(WHO_IS_WIDE)}"] if wide > 0 else []


def unreadable(page: Any, path: str, rules: Sequence[str] = RULES) -> list[str]:
    """What axe, which is in the page, finds on it when no row of it waits for an answer: such a
    one is pale."""
    page.wait_for_function(NONE_WAITS)
    result = page.evaluate(LOOK, rules)
    assert result["passes"] > 10 or len(rules) < 3, "axe did not look"
    return [
        f"{path}: {one['id']}: {node['target']} {node['failureSummary'][:300]}"
        for one in result["violations"]
        for node in one["nodes"][:3]
    ]


def every_page(home: Path) -> list[str]:
    """An address of each kind, of what each list's views show, and of all templates and agents."""
    tasks, agents, templates = (told([one, "list"], home) for one in ("task", "agent", "template"))
    run = told(["wakes"], home)[0]["run_key"]
    task, agent = tasks[0]["id"], agents[0]["id"]
    return [
        "/",
        "/day",
        "/day/2026-12-31",
        "/first",
        f"/tasks/{task}/why/status",
        f"/tasks/{task}/erase",
        f"/tasks/{task}/history",
        f"/agents/{agent}/life",
        f"/wakes/{run}/what-if",
        "/forks",
        f"/wakes/{run}/forked",
        *(f"/forks/{one.parent.name}" for one in sorted(home.glob("forks/*/fork.json"))[:1]),
        "/inbox?show=deferred",
        "/inbox?show=decided",
        "/tasks",
        "/search?q=sink",
        *(f"/tasks/{one['id']}" for one in tasks[:2]),
        "/agents",
        *(f"/agents/{one['id']}" for one in agents),
        f"/agents/{agents[0]['id']}/reports",
        "/wakes?q=sink&from=2026-01-01&sort=longest",
        "/wakes",
        f"/wakes/{run}",
        *(f"/wakes/{run}?turn={one}" for one in ("start", "1.1", "end")),
        f"/wakes/{run}?turn=1&find=the",
        f"/wakes/{run}/proof",
        f"/wakes/{run}/at",
        f"/wakes/{run}/diff",
        "/templates",
        *(f"/templates/{one['id']}" for one in templates),
        *(f"/templates/{one['id']}/diff" for one in templates[:2]),
        *(f"/templates/{one['id']}/preview?agent={agents[0]['id']}" for one in templates[:1]),
        "/catalog",
        *_of_lessons(home),
        *_of_memory(home),
        "/policy",
        "/proof",
        "/health",
    ]


def _of_lessons(home: Path) -> list[str]:
    lines = told(["lessons"], home)
    numbers = [f"/lessons?scope={one['scope']}&tool={one['tool']}" for one in lines[:1]]
    return ["/lessons", *numbers]


def _of_memory(home: Path) -> list[str]:
    """Of each depth a digest."""
    pages: dict[int, str] = {}
    for agent in told(["agent", "list"], home):
        for one in told(["memory", agent["id"]], home)["digests"]:
            pages.setdefault(one["depth"], f"/agents/{agent['id']}/memory/{one['id']}")
    return list(pages.values())


def refusals() -> list[str]:
    """Addresses where nothing is."""
    return ["/nothing", *(f"/{kind}/nothing" for kind in ("tasks", "agents", "wakes", "templates"))]
