"""A fold passes over what it does not know, and takes facts out of order, and twice."""

from typing import Any

import pytest
from msgspec import json

from adapters.proof import histories
from domain.append.envelope import STREAM_TYPES
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored
from replay.appends import appends
from tests.histories.scenes import FOLDER
from tests.support.services import START

NAMES = ("every_edit", "verdicts", "links", "timers_fire", "template_versions", "lives")


class Later(Stored, frozen=True, tag="later.9"):
    """A fact that no fold has heard of."""


@pytest.mark.parametrize("kind", STREAM_TYPES.values(), ids=list(STREAM_TYPES))
def test_a_fact_of_another_kind_changes_nothing(kind: StreamType[Any]) -> None:
    before = kind.initial("x")
    assert kind.evolve(before, RecordedEvent("x:x@r1", 1, "r1", 1, 0, START, Later())) == before


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_folds_onto_nothing_and_twice(name: str) -> None:
    """Another replica's rows may come without those that they rest on, and twice."""
    for rows in histories.read_history(FOLDER / f"{name}.jsonl").rows.values():
        for row in (row for one in appends(rows) for row in one.facts):
            if kind := STREAM_TYPES.get(row.of_kind):
                once = kind.evolve(kind.initial(row.entity), row)
                assert json.encode(kind.evolve(once, row))
