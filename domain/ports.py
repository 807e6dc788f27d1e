"""What the core needs from outside, as protocols and the values that cross them (DESIGN 8)."""

from collections.abc import Awaitable
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import astuple


class Section(Struct, frozen=True):
    """A named part of a prompt; `name` is stable, `text` is what the model reads; `units`: see
    `SectionRef`."""

    name: str
    text: str
    units: tuple[str, ...] = ()


class ToolSpec(Struct, frozen=True):
    """A tool as a model is offered it; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Call(Struct, frozen=True):
    """A model's wish to call a tool. `arguments` is the model's raw text, not yet trusted."""

    call_id: str
    tool: str
    arguments: str


class CallResult(Struct, frozen=True):
    """What a call came to, as the model is told."""

    call_id: str
    tool: str
    output: str
    is_error: bool = False


class Exchange(Struct, frozen=True):
    """An earlier turn: the model's reply, verbatim, and the answers to all of its calls."""

    reply: bytes
    results: tuple[CallResult, ...] = ()


class Request(Struct, frozen=True):
    """All that a model is asked in one turn.

    `system` and `user` are sections in order; `exchanges` are the earlier turns, oldest first;
    `forced` names the only tool that may be called, or is empty."""

    model: str
    system: tuple[Section, ...]
    user: tuple[Section, ...]
    tools: tuple[ToolSpec, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    forced: str = ""


class Usage(Struct, frozen=True):
    """Tokens of one reply; None where the provider did not say."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_thought: int | None = None
    tokens_cached: int | None = None

    @property
    def written(self) -> int | None:
        """What is paid as output: the answer and the thoughts before it."""
        return None if self.tokens_out is None else self.tokens_out + (self.tokens_thought or 0)

    def with_other(self, other: "Usage") -> "Usage":
        """The tokens of two tries. What neither told stays unknown; what one told counts."""
        return Usage(*map(_total, astuple(self), astuple(other)))


def _total(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


NOT_TOLD = Usage()


class Reply(Struct, frozen=True):
    """A model's answer: the provider's bytes verbatim, and what they mean. `model` and `finish`:
    which one answered and why it stopped, in the provider's words; empty where it did not say.
    `reply_format`: which decoder read the bytes, see `ModelAnswered`."""

    raw: bytes
    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = NOT_TOLD
    model: str = ""
    finish: str = ""
    reply_format: str = ""


class ModelFault(Exception):
    """A model did not answer.

    `of_provider`: network, 429 or 5xx: the wake is deferred and its failures are not counted
    (SPEC 3); otherwise the wake fails with `code`. `retry_seconds`: the delay the provider
    named, if it did. `usage`: of answers that came and cannot be used."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        of_provider: bool,
        retry_seconds: int | None = None,
        usage: Usage = NOT_TOLD,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.of_provider = of_provider
        self.retry_seconds = retry_seconds
        self.usage = usage


class Model(Protocol):
    """A language model, or something that answers like one."""

    @property
    def name(self) -> str:
        """Provider and model as recorded on the wake, ``"gemini:gemini-3.1-pro"`` for example."""

    def reply(self, request: Request) -> Awaitable[Reply]:
        """Answer one turn. Raises `ModelFault`."""


class Listener(Protocol):
    """Is told a model's words as they come. Only the reply at the end counts."""

    def said(self, text: str) -> None:
        """More of the answer, in order; its thoughts are not told."""

    def again(self) -> None:
        """The model is asked anew: what it said in this turn so far does not count."""

    def ended(self) -> None:
        """The turn is over; what was said in it counts."""


@runtime_checkable
class Streaming(Protocol):
    """A model that can tell its words before its answer is whole."""

    def reply_aloud(self, request: Request, listener: Listener) -> Awaitable[Reply]:
        """As `Model.reply`, with the same reply; `listener` hears it coming."""


class Clock(Protocol):
    """Tells the time, once per command."""

    def now(self) -> str:
        """The present, as `domain.log.timestamps` stores it."""
