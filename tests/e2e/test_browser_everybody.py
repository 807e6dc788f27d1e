"""Every page in a real browser: for everybody, on any screen, whatever is written in it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from adapters.web.routes import PAGES
from tests.support.browsing import (
    RULES,
    TWO_FRAMES,
    aside,
    done,
    every_page,
    in_browser,
    refusals,
    served,
    told,
    too_wide,
    unreadable,
)
from tests.support.cli import NOW
from tests.support.followups import with_all
from tests.support.hostile import HOSTILE, hostile_home
from tests.support.remembering import remembering
from tests.support.waking import proposing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

OF_COLOURS = ["color-contrast"]
OF_WIDTHS = ["scrollable-region-focusable", "target-size"]  # the others see no width
NO_COLOURS = [*RULES, ""]  # all but those, and what a width changes: these take most of the time
WIDE: Any = {"width": 1200, "height": 900}
ZOOMED, NARROW = 640, 320  # what a window of 1280 pixels has at 200 %, and at 400 %
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"

pytestmark = in_browser
READ_BY_AXE = "links"
CUT_OFF = """[...document.querySelectorAll('#page *')].filter((one) => {
    const style = getComputedStyle(one);
    return ['hidden', 'clip'].includes(style.overflowX) && one.checkVisibility()
        && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1
        && !one.closest('.hide, svg, input, thead');
}).slice(0, 3).map((one) => one.outerHTML.slice(0, 160))"""
"""Text that cannot be seen, nor scrolled to."""
MOVING = """(() => {
    const main = document.querySelector('main');
    main.insertAdjacentHTML('beforeend', '<i class="pill is-running">now</i>');
    const all = document.getAnimations().map((one) => one.animationName || one.transitionProperty);
    main.lastElementChild.remove();
    return [...all, ...[...document.querySelectorAll('*')].filter(
        (one) => parseFloat(getComputedStyle(one).transitionDuration) > 0
    ).map((one) => one.outerHTML.slice(0, 80))];
})()"""
FIELDS_MAX = 9
WATCH_FOCUS = """(is_all) => {
    const outlined = (one) => one && getComputedStyle(one).outlineStyle !== 'none';
    const named = (one) => `${one.tagName} ${(one.name || one.innerText || '').slice(0, 40)}`;
    const main = document.querySelector('main');
    const before = (one) => main.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING;
    window.reachable = [...document.querySelectorAll(
        'a[href], button, input, select, textarea, summary, [tabindex]'
    )].filter((one) => {
        if (one.tabIndex < 0 || one.disabled || !one.checkVisibility() || one.type === 'hidden'
            || !is_all && before(one))
            return false;
        if (one.type !== 'radio') return true;
        const group = [...document.querySelectorAll('input[type=radio]')]
            .filter((other) => other.form === one.form && other.name === one.name);
        return one === (group.find((other) => other.checked) || group[0]);  // keys reach that one
    });
    window.reached = [];
    window.unseen = [];
    document.addEventListener('focusin', ({target}) => {
        window.reached.push(target);
        if (!outlined(target) && !outlined(target.closest('label'))) unseen.push(named(target));
    });
    window.walk = () => {
        const here = reached.map(named), should = reachable.map(named);  // some are made anew
        const at = should.findIndex((one, nth) => one !== here[nth]);
        const wrong = at < 0 ? [] : [`place ${at + 1}: ${here[at]}, not ${should[at]}`];
        return {wrong, unseen, left: reachable.length - reached.length};
    };
    return reachable.length;
}"""
SPENT = ("--start", "2026-12-31 09:00", "--end", "2026-12-31 10:30")


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after some use: of each kind of thing there is one to see."""
    home = tmp_path_factory.mktemp("lived_in")
    aside(proposing, home, "Fix the sink", "Paint the door")
    aside(with_all, home, home, "屋根を直す")  # a follow-up, and what needs it
    done(["reject", "1.1", "--reason", "Not this year"], home)
    done(["defer", "2.2"], home)
    done(["confirm", "2.1"], home)
    done(["label", "add", "at home"], home)
    done(["label", "assign", "Fix the sink", "at home"], home)
    done(["task", "link", "Fix the sink", "blocks", "Paint the door"], home)
    done(["task", "add", "Nobody's", "--item", "One", "--item", "Two"], home)
    done(["agent", "timer", "Fix the sink", "set", "every day 07:00"], home)
    done(["agent", "watch", "Fix the sink", "--task", "Paint the door", "--hears-agents"], home)
    done(["agent", "create", "Nobody's"], home)
    done(["agent", "destroy", "Nobody's"], home)
    done(["template", "create", "Spare", "--general", "Be calm.", "--report", "Briefly."], home)
    done(["template", "assign", "Fix the sink", "laura"], home)
    done(["template", "version", "laura", "--report", "Two sentences."], home)
    done(["agent", "ask", "Fix the sink", "What is left?"], home)
    done(["task", "time", "Fix the sink", *SPENT], home)
    done(["day", "put", "Fix the sink", "9-10", "--on", "2026-12-31"], home)
    done(["day", "put", "--title", "昼休み", "12-12:15", "--on", "2026-12-31"], home)
    done(["day", "pin", "Paint the door", "--on", "2026-12-31"], home)
    done(["task", "rate", "Fix the sink", "4", "--entry", "1", "--note", "Went well"], home)
    done(["agent", "set", "Fix the sink", "--loop", "The invoice"], home)
    done(["agent", "sleep", "Fix the sink", "--until", "2027-02-01"], home)
    done(["agent", "pause", "Paint the door"], home)
    aside(remembering, home, "Mend the tap", (NOW,) * 9)
    done(["fork", told(["wakes"], home)[0]["run_key"], "--note", "Mend the tap", "It drips."], home)
    return home


@pytest.fixture(scope="module")
def its_address(lived_in: Path) -> Iterator[str]:
    with served(lived_in) as found:
        yield found


def cut(page: Any, path: str) -> list[str]:
    return [f"{path}: cut off: {one}" for one in page.evaluate(CUT_OFF)]


def moving(page: Any, path: str) -> list[str]:
    """What moves although whoever looks asked for less of it; a wake that goes on would."""
    return [f"{path}: moves: {one}" for one in page.evaluate(MOVING)]


def by_keys(page: Any, path: str, is_all: bool) -> list[str]:
    """What Tab does not reach in the order of the page, or does not show; the last is no trap.
    Only one page is walked from its top, the others from where the first link leads past it."""
    if not is_all:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
    left = page.evaluate(WATCH_FOCUS, is_all)
    for _ in range(FIELDS_MAX):  # a field of a date takes several
        for _ in range(left):
            page.keyboard.press("Tab")
        told = page.evaluate("walk()")
        left = told["left"]
        if left <= 0:
            break
    page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
    is_steady = path != "/"  # there the pane follows the focus
    found = [f"{path}: {one}" for one in told["wrong"] if is_steady]
    return found + [f"{path}: focus cannot be seen: {one}" for one in told["unseen"][:3]]


def test_every_page_can_be_read_by_everybody_and_asks_nobody_else(
    browser: Any, its_address: str, lived_in: Path, axe: str
) -> None:
    """Each address once, in one page: wide for all of axe, then what a width changes. Colours, the
    dark and keys are asked of one address of each kind: its others are of the same pieces."""
    context = browser.new_context(color_scheme="light", reduced_motion="reduce", viewport=WIDE)
    context.add_init_script(axe)
    page = context.new_page()
    found: list[str] = []
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console", lambda one: complaints.append(f"{one.location['url']} {one.type} {one.text}")
    )
    page.on("request", lambda one: asked.append(one.url))
    asked: list[str] = []
    walked: set[str] = set()
    missing = refusals()
    for path in missing:
        page.goto(its_address + path, wait_until="load")
        expect(page.locator("h1")).to_have_text("Not found")
    for path in [*every_page(lived_in), *missing[:2]]:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(WIDE)
        page.goto(its_address + path, wait_until="load")
        expect(page.locator("h1")).to_have_count(1)
        kind = next((one for one, _ in PAGES if re.fullmatch(one, urlsplit(path).path)), "refused")
        is_new = kind not in walked
        if is_new:
            found += by_keys(page, path, not walked) + moving(page, path)
            walked.add(kind)
        page.evaluate(OPEN_ALL)
        found += too_wide(page, path) + unreadable(page, path, RULES if is_new else NO_COLOURS)
        for width, rules in ((ZOOMED, []), (NARROW, OF_WIDTHS)):
            page.set_viewport_size({"width": width, "height": 450})
            page.evaluate(TWO_FRAMES)
            seen = f"{path} at {width}"
            found += too_wide(page, seen) + cut(page, seen)
            found += unreadable(page, seen, rules) if rules else []
        if is_new:
            page.emulate_media(color_scheme="dark")  # nothing but colours differs
            found += unreadable(page, f"{path} in the dark", OF_COLOURS)
    context.close()
    assert {one for one, _ in PAGES} - walked == set(), "name one of each kind in `every_page`"
    assert not found, "\n".join(found)
    own = tuple(f"{its_address}{path} error Failed" for path in missing)  # of the browser itself
    assert [one for one in complaints if not ("404" in one and one.startswith(own))] == []
    assert [one for one in asked if not one.startswith(its_address)] == []


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_that_is_written_runs_or_breaks_the_page(
    browser: Any, address: str, home: Path, axe: str, kind: str
) -> None:
    """Without the content policy: not even then does anything run. Whether it can be read is asked
    of one kind, whose words make elements; the others make none that this one does not."""
    words = HOSTILE[kind]
    begins = words.lstrip("\u202e")[:4]  # the text of a terminal has a sign for such a mark
    paths = aside(hostile_home, home, words)
    context = browser.new_context(viewport={"width": 400, "height": 900}, bypass_csp=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else 0)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda one: complaints.append(one.message))
    found: list[str] = []
    for path in paths:
        page.goto(address + path)
        page.evaluate(OPEN_ALL)
        text = page.locator("main").inner_text()
        found += [] if begins in text or path == "/health" else [f"{path} does not show it"]
        found += too_wide(page, path)
        if kind == READ_BY_AXE:
            page.evaluate(axe)
            found += unreadable(page, path, RULES if path.startswith("/tasks/") else NO_COLOURS)
        assert page.evaluate("window.hurt") is None
        links = page.evaluate("[...document.links].map((one) => one.protocol)")
        assert set(links) <= {"http:", "https:"}
        assert (
            page.evaluate("[...document.images].filter((i) => !i.src.includes('/static/'))") == []
        )
    page.goto(address)
    page.locator(".list .entry").first.click()
    page.locator("#pane").get_by_role("button", name="Confirm").first.click()
    expect(page.locator("#told")).to_contain_text("Applied")
    found += too_wide(page, "what was applied")
    context.close()
    assert not found + complaints, "\n".join(found + complaints)
