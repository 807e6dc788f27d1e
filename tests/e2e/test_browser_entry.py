"""The door in a real browser: links from other sites, tokens, and a server that was restarted.

`localhost` and `127.0.0.1` are two sites to a browser, as somebody's mail and ours are.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import in_browser, served, told

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser
TOKEN = "a-token-that-is-long-enough"
LINK = "to => document.body.insertAdjacentHTML('afterbegin', `<a id='away' href='${to}'>away</a>`)"


def follow_from_elsewhere(page: Any, address: str, to: str) -> None:
    """Open a page by a link on another site."""
    page.goto(address.replace("127.0.0.1", "localhost") + "/nothing")
    page.evaluate(LINK, address + to)
    page.click("#away")


def titles(home: Path) -> list[str]:
    return [one["title"] for one in told(["task", "list"], home)]


def test_a_tab_that_another_site_opens_ends_no_form_of_the_others(
    context: Any, address: str, home: Path
) -> None:
    page, other = context.new_page(), context.new_page()
    page.goto(f"{address}/tasks")
    page.locator(".new [name=title]").fill("Typed before")
    follow_from_elsewhere(other, address, "/inbox")
    expect(other.locator("h1")).to_contain_text("Inbox")
    page.locator(".new [name=title]").press("Enter")
    expect(page.locator("#told")).to_contain_text("Typed before")
    assert "Typed before" in titles(home)


def test_the_address_with_the_token_works_from_a_mail_and_asks_once(
    page: Any, context: Any, home: Path
) -> None:
    with served(home, token=TOKEN) as address:
        follow_from_elsewhere(page, address, f"/tasks?status=open&token={TOKEN}")
        expect(page.locator("h1")).to_have_text("One more step")
        assert TOKEN not in page.url
        page.get_by_role("button", name="Open wakelog").click()
        expect(page.locator("h1")).to_have_text("Tasks")
        assert page.url == f"{address}/tasks?status=open"
        context.clear_cookies()
        page.goto(f"{address}/inbox")
        expect(page.locator("h1")).to_have_text("A token is needed")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Open wakelog").click()
        expect(page.locator("h1")).to_contain_text("Inbox")


def test_what_is_typed_while_the_server_is_restarted_is_kept(page: Any, home: Path) -> None:
    with served(home) as address:
        page.goto(f"{address}/tasks")
        title = page.locator(".new [name=title]")
        title.fill("Typed before")
    with served(home, port=int(address.rpartition(":")[2])):
        title.press("Enter")
        expect(page.locator("#told")).to_contain_text("started again")
        assert "Typed before" not in titles(home)
        expect(title).to_have_value("Typed before")
        page.get_by_role("button", name="Send it again").click()
        expect(page.locator("#told")).to_contain_text("Added")
    assert titles(home).count("Typed before") == 1
