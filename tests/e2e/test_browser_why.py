"""From a value on a task to the note that caused it, in a real browser by keyboard alone."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import aside, done, in_browser, press, told
from tests.support.cli import proved
from tests.support.waking import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = [*in_browser, pytest.mark.slow]
VALUE_TABS, NOTE_TABS = 40, 5  # from the top of the task's page, from the answer
NOTE = "It is due by 2027-03-15, as Ann said."
AXE = """async () => (await axe.run({resultTypes: ["violations"]})).violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160))}`)"""
TOO_WIDE = "document.scrollingElement.scrollWidth - window.innerWidth"


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
        'textbox "Due": 2027-03-15',
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
    estimate.fill("a while")
    page.get_by_role("button", name="Save the fields").click()
    expect(estimate).to_be_focused()
    expect(estimate).to_have_attribute("aria-invalid", "true")
    expect(estimate).to_have_accessible_description(re.compile("a while"))
    refuse_a_name(page, address, home)
    assert [one for one in complaints if "422" not in one] == []


def test_a_history_is_undone_and_read_by_everybody(
    browser: Any, address: str, home: Path, complaints: list[str]
) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: `make setup`")
    source = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    done(["task", "set", "Fix the sink", "--due", "2026-01-02", "--priority", "P0"], home)
    task = told(["task", "show", "Fix the sink"], home)["id"]
    for colours, width in (("light", 1200), ("dark", 320)):
        context = browser.new_context(color_scheme=colours, bypass_csp=True)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        for path in (
            "/tasks",
            f"/tasks/{task}/why/due",
            f"/tasks/{task}/history",
            f"/tasks/{task}",
        ):
            page.goto(address + path)
            if path.endswith(task):
                page.get_by_role("button", name="Why? the due").click()
                expect(page.locator(".why-answer")).to_be_visible()
            page.evaluate(source)
            assert page.evaluate(TOO_WIDE) <= 0, (path, width)
            assert page.evaluate(AXE) == [], (path, width, colours)
        context.close()
    page = browser.new_page()
    page.goto(f"{address}/tasks/{task}/history")
    page.get_by_role("button", name=re.compile("Undo.*Set the due back to “2027-03-15”")).click()
    expect(page.locator("#told")).to_contain_text("Undone, in “Fix the sink”")
    expect(page.get_by_role("main")).to_contain_text("By an undo you changed the due date")
    page.close()
    assert (complaints, bool(proved(home))) == ([], True)
