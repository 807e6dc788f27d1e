"""From a strange proposal to what another note would have done, and through a life."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import (
    aside,
    in_browser,
    press,
    served,
    statuses,
    told,
    too_wide,
    unreadable,
)
from tests.support.pasts import FIRST, lived

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser
STEPS = (
    (
        "this wake",
        30,
        ('region "Paint the door"', 'link "this wake"', 'listitem "1.2 Set estimate to 60'),
    ),
    ("What if …", 18, ('heading "Wake ', 'list "Calls"', 'region "Why it woke"')),
    ("One more note before this wake", 17, ('textbox "One more note', 'group: "Note 1: Takes')),
    ("Show what would have happened", 9, ('button "Show what would', 'checkbox "A model that')),
)
"""What is pressed, by how many presses of Tab at most, and what the tree of its page names."""
SMALL = """[...document.querySelectorAll('main :is(a, button, input, select, summary)')]
.filter((one) => {
    const {width, height} = one.getBoundingClientRect();
    return height && Math.min(width, height) < 24 && one.type !== 'checkbox'
        && getComputedStyle(one).display !== 'inline';
}).map((one) => one.outerHTML.slice(0, 90))"""


def looked_at(page: Any, address: str, path: str, axe: str) -> list[str]:
    """What is wrong with a page, and with its shape at 320 pixels."""
    page.goto(address + path)
    page.evaluate(axe)
    found = unreadable(page, path)
    page.set_viewport_size({"width": 320, "height": 700})
    found += too_wide(page, path)
    found += [f"{path}: small: {one}" for one in page.evaluate(SMALL)]
    page.set_viewport_size({"width": 1000, "height": 700})
    return found


def test_three_presses_lead_from_a_proposal_to_what_another_note_would_have_done(
    page: Any, address: str, home: Path, axe: str, complaints: list[str]
) -> None:
    page.set_viewport_size({"width": 1200, "height": 720})
    page.goto(f"{address}/inbox")
    for (name, tabs, named), title in zip(
        STEPS, ("Inbox", "Wake", "What if", "What if"), strict=True
    ):
        expect(page.get_by_role("heading", level=1)).to_contain_text(title)
        heard = page.locator("main").aria_snapshot()
        assert [one for one in named if one not in heard] == []
        is_text = name.startswith("One more note")
        assert press(page, name, "End" if is_text else "Enter") <= tabs, name
        if is_text:
            page.keyboard.type("Takes about 15 minutes.")
    expect(page.locator("#turn-1")).to_contain_text("First difference")
    expect(page.locator(".both").first).to_contain_text("Set estimate to 15 minutes")
    told_so = page.locator("main").aria_snapshot()
    for part in ('heading "As it was" [level=4]', 'heading "In the fork" [level=4]', "only here:"):
        assert part in told_so
    assert set(statuses(home).values()) == {"pending"}, "nothing came of it"
    run = page.url.split("/wakes/")[1].split("/")[0]
    fork = next((home / "forks").glob("[!.]*-1")).name
    wrong = [
        one
        for path in (f"/wakes/{run}/what-if", f"/forks/{fork}", "/forks")
        for one in looked_at(page, address, path, axe)
    ]
    assert wrong == []
    page.get_by_text(f"Delete {fork}").first.click()
    page.get_by_label(f"Yes, delete the fork {fork}").check()
    page.get_by_role("button", name=f"Delete {fork}").click()
    expect(page.locator("#told")).to_contain_text("Deleted the fork")
    assert complaints == []


def test_the_slider_of_a_life_leads_through_it_and_links_do_without_javascript(
    browser: Any, tmp_path: Path, axe: str
) -> None:
    home = tmp_path / "home"
    aside(lived, home, tmp_path)
    agent = next(one for one in told(["agent", "list"], home) if one["name"] == FIRST)["id"]
    url = f"/agents/{agent}/life"
    with served(home) as address:
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(address + url)
        slider = page.get_by_role("slider", name="Moment")
        stands = page.locator(".stands")
        last = stands.inner_text()
        slider.focus()
        page.keyboard.press("Home")
        expect(stands).not_to_have_text(last)
        expect(page.get_by_text("It had not reported.")).to_be_visible()
        page.wait_for_url("**at=*")
        page.get_by_role("button", name="Play").click()
        expect(page.locator("[data-moment]")).to_have_text("3")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("link", name="Compare another moment with this one").click()
        page.get_by_role("slider", name="Moment").focus()
        page.keyboard.press("End")
        expect(stands).to_have_text(last)
        page.get_by_role("link", name="What differs between").click()
        expect(page.locator("main")).to_contain_text("Buy a seal")
        assert looked_at(page, address, url, axe) == []
        assert looked_at(page, address, f"{url}?from=3&to=30", axe) == []
        context.close()
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(address + url)
        page.get_by_role("link", name="Previous").click()
        expect(page.locator(".stands")).not_to_have_text(last)
        page.get_by_label("End of day").fill("2027-01-02")
        page.get_by_role("button", name="Go", exact=True).click()
        expect(page.locator(".stands")).to_contain_text("You confirmed its proposal 2")
        context.close()
