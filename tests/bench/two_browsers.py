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
import traceback
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from tests.bench.serve_soak import Soak, told
from tests.bench.two_people import ANSWER_MS, MOVED_MS, TOPICS, Person
from tests.support import checker, whole
from tests.support.browsing import CHROMIUM, FLAGS
from tests.support.serving import free_port

PEOPLE = 2
ROUND_SECONDS = 60.0
QUIET_SECONDS = 3.0  # without a new row: what was asked for is done
QUIET_MAX = 180.0
MEET_SECONDS = 600.0  # in which all come to the end of a round, however busy the machine is
EXPECTED = re.compile(r"^task: .*(there is no task|several tasks|is deleted)")


class TwoBrowsers(Soak):
    """One home; a runtime with its page, people in browsers, and commands."""

    def __init__(self, wakelog: Path, folder: Path, seconds: float, seed: int) -> None:
        super().__init__(wakelog, folder, seconds)
        self.seed = seed
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.unsent: Any = type(self.counts)()
        self._still, self._over = threading.Event(), threading.Event()
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
        self._over.set()
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
            while not self._over.is_set():
                if not self._still.is_set():
                    self._tried("deed", someone.deed)
                    self._count("deeds")
                    continue
                path = self._tried("rest", someone.rest)
                self._meet()  # all are still
                self._meet()  # it is quiet
                if path:
                    self._tried("compare", partial(someone.compare, path))
                self._meet()
            browser.close()

    def _tried(self, name: str, work: Callable[[], Any]) -> Any:
        """What a piece of work came to; who fails at it goes on, and the others need not wait."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001  whatever it is: it is told, and the others go on
            print(f"{name}: {''.join(traceback.format_exception(error)[-2:])}", flush=True)
            self._trouble(f"{name}: {error!r}")

    def _meet(self) -> None:
        self._barrier.wait(MEET_SECONDS)

    def _commands(self, file: Path) -> None:
        """Somebody at the command line, and a file that grows."""
        dice = random.Random(self.seed)
        for nth in count(1):
            if self._over.wait(1.0):
                return
            if not self._still.is_set():
                self._tried("command", partial(self._command, nth, dice, file))
                continue
            for _ in range(3):
                self._meet()

    def _command(self, nth: int, dice: random.Random, file: Path) -> None:
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
        """Let them work and hold still by turns; the last round ends their work."""
        for nth in count(1):
            if self._over.is_set():
                return
            time.sleep(ROUND_SECONDS)
            self._still.set()
            self._meet()
            self._tried("last word", partial(self._last_word, nth))
            self._still.clear()
            self._meet()
            if time.monotonic() > self._end - ROUND_SECONDS / 2:
                self._over.set()  # before they meet: nobody begins anything more
            self._meet()
            done = f"{self.counts['deeds']} deeds, {len(self.troubles)} troubles"
            print(f"round {nth}: {done}", flush=True)

    def _last_word(self, nth: int) -> None:
        self.write(f"last word {nth}", "task", "add", f"last word {nth}")
        self._wait_quiet()
        self._whole(f"round {nth}")

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
