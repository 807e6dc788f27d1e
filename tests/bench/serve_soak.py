"""Everything at once on one home, and then every write that was acknowledged is looked for.

    .venv/bin/python tests/bench/serve_soak.py [MINUTES] [--wakelog PATH] [--keep DIR]

A server with its page and its jobs, now and then a runtime beside it, with or without a page of
its own, and commands that write, import, back up, ask and prove. A write counts as acknowledged
where a command ended with status 0, or the page answered with 200. Another revision is driven by
naming its `wakelog`: nothing here imports the code that is asked.
"""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from collections.abc import Callable
from functools import partial
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.serving import Browser, fallen, free_port, written

TASKS = ("Fix the sink", "Paint the door", "Mow the lawn", "Renew the passport")
COMMAND_SECONDS = 120
START_SECONDS = 30
END_SECONDS = 60
RUN_SECONDS = 8.0
LOOK_SECONDS = 0.05
WRITES_MAX = 20_000  # of one writer
HTTP = (urllib.error.URLError, HTTPException, OSError, StopIteration)


class Soak:
    """One home, who works on it, and what each of them was told."""

    def __init__(self, wakelog: Path, folder: Path, seconds: float) -> None:
        self.home = folder / "home"
        self.folder = folder
        self.seconds = seconds
        self.acknowledged: list[str] = []
        self.counts: Counter[str] = Counter()
        self.troubles: Counter[str] = Counter()
        self.deleted: set[tuple[int, str]] = set()
        self.living: list[subprocess.Popen[bytes]] = []
        self._wakelog = str(wakelog)
        self._lock = threading.Lock()
        self._end = 0.0
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        self._environ = kept | {"HOME": str(folder), "WAKELOG_HOME": str(self.home)}

    # ------------------------------------------------------------------------------------ commands

    def command(self, *args: str) -> "subprocess.CompletedProcess[str]":
        """A command that has ended, with whatever status."""
        self._count("processes")
        done = subprocess.run(
            [self._wakelog, *args],
            cwd=self.folder,
            env=self._environ,
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_SECONDS,
            check=False,
        )
        if done.returncode:
            self._trouble(f"{args[0]}: {done.stderr.strip().splitlines()[-1:]}")
        return done

    def write(self, told: str, *args: str) -> None:
        """A command that writes a text."""
        if self.command(*args).returncode == 0:
            self._acknowledge(told)

    def begun(self, *args: str) -> "subprocess.Popen[bytes]":
        """A process that is left running."""
        self._count("processes")
        with (self.folder / f"{args[0]}.log").open("ab") as log:
            process = subprocess.Popen(
                [self._wakelog, *args],
                cwd=self.folder,
                env=self._environ,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.living.append(process)
        return process

    def ended(self, process: "subprocess.Popen[bytes]") -> None:
        """End a process as a person does."""
        process.send_signal(signal.SIGINT)
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self._trouble("a process that had to be killed")
        self.living.remove(process)

    def page(self, port: int) -> Browser:
        """Somebody at a page that answers."""
        browser = Browser(f"http://127.0.0.1:{port}")
        until = time.monotonic() + START_SECONDS
        while not browser.is_answered():
            assert time.monotonic() < until, "the page does not answer"
            time.sleep(0.1)
        return browser

    # ------------------------------------------------------------------------------------- workers

    def _visits(self, browser: Browser) -> None:
        """Somebody who adds tasks and notes on the page."""
        tasks = browser.json("/tasks")["tasks"]
        for nth in self._turns(pause=0.3):
            task = f"/tasks/{tasks[nth % len(tasks)]['id']}"
            self._send(browser, "/tasks", "/tasks", title=f"page task {nth}")
            self._send(browser, task, f"{task}/note", text=f"page note {nth}")

    def _jobs(self, browser: Browser) -> None:
        """Somebody who keeps the server's threads busy."""
        agents = browser.json("/agents")["agents"]
        for nth in self._turns(pause=0.5):
            agent = f"/agents/{agents[nth % len(agents)]['id']}"
            deeds = (
                lambda: browser.page("/templates"),
                lambda agent=agent: browser.send(agent, f"{agent}/wake"),
                lambda: browser.send("/health", "/prove"),
                lambda: browser.json("/wakes"),
            )
            self._http("jobs", deeds[nth % len(deeds)])

    def _runs(self) -> None:
        """A runtime that comes and goes; every second time it has a page, too."""
        for nth in self._turns(pause=3.0):
            port = free_port()
            more = ("--serve", "--port", str(port)) if nth % 2 else ()
            process = self.begun("run", *more)
            until = time.monotonic() + RUN_SECONDS
            browser = self.page(port) if more else None
            while time.monotonic() < min(until, self._end):
                time.sleep(0.5)
                if browser is not None:
                    text = f"run task {self.counts['page requests']} {nth}"
                    self._send(browser, "/tasks", "/tasks", title=text)
                    self._http("jobs", partial(browser.page, "/templates"))
            self.ended(process)

    def _writes(self) -> None:
        for nth in self._turns(pause=0.2):
            self.write(f"note {nth}", "task", "note", TASKS[nth % len(TASKS)], f"note {nth}")
            self.write(f"label-{nth}", "label", "add", f"label-{nth}")

    def _imports(self) -> None:
        for nth in self._turns(pause=0.5):
            titles = [f"import {nth} {one}" for one in range(3)]
            file = self.folder / f"todo-{nth}.md"
            file.write_text("".join(f"- [ ] {title}\n" for title in titles), encoding="utf-8")
            if self.command("import", str(file)).returncode == 0:
                self._acknowledge(*titles)
            file.unlink()

    def _reads(self) -> None:
        for nth in self._turns(pause=0.5):
            self.command("sql", "SELECT count(*) FROM wakes")
            self.command("status")
            self._backs_up(self.folder / f"backup-{nth}")

    def _backs_up(self, copy: Path) -> None:
        """Copy the home, and prove the copy; one that cannot be proved is left to be looked at."""
        if self.command("backup", str(copy)).returncode:
            return
        if self.command("--home", str(copy), "prove").returncode == 0:
            shutil.rmtree(copy)

    def _looks(self) -> None:
        """Look at the open files of all that run."""
        while time.monotonic() < self._end:
            for process in tuple(self.living):
                try:
                    found = fallen(process.pid, self.home)
                except OSError:  # it has ended
                    continue
                self.deleted |= {(process.pid, name) for name in found}
            time.sleep(LOOK_SECONDS)

    # ------------------------------------------------------------------------------------- the run

    def run(self) -> None:
        """Make the home, let all of them work at once, end everything."""
        for title in TASKS:
            self.write(title, "task", "add", title)
        self.command("agent", "create", "--all")
        self.command("wake")
        port = free_port()
        server = self.begun("serve", "--port", str(port))
        browser = self.page(port)
        self._end = time.monotonic() + self.seconds
        works: list[Callable[[], None]] = [
            lambda: self._visits(browser),
            lambda: self._jobs(self.page(port)),
            self._runs,
            self._writes,
            self._imports,
            self._reads,
            self._looks,
        ]
        threads = [threading.Thread(target=self._guarded, args=(one,)) for one in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.ended(server)

    def found(self) -> Counter[str]:
        """What stands in the journal."""
        try:
            return written(self.home)
        except Exception as error:  # noqa: BLE001  whatever is left of the file: nothing was found
            self._trouble(f"the journal: {error}")
            return Counter()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  one worker's end is told, the others go on
            self._trouble(f"a worker ended: {error!r}")

    def _turns(self, pause: float) -> Any:
        for nth in count(1):
            if time.monotonic() >= self._end or nth > WRITES_MAX:
                return
            yield nth
            time.sleep(pause)

    def _send(self, browser: Browser, page: str, action: str, **fields: str) -> None:
        """A form that writes a text."""
        if self._http("page requests", lambda: browser.send(page, action, **fields)):
            self._acknowledge(*fields.values())

    def _http(self, what: str, ask: Callable[[], Any]) -> Any:
        self._count(what)
        try:
            return ask()
        except HTTP as error:
            self._trouble(f"{what}: {error!r}")
            return None

    def _acknowledge(self, *texts: str) -> None:
        with self._lock:
            self.acknowledged += texts

    def _count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def _trouble(self, what: str) -> None:
        with self._lock:
            self.troubles[what[:160]] += 1


def told(soak: Soak, minutes: float) -> bool:
    """Print what came of it; whether all is well."""
    found = soak.found()
    kept = [text for text in soak.acknowledged if found[text]]
    twice = [text for text in soak.acknowledged if found[text] > 1]
    checks = {name: soak.command(name) for name in ("prove", "doctor")}
    print(f"{minutes:.1f} minutes, {dict(soak.counts)}")
    print(
        f"writes acknowledged {len(soak.acknowledged):,}, found {len(kept):,}, twice {len(twice)}"
    )
    print(f'"(deleted)" descriptors ever seen: {len(soak.deleted)}')
    for name, done in checks.items():
        said = (done.stdout + done.stderr).strip().splitlines()
        print(f"{name}: status {done.returncode}: {said[-1] if said else ''}")
        if name == "doctor" and done.returncode:
            print("\n".join(line for line in said if line.startswith("FIND")))
    for what, times in soak.troubles.most_common(10):
        print(f"  {times} times: {what}")
    for text in [one for one in soak.acknowledged if not found[one]][:5]:
        print(f"  lost: {text}")
    is_well = not soak.deleted and not twice and len(kept) == len(soak.acknowledged)
    return is_well and not any(done.returncode for done in checks.values())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", type=float, nargs="?", default=10.0)
    parser.add_argument("--wakelog", type=Path, default=Path(sys.executable).with_name("wakelog"))
    parser.add_argument("--keep", type=Path, help="leave the home in this new folder")
    given = parser.parse_args(arguments)
    print(f"{given.wakelog}; {os.cpu_count()} cores, {platform.platform()}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep.absolute() if given.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=not given.keep)
        soak = Soak(given.wakelog.absolute(), folder, 60 * given.minutes)
        begun = time.monotonic()
        try:
            soak.run()
        finally:
            for process in tuple(soak.living):
                soak.ended(process)
        is_well = told(soak, (time.monotonic() - begun) / 60)
        if given.keep:
            print(f"the home: {soak.home}")
    return 0 if is_well else 1


if __name__ == "__main__":
    raise SystemExit(main())
