"""Somebody in a real browser who fills in forms of the page by chance: see `two_browsers.py`."""

import random
import re
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error

from tests.support.serving import Browser

if TYPE_CHECKING:
    from tests.bench.two_browsers import TwoBrowsers

FRESH_SECONDS = 20.0  # in which a page that was left open shows what a new one shows
ANSWER_MS = 20_000
LOOK_MS = 250
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
            if not self._send():
                break  # its answer may still come, and is nobody else's
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

    def _send(self) -> bool:
        """A form of the page, filled in by chance; whether an answer came, if one was sent."""
        actions = self.page.evaluate(FORMS)
        choices = [
            (nth, action)
            for nth, action in enumerate(actions)
            if not action.endswith(FINAL) or self.dice.random() < RARE
        ]
        if not choices:
            return True
        # one of a kind: a page of fifty cards is no fifty deeds
        kind = self.dice.choice(sorted({action for _, action in choices}))
        nth = self.dice.choice([nth for nth, action in choices if action == kind])
        form = self.page.locator(f"form[data-nth='{nth}']")
        try:
            written = self._fill(form, kind)
            buttons = [one for one in form.locator("button").all() if one.is_visible()]
        except Error:  # news came, and the page was made anew
            self.soak._count("forms that moved")
            return True
        return not buttons or self._clicked(self.dice.choice(buttons), kind, written)

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

    def _clicked(self, button: Any, action: str, written: str) -> bool:
        """Press it, and read the answer; whether one came, if it was sent."""
        is_end = action.endswith("/life") and "estroy" in button.inner_text()
        if is_end and self.dice.random() > RARE:
            return True
        kind = re.sub(r"[a-z0-9]{30,}", "ID", action)
        try:
            with self.page.expect_response(_is_post, timeout=2 * MOVED_MS) as sent:
                button.click(timeout=2 * MOVED_MS)
        except Error as error:
            # a form that the browser holds back, a page that moved: nothing was sent
            self.soak._count(f"not sent {kind}")
            self.soak.unsent[f"{kind}: {str(error).splitlines()[0][:80]}"] += 1
            return False
        status = sent.value.status
        self.soak._count(f"sent {kind} {status}")
        if status == 303 and written:
            self.soak._acknowledge(written)
        try:
            if action not in ("/theme", "/keys"):
                self.page.wait_for_selector("#told .told", timeout=ANSWER_MS)
        except Error:
            self._trouble(f"{status} of {kind} said nothing")
        return True

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
        until, texts = time.monotonic() + FRESH_SECONDS, self._texts(both)
        while texts[0] != texts[1] and time.monotonic() < until:
            self.page.wait_for_timeout(LOOK_MS)
            texts = self._texts(both)
        tails = [one.evaluate("document.getElementById('page').dataset.tail") for one in both]
        fresh.close()
        self.soak._count("pages compared")
        if texts[0] != texts[1]:
            pairs = zip(texts[0].splitlines(), texts[1].splitlines(), strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
            self.soak._trouble(f"stale {path}: {tails}: {first[0][:60]!r} is {first[1][:60]!r}")

    def _texts(self, pages: Iterable[Any]) -> list[str]:
        return [AGO.sub("", one.evaluate(SHOWN)) for one in pages]


def _is_post(answer: Any) -> bool:
    return bool(answer.request.method == "POST")
