"""The small JSON form in which the models of this package keep a reply.

    {"text": "...", "calls": [{"id": "c1", "tool": "...", "arguments": {} or "raw text"}],
     "usage": {"tokensIn", "tokensOut", "tokensThought", "tokensCached"}}

Every key may be missing. `arguments` as an object stands for its canonical JSON; as text it is
given on verbatim, so that a tape can hold what no model should say. What a client proposes is kept
in it, too (`CLIENTS`)."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from domain.errors import Refused
from domain.log import canonical
from domain.ports import Call, Reply, Usage


class KeptForm(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Base of the forms kept here."""


class KeptCall(KeptForm, frozen=True, kw_only=True):
    """A call; without an id it is `c1`, `c2` and so on, by its place."""

    tool: str
    id: str = ""
    arguments: dict[str, Any] | str = ""


class KeptUsage(KeptForm, frozen=True, kw_only=True):
    """Tokens, as far as they are known."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_thought: int | None = None
    tokens_cached: int | None = None


NO_USAGE = KeptUsage()
CLIENTS = "mcp.1"
"""What reads the bytes of what a client proposed, as recorded with them."""


class KeptReply(KeptForm, frozen=True, kw_only=True):
    """A reply without its bytes."""

    text: str = ""
    calls: tuple[KeptCall, ...] = ()
    usage: KeptUsage = NO_USAGE


Form = TypeVar("Form", bound=KeptReply)


def read(data: bytes, form: type[Form], *, what: str) -> Form:
    """Decode one kept reply. Raises `Refused` (``invalid_input``) that begins with `what`."""
    try:
        return msgspec.convert(canonical.read(data), form)
    except (Refused, msgspec.ValidationError) as error:
        told = error.because if isinstance(error, Refused) else error
        instead = f"see {__name__} for the form"
        raise Refused("invalid_input", because=f"{what}: {told}", instead=instead) from None


def reply(raw: bytes, kept: KeptReply, reply_format: str) -> Reply:
    """The reply that kept bytes stand for; `raw` is given on untouched."""
    calls = tuple(
        Call(call.id or f"c{place}", call.tool, _arguments(call))
        for place, call in enumerate(kept.calls, start=1)
    )
    return Reply(raw, kept.text, calls, Usage(**asdict(kept.usage)), reply_format=reply_format)


def parse(raw: bytes) -> Reply:
    """What a client proposed, of the bytes that are kept of it."""
    return reply(raw, read(raw, KeptReply, what="a recorded reply of a client"), CLIENTS)


def _arguments(call: KeptCall) -> str:
    given = call.arguments
    return given if isinstance(given, str) else canonical.text(given)
