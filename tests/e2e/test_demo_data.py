"""The same seed lives the same months, byte for byte, in any process; the notebooks run on it."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from adapters.analytics.database import connect
from adapters.analytics.queries import run_query
from notebooks import execute
from notebooks.names import NOTEBOOKS
from tests.support import checker
from tests.support.waking import proposing

pytestmark = pytest.mark.e2e

WAKELOG = Path(sys.executable).parent / "wakelog"
ROOT = Path(__file__).parents[2]
SMALL = ("--agents", "3", "--months", "1")


def made(home: Path, seed: str, size: tuple[str, ...] = (), **environ: str) -> dict[str, Any]:
    command = [str(WAKELOG), "--json", "demo-data", "--home", str(home), "--seed", seed, *size]
    done = subprocess.run(
        command, capture_output=True, check=True, timeout=900, env={**os.environ, **environ}
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def bytes_of(home: Path) -> list[str]:
    names = ("journal.db", "agent.db", "settings.toml", "replica")
    return [hashlib.sha256((home / name).read_bytes()).hexdigest() for name in names]


def asked(home: Path, sql: str) -> list[dict[str, Any]]:
    with connect(home, {}) as connection:
        return list(run_query(connection, sql).documents())


def executed(home: Path, to: Path, *names: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "notebooks.execute", "--home", str(home), "--to", str(to)]
    return subprocess.run(
        [*command, *names], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_seed_stands_for_its_bytes(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    made(one, "a", SMALL, PYTHONHASHSEED="1", TZ="Asia/Tokyo")
    made(same, "a", SMALL, PYTHONHASHSEED="2", LC_ALL="C", WAKELOG_TIMEZONE="UTC")
    made(other, "b", SMALL)
    assert bytes_of(one) == bytes_of(same)
    assert bytes_of(one) != bytes_of(other)


def is_there_to_find(home: Path) -> None:
    """What the notebooks ask about has happened, over the change to summer time, too."""
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
    assert asked(home, "FROM tool_calls WHERE tool = 'find_tasks' AND status = 'success' LIMIT 1")
    verdicts = asked(home, "SELECT DISTINCT tool, status FROM change_items")
    assert {"tool": "create_follow_up_task", "status": "rejected"} in verdicts
    for tool in ("create_follow_up_task", "link_task", "log_time"):
        assert {"tool": tool, "status": "confirmed"} in verdicts
    tags = {one["tag"] for one in asked(home, "SELECT DISTINCT tag FROM events")}
    assert tags >= {"task.rated.1", "task.time_edited.1", "task.linked.1", "agent.loop_opened.1"}
    assert tags >= {"lessons.decided.1", "lessons.ran.1", "lessons.rated.1"}
    assert asked(home, "FROM digests WHERE is_top LIMIT 1"), "no agent is old"
    (most,) = asked(
        home, "SELECT count(*) AS n FROM observations GROUP BY agent_id ORDER BY n DESC LIMIT 1"
    )
    assert most["n"] > 50
    resolving = (
        "FROM events WHERE tag = 'agent.observed.1' AND contains(data, '\"resolves\"') LIMIT 1"
    )
    assert asked(home, resolving)
    hours = asked(
        home,
        "SELECT DISTINCT agent_id, hour(occurred_at) FROM triggers"
        " WHERE reason = 'timer' AND fate = 'first'",
    )
    agents = {one["agent_id"] for one in hours}
    assert len(hours) > len(agents), "a wall time is another hour in UTC after the change"


NO_WAKES = {
    "costs": "No agent has woken in this home yet, so nothing was paid.",
    "odd_wake": "No wake has ended in this home yet.",
    "rejections": "Nobody has decided about a proposal in this home yet.",
    "trust": "No agent has woken in this home yet, so no template has earned any.",
    "wakes": "No agent has woken here yet.",
}
NO_VERDICTS = {
    "costs": "no cost is known: `settings.toml` holds no price",
    "odd_wake": "There is no wake with a denied call.",
    "rejections": "Nobody has decided about a proposal in this home yet.",
    "trust": "![Nothing to show yet]",
    "wakes": "No wake has done nothing so far",
}


@pytest.mark.parametrize(("has_wakes", "said"), [(False, NO_WAKES), (True, NO_VERDICTS)])
def test_a_home_with_little_in_it_is_told_so(
    tmp_path: Path, has_wakes: bool, said: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a plain sentence; and nothing is concluded from nothing."""
    if has_wakes:
        proposing(tmp_path, "Fix the sink", "Paint the door")
    monkeypatch.setenv("WAKELOG_HOME", str(tmp_path if has_wakes else tmp_path / "nothing"))
    assert set(said) == set(NOTEBOOKS)
    for name, sentence in said.items():
        text = "\n\n".join(execute.copies(name, tmp_path))
        told = re.sub(r"```python.*?```", "", text, flags=re.DOTALL)
        assert sentence in told
        assert re.findall(r"\b(None|nan|inf)\b", told) == []


def test_a_cell_that_fails_fails_the_run(tmp_path: Path) -> None:
    proposing(tmp_path, "Fix the sink")
    (tmp_path / "agent.db").write_bytes(b"no log")
    done = executed(tmp_path, tmp_path / "copies", "trust")
    assert done.returncode == 1
    assert "failed: trust" in done.stderr


def test_a_stranger_finds_nothing_forbidden_in_the_home_of_the_kept_copies(tmp_path: Path) -> None:
    """Their words are of it, and what their pictures show. `make figures` writes them anew. It is
    long to make, so all that is asked of it is asked here."""
    home, copies, kept = tmp_path / "home", tmp_path / "copies", ROOT / "notebooks"
    assert made(home, "wakelog", PYTHONHASHSEED="1", TZ="Asia/Tokyo")["proof"]["ok"] is True
    assert checker.findings(home, is_settled=True) == []
    is_there_to_find(home)
    done = executed(home, copies)
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr  # DuckDB's complaint at the exit
    pictures = sorted(path.name for path in (copies / "pictures").iterdir())
    assert pictures == sorted(path.name for path in (kept / "pictures").iterdir())
    for name in NOTEBOOKS:
        assert (kept / f"{name}.md").read_text("utf-8") == (copies / f"{name}.md").read_text(
            "utf-8"
        )
        assert f"({name}.md)" in (kept / "README.md").read_text("utf-8")
    for name in pictures:
        assert shown(kept / "pictures" / name) == shown(copies / "pictures" / name), name
        assert (kept / "pictures" / name).stat().st_size < 300_000


def shown(picture: Path) -> str:
    with Image.open(picture) as image:
        return str(image.info["data"])
