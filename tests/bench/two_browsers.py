"""Two people in real browsers, a runtime with its page, and commands: random deeds at once.

    .venv/bin/python tests/bench/two_browsers.py [--minutes N] [--seed S] [--keep DIR]

Every form of every page is filled in and sent, by chance. Each answer must say what was done; no
page may answer 500, and no console complain. Every minute all hold still: then the home must be
whole, and each page that was left open shows what a new one shows.
"""

import argparse
import random
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from tests.bench.serve_soak import Soak, told
from tests.support import checker, whole
from tests.support.browsing import CHROMIUM, FLAGS
from tests.support.serving import Browser, free_port

PEOPLE = 2
ROUND_SECONDS = 60.0
QUIET_SECONDS = 3.0  # without a new row: what was asked for is done
QUIET_MAX = 90.0
FRESH_SECONDS = 2.0  # a page may be older than the last change by so much
ANSWER_MS = 20_000
MOVED_MS = 2_000  # after which a field is taken to be gone
RARE = 0.1  # how often what cannot be done again is done
FINAL = ("/delete", "/policy/withdraw", "/policy/models", "/theme", "/keys")
KEYS = "jjjkxcrzzu?e"
TOPICS = ("Fix the sink", "Paint the door", "Renew the passport", "Mow the lawn", "Call Ann")
AGO = re.compile(
    r"in \d+:\d\d|\b(in )?\d+ (s|min|h|d|seconds?|minutes?|hours?|days?)( ago)?|just now|now"
)
FORMS = """() => [...document.querySelectorAll('#page form[method=post]')].map((form, nth) => {
    form.dataset.nth = nth;
    for (let one = form; one; one = one.parentElement) {
        if (one.tagName === 'DETAILS') one.open = true;
    }
    return form.getAttribute('action') || '';
})"""
EXPECTED = re.compile(r"^task: .*(there is no task|several tasks|is deleted)")
SHOWN = "() => document.getElementById('main').innerText"


class Person:
    """Somebody in a browser who does something by chance, again and again."""

    def __init__(self, all_of_it: "TwoBrowsers", nth: int, seed: int, page: Any) -> None:
        self.soak, self.page, self.name = all_of_it, page, f"person {nth}"
        self.dice = random.Random(f"{seed} {nth}")
        self.api = Browser(all_of_it.address)
        self.count = 0
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._trouble(f"script: {error}"))
        page.on("response", self._see)
        page.on("dialog", lambda one: one.accept())

    def _hear(self, said: Any) -> None:
        is_status = "Failed to load resource" in said.text  # judged by `_see`
        if said.type in ("error", "warning") and not is_status:
            self._trouble(f"console: {said.text}")

    def _see(self, answer: Any) -> None:
        self.soak._count(f"answers {answer.status}")
        if answer.status >= 500:
            self._trouble(f"{answer.status} {answer.request.method} {answer.url}")

    def _trouble(self, what: str) -> None:
        self.soak._trouble(f"{what} (at {self.page.url})")

    # ----------------------------------------------------------------------------------- deeds

    def deed(self) -> None:
        """Open a page, and do something there."""
        path = self.dice.choice(list(self._paths()))
        answer = self.page.goto(self.soak.address + path, wait_until="domcontentloaded")
        self.soak._count("page " + re.sub(r"[a-z0-9]{30,}", "ID", path.partition("?")[0]))
        if answer.status not in (200, 404):
            self._trouble(f"{answer.status} {path}")
        if "inbox" in path and self.dice.random() < 0.4:
            self._press()
        for _ in range(self.dice.randint(1, 3)):
            self._send()
        if self.dice.random() < 0.2:
            undo = self.page.locator("#told form[action='/undo'] button")
            if undo.count():
                self._clicked(undo.first, "/undo", "")

    def _paths(self) -> Iterator[str]:
        """An address of each kind, what there is being drawn by chance."""
        of = self._drawn
        yield from ("/inbox", "/inbox", "/inbox?show=deferred", "/inbox?show=decided", "/tasks")
        yield from ("/inbox?by=task&q=the", "/agents", "/wakes", "/templates", "/catalog", "/forks")
        yield from ("/lessons", "/policy", "/health", "/proof")
        if task := of("/tasks", "tasks"):
            yield from (f"/tasks/{task}", f"/tasks/{task}", f"/tasks/{task}/history")
            yield from (f"/tasks/{task}/why/{one}" for one in ("title", "status"))
        if agent := of("/agents", "agents"):
            at = self.dice.randint(1, 40)
            yield from (f"/agents/{agent}", f"/agents/{agent}", f"/agents/{agent}/reports")
            yield from (f"/agents/{agent}/life", f"/agents/{agent}/life?nth={at}")
        if run := of("/wakes", "wakes", "run_key"):
            yield from (f"/wakes/{run}", f"/wakes/{run}/at", f"/wakes/{run}/diff")
            yield from (f"/wakes/{run}/what-if", f"/wakes/{run}/proof", f"/wakes/{run}?turn=1")
        if template := of("/templates", "templates"):
            yield from (f"/templates/{template}", f"/templates/{template}/diff")
        if fork := of("/forks", "forks", "name"):
            yield f"/forks/{fork}"

    def _drawn(self, path: str, rows: str, name: str = "id") -> str:
        found = [one[name] for one in self.api.json(path)[rows]]
        return str(self.dice.choice(found)) if found else ""

    def _press(self) -> None:
        """Keys of the inbox, as somebody in a hurry."""
        for key in self.dice.choices(KEYS, k=6):
            self.page.keyboard.press(key)
            if key in "re":
                self.page.keyboard.type("not for me", delay=2)
                self.page.keyboard.press(self.dice.choice(("Enter", "Escape")))
            self.page.wait_for_timeout(self.dice.choice((50, 450)))
        self.soak._count("keys")

    def _send(self) -> None:
        """A form of the page, filled in by chance."""
        actions = self.page.evaluate(FORMS)
        choices = [
            (nth, action)
            for nth, action in enumerate(actions)
            if not action.endswith(FINAL) or self.dice.random() < RARE
        ]
        if not choices:
            return
        # one of a kind: a page of fifty cards is no fifty deeds
        kind = self.dice.choice(sorted({action for _, action in choices}))
        nth = self.dice.choice([nth for nth, action in choices if action == kind])
        form = self.page.locator(f"form[data-nth='{nth}']")
        try:
            written = self._fill(form, kind)
            buttons = [one for one in form.locator("button").all() if one.is_visible()]
        except Error:  # news came, and the page was made anew
            self.soak._count("forms that moved")
            return
        if buttons:
            self._clicked(self.dice.choice(buttons), kind, written)

    def _fill(self, form: Any, action: str) -> str:
        """Fill in what can be seen; the text that must be found again, if it is kept."""
        kept = ""
        for field in form.locator("input:not([type=hidden]), textarea, select").all():
            if not field.is_visible() or not field.is_enabled() or self.dice.random() < 0.3:
                continue
            name = field.get_attribute("name") or ""
            told = self._value(field, name)
            if name in ("text", "title") and action.endswith(("/note", "/tasks")):
                kept = told
        return kept

    def _value(self, field: Any, name: str) -> str:
        tag = field.evaluate("one => one.tagName")
        kind = field.get_attribute("type") or "text"
        self.count += 1
        text = f"{self.dice.choice(TOPICS)} {self.name} {self.count}"
        if name == "model":
            return ""
        if tag == "SELECT":
            options = field.locator("option").count()
            field.select_option(index=self.dice.randrange(options))
        elif kind in ("checkbox", "radio"):
            is_final = name == "sure" and self.dice.random() > RARE
            field.set_checked(kind == "radio" or not is_final)
        elif kind == "number":
            field.fill(str(self.dice.randint(1, 9)))
        elif kind == "date":
            field.fill(f"2030-01-{self.dice.randint(10, 28)}")
        elif kind == "datetime-local":
            field.fill(f"2030-01-{self.dice.randint(10, 28)}T10:00")
        elif kind == "time":
            field.fill("10:30")
        elif kind != "file":
            field.fill(text)
            return text
        return ""

    def _clicked(self, button: Any, action: str, written: str) -> None:
        """Press it, and read the answer."""
        is_end = action.endswith("/life") and "estroy" in button.inner_text()
        if is_end and self.dice.random() > RARE:
            return
        kind = re.sub(r"[a-z0-9]{30,}", "ID", action)
        try:
            with self.page.expect_response(_is_post, timeout=2 * MOVED_MS) as sent:
                button.click(timeout=2 * MOVED_MS)
        except Error as error:
            # a form that the browser holds back, a page that moved: nothing was sent
            self.soak._count(f"not sent {kind}")
            self.soak.unsent[f"{kind}: {str(error).splitlines()[0][:80]}"] += 1
            return
        status = sent.value.status
        self.soak._count(f"sent {kind} {status}")
        if status == 303 and written:
            self.soak._acknowledge(written)
        try:
            if action not in ("/theme", "/keys"):
                self.page.wait_for_selector("#told .told", timeout=ANSWER_MS)
        except Error:
            self._trouble(f"{status} of {kind} said nothing")

    # ----------------------------------------------------------------------------------- looking

    def rest(self) -> str:
        """Open a page, and touch nothing from then on; its address."""
        path = self.dice.choice([one for one in self._paths() if "proof" not in one])
        self.page.goto(self.soak.address + path, wait_until="load")
        self.page.mouse.move(0, 0)
        return path

    def compare(self, path: str) -> None:
        """What was left open beside the same page made now."""
        fresh = self.page.context.new_page()
        fresh.goto(self.soak.address + path, wait_until="load")
        both = (self.page, fresh)
        tails = [one.evaluate("document.getElementById('page').dataset.tail") for one in both]
        texts = [AGO.sub("", one.evaluate(SHOWN)) for one in both]
        fresh.close()
        self.soak._count("pages compared")
        if texts[0] != texts[1]:
            pairs = zip(texts[0].splitlines(), texts[1].splitlines(), strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
            self.soak._trouble(f"stale {path}: {tails}: {first[0][:60]!r} is {first[1][:60]!r}")


def _is_post(answer: Any) -> bool:
    return bool(answer.request.method == "POST")


class TwoBrowsers(Soak):
    """One home; a runtime with its page, people in browsers, and commands."""

    def __init__(self, wakelog: Path, folder: Path, seconds: float, seed: int) -> None:
        super().__init__(wakelog, folder, seconds)
        self.seed = seed
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.unsent: Any = type(self.counts)()
        self._still = threading.Event()
        self._barrier = threading.Barrier(PEOPLE + 2)  # people, commands, who looks

    def run(self) -> None:
        """Make the home, let all of them work at once, end everything."""
        file = self.folder / "TODO.md"
        file.write_text("".join(f"- [ ] {one} {nth}\n" for nth in range(4) for one in TOPICS))
        self.command("import", str(file), "--agents")
        process = self.begun("run", "--serve", "--port", str(self.port), "--watch", str(file))
        self.page(self.port)
        self._end = time.monotonic() + self.seconds
        deeds: list[Callable[[], None]] = [partial(self._person, nth) for nth in range(PEOPLE)]
        deeds += [partial(self._commands, file), self._looks]
        works = [threading.Thread(target=self._guarded, args=(one,)) for one in deeds]
        for one in works:
            one.start()
        try:
            self._rounds()
        except threading.BrokenBarrierError:
            self._trouble("somebody did not come to the end of a round")
        for one in works:
            one.join()
        self._whole("before the end")
        if process.poll() is not None:
            self._trouble(f"the runtime ended by itself: {process.returncode}")
        self.ended(process)

    def _person(self, nth: int) -> None:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = browser.new_context(viewport={"width": (1400, 700)[nth % 2], "height": 900})
            context.set_default_timeout(MOVED_MS)
            context.set_default_navigation_timeout(ANSWER_MS)
            someone = Person(self, nth, self.seed, context.new_page())
            while time.monotonic() < self._end:
                if self._still.is_set():
                    path = someone.rest()
                    self._barrier.wait(QUIET_MAX)  # all are still
                    self._barrier.wait(4 * QUIET_MAX)  # it is quiet
                    someone.compare(path)
                    self._barrier.wait(QUIET_MAX)
                    continue
                try:
                    someone.deed()
                    self._count("deeds")
                except Error as error:
                    self._trouble(f"deed: {str(error)[:120]}")
            self._barrier.abort()
            browser.close()

    def _commands(self, file: Path) -> None:
        """Somebody at the command line, and a file that grows."""
        dice = random.Random(self.seed)
        for nth in self._turns(pause=1.0):
            if self._still.is_set():
                for _ in range(3):
                    self._barrier.wait(4 * QUIET_MAX)
                continue
            if nth % 4 == 0:
                with file.open("a") as end:
                    end.write(f"- [ ] grown {nth}\n")
            titles = [f"{one} {of}" for one in TOPICS for of in range(4)]
            self.write(f"note {nth}", "task", "note", dice.choice(titles), f"note {nth}")
            self.write(f"by command {nth}", "task", "add", f"by command {nth}")
            if nth % 5 == 0:
                self.command("import", str(file))

    def _trouble(self, what: str) -> None:
        """Not that a command names a task which somebody renamed or deleted meanwhile."""
        if not EXPECTED.search(what):
            super()._trouble(what)

    def _rounds(self) -> None:
        nth = 0
        while time.monotonic() < self._end - ROUND_SECONDS / 2:
            time.sleep(min(ROUND_SECONDS, max(0.0, self._end - time.monotonic() - 20)))
            nth += 1
            self._still.set()
            self._barrier.wait(QUIET_MAX)
            self.write(f"last word {nth}", "task", "add", f"last word {nth}")
            self._wait_quiet()
            self._whole(f"round {nth}")
            time.sleep(FRESH_SECONDS)
            self._still.clear()
            self._barrier.wait(QUIET_MAX)
            self._barrier.wait(QUIET_MAX)
            done = f"{self.counts['deeds']} deeds, {len(self.troubles)} troubles"
            print(f"round {nth}: {done}", flush=True)

    def _wait_quiet(self) -> None:
        until, last, since = time.monotonic() + QUIET_MAX, -1, time.monotonic()
        while time.monotonic() < until:
            now = _rows(self.home)
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > QUIET_SECONDS:
                return
            time.sleep(0.3)
        self._trouble("it does not come to rest")

    def _whole(self, when: str) -> None:
        found = [str(one) for one in checker.findings(self.home)]
        with open_home(self.home, self._environ) as opened:
            found += whole.faults(opened.services, is_finished=False)
        for one in found:
            self._trouble(f"{when}: {one}")


def _rows(home: Path) -> int:
    total = 0
    for name in ("journal.db", "agent.db"):
        with closing(sqlite3.connect(f"file:{home / name}?mode=ro", uri=True)) as connection:
            total += connection.execute("SELECT count(*) FROM stored_events").fetchone()[0]
    return total


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wakelog", type=Path, default=Path(sys.executable).with_name("wakelog"))
    parser.add_argument("--keep", type=Path, help="leave the home in this new folder")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep.absolute() if given.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=not given.keep)
        soak = TwoBrowsers(given.wakelog.absolute(), folder, 60 * given.minutes, given.seed)
        begun = time.monotonic()
        try:
            soak.run()
        finally:
            for process in tuple(soak.living):
                soak.ended(process)
        is_well = told(soak, (time.monotonic() - begun) / 60) and not soak.troubles
        for what, times in soak.unsent.most_common(15):
            print(f"  not sent, {times} times: {what}")
    return 0 if is_well else 1


if __name__ == "__main__":
    raise SystemExit(main())
