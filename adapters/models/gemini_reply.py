"""The bytes of an answer, and what they mean.

They are read by small Structs of our own, not by the SDK's types: those refuse every field that
they do not know, so a field that Google adds would make each answer unreadable. Reading needs no
SDK, so a recorded answer can be read anywhere.

What a finish reason leads to stands in one closed table; a reason that is not in it is a failure.
"""

import json
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from adapters.models import objects
from adapters.models.faults import Trouble, line, malformed, wrong
from domain.errors import Refused
from domain.ports import Call, Reply, Usage

FORMAT = "gemini.3"
"""What reads such bytes, as recorded with them. Empty, the first version, keeps the last of two
equal keys of a call's arguments; since ``gemini.2`` both are handed on, so that the call is
refused; since ``gemini.3`` a count that is left out beside that of the prompt is 0."""

Verdict = Literal["ok", "retry", "nudge", "blocked", "cut", "failed"]

FINISH: Final[dict[str, Verdict]] = {
    "STOP": "ok",
    "MAX_TOKENS": "cut",
    "CONTINUATION": "cut",
    "SAFETY": "blocked",
    "RECITATION": "blocked",
    "LANGUAGE": "blocked",
    "BLOCKLIST": "blocked",
    "PROHIBITED_CONTENT": "blocked",
    "SPII": "blocked",
    "ESCALATION": "blocked",
    "PUP_LIMITED_DISABLED": "blocked",
    "MODEL_ARMOR": "blocked",
    "IMAGE_SAFETY": "blocked",
    "IMAGE_PROHIBITED_CONTENT": "blocked",
    "IMAGE_RECITATION": "blocked",
    "MALFORMED_FUNCTION_CALL": "nudge",
    "UNEXPECTED_TOOL_CALL": "nudge",
    "OTHER": "retry",
    "FINISH_REASON_UNSPECIFIED": "retry",
    "MALFORMED_RESPONSE": "retry",
    "MISSING_THOUGHT_SIGNATURE": "failed",
    "TOO_MANY_TOOL_CALLS": "failed",
    "IMAGE_OTHER": "failed",
    "NO_IMAGE": "failed",
}
"""ok: an answer. retry: the same request again, then ``bad_reply``. nudge: again with a hint,
then ``malformed_call``. blocked: ``blocked``, never asked again. cut: ``max_tokens``; a cut
answer may lack calls, so it is none. failed: ``bad_reply``."""


class _Wire(Struct, frozen=True, rename="camel"):
    """Base of what is read; unknown fields are ignored, a null counts as left out."""


class FunctionCall(_Wire, frozen=True):
    name: str | None = None
    id: str | None = None
    args: Any = None  # an object, as it was read: a conversion would make another one

    def __post_init__(self) -> None:
        if not isinstance(self.args, dict | None):
            raise ValueError("Expected `object | null` as args")  # noqa: TRY004  msgspec tells it


class Part(_Wire, frozen=True):
    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None


class Content(_Wire, frozen=True):
    parts: tuple[Part, ...] | None = None


class Candidate(_Wire, frozen=True):
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class Feedback(_Wire, frozen=True):
    block_reason: str | None = None


class Tokens(_Wire, frozen=True):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class Answer(_Wire, frozen=True):
    """A whole answer, as far as it is of use here."""

    candidates: tuple[Candidate, ...] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: Tokens | None = None
    model_version: str | None = None

    @property
    def first(self) -> Candidate | None:
        """The one candidate that is asked for."""
        return self.candidates[0] if self.candidates else None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its parts, in order."""
        content = self.first.content if self.first else None
        return (content.parts if content else None) or ()

    def usage(self, reply_format: str = FORMAT) -> Usage:
        """Tokens, as far as they were told. Thoughts are not among those of the answer."""
        told = self.usage_metadata or Tokens()
        prompt = told.prompt_token_count
        none = 0 if reply_format == FORMAT and prompt is not None else None
        counts = (
            told.candidates_token_count,
            told.thoughts_token_count,
            told.cached_content_token_count,
        )
        return Usage(prompt, *(none if count is None else count for count in counts))


def read(raw: bytes, reply_format: str = FORMAT) -> Answer:
    """The answer that a body with status 200 holds.

    Raises:
        Trouble: It is no JSON object (a page of something on the way), or not of this form, or
            has a key twice. In a call's arguments that is left to who decodes them.
    """
    return objects.decoded(raw, Answer, "args", keeps_twice=bool(reply_format))


def judge(answer: Answer) -> Literal["ok", "empty"]:
    """What to do with an answer.

    Returns:
        ``ok``: use it. ``empty``: the model stopped without a word or a call.

    Raises:
        Trouble: There is no answer in it.
    """
    blocked = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
    candidate = answer.first
    if candidate is None and blocked:
        raise Trouble(wrong("blocked", f"the prompt was blocked: {line(blocked)}"), again=False)
    if candidate is None:
        told = "the provider sent no answer and no reason"
        raise Trouble(wrong("empty_reply", told), again=True)
    reason = candidate.finish_reason or "FINISH_REASON_UNSPECIFIED"
    more = f" ({line(candidate.finish_message)})" if candidate.finish_message else ""
    told = f"the model stopped with {line(reason)}{more}"
    match FINISH.get(reason):
        case "ok":
            return "ok" if any(map(_says, answer.parts)) else "empty"
        case "nudge":
            raise malformed("the model's function calls could not be read")
        case "retry":
            raise Trouble(wrong("bad_reply", told), again=True)
        case "blocked":
            raise Trouble(wrong("blocked", told), again=False)
        case "cut":
            raise Trouble(wrong("max_tokens", f"{told}; its answer is cut short"), again=False)
        case "failed":
            raise Trouble(wrong("bad_reply", told), again=False)
        case None:
            told = f"{told}, which this version does not know"
            raise Trouble(wrong("unknown_finish", told), again=False)


def _says(part: Part) -> bool:
    is_word = bool(part.text) and not part.thought
    return is_word or part.function_call is not None


def reply(raw: bytes, answer: Answer, usage: Usage) -> Reply:
    """The reply of an answer: thoughts left out, calls in order.

    A call without an id gets one by its place; `gemini_contents` sends back none for it.
    """
    words = [part.text for part in answer.parts if part.text and not part.thought]
    wishes = [part.function_call for part in answer.parts if part.function_call]
    calls = tuple(
        Call(
            wish.id or f"c{place}",
            wish.name or "",
            json.dumps(wish.args or {}, ensure_ascii=False),
        )
        for place, wish in enumerate(wishes, start=1)
    )
    finish = (answer.first.finish_reason if answer.first else None) or ""
    return Reply(raw, "".join(words), calls, usage, answer.model_version or "", finish, FORMAT)


def parse(raw: bytes, reply_format: str) -> Reply:
    """The reply that recorded bytes stand for; its usage is that of these bytes alone.

    Args:
        raw: The bytes.
        reply_format: As it was recorded with them.

    Raises:
        Refused: Code ``invalid_input``: they are no answer of Gemini.
    """
    try:
        answer = read(raw, reply_format)
        judge(answer)
    except Trouble as trouble:
        because = f"a recorded answer of Gemini: {trouble.fault}"
        instead = "give the bytes of an answer that was recorded"
        raise Refused("invalid_input", because=because, instead=instead) from None
    return replace(reply(raw, answer, answer.usage(reply_format)), reply_format=reply_format)
