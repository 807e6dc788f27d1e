"""From a value on a task to the note that caused it, in a real browser by keyboard alone."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import aside, done, in_browser, press, told
from tests.support.waking import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = [*in_browser, pytest.mark.slow]
VALUE_TABS, NOTE_TABS = 40, 5  # from the top of the task's page, from the answer
NOTE = "It is due by 2027-03-15, as Ann said."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A due date that was confirmed, of a proposal that a note woke."""
    aside(proposing, tmp_path, "Fix the sink")
    done(["reject", "1", "--all", "--reason", "Not yet"], tmp_path)
    done(["task", "note", "Fix the sink", NOTE], tmp_path)
    done(["wake"], tmp_path)
    done(["confirm", "2.1"], tmp_path)
    return tmp_path


def refuse_a_name(page: Any, address: str, home: Path) -> None:
    """Of the many names of a page the one that was sent is marked."""
    done(["category", "add", "Garden"], home)
    done(["category", "add", "House"], home)
    page.goto(f"{address}/catalog")
    page.get_by_text("Rename House …").click()
    name = page.locator("details[open]").get_by_label("Name")
    name.fill("Garden")
    page.get_by_role("button", name="Rename House").click()
    expect(name).to_be_focused()
    expect(name).to_have_value("Garden")
    expect(name).to_have_accessible_description(re.compile("Garden"))
    expect(page.locator("[aria-invalid]")).to_have_count(1)


def test_a_value_leads_to_the_note_that_caused_it_by_keyboard_alone(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    task = told(["task", "show", "Fix the sink"], home)
    page.goto(f"{address}/tasks/{task['id']}")
    asks = page.get_by_role("button", name="Why? the due")
    heard = page.locator("main").aria_snapshot()
    for part in (
        'heading "Fix the sink" [level=1]',
        'region "Fields"',
        'link "2027-03-15 edit the due"',
        "text: by the agent",
    ):
        assert part in heard
    tabs = press(page, "Why? the due")  # the first press: the answer stands below the field
    assert tabs <= VALUE_TABS
    answer = page.locator(".why-answer")
    expect(answer).to_be_visible()
    expect(asks).to_have_attribute("aria-expanded", "true")
    expect(page).to_have_url(f"{address}/tasks/{task['id']}")
    expect(page).to_have_title("Fix the sink · wakelog")
    expect(answer).to_match_aria_snapshot(
        """
        - paragraph:
          - strong: Due date
          - text: ": 2027-03-15"
        - list:
          - listitem:
            - link /You confirmed it, and the agent set the due date to 2027-03-15/
          - listitem:
            - link /The agent proposed it \\(2.1\\)/
          - listitem:
            - link /It did so in a wake of the agent “Fix the sink”/
          - listitem:
            - link "It was woken by your note:"
            - text: /as Ann said/
        """
    )
    tabs = press(page, "It was woken by your note:")  # the second press: the note
    assert tabs <= NOTE_TABS
    at = task["notes"][-1]["at"]
    expect(page).to_have_url(f"{address}/tasks/{task['id']}#note:{at}")
    note = page.locator(f'[id="note:{at}"]')
    expect(note).to_be_in_viewport()
    expect(note).to_match_aria_snapshot(f"- article:\n  - paragraph\n  - paragraph: {NOTE}")
    estimate = page.get_by_label("Estimate, minutes")
    expect(estimate).to_be_hidden()
    page.get_by_role("link", name="none edit the estimate").click()
    expect(estimate).to_be_focused()
    estimate.fill("a while")
    page.get_by_role("button", name="Save the fields").click()
    expect(estimate).to_be_focused()
    expect(estimate).to_have_attribute("aria-invalid", "true")
    expect(estimate).to_have_accessible_description(re.compile("a while"))
    refuse_a_name(page, address, home)
    assert [one for one in complaints if "422" not in one] == []
