"""Workers tell who is to be told that something waits, as `wakelog run` does: once."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, told
from tests.support.clusters import Cluster, cluster
from tests.support.postgres import database
from tests.support.process import until
from tests.support.receivers import read

pytestmark = pytest.mark.slow
_HANGING = """
import os, sys, time
open(sys.argv[1], 'a').write(sys.stdin.read())
while os.path.exists(sys.argv[2]): time.sleep(0.05)
"""


@pytest.fixture
def made(postgres: str) -> Iterator[Cluster]:
    with database(postgres) as url, cluster(url) as found:
        yield found


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
