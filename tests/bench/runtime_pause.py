"""Runtimes that are stopped in the middle of a call and lose their leases: nothing done twice.

python tests/bench/runtime_pause.py [--pauses 40] [--agents 24] [--runtimes 6] [--keep DIR]

A local server speaks as Gemini does and thinks a while; each wake sets its task's language at once,
proposes an estimate and reports. Of several runtimes some are stopped (SIGSTOP) while they wait for
the model, and some while a tool's effect waits for the journal, which this process locks. Once
their leases have run out and others have taken over their wakes, half of them are killed and half
go on (SIGCONT): what they still have to say is late. At the end all is settled, proved, and looked
through by a stranger (`tests.support.checker`).
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from domain.journal.commands import EditTask
from tests.bench import accounts
from tests.support import checker
from tests.support.checking import payloads
from tests.support.checking.logs import opened
from tests.support.consents import agreed
from tests.support.gemini import environment
from tests.support.gemini_server import KEY, SIGNATURE, GeminiServer, answer, call, text
from tests.support.process import begun, until
from tests.support.scripted_server import Answer, Sent, served

ENVIRON = {"WAKELOG_REPLICA": "r1"}
LANGUAGES = ("en", "de", "fr", "it", "es", "nl", "pl", "sv")
REPORT = {"content": "Looked at.", "tldr": "Fine.", "oneLiner": "All is well"}
THINKING_SECONDS = (0.2, 2.5)
STARTED_SECONDS = 60.0
SPREAD_SECONDS = 0.05
FREE_MILLISECONDS = 1_000  # that others' writes may take
LOCKED_SECONDS = 15.0  # below what a writer waits for the lock
LOST_SECONDS = 90.0  # within which a paused runtime's wakes are taken over
SETTLED_SECONDS = 300.0
AT_ONCE = 4  # runtimes that are paused in a round, at most
ASKED = """
SELECT topic, CAST(state AS TEXT) ->> '$.data.attempt' FROM stored_events
WHERE originator_id = ? ORDER BY originator_version DESC LIMIT 1
"""
LATE = "SELECT count(*) FROM stored_events WHERE topic = 'wake.late_reply.1'"
AGAIN = """
SELECT topic, count(*) FROM stored_events
WHERE topic LIKE 'wake.%_asked.1' AND CAST(state AS TEXT) ->> '$.data.attempt' > 1 GROUP BY 1
"""


class Thinking(GeminiServer):
    """Answers each turn of a wake by its place in the conversation, after a while."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(())
        self._dice = dice
        self.asked = 0

    def take(self, sent: Sent) -> Answer:
        turn = sum(content["role"] == "model" for content in sent.contents)
        with self._lock:
            self.asked += 1
            language, minutes = self._dice.choice(LANGUAGES), self._dice.randrange(15, 900, 15)
            seconds = self._dice.uniform(*THINKING_SECONDS)
        if sent.headers.get("x-goog-api-key") != KEY:
            self.broken.append("a wrong key")
        return self._said(turn, language, minutes)._replace(seconds=seconds)

    def handle_error(self, request: object, client_address: object) -> None:
        """Who asks may be killed at any moment: what it left unsaid is no fault."""

    def _said(self, turn: int, language: str, minutes: int) -> Answer:
        if turn == 0:
            named = {"languageCode": language, "confidence": "high"}
            first = call("set_task_language", named, call_id="l1", signature=SIGNATURE)
            return answer(first, call("update_task_estimate", {"minutes": minutes}, call_id="e1"))
        if turn == 1:
            return answer(call("update_report", REPORT, signature=SIGNATURE))
        return answer(text("All is said."))


class Paused(NamedTuple):
    """A runtime that was stopped, at which wakes, and in what."""

    process: "subprocess.Popen[bytes]"
    wakes: list[tuple[str, str, int]]  # run key, kind of the open intent, its attempt


class Pauses:
    """Several runtimes on one home, and what pausing them came to."""

    def __init__(self, home: Path, given: argparse.Namespace, environ: dict[str, str]) -> None:
        self.home, self._environ = home, environ
        self._dice = random.Random(given.seed)
        self._nth = 0
        self.all = [self._begun() for _ in range(given.runtimes)]
        self.counts = Counter[str]()
        self.left: list[str] = []  # wakes that nobody took over in time

    def _begun(self) -> "subprocess.Popen[bytes]":
        self._nth += 1
        log = self.home.parent / f"run-{self._nth}.log"
        process = begun(self.home, "--json", "run", log=log, more=self._environ)
        until(lambda: '"started"' in log.read_text(encoding="utf-8"), STARTED_SECONDS)
        return process

    def round(self, tasks: list[str], count: int) -> None:
        """Pause runtimes in both kinds of calls, let their leases run out, and end the pauses."""
        paused: list[Paused] = []
        for kind in ("tool", "model"):
            self._spread(tasks)
            paused += self._stopped(kind, (count + 1) // 2, [one.process for one in paused])
        for one in paused:
            self._lost(one)
        for nth, one in enumerate(paused):
            is_killed = nth % 2 == 0
            one.process.send_signal(signal.SIGKILL if is_killed else signal.SIGCONT)
            self.counts["killed" if is_killed else "gone on"] += 1
            if is_killed:
                one.process.wait()
                self.all[self.all.index(one.process)] = self._begun()

    def _spread(self, tasks: list[str]) -> None:
        """Change every task, one by one, so that no runtime gets all of the wakes."""
        with open_home(self.home, ENVIRON, is_writing=True) as home:
            for task in self._dice.sample(tasks, len(tasks)):
                title = f"Task, change {self._dice.randrange(10**9)}"
                home.services.append_journal(EditTask(task, title=title))
                time.sleep(SPREAD_SECONDS)

    def _stopped(
        self, kind: str, count: int, others: list["subprocess.Popen[bytes]"]
    ) -> list[Paused]:
        """Stop so many while they wait for the model, or for the journal, which is locked."""
        found: list[Paused] = []
        with closing(sqlite3.connect(self.home / "journal.db", isolation_level=None)) as journal:
            journal.execute("PRAGMA busy_timeout = 30000")
            if kind == "tool":
                journal.execute("BEGIN IMMEDIATE")
            end = time.monotonic() + LOCKED_SECONDS
            while len(found) < count and time.monotonic() < end:
                running = [one for one in self.all if one not in others]
                victim = next((one for one in running if self._is_at(one, kind)), None)
                if victim is None:
                    time.sleep(0.02)
                    continue
                victim.send_signal(signal.SIGSTOP)
                if not self._is_writable("agent.db", "runtime.db", "views.db"):
                    victim.send_signal(signal.SIGCONT)  # it is just writing: nobody could go on
                    self.counts["caught in a write"] += 1
                    continue
                found.append(Paused(victim, self._at(victim)))
                others = [*others, victim]
            if kind == "tool":
                journal.execute("ROLLBACK")
        for one in found:
            self.counts[f"paused in a {kind}'s call"] += kind in {at for _, at, _ in one.wakes}
        return found

    def _is_writable(self, *names: str) -> bool:
        """Whether nobody holds the lock of any of these files for a moment."""
        for name in names:
            with closing(sqlite3.connect(self.home / name, isolation_level=None)) as file:
                file.execute(f"PRAGMA busy_timeout = {FREE_MILLISECONDS}")
                try:
                    file.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError:
                    return False
        return True

    def _is_at(self, victim: "subprocess.Popen[bytes]", kind: str) -> bool:
        assert victim.poll() is None, "a runtime has ended"
        return any(at == kind for _, at, _ in self._at(victim))

    def _at(self, victim: "subprocess.Popen[bytes]") -> list[tuple[str, str, int]]:
        """The wakes that a runtime has leases for and that wait for something."""
        with closing(sqlite3.connect(self.home / "runtime.db")) as leases:
            sql = "SELECT run_key FROM leases WHERE pid = ?"
            keys = [key for (key,) in leases.execute(sql, (victim.pid,))]
        found = []
        with closing(sqlite3.connect(self.home / "agent.db")) as log:
            for key in keys:
                topic, attempt = log.execute(ASKED, (f"wake:{key}@r1",)).fetchone() or ("", 0)
                if topic.endswith("_asked.1"):
                    kind = topic.removeprefix("wake.").removesuffix("_asked.1")
                    found.append((key, kind, attempt))
        return found

    def _lost(self, one: Paused) -> None:
        """Wait until others have taken over each wake of a paused runtime."""
        for key, _, attempt in one.wakes:
            try:
                until(partial(self._is_taken, key, attempt), LOST_SECONDS)
                self.counts["wakes taken over"] += 1
            except AssertionError:
                self.left.append(key)
                print(f"  {key} was not taken over in {LOST_SECONDS:.0f} s", flush=True)

    def _is_taken(self, key: str, attempt: int) -> bool:
        sql = "SELECT state FROM stored_events WHERE originator_id = ?"
        with closing(sqlite3.connect(self.home / "agent.db")) as log:
            rows = [json.loads(state)["data"] for (state,) in log.execute(sql, (f"wake:{key}@r1",))]
        tried = max((row.get("attempt", 0) for row in rows), default=0)
        return tried > attempt or rows[-1]["kind"] == "wake.finished.1"

    def end(self) -> None:
        """Stop all runtimes, the paused ones too."""
        for one in self.all:
            one.send_signal(signal.SIGCONT)
            one.terminate()
        for one in self.all:
            one.wait(60)


def settled(home: Path) -> accounts.Books:
    """Wait until every change has its fate and every wake its end."""

    def done() -> accounts.Books | None:
        found = accounts.books(home)
        return None if found.missing or found.open_wakes else found

    found: accounts.Books = until(done, SETTLED_SECONDS, 1.0)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run; how much is wrong at the end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pauses", type=int, default=40)
    parser.add_argument("--agents", type=int, default=24)
    parser.add_argument("--runtimes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--keep", type=Path, help="where the home and its logs are copied to")
    given = parser.parse_args(arguments)
    start = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Thinking(random.Random(given.seed))) as server,
    ):
        home = Path(folder) / "home"
        tasks = accounts.make(home, given.agents, 1, ENVIRON)
        agreed(home, environ=ENVIRON)
        with (home / "settings.toml").open("a") as settings:
            settings.write(f"parallel = {given.agents}\n")
        run = Pauses(home, given, {**ENVIRON, **environment(server), "WAKELOG_MODEL": "gemini"})
        try:
            while (left := given.pauses - run.counts["killed"] - run.counts["gone on"]) > 0:
                run.round(tasks, min(left, AT_ONCE, given.runtimes - 1))
                seconds = time.monotonic() - start
                print(f"{seconds:5.0f} s: {dict(run.counts)}", flush=True)
            books = settled(home)
        finally:
            run.end()
        found = judged(home, books) + len(run.left)
        if given.keep:
            shutil.copytree(folder, given.keep)
        print(f"{server.asked} questions to the model, {books.wakes} wakes, {found} faults")
    return found


def judged(home: Path, books: accounts.Books) -> int:
    """Print what the logs say; how much is wrong in them."""
    with closing(sqlite3.connect(home / "agent.db")) as log:
        late = log.execute(LATE).fetchone()[0]
        again = dict(log.execute(AGAIN).fetchall())
    print(f"{books.triggers} triggers, {books.double} twice, {books.missing} missing")
    print(f"{late} late replies; asked for again: {again}; {accounts.proved(home)} rows proved")
    found = checker.findings(home, is_settled=True)
    found += payloads.check_secrets(opened(home), {"GEMINI_API_KEY": KEY})
    for one in found:
        print(f"  {one}")
    return len(found) + books.double + books.missing + books.overlaps + books.open_wakes


if __name__ == "__main__":
    raise SystemExit(1 if main() else 0)
