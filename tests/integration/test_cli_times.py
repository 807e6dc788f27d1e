"""The time that a task took: proposed by its agent, entered and corrected by the person."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.waking import agent, at, inbox, reply, report, tape

SINK = "Fix the sink"
NOON = at("2027-03-28T12:00:00Z")  # the night before, clocks in Berlin skipped 02:00 to 03:00


def in_zone(home: Path, zone: str) -> None:
    (home / "settings.toml").write_text(f'timezone = "{zone}"\n', encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in Berlin."""
    home = tmp_path / "home"
    agent(home, SINK, "--model", tape(tmp_path / "tape.jsonl", reply()))
    in_zone(home, "Europe/Berlin")
    return home


def called(home: Path, *calls: tuple[str, object], env: dict[str, str] = NOON) -> None:
    """A wake whose model makes these calls."""
    tape(home.parent / "tape.jsonl", reply(*calls, report()), reply())
    done(["wake", SINK], home, env=env)


def spent(began: str, ended: str, summary: str = "Soldered") -> tuple[str, object]:
    return "log_time", {"startedAt": began, "endedAt": ended, "summary": summary}


def entries(home: Path) -> Any:
    return told(["task", "show", SINK], home, env=NOON)["time"]


def test_time_that_an_agent_proposes_is_an_entry_once_it_is_confirmed(home: Path) -> None:
    called(home, spent("2027-03-27T16:00", "2027-03-27 18:00"))
    (item,) = inbox(home)
    assert item["summary"] == "Log 2027-03-27 16:00-18:00 (2 h): Soldered"
    assert item["arguments"]["startedUtc"] == "2027-03-27T15:00:00.000000Z"
    assert entries(home) == []
    done(["confirm", item["ref"]], home, env=NOON)
    (entry,) = entries(home)
    assert (entry["start"], entry["end"]) == (
        "2027-03-27T15:00:00.000000Z",
        "2027-03-27T17:00:00.000000Z",
    )
    assert proved(home)
