"""Triage at typing speed in a real browser: each key is for the row that it was pressed on."""

import random
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import (
    aside,
    done,
    in_browser,
    press,
    served,
    statuses,
    told,
    too_wide,
    unreadable,
)
from tests.support.cli import proved
from tests.support.waking import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser

WIDE: Any = {"width": 1440, "height": 900}
NARROW: Any = {"width": 390, "height": 844}
MANY = [f"Task {nth}" for nth in range(1, 21)]  # three proposals each
BYTES_MAX = 6_000
BUSY = ".list [aria-busy]"
AT = "document.activeElement.id"
PRESSED = """([key, code]) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", {key, code, bubbles: true, cancelable: true}))"""
FOCUS_BECAME = "document.activeElement.getAttribute('aria-label')"


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sixty")
    aside(proposing, home, *MANY)
    return home


@pytest.fixture
def many(tmp_path: Path, sixty: Path) -> Path:
    """A home with sixty proposals."""
    return shutil.copytree(sixty, tmp_path / "home")


@pytest.fixture
def page(context: Any) -> Any:
    made = context.new_page()
    made.set_viewport_size(WIDE)
    return made


def decided(home: Path) -> dict[str, str]:
    return {one: status for one, status in statuses(home).items() if status != "pending"}


def late(route: Any) -> None:
    time.sleep(0.6)
    route.continue_()


def ref_of(row: str) -> str:
    return row.removeprefix("item-").replace("-", ".")


class Moved:
    """What went over the wire, as the browser counted it."""

    def __init__(self, context: Any, page: Any) -> None:
        self.requests: list[str] = []
        self.bytes = 0
        wire = context.new_cdp_session(page)
        wire.send("Network.enable")
        wire.on("Network.requestWillBeSent", self._sent)
        wire.on("Network.loadingFinished", self._came)

    def _sent(self, event: Any) -> None:
        if not event["request"]["url"].endswith(".svg"):
            self.requests.append(event["request"]["method"])

    def _came(self, event: Any) -> None:
        self.bytes += event["encodedDataLength"]


# -------------------------------------------------------------------------------- typed ahead


def test_sixty_keys_decide_sixty_rows_in_one_small_request_each(
    page: Any, context: Any, many: Path, complaints: list[str]
) -> None:
    with served(many) as address:
        page.goto(address)
        expect(page.locator(".list .item")).to_have_count(60)
        moved = Moved(context, page)
        page.keyboard.press("j")
        for _ in range(60):
            page.keyboard.press("c")
        expect(page.locator(BUSY)).to_have_count(0)
        page.wait_for_timeout(1_000)  # news of what it did itself is none
        expect(page).to_have_title("Inbox · wakelog")
        expect(page.locator("#waiting")).to_be_hidden()
    assert Counter(moved.requests) == {"POST": 60}
    assert moved.bytes <= 60 * BYTES_MAX
    assert Counter(decided(many).values()) == {"confirmed": 60}
    assert complaints == []
    proved(many)


@pytest.mark.slow
def test_keys_typed_ahead_of_a_slow_server_are_for_the_rows_they_were_pressed_on(
    page: Any, many: Path
) -> None:
    dice = random.Random(7)
    wanted: dict[str, str] = {}
    with served(many, slow=0.25) as address:
        page.goto(address)
        page.keyboard.press("j")
        marked: list[str] = []
        for key in dice.choices("cccxzjjk", k=60):
            at = page.evaluate(AT)
            assert at.startswith("item-")
            if key == "x":
                marked = [one for one in marked if one != at] if at in marked else [*marked, at]
            if key in "cz":
                became = {"c": "confirmed", "z": "deferred"}[key]
                wanted |= {ref_of(row): became for row in marked or [at]}
                marked = []
            page.keyboard.press(key)
        expect(page.locator(BUSY)).to_have_count(0, timeout=90_000)
    assert len(wanted) > 20
    assert decided(many) == wanted
    proved(many)


def test_what_is_typed_for_a_form_that_is_not_there_yet_goes_into_it(
    page: Any, address: str, home: Path
) -> None:
    page.route("**/inbox?*part=pane*", late)
    page.goto(address)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type("cannot, x z")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("Rejected")
    assert decided(home) == {"2.2": "rejected"}
    (item,) = [
        item
        for one in told(["inbox", "--all"], home)
        for item in one["items"]
        if item["ref"] == "2.2"
    ]
    assert item["reason"] == "cannot, x z"


def test_escape_lets_a_form_go_that_is_not_there_yet(page: Any, address: str) -> None:
    page.route("**/inbox?*part=pane*", late)
    page.goto(address)
    page.keyboard.press("j")
    page.keyboard.press("j")
    row = page.evaluate(AT)
    for key in ("e", "9", "Escape"):
        page.keyboard.press(key)
    expect(page.locator("#pane")).to_have_attribute("data-item", row)
    page.wait_for_timeout(500)  # the form would have come with it
    assert page.evaluate(AT) == row
    expect(page.locator("#pane .acts details[open]")).to_have_count(0)


def test_a_problem_stays_in_sight_and_its_row_open_while_the_others_are_decided(
    page: Any, address: str, home: Path
) -> None:
    page.route("**/events", lambda route: route.abort())  # nobody tells this window
    page.goto(address)
    done(["reject", "2.2"], home)
    done(["task", "set", "Fix the sink", "--estimate", "25"], home)  # 1.2 is of an older one
    page.keyboard.press("j")
    for _ in range(6):
        page.keyboard.press("c")
    expect(page.locator(BUSY)).to_have_count(0)
    notice = page.locator("#told .is-conflict")
    expect(notice).to_contain_text("Somebody else was faster with “Set estimate")
    expect(notice).to_contain_text("Not done: Set estimate")
    expect(page.locator("#item-1-2")).to_contain_text("task changed")
    page.locator("#item-1-2").focus()
    page.keyboard.press("c")
    expect(page.locator("#hint")).to_contain_text("The task has changed since")
    found = decided(home)
    assert (found.pop("2.2"), set(found.values())) == ("rejected", {"confirmed"})
    assert sorted(found) == ["1.1", "1.3", "2.1", "2.3"]


def test_what_no_server_took_stands_there_as_before(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    page.route("**/inbox/decide", lambda route: route.abort())
    for key in "jccc":
        page.keyboard.press(key)
    expect(page.locator("#told")).to_contain_text("The server gave no answer")
    expect(page.locator(".list [aria-busy]")).to_have_count(0)
    page.unroute("**/inbox/decide")
    page.locator("#item-2-1 .entry").click()
    page.keyboard.press("c")
    expect(page.locator("#item-2-1")).to_contain_text("confirmed")
    assert decided(home) == {"2.1": "confirmed"}


def test_an_undo_that_is_typed_ahead_waits_for_its_verdict(
    page: Any, home: Path, tmp_path: Path
) -> None:
    with served(home, slow=0.4) as address:
        page.goto(address)
        for key in "jccu":
            page.keyboard.press(key)
        expect(page.locator("#told")).to_contain_text("Taken back")
        expect(page.locator("#item-2-2")).to_contain_text("Estimate none → 60 minutes")
    assert decided(home) == {"2.1": "confirmed"}


def test_a_letter_counts_once_somebody_has_chosen(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    for key in ("c", "c", "z"):
        page.keyboard.press(key)
    expect(page.locator("#item-2-1")).to_be_focused()
    expect(page.locator("#hint")).to_contain_text("Choose it first")
    assert decided(home) == {}
    page.keyboard.press("Enter")
    expect(page.locator("#pane")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#item-2-1")).to_contain_text("confirmed")


def test_letters_are_known_by_their_place_where_the_script_has_none_and_with_caps_lock(
    page: Any, address: str, home: Path
) -> None:
    page.goto(address)
    for key, code in (("\u043e", "KeyJ"), ("\u0441", "KeyC"), ("C", "KeyC")):
        page.evaluate(PRESSED, [key, code])
    expect(page.locator("#item-2-2")).to_contain_text("confirmed")
    assert decided(home) == {"2.1": "confirmed", "2.2": "confirmed"}


# ------------------------------------------------------------------------------ one stop of Tab


def test_confirm_is_a_few_tabs_away_and_all_rows_are_one_stop(
    page: Any, many: Path, axe: str, complaints: list[str]
) -> None:
    with served(many) as address:
        page.goto(address)
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS_BECAME) == "20.1 Set due date to 2027-02-12"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#pane")).to_be_focused()
        expect(page.locator("#pane")).to_have_attribute("data-item", "item-20-2")
        assert press(page, "Confirm 20.2, Set estimate to 60 minutes") <= 5
        expect(page.locator("#item-20-2")).to_contain_text("confirmed")
        expect(page.locator("#item-20-3")).to_be_focused()
        stops = page.locator(".list .item[tabindex='0'], .list .pick:not([tabindex='-1'])")
        expect(stops).to_have_count(1)
        context = page.context.browser.new_context(viewport=WIDE, bypass_csp=True)
        looked = context.new_page()
        looked.goto(address)
        looked.keyboard.press("j")
        looked.evaluate(axe)
        assert unreadable(looked, "/inbox") == []
        context.close()
    assert decided(many) == {"20.2": "confirmed"}
    assert complaints == []


# ------------------------------------------------------------------------------------ the sheet


def test_on_a_narrow_screen_a_proposal_is_a_sheet_with_its_verdicts_at_the_thumb(
    browser: Any, address: str, home: Path, axe: str
) -> None:
    context = browser.new_context(viewport=NARROW, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#pane")).to_be_hidden()
    page.locator("#item-2-2 .entry").click()
    sheet = page.locator("#pane")
    expect(sheet).to_contain_text("Set estimate to 60 minutes")
    for name in ("Confirm", "Reject", "Later"):
        box = sheet.locator("button, summary", has_text=name).first.bounding_box()
        assert box["y"] > NARROW["height"] * 0.85, name
    page.evaluate(axe)
    assert unreadable(page, "sheet") + too_wide(page, "sheet") == []
    sheet.get_by_role("link", name="Close").click()
    expect(sheet).to_be_hidden()
    page.locator("#item-2-2 .entry").click()
    sheet.get_by_role("button", name="Confirm").click()
    expect(page.locator("#item-2-2")).to_contain_text("confirmed")
    expect(sheet).to_be_hidden()
    page.locator("#item-2-3 .entry").click()
    sheet.locator("summary", has_text="Later").click()
    sheet.get_by_role("button", name="Until Monday").click()
    expect(page.locator("#item-2-3")).to_contain_text("put off")
    context.close()
    assert decided(home) == {"2.2": "confirmed", "2.3": "deferred"}


# -------------------------------------------------------------------------------------- decided


def test_what_is_decided_says_what_was_before_and_is_taken_back_alone(
    page: Any, address: str, home: Path, complaints: list[str]
) -> None:
    done(["confirm", "2", "--all"], home)
    done(["task", "set", "Paint the door", "--estimate", "90"], home)
    page.goto(f"{address}/inbox?show=decided")
    expect(page.locator("#item-2-2 .line")).to_have_text("Estimate none → 60 minutes")
    expect(page.locator("#item-2-3 .line")).to_have_text("Priority P2 → P1")
    page.locator("#item-2-3").get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("Taken back: Set priority to P1")
    assert decided(home) == {"2.1": "confirmed", "2.2": "confirmed"}
    assert complaints == []
    page.locator("#item-2-2").get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("changed since")
    assert decided(home) == {"2.1": "confirmed", "2.2": "confirmed"}


# ------------------------------------------------------------------------------------- several


def test_buttons_for_several_wait_for_a_choice_and_open_at_their_field(
    page: Any, address: str, home: Path
) -> None:
    page.goto(address)
    several = page.locator("#selection")
    expect(several).to_be_hidden()
    page.locator("#item-2-1 .pick").check()
    several.locator("summary", has_text="Reject selected").click()
    expect(page.locator("#why-selected")).to_be_focused()
    page.keyboard.type("no")
    page.keyboard.press("Enter")
    expect(page.locator("#item-2-1")).to_contain_text("rejected")
    assert decided(home) == {"2.1": "rejected"}


def test_enter_in_an_empty_reason_decides_nothing(page: Any, address: str, home: Path) -> None:
    page.goto(address)
    for key in ("j", "r", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#hint")).to_contain_text("Nothing was decided")
    expect(page.locator("#pane").get_by_label("Why?")).to_be_focused()
    assert decided(home) == {}
    page.keyboard.press("Control+Enter")
    expect(page.locator("#item-2-1")).to_contain_text("rejected")
    assert decided(home) == {"2.1": "rejected"}
