"""The bytes of an answer, and what they mean.

Small Structs of our own read what is used and ignore the rest, as for Gemini.

A streamed answer: server-sent events, each with a piece of it.

    data: {"choices": [{"delta": {"content": "It "}, "index": 0}], ...}
    data: [DONE]

What is recorded is the answer that the pieces come to, in the form of whole ones: words and
thoughts joined, calls put together by their place, of everything else the last that was said."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from adapters.models import calls, faults, json_objects, sse
from adapters.models.faults import Trouble, one_line
from adapters.models.json_objects import Count, dicts, first_dict
from adapters.models.openai.messages import THOUGHTS
from adapters.models.sse import last_said, object_of
from domain.errors import Refused
from domain.ports import NOT_TOLD, Reply, Usage

FORMAT = "openai.2"
"""What reads such bytes, as recorded with them; for what ``openai.1`` does otherwise, see
`calls.made`."""
OLDER = ("openai.1",)

Json = dict[str, Any]
NO_HEADERS: Mapping[str, str] = {}

_OK = ("stop", "tool_calls", "function_call", "tool_use", "end_turn", "eos_token", "stop_sequence")
"""Any of these may be said: servers say ``stop`` of calls, too."""
_REASONS: dict[faults.Verdict, tuple[str, ...]] = {
    "ok": _OK,
    "cut": ("length", "max_tokens", "model_length"),
    "blocked": ("content_filter",),
    "retry": ("error", "abort", "insufficient_system_resource", ""),
}
FINISH: Final = faults.by_reason(_REASONS)

THOUGHT = re.compile(r"\A\s*<think>(?:.*?</think>\s*|.*\Z)", re.DOTALL)
"""What a server that knows no thoughts leaves of them at the beginning of the words."""


class CalledFunction(Struct, frozen=True):
    """Unknown fields are ignored, here and below; a null counts as left out."""

    name: str | None = None
    arguments: Any = None  # text; some servers send an object


class WireCall(Struct, frozen=True):
    id: str | None = None
    function: CalledFunction | None = None


class WireMessage(Struct, frozen=True):
    content: Any = None  # text, or parts of several kinds
    refusal: str | None = None
    tool_calls: tuple[WireCall, ...] | None = None

    @property
    def text(self) -> str:
        """Its words, thoughts left out."""
        if isinstance(self.content, str):
            return THOUGHT.sub("", self.content, count=1)
        parts = (one for one in dicts(self.content) if one.get("type") == "text")
        return "".join(str(one.get("text") or "") for one in parts)


class WireChoice(Struct, frozen=True):
    message: WireMessage | None = None
    finish_reason: str | None = None


class CachedTokens(Struct, frozen=True):
    cached_tokens: Count = None


class ReasoningTokens(Struct, frozen=True):
    reasoning_tokens: Count = None


class OpenAITokens(Struct, frozen=True):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: CachedTokens | None = None
    completion_tokens_details: ReasoningTokens | None = None
    prompt_cache_hit_tokens: Count = None  # DeepSeek's


class OpenAIAnswer(Struct, frozen=True):
    """A whole answer, as far as it is of use here."""

    choices: tuple[WireChoice, ...] | None = None
    told: OpenAITokens | None = msgspec.field(default=None, name="usage")
    model: str | None = None

    @property
    def message(self) -> WireMessage:
        """That of the one choice that is asked for."""
        first = self.choices[0] if self.choices else None
        return (first.message if first else None) or WireMessage()

    @property
    def finish(self) -> str:
        """Why the model stopped."""
        return (self.choices[0].finish_reason if self.choices else None) or ""

    def usage(self) -> Usage:
        """Tokens, as far as they were told. Thoughts are among those of the answer, but where all
        of them together say that they are not."""
        told = self.told or OpenAITokens()
        thought = (told.completion_tokens_details or ReasoningTokens()).reasoning_tokens
        cached = (told.prompt_tokens_details or CachedTokens()).cached_tokens
        if cached is None:
            cached = told.prompt_cache_hit_tokens
        read, written = told.prompt_tokens, told.completion_tokens
        if read is not None and written is not None and thought:
            is_apart = thought > written or told.total_tokens == read + written + thought
            written = written if is_apart else written - thought
        return Usage(read, written, thought, cached)


def read(raw: bytes) -> OpenAIAnswer:
    """The answer that a body with status 200 holds. Raises `Trouble`: it tells of an error, is no
    JSON object (a page of something on the way), or has a key twice, but in a call's arguments, see
    `decoded`."""
    return json_objects.decoded(raw, OpenAIAnswer, "arguments", _check_piece)


def judge(answer: OpenAIAnswer, tools: tuple[str, ...] = ()) -> Literal["ok", "empty"]:
    """What to do with an answer, whose words may be a call of tools of these names. ``ok``: use it;
    ``empty``: the model stopped without a word or a call. Raises `Trouble`: there is no answer in
    it, or a call that is written as words."""
    if not answer.choices:
        told = "the endpoint sent no answer and no reason"
        raise Trouble(faults.wrong("empty_reply", told), again=True)
    message = answer.message
    if message.refusal:
        raise faults.final("blocked", f"the model refused: {one_line(message.refusal)}")
    return calls.judged(FINISH, reply(b"", answer, NOT_TOLD), tools)


def reply(raw: bytes, answer: OpenAIAnswer, usage: Usage, reply_format: str = FORMAT) -> Reply:
    """The reply of an answer: thoughts left out, calls in order, under the ids that they go back
    under."""
    message = answer.message
    wishes = [
        (wish.id, function.name, function.arguments)
        for wish in message.tool_calls or ()
        for function in (wish.function or CalledFunction(),)
    ]
    made = calls.made(wishes, is_older=reply_format in OLDER)
    return Reply(raw, message.text, made, usage, answer.model or "", answer.finish, reply_format)


def parse(raw: bytes, reply_format: str = FORMAT) -> Reply:
    """The reply that recorded bytes stand for; its usage is that of these bytes alone. Raises
    Refused, code ``invalid_input``: they are no answer of this protocol."""
    try:
        answer = read(raw)
        judge(answer)
    except Trouble as trouble:
        because = f"a recorded answer of an endpoint: {trouble.fault}"
        instead = "give the bytes of an answer that was recorded"
        raise Refused("invalid_input", because=because, instead=instead) from None
    return reply(raw, answer, answer.usage(), reply_format)


OFFERED_MAX = 1_000


class _Offered(Struct, frozen=True):
    id: str


class _List(Struct, frozen=True):
    data: tuple[_Offered, ...]


def offered(raw: bytes) -> tuple[str, ...]:
    """The names in a list of models, each in one bounded line; none where it is none."""
    try:
        known = msgspec.json.decode(raw, type=_List).data
        return tuple(one_line(one.id) for one in known[:OFFERED_MAX])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()


# ----------------------------- what endpoints say of an error, see `adapters.models.faults`
#
# {"error": {"message", "type", "code"}}   OpenAI, vLLM, llama.cpp, OpenRouter, LM Studio
# {"error": "..."}                          Ollama, LM Studio, also with status 200
# {"object": "error", "message", "code"}    older vLLM
# {"detail": "..."}, {"detail": [{"msg"}]}  what FastAPI says before a server is asked

_NO_TOOLS = re.compile(
    r"not support (?:\w+ ){0,2}(?:tool|function)"  # Ollama, and hosted ones
    r"|--enable-auto-tool-choice|--tool-call-parser"  # vLLM
    r"|--jinja"  # llama.cpp
    r"|endpoints found that support tool use",  # OpenRouter
    re.IGNORECASE,
)
_UNREADABLE = re.compile(
    r"error parsing tool call|tool call parsing failed"  # Ollama
    r"|failed to parse input at pos"  # llama.cpp
    r"|tool_use_failed",  # Groq
    re.IGNORECASE,
)
_STATUSES = {
    "invalid_request_error": 400, "exceed_context_size_error": 400, "context_length_exceeded": 400,
    "authentication_error": 401, "invalid_api_key": 401, "permission_error": 403,
    "not_found_error": 404, "model_not_found": 404, "rate_limit_error": 429,
    "rate_limit_exceeded": 429, "insufficient_quota": 429, "unavailable_error": 503,
    "overloaded_error": 503,
}  # fmt: skip
"""Of errors that come with status 200, or in a stream, and name no number."""
_NO_CREDIT = 402
_ERRORS = range(400, 600)


class ErrorDetails(NamedTuple):
    """An error as far as it was told."""

    message: str = ""
    kind: str = ""
    code: str = ""


def trouble_of_status(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for. `body`: the error as the endpoint
    sends it, or the page of something on the way; `headers`: read for the delay only; names in
    lower case."""
    return _of(status, error_in(json_objects.loads(_one(body)) or {}) or ErrorDetails(), headers)


def trouble_in_answer(document: Mapping[str, Any], headers: Mapping[str, str]) -> Trouble | None:
    """The trouble that a piece or an answer tells of, though its status was 200."""
    if not document.get("error"):
        return None
    error = error_in(document) or ErrorDetails()
    number = int(error.code[:4]) if error.code.isdecimal() else 0
    status = number if number in _ERRORS else _STATUSES.get(error.code)
    status = status or _STATUSES.get(error.kind)
    if status is None:  # words alone: LM Studio says so that it knows no such path
        status = 400 if isinstance(document["error"], str) else 500
    return _of(status, error, headers)


def error_in(document: Mapping[str, Any]) -> ErrorDetails | None:
    """What a document says of an error; None where it says nothing."""
    found = document.get("error", document.get("detail"))
    if isinstance(found, list):
        return ErrorDetails("; ".join(str(one.get("msg", "")) for one in dicts(found)))
    if isinstance(found, str):
        return ErrorDetails(found)
    error = found if isinstance(found, dict) else document
    if not isinstance(message := error.get("message"), str):
        return None
    kind, code = (str(error.get(name) or "") for name in ("type", "code"))
    return ErrorDetails(message, kind, code)


def _of(status: int, error: ErrorDetails, headers: Mapping[str, str]) -> Trouble:
    text = _told(status, error)
    said = f"{error.code} {error.message}"
    if status in _ERRORS and _NO_TOOLS.search(error.message):
        told = f"the model is not given tools at this endpoint, and agents work by them: {text}"
        return faults.final("no_tools", told)
    if status in _ERRORS and _UNREADABLE.search(said):
        return faults.malformed(f"the model's calls could not be read by its server: {text}")
    if status == _NO_CREDIT:
        told = f"the account has no credit left: {text}"
        return Trouble(faults.provider("no_credit", told, faults.DAILY_SECONDS), again=False)
    if error.kind == "exceed_context_size_error":
        status = _STATUSES[error.kind]
    is_bad_key = error.code == "invalid_api_key" or "api key" in error.message.lower()
    is_quota = "insufficient_quota" in (error.code, error.kind)
    message = faults.ProviderMessage(text, _delay(headers), is_bad_key, is_quota)
    return faults.of_status(status, message)


def _told(status: int, error: ErrorDetails) -> str:
    named = next((one for one in (error.code, error.kind) if one and not one.isdecimal()), "")
    head = f"{status} {one_line(named)}" if named else str(status)
    told = one_line(error.message) if error.message else "without an explanation"
    return f"{head}, {told}"


def _delay(headers: Mapping[str, str]) -> float | None:
    millis = faults.bounded(headers.get("retry-after-ms", "").strip())
    return faults.retry_after(headers) if millis is None else millis / 1000


def _one(body: bytes) -> bytes:
    """A body without the brackets around its one object, with which Google's endpoint sends it."""
    bare = body.strip()
    return bare[1:-1] if bare[:1] == b"[" and bare[-1:] == b"]" else bare


# ----------------------------------------------------------------------- an answer that is streamed

LINES_MAX = 262_144  # two for each piece, which is one token
ERROR = b"error:"
"""With which older servers of llama.cpp begin a line, instead of an event."""
JOINED = ("content", "refusal", *THOUGHTS)
OPEN, CLOSE = "<think>", "</think>"


class StreamedWords:
    """What the pieces of a stream say, one after the other; thoughts are left out, also those that
    stand before the words, as `decoding.THOUGHT` finds them in a whole answer."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None: all that comes is words

    def __call__(self, piece: Json) -> Iterator[str]:
        text = _delta(_choice(piece)).get("content")
        if not isinstance(text, str) or not text:
            return
        if self._held is None:
            yield text
            return
        self._held += text
        begun = self._held.lstrip()
        if OPEN.startswith(begun):
            return
        if begun.startswith(OPEN) and CLOSE not in begun:
            self._held = OPEN + begun[len(OPEN) :][1 - len(CLOSE) :]  # where it may begin to close
            return
        if begun.startswith(OPEN):
            begun = begun.partition(CLOSE)[2].lstrip()
            if not begun:
                return
            self._held = begun
        said, self._held = self._held, None
        yield said


def whole(body: bytes, headers: Mapping[str, str], hidden: str) -> bytes:
    """The answer that a streamed body comes to, see Gemini's `whole`, also for what is raised."""
    sent = sse.split(body)
    for found in _beside(sent.rest):
        _check_piece(found, headers)
    if not (sent.data or sent.is_done):
        return body
    merged = _merged([_read(one, headers) for one in sent.data])
    if (last := _choice(merged)) and not (sent.is_done or last.get("finish_reason")):
        raise faults.broke_off()
    return sse.written(merged, hidden)


def _read(data: bytes, headers: Mapping[str, str]) -> Json:
    """A piece. Raises `Trouble`: it is none, tells of an error, or has another form."""
    piece = object_of(data)
    _check_piece(piece, headers)
    read(data)
    return piece


def _beside(rest: bytes) -> Iterator[Json]:
    """Documents that may tell of an error between the events of a stream."""
    yield object_of(rest)
    for line in rest.splitlines():
        if line.startswith(ERROR):
            told = object_of(line.removeprefix(ERROR))
            yield told if "error" in told else {"error": told}


def _check_piece(piece: Json, headers: Mapping[str, str] = NO_HEADERS) -> None:
    if trouble := trouble_in_answer(piece, headers):
        raise trouble


def _merged(pieces: list[Json]) -> Json:
    """All pieces as one answer."""
    merged = last_said([{name: one for name, one in piece.items() if one is not None}
                        for piece in pieces])  # fmt: skip
    spoken = [found for piece in pieces if (found := _choice(piece))]
    if "object" in merged:
        merged["object"] = "chat.completion"
    if spoken:
        merged["choices"] = [_said(spoken)]
    return merged


def _said(spoken: list[Json]) -> Json:
    """The one choice. A server that streams nothing sends its message whole."""
    deltas = [_delta(one) for one in spoken]
    message: Json = {"role": "assistant", "content": None}
    for name in ("role", *JOINED):
        values = [delta[name] for delta in deltas if delta.get(name) is not None]
        if not values:
            continue
        message[name] = values[0]
        if name != "role" and all(isinstance(one, str) for one in values):
            message[name] = "".join(values)
        elif all(isinstance(one, list) for one in values):
            message[name] = [part for one in values for part in one]
    if found := _calls(deltas):
        message["tool_calls"] = found
    reasons = [one["finish_reason"] for one in spoken if one.get("finish_reason")]
    return {"index": 0, "message": message, "finish_reason": reasons[-1] if reasons else None}


def _calls(deltas: list[Json]) -> list[Json]:
    """The calls, in order. Some servers give all of them one place, or none."""
    found: list[Json] = []
    at_place: dict[Any, Json] = {}
    for piece in (one for delta in deltas for one in dicts(delta.get("tool_calls"))):
        index, given = piece.get("index"), piece.get("function")
        place = index if isinstance(index, int | str) else None
        known = at_place.get(place)
        named, other = piece.get("id"), known.get("id") if known else None
        function = given if isinstance(given, dict) else {}
        is_other = bool(named and other and named != other)
        if known is None or is_other or (place is None and function.get("name")):
            call = {name: value for name, value in piece.items() if name != "index"}
            known = at_place[place] = {**call, "function": {**function, "arguments": []}}
            found.append(known)
        elif named:
            known["id"] = named
        kept = known["function"]  # its arguments go on, a name is said once
        kept["name"] = kept.get("name") or function.get("name")
        kept["arguments"] += [one] if (one := function.get("arguments")) else []
    for kept in (one["function"] for one in found):
        is_text = all(isinstance(cut, str) for cut in kept["arguments"])
        kept["arguments"] = "".join(kept["arguments"]) if is_text else kept["arguments"][0]
    return found


def _choice(piece: Json) -> Json:
    """The one choice that is asked for; empty where a piece has none."""
    return first_dict(piece.get("choices"))


def _delta(choice: Json) -> Json:
    delta = choice.get("delta") or choice.get("message")
    return delta if isinstance(delta, dict) else {}
