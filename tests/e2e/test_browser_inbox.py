"""The inbox in two panes in a real browser: by keys, by mouse, and without JavaScript."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import (
    SENT,
    done,
    in_browser,
    middle,
    statuses,
    told,
    too_wide,
    unreadable,
)
from tests.support.cli import proved

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = [*in_browser, pytest.mark.slow]
WIDE: Any = {"width": 1400, "height": 850}


@pytest.fixture
def page(context: Any) -> Any:
    made = context.new_page()
    made.set_viewport_size(WIDE)
    return made


def pressed(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_proposal_is_chosen_and_decided_by_keys_beside_the_list(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    pane = page.locator("#pane")
    expect(page).to_have_title("(6) Inbox · wakelog")
    expect(page.locator(".list .decide")).to_have_count(0)
    expect(pane).to_contain_text("Rests on")
    expect(pane.get_by_role("heading", name="The task now")).to_be_visible()
    pressed(page, "c")  # what is not selected is not decided
    pressed(page, "j")
    expect(pane).to_have_attribute("data-item", "item-2-2")
    expect(page).to_have_url(f"{address}/inbox?at=2.2")
    at = middle(pane.get_by_role("button", name="Confirm"))
    pressed(page, "c")
    expect(page.locator("#told")).to_contain_text("Applied: Set estimate")
    expect(page).to_have_title("(5) Inbox · wakelog")
    expect(page.locator("#item-2-3")).to_be_focused()
    expect(pane).to_have_attribute("data-item", "item-2-3")
    assert middle(pane.get_by_role("button", name="Confirm")) == at
    page.keyboard.press("r")
    page.keyboard.type("cannot afford it")
    expect(pane.get_by_label("Why?")).to_have_value("cannot afford it")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("Rejected")
    page.keyboard.press("z")  # until tomorrow
    expect(page.locator("#told")).to_contain_text("Put off")
    found = statuses(home)
    assert [one for one, status in found.items() if status != "pending"] == ["1.1", "2.2", "2.3"]
    sets = told(["inbox", "--all"], home)
    (until,) = [one["until"] for each in sets for one in each["items"] if one["ref"] == "1.1"]
    assert until == "2027-01-02T00:00:00.000000Z"
    pressed(page, "u")
    expect(page.locator("#told")).to_contain_text("Taken back: Put 1.1 before you again")
    pressed(page, "u")
    expect(page.locator("#told")).to_contain_text("Taken back: Put 2.3 before you again")
    pressed(page, "u")
    expect(page.locator("#told")).to_contain_text("door”: Set the estimate back")
    assert statuses(home)["1.1"] == statuses(home)["2.3"] == "pending"
    assert complaints == []
    proved(home)


def test_several_are_selected_and_decided_as_one_deed(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    expect(page.get_by_role("button", name="Confirm selected")).to_be_hidden()
    done(["task", "set", "Paint the door", "--estimate", "25"], home)  # 2.2 is of an older task
    expect(page.locator("#item-2-2")).to_contain_text("task changed")
    pressed(page, "j", "x", "j", "x")
    expect(page.get_by_role("button", name="Confirm selected (2)")).to_be_enabled()
    pressed(page, "e")
    expect(page.locator("#hint")).to_contain_text("One at a time")
    assert set(statuses(home).values()) == {"pending"}
    pressed(page, "c")
    expect(page.locator("#told")).to_contain_text("1 of 2 applied")
    expect(page.locator("#told")).to_contain_text("Not done: Set estimate")
    assert (statuses(home)["2.1"], statuses(home)["2.2"]) == ("confirmed", "pending")
    page.locator("#told").get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("Done: Take back")
    for row in ("1-1", "1-2"):
        page.locator(f"#item-{row} .pick").check()
    page.locator("h1").click()
    page.locator("#item-1-2").focus()
    pressed(page, "r")
    page.keyboard.type("no, that is enough")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("2 of 2 rejected")
    expect(page.locator("#item-1-1")).to_contain_text("rejected")
    pressed(page, "u")
    expect(page.locator("#told")).to_contain_text("Taken back: Put 1.1 before you again")
    assert statuses(home)["1.1"] == statuses(home)["1.2"] == "pending"
    assert complaints == []


def test_nothing_is_decided_by_accident_beside_the_list(
    page: Any, context: Any, address: str, home: Path
) -> None:
    done(["task", "set", "Paint the door", "--estimate", "25"], home)
    page.goto(address)
    pressed(page, "j", "j")
    pressed(page, "c")
    expect(page.locator("#hint")).to_contain_text("The task has changed since")
    pressed(page, "e")
    page.keyboard.press("Enter")  # in a form that would confirm anyway
    page.keyboard.press("Escape")
    expect(page.locator("#item-2-2")).to_be_focused()
    for name in ("Reject", "Later"):  # a summary
        page.locator("#pane summary", has_text=name).focus()
        page.keyboard.type("crezxu")
    for _ in range(4):  # held
        page.keyboard.down("u")
    page.keyboard.up("u")
    assert set(statuses(home).values()) == {"pending"}
    page.keyboard.press("Escape")
    page.locator("#item-2-3 .entry").click()
    pane = page.locator("#pane")
    expect(pane).to_have_attribute("data-item", "item-2-3")
    at = middle(pane.get_by_role("button", name="Confirm"))
    page.mouse.click(*at)
    expect(page.locator("#told")).to_contain_text("Applied")
    expect(pane).to_contain_text("confirmed")
    expect(pane.get_by_role("button", name="Undo")).to_be_visible()
    page.evaluate(SENT)
    page.mouse.click(*at)  # a slow double-click
    assert page.evaluate("window.sent") == 0
    expect(pane).to_have_attribute("data-item", "item-2-3")
    other = context.new_page()
    other.set_viewport_size(WIDE)
    other.route("**/events", lambda route: route.abort())  # nobody tells this window
    other.goto(f"{address}/inbox?at=1.1")
    done(["reject", "1.1"], home)
    other.locator("#pane").get_by_role("button", name="Confirm").click()
    expect(other.locator("#told")).to_contain_text("Somebody else was faster")
    assert statuses(home)["1.1"] == "rejected"


def test_a_tab_knows_what_it_did_after_other_pages_and_a_new_tab_asks(
    page: Any, context: Any, address: str, home: Path
) -> None:
    page.goto(address)
    page.locator("#item-1-2 .entry").click()
    page.locator("#pane").get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("Applied")
    other = context.new_page()
    other.goto(address)
    other.keyboard.press("u")
    expect(other.locator("#told")).to_contain_text("done in another tab?")
    assert statuses(home)["1.2"] == "confirmed"
    page.goto(f"{address}/tasks")
    page.goto(f"{address}/inbox")
    page.keyboard.press("u")
    expect(page.locator("#told")).to_contain_text("Taken back")
    assert statuses(home)["1.2"] == "pending"


def test_all_of_it_works_without_javascript_and_at_any_width(
    browser: Any, address: str, home: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=WIDE)
    page = context.new_page()
    page.goto(address)
    page.locator("#item-1-2 .entry").click()
    expect(page).to_have_url(f"{address}/inbox?at=1.2")
    page.locator("#pane summary", has_text="Later").click()
    page.locator("#pane").get_by_role("button", name="Until Monday").click()
    expect(page.locator("#told")).to_contain_text("Put off")
    expect(page.locator("#pane").get_by_role("button", name="Undo")).to_be_visible()
    for row in ("2-1", "2-3"):
        page.locator(f"#item-{row} .pick").check()
    page.get_by_role("button", name="Confirm selected").click()
    expect(page.locator("#told")).to_contain_text("2 of 2 applied")
    page.get_by_role("button", name="Undo last").click()
    expect(page.locator("#told")).to_contain_text("Taken back")
    page.locator("summary", has_text="By task").click()
    page.get_by_label("Together by").select_option(label="Kind of change")
    page.get_by_label("Words").fill("sink priority")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("heading", level=2).first).to_have_text("Priority")
    expect(page.locator(".item")).to_have_count(1)
    page.set_viewport_size({"width": 375, "height": 700})
    expect(page.locator("#pane")).to_be_hidden()
    page.locator(".list .entry").click()
    expect(page.locator("#pane").get_by_role("button", name="Confirm")).to_be_visible()
    context.close()
    assert statuses(home)["1.2"] == "deferred"


def test_it_is_for_everybody_in_each_of_its_states(
    browser: Any, address: str, home: Path, axe: str
) -> None:
    done(["confirm", "1.1"], home)
    done(["task", "set", "Paint the door", "--estimate", "25"], home)
    states = {
        ("light", 1400): {"/inbox": "j x", "/inbox?show=decided&at=1.1": "?", "/inbox?q=no": ""},
        ("dark", 1000): {"/inbox?by=tool": "j z", "/inbox?at=2.2": "j x r"},
        ("light", 320): {"/inbox?at=2.2": "j z"},
    }
    found = []
    for (colours, width), paths in states.items():
        viewport: Any = {"width": width, "height": 800}
        context = browser.new_context(color_scheme=colours, viewport=viewport, bypass_csp=True)
        page = context.new_page()
        for path, keys in paths.items():
            page.goto(address + path)
            pressed(page, *keys.split())
            page.evaluate(axe)
            found += unreadable(page, f"{path} {width}") + too_wide(page, f"{path} {width}")
        context.close()
    assert found == []
