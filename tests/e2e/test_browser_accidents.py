"""What must not happen by accident on the page: by a letter, a held key, a second click."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import SENT, chosen, done, in_browser, middle, of_task, statuses, told

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser

WIDE: Any = {"width": 1200, "height": 900}
WAYS = ("off", "on")
AGAIN = """(letter) => document.addEventListener("htmx:after:swap", () => {
    const pressed = new KeyboardEvent("keydown", {key: letter, bubbles: true, cancelable: true});
    document.activeElement.dispatchEvent(pressed);
}, {once: true})"""  # the second press of two, in the moment in which the next card is selected


def decided(home: Path) -> set[str]:
    """The proposals that are not pending any more."""
    return {ref for ref, status in statuses(home).items() if status != "pending"}


def rounded(box: Any) -> dict[str, int]:
    """A place in whole pixels: a page is scrolled by no less."""
    return {name: round(number) for name, number in box.items()}


# ------------------------------------------------------------------------------------------ keys


def test_letters_that_are_typed_are_no_shortcuts(page: Any, address: str, home: Path) -> None:
    page.goto(of_task(address, home))
    page.locator("#item-2-1 summary", has_text="Reject").click()
    page.keyboard.type("cannot afford it")
    expect(page.locator("#item-2-1").get_by_label("Why?")).to_have_value("cannot afford it")
    page.keyboard.press("Escape")
    expect(page.locator("#item-2-1")).to_be_focused()
    for name in ("Confirm", "Edit"):  # a button, and a summary
        page.locator("#item-2-2 .decide button, #item-2-2 summary", has_text=name).focus()
        page.keyboard.type("cre")
    expect(page.locator("#item-2-2 details[open]")).to_have_count(0)
    page.locator("#item-2-2 summary", has_text="Edit").press("Enter")
    expect(page.locator("#item-2-2").get_by_label("Minutes", exact=True)).to_be_focused()
    assert decided(home) == set()
    page.goto(f"{address}/tasks/{told(['task', 'list'], home)[0]['id']}")
    page.locator("summary", has_text="Edit the description").click()
    page.keyboard.type("credit card, jack")
    expect(page.get_by_label("Description, Markdown")).to_have_value("credit card, jack")
    assert decided(home) == set()


def test_a_key_that_is_held_or_pressed_twice_decides_one(
    page: Any, address: str, home: Path
) -> None:
    page.goto(of_task(address, home))
    page.keyboard.press("c")
    expect(page.locator("#item-2-1")).to_be_focused()  # what is not selected is not decided
    page.keyboard.press("j")
    page.evaluate(AGAIN, "c")
    for _ in range(8):
        page.keyboard.down("c")
        page.wait_for_timeout(50)
    page.keyboard.up("c")
    expect(page.locator("#told")).to_contain_text("Applied")
    expect(page.locator("#item-2-3")).to_be_focused()
    page.keyboard.down("c")  # held on from before the answer, and now on a card that was not meant
    page.keyboard.up("c")
    assert decided(home) <= {"2.2", "2.3"}
    assert "2.2" in decided(home)


def test_a_key_acts_on_no_card_out_of_sight(page: Any, address: str, home: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 500})
    page.goto(of_task(address, home))
    page.keyboard.press("j")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.keyboard.press("c")
    expect(page.locator("#item-2-1")).to_be_in_viewport()
    assert decided(home) == set()
    page.locator("#item-2-1").get_by_role("button", name="Confirm").click()
    expect(page.locator("#item-2-2")).to_be_focused()
    page.wait_for_timeout(500)  # a key that comes at once is a second press of the same
    page.locator("#item-2-2").evaluate(
        "one => scrollBy(0, one.getBoundingClientRect().top - innerHeight + 40)"
    )
    page.evaluate(SENT)
    page.keyboard.press("c")  # it lies under the notice
    assert page.evaluate("window.sent") == 0


def test_a_stale_one_is_confirmed_by_no_key(page: Any, address: str, home: Path) -> None:
    done(["task", "set", "Paint the door", "--estimate", "25"], home)
    page.goto(of_task(address, home))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.locator("#hint")).to_contain_text("The task has changed since")
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator("#item-2-2").get_by_label("Minutes", exact=True)).to_be_visible()
    assert decided(home) == set()
    page.locator("#item-2-2").get_by_role("button", name="Confirm anyway").first.click()
    expect(page.locator("#told")).to_contain_text("Applied")
    assert decided(home) == {"2.2"}


def test_the_shortcuts_can_be_switched_off(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    off, on = (page.get_by_role("button", name=f"Switch the shortcuts {one}") for one in WAYS)
    off.click()
    expect(on).to_be_visible()
    page.goto(address)
    for key in "jc":
        page.keyboard.press(key)
    expect(page.locator(".item:focus")).to_have_count(0)
    on.click()
    expect(off).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("j")
    expect(page.locator("#item-2-1")).to_be_focused()
    assert decided(home) == set()


# ---------------------------------------------------------------------------------------- clicks


def test_a_slow_double_click_decides_one(page: Any, address: str, home: Path) -> None:
    page.goto(of_task(address, home))
    card = page.locator("#item-2-1")
    place, at = card.bounding_box(), middle(card.get_by_role("button", name="Confirm"))
    page.mouse.click(*at)
    expect(page.locator("#told")).to_contain_text("Applied")
    assert card.bounding_box() == place
    expect(card.get_by_role("button", name="Undo")).to_be_visible()
    page.evaluate(SENT)
    page.mouse.click(*at)
    assert page.evaluate("window.sent") == 0
    second = page.locator("#item-2-2")
    second.locator("summary", has_text="Reject").click()
    second.get_by_role("button", name="Reject").hover()  # what is told may cover it: scrolled to
    place = rounded(second.bounding_box())
    second.get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    expect(card).to_have_count(0)  # the next action
    assert rounded(second.bounding_box()) == place  # though the one above it is gone
    expect(second).to_contain_text("rejected")
    second.hover()
    page.mouse.move(1, 1)
    expect(second).to_have_count(0)
    expect(page.locator("#told")).to_contain_text("Rejected")
    assert decided(home) == {"2.1", "2.2"}


def test_what_slid_under_a_resting_pointer_is_not_clicked(
    page: Any, address: str, home: Path
) -> None:
    for schedule in ("every day 07:00", "every day 08:00"):
        done(["agent", "timer", "Fix the sink", "set", schedule], home)
    agent = next(one for one in told(["agent", "list"], home) if one["name"] == "Fix the sink")
    page.goto(f"{address}/agents/{agent['id']}")
    remove = page.get_by_role("button", name="Remove the timer every day 07:00")
    remove.evaluate("one => one.scrollIntoView({block: 'center'})")
    at = middle(remove)
    page.mouse.click(*at)
    expect(page.locator("#told")).to_contain_text("Removed")
    page.mouse.click(*at)
    expect(page.locator("#hint")).to_contain_text("Nothing was done")
    page.mouse.click(*at)  # whoever means it clicks again
    expect(page.get_by_role("button", name="Remove the timer")).to_have_count(0)


def test_confirm_all_names_the_number_and_asks(browser: Any, address: str, home: Path) -> None:
    done(["task", "set", "Paint the door", "--estimate", "25"], home)
    context = browser.new_context(java_script_enabled=False, viewport=WIDE)
    page = context.new_page()
    page.goto(address)
    page.locator("summary", has_text="Confirm all 2").click()
    asking = page.locator(".all[open]")
    expect(asking).to_contain_text("1 stays: the task has changed since")
    assert decided(home) == set()
    asking.get_by_role("button", name="Confirm these 2").click()
    expect(page.locator("#told")).to_contain_text("2 of 2 applied")
    assert decided(home) == {"2.1", "2.3"}
    expect(page.locator("#item-2-1")).to_contain_text("confirmed")
    chosen(page, "1.1").get_by_role("button", name="Confirm").click()
    expect(page.locator("#item-1-1").get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator("#item-2-1")).to_have_count(0)
    context.close()


def test_what_was_done_stays_in_view_and_moves_nothing(page: Any, address: str, home: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 500})
    page.goto(of_task(address, home, "Fix the sink"))
    card = page.locator("#item-1-2")
    card.scroll_into_view_if_needed()
    place = card.bounding_box()
    card.get_by_role("button", name="Confirm").click()
    notice = page.locator("#told .told")
    expect(notice).to_be_in_viewport(ratio=1)
    assert card.bounding_box() == place
    page.evaluate("scrollTo(0, 0)")
    expect(notice).to_be_in_viewport(ratio=1)
    done(["task", "add", "Something else"], home)
    expect(notice.get_by_role("button", name="Undo")).to_be_in_viewport(ratio=1)
    notice.get_by_role("button", name="Undo").click()
    expect(notice).to_contain_text("Done: Set the estimate back")
    notice.get_by_role("link", name="Close").click()
    expect(notice).to_have_count(0)


# -------------------------------------------------------------------------------- truth and typing


def test_the_inbox_is_empty_only_where_nothing_waits(page: Any, address: str, home: Path) -> None:
    for ref in ("2.1", "2.2", "2.3"):
        done(["defer", ref], home)
    page.goto(f"{address}/inbox?limit=1")
    expect(page.locator("h1 .number")).to_have_text("3")
    expect(page.locator(".item")).to_have_count(3)
    page.goto(f"{address}/inbox?limit=1&before=000000000000")
    expect(page.locator(".empty")).to_contain_text("3 wait")
    page.goto(f"{address}/inbox?limit=1&show=decided")
    expect(page.locator(".empty")).to_have_text("Nothing is here.")
    page.goto(f"{address}/inbox?limit=1&show=deferred")
    expect(page.locator(".item")).to_have_count(3)


def test_what_was_changed_meanwhile_is_shown_beside_what_was_typed(
    page: Any, address: str, home: Path
) -> None:
    done(["task", "set", "Fix the sink", "--description", "The old text"], home)
    task = next(one for one in told(["task", "list"], home) if one["title"] == "Fix the sink")
    page.route("**/events", lambda route: route.abort())  # nobody tells this window
    page.goto(f"{address}/tasks/{task['id']}")
    page.locator("summary", has_text="Edit the description").click()
    page.get_by_label("Description, Markdown").fill("What I typed")
    done(["task", "set", "Fix the sink", "--description", "What she wrote"], home)
    page.get_by_label("Description, Markdown").locator("xpath=ancestor::form").get_by_role(
        "button", name="Save"
    ).click()
    clash = page.locator(".told.is-conflict")
    expect(clash).to_contain_text("What she wrote")
    expect(clash.get_by_label("Yours")).to_have_value("What I typed")
    clash.get_by_label("Yours").fill("What we both meant")
    clash.get_by_role("button", name="Save yours").click()
    expect(page.locator(".told.is-done")).to_contain_text("Changed the description")
    assert told(["task", "show", task["id"]], home)["description"] == "What we both meant"
