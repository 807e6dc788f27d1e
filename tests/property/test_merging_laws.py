"""Merging is a filter: a pure function of the rows, the identity where nobody was apart, the same
on all replicas (T1), one effect per operation (T2), and no clock in it (M7). ADR 71.

Of the formal rules these are about the journal; the agents' log, M1 to M6 and what T2 and T3 say of
verdicts are in test_formal_merging.py and test_verdict_machines.py.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from adapters.proof import histories
from domain.append.causes import Receipt, Result
from domain.append.envelope import STREAM_TYPES
from domain.journal import task as t
from domain.journal.commands import ApplyOperation
from domain.journal.task import TASK
from domain.log.state import CachedState, LogState, RecordedEvent
from domain.log.wire import Words
from domain.replication.merge import (
    MergedRows,
    MergeFilter,
    canonical_position,
    effective,
    open_conflicts,
    repeats_of,
)
from replay.appends import appends
from tests.histories.scenes import FOLDER
from tests.support.services import START
from tests.support.sides import Sides, folded

pytestmark = pytest.mark.slow

REPLICAS = ("r0", "r1", "r2")
BY = st.sampled_from(("person", "import:markdown", "agent:a1"))
TEXTS = st.sampled_from(("a", "b", "c"))
IDS = st.sampled_from(("1", "2"))
BOTH = (t.TaskDeleted, t.TaskRestored)
FACTS = st.one_of(
    st.builds(t.TaskCreated, BY, TEXTS, TEXTS),
    st.builds(t.TaskRetitled, BY, TEXTS),
    st.builds(t.StatusSet, BY, st.sampled_from(("OPEN", "DONE"))),
    st.builds(t.LabelAssigned, BY, IDS),
    st.builds(t.LabelRemoved, BY, IDS),
    st.builds(t.ItemAdded, BY, st.just("l"), IDS, TEXTS, st.booleans()),
    st.builds(t.ItemRetitled, BY, IDS, TEXTS),
    st.builds(t.ItemArchived, BY, IDS),
    st.builds(t.NoteAdded, BY, IDS, st.just("note"), st.builds(Words, TEXTS)),
    st.builds(t.NoteEdited, BY, IDS, st.builds(Words, TEXTS)),
    st.builds(t.NoteRemoved, BY, IDS),
    st.builds(t.TimeStarted, BY, IDS, st.just(START)),
    st.builds(t.TimeEdited, BY, IDS, TEXTS, TEXTS),
    st.builds(t.TaskLinked, BY, st.just("blocks"), IDS),
    st.builds(t.TaskUnlinked, BY, st.just("blocks"), IDS),
    *(st.builds(fact, BY) for fact in BOTH),
)
MEETINGS = st.sets(st.sampled_from(REPLICAS), min_size=2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(REPLICAS), st.lists(FACTS, min_size=1, max_size=3)), MEETINGS
    ),
    min_size=3,
    max_size=25,
)

APPLIED = st.tuples(st.sampled_from(REPLICAS), IDS, TEXTS)


def played(steps: Any, sides: Sides | None = None) -> Sides:
    sides = sides or Sides()
    for step in steps:
        if isinstance(step, tuple):
            sides.says(step[0], *step[1])
        else:
            sides.meet(*step)
    return sides


def entities(name: str) -> dict[str, list[RecordedEvent]]:
    """The rows of each entity that merges in a history of one replica, of both logs."""
    found: dict[str, list[RecordedEvent]] = {}
    logs = histories.read_history(FOLDER / f"{name}.jsonl").rows.values()
    for row in (row for rows in logs for one in appends(rows) for row in one.facts):
        if row.of_kind in STREAM_TYPES and STREAM_TYPES[row.of_kind].is_merged:
            found.setdefault(row.stream, []).append(row)
    return found


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.jsonl")))
def test_of_a_home_that_was_always_alone_every_row_counts(name: str) -> None:
    """On the long way, too: there every row knows all before it."""
    for rows in entities(name).values():
        assert effective(rows, lambda a, b: False) == rows
        assert MergedRows(rows, lambda a, b: b.n <= a.n).counted == rows
        assert open_conflicts(rows, lambda a, b: False) == ()


@settings(max_examples=25)
@given(steps=STEPS)
def test_where_everybody_met_before_each_step_every_row_counts(steps: Any) -> None:
    sides = played(one for step in steps for one in (set(REPLICAS), step))
    assert list(sides.counted()) == sides.of()
    assert MergedRows(sides.of(), sides.knows).counted == sides.of()
    assert sides.open() == []


@settings(max_examples=25)
@given(steps=STEPS)
def test_t1_all_who_hold_the_same_rows_hold_the_same_state(steps: Any) -> None:
    """T1, convergence. Each replica counts the rows that it was told of, in the order in which it
    was told; once all have met, they count the same."""
    sides = played(steps)
    rows, want = sides.of(), [row.fact for row in sides.counted()]
    for first in REPLICAS:
        arrived = sorted(rows, key=lambda row: (row.replica != first, row.replica, row.n, row.row))
        counted = effective(sorted(arrived, key=canonical_position), sides.knows)
        assert [row.fact for row in counted] == want
        assert folded(counted) == sides.state()


@settings(max_examples=25)
@given(steps=STEPS, more=st.lists(FACTS, min_size=1, max_size=4))
def test_what_is_written_by_who_knows_all_is_folded_on(steps: Any, more: Any) -> None:
    """A state is cached, and own rows are folded onto it: they change nothing that counted."""
    sides = played(steps)
    sides.meet(*REPLICAS)
    before, open_then = list(sides.counted()), len(sides.open())
    for fact in more:
        before.append(sides.says("r0", fact))
        assert list(sides.counted()) == before
        assert len(sides.open()) <= open_then


@settings(max_examples=25)
@given(steps=STEPS, more=st.lists(FACTS, min_size=1, max_size=4))
def test_a_world_goes_on_from_the_state_it_kept_by_own_rows_alone(steps: Any, more: Any) -> None:
    sides = played(steps)
    sides.meet(*REPLICAS)
    kept: dict[str, CachedState] = {}
    read: set[str] = set()

    def rows(stream: str, after: int) -> list[RecordedEvent]:
        read.add(stream)
        return [row for row in sides.of() if row.stream == stream and row.version > after]

    def load() -> Any:
        sift = MergeFilter(sides.knows)
        others = REPLICAS[1:]
        world = LogState(
            "journal", "r0", 0, rows, lambda _: None, replicas=others, sift=sift, cache=kept
        )
        return world.load(TASK, "t1")

    assert load() == sides.state()
    for fact in more:
        was_there = bool(sides.rows)
        sides.says("r0", fact)
        read.clear()
        assert load() == sides.state()
        assert not was_there or read == {"task:t1@r0"}


@settings(max_examples=25)
@given(steps=STEPS)
def test_what_stands_is_a_value_that_a_side_said_and_of_the_highest_rank(steps: Any) -> None:
    sides = played(steps)
    merged = MergedRows(sides.of(), sides.knows)
    for heads in merged.heads.values():
        assert heads[-1].rank == max(head.rank for head in heads)
        assert [head.row for head in heads] == sorted(
            (head.row for head in heads), key=canonical_position
        )
    for conflict in sides.open():
        assert conflict.stands in [side.value for side in conflict.sides]
        assert not any(
            sides.knows(one.row, other.row)
            for one in conflict.sides
            for other in conflict.sides
            if one != other and conflict.kind == "values" and one.row in merged.counted
        )


@settings(max_examples=25)
@given(steps=STEPS)
def test_nothing_that_is_left_out_is_silent(steps: Any) -> None:
    """Whoever said what does not count finds it in a conflict, or it said what stands, or somebody
    who knew of it spoke since, or the thing is gone, or nobody is asked about it."""
    sides = played(steps)
    merged = MergedRows(sides.of(), sides.knows)
    told = {side.row for conflict in sides.open() for side in conflict.sides}
    for field, lost in merged.lost.items():
        if field in merged.gone or "deleted" in merged.gone:
            continue
        for head in lost:
            stands = merged.heads[field][-1].value if field in merged.heads else None
            assert head.row in told or head.value == stands


@settings(max_examples=25)
@given(steps=STEPS, wrong=st.integers(-200, 200), replica=st.sampled_from(REPLICAS))
def test_m7_a_clock_that_is_wrong_changes_no_decision(steps: Any, wrong: int, replica: str) -> None:
    """M7, no wall clock. The same is said by machines one of whose clocks is hours off."""
    right, sides = played(steps), Sides()
    sides.minutes[replica] = wrong
    played(steps, sides)
    assert [untimed(row) for row in sides.counted()] == [untimed(row) for row in right.counted()]
    assert [told(one) for one in sides.open()] == [told(one) for one in right.open()]


def untimed(row: RecordedEvent) -> RecordedEvent:
    return replace(row, at="")


def told(conflict: Any) -> Any:
    values = [(untimed(side.row), side.value) for side in conflict.sides]
    return conflict.field, conflict.kind, conflict.stands, values


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(REPLICAS), IDS, TEXTS), max_size=8, unique_by=lambda a: a[:2]
    )
)
def test_t2_an_operation_has_one_effect_however_many_applied_it(done: Any) -> None:
    """T2, one logical change per operation: each writes one note per operation, and of each there
    is one in the end, that of the canonical first."""
    sides = Sides()
    receipts: list[RecordedEvent] = []
    want: dict[str, tuple[tuple[int, str, int], str]] = {}
    for replica, operation, text in done:
        note = f"{operation} by {replica}"
        row = sides.says(replica, t.NoteAdded("agent:a1", note, "note", Words(text)))
        command = ApplyOperation(operation, "a1", "t1", "add_note", Words(text))
        receipt = Receipt(command, Result(("t1",), "applied"))
        receipts.append(replace(row, stream=f"receipt:{operation}@{replica}", fact=receipt))
        mine = canonical_position(row), note
        want[operation] = min(mine, want.get(operation, mine))
    repeats = repeats_of(receipts)
    found = sorted(note.id for note in sides.state(repeats=repeats).notes)
    assert found == sorted(note for _, note in want.values())
    assert repeats == repeats_of(reversed(receipts))
