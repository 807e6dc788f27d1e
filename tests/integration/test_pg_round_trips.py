"""How often a command waits for its database: each time costs what the way there and back does."""

import os
from collections.abc import Callable, Iterator
from threading import Thread

import psycopg
import pytest

from adapters.home.home_location import location_of
from adapters.store.postgres.homes import Homes
from adapters.wiring import open_home
from tests.support.cli import done, told
from tests.support.process import until
from tests.support.round_trips import Wire, wire

pytestmark = pytest.mark.slow
HOME = "pg:anna"
READ, WRITE, WAKE = 8, 12, 30  # round trips at most, two for the connection among them
READING = ("task list", "task show fence", "status", "inbox", "wakes", "agent list", "report fence")


@pytest.fixture
def far(postgres_homes: Homes) -> Iterator[Wire]:
    """A home of two tasks and an agent that woke, at the other end of a long wire."""
    url = postgres_homes.database.url
    env = {"WAKELOG_DATABASE": url}
    done(["home", "create", "anna"], "-", env=env)
    for deed in ("task add Milk", "task add fence", "agent create --task fence", "wake fence"):
        done(deed.split(), HOME, env=env)
    with wire(url, 0.01) as made:
        yield made


def trips(far: Wire, deed: str) -> int:
    before = len(far.trips)
    done(deed.split(), HOME, env={"WAKELOG_DATABASE": far.url})
    return len(far.trips) - before


def test_a_command_waits_no_oftener_than_it_needs(far: Wire) -> None:
    for deed in READING:
        assert 0 < trips(far, deed) <= READ, "\n".join(far.told())
    for deed in ("task add Bread", "done Bread", "note fence Boards"):
        assert 0 < trips(far, deed) <= WRITE, "\n".join(far.told())
    assert 0 < trips(far, "wake fence") <= WAKE, "\n".join(far.told())
    assert told(["prove"], HOME, env={"WAKELOG_DATABASE": far.url})["rows"]


def test_what_is_passed_along_says_the_same(far: Wire, postgres_homes: Homes) -> None:
    """given a home that is far away and the same one near, then commands say the same of it."""
    near = {"WAKELOG_DATABASE": postgres_homes.database.url}
    done(["task", "add", "牛乳を買う", "--label", "shop"], HOME, env={"WAKELOG_DATABASE": far.url})
    for deed in (*READING, "task show 牛乳を買う", "search 牛乳", "task list --json"):
        args = deed.split()
        assert done(args, HOME, env=near) == done(args, HOME, env={"WAKELOG_DATABASE": far.url})


def test_a_command_sees_what_others_write_meanwhile(far: Wire) -> None:
    """given a command that has looked, when another process writes, then what it decides is decided
    on the log as it is, and what it reads later is of then."""
    environ = {**os.environ, "WAKELOG_DATABASE": far.url, "WAKELOG_REPLICA": "r1"}
    place = location_of(HOME, environ, is_brief=True)
    try:
        with open_home(place, environ, is_writing=True) as home:
            before = home.services.journal.tail().n
            _elsewhere(
                lambda: done(["task", "add", "Bread"], HOME, env={"WAKELOG_DATABASE": far.url})
            )
            assert home.services.journal.tail().n == before  # as it was a moment ago
            with home.services.journal._writing():
                assert home.services.journal.tail().n == before + 1
            home.views.catch_up()
            assert home.services.journal.tail().n == before + 1
    finally:
        place.end_command()


def test_a_server_that_starts_anew_while_somebody_thinks_is_asked_again(
    far: Wire, postgres_homes: Homes
) -> None:
    environ = {**os.environ, "WAKELOG_DATABASE": far.url, "WAKELOG_REPLICA": "r1"}
    place = location_of(HOME, environ, is_brief=True)
    try:
        with open_home(place, environ) as home:
            with postgres_homes.database.connection() as line:
                line.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            assert home.services.journal.tail().n > 0
            home.views.catch_up()
    finally:
        place.end_command()


def test_a_connection_that_the_server_ended_is_given_back(far: Wire, postgres_homes: Homes) -> None:
    """given a command in its home, when the server ends its connection and it hears so, then it
    reads by another."""
    database = postgres_homes.database
    assert database.begin_command("anna")
    assert (opening := database.opening) is not None
    with psycopg.connect(database.url, autocommit=True) as line:
        line.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    until(lambda: database.opening is None)
    database.end_command()
    assert database.asked(opening.home[0], "SELECT 1", ()) == [(1,)]


def _elsewhere(deed: Callable[[], object]) -> None:
    found = Thread(target=deed)
    found.start()
    found.join()
