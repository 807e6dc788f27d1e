"""What a person does to a day: blocks, tasks that are wanted, how it went."""

from typing import TYPE_CHECKING

from adapters.usecases.tasks import UseCaseResult, append_command
from domain.journal.day import PinTask, PutBlock, RateDay, RemoveBlock

if TYPE_CHECKING:
    from adapters.wiring import Home


def put(  # noqa: PLR0913  what a block is
    home: "Home",
    date: str,
    start: str,
    end: str,
    key: str = "",
    *,
    task: str = "",
    title: str = "",
    category: str = "",
) -> UseCaseResult:
    """Put a new block of a task, or of a title, into a day; its id is the result's."""
    of = {"task": task, "category": category, "title": title}
    return append_command(home, PutBlock(date, start, end, **of), key)


def move(home: "Home", date: str, block: str, start: str, end: str, key: str = "") -> UseCaseResult:
    """Give a block other times; it is the person's own from then on."""
    return append_command(home, PutBlock(date, start, end, block), key)


def keep(home: "Home", date: str, block: str, key: str = "") -> UseCaseResult:
    """Make a block the person's own, which no agent may move."""
    return append_command(home, PutBlock(date, block=block), key)


def remove(home: "Home", date: str, block: str, key: str = "") -> UseCaseResult:
    """Take a block away."""
    return append_command(home, RemoveBlock(date, block), key)


def pin(
    home: "Home", date: str, task: str, key: str = "", *, is_pinned: bool = True
) -> UseCaseResult:
    """Say that a task is wanted on a day, or no longer."""
    return append_command(home, PinTask(date, task, is_pinned), key)


def rate(home: "Home", date: str, score: int, comment: str = "", key: str = "") -> UseCaseResult:
    """Say how well a day went: 1 to 5."""
    return append_command(home, RateDay(date, score, comment), key)
