"""A sync that is killed at a drawn moment, again and again: nothing lost, doubled or half taken.

python tests/bench/sync_kill.py [--times 100] [--appends 1500] [--seed 1]

Each time `wakelog sync` begins with the same two machines and their folder; every third time with
an empty home that joins. It is told to write down where it is, and killed. A stranger looks the
home and the folder through (`tests.support.checking.sharing`), the sync is repeated, and both
machines must hold, and the folder offer, what they would have without the kill; `prove` is asked
every twentieth time. Printed: how often it was killed in which part.
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.wiring import open_home
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words, payload
from tests.support.checking import sharing
from tests.support.process import ROOT, environ, ran, read

TELLS = """
import faulthandler, signal, sys
faulthandler.register(signal.SIGUSR1, file=open(sys.argv.pop(1), "w"), chain=False)
from adapters.cli.main import main
main()
"""
PARTS = {  # the innermost that is found counts
    "catch_up": "views",
    "disputes": "conflicts",
    "keep": "sync.json",
    "write": "give: a file",
    "files_of": "give",
    "encoded": "give",
    "_given": "give",
    "have_of": "give: have.json",
    "tidy": "give",
    "bring": "bring",
    "share": "share",
    "take": "take: read",
    "survey": "look",
}
ENDED = "had ended"
NOTE = "words " * 400  # is kept as a payload


class Machine(NamedTuple):
    home: Path

    @property
    def more(self) -> dict[str, str]:
        return {"WAKELOG_REPLICA": self.home.name, "WAKELOG_TIMEZONE": "UTC"}

    def write(self, appends: int) -> None:
        with open_home(self.home, self.more, is_writing=True) as home:
            services = home.services
            task = services.append_journal(CreateTask(f"Of {self.home.name}")).result.ids[0]
            for nth in range(appends):
                if nth % 50:
                    services.append_journal(CreateTask(f"{self.home.name} {appends} {nth}"))
                else:
                    kept = payload(task, f"{nth} {NOTE}".encode())
                    words = Words(payload=kept.id)
                    services.append_journal(AddNote(task, "note", words), payloads=[kept])

    def synced(self, folder: Path) -> None:
        ran(self.home, "sync", str(folder), more=self.more)


class Killed(NamedTuple):
    part: str
    found: list[str]


def prepared(at: Path, appends: int) -> None:
    """Two machines with news for each other, and their folder."""
    folder = at / "folder"
    folder.mkdir(parents=True)
    desk, laptop = Machine(at / "desk"), Machine(at / "laptop")
    desk.write(20)
    for one in desk, laptop, desk:
        one.synced(folder)
    desk.write(appends)
    desk.synced(folder)
    laptop.write(appends)


def part_of(trace: str) -> str:
    """Which part of a sync a traceback stands in."""
    if not trace.strip():
        return "start"
    names = [line.rpartition(" in ")[2].strip() for line in trace.splitlines() if " in " in line]
    return next((PARTS[one] for one in names if one in PARTS), "start")


def kill_once(laptop: Machine, folder: Path, seconds: float) -> str:
    """Begin a sync and kill it in so many seconds; in which part that was."""
    trace = laptop.home.parent / "trace"
    begun = subprocess.Popen(
        [sys.executable, "-c", TELLS, str(trace), "sync", str(folder)],
        cwd=ROOT,
        env=environ(laptop.home, laptop.more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + seconds
    while not trace.exists() and begun.poll() is None:
        time.sleep(0.002)
    while begun.poll() is None and time.monotonic() < end:
        time.sleep(0.001)
    if begun.poll() is not None:
        return ENDED
    begun.send_signal(signal.SIGUSR1)
    until = time.monotonic() + 0.02
    while time.monotonic() < until and not trace.read_text().endswith("\n"):
        pass
    begun.kill()
    begun.wait()
    return part_of(trace.read_text())


def _killed(
    at: Path, template: Path, name: str, took: dict[str, float], dice: random.Random
) -> str:
    """Kill a sync within what it takes; in which part that was."""
    begun = time.monotonic()
    part = kill_once(Machine(at / name), at / "folder", dice.uniform(0.4, 1.0) * took[name])
    if part == ENDED:
        took[name] = min(took[name], time.monotonic() - begun)
        shutil.rmtree(at)
        shutil.copytree(template, at)
    return part


def lost(now: sharing.Chains, before: sharing.Chains) -> list[str]:
    """What was there before and is not, or is another."""
    return [
        f"append {n} of {place} is gone or another"
        for place, chain in before.items()
        for n, digest in chain.items()
        if now.get(place, {}).get(n) != digest
    ]


def checked(at: Path, name: str, held: sharing.Chains, *, is_proved: bool) -> list[str]:
    """What is wrong after a kill, and after the sync was repeated. `held`: by the laptop."""
    folder, desk, laptop = at / "folder", Machine(at / "desk"), Machine(at / name)
    before = held if name == "laptop" else {}
    found = [f"killed: {one}" for one in sharing.kept(folder).broken]
    if (laptop.home / "agent.db").exists():  # it was there before the first row
        found += [f"killed: {one}" for one in sharing.check(laptop.home)]
        found += [f"killed: {one}" for one in lost(sharing.chains(laptop.home), before)]
    for one in laptop, desk, laptop:
        one.synced(folder)
    offered = sharing.kept(folder)
    holds = [sharing.chains(one.home) for one in (desk, laptop)]
    found += [*offered.broken, *sharing.check(laptop.home), *sharing.check(desk.home)]
    found += [f"left over: {one}" for one in offered.unfinished]
    for have in holds:
        travel = {place: chain for place, chain in have.items() if place in offered.chains}
        found += [*lost(offered.chains, travel), *lost(have, offered.chains)]
        found += lost(have, before)
    reports = [read(one.home, "sync", more=one.more) for one in (desk, laptop)]
    if any(one["took"] or one["gave"] or one["waiting"] for one in reports):
        found.append(f"it does not end: {reports}")
    if not reports[0]["digest"] or len({one["digest"] for one in reports}) > 1:
        found.append("they do not hold the same")
    if is_proved:
        proofs = [read(one.home, "prove", more=one.more) for one in (desk, laptop)]
        found += [f"prove: {one}" for one in proofs if not one["ok"]]
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--appends", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    dice, parts, wrong = random.Random(given.seed), Counter[str](), 0
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as there:
        template, at = Path(there) / "template", Path(there) / "at"
        prepared(template, given.appends)
        held = sharing.chains(template / "laptop")
        for nth in range(given.times):
            shutil.copytree(template, at)
            name = "phone" if nth % 3 == 2 else "laptop"  # a phone has no home yet
            if name not in took:
                begun = time.monotonic()
                Machine(at / name).synced(at / "folder")
                took[name] = time.monotonic() - begun
                shutil.rmtree(at)
                shutil.copytree(template, at)
            while (part := _killed(at, template, name, took, dice)) == ENDED:
                pass  # it was faster than the one that was measured
            parts[f"{name}: {part}"] += 1
            found = checked(at, name, held, is_proved=nth % 20 == 0)
            wrong += bool(found)
            for one in found[:10]:
                sys.stdout.write(f"kill {nth} ({part}): {one}\n")
            sys.stdout.write(f"kill {nth + 1}: {name}, {part}: {len(found)} findings\n")
            sys.stdout.flush()
            shutil.rmtree(at)
    for part, count in sorted(parts.items(), key=lambda one: -one[1]):
        sys.stdout.write(f"{count:4} killed in: {part}\n")
    sys.stdout.write(f"{given.times} kills, {wrong} with findings\n")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
