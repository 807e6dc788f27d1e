"""The same seed lives the same months, byte for byte, in any process."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

WAKELOG = Path(sys.executable).parent / "wakelog"
SIZE = ("--agents", "12", "--months", "3")


def made(home: Path, seed: str, **environ: str) -> dict[str, Any]:
    command = [WAKELOG, "--json", "demo-data", "--home", home, "--seed", seed, *SIZE]
    done = subprocess.run(
        command, capture_output=True, check=True, timeout=300, env={**os.environ, **environ}
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def bytes_of(home: Path) -> list[str]:
    names = ("journal.db", "agent.db", "settings.toml", "replica")
    return [hashlib.sha256((home / name).read_bytes()).hexdigest() for name in names]


def asked(home: Path, sql: str) -> list[dict[str, Any]]:
    command = [WAKELOG, "--home", home, "--json", "sql", sql]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_a_seed_stands_for_its_bytes(tmp_path: Path) -> None:
    one = made(tmp_path / "one", "a", PYTHONHASHSEED="1", TZ="Asia/Tokyo")
    same = made(tmp_path / "same", "a", PYTHONHASHSEED="2", LC_ALL="C", WAKELOG_TIMEZONE="UTC")
    other = made(tmp_path / "other", "b")
    assert [one["proof"]["ok"], other["proof"]["ok"]] == [True, True]
    assert one["proof"]["digest"] == same["proof"]["digest"] != other["proof"]["digest"]
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "same")


def test_there_is_something_to_find(tmp_path: Path) -> None:
    """What the notebooks ask about has happened, over the change to summer time, too."""
    home = tmp_path / "home"
    made(home, "a")
    (found,) = asked(
        home,
        "SELECT count(*) FILTER (outcome = 'failed') AS failed,"
        " count(*) FILTER (is_noop) AS noop, count(*) FILTER (waits > 0) AS waited,"
        " count(DISTINCT template_version) AS versions, count(DISTINCT model) AS models,"
        " count(*) FILTER (stop = 'turn_limit') AS odd FROM wakes",
    )
    assert all(found.values()), found
    reasons = {one["reason"] for one in asked(home, "SELECT DISTINCT reason FROM wakes")}
    assert reasons == {"subscription", "timer", "user", "creation", "manual", "recovery"}
    assert asked(home, "FROM triggers WHERE is_propagated LIMIT 1")
    statuses = {one["status"] for one in asked(home, "SELECT DISTINCT status FROM change_items")}
    assert statuses >= {"confirmed", "rejected", "deferred"}
    hours = asked(
        home,
        "SELECT DISTINCT agent_id, hour(occurred_at) FROM triggers"
        " WHERE reason = 'timer' AND fate = 'first'",
    )
    agents = {one["agent_id"] for one in hours}
    assert len(hours) > len(agents), "a wall time is another hour in UTC after the change"
