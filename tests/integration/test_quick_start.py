"""A reading command loads what it reads with, and nothing that writes, decides, runs or draws."""

import re
from pathlib import Path

import pytest

from tests.support.process import ended, ran, read

pytestmark = pytest.mark.e2e

HEAVY = """
adapters.analytics adapters.demo adapters.importers adapters.models adapters.proof
adapters.simulation adapters.store.eventsourcing_recorder adapters.store.memory adapters.upkeep
adapters.usecases.agents adapters.usecases.tasks adapters.web
asyncio cronsim domain.handlers.execute domain.wake.machine duckdb email eventsourcing
google httpx2 importlib.metadata importlib.resources jinja2 logging markdown_it opentelemetry
procrastinate psycopg replay.cross_log_check replay.prove rich starlette uvicorn yaml
""".split()
DOOR = {"main", "lazy_groups", "shared", "param_types"}  # what all commands have
RUNTIME = {"adapters.runtime", "adapters.runtime.services", "adapters.telemetry.spans"}
LOOKS = {  # what says how proposals stand to their tasks, what waits, and who runs
    "inbox": {"effects", "follow_ups", "orphaned_effects", "review"},
    "status": {"effects", "follow_ups", "orphaned_effects", "review", "watcher"},
    "why": {"watcher"},
    "health": {"watcher"},
}
OFFERED = {
    "models": {"importlib.metadata", "importlib.resources", "email"},
    "health": {"adapters.upkeep"},
}  # which others offer, by their entry points
READING = [
    ("tasks", "task list"),
    ("tasks", "task show TASK"),
    ("catalog", "category list"),
    ("catalog", "label list"),
    ("agents", "agent list"),
    ("agents", "agent show TASK"),
    ("templates", "template list"),
    ("templates", "lessons"),
    ("inbox", "inbox"),
    ("reading", "report TASK"),
    ("reading", "journal TASK"),
    ("memory", "memory TASK"),
    ("reading", "messages TASK"),
    ("reading", "wakes"),
    ("show reading", "show RUN"),
    ("show tasks", "show TASK"),
    ("reading", "why TASK"),
    ("status", "status"),
    ("upkeep", "health"),
    ("models", "models"),
    ("", "--help"),
]
_LOADED = re.compile(r"^import time: .*\| +([\w.]+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home, and the key of its wake."""
    made = tmp_path_factory.mktemp("quick") / "home"
    ran(made, "task", "add", "Fix the sink")
    ran(made, "agent", "create", "--all")
    ran(made, "wake")
    ran(made, "status")  # the views are at both logs' ends
    return made, read(made, "wakes")[0]["run_key"]


@pytest.mark.parametrize(("module", "command"), READING)
def test_a_reading_command_loads_no_more_than_it_reads_with(
    lived: tuple[Path, str], module: str, command: str
) -> None:
    home, run_key = lived
    words = {"TASK": "Fix the sink", "RUN": run_key}
    asked = [words.get(one, one) for one in command.split()]
    done = ended(home, *asked, more={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == (asked == ["health"]), done.stderr  # nothing wakes these agents
    loaded = set(_LOADED.findall(done.stderr))
    assert "adapters.cli.shared" in loaded, "the list is there"
    refused = {*HEAVY} - OFFERED.get(asked[0], set())
    heavy = {one for one in loaded for name in refused if f"{one}.".startswith(f"{name}.")}
    commands = {
        one.removeprefix("adapters.cli.") for one in loaded if one.startswith("adapters.cli.")
    }
    runs = {one for one in loaded if f"{one}.".startswith("adapters.runtime.")} - RUNTIME
    looks = {f"adapters.runtime.{one}" for one in LOOKS.get(asked[0], set())}
    assert command != "--help" or "msgspec" not in loaded
    assert (heavy, commands - DOOR - {*module.split()}, runs - looks) == (set(), set(), set())
