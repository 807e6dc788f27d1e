"""A wake as a conversation, in a real browser: by keys alone, and for who hears the page."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import done, in_browser, told, too_wide

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser


def test_a_wake_is_walked_through_by_keys(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    done(["task", "note", "Fix the sink", "Need to buy a seal."], home)
    done(["wake"], home)
    newest, *_, oldest = [one["run_key"] for one in told(["wakes"], home) if _is_of(one, home)]
    page.goto(f"{address}/wakes/{newest}")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(f"{address}/wakes/{oldest}")
    page.keyboard.press("ArrowLeft")  # there is none before it
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{address}/wakes/{newest}")
    search = page.get_by_label("Search in the prompt")
    search.focus()
    page.keyboard.type("seal")
    page.evaluate(
        "addEventListener('keydown', (event) => { window.taken = event.defaultPrevented })"
    )
    page.keyboard.press("ArrowLeft")  # in a field it moves the cursor
    assert page.evaluate("window.taken") is False
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}/wakes/{newest}?turn=1&find=seal#turn")
    expect(page.locator("#turn mark").first).to_have_text("seal")
    page.get_by_role("link", name=re.compile(r"^Turn 2")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^Turn 2"))).to_be_visible()
    expect(page.locator("[aria-current=step]")).to_contain_text("Turn 2")
    page.set_viewport_size({"width": 320, "height": 900})
    assert too_wide(page, "the wake") == []
    heard = page.locator("#page").aria_snapshot()
    for words in ('navigation "Wakes of this agent"', 'heading "Why it woke"', "your note of",
                  'navigation "Turns"', 'link "Turn 1', 'heading "What was asked"'):  # fmt: skip
        assert words in heard, words
    page.goto(f"{address}/wakes/{newest}/proof")
    page.get_by_role("button", name="Prove both logs").click()
    expect(page.locator("main")).to_contain_text("Every byte of this wake")
    assert complaints == []


def _is_of(wake: Any, home: Path) -> bool:
    tasks = {one["id"]: one["title"] for one in told(["task", "list"], home)}
    return bool(tasks[wake["task_id"]] == "Fix the sink")
