"""A follow-up in a real browser: its card, its confirmation, and the task that comes of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import aside, done, in_browser, statuses, told
from tests.support.cli import proved
from tests.support.followups import ITEMS, TITLE, with_all

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser


@pytest.fixture
def home(tmp_path: Path) -> Path:
    aside(with_all, tmp_path, tmp_path)
    return tmp_path


def test_a_follow_up_is_confirmed_and_there_with_its_items_and_an_agent(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(address)
    pane = page.locator("#pane")
    page.locator("#item-1-2 .entry").click()
    expect(pane.get_by_role("button", name="Confirm after 1.1")).to_be_disabled()
    page.keyboard.press("c")
    expect(page.locator("#hint")).to_contain_text("It needs 1.1")
    page.locator("#item-1-1 .entry").click()
    pane.get_by_role("button", name="Confirm and set done").dblclick()
    expect(page.locator("#told")).to_contain_text("The task is DONE")
    page.locator("#item-1-2 .entry").click()
    pane.get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("Applied: Move")
    pane.get_by_role("link", name="The rest").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The rest")
    items = page.get_by_role("region", name="Checklist")
    for title in ITEMS[:2]:
        expect(items).to_contain_text(title)
    expect(page.get_by_role("region", name="Agent")).to_contain_text("next wake")
    assert told(["task", "show", TITLE], home)["status"] == "DONE"
    found = statuses(home)
    assert (found["1.1"], found["1.2"], found["1.3"]) == ("confirmed", "confirmed", "pending")
    assert complaints == []
    proved(home)


def test_stars_are_given_with_the_keyboard_after_a_timer_stops(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    task = told(["task", "show", TITLE], home)
    done(["task", "timer", "start", TITLE], home)
    page.goto(f"{address}/tasks/{task['id']}")
    page.get_by_role("button", name="Stop the timer", exact=True).click()
    notice = page.locator("#told")
    expect(notice).to_contain_text("How did it go?")
    notice.get_by_role("radio", name="1 of 5").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(notice).to_contain_text("Rated 4 of 5")
    expect(page.get_by_role("img", name="rated 4 of 5")).to_be_visible()
    assert told(["task", "show", TITLE], home)["time"][0]["rating"]["score"] == 4
    assert complaints == []
