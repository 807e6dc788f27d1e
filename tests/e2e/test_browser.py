"""The page in a real browser: by mouse, by keys, in two windows, and live."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import chosen, done, in_browser, statuses, told
from tests.support.cli import proved

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser


@pytest.fixture
def page(context: Any) -> Any:
    made = context.new_page()
    made.set_viewport_size({"width": 1200, "height": 900})
    return made


# ------------------------------------------------------------------------------------- reviewing


def test_a_set_is_reviewed_by_mouse(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    chosen(page, "1.1").get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("Applied")
    pane = chosen(page, "1.2")
    pane.locator("summary", has_text="Reject").click()
    pane.get_by_label("Why?").fill("Not this year")
    pane.get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    pane = chosen(page, "2.2")
    pane.locator("summary", has_text="Edit").click()
    pane.get_by_label("Minutes", exact=True).fill("45")
    pane.get_by_role("button", name="Confirm as edited").click()
    expect(page.locator("#told")).to_contain_text("Applied: Set estimate to 45 minutes")
    found = statuses(home)
    assert (found["1.1"], found["1.2"], found["2.2"]) == ("confirmed", "rejected", "confirmed")
    assert complaints == []
    proved(home)


def test_a_set_is_reviewed_by_keys(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("c")
    expect(page.locator("#told")).to_contain_text("Applied")
    second = page.evaluate("document.activeElement.id")
    assert second not in (first, "")
    page.keyboard.press("r")
    page.keyboard.type("cekj, that is no command here")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("Rejected")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("e")
    page.keyboard.press("Escape")
    found = statuses(home)
    assert found[first.removeprefix("item-").replace("-", ".")] == "confirmed"
    assert found[second.removeprefix("item-").replace("-", ".")] == "rejected"
    assert complaints == []


def test_a_form_of_an_earlier_run_of_the_server_is_told_and_the_page_stays(
    page: Any, address: str, home: Path
) -> None:
    page.goto(address)
    pane = chosen(page, "1.1")
    expect(pane).to_be_visible()
    page.evaluate("for (const one of document.querySelectorAll('[name=csrf]')) one.value = 'old'")
    pane.get_by_role("button", name="Confirm").click()
    expect(page.locator("#told")).to_contain_text("this form is of an earlier run of the server")
    expect(page.locator("#item-1-1")).to_be_visible()
    assert statuses(home)["1.1"] == "pending"


def test_a_key_decides_nothing_that_was_not_looked_at(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    page.keyboard.press("j")
    expect(page.locator("#item-2-1")).to_be_focused()
    done(["confirm", "2.1"], home)
    expect(page.locator("#item-2-1")).to_have_count(0)
    before = statuses(home)
    page.keyboard.press("c")  # the next one is under the finger now
    expect(page.locator(".item:focus")).to_have_count(1)
    assert statuses(home) == before


# ------------------------------------------------------------------------------------------ live


def held(page: Any) -> list[Any]:
    """The requests that an open page makes for itself, held back until they are continued."""
    found: list[Any] = []
    page.route(
        lambda url: not url.endswith("/events"),
        lambda route: (
            found.append(route)
            if route.request.headers.get("hx-source") == "div#page"
            else route.continue_()
        ),
    )
    return found


def until(page: Any, found: list[Any]) -> Any:
    """The first of the requests held back; waits for it."""
    for _ in range(400):
        if found:
            return found.pop(0)
        page.wait_for_timeout(50)
    raise AssertionError("the page did not ask for itself")


def test_a_decision_taken_elsewhere_appears_without_a_reload(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(address)
    page.evaluate("window.isSame = true")
    expect(page.locator("#item-1-1")).to_be_visible()
    done(["confirm", "1.1"], home)
    expect(page.locator("#item-1-1")).to_have_count(0)
    assert page.evaluate("window.isSame") is True
    assert complaints == []


def test_what_was_decided_before_the_page_listened_appears(
    page: Any, context: Any, address: str, home: Path
) -> None:
    context.route("**/events", lambda route: route.abort())
    page.goto(address)
    expect(page.locator("#item-1-1")).to_be_visible()
    done(["confirm", "1.1"], home)
    expect(page.locator("#lost")).to_be_visible()
    context.unroute("**/events")
    expect(page.locator("#lost")).to_be_hidden(timeout=10_000)  # it is back
    expect(page.locator("#item-1-1")).to_have_count(0)


def test_an_answer_that_fails_is_asked_for_again(page: Any, address: str, home: Path) -> None:
    requests = held(page)
    once = "retry: 600000\nevent: tail\ndata: somewhere else\n\n"
    page.route("**/events", lambda one: one.fulfill(content_type="text/event-stream", body=once))
    page.goto(address)
    first = until(page, requests)
    done(["confirm", "1.1"], home)
    first.fulfill(status=503, body="not now")
    until(page, requests).abort()
    until(page, requests).continue_()
    expect(page.locator("#item-1-1")).to_have_count(0)


def test_the_answer_to_a_form_is_shown_though_the_page_asks_for_itself(
    page: Any, address: str, home: Path
) -> None:
    requests = held(page)
    page.goto(address)
    done(["confirm", "1.1"], home)
    asked = until(page, requests)
    pane = chosen(page, "2.1")
    pane.locator("summary", has_text="Reject").click()
    pane.get_by_label("Why?").fill("Not this year")
    pane.get_by_role("button", name="Reject").click()
    expect(page.locator("#told")).to_contain_text("Rejected")
    asked.continue_()
    page.unroute_all()
    for route in requests:
        route.continue_()
    page.mouse.move(1, 1)
    expect(page.locator("#item-1-1")).to_have_count(0)
    expect(page.locator("#item-2-1")).to_have_count(0)


def test_what_is_opened_while_the_page_asks_for_itself_stays_open(
    page: Any, address: str, home: Path
) -> None:
    requests = held(page)
    page.goto(address)
    done(["reject", "1.1"], home)
    asked = until(page, requests)
    pane = chosen(page, "2.1")
    pane.locator("summary", has_text="Reject").click()
    asked.continue_()
    expect(page.locator("#news")).to_be_visible()  # the form has the focus
    page.unroute_all()
    page.locator("h1").click(position={"x": 5, "y": 5})
    expect(page.locator("#item-1-1")).to_have_count(0)
    expect(pane.get_by_label("Why?")).to_be_visible()


def test_nothing_moves_under_a_pointer_that_rests_on_a_verdict(
    page: Any, address: str, home: Path
) -> None:
    page.goto(address)
    chosen(page, "2.2").get_by_role("button", name="Confirm").hover()
    done(["confirm", "2.1"], home)
    expect(page.locator("#news")).to_be_visible()
    expect(page.locator("#item-2-1")).to_be_visible()
    page.mouse.move(1, 1)
    expect(page.locator("#item-2-1")).to_have_count(0)
    expect(page.locator("#news")).to_be_hidden()


def test_a_new_wake_and_its_proposals_appear_without_a_reload(
    page: Any, address: str, home: Path
) -> None:
    page.goto(f"{address}/wakes")
    before = page.locator("tbody tr").count()
    done(
        ["task", "note", "Paint the door", "Plan:\n- [ ] Buy the paint\n- [ ] Sand the door"], home
    )
    done(["wake", "Paint the door"], home)
    expect(page.locator("tbody tr")).not_to_have_count(before)
    page.goto(address)
    expect(page.locator(".item", has_text="Buy the paint")).to_be_visible()


def test_what_is_being_typed_is_not_taken_away(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    pane = chosen(page, "2.1")
    pane.locator("summary", has_text="Reject").click()
    pane.get_by_label("Why?").fill("half a sen")
    done(["confirm", "1.1"], home)
    expect(page.locator("#news")).to_be_visible()
    assert pane.get_by_label("Why?").input_value() == "half a sen"
    page.locator("#news button").click()
    expect(page.locator("#item-1-1")).to_have_count(0)


def test_an_agent_that_is_woken_shows_its_wake(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    page.goto(f"{address}/agents/{told(['agent', 'list'], home)[0]['id']}")
    page.get_by_role("button", name="Wake now").click()
    expect(page.locator("#told")).to_contain_text("Woken")
    expect(page.locator(".talk").first).to_contain_text("woken by you", timeout=10_000)
    page.get_by_label("Ask it something").fill("What is left?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".talk").first).to_contain_text("What is left?", timeout=10_000)
    assert complaints == []
