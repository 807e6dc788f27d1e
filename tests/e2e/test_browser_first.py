"""From an empty home to the first proposals without a command, in a real browser."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import every_page, in_browser, refusals, told, too_wide, unreadable

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = [*in_browser, pytest.mark.slow]
LOADED = "[...document.styleSheets, ...document.scripts].map((one) => one.href || one.src)"
DROP = """(form) => {
    const text = "# Home\\n- [ ] Fix the sink ~2h\\n  Due on 2027-03-01. Need to buy a seal.\\n"
        + "- [ ] Paint the door due:2027-99-99\\n";
    const dropped = new DataTransfer();
    dropped.items.add(new File([text], "TODO.md", {type: "text/markdown"}));
    for (const name of ["dragover", "drop"])
        form.dispatchEvent(
            new DragEvent(name, {dataTransfer: dropped, bubbles: true, cancelable: true}));
}"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def _fine(page: Any, name: str, axe: str) -> None:
    """Nothing to be mended at the narrowest, and no sideways scrolling."""
    page.evaluate(axe)
    for width in (320, 1000):
        page.set_viewport_size({"width": width, "height": 800})
        seen = f"{name} at {width}"
        assert too_wide(page, seen) + unreadable(page, seen) == []
        if kept := os.environ.get("PICTURES"):
            page.screenshot(path=f"{kept}/{name}-{width}.png", full_page=True)


def _all_there(page: Any) -> None:
    """It has the sheets and scripts that it has when it is loaded by itself."""
    other = page.context.new_page()
    other.goto(page.url)
    assert page.evaluate(LOADED) == other.evaluate(LOADED), page.url
    other.close()


def test_a_file_is_dropped_and_its_tasks_have_agents_that_propose(
    page: Any, address: str, home: Path, axe: str, complaints: list[str]
) -> None:
    """And each page has its sheet and its script, however it came."""
    page.goto(address)
    page.get_by_role("link", name="Bring tasks in from a file").click()
    expect(page.get_by_text("Or drop it here.")).to_be_visible()  # the script is there
    page.locator("[data-drop]").evaluate(DROP)
    expect(page.get_by_role("heading", name="What TODO.md would bring in")).to_be_visible()
    expect(page.locator("main")).to_contain_text("2 new tasks")
    assert told(["task", "list"], home) == []
    _fine(page, "plan", axe)
    page.get_by_role("button", name="Bring these in").click()
    expect(page.locator("#told")).to_contain_text("2 created")
    expect(page.get_by_text("Or drop it here.")).to_be_visible()  # also after an answer
    expect(page.get_by_label("Model they ask")).to_have_value("")  # the home's
    _all_there(page)
    _fine(page, "agents", axe)
    page.get_by_role("button", name="Make 2 agents").click()
    expect(page.locator("#told")).to_contain_text("Made 2 agents")
    _all_there(page)
    _fine(page, "wakes", axe)
    page.get_by_role("button", name="Run what is queued").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    _all_there(page)
    expect(page.locator("main")).to_contain_text("Fix the sink", timeout=8_000)
    assert len(told(["agent", "list"], home)) == 2
    expect(page.get_by_role("button", name="Notify me")).to_be_visible()  # its script is at work
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#selected")).to_have_text(" (1)")
    loaded = page.evaluate(LOADED)
    for path in (*every_page(home), *refusals()):
        page.goto(address + path)
        assert page.evaluate(LOADED) == loaded, path
        if page.locator("#notices").count() == 0:  # the inbox's keys do nothing elsewhere
            for key in ("x", "?", "u", "ArrowLeft", " "):
                page.keyboard.press(key)
            expect(page.locator("#hint")).to_be_hidden()
    assert [one for one in complaints if "404" not in one] == []  # there is no wake before it
