"""The bytes of an answer, and what they mean.

Small Structs of our own read what is used and ignore the rest, as for Gemini. What a finish reason
leads to stands in one closed table; a reason that is not in it is a failure.
"""

import json
import re
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.models import objects
from adapters.models.faults import Trouble, line, malformed, wrong
from adapters.models.openai import faults
from domain.errors import Refused
from domain.ports import Call, Reply, Usage

FORMAT = "openai.1"
"""What reads such bytes, as recorded with them."""

Verdict = Literal["ok", "retry", "blocked", "cut"]

FINISH: Final[dict[str, Verdict]] = {
    "stop": "ok",
    "tool_calls": "ok",
    "function_call": "ok",
    "eos_token": "ok",
    "stop_sequence": "ok",
    "length": "cut",
    "model_length": "cut",
    "content_filter": "blocked",
    "error": "retry",
    "abort": "retry",
    "insufficient_system_resource": "retry",
    "": "retry",
}
"""ok: an answer, whichever of them is said: servers say ``stop`` of calls, too. retry: the same
request again, then ``bad_reply``. blocked: ``blocked``. cut: ``max_tokens``; a cut answer may lack
calls, so it is none."""

THOUGHT = re.compile(r"\A\s*<think>(?:.*?</think>\s*|.*\Z)", re.DOTALL)
"""What a server that knows no thoughts leaves of them at the beginning of the words."""
_CALL_MARK = re.compile(
    r"^\s*(?:<tool_call>|<\|tool_calls?\|>|<\|tool_call_start\|>|<function=|\[TOOL_CALLS\]"
    r"|<\|python_tag\|>|<\uff5ctool\u2581calls\u2581begin\uff5c>|<\|tool_calls_section_begin\|>)",
    re.MULTILINE,
)
_FENCE = re.compile(r"\s*```(?:json|tool_call|tool_code)?\s*(.*?)\s*```\s*", re.DOTALL)


class Function(Struct, frozen=True):
    """Unknown fields are ignored, here and below; a null counts as left out."""

    name: str | None = None
    arguments: Any = None  # text; some servers send an object


class Wish(Struct, frozen=True):
    id: str | None = None
    function: Function | None = None


class Message(Struct, frozen=True):
    content: Any = None  # text, or parts of several kinds
    refusal: str | None = None
    tool_calls: tuple[Wish, ...] | None = None

    @property
    def text(self) -> str:
        """Its words, thoughts left out."""
        if isinstance(self.content, str):
            return THOUGHT.sub("", self.content, count=1)
        if not isinstance(self.content, list):
            return ""
        parts = [one for one in self.content if isinstance(one, dict) and one.get("type") == "text"]
        return "".join(str(one.get("text") or "") for one in parts)


class Choice(Struct, frozen=True):
    message: Message | None = None
    finish_reason: str | None = None


class Cached(Struct, frozen=True):
    cached_tokens: int | None = None


class Thought(Struct, frozen=True):
    reasoning_tokens: int | None = None


class Tokens(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: Cached | None = None
    completion_tokens_details: Thought | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's


class Answer(Struct, frozen=True):
    """A whole answer, as far as it is of use here."""

    choices: tuple[Choice, ...] | None = None
    told: Tokens | None = msgspec.field(default=None, name="usage")
    model: str | None = None

    @property
    def message(self) -> Message:
        """That of the one choice that is asked for."""
        first = self.choices[0] if self.choices else None
        return (first.message if first else None) or Message()

    @property
    def finish(self) -> str:
        """Why the model stopped."""
        return (self.choices[0].finish_reason if self.choices else None) or ""

    def usage(self) -> Usage:
        """Tokens, as far as they were told. Thoughts are among those of the answer, but where all
        of them together say that they are not."""
        told = self.told or Tokens()
        thought = (told.completion_tokens_details or Thought()).reasoning_tokens
        cached = (told.prompt_tokens_details or Cached()).cached_tokens
        if cached is None:
            cached = told.prompt_cache_hit_tokens
        read, written = told.prompt_tokens, told.completion_tokens
        if read is not None and written is not None and thought:
            is_apart = thought > written or told.total_tokens == read + written + thought
            written = written if is_apart else written - thought
        return Usage(read, written, thought, cached)


def read(raw: bytes) -> Answer:
    """The answer that a body with status 200 holds.

    Raises:
        Trouble: It tells of an error, is no JSON object (a page of something on the way), is not of
            this form, or has a key twice. In a call's arguments that is left to who decodes them.
    """
    return objects.decoded(raw, Answer, "arguments", _check)


def _check(document: dict[str, Any]) -> None:
    if trouble := faults.of_answer(document, {}):
        raise trouble


def judge(answer: Answer, tools: tuple[str, ...] = ()) -> Literal["ok", "empty"]:
    """What to do with an answer.

    Args:
        answer: As it was read.
        tools: The names of those that were offered.

    Returns:
        ``ok``: use it. ``empty``: the model stopped without a word or a call.

    Raises:
        Trouble: There is no answer in it, or a call that is written as words.
    """
    if not answer.choices:
        told = "the endpoint sent no answer and no reason"
        raise Trouble(wrong("empty_reply", told), again=True)
    message, told = answer.message, f"the model stopped with {line(answer.finish) or 'no reason'}"
    if message.refusal:
        refused = f"the model refused: {line(message.refusal)}"
        raise Trouble(wrong("blocked", refused), again=False)
    match FINISH.get(answer.finish):
        case "ok":
            pass
        case "retry":
            raise Trouble(wrong("bad_reply", told), again=True)
        case "blocked":
            raise Trouble(wrong("blocked", told), again=False)
        case "cut":
            raise Trouble(wrong("max_tokens", f"{told}; its answer is cut short"), again=False)
        case None:
            told = f"{told}, which this version does not know"
            raise Trouble(wrong("unknown_finish", told), again=False)
    if message.tool_calls:
        return "ok"
    if tools and is_call(message.text, tools):
        raise malformed(
            "the model wrote a call as words, which its server did not read as one; start the "
            "server with the tool parser of this model, or take another model",
            "call_as_text",
        )
    return "ok" if message.text else "empty"


def is_call(text: str, tools: tuple[str, ...]) -> bool:
    """Whether words are a call that a server should have read.

    >>> is_call('<tool_call>{"name": "x"}', ()), is_call("I call update_report.", ("x",))
    (True, False)
    >>> is_call('```json\\n{"name": "x", "arguments": {}}\\n```', ("x",))
    True
    """
    if _CALL_MARK.search(text):
        return True
    fenced = _FENCE.fullmatch(text)
    try:
        document = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return False
    wishes = document if isinstance(document, list) else [document]
    return any(
        isinstance(one, dict)
        and one.get("name") in tools
        and not {"arguments", "parameters"}.isdisjoint(one)
        for one in wishes
    )


def reply(raw: bytes, answer: Answer, usage: Usage) -> Reply:
    """The reply of an answer: thoughts left out, calls in order.

    A call without an id gets one by its place, under which it goes back, too.
    """
    message = answer.message
    calls = tuple(
        Call(wish.id or f"c{place}", function.name or "", _arguments(function.arguments))
        for place, wish in enumerate(message.tool_calls or (), start=1)
        for function in (wish.function or Function(),)
    )
    return Reply(raw, message.text, calls, usage, answer.model or "", answer.finish, FORMAT)


def _arguments(given: Any) -> str:
    if isinstance(given, str):
        return given if given.strip() else "{}"  # some servers send none where there are none
    return "{}" if given is None else json.dumps(given, ensure_ascii=False)


def parse(raw: bytes, reply_format: str = FORMAT) -> Reply:
    """The reply that recorded bytes stand for; its usage is that of these bytes alone.

    Args:
        raw: The bytes.
        reply_format: As it was recorded with them.

    Raises:
        Refused: Code ``invalid_input``: they are no answer of this protocol.
    """
    try:
        answer = read(raw)
        judge(answer)
    except Trouble as trouble:
        because = f"a recorded answer of an endpoint: {trouble.fault}"
        instead = "give the bytes of an answer that was recorded"
        raise Refused("invalid_input", because=because, instead=instead) from None
    return replace(reply(raw, answer, answer.usage()), reply_format=reply_format)


OFFERED_MAX = 1_000


class _Offered(Struct, frozen=True):
    id: str


class _List(Struct, frozen=True):
    data: tuple[_Offered, ...]


def offered(raw: bytes) -> tuple[str, ...]:
    """The names in a list of models, each in one bounded line; none where it is none."""
    try:
        return tuple(
            line(one.id) for one in msgspec.json.decode(raw, type=_List).data[:OFFERED_MAX]
        )
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
