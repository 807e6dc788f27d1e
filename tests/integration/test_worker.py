"""Workers tend the homes of a database: killed, stopped, cut off, each wake ends once; what befalls
them, what they tell of what waits, and how they say over HTTP that they are well."""

import asyncio
import json
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest

from adapters.cluster import worker_loop
from adapters.cluster.worker import Worker, WorkerOptions, machine_clock
from adapters.documents.schemas import schema_of
from adapters.home.clock import SystemClock
from adapters.launch import bound
from adapters.store.postgres.database import Database
from adapters.store.postgres.homes import Homes
from adapters.store.postgres.schema import LOGS
from adapters.wiring import Home
from domain.append import envelope
from domain.errors import Refused
from tests.support import whole
from tests.support.cli import done, refused, told
from tests.support.clusters import Cluster, cluster
from tests.support.cutting import PLAINLY, Line, line_to
from tests.support.openai_server import serving
from tests.support.postgres import control, database, made_database, server
from tests.support.process import until
from tests.support.receivers import read
from tests.support.scripted_server import Answer

pytestmark = pytest.mark.slow


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


def looked_through(made: Cluster) -> tuple[int, int]:
    """How many wakes were taken over and how many replies came late; everything ended once."""
    found = made.tallies()
    for name, one in found.items():
        assert one.faults == [], name
    return sum(one.retaken for one in found.values()), sum(one.late for one in found.values())


def test_a_worker_that_is_killed_while_models_are_asked_loses_no_wake(made: Cluster) -> None:
    names = [f"home-{nth}" for nth in range(4)]
    for name in names:
        made.make(name, 3)
    first, _ = made.start(think=0.8, homes=2), made.start(think=0.8, homes=2)
    for victim in (first, None):
        made.until_asking()
        made.kill(victim or made.workers[0])
        made.start()
        for name in names:
            made.ask(name)
    made.until_quiet()
    assert made.stop() == [0, 0]
    retaken, _ = looked_through(made)
    assert retaken >= 1


def test_a_worker_that_stands_still_beyond_its_lease_loses_its_homes_and_harms_none(
    made: Cluster,
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    stopped = made.start(think=1.0)
    made.until_asking()
    stopped.send_signal(signal.SIGSTOP)
    made.start(think=3.0)
    made.until_asked_again()
    stopped.send_signal(signal.SIGCONT)
    made.until_quiet()
    assert made.stop() == [0, 0]
    retaken, late = looked_through(made)
    assert retaken >= 1
    assert late >= 1
    assert '"lost"' in made.log()


def test_workers_that_are_told_to_end_as_they_begin_end(made: Cluster) -> None:
    made.make("anna", 2)
    for _ in range(4):
        made.start()
    assert made.stop() == [0, 0, 0, 0]  # each as soon as it is known to have begun


def test_a_worker_without_a_network_is_replaced_and_comes_back(made: Cluster) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    with line_to(made.port) as line:
        made.start(think=1.0, url=made.through(line.port).url)
        made.until_asking()
        line.take_down()
        made.start()
        made.until_asked_again()
        made.until_logged("cannot be reached")
        line.put_up()
        for name in ("anna", "ben"):
            made.ask(name)
        made.until_quiet()
        assert made.stop() == [0, 0]
    retaken, _ = looked_through(made)
    assert retaken >= 1


def test_a_server_that_starts_again_loses_no_wake_and_ends_no_worker() -> None:
    with server() as address, cluster(made_database(address)) as made:
        for name in ("anna", "ben"):
            made.make(name, 3)
        made.start(think=1.5), made.start(think=1.5)
        made.until_working(2)
        made.until_asking()
        with ExitStack() as stack:  # all of them wait in this process's pool afterwards
            for _ in range(3):
                stack.enter_context(made.homes.database.connection())
        control(address, "restart", "-m", "fast")
        for name in ("anna", "ben"):  # nobody is told of connections that ended meanwhile
            made.ask(name)
        made.until_quiet()
        assert made.stop() == [0, 0]
        looked_through(made)
        control(address, "stop", "-m", "immediate")  # it is no child of this process any more


# ----------------------------------------------------------------------------------------- troubles


ENDED = "(SELECT count(*) FROM agent.events WHERE topic = 'wake.finished.1') >= {}"
FAULTS = "SELECT name, faults FROM runtime.homes JOIN wakelog.homes USING (home) ORDER BY name"
LONGER = "UPDATE runtime.homes SET hold_until = now() + '1 h' WHERE hold_until > '-infinity'"


"""Homes that were held off are, however slow the test is."""


@pytest.fixture
def owner(made: Cluster) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Whoever runs the database, and may do anything in it."""
    with psycopg.connect(made.url, autocommit=True) as connection:
        yield connection


def test_homes_that_cannot_be_tended_are_held_off_and_harm_no_other(
    made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    for name in ("anna", "ben", "carl"):
        made.make(name, 2)
    damaged = f"home = {made.homes.named('anna').number} AND n = 1 AND row = 0"
    state = owner.execute(f"SELECT state FROM agent.events WHERE {damaged}".encode()).fetchall()
    change = f"UPDATE agent.events SET state = %s WHERE {damaged}".encode()
    tried: Counter[str] = Counter()
    faulty = {"carl"}

    def opens(name: str) -> Home:
        tried[name] += 1
        if name in faulty:
            raise ZeroDivisionError(name)
        return made.opened(name)

    owner.execute(change, (b"x",))
    options = WorkerOptions(homes=2)
    for _ in range(2):
        most = max(tried["anna"], tried["carl"])
        more = f"2 = (SELECT count(*) FROM runtime.homes WHERE faults > {most})"
        said = made.work(f"SELECT {ENDED.format(2)} AND {more}", opens, options)
        assert {fields["home"] for event, fields in said if event == "trouble"} == {"anna", "carl"}
        owner.execute(LONGER)
        assert told(["cluster"], "-", env=made.environ())["held_off"] == ["anna", "carl"]
        faults = [("anna", tried["anna"]), ("ben", 0), ("carl", tried["carl"])]
        assert owner.execute(FAULTS).fetchall() == faults, "it was tried as often as it was held"
        owner.execute("UPDATE runtime.homes SET hold_until = now() WHERE faults > 0")
    owner.execute(change, state[0])
    faulty.clear()
    made.work(f"SELECT {ENDED.format(6)}", opens, options)
    assert owner.execute(FAULTS).fetchall() == [("anna", 0), ("ben", 0), ("carl", 0)]
    assert [one.faults for one in made.tallies().values()] == [[], [], []]


def test_a_home_in_trouble_is_held_off_twice_as_long_each_time_and_five_minutes_at_most(
    made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    done(["home", "create", "anna"], "-", env=made.environ())
    number = made.homes.named("anna").number
    ends = []
    for _ in range(10):
        worker_loop.hold_off(made.homes.database, number)
        asked = "SELECT extract(epoch FROM hold_until)::float8, hold_until <= now() + '300 s'"
        ((end, is_bounded),) = owner.execute(f"{asked} FROM runtime.homes".encode()).fetchall()
        assert is_bounded
        ends.append(float(str(end)))
    grown = [later - one for one, later in pairwise(ends)][:7]
    assert [more >= 2 ** (nth + 1) for nth, more in enumerate(grown)] == [True] * 7


def test_a_second_signal_ends_a_worker_at_once_and_others_go_on_with_its_wakes(
    made: Cluster,
) -> None:
    with serving(*[Answer(seconds=600)] * 4) as provider:
        provider.key = ""
        made.make("anna", 2)
        done(["policy", "allow", provider.model], "pg:anna", env=made.environ())
        patient = ("--grace", "3600", "--lease", "3600")
        worker = made.begin(*patient, WAKELOG_MODEL=provider.model)
        made.until_asking(2)
        worker.send_signal(signal.SIGTERM)
        made.until_said("draining")
        worker.send_signal(signal.SIGINT)
        assert worker.wait(60) == 130
        made.workers.clear()
        assert told(["cluster"], "-", env=made.environ())["workers"] == []
        other = made.begin(*patient, WAKELOG_MODEL=provider.model)
        made.until_asked_again()  # within a minute of that hour
        made.kill(other)
    assert told(["prove"], "pg:anna", env=made.environ())["ok"]


def test_no_home_is_tended_twice_while_another_waits_for_its_first_turn(made: Cluster) -> None:
    made.make("crowd", 30)
    made.make("single", 1)
    names = {"crowd", "single", *(f"home-{nth:02}" for nth in range(20))}
    for name in names - {"crowd", "single"}:
        made.homes.create(name, "r1")
    opened: list[str] = []

    def opens(name: str) -> Home:
        opened.append(name)
        return made.opened(name)

    options = WorkerOptions(homes=1, slice=0.0)
    said = made.work(lambda: opened.count("crowd") > 1, opens, options)
    assert sorted(opened[: len(names)]) == sorted(names)
    ended = Counter(fields["home"] for event, fields in said if event == "ended")
    assert ended["single"] == 1
    assert 0 < ended["crowd"] < 30


AHEAD, BEHIND = timedelta(hours=1), timedelta(hours=-1)


@pytest.mark.parametrize("off", [AHEAD, BEHIND], ids=["ahead", "behind"])
def test_where_a_worker_runs_an_hour_off_nothing_is_taken_early_and_no_time_goes_back(
    off: timedelta, made: Cluster, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 1)
    later = "UPDATE runtime.homes SET next_at = now() + interval '30 minutes' WHERE home = {}"
    news = "UPDATE {}.heads SET is_news = false WHERE home = {}"
    number = made.homes.named("ben").number
    for sql in (later.format(number), *(news.format(one, number) for one in LOGS)):
        owner.execute(sql.encode())
    opened = []

    def clock() -> datetime:
        return datetime.now(UTC) + off

    def opens(name: str) -> Home:
        opened.append(name)
        home = made.opened(name)
        home.services.clock = SystemClock(home.services.agents.tail().at, wall=clock)
        return home

    until = f"SELECT {ENDED.format(1)} AND NOT EXISTS (SELECT FROM queue.procrastinate_jobs)"
    made.work(until, opens, WorkerOptions(lease=3600), clock)  # it looks at its clock with a beat
    with pytest.raises(Refused, match="are 3600 seconds apart"):
        made.work("", opens, WorkerOptions(lease=2), clock)
    assert set(opened) == {"anna"}
    with made.opened("anna") as home:
        made.ask("anna")
        for log in (home.services.journal, home.services.agents):
            times = [at for row in log.rows() if (at := envelope.read(row).at)]
            assert times == sorted(times)
        assert whole.faults(home.services) == []


def test_a_worker_whose_line_falls_silent_is_replaced_and_overwrites_nothing_afterwards(
    made: Cluster,
) -> None:
    for name in ("anna", "ben"):
        made.make(name, 3)
    with line_to(made.port) as line:
        silent = made.start(think=2.0, url=made.through(line.port).url)
        made.until_asking()
        line.fall_silent()
        made.until_said("lost")  # though no connection has ended
        assert "does not answer" in made.log()
        made.start(think=2.0)
        made.until_asked_again()
        line.flow()
        made.until_quiet()
        line.fall_silent()
        for word in ("draining", "interrupted"):
            silent.send_signal(signal.SIGTERM)
            made.until_said(word)
        assert silent.wait(60) == 130
        made.workers.remove(silent)
        line.flow()
        assert made.stop() == [0]
    found = made.tallies()
    assert [one.faults for one in found.values()] == [[], []]
    assert sum(one.retaken for one in found.values()) >= 1
    assert sum(one.late for one in found.values()) >= 1


def test_a_line_that_falls_silent_where_the_clock_is_looked_at_loses_the_homes_too(
    made: Cluster,
) -> None:
    made.make("anna", 1)
    opened, silent = threading.Event(), threading.Event()
    with line_to(made.port) as line:
        cut_off = made.through(line.port)

        def opens(name: str) -> Home:
            opened.set()
            silent.wait(SECONDS)  # so that the home is tended then
            return cut_off.opened(name)

        def clock() -> datetime:
            if opened.is_set() and threading.current_thread() is not threading.main_thread():
                line.fall_silent()  # a beat has come through, and this is the look after it
                silent.set()
            return machine_clock()

        def is_over() -> bool:
            heard.update(event for event, _ in cut_off.told)
            if "lost" not in heard and time.monotonic() < end:
                return False
            opened.clear()
            line.flow()
            return True

        heard: set[str] = set()
        end = time.monotonic() + SECONDS
        cut_off.work(is_over, opens, WorkerOptions(lease=1), clock)
        assert "lost" in heard  # while it was silent
    made.start()
    made.until_quiet()
    assert made.stop() == [0]
    assert made.tallies()["anna"].faults == []


# ------------------------------------------------------------------------------------------ notices


_HANGING = """
import os, sys, time
open(sys.argv[1], 'a').write(sys.stdin.read())
while os.path.exists(sys.argv[2]): time.sleep(0.05)
"""


def with_receiver(made: Cluster, name: str, agents: int, command: list[str]) -> None:
    """A home whose agents will propose something, and a program that was allowed to be told."""
    made.make(name, agents)
    for key, value in (("notify.command", json.dumps(command)), ("notify.every_minutes", "0")):
        done(["settings", "set", key, value], f"pg:{name}", env=made.environ())
    for nth in range(agents):
        note = ["task", "note", f"fence {nth}", "It takes 3 hours."]
        done(note, f"pg:{name}", env=made.environ())
    done(["notify", "allow"], f"pg:{name}", env=made.environ())


def tasks_of(messages: list[Any]) -> Counter[str]:
    return Counter(task["title"] for one in messages for task in one["waits"])


def test_what_waits_is_told_once_by_two_workers_and_again_where_one_is_killed(
    made: Cluster, tmp_path: Path
) -> None:
    kept, hangs, never = tmp_path / "kept", tmp_path / "hangs", tmp_path / "never"
    hangs.touch()
    program = [sys.executable, "-c", _HANGING]
    with_receiver(made, "anna", 2, [*program, str(kept), str(hangs)])
    with_receiver(made, "ben", 1, [*program, str(never), str(hangs)])
    done(["notify", "withdraw"], "pg:ben", env=made.environ())
    first = made.start(think=0.1)
    begun = until(lambda: read(kept))
    made.kill(first)
    hangs.unlink()
    made.start(think=0.1), made.start(think=0.1)
    for name in ("anna", "ben"):  # it has news, and is looked at now
        done(["task", "add", "Call the plumber"], f"pg:{name}", env=made.environ())
    titles = {"Mend fence 0", "Mend fence 1"}
    until(lambda: set(tasks_of(read(kept)[1:])) == titles)
    found = read(kept)
    assert found[1]["id"] == begun[0]["id"]  # by which a receiver drops it
    until(lambda: not told(["notify"], "pg:anna", env=made.environ())["waiting"])
    made.until_ended("ben", 1)
    assert made.stop() == [0, 0]
    assert tasks_of(read(kept)[1:]) == dict.fromkeys(titles, 1)
    (receiver,) = told(["notify"], "pg:anna", env=made.environ())["receivers"]
    assert receiver["delivered_at"]
    assert not never.exists()  # it was not allowed here, and each worker says so once
    said = [one.read_text().count('"not_allowed"') for one in made.folder.glob("worker-*.log")]
    assert max(said) == 1


# ------------------------------------------------------------------------------------------- health


IS_STOPPING = "it is stopping, and takes no home any more"
AWAY = "its database does not answer"
SILENT = "it could not say for a whole lease that it lives"
ROUNDS = 600
SECONDS = 30


@pytest.fixture
def line(postgres: str) -> Iterator[tuple[str, Line]]:
    """A database behind a line that can be cut."""
    with database(postgres) as url, line_to(int(url.rpartition(":")[2].partition("/")[0])) as found:
        name = url.rpartition("/")[2]
        yield f"postgresql://owner@127.0.0.1:{found.port}/{name}?{PLAINLY}", found


def got(port: int, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=SECONDS) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


async def until_ready(port: int, status: int) -> Any:
    """Wait until it says so; the document."""
    for _ in range(ROUNDS):
        found, document = await asyncio.to_thread(got, port, "/ready")
        if found == status:
            return document
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never answered with {status}")


async def looked_at(worker: Worker, listening: socket.socket, line: Line) -> list[Any]:
    """What it says while it works, while its database is away, when that is back, and at the end;
    and whether it lives all along."""
    port = listening.getsockname()[1]
    running = asyncio.create_task(worker.run(listening))
    found = [await until_ready(port, 200)]
    line.take_down()
    found.append(await until_ready(port, 503))
    status, document = await asyncio.to_thread(got, port, "/live")
    assert (status, document["ok"]) == (200, False)
    line.put_up()
    found.append(await until_ready(port, 200))
    signal.raise_signal(signal.SIGTERM)
    await running
    with pytest.raises(urllib.error.URLError):
        await asyncio.to_thread(got, port, "/ready")
    return found


def test_a_worker_is_ready_while_it_works_and_its_database_answers(line: tuple[str, Line]) -> None:
    url, cut = line
    opened = Database(url)
    worker = Worker(
        Homes(opened),
        lambda _: pytest.fail("no home"),
        WorkerOptions(lease=2),
        lambda *_, **__: None,
        {},
    )
    with bound("127.0.0.1", 0) as listening:
        working, away, again = asyncio.run(looked_at(worker, listening, cut))
    opened.close()
    jsonschema.validate(working, schema_of("worker-health") or {})
    assert (working["trouble"], again["trouble"]) == (None, None)
    assert away["trouble"] in (AWAY, SILENT)  # whichever is noticed first
    assert working["worker"]["id"] == worker.owner
    assert working["worker"]["homes"] == 0
    assert worker.health().trouble == IS_STOPPING


def test_a_port_that_is_taken_is_told_in_one_line(line: tuple[str, Line]) -> None:
    env = {"WAKELOG_DATABASE": line[0]}
    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        said = refused(["worker", "--health", str(port)], "-", env=env)
    assert f"127.0.0.1:{port} cannot be listened on: Address already in use" in said
    assert "choose another one with --health or --host" in said
    assert "add --health PORT" in refused(["worker", "--host", "0.0.0.0"], "-", env=env)
