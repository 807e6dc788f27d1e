"""A long history for benches: the story of the sample tasks, written down again and again.

Each telling has other ids and later times; its rows are a real home's, so everything in them fits
together. What it lacks is a chain that proves: the digests of earlier appends are not its own.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice, product
from pathlib import Path

from adapters.store.recorder import numbered

EPOCHS = 2  # rows that both logs begin with, and are not told again
NOW = "2026-01-05T08:00:00Z"
LATER = "2026-01-06T10:00:00Z"
STEP = timedelta(hours=3)  # from one writing down to the next
INSERT = "INSERT INTO stored_events VALUES (?, ?, ?, ?)"
ID = re.compile(rb"(?<![A-Za-z0-9])([a-z2-7]{26})[a-z2-7]{6}(?![A-Za-z0-9])")
AT = re.compile(rb"2026-01-0[56]T[0-9:.]{15}Z")
N = re.compile(rb'^(\{(?:"at":"[^"]{27}",)?"n":)([0-9]+)')
PLACES = re.compile(rb'"(position|journalPosition|agentPosition|first|last)":([0-9]+)')
KEEP = "INSERT OR IGNORE INTO payloads VALUES (?, ?)"
TASK = "Renew the passport"
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"

Stored = tuple[str, int, str, bytes]


class Story:
    """A home's two logs, to be written down again under other ids, later."""

    def __init__(self, home: Path) -> None:
        self.rows: dict[str, list[Stored]] = {}
        self.texts: dict[str, list[tuple[str, bytes]]] = {}
        self.last: dict[str, int] = {}
        for name in ("journal", "agent"):
            with closing(sqlite3.connect(home / f"{name}.db")) as file:
                sql = "SELECT * FROM stored_events ORDER BY rowid"
                self.rows[name] = [
                    (stream, version, topic, bytes(state))
                    for stream, version, topic, state in file.execute(sql)
                    if topic != "log.epoch.1"
                ]
                self.texts[name] = file.execute("SELECT * FROM payloads").fetchall()
                self.last[name] = numbered(self.rows[name][-1][3]).n
        self.size = sum(map(len, self.rows.values()))
        streams = {row[0] for row in self.rows["agent"]}
        self.templates = [
            one[9:35].encode() for one in streams if one.startswith("template:")
        ]  # few, with many wakes each: they keep their ids

    def told(self, name: str, nth: int) -> Iterator[Stored]:
        """The rows of a log, the nth time."""
        ending = _ending(nth).encode()
        shift = nth * STEP

        def number(found: re.Match[bytes]) -> bytes:
            return found[1] + b"%d" % (int(found[2]) + nth * self.last[name])

        def place(found: re.Match[bytes]) -> bytes:
            log = "agent" if found[1] == b"agentPosition" else "journal"
            return b'"%b":%d' % (found[1], int(found[2]) + nth * self.last[log])

        def moved(found: re.Match[bytes]) -> bytes:
            at = datetime.fromisoformat(found[0].decode()) + shift
            return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()

        def other(found: re.Match[bytes]) -> bytes:
            return found[0] if found[1] in self.templates else found[1] + ending

        for stream, version, topic, state in self.rows[name]:
            again = ID.sub(other, AT.sub(moved, state))
            again = PLACES.sub(place, N.sub(number, again))
            named = ID.sub(other, stream.encode()).decode()
            shared = nth * 100_000 if named == stream else 0  # one stream for all: catalog, watch
            yield named, version + shared, topic, again

    def add(self, home: Path, nth: int, count: int) -> int:
        """Write down exactly `count` rows more, from the nth telling on: whole tellings, then two
        that break off after an append of each log. Which telling would be the next."""
        whole, rest = divmod(count, self.size)
        for _ in range(whole):
            self._keep(home, nth, {name: len(rows) for name, rows in self.rows.items()})
            nth += 1
        for ends in self._broken(rest):
            self._keep(home, nth, ends)
            nth += 1
        return nth

    def _keep(self, home: Path, nth: int, ends: dict[str, int]) -> None:
        ending = _ending(nth)
        for name, end in ends.items():
            with closing(sqlite3.connect(home / f"{name}.db")) as file, file:
                file.execute("PRAGMA synchronous=OFF")
                file.executemany(INSERT, islice(self.told(name, nth), end))
                texts = ((key[:26] + ending, data) for key, data in self.texts[name])
                file.executemany(KEEP, texts)

    def _broken(self, count: int) -> list[dict[str, int]]:
        """Two tellings of `count` rows together: how many rows of each log."""
        ends = {
            journal + agent: {"journal": journal, "agent": agent}
            for journal, agent in product(self._ends("journal"), self._ends("agent"))
        }
        first = next(one for one in ends if count - one in ends)
        return [ends[first], ends[count - first]]

    def _ends(self, name: str) -> list[int]:
        """After how many rows an append of a log ends."""
        rows = self.rows[name]
        firsts = [nth for nth, row in enumerate(rows) if numbered(row[3]).row == 0]
        return [*firsts, len(rows)]


def _ending(nth: int) -> str:
    return "".join(LETTERS[nth >> shift & 31] for shift in range(0, 30, 5))


def tell(home: Path) -> None:
    """The sample tasks: woken, decided, changed, woken again."""

    def run(now: str, *words: str) -> str:
        environ = {**os.environ, "WAKELOG_REPLICA": "r1", "WAKELOG_NOW": now}
        command = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "--quiet"]
        done = subprocess.run([*command, *words], env=environ, capture_output=True, check=False)
        return done.stdout.decode()

    run(NOW, "demo")
    run(LATER, "confirm", "1.1", "2.1", "3.1", "4.1", "5.1")
    run(LATER, "reject", "1.2", "2.2", "--reason", "I know that myself")
    for title, template in ((TASK, "laura"), ("Fix the dripping kitchen tap", "tom")):
        run(LATER, "template", "assign", title, template)
        run(LATER, "task", "note", title, "Takes 90 minutes. Due by 2026-05-01.")
        run(LATER, "wake", title)
    run(LATER, "template", "version", "Laura", "--report", "Be brief.")
    run(LATER, "wake", TASK)
    run(LATER, "task", "set", TASK, "--status", "DONE")


def fixture(folder: Path, events: int) -> tuple[Path, Story, int]:
    """A home with so many events, made in a folder if it is not there; the story of it, and which
    telling would be the next one."""
    told, home, next_file = folder / "story", folder / f"home-{events}", "next-telling"
    if not told.exists():
        tell(folder / "story.part")
        (folder / "story.part").rename(told)
    story = Story(told)
    if not home.exists():
        made = folder / f"home-{events}.part"
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(told, made)
        following = story.add(made, 1, events - EPOCHS - story.size)
        (made / next_file).write_text(str(following))
        made.rename(home)
    return home, story, int((home / next_file).read_text())
