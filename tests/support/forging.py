"""What prove says of a home that was forged and whose chain was made to fit again."""

import json
from collections.abc import Iterable

from adapters.proof import histories
from adapters.proof.histories import History
from domain.append.causes import Cause
from domain.append.envelope import Row
from domain.handlers.execute import execute
from replay.divergence import Divergence
from replay.prove import LogProof
from tests.support.broken import Broken, Fact
from tests.support.checking.logs import Raw


def found(broken: Broken) -> list[Divergence]:
    """What prove finds, but that the digest of all is another one than that kept beside it."""
    proved = histories.prove_history(History(rows(broken), broken.payloads, ""))
    return [one for one in proved.divergences if one.path != "digest"]


def differing(broken: Broken) -> list[tuple[str, str]]:
    """Where prove says that today's code writes something else, and of what."""
    return [(one.kind_of, one.path) for one in found(broken)]


def rows(broken: Broken) -> dict[str, list[Row]]:
    return {log.name: list(_rows(log.raw)) for log in broken.home().logs}


def _rows(raw: Iterable[Raw]) -> Iterable[Row]:
    return (Row(one.stream, one.version, one.topic, one.state) for one in raw)


def replace_last(broken: Broken, log: str, cause: Cause) -> None:
    """Have the last append of a log be what today's code writes for another cause."""
    last = broken.logs[log].pop()
    proof = LogProof(log, broken.payloads.get)
    assert list(proof.walk(rows(broken)[log])) == []
    world = proof.streams.world(last.replica, last.n, [])
    head = proof.heads[f"{log}:{last.replica}"]
    made = execute(cause, "", last.at, head, world)
    last.facts = [Fact(row.stream, json.loads(row.state)["data"]) for row in made.rows]
    broken.logs[log].append(last)
