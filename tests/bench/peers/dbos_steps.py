"""Workflows of recorded steps with dbos on a SQLite file; runs in an environment of its own.

python dbos_steps.py FOLDER WORKFLOWS STEPS TEXT CLOCK

Prints the seconds of each workflow as JSON, by a clock of `time`.
"""

import json
import logging
import sqlite3
import sys
import time
from importlib import import_module
from typing import Any


def main(folder: str, workflows: int, steps: int, text: str, clock: str) -> None:
    path = f"{folder}/dbos.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA journal_mode=WAL")  # its own default waits for the disk more often
    module: Any = import_module("dbos")
    engine = module.DBOS
    logging.disable(logging.WARNING)
    engine(config={"name": "bench", "system_database_url": f"sqlite:///{path}"})

    def one(nth: int) -> dict[str, object]:
        return {"step": nth, "said": text}

    step: Any = engine.step()(one)

    def all_steps(count: int) -> int:
        return sum(len(step(nth)["said"]) for nth in range(count))

    workflow: Any = engine.workflow()(all_steps)
    engine.launch()
    workflow(steps)
    read, seconds = getattr(time, clock), []
    for _ in range(workflows):
        begun = read()
        workflow(steps)
        seconds.append(read() - begun)
    print(json.dumps(seconds))
    engine.destroy()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
