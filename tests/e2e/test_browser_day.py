"""A day in a real browser: planned by keys alone, and on any screen."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import (
    done,
    in_browser,
    served,
    statuses,
    told,
    too_wide,
    unreadable,
)
from tests.support.cli import proved

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser

NARROW: Any = {"width": 390, "height": 844}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    done(["task", "add", "Write the report"], tmp_path)
    done(["day", "put", "--title", "Lunch", "12-13"], tmp_path)
    return tmp_path


def planned(home: Path) -> list[str]:
    day = told(["day", "2027-01-01"], home)
    return [f"{one['start']}-{one['end']} {one['title']}" for one in day["blocks"]]


def block(page: Any, times: str) -> Any:
    return page.locator(f'.item[aria-label^="{times}"]')


def test_a_day_is_planned_by_keys_alone(page: Any, home: Path, complaints: list[str]) -> None:
    with served(home) as address:
        page.goto(f"{address}/day")
        page.keyboard.press("n")
        page.keyboard.type("report")
        page.keyboard.press("Enter")
        expect(block(page, "09:00-10:00")).to_be_visible()
        page.keyboard.press("j")
        expect(block(page, "09:00-10:00")).to_be_focused()
        for key in "]]]":  # faster than they are answered
            page.keyboard.press(key)
        expect(block(page, "09:45-10:45")).to_be_focused()
        for key, times in ("+", "09:45-11:00"), ("-", "09:45-10:45"), ("[", "09:30-10:30"):
            page.wait_for_timeout(500)  # longer than the quiet after an answer
            page.keyboard.press(key)
            expect(block(page, times)).to_be_focused()
        page.wait_for_timeout(500)
        page.keyboard.press("d")
        expect(block(page, "09:30-10:30")).to_have_count(0)
        assert planned(home) == ["12:00-13:00 Lunch"]
        page.keyboard.press("u")
        expect(block(page, "09:30-10:30")).to_be_visible()
        page.wait_for_timeout(500)
        page.keyboard.press("k")
        page.keyboard.press("e")  # its times, by a field
        page.keyboard.type("0800AM")
        page.keyboard.press("Enter")
        expect(block(page, "08:00-10:30")).to_be_visible()
        page.locator("main").focus()
        page.keyboard.press("ArrowRight")
        expect(page).to_have_title("Sat 2 Jan · wakelog")
        page.keyboard.press("ArrowLeft")
        expect(page).to_have_title("Fri 1 Jan · wakelog")
        page.keyboard.press("ArrowLeft")
        expect(page).to_have_title("Thu 31 Dec 2026 · wakelog")
        page.keyboard.press("t")
        expect(page).to_have_title("Fri 1 Jan · wakelog")
        page.keyboard.press("?")
        expect(page.locator("#shortcuts dl")).to_be_visible()
    assert planned(home) == ["08:00-10:30 Write the report", "12:00-13:00 Lunch"]
    proved(home)


def test_what_an_agent_proposes_is_decided_in_its_place(
    page: Any, home: Path, complaints: list[str]
) -> None:
    done(["task", "add", "Fix the tap", "--estimate", "90m"], home)
    with served(home) as address:
        page.goto(f"{address}/day")
        page.get_by_role("button", name="Let an agent plan it").click()
        expect(page.locator(".told")).to_contain_text("it reads Inbox, and wakes every day 07:00")
        expect(page.locator("svg .is-proposed")).to_have_count(2)
        rows = [one.split("\n")[0] for one in page.locator(".item").all_inner_texts()]
        assert ["Write" in rows[0], "Fix" in rows[1], "Lunch" in rows[2]] == [True] * 3, rows
        page.keyboard.press("j")
        page.keyboard.press("c")
        kept = block(page, "09:00-09:30")
        expect(kept).to_contain_text("by an agent")
        expect(page.locator("svg .is-proposed")).to_have_count(1)
        page.wait_for_timeout(500)
        page.keyboard.press("o")
        expect(kept).not_to_contain_text("by an agent")
        page.wait_for_timeout(500)
        page.keyboard.press("j")
        page.keyboard.press("r")
        page.keyboard.type("Not today")
        page.keyboard.press("Enter")
        expect(page.locator("svg .is-proposed")).to_have_count(0)
    assert statuses(home) == {"1.1": "confirmed", "1.2": "rejected"}
    assert {one["by"] for one in told(["day", "2027-01-01"], home)["blocks"]} == {"person"}
    proved(home)


def test_a_narrow_screen_has_the_list_alone_and_a_click_on_the_axis_leads_into_it(
    page: Any, home: Path, axe: str, complaints: list[str]
) -> None:
    with served(home) as address:
        page.goto(f"{address}/day")
        page.locator("svg.axis a").click()
        expect(block(page, "12:00-13:00")).to_be_focused()
        page.set_viewport_size(NARROW)
        expect(page.locator("svg.axis")).to_be_hidden()
        page.locator("summary", has_text="New block").click()
        page.evaluate(axe)
        assert [*too_wide(page, "/day"), *unreadable(page, "/day")] == []
        page.locator("[name=title]").fill("Walk")
        page.get_by_role("button", name="Put it there").click()
        expect(page.locator(".told")).to_contain_text("Put 09:00-10:00.")
        expect(block(page, "09:00-10:00")).to_be_visible()
