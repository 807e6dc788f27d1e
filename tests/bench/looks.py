"""What every page looks like in figures, in a Chromium of 1440 by 900: its content's width, sizes
and weights of letters, heights of controls, and how many rows of a list are in view.

    python tests/bench/looks.py
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.browsing import CHROMIUM, FLAGS, aside, served
from tests.support.gallery import homes
from tests.support.waking import proposing

WINDOW: Any = {"width": 1440, "height": 900}
LISTS = ("/inbox", "/tasks", "/wakes", "/agents")
TITLES = [f"Task {nth}" for nth in range(1, 61)]
LOOK = """() => {
    const seen = [...document.querySelectorAll('#page *')].filter((one) =>
        one.checkVisibility({visibilityProperty: true})
        && !one.closest('.hide, .skip, datalist, option'));
    const style = (one) => getComputedStyle(one);
    const said = seen.filter((one) => [...one.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
    const controls = seen.filter((one) => one.matches('button, select')
        || one.matches('input:not([type=checkbox], [type=radio], [type=range])')
        || one.matches('summary') && parseFloat(style(one).borderTopWidth) > 0);
    const main = style(document.querySelector('main'));
    const inner = ['width', 'paddingLeft', 'paddingRight'].map((one) => parseFloat(main[one]));
    const bar = document.querySelector('.bar').getBoundingClientRect().bottom;
    const all = [...document.querySelectorAll('.list .item, tbody tr:not(.group)')];
    const rows = all.filter((one) => {
        const {top, bottom, height} = one.getBoundingClientRect();
        return height && top >= bar - 1 && bottom <= innerHeight;
    });
    const set = (all) => [...new Set(all)];
    return {
        width: [inner[0] - inner[1] - inner[2]],
        sizes: set(said.map((one) => parseFloat(style(one).fontSize))),
        weights: set(said.map((one) => Number(style(one).fontWeight))),
        controls: set(controls.map((one) => Math.round(one.getBoundingClientRect().height))),
        rows: rows.length,
    };
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=WINDOW)
        over: dict[str, set[float]] = {}
        for name, url in addresses():
            page.goto(url)
            found = page.evaluate(LOOK)
            rows = found.pop("rows")
            for what, values in found.items():
                over.setdefault(what, set()).update(values)
            print(f"{name:16}", *(f"{what} {told(values)}" for what, values in found.items()))
            if name in LISTS:
                print(f"{'':16} {rows} rows in view")
        browser.close()
    print("over all:", *(f"{len(values)} {what} {told(values)};" for what, values in over.items()))


def addresses() -> Iterator[tuple[str, str]]:
    """Each page of the gallery's homes, and the lists of a home of many tasks."""
    found = aside_of(homes())
    for address, shown in found:
        yield from ((name, address + path) for name, path in shown.items())
    with tempfile.TemporaryDirectory() as home:
        aside(proposing, Path(home), *TITLES)
        with served(Path(home)) as address:
            yield from ((path, address + path) for path in LISTS)


def aside_of(found: Iterator[Any]) -> Iterator[Any]:
    """What is found one after another in a thread: playwright's event loop runs in this one."""
    while (one := aside(next, found, None)) is not None:
        yield one


def told(values: set[float] | list[float]) -> str:
    return "/".join(f"{one:g}" for one in sorted(values))


if __name__ == "__main__":
    main()
