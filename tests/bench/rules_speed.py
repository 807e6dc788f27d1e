"""Processor time that the offline model takes in a wake.

    .venv/bin/python tests/bench/rules_speed.py

Of requests as a wake makes them: the notes of `tests/data/notes`, and tasks with many in their log.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.models.offline.clauses import sentence
from adapters.models.rules import context, findings
from adapters.models.rules.model import RulesModel
from domain.ports import Request
from tests.support.notes import Case, Note, cases, request

SIZES = (1, 10, 50, 200)
ROUNDS = 5


def main() -> None:
    known = list(cases())
    asked = [request(one) for one in known]
    _taken(asked)  # patterns and tables are made once
    print(f"{len(asked)} notes alone: {_taken(asked):.2f} ms each, of a wake's first turn")
    for size in SIZES:
        long = _joined(known, size)
        print(f"{size:4} notes in a log: {_taken([long] * ROUNDS):.2f} ms")


def _joined(known: Sequence[Case], size: int) -> Request:
    """A task with the notes of many cases."""
    told = [Note("2026-11-20", one.text) for one in known[:size]]
    return request(Case(task={"title": "All of it"}, want={}, kind=[], notes=told, language="en"))


def _taken(asked: Sequence[Request]) -> float:
    """Milliseconds of processor time for each."""
    begun = process_time()
    for one in asked:
        for one_cache in (sentence, context.read, findings.find):
            one_cache.cache_clear()  # as in a process that wakes for the first time
        asyncio.run(RulesModel().reply(one))
    return 1000 * (process_time() - begun) / len(asked)


if __name__ == "__main__":
    main()
