"""A model that answers from a list: for tests, demos and `--model tape:FILE`.

A tape file is JSON Lines, one reply a line, in the form of `adapters.models.replies`; a line may
instead be a fault: ``{"fault": {"code", "message", "ofProvider", "retrySeconds"}}``. Replies are
used up in order by all wakes of one process."""

from collections.abc import Sequence
from typing import Self

from msgspec.structs import asdict

from adapters.models import faults, replies
from adapters.models.replies import KeptCall, KeptForm, KeptReply, KeptUsage
from domain.errors import Refused
from domain.log import canonical
from domain.ports import Model, ModelFault, Reply, Request

FORMAT = "tape.1"
"""What reads such bytes, as recorded with them: raised where they would be read otherwise."""
LINES_MAX = 100_000
TAPE_BYTES_MAX = 256_000_000


class KeptFault(KeptForm, frozen=True, kw_only=True):
    """A model that does not answer, as `ModelFault` says it."""

    code: str
    message: str = ""
    of_provider: bool = False
    retry_seconds: int | None = None


class TapeLine(KeptReply, frozen=True, kw_only=True):
    """One line of a tape: a reply or a fault."""

    fault: KeptFault | None = None


class TapeModel:
    """Answers with the next reply of its tape, and keeps what it was asked in `requests`."""

    def __init__(self, name: str, replies: Sequence[Reply | ModelFault | bytes]) -> None:
        """Check and keep the replies: one with empty `raw` gets its canonical form as bytes;
        `bytes` are one line of a tape file. `name`: as recorded on the wake. Raises Refused, code
        ``invalid_input``: bytes that are no line of a tape."""
        self.name = name
        self._replies = [_entry(reply, line) for line, reply in enumerate(replies, start=1)]
        self.requests: list[Request] = []

    @classmethod
    def load(cls, data: bytes, name: str = "tape") -> Self:
        """Read a tape file; blank lines are skipped. Raises `Refused` (``invalid_input``)."""
        lines = data.split(b"\n")
        if len(lines) > LINES_MAX:
            told = f"the tape has more than {LINES_MAX} lines"
            raise Refused("invalid_input", because=told, instead="split it into several tapes")
        entries = [_entry(line, nth) for nth, line in enumerate(lines, start=1) if line.strip()]
        return cls(name, entries)

    async def reply(self, request: Request) -> Reply:
        """Give the next reply. Raises `ModelFault`, ``tape_ended`` when there is none left."""
        self.requests.append(request)
        if len(self.requests) > len(self._replies):
            message = f"the tape ended after {len(self._replies)} replies; record a longer one"
            raise ModelFault("tape_ended", message, of_provider=False)
        entry = self._replies[len(self.requests) - 1]
        if isinstance(entry, ModelFault):
            raise _again(entry)
        return entry


class OwnModel:
    """A model of a program's own: of its replies those without bytes get those of a tape."""

    def __init__(self, model: Model) -> None:
        self.name, self._model = model.name, model

    async def reply(self, request: Request) -> Reply:
        """As the model itself."""
        reply = await self._model.reply(request)
        return reply if reply.raw else _with_bytes(reply)


def parse(raw: bytes) -> Reply:
    """The reply that a tape's bytes stand for: the inverse of `Reply.raw`."""
    return replies.reply(raw, replies.read(raw, TapeLine, what="a recorded tape reply"), FORMAT)


def _entry(reply: Reply | ModelFault | bytes, line: int) -> Reply | ModelFault:
    if isinstance(reply, ModelFault):
        return reply
    if isinstance(reply, Reply):
        return reply if reply.raw else _with_bytes(reply)
    if len(reply) > faults.SENT_MAX_BYTES:
        return faults.too_large(f"{faults.SENT_MAX_BYTES} bytes")
    kept = replies.read(reply, TapeLine, what=f"line {line} of the tape")
    if kept.fault is None:
        return replies.reply(canonical.encode(canonical.read(reply)), kept, FORMAT)
    return ModelFault(**asdict(kept.fault))


def _with_bytes(reply: Reply) -> Reply:
    kept_calls = (
        KeptCall(id=one.call_id, tool=one.tool, arguments=one.arguments) for one in reply.calls
    )
    kept = TapeLine(
        text=reply.text, calls=tuple(kept_calls), usage=KeptUsage(**asdict(reply.usage))
    )
    return replies.reply(canonical.encode(kept), kept, FORMAT)


def _again(fault: ModelFault) -> ModelFault:
    """A fresh exception: a raised one carries the traceback of its first use."""
    return ModelFault(
        fault.code, str(fault), of_provider=fault.of_provider, retry_seconds=fault.retry_seconds,
        usage=fault.usage,
    )  # fmt: skip
