"""What is told of effects, while they are performed, to whoever traces them.

Nobody does unless that is switched on. What is told stands in the log already or will: a span
is a view of it with wall times, and nothing of it is stored or decides anything."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from adapters.store.log import Appended
from domain.append.causes import Result
from domain.changes.change_set import ChangeItem, ChangeSet
from domain.journal.commands import ApplyOperation
from domain.ports import Reply, Request
from domain.wake.wake import ModelAsked, Wake

Verb = Literal["confirm", "edit", "reject", "defer", "reopen", "undo", "recover"]

TellAppended = Callable[[Appended], None]
TellReply = Callable[[Reply], None]
TellResult = Callable[[Result], None]
TellItem = Callable[[ChangeItem | None], None]


class Spans(Protocol):
    """Each method is entered as an effect begins and left as it ends; in between it is told what
    came of it. What is raised within passes through. No method raises anything of its own."""

    def wake(
        self, wake: Wake, name: str, *, is_resumed: bool
    ) -> AbstractContextManager[TellAppended]:
        """A wake, or one more stretch of it, by an agent of this name; is told each append."""

    def chat(
        self, wake: Wake, asked: ModelAsked, request: Request
    ) -> AbstractContextManager[TellReply]:
        """A question to a model."""

    def tool(
        self, command: ApplyOperation, text: str, call_id: str, attempt: int
    ) -> AbstractContextManager[TellResult]:
        """A tool's effect on the journal; `text`: its arguments, `call_id`: empty outside wakes."""

    def verdict(
        self, verb: Verb, changes: ChangeSet, number: int
    ) -> AbstractContextManager[TellItem]:
        """A person's verdict on an item, with all that it does."""

    def close(self) -> None:
        """Send what is left, in bounded time."""


def ignore(_: object) -> None:
    """Tell nobody."""


class NoSpans:
    """Traces nothing."""

    def wake(self, *_: object, **__: object) -> AbstractContextManager[TellAppended]:
        return nullcontext(ignore)

    def chat(self, *_: object) -> AbstractContextManager[TellReply]:
        return nullcontext(ignore)

    def tool(self, *_: object) -> AbstractContextManager[TellResult]:
        return nullcontext(ignore)

    def verdict(self, *_: object) -> AbstractContextManager[TellItem]:
        return nullcontext(ignore)

    def close(self) -> None:
        """There is nothing to send."""
