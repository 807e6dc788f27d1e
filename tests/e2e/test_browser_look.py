"""One frame and one look on every page, and the search that stands in it."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from adapters.web.routes import PAGES
from tests.bench.looks import LISTS, LOOK, WINDOW
from tests.support.browsing import aside, done, every_page, in_browser, served
from tests.support.waking import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser

MANY = [f"Task {nth}" for nth in range(1, 25)]  # three proposals each
ROWS_MIN = {"/inbox": 18, "/tasks": 18, "/agents": 18, "/wakes": 14}  # there a chart stands above
SIZES, WEIGHTS, CONTROLS = {13, 14, 16, 20}, {400, 600}, {24, 32}

SQUEEZED = """() => [...document.querySelectorAll("#page :is(p, li, dd, .what)")].filter(
  one => one.checkVisibility() && one.innerText.trim().length > 30
    && one.getBoundingClientRect().width < 120
).map(one => one.innerText)"""
"""Words that stand beside something in a column of a few letters."""


def kind_of(path: str) -> str:
    return next(route for route, _ in PAGES if re.fullmatch(route, urlsplit(path).path))


@pytest.fixture
def page(context: Any) -> Any:
    made = context.new_page()
    made.set_viewport_size(WINDOW)
    return made


def test_every_page_has_one_width_four_sizes_of_letters_and_two_of_controls(
    page: Any, tmp_path: Path
) -> None:
    aside(proposing, tmp_path, *MANY)
    widths: set[float] = set()
    with served(tmp_path) as address:
        kinds = {kind_of(path): path for path in every_page(tmp_path)}
        for path in kinds.values():
            page.goto(address + path, wait_until="domcontentloaded")
            seen = page.evaluate(LOOK)
            widths |= set(seen["width"])
            assert set(seen["sizes"]) <= SIZES, path
            assert set(seen["weights"]) <= WEIGHTS, path
            assert set(seen["controls"]) <= CONTROLS, path
            page.set_viewport_size({"width": 1000, "height": WINDOW["height"]})
            assert page.evaluate(SQUEEZED) == [], path
            page.set_viewport_size(WINDOW)
        for path in LISTS:
            page.goto(address + path)
            assert page.evaluate(LOOK)["rows"] >= ROWS_MIN[path], path
    assert len(widths) == 1


def test_words_are_looked_for_from_every_page(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    done(["task", "note", "Fix the sink", "Ann knows a plumber"], home)
    page.goto(f"{address}/health")
    page.keyboard.press("/")
    page.keyboard.type("plumb\n")
    found = page.locator("tbody tr")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Fix the sink")
    expect(found).to_contain_text("Ann knows a plumber")
    box = page.get_by_role("searchbox", name="Search all tasks")
    expect(box).to_have_value("plumb")
    box.fill("no such word")
    box.press("Enter")
    expect(page.locator(".empty")).to_contain_text("No task has “no such word”")
    assert page.evaluate("document.documentElement.scrollHeight") == WINDOW["height"]
    box.fill("")
    box.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Words find tasks")
    page.get_by_role("button", name="Switch the shortcuts off").click()
    page.keyboard.press("/")
    expect(box).not_to_be_focused()
    assert complaints == []
