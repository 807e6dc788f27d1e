"""The commands of a day: blocks, what is wanted that day, how it went (ADR 102)."""

from domain.append.causes import Result
from domain.errors import invalid
from domain.handlers.decided import Decision, Event, on
from domain.handlers.journal import Handler, known_category, task_of
from domain.journal import day as d
from domain.journal import edits
from domain.journal.catalog import CATALOG
from domain.journal.day import DAY, Day
from domain.journal.task import PERSON
from domain.log.keys import key as make_key
from domain.log.state import MAIN, LogState


def _day(world: LogState, date: str) -> Day:
    return world.load(DAY, d.checked_date(date))


def _said(world: LogState, day: Day, fact: d.DayFact) -> list[Event]:
    """The fact, unless it is so already."""
    return [] if d.stands(day, fact) == fact else on(world, DAY.name, day.id, [fact])


def put_block(cause: d.PutBlock, key: str, at: str, world: LogState) -> Decision:
    day = _day(world, cause.day)
    known = d.known_block(day, cause.block) if cause.block else d.Block("")
    block = known.id or make_key("block", key, "0")
    start, end = cause.start or known.start, cause.end or known.end
    task, category, title = known.task, known.category, known.title
    if cause.task and cause.title:
        raise invalid("a block has a task or a title, not both", "leave one of them out")
    if cause.task:
        of = task_of(world, cause.task)
        task, category, title = of.id, of.category, ""
    elif cause.title:
        title = edits.titled(cause.title, edits.TITLE_MAX)
        task, category = "", "" if task else category
    d.check_block(day, start, end, block=known.id, of=task or title)
    made: list[Event] = []
    if cause.category:
        if task:
            raise invalid("a task's block has its task's category", "leave the category out")
        category, inbox = known_category(world.load(CATALOG, MAIN), cause.category)
        made = on(world, CATALOG.name, MAIN, inbox)
    put = d.BlockPut(PERSON, block, start, end, task, category, title)
    return Decision([*made, *_said(world, day, put)], Result((block,)))


def remove_block(cause: d.RemoveBlock, key: str, at: str, world: LogState) -> Decision:
    day = _day(world, cause.day)
    known = d.known_block(day, cause.block)
    return Decision(_said(world, day, d.BlockRemoved(PERSON, known.id)), Result((known.id,)))


def pin_task(cause: d.PinTask, key: str, at: str, world: LogState) -> Decision:
    day = _day(world, cause.day)
    fact: d.DayFact = d.DayTaskUnpinned(PERSON, cause.task)
    if cause.is_pinned:
        fact = d.DayTaskPinned(PERSON, task_of(world, cause.task).id)
    return Decision(_said(world, day, fact), Result((cause.task,)))


def rate_day(cause: d.RateDay, key: str, at: str, world: LogState) -> Decision:
    day = _day(world, cause.day)
    comment = edits.scored(cause.score, cause.comment)
    return Decision(_said(world, day, d.DayRated(PERSON, cause.score, comment)), Result((day.id,)))


HANDLERS: dict[type, Handler] = {
    d.PutBlock: put_block,
    d.RemoveBlock: remove_block,
    d.PinTask: pin_task,
    d.RateDay: rate_day,
}
