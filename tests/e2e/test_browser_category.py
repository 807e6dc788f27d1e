"""An agent that looks over a category, in a real browser: asked for from the catalog, and what it
proposes and asks is read and decided on any screen (ADR 104)."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsing import (
    TWO_FRAMES,
    done,
    in_browser,
    served,
    statuses,
    told,
    too_wide,
    unreadable,
)
from tests.support.cli import proved
from tests.support.house import PLUMBER, TAP
from tests.support.waking import reply, report, tape

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = in_browser

WIDE: Any = {"width": 1440, "height": 900}
NARROW: Any = {"width": 390, "height": 844}
SHELF = "Sort the shelf in the garage, which nobody has used for years"
LOOK = re.compile(r"Let an agent look over it ?\(House\)")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Tasks of a house, of which one has an agent."""
    home = tmp_path / "home"
    done(["add", TAP, "--category", "House", "--due", "2027-01-05", "--estimate", "90"], home)
    done(["add", SHELF, "--category", "House"], home)
    done(["add", "Write the report", "--category", "Work"], home)
    done(["agent", "create", TAP], home)
    done(["wake"], home)
    return home


def looked_over(home: Path) -> None:
    """House is looked over by a model that proposes two tasks and asks an agent, which answers."""
    tap = told(["task", "show", TAP], home)["id"]
    asked = ("ask_agent", {"taskId": tap, "about": "blocked"})
    made = ("create_task", PLUMBER), ("create_task", {"title": "瓦を注文する", "because": SHELF})
    said = reply(*made, asked, report("One thing to decide")), reply(text="Done.")
    model = tape(home.parent / "tape.jsonl", *said)
    done(["--model", model, "category", "review", "House"], home)
    done(["wake"], home)


@pytest.fixture
def reviewed(home: Path) -> Path:
    looked_over(home)
    return home


def agent_of(home: Path, name: str = "House week") -> Any:
    return next(one for one in told(["agent", "list"], home) if one["name"] == name)


def test_a_category_is_looked_over_from_the_catalog(
    page: Any, home: Path, complaints: list[str]
) -> None:
    with served(home) as address:
        page.goto(f"{address}/catalog")
        button = page.get_by_role("button", name=LOOK)
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/agents/*")
        notice = page.locator("#told, .told").first
        expect(notice).to_contain_text("Asked for a look at “House”: its report appears here.")
        expect(notice).to_contain_text("Made an agent for it, which wakes every monday 08:00.")
        expect(page.get_by_role("heading", level=1)).to_contain_text("House week")
        report_shown = page.get_by_text("House, 25 to 31 Dec: nothing was done, no time was spent")
        expect(report_shown.first).to_be_visible()
        page.get_by_text("The whole report").click()
        expect(page.get_by_text("2027-01-05, in 4 days: Fix the tap").first).to_be_visible()
        page.get_by_role("link", name="House", exact=True).first.click()
        expect(page).to_have_url(re.compile(r"/tasks\?category="))
        expect(page.locator("main")).to_contain_text(TAP)
        expect(page.locator("main")).not_to_contain_text("Write the report")
        page.goto(f"{address}/catalog")
        page.get_by_role("button", name=LOOK).click()
        page.wait_for_url("**/agents/*")
        expect(notice).to_contain_text("Asked for a look at “House”")
        expect(notice).not_to_contain_text("Made an agent")
    (made,) = (one for one in told(["agent", "list"], home) if one["kind"] == "category_agent")
    assert made["name"] == "House week"
    assert complaints == []
    proved(home)


def test_a_category_without_tasks_has_nothing_to_look_over(page: Any, home: Path) -> None:
    done(["category", "add", "Garden"], home)
    with served(home) as address:
        page.goto(f"{address}/catalog")
        names = page.get_by_role("button", name="Let an agent look over it").all_inner_texts()
    assert [one.partition("(")[2].strip(")") for one in names] == ["House", "Work"]


def test_what_is_asked_is_told_on_the_pages_of_both(
    page: Any, reviewed: Path, complaints: list[str]
) -> None:
    wakes = told(["wakes"], reviewed)
    asked = next(one["run_key"] for one in wakes if one["reason"] == "request")
    asking = next(one["run_key"] for one in wakes if one["proposals"])
    with served(reviewed) as address:
        page.goto(f"{address}/wakes/{asked}")
        expect(page.locator("main")).to_contain_text("another agent asked what blocks it")
        page.get_by_role("link", name="another agent").first.click()
        expect(page).to_have_url(f"{address}/wakes/{asking}")
        expect(page.locator("main")).to_contain_text("ask_agent")
        page.goto(f"{address}/wakes?reason=request")
        expect(page.locator("main")).to_contain_text(TAP)
        page.goto(f"{address}/agents/{agent_of(reviewed)['id']}")
        expect(page.locator("main")).to_contain_text(
            f"it asked the agent of “{TAP}” what blocks it"
        )
        page.goto(f"{address}/agents/{agent_of(reviewed, TAP)['id']}")
        expect(page.locator("main")).to_contain_text("the agent “House week” asked what blocks it")
        page.get_by_text("The whole report").click()
        expect(page.get_by_role("heading", name="Asked by other agents")).to_be_visible()
    assert complaints == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1440", "390"])
def test_a_proposed_task_is_read_confirmed_and_taken_back(
    page: Any, reviewed: Path, complaints: list[str], size: Any
) -> None:
    page.set_viewport_size(size)
    with served(reviewed) as address:
        page.goto(f"{address}/inbox")
        expect(page.locator("main")).to_contain_text("House")
        page.get_by_text('Create task "Call the plumber"').first.click()
        pane = page.locator("#pane")
        for told_of in (
            *("2027-01-08", "P1", "30 minutes", "The kitchen tap drips."),
            *("Ask for a price", "Agree on a day"),
        ):
            expect(pane).to_contain_text(told_of)
        pane.get_by_role("button", name="Confirm").first.click()
        expect(page.locator("#told")).to_contain_text("Applied: Create task")
        page.goto(f"{address}/inbox?show=decided&at=1.1")
        pane.get_by_role("link", name="Call the plumber", exact=True).click()
        expect(page).to_have_url(re.compile("/tasks/[a-z2-7]{32}"))
        expect(page.get_by_role("heading", level=1)).to_contain_text("Call the plumber")
        expect(page.locator("main")).to_contain_text("Agree on a day")
        made = page.url.rpartition("/")[2].partition("?")[0]
        page.goto(f"{address}/inbox?show=decided")
        page.keyboard.press("u")
        expect(page.locator("#told")).to_contain_text("Taken back")
        assert statuses(reviewed) == {"1.1": "pending", "1.2": "pending"}
        page.goto(f"{address}/inbox")
        expect(page.locator("main")).to_contain_text('Create task "Call the plumber"')
    assert made not in [one["id"] for one in told(["list"], reviewed)]
    assert complaints == []
    proved(reviewed)


def test_it_is_edited_before_it_is_made(page: Any, reviewed: Path, complaints: list[str]) -> None:
    page.set_viewport_size(WIDE)
    with served(reviewed) as address:
        page.goto(f"{address}/inbox")
        page.get_by_text('Create task "Call the plumber"').first.click()
        pane = page.locator("#pane")
        pane.get_by_text("Edit", exact=False).first.click()
        pane.get_by_label("Title").fill("Call Ann the plumber")
        pane.get_by_label("Estimate in minutes").fill("45")
        pane.get_by_label("Title").press("Enter")
        expect(page.locator("#told")).to_contain_text("Applied")
    task = told(["task", "show", "Call Ann the plumber"], reviewed)
    assert (task["estimate_minutes"], task["priority"], task["due_date"]) == (
        45,
        "P1",
        "2027-01-08",
    )
    assert [one["title"] for one in task["items"]] == ["Ask for a price", "Agree on a day"]
    assert complaints == []
    proved(reviewed)


@pytest.mark.slow
def test_its_pages_are_readable_and_fit(
    page: Any, reviewed: Path, axe: str, complaints: list[str]
) -> None:
    """Each wide and light, then what is otherwise where it is narrow and dark."""
    wakes = told(["wakes"], reviewed)
    asked = next(one["run_key"] for one in wakes if one["reason"] == "request")
    asking = next(one["run_key"] for one in wakes if one["proposals"])
    found: list[str] = []

    def looked_at(path: str) -> None:
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
        page.goto(f"{address}{path}")
        page.evaluate(axe)
        found.extend([*too_wide(page, path), *unreadable(page, path)])
        page.set_viewport_size(NARROW)
        page.emulate_media(color_scheme="dark")
        page.evaluate(TWO_FRAMES)
        found.extend(too_wide(page, f"{path}, narrow"))
        for rules in (["target-size", "scrollable-region-focusable"], ["color-contrast"]):
            found.extend(unreadable(page, f"{path}, narrow and dark", rules))

    with served(reviewed) as address:
        for path in (
            "/catalog",
            "/agents",
            f"/agents/{agent_of(reviewed)['id']}",
            f"/agents/{agent_of(reviewed, TAP)['id']}",
            "/inbox",
            "/inbox?at=1.1",
            f"/wakes/{asked}",
            f"/wakes/{asking}",
            "/wakes?reason=request",
        ):
            looked_at(path)
        done(["confirm", "1.1"], reviewed)
        made = told(["task", "show", "Call the plumber"], reviewed)["id"]
        for path in ("/inbox?show=decided", f"/tasks/{made}", f"/tasks/{made}/why/title"):
            looked_at(path)
    assert found == []
    assert complaints == []
