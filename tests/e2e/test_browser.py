"""The page in a real browser: by mouse, by keys, in two windows, live, and without JavaScript."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn

from adapters.web.app import make_app
from adapters.web.guard import Guard
from adapters.web.site import Site
from tests.support import cli
from tests.support.cli import FIXED, proved
from tests.support.pages import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is no failure

R = TypeVar("R")
CHROMIUM = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or ""
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
).split()
AXE = os.environ.get("AXE_CORE", "")
START_SECONDS = 10
BAD = ("error", "warning")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.flaky(reruns=2),  # on a busy machine a click may meet a page that is being renewed
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium; install it or set CHROMIUM"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for this module; its event loop must not outlive it in this process."""
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    opened = browser.new_context()
    opened.set_default_timeout(8_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: Any) -> Any:
    return context.new_page()


def aside(work: Callable[..., R], *given: Any) -> R:
    """Do something in a thread: playwright's event loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *given).result()


def done(args: list[str], home: Path) -> str:
    return aside(cli.done, args, home)


def told(args: list[str], home: Path) -> Any:
    return aside(cli.told, args, home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    aside(proposing, tmp_path, "Fix the sink", "Paint the door")
    return tmp_path


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    """A real server of the home, in a thread."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    site = Site(home, FIXED)
    config = uvicorn.Config(
        make_app(site, Guard("127.0.0.1", port)), log_level="error", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    for _ in range(START_SECONDS * 100):
        if server.started:
            break
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    site.live.close()
    server.should_exit = True
    thread.join()
    site.jobs.wait(10)
    site.close()
    listening.close()


@pytest.fixture
def complaints(page: Any) -> list[str]:
    """What the browser's console complains of; empty if all is well."""
    found: list[str] = []
    page.on(
        "console", lambda one: found.append(one.text) if one.type in ("error", "warning") else 0
    )
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def statuses(home: Path) -> dict[str, str]:
    """All proposals ever made: by reference, what became of them."""
    sets = told(["inbox", "--all"], home)
    return {item["ref"]: item["status"] for one in sets for item in one["items"]}


def every_page(home: Path) -> list[str]:
    """An address of each kind."""
    task = told(["task", "list"], home)[0]["id"]
    agent = told(["agent", "list"], home)[0]["id"]
    run = told(["wakes"], home)[0]["run_key"]
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
        "/health",
    ]


# ------------------------------------------------------------------------------------- reviewing


def test_a_set_is_reviewed_by_mouse(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    page.locator("#item-1-1").get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("Applied")
    page.locator("#item-1-2 summary", has_text="Reject").click()
    page.locator("#item-1-2").get_by_label("Why?").fill("Not this year")
    page.locator("#item-1-2").get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    expect(page.locator("#item-1-2")).to_have_count(0)
    page.locator("#item-2-2 summary", has_text="Edit").click()
    page.locator("#item-2-2").get_by_label("Minutes").fill("45")
    page.locator("#item-2-2").get_by_role("button", name="Confirm as edited").click()
    expect(page.locator("#told")).to_contain_text("Applied: Set estimate to 45 minutes")
    found = statuses(home)
    assert (found["1.1"], found["1.2"], found["2.2"]) == ("confirmed", "rejected", "confirmed")
    assert complaints == []
    proved(home)


def test_a_set_is_reviewed_by_keys(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("c")
    expect(page.locator("#told")).to_contain_text("Applied")
    second = page.evaluate("document.activeElement.id")
    assert second not in (first, "")
    page.keyboard.press("r")
    page.keyboard.type("cekj, that is no command here")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("Rejected")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("e")
    page.keyboard.press("Escape")
    found = statuses(home)
    assert found[first.removeprefix("item-").replace("-", ".")] == "confirmed"
    assert found[second.removeprefix("item-").replace("-", ".")] == "rejected"
    assert complaints == []


def test_an_undo_is_one_click_away(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    page.locator(".item", has_text="estimate").first.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("Done: Set the estimate back")
    assert {one["estimate_minutes"] for one in told(["task", "list"], home)} == {None}


def test_two_windows_decide_the_same_item_and_the_slower_is_told(
    page: Any, context: Any, address: str, home: Path
) -> None:
    page.route("**/events", lambda route: route.abort())  # nobody tells this window
    page.goto(address)
    other = context.new_page()
    other.goto(address)
    other.locator("#item-1-1").get_by_role("button", name="Confirm").click()
    expect(other.locator("#told")).to_contain_text("Applied")
    page.locator("#item-1-1 summary", has_text="Reject").click()
    page.locator("#item-1-1").get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Somebody else was faster")
    expect(page.locator("#item-1-1")).to_have_count(0)
    assert statuses(home)["1.1"] == "confirmed"


# ------------------------------------------------------------------------------------------ live


def test_a_decision_taken_elsewhere_appears_without_a_reload(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    page.evaluate("window.isSame = true")
    expect(page.locator("#item-1-1")).to_be_visible()
    page.wait_for_timeout(600)
    done(["confirm", "1.1"], home)
    expect(page.locator("#item-1-1")).to_have_count(0)
    assert page.evaluate("window.isSame") is True
    assert complaints == []


def test_a_new_wake_and_its_proposals_appear_without_a_reload(
    page: Any, address: str, home: Path
) -> None:
    page.goto(f"{address}/wakes")
    before = page.locator("tbody tr").count()
    page.wait_for_timeout(600)
    done(
        ["task", "note", "Paint the door", "Plan:\n- [ ] Buy the paint\n- [ ] Sand the door"], home
    )
    done(["wake", "Paint the door"], home)
    expect(page.locator("tbody tr")).not_to_have_count(before)
    page.goto(address)
    expect(page.locator(".item", has_text="Buy the paint")).to_be_visible()


def test_what_is_being_typed_is_not_taken_away(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    page.locator("#item-2-1 summary", has_text="Reject").click()
    page.locator("#item-2-1").get_by_label("Why?").fill("half a sen")
    done(["confirm", "1.1"], home)
    expect(page.locator("#news")).to_be_visible()
    assert page.locator("#item-2-1").get_by_label("Why?").input_value() == "half a sen"
    page.locator("#news button").click()
    expect(page.locator("#item-1-1")).to_have_count(0)


def test_an_agent_that_is_woken_shows_its_wake(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(f"{address}/agents/{told(['agent', 'list'], home)[0]['id']}")
    page.get_by_role("button", name="Wake now").click()
    expect(page.locator("#told")).to_contain_text("Woken")
    expect(page.locator(".talk").first).to_contain_text("manual", timeout=10_000)
    page.get_by_label("Ask it something").fill("What is left?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".talk").first).to_contain_text("What is left?", timeout=10_000)
    assert complaints == []


# ------------------------------------------------------------------------------- for everybody


def test_all_of_it_works_without_javascript(browser: Any, address: str, home: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.locator("#item-1-1").get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("Applied")
    page.locator("#item-1-2 summary", has_text="Reject").click()
    page.locator("#item-1-2").get_by_label("Why?").fill("No")
    page.locator("#item-1-2").get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    page.get_by_role("button", name="Undo").count()
    page.get_by_role("link", name="Tasks").click()
    page.get_by_role("link", name="Fix the sink").first.click()
    page.get_by_label("New item").fill("Buy a seal")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".checks")).to_contain_text("Buy a seal")
    context.close()
    assert (statuses(home)["1.1"], statuses(home)["1.2"]) == ("confirmed", "rejected")


def test_no_page_complains_or_asks_anybody_else(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    for path in every_page(home):
        page.goto(address + path)
        page.wait_for_timeout(150)
    assert complaints == []
    assert [one for one in asked if not one.startswith(address)] == []


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_every_page_can_be_read_by_everybody(
    browser: Any, address: str, home: Path, colours: Any, width: int
) -> None:
    if not AXE:
        pytest.skip("set AXE_CORE to axe.min.js of the npm package axe-core")
    context = browser.new_context(
        color_scheme=colours, viewport={"width": width, "height": 900}, bypass_csp=True
    )
    page = context.new_page()
    found: list[str] = []
    for path in every_page(home):
        page.goto(address + path)
        page.add_script_tag(path=AXE)
        result = page.evaluate("axe.run()")
        found += [
            f"{path.split('/')[1]}: {one['id']}: {node['target']} {node['failureSummary'][:200]}"
            for one in result["violations"]
            for node in one["nodes"][:3]
        ]
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        found += [f"{path}: {wide} pixels too wide"] if wide > 0 else []
    context.close()
    assert found == []


@pytest.mark.parametrize(
    "title",
    [
        "<script>window.hurt = 1</script>",
        "<img src=x onerror='window.hurt = 1'>",
        "'\"><svg onload=window.hurt=1>",
        "{{ 7 * 7 }} ${7*7} </title><script>window.hurt = 1</script>",
        "a" * 190,
        "\u202eright to left\u202c and \u2066back",
    ],
)
def test_nothing_that_is_written_runs_or_breaks_the_page(
    page: Any, address: str, home: Path, complaints: list[str], title: str
) -> None:
    done(["task", "add", title, "--item", title], home)
    text = (
        f"# {title}\n\n[x](javascript:window.hurt=1) ![i](http://evil.example/i.png) {title * 40}"
    )
    done(["task", "note", title, text, "--kind", "transcript"], home)
    task = next(one["id"] for one in told(["task", "list"], home) if one["title"] == title.strip())
    for path in ("/tasks", f"/tasks/{task}"):
        page.goto(address + path)
        expect(page.get_by_text(title[:20]).first).to_be_visible()
        assert page.evaluate("window.hurt") is None
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []
