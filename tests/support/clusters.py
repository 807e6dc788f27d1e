"""Homes of a database with workers in processes of their own, and a stranger who looks them
through: what was queued, what ended, what was done twice."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from adapters.cluster.worker import MachineClock, Worker, WorkerOptions, machine_clock
from adapters.home.home_location import DatabaseLocation
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.schema import ALL
from adapters.wiring import Home, open_home
from domain.agent.wake_queue import WakeDropped
from tests.support import process, whole
from tests.support.cli import done
from tests.support.cutting import PLAINLY
from tests.support.process import ROOT

SETTINGS = "\n[agents]\nthrottle_seconds = 1\n"
PATIENCE_SECONDS = 60.0
_BEGUN = f"SELECT FROM runtime.runtimes WHERE home = {ALL}"
_OPEN = """
SELECT count(*) FILTER (WHERE topic = 'wake.model_asked.1')
    - count(*) FILTER (WHERE topic = 'wake.model_answered.1') FROM agent.events"""
_QUIET = """
SELECT NOT EXISTS (SELECT FROM runtime.homes WHERE next_at <= now() + interval '1 hour')
    AND NOT EXISTS (SELECT FROM agent.heads WHERE is_news)
    AND NOT EXISTS (SELECT FROM journal.heads WHERE is_news)
    AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs)"""


class Tally(NamedTuple):
    """What a home's own log says: wakes that were queued, that ended, and that ended unbegun, as
    another one that was asked for took their triggers over; model calls asked again by another
    worker; replies that came too late; and what is wrong."""

    queued: int
    ended: int
    superseded: int
    retaken: int
    late: int
    faults: list[str]


class Cluster:
    """A database, and the workers that were started on it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.homes = Homes(Database(url))
        self.workers: list[subprocess.Popen[bytes]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._begun = 0

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def through(self, port: int) -> "Cluster":
        """The same database through a line to it."""
        name = self.url.rpartition("/")[2]
        return Cluster(f"postgresql://owner@127.0.0.1:{port}/{name}?{PLAINLY}", self.folder)

    def environ(self, nth: int = 0) -> dict[str, str]:
        """What a process on a machine of its own has: its own cache."""
        cache = {"XDG_CACHE_HOME": str(self.folder / f"cache-{nth}")}
        return {"WAKELOG_DATABASE": self.url, "WAKELOG_NOW": "", **cache}

    def make(self, name: str, agents: int) -> None:
        """A home of so many agents, each with its first wake queued."""
        todo = self.folder / "TODO.md"
        lines = (f"- [ ] Mend fence {nth} #home\n" for nth in range(agents))
        todo.write_text("".join(lines), encoding="utf-8")
        done(["home", "create", name], "-", env=self.environ())
        self.homes.edit_settings(self.homes.named(name), lambda text: text + SETTINGS)
        done(["import", str(todo)], f"pg:{name}", env=self.environ())
        done(["agent", "create", "--all"], f"pg:{name}", env=self.environ())

    def opened(self, name: str) -> Home:
        environ = self.environ()
        return open_home(DatabaseLocation(self.homes, name, environ), environ, is_writing=True)

    def ask(self, name: str) -> None:
        """Ask for a wake of each agent of a home."""
        with self.opened(name) as home:
            for agent in whole.agents_of(home.services):
                home.services.append_agent(home.services.request(agent))

    def start(
        self,
        think: float = 0.3,
        lease: int = 2,
        homes: int = 4,
        slice_seconds: float = 60.0,
        url: str = "",
    ) -> "subprocess.Popen[bytes]":
        """A worker with slow models."""
        numbers = str(think), str(lease), str(homes), str(slice_seconds)
        command = [sys.executable, "-m", "tests.support.slow_worker", *numbers]
        return self._started(command, WAKELOG_DATABASE=url or self.url)

    def begin(self, *args: str, **more: str) -> "subprocess.Popen[bytes]":
        """`wakelog worker` itself, as a person starts it."""
        return self._started(process.command("--json", "worker", *args), **more)

    def _started(self, command: list[str], **more: str) -> "subprocess.Popen[bytes]":
        self._begun += 1
        environ = {**os.environ, **self.environ(self._begun), "PYTHONPATH": str(ROOT), **more}
        with (self.folder / f"worker-{self._begun}.log").open("wb") as log:
            worker = subprocess.Popen(command, cwd=ROOT, env=environ, stderr=log)
        self.workers.append(worker)
        return worker

    def work(
        self,
        until: str | Callable[[], bool],
        opens: Callable[[str], Home],
        options: WorkerOptions,
        clock: MachineClock = machine_clock,
    ) -> list[tuple[str, dict[str, Any]]]:
        """A worker of this very process, until that is so (as the database says, if it is SQL), or,
        if nothing is to be so, it ends by itself; what it told (meanwhile: `told`)."""
        told: list[tuple[str, dict[str, Any]]] = []
        self.told = told

        def tell(event: str, level: str = "info", **fields: Any) -> None:
            told.append((event, {"level": level, **fields}))

        async def run() -> None:
            worker = Worker(self.homes, opens, options, tell, os.environ, clock)
            work = asyncio.create_task(worker.run())
            try:
                ended = asyncio.to_thread(self._until, until) if until else asyncio.shield(work)
                await asyncio.wait_for(ended, 2 * PATIENCE_SECONDS)
            finally:
                if not work.done():
                    worker.stop()
                await work

        asyncio.run(run())
        return told

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def stop(self) -> list[int]:
        """Ask all workers to end, once each has begun and hears it; with which status they did."""
        for one in self.workers:
            if one.poll() is None:
                self._until(f"SELECT EXISTS ({_BEGUN} AND pid = {one.pid})")
            one.send_signal(signal.SIGTERM)
        self._waited(lambda: all(one.poll() is not None for one in self.workers), "all ended")
        found = [one.wait() for one in self.workers]
        self.workers.clear()
        return found

    def until_working(self, count: int) -> None:
        """Wait until so many workers have begun."""
        self._until(f"SELECT (SELECT count(*) FROM ({_BEGUN}) begun) >= {count}")

    def until_asked_again(self) -> None:
        """Wait until a model is asked by who has taken a wake over."""
        attempt = "(convert_from(state, 'UTF8')::jsonb #>> '{data,attempt}')::int"
        asked = "FROM agent.events WHERE topic = 'wake.model_asked.1'"
        self._until(f"SELECT EXISTS (SELECT {asked} AND {attempt} > 1)")

    def until_asking(self, count: int = 3) -> None:
        """Wait until so many models more than before are being asked."""
        self._until(f"SELECT ({_OPEN}) >= {count}")

    def until(self, sql: str) -> None:
        """Wait until the database says so."""
        self._until(sql)

    def until_ended(self, name: str, count: int) -> None:
        """Wait until so many wakes of a home have ended."""
        home = self.homes.named(name).number
        ended = f"SELECT count(*) FROM agent.events WHERE home = {home}"
        self._until(f"SELECT ({ended} AND topic = 'wake.finished.1') >= {count}")

    def until_said(self, event: str) -> None:
        """Wait until a worker has told of something."""
        self.until_logged(f'"{event}"')

    def until_logged(self, words: str) -> None:
        """Wait until a worker's log has these words."""
        self._waited(lambda: words in self.log(), words)

    def until_quiet(self) -> None:
        """Wait until nothing is due in any home, and nobody tends one."""
        self._until(_QUIET)

    def log(self) -> str:
        """What all workers said."""
        return "".join(one.read_text() for one in sorted(self.folder.glob("worker-*.log")))

    def tallies(self) -> dict[str, Tally]:
        """Each home, looked through."""
        found = {}
        for one in self.homes.all():
            with self.opened(one.name) as home:
                found[one.name] = tally(home)
        return found

    def _until(self, sought: str | Callable[[], bool]) -> None:
        is_so = sought if callable(sought) else lambda: self._says(sought)
        self._waited(is_so, str(sought))

    def _waited(self, is_so: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if is_so():
                return
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE_SECONDS} seconds: {what}\n{self.log()[-4000:]}")

    def _says(self, sql: str) -> bool:
        """Whether it is so; not while the server starts again."""
        with suppress(psycopg.OperationalError), psycopg.connect(self.url) as connection:
            return bool(connection.execute(sql.encode()).fetchall()[0][0])
        return False


def tally(home: Home) -> Tally:
    """A home's log, read as bytes and by `whole.faults`."""
    seen: dict[str, Counter[str]] = {}
    for row in home.services.agents.rows():
        data = json.loads(row.state).get("data", {})
        key = data.get("runKey") or row.stream.partition(":")[2].partition("@")[0]
        seen.setdefault(row.topic, Counter())[key] += 1
    queued, ended, dropped = (
        seen.get(tag, Counter())
        for tag in ("alert.wake_queued.1", "wake.finished.1", "alert.wake_dropped.1")
    )
    faults = whole.faults(home.services)
    faults += [f"{key} was queued and has no end" for key in queued - ended]
    rows = (row.fact for row in whole.rows_of(home.services.agents))
    others = [one for one in rows if isinstance(one, WakeDropped) and one.code != "superseded"]
    faults += [f"{one.run_key} was dropped: {one.code}" for one in others]
    faults += [f"{key} ended {count} times" for key, count in ended.items() if count > 1]
    return Tally(
        queued.total(),
        ended.total(),
        dropped.total(),
        whole.retaken(home.services),
        whole.late_replies(home.services),
        faults,
    )


@contextmanager
def cluster(url: str) -> Iterator[Cluster]:
    """Workers end with it, whatever happened."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        made = Cluster(url, Path(folder))
        try:
            yield made
        finally:
            for one in made.workers:
                one.send_signal(signal.SIGCONT)
                one.kill()
                one.wait()
            made.homes.database.close()
