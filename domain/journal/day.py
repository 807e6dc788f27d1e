"""A day as a person plans it: the streams ``day:<YYYY-MM-DD>``, each a unit of its own (ADR 102).

STORAGE FORMAT, see `domain.log.wire`. Times are a wall clock's, ``HH:MM``, an end up to ``24:00``:
a plan goes along into another zone. Two machines that did not know of each other may have put
blocks that overlap: both stand.

`by` is who did it: ``person`` or ``agent:<id>``. A person's block is fixed: no agent may move it.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import Refused, invalid
from domain.journal.task import PERSON
from domain.log.state import RecordedEvent, StreamType
from domain.log.timestamps import is_date
from domain.log.wire import Stored

SHORTEST, LONGEST = 5, 12 * 60  # minutes of a block
BLOCKS_MAX = 48  # of a day

Span = tuple[int, int]
"""Minutes of the day, from and to."""


class BlockPut(Stored, frozen=True, tag="day.block_put.1"):
    """A block, or what it is from now on. Of a task it has the task's category and no title."""

    by: str
    block: str
    start: str
    end: str
    task: str = ""
    category: str = ""
    title: str = ""


class BlockRemoved(Stored, frozen=True, tag="day.block_removed.1"):
    by: str
    block: str


class DayTaskPinned(Stored, frozen=True, tag="day.task_pinned.1"):
    by: str
    task: str  # wanted that day


class DayTaskUnpinned(Stored, frozen=True, tag="day.task_unpinned.1"):
    by: str
    task: str


class DayRated(Stored, frozen=True, tag="day.rated.1"):
    by: str
    score: int = 0  # 1 to 5; 0: there is no rating any more
    comment: str = ""


DayFact = BlockPut | BlockRemoved | DayTaskPinned | DayTaskUnpinned | DayRated


class PutBlock(Stored, frozen=True, tag="command.put_block.1"):
    """A new block; or, with `block`, that one, in which what is empty stays as it is. A block that
    an agent put is the person's own from then on."""

    day: str
    start: str = ""
    end: str = ""
    block: str = ""
    task: str = ""
    category: str = ""  # name or id, of a title
    title: str = ""


class RemoveBlock(Stored, frozen=True, tag="command.remove_block.1"):
    day: str
    block: str


class PinTask(Stored, frozen=True, tag="command.pin_task.1"):
    day: str
    task: str
    is_pinned: bool = False


class RateDay(Stored, frozen=True, tag="command.rate_day.1"):
    day: str
    score: int
    comment: str = ""


DayCommand = PutBlock | RemoveBlock | PinTask | RateDay


class Block(Struct, frozen=True):
    """A stretch of a day; `at`: when it was put as it stands."""

    id: str
    start: str = ""
    end: str = ""
    task: str = ""
    category: str = ""
    title: str = ""
    by: str = PERSON
    at: str = ""

    @property
    def span(self) -> Span:
        """Its minutes."""
        return minutes_of(self.start), minutes_of(self.end)


class Day(Struct, frozen=True):
    """`id` is its date. A `score` of 0: it is not rated."""

    id: str
    blocks: tuple[Block, ...] = ()  # by start, end and id
    pinned: tuple[str, ...] = ()
    score: int = 0
    comment: str = ""


# ------------------------------------------------------------------------------------ a day's clock

_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00")


def minutes_of(clock: str) -> int:
    """Minutes since midnight. Raises Refused, code ``invalid_value``: it is no ``HH:MM`` up to
    ``24:00``.

    >>> minutes_of("09:30"), minutes_of("24:00")
    (570, 1440)
    """
    if not _CLOCK.fullmatch(clock):
        raise invalid(f"{clock!r} is no time of day", "give one from 00:00 to 24:00")
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def clock(minutes: int) -> str:
    """The time of day so many minutes after midnight.

    >>> clock(570), clock(1440)
    ('09:30', '24:00')
    """
    return f"{minutes // 60:02}:{minutes % 60:02}"


def free_spans(blocks: Iterable[Block], hours: Span, pauses: Iterable[Span] = ()) -> list[Span]:
    """What is free within hours: neither a pause nor a block, in order.

    >>> free_spans([Block("b", "10:00", "11:00")], (540, 1020), [(720, 780)])
    [(540, 600), (660, 720), (780, 1020)]
    """
    free: list[Span] = []
    begin, last = hours
    for start, end in sorted([*pauses, *(one.span for one in blocks), (last, last)]):
        if begin < (until := min(start, last)):
            free.append((begin, until))
        begin = max(begin, end)
    return free


# ---------------------------------------------------------------------------------- what may be put


def checked_date(date: str) -> str:
    """A date as it is, or Refused."""
    if not is_date(date):
        raise invalid(f"{date!r} is no date", "give it as 2026-11-24")
    return date


def known_block(day: Day, block: str) -> Block:
    """The block of that id, or Refused with code ``unknown_block``."""
    found = next((one for one in day.blocks if one.id == block), None)
    if found is None:
        because = f"there is no block {block!r} on {day.id}"
        raise Refused("unknown_block", because=because, instead="name a block of that day")
    return found


def meeting(day: Day, start: str, end: str, but: str = "") -> Block | None:
    """The first block of the day that shares time with a span; one is left out."""
    others = (one for one in day.blocks if one.id != but)
    return next((one for one in others if one.start < end and start < one.end), None)


def check_block(day: Day, start: str, end: str, *, block: str = "", of: str) -> None:
    """Refuse what can be no block of the day.

    Args:
        start: Its time, ``HH:MM``.
        end: The same, up to ``24:00``.
        block: The one that it is from now on; empty: a new one.
        of: Its task or its title.

    Raises:
        Refused: Code ``invalid_value``; ``unknown_block`` where `block` is not there.
    """
    checked_date(day.id)
    known = known_block(day, block) if block else None
    length = minutes_of(end) - minutes_of(start)
    if not SHORTEST <= length <= LONGEST:
        because = f"{start}-{end} is no block" if length <= 0 else f"{start}-{end} is {length} min"
        raise invalid(because, f"give one from {SHORTEST} minutes to {LONGEST // 60} hours")
    is_moved = known is None or (known.start, known.end) != (start, end)
    if is_moved and (other := meeting(day, start, end, block)):
        because = f"{start}-{end} meets the block {other.start}-{other.end}"
        raise invalid(because, "give times that meet no other block of the day")
    if known is None and len(day.blocks) >= BLOCKS_MAX:
        raise invalid(f"{day.id} has {BLOCKS_MAX} blocks already", "remove one first")
    if not of:
        raise invalid("the block is of nothing", "give it a task or a title")


# ------------------------------------------------------------------------------------------ folding


def evolve(day: Day, recorded: RecordedEvent) -> Day:
    """The day after one more fact."""
    return _after(day, recorded.fact, recorded.at)


DAY: StreamType[Day] = StreamType("day", Day, evolve)


def _after(day: Day, fact: Stored, at: str) -> Day:
    match fact:
        case BlockPut(by, block, start, end, task, category, title):
            put = Block(block, start, end, task, category, title, by, at)
            blocks = [put, *(one for one in day.blocks if one.id != block)]
            blocks.sort(key=lambda one: (one.start, one.end, one.id))
            return replace(day, blocks=tuple(blocks))
        case BlockRemoved(block=block):
            return replace(day, blocks=tuple(one for one in day.blocks if one.id != block))
        case DayTaskPinned(task=task) | DayTaskUnpinned(task=task):
            others = tuple(one for one in day.pinned if one != task)
            is_pinned = isinstance(fact, DayTaskPinned)
            return replace(day, pinned=(*others, task) if is_pinned else others)
        case DayRated(score=score, comment=comment):
            return replace(day, score=score, comment=comment)
        case _:
            return day


def stands(day: Day, fact: DayFact) -> DayFact:
    """The fact that says of a day what is so already, in that which `fact` is about."""
    match fact:
        case BlockPut(block=block) | BlockRemoved(block=block):
            for one in day.blocks:
                if one.id == block:
                    span = one.start, one.end
                    return BlockPut(one.by, block, *span, one.task, one.category, one.title)
            return BlockRemoved(PERSON, block)
        case DayTaskPinned(task=task) | DayTaskUnpinned(task=task):
            return (DayTaskPinned if task in day.pinned else DayTaskUnpinned)(PERSON, task)
        case _:
            return DayRated(PERSON, day.score, day.comment)


def taken_back(
    rows: Sequence[RecordedEvent], now: Day, replica: str, appends: Collection[int]
) -> list[DayFact] | None:
    """What takes appends of a replica back in a day, the newest first; None where something else
    stands there now, or another block in the time of one that would come back.

    `rows`: all of the day that count, in order. `now`: what they make. `replica`: whose appends
    they are."""
    steps: list[tuple[DayFact, Day, Day]] = []
    state = Day(now.id)
    for row in rows:
        before, state = state, evolve(state, row)
        if row.replica == replica and row.n in appends:
            steps.append((row.fact, before, state))  # type: ignore[arg-type]  # of a day's stream
    facts: list[DayFact] = []
    for fact, before, made in reversed(steps):
        was, held = stands(before, fact), stands(now, fact)
        if stands(made, fact) != held:
            return None
        if isinstance(was, BlockPut) and meeting(now, was.start, was.end, was.block):
            return None
        facts += [was] if was != held else []
        now = _after(now, was, "")
    return facts
