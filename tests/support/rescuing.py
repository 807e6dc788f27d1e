"""Homes on a disk that meet in a folder, and are copied, restored and rescued. What was done and
what is there is counted by SQLite and JSON alone."""

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple

from adapters.documents.sync import RescueReport, SyncReport
from adapters.home.home_location import FolderLocation
from adapters.sync.rescue import RescueStep, rescue
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_home
from adapters.wiring import open_home
from domain.errors import Refused, WakelogError
from domain.journal import commands as do
from domain.log.keys import payload_id
from domain.log.timestamps import later
from domain.log.wire import Payload, Words
from tests.support import cli
from tests.support.services import START

CUT = 9  # the status of a process that ends in the middle


class Machine:
    """A home, under the name that the variable gives it."""

    seconds = 0

    def __init__(self, home: Path, name: str = "") -> None:
        self.home, self.name = home, name or home.name

    @property
    def environ(self) -> Mapping[str, str]:
        return {"WAKELOG_REPLICA": self.name, "WAKELOG_TIMEZONE": "UTC"}

    def do(self, command: do.JournalCommand, key: str = "", *payloads: Payload) -> tuple[str, ...]:
        """What it names; nothing where it is refused."""
        Machine.seconds += 60
        with open_home(self.home, self.environ, is_writing=True) as home:
            now = later(START, seconds=self.seconds)
            try:
                journal = home.services.journal
                return journal.append(command, now, key=key, payloads=payloads).result.ids
            except WakelogError:
                return ()

    def sync(self, folder: Path) -> SyncReport:
        with open_home(self.home, self.environ, is_writing=True) as home:
            return sync_home(home, LocalSyncFolder(folder))

    def is_forked(self, folder: Path) -> bool:
        """Whether a sync is refused, with the command that helps, and changes nothing."""
        before = files_of(folder), journal_rows(self.home)
        found: Refused | None = None
        try:
            self.sync(folder)
        except Refused as refused:
            found = refused
        if found is not None:
            assert found.code == "forked_replica"
            assert "wakelog replicas rescue" in str(found.instead)
            assert (files_of(folder), journal_rows(self.home)) == before
        return found is not None

    def rescue(self, folder: Path, name: str) -> RescueReport:
        self.name = name
        return rescue(FolderLocation(self.home), self.environ, str(folder))

    def image(self, path: Path) -> Path:
        """A copy of the whole home, as an image of the disk has it."""
        return Path(shutil.copytree(self.home, path))

    def restore(self, image: Path) -> None:
        shutil.rmtree(self.home)
        shutil.copytree(image, self.home)

    def proves(self) -> bool:
        return bool(cli.told(["prove"], self.home, env=self.environ)["ok"])

    def status_when_cut(self, folder: Path, name: str, at: int) -> int:
        """Rescue in a process that ends right before step `at`, as one that is killed."""

        def deed(step: RescueStep) -> None:
            self.name = name
            rescue(FolderLocation(self.home), self.environ, str(folder), step=step)

        return status_when_cut(deed, at)


def status_when_cut(deed: Callable[[RescueStep], object], at: int) -> int:
    """How a process ends that does a deed, and ends right before step `at`, as one is killed."""
    child = os.fork()
    if child == 0:
        _do_until(deed, at)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _do_until(deed: Callable[[RescueStep], object], at: int) -> None:
    left = at

    def step(_: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(CUT)

    try:
        deed(step)
        os._exit(0)
    finally:
        os._exit(1)


def files_of(folder: Path) -> dict[str, bytes]:
    there = [one for one in folder.rglob("*") if one.is_file()]
    return {str(one.relative_to(folder)): one.read_bytes() for one in there}


def journal_rows(home: Path) -> list[tuple[str, str]]:
    """Stream and state of each row."""
    with closing(sqlite3.connect(f"file:{home / 'journal.db'}?mode=ro", uri=True)) as journal:
        found = journal.execute("SELECT originator_id, CAST(state AS TEXT) FROM stored_events")
        return found.fetchall()


def marks(home: Path, replica: str = "", appends: Collection[int] = ()) -> Counter[str]:
    """How often each mark stands in a command of the home's journal, or in a text that it names;
    a mark is a word like ``m12m``. Of all commands, or of some appends of a replica."""
    found = Counter[str]()
    with closing(sqlite3.connect(f"file:{home / 'journal.db'}?mode=ro", uri=True)) as journal:
        texts = dict(journal.execute("SELECT id, CAST(bytes AS TEXT) FROM payloads"))
    for stream, state in journal_rows(home):
        told = json.loads(state)
        wanted = not replica or (stream.endswith(f"@{replica}") and told["n"] in appends)
        if wanted and stream.startswith("receipt:"):
            words = json.dumps(told["data"]["command"])
            words += " ".join(text for name, text in texts.items() if name in words)
            found.update({word for word in words.replace('"', " ").split() if _is_mark(word)})
    return found


def _is_mark(word: str) -> bool:
    return word[:1] == "m" == word[-1:] and word[1:-1].isdecimal()


class Writer:
    """Does random things, each with a mark of its own."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self._count = 0
        self.tasks: dict[Path, list[str]] = {}

    def write(self, one: Machine, times: int = 1) -> None:
        for _ in range(times):
            self._write(one)

    def _write(self, one: Machine) -> None:
        self._count += 1
        mark, chance = f"m{self._count}m", self.chance
        known = self.tasks.setdefault(one.home, [])
        key = chance.choice(("", "", "", f"key{self._count}"))
        if not known or chance.random() < 0.3:
            known += one.do(do.CreateTask(mark), key)
            return
        task = chance.choice(known)
        text = f"{mark} is a long text about what has to be done with it".encode()
        kept = Payload(payload_id(task, text), text)
        can: list[tuple[do.JournalCommand, tuple[Payload, ...]]] = [
            (do.EditTask(task, title=f"Now {mark} this"), ()),
            (do.AddItems(task, (f"Item {mark} it",)), ()),
            (do.AddNote(task, "note", Words(f"Say {mark} here")), ()),
            (do.AddNote(task, "note", Words(payload=kept.id)), (kept,)),
            (do.AddLabel(f"label {mark} here"), ()),
            (do.StartTimer(task), ()),
            (do.StopTimer(f"Did {mark} it"), ()),
            (do.DeleteTask(task), ()),
        ]
        command, payloads = chance.choice(can)
        one.do(command, key, *payloads)


def listed(report: RescueReport) -> Counter[str]:
    """The marks of what could not be done again, as they stand in the copy."""
    return marks(Path(report.copy), report.was, [one.n for one in report.refused])


class Met(NamedTuple):
    """Three machines with a past in common, and the folder where they meet."""

    desk: Machine
    laptop: Machine
    phone: Machine
    folder: Path
    writer: Writer

    @property
    def all(self) -> tuple[Machine, ...]:
        return self.desk, self.laptop, self.phone

    def sync(self, *machines: Machine) -> None:
        for one in machines or self.all:
            one.sync(self.folder)


def met(path: Path, seed: int = 1) -> Met:
    folder = path / "folder"
    folder.mkdir()
    desk, laptop, phone = (Machine(path / one) for one in ("desk", "laptop", "phone"))
    found = Met(desk, laptop, phone, folder, Writer(Random(seed)))
    found.writer.write(desk, 3)
    found.sync()
    found.writer.tasks = dict.fromkeys((laptop.home, phone.home), found.writer.tasks[desk.home])
    found.writer.tasks = {one.home: [*found.writer.tasks[laptop.home]] for one in found.all}
    return found


def rounds(machines: list[Machine], folder: Path, most: int = 8) -> None:
    """Sync all until nothing is written any more; then all hold the same and prove."""
    for _ in range(most):
        before = files_of(folder)
        reports = [one.sync(folder) for one in machines]
        if before == files_of(folder):
            break
    else:
        raise AssertionError("it never ends")
    assert len({one.digest for one in reports}) == 1
    assert not any(one.waiting or one.took or one.gave for one in reports)
    assert len({frozenset(told_rows(one)) for one in machines}) == 1
    assert all(one.proves() for one in machines)


def told_rows(one: Machine) -> set[tuple[str, str]]:
    """The rows that say more than the log of itself."""
    return {row for row in journal_rows(one.home) if not row[0].startswith("log:")}


def diverged(path: Path) -> tuple[Met, Machine]:
    """The desk, and a twin of it that wrote other things."""
    home = met(path)
    twin = Machine(home.desk.image(path / "twin"), "desk")
    home.desk.do(do.CreateTask("m100m"), "same key")
    home.sync()
    home.writer.tasks[twin.home] = [*home.writer.tasks[home.desk.home]]
    (task,) = twin.do(do.CreateTask("m101m"))
    text = b"m102m is told at length"
    kept = Payload(payload_id(task, text), text)
    twin.do(do.AddNote(task, "note", Words(payload=kept.id)), "", kept)
    twin.do(do.EditTask(task, title="m103m now"), "own key")
    twin.do(do.CreateTask("m100m"), "same key")
    twin.do(do.StartTimer(task))
    twin.do(do.StopTimer("m104m"))
    return home, twin
