"""A real browser, and a real server of a home to look at."""

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import ACTION_MS, CARDS, CHROMIUM, FLAGS, aside, served
from tests.support.waking import proposing


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
    opened = browser.new_context(viewport=CARDS)
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


@pytest.fixture(scope="session")
def proposed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two tasks and what their agents propose; it is copied."""
    made = tmp_path_factory.mktemp("proposed")
    aside(proposing, made, "Fix the sink", "Paint the door")
    return made


@pytest.fixture
def home(tmp_path: Path, proposed: Path) -> Path:
    return shutil.copytree(proposed, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    """A real server of the home, in a thread."""
    with served(home) as found:
        yield found


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core: of the package that brings it, or what `AXE_CORE` names."""
    named = os.environ.get("AXE_CORE", "")
    if named:
        return Path(named).read_text(encoding="utf-8")
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: `make setup`")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
