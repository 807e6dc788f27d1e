"""Records a workflow with dbos, changes its code, and forks the recorded run behind its last step.

python dbos_blind.py FOLDER            prints {mutation: what it said, or nothing} as JSON
python dbos_blind.py FOLDER MUTATION   one fork, over a copy of the recorded file

Each fork is a process of its own, as changed code is. Runs in an environment of its own.
"""

import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.bench.peers.plans import ANOTHER_RESULT, CHANGED, NAMES, RECORDED, Step, result

OUTPUT = "UPDATE operation_outputs SET output = (SELECT output FROM operation_outputs WHERE"
OTHER = f"{OUTPUT} workflow_uuid = 'other' AND function_id = 2)"
ALTER = f"{OTHER} WHERE workflow_uuid = 'wake' AND function_id = 2"


def launched(file: Path, plan: tuple[Step, ...]) -> tuple[Any, Any]:
    """The engine over a file, and the workflow whose code says what the plan says."""
    module: Any = import_module("dbos")
    engine = module.DBOS
    logging.disable(logging.CRITICAL)
    engine(config={"name": "blind", "system_database_url": f"sqlite:///{file}",
                   "application_version": "1"})  # fmt: skip
    attempts = {one.name: one.attempts for one in plan}

    def step(name: str) -> Any:
        def run(said: str) -> str:
            return result(name, said)

        tries = attempts.get(name, 3)
        return engine.step(name=name, retries_allowed=True, max_attempts=tries)(run)

    steps = {name: step(name) for name in NAMES}

    def wake(second: str = "") -> str:
        said = (second if second and one.name == "estimate" else one.said for one in plan)
        return "; ".join(
            steps[one.name](given) for one, given in zip(plan, said, strict=True)
        )  # fmt: skip

    workflow = engine.workflow(name="wake")(wake)
    engine.launch()
    return module, workflow


def record(file: Path) -> None:
    """The recorded run, and one whose second step says something else."""
    module, workflow = launched(file, RECORDED)
    for name, second in (("wake", ""), ("other", "450 minutes")):
        with module.SetWorkflowID(name):
            workflow(second)
    module.DBOS.destroy()


def forked(file: Path, mutation: str) -> str:
    """What a fork that reuses every recorded step says; nothing where it ends well."""
    module, _ = launched(file, CHANGED[mutation])
    try:
        handle = module.DBOS.fork_workflow("wake", len(RECORDED) + 1, application_version="1")
        ended = handle.get_result()
    except Exception as error:  # noqa: BLE001  # whatever the peer raises is what it says
        return " ".join(f"{type(error).__name__}: {error}".split())
    finally:
        module.DBOS.destroy()
    if mutation == "change a result":
        assert ANOTHER_RESULT in ended, "the recorded result was not the one that was altered"
    return ""


def main(folder: Path, mutation: str = "") -> None:
    file = folder / "dbos.sqlite"
    if mutation:
        print(json.dumps(forked(folder / f"{mutation}.sqlite", mutation)))
        return
    record(file)
    with sqlite3.connect(file) as recorded:
        recorded.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    recorded.close()
    told: dict[str, str] = {}
    for name in CHANGED:
        copy = folder / f"{name}.sqlite"
        shutil.copy(file, copy)
        if name == "change a result":
            with sqlite3.connect(copy) as altered:
                altered.execute(ALTER)
            altered.close()
        command = [sys.executable, __file__, str(folder), name]
        done = subprocess.run(command, capture_output=True, check=True, timeout=120)
        told[name] = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
