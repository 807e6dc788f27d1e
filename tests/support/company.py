"""Who works on a home beside a busy process: a served page with its jobs, and commands of the
person. Each may be killed at any moment; what was acknowledged must be there afterwards."""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from tests.support import killing
from tests.support.process import ROOT, command
from tests.support.serving import Browser, fallen

DEEDS = ("import", "backup", "sql")
KILLED_SHARE = 0.5  # of the commands
SERVER_SHARE = 0.15  # of the rounds
PAUSE_SECONDS = 0.01
COMMAND_SECONDS = 2.0  # within which a command or a server is killed
NO_ANSWER = (OSError, HTTPException)
"""What a visitor meets at a server that is gone; of a refusal the server says why."""


class Server:
    """`wakelog serve` on a home, and a person at its page."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._log = home.parent / "serve.log"
        with self._log.open("ab") as told:
            self.process = subprocess.Popen(
                [*command("serve", "--port", "0")],
                cwd=ROOT,
                env=killing.environ(home) | {"PYTHONUNBUFFERED": "1"},
                stdout=subprocess.PIPE,
                stderr=told,
                encoding="utf-8",
            )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip().rstrip("/")
        self._browser = Browser(self.address)

    def get(self, path: str) -> str:
        """A page; empty where there is no answer."""
        try:
            return self._browser.page(path)
        except NO_ANSWER:
            return ""

    def send(self, path: str, action: str, **fields: str) -> bool:
        """Send a form of a page; whether it was acknowledged."""
        try:
            return self._browser.send(path, action, **fields)
        except NO_ANSWER:
            return False

    def deleted(self) -> list[str]:
        """The files that the server has open and that are gone."""
        try:
            return [f"serve writes to {one}" for one in fallen(self.process.pid, self._home)]
        except OSError:  # it is gone
            return []

    def said(self) -> str:
        """What its log holds of faults."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return "\n".join(line for line in lines if "Traceback" in line or "Error" in line)

    def stop(self) -> None:
        """End it as a person does."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


class Visits:
    """What somebody does at the page, one thing after the other; `notes` were acknowledged."""

    def __init__(self, server: Server, dice: random.Random, agents: Sequence[tuple[str, str]]):
        self._server, self._dice, self._agents = server, dice, agents
        self.notes: list[str] = []
        self.count = 0

    def one(self, name: str) -> None:
        """One thing: a note, figures, "Wake now" or "Prove"."""
        self.count += 1
        agent, task = self._dice.choice(self._agents)
        match self._dice.choice(("note", "note", "figures", "wake", "prove")):
            case "note":
                text = f"From the page ({name} {self.count})"
                url = f"/tasks/{task}"
                if self._server.send(url, f"{url}/note", verb="add", text=text):
                    self.notes.append(text)
            case "figures":
                self._server.get("/templates")
            case "wake":
                url = f"/agents/{agent}"
                self._server.send(url, f"{url}/wake")
            case _:
                self._server.send("/health", "/prove")


# ------------------------------------------------------------------------------------- commands


class Deed(NamedTuple):
    """A command of the person that has begun. `name`: what it is."""

    name: str
    process: "subprocess.Popen[str]"


class Person:
    """Gives commands; remembers what they acknowledged. `copies`: whole backups."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._list = home.parent / "lists.md"
        self._titles: list[str] = []
        self._copy = home
        self.imported: list[str] = []
        self.copies: list[Path] = []
        self.counts = dict.fromkeys(DEEDS, 0)

    def begin(self, name: str, round_name: str) -> Deed:
        """Begin a command."""
        match name:
            case "import":
                self._titles.append(f"brought in {round_name}")
                boxes = "".join(f"  - [ ] {title}\n" for title in self._titles)
                self._list.write_text(f"- [ ] A list #home\n{boxes}", encoding="utf-8")
                args = ["import", str(self._list)]
            case "backup":
                self._copy = self._home.parent / f"copy-{round_name}"
                args = ["backup", str(self._copy)]
            case _:
                args = ["sql", "SELECT count(*) FROM wakes"]
        process = subprocess.Popen(
            command(*args),
            cwd=ROOT,
            env=killing.environ(self._home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        return Deed(name, process)

    def end(self, deed: Deed) -> list[str]:
        """Wait for it; what went wrong, unless it was killed."""
        said, errors = deed.process.communicate(timeout=120)
        status = deed.process.returncode
        if status == -signal.SIGKILL:
            return []
        if status:
            return [f"{deed.name}: status {status}: {errors.strip() or said.strip()}"]
        self.counts[deed.name] += 1
        if deed.name == "import":
            self.imported = list(self._titles)
        elif deed.name == "backup":
            self.copies.append(self._copy)
        return []


# ----------------------------------------------------------------------------------- all of them


class Company:
    """A person with commands and, if wanted, a served page, beside a process that is killed."""

    def __init__(self, home: Path, dice: random.Random, agents: Sequence[tuple[str, str]]) -> None:
        self._home, self._dice, self._agents = home, dice, agents
        self.person = Person(home)
        self.notes: list[str] = []
        self.visits = 0
        self.kills = 0
        self.server: Server | None = None

    def open(self) -> None:
        """Serve the page."""
        self.server = Server(self._home)

    def beside(self, name: str, timer: threading.Timer) -> list[str]:
        """Give commands and visit the page until the timer has rung; what went wrong."""
        begun = [self.person.begin(deed, name) for deed in self._dice.sample(DEEDS, 2)]
        victims = [deed for deed in begun if self._dice.random() < KILLED_SHARE]
        timers = [timer, *(self._doom(deed.process) for deed in victims)]
        if self.server is not None:
            self._visit(self.server, name, timers)
        found = [fault for deed in begun for fault in self.person.end(deed)]
        self.kills += sum(deed.process.returncode == -signal.SIGKILL for deed in begun)
        return found

    def _visit(self, server: Server, name: str, timers: list[threading.Timer]) -> None:
        is_victim = self._dice.random() < SERVER_SHARE
        if is_victim:
            timers.append(self._doom(server.process))
        visits = Visits(server, self._dice, self._agents)
        while any(one.is_alive() for one in timers):
            visits.one(name)
            time.sleep(PAUSE_SECONDS)
        self.notes += visits.notes
        self.visits += visits.count
        if is_victim:
            server.process.communicate()
            self.kills += 1
            self.open()

    def _doom(self, process: "subprocess.Popen[str]") -> threading.Timer:
        return killing.killed_after(process, self._dice.uniform(0.0, COMMAND_SECONDS))

    def close(self) -> list[str]:
        """End the page as a person does; what it had to say."""
        if self.server is None:
            return []
        gone = self.server.deleted()
        self.server.stop()
        said = self.server.said()
        self.server = None
        return [*gone, *([f"serve: {said}"] if said else [])]
