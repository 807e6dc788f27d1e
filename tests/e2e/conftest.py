"""A real browser, and a real server of a home to look at."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from adapters.web.app import make_app
from adapters.web.guard import Guard
from adapters.web.site import Site
from tests.support.browsing import ACTION_MS, CHROMIUM, FLAGS, aside
from tests.support.cli import FIXED
from tests.support.waking import proposing

START_SECONDS = 30


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a module; its event loop must not outlive it in this process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright.expect.set_options(timeout=ACTION_MS)
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    opened = browser.new_context()
    opened.set_default_timeout(ACTION_MS)
    yield opened
    opened.close()


@pytest.fixture
def page(context: Any) -> Any:
    return context.new_page()


@pytest.fixture
def complaints(page: Any) -> list[str]:
    """What the browser's console complains of; empty if all is well."""
    found: list[str] = []
    page.on(
        "console", lambda one: found.append(one.text) if one.type in ("error", "warning") else 0
    )
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


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
