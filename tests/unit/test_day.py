"""A day by hand: what may be put, what stands where two machines planned, what is taken back."""

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.runtime import watcher
from adapters.runtime.services import Services
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal import day as d
from domain.journal.catalog import category_id
from domain.journal.day import DAY, Day
from tests.support.lessons import proved
from tests.support.services import services, task_with_agent
from tests.support.sides import apart, both, shown

ME, AGENT, DATE = "person", "agent:a1", "2027-01-04"
OF = f"day:{DATE}"
LUNCH = d.BlockPut(ME, "b1", "12:00", "13:00", title="Lunch")


def at_work(*commands: do.JournalCommand) -> Services:
    at = services()
    at.append_journal(do.CreateTask("Write the report"))
    for one in commands:
        at.append_journal(one)
    return at


def day(at: Services) -> Day:
    with at.journal.reading() as world:
        return world.load(DAY, DATE)


def told(at: Services) -> list[tuple[str, ...]]:
    return [(one.start, one.end, one.title or one.task[:3]) for one in day(at).blocks]


def put(start: str = "12:00", end: str = "13:00", **more: Any) -> d.PutBlock:
    return d.PutBlock(DATE, start, end, **{"title": "Lunch", **more})


REFUSED: dict[str, tuple[do.JournalCommand, str]] = {  # the others: tests/integration/test_cli_day
    "no date": (d.PutBlock("2027-02-30", "12:00", "13:00", title="Lunch"), "is no date"),
    "no time": (put("9:00"), "'9:00' is no time of day"),
    "of nothing": (put(title=""), "the block is of nothing"),
    "of both": (put(task="t1"), "a task or a title, not both"),
    "too much said": (put(title="so " * 100), "title"),
    "no block": (d.PutBlock(DATE, block="b9"), "there is no block 'b9' on 2027-01-04"),
    "none to remove": (d.RemoveBlock(DATE, "b9"), "there is no block 'b9' on 2027-01-04"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_block_is_refused_in_one_line(name: str) -> None:
    command, line = REFUSED[name]
    at = at_work(put("10:00", "11:00", title="Call"))
    with pytest.raises(Refused, match=line) as refused:
        at.append_journal(command)
    assert refused.value.code == ("unknown_block" if "'b9'" in line else "invalid_value")
    assert len(day(at).blocks) == 1


def test_a_day_has_48_blocks_at_most() -> None:
    at = at_work(*(put(d.clock(nth * 10), d.clock(nth * 10 + 10)) for nth in range(48)))
    with pytest.raises(Refused, match="has 48 blocks already"):
        at.append_journal(put("20:00", "24:00"))
    assert proved(at) == ()


CLOCKS = st.integers(0, 288).map(lambda nth: d.clock(nth * 5))
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["put", "move", "remove", "undo"]), CLOCKS, CLOCKS, st.integers(0, 9)
    ),
    max_size=25,
)


@given(DEEDS)
def test_in_whatever_order_no_block_meets_another_and_all_of_it_proves(
    deeds: list[tuple[str, str, str, int]],
) -> None:
    at = services()
    for what, start, end, nth in deeds:
        blocks = day(at).blocks
        block = blocks[nth % len(blocks)].id if blocks else "none"
        commands: dict[str, do.JournalCommand] = {
            "put": put(start, end),
            "move": d.PutBlock(DATE, start, end, block),
            "remove": d.RemoveBlock(DATE, block),
            "undo": do.UndoDeed((), (max(1, at.journal.tail().n - nth),), days=(DATE,)),
        }
        with suppress(Refused):
            at.append_journal(commands[what])
        spans = [one.span for one in day(at).blocks]
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
        free = d.free_spans(day(at).blocks, (0, 1440))
        assert sum(end - start for start, end in (*free, *spans)) == 1440
    assert proved(at) == ()


def test_a_block_has_the_category_of_its_task_or_the_one_that_is_given() -> None:
    at = services()
    task, _ = task_with_agent(at)
    at.append_journal(put("09:00", "11:00", task=task, title=""))
    at.append_journal(put(category="Inbox"))
    assert [(one.task, one.category) for one in day(at).blocks] == [
        (task, category_id("Inbox")),
        ("", category_id("Inbox")),
    ]
    first, last = (one.id for one in day(at).blocks)
    with pytest.raises(Refused, match="has its task's category"):
        at.append_journal(d.PutBlock(DATE, block=first, category="Inbox"))
    at.append_journal(d.PutBlock(DATE, block=first, title="Rest"))
    assert (day(at).blocks[0].task, day(at).blocks[0].category) == ("", "")
    at.append_journal(d.PutBlock(DATE, block=last, title="A long lunch"))
    assert day(at).blocks[1].category == category_id("Inbox")
    at.append_journal(do.DeleteTask(task))
    with pytest.raises(Refused, match="deleted"):
        at.append_journal(put("15:00", "16:00", task=task, title=""))
    assert proved(at) == ()


def test_what_is_so_already_writes_nothing_and_no_agent_is_told_of_a_day() -> None:
    at, seen = at_work(), 0
    task, _ = task_with_agent(at)
    watcher.catch_up(at)
    pin = d.PinTask(DATE, task, is_pinned=True)
    for command in (put(), pin, d.RateDay(DATE, 4, "Fine"), d.PinTask(DATE, task)):
        at.append_journal(command)
        assert at.journal.tail().n > seen
        seen = at.journal.tail().n
        if not isinstance(command, d.PutBlock):
            assert len(at.append_journal(command).rows) == 0
    block = day(at).blocks[0].id
    assert at.append_journal(d.PutBlock(DATE, block=block)).rows == ()
    taken = watcher.following(at)
    assert taken is not None
    assert taken.batches == ()
    assert proved(at) == ()


def test_keeping_an_agents_block_makes_it_ones_own_wherever_it_lies() -> None:
    sides = both(d.BlockPut(AGENT, "b1", "09:00", "10:00", "t1"), of=OF)
    assert sides.state(OF).blocks[0].by == AGENT
    state = Day(DATE, (*sides.state(OF).blocks, d.Block("b2", "09:30", "10:30", title="Call")))
    d.check_block(state, "09:00", "10:00", block="b1", of="t1")
    with pytest.raises(Refused, match="meets the block 09:30-10:30"):
        d.check_block(state, "09:00", "10:15", block="b1", of="t1")


def test_what_is_free_is_neither_a_pause_nor_a_block() -> None:
    blocks = [d.Block("a", "08:00", "09:30"), d.Block("b", "12:30", "13:30")]
    assert d.free_spans(blocks, (540, 1020), [(720, 780)]) == [(570, 720), (810, 1020)]
    assert d.free_spans([d.Block("a", "00:00", "12:00")], (540, 600)) == []


# ------------------------------------------------------------------------------------- two machines


@pytest.mark.parametrize(("desk", "phone"), [(ME, AGENT), (AGENT, ME)])
def test_a_persons_word_on_a_block_stands_before_an_agents_elsewhere(desk: str, phone: str) -> None:
    def at_ten(by: str) -> d.BlockPut:
        return d.BlockPut(by, "b1", "10:00" if by == ME else "15:00", "16:00", title="Lunch")

    sides = apart(at_ten(desk), at_ten(phone), LUNCH, of=OF)
    assert [one.start for one in sides.state(OF).blocks] == ["10:00"]
    gone = apart(d.BlockRemoved(ME, "b1"), at_ten(AGENT), LUNCH, of=OF)
    assert gone.state(OF).blocks == ()
    assert shown(sides, OF) + shown(gone, OF) == []


def test_blocks_of_two_machines_that_overlap_both_stand() -> None:
    sides = apart(
        d.BlockPut(ME, "b2", "12:30", "14:00", "t1"), d.BlockPut(ME, "b1", "12:00", "13:00"), of=OF
    )
    assert [one.id for one in sides.state(OF).blocks] == ["b1", "b2"]


def test_of_pins_and_ratings_the_last_stands() -> None:
    pins = apart(d.DayTaskPinned(ME, "t1"), d.DayTaskUnpinned(ME, "t1"), of=OF)
    assert pins.state(OF).pinned == ()
    rated = apart(d.DayRated(ME, 2, "Long"), d.DayRated(ME, 5), of=OF)
    assert (rated.state(OF).score, rated.state(OF).comment) == (5, "")


# --------------------------------------------------------------------------------------- taken back


def undone(at: Services) -> None:
    at.append_journal(do.UndoDeed((), (at.journal.tail().n,), days=(DATE,), reopens=True))


def test_each_deed_of_a_day_is_taken_back_and_done_again() -> None:
    at = at_work(put())
    task, _ = task_with_agent(at)
    block = day(at).blocks[0].id
    deeds = (
        d.PutBlock(DATE, "14:00", "15:00", block),
        d.PinTask(DATE, task, is_pinned=True),
        d.PinTask(DATE, task),
        d.RateDay(DATE, 4, "Fine"),
        d.RateDay(DATE, 2),
        d.RemoveBlock(DATE, block),
    )
    for one in deeds:
        before = stands(at)
        at.append_journal(one)
        after = stands(at)
        undone(at)
        assert stands(at) == before
        undone(at)
        assert stands(at) == after
    assert proved(at) == ()


def stands(at: Services) -> object:
    now = day(at)
    return told(at), now.pinned, now.score, now.comment
