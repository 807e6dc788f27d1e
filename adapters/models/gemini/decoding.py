"""The bytes of an answer, and what they mean.

They are read by small Structs of our own, not by the SDK's types: those refuse every field that
they do not know, so a field that Google adds would make each answer unreadable. Reading needs no
SDK, so a recorded answer can be read anywhere.

What does not fit them counts as left out. What a finish reason leads to stands in one closed
table; a reason that is not in it is a failure, none beside what can be read is an answer.

A streamed answer of Gemini: server-sent events, each with a piece of it.

    data: {"candidates": [{"content": {"parts": [{"text": "It "}], "role": "model"}, ...

What is recorded is the answer that the pieces come to, in the form in which Google sends whole
ones: parts in their order, texts that go on joined, of everything else the last that was said
(finish reason and usage stand in the last piece). A part with a signature is kept as it came,
because a signature must not move to other words; so where Gemini signs a text in a piece of its
own, that piece stays a part of its own."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from adapters.models import calls, faults, json_objects, sse
from adapters.models.faults import Trouble, one_line
from adapters.models.json_objects import Count, dicts, first_dict
from adapters.models.sse import last_said, object_of
from domain.errors import Refused
from domain.ports import NOT_TOLD, Reply, Usage

FORMAT = "gemini.4"
"""What reads such bytes, as recorded with them. Empty, the first version, keeps the last of two
equal keys of a call's arguments; since ``gemini.2`` both are handed on, so that the call is
refused; since ``gemini.3`` a count that is left out beside that of the prompt is 0; for what
``gemini.4`` does otherwise, see `calls.made`."""
UNCOUNTED = ("", "gemini.2")
OLDER = (*UNCOUNTED, "gemini.3")

Json = dict[str, Any]

_REASONS: dict[faults.Verdict, tuple[str, ...]] = {
    "ok": ("STOP", "END_TURN", "TOOL_USE"),
    "cut": ("MAX_TOKENS", "CONTINUATION"),
    "blocked": (
        "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION",
        "PUP_LIMITED_DISABLED", "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ),
    "nudge": ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"),
    "retry": ("OTHER", "FINISH_REASON_UNSPECIFIED", "", "MALFORMED_RESPONSE"),
    "failed": ("MISSING_THOUGHT_SIGNATURE", "TOO_MANY_TOOL_CALLS", "IMAGE_OTHER", "NO_IMAGE"),
}  # fmt: skip
FINISH: Final = faults.by_reason(_REASONS)


class _Wire(Struct, frozen=True, rename="camel"):
    """Base of what is read; unknown fields are ignored, a null counts as left out."""


class FunctionCall(_Wire, frozen=True):
    name: str | None = None
    id: str | None = None
    args: Any = None  # an object, as it was read: a conversion would make another one


class ContentPart(_Wire, frozen=True):
    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None


class Content(_Wire, frozen=True):
    parts: tuple[ContentPart, ...] | None = None


class Candidate(_Wire, frozen=True):
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class Feedback(_Wire, frozen=True):
    block_reason: str | None = None


class GeminiTokens(_Wire, frozen=True):
    prompt_token_count: Count = None
    candidates_token_count: Count = None
    thoughts_token_count: Count = None
    cached_content_token_count: Count = None


class GeminiAnswer(_Wire, frozen=True):
    """A whole answer, as far as it is of use here."""

    candidates: tuple[Candidate, ...] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: GeminiTokens | None = None
    model_version: str | None = None

    @property
    def first(self) -> Candidate | None:
        """The one candidate that is asked for."""
        return self.candidates[0] if self.candidates else None

    @property
    def parts(self) -> tuple[ContentPart, ...]:
        """Its parts, in order."""
        content = self.first.content if self.first else None
        return (content.parts if content else None) or ()

    def usage(self, reply_format: str = FORMAT) -> Usage:
        """Tokens, as far as they were told. Thoughts are not among those of the answer."""
        told = self.usage_metadata or GeminiTokens()
        prompt = told.prompt_token_count
        none = None if reply_format in UNCOUNTED or prompt is None else 0
        counts = (
            told.candidates_token_count, told.thoughts_token_count, told.cached_content_token_count,
        )  # fmt: skip
        return Usage(prompt, *(none if count is None else count for count in counts))


def read(raw: bytes, reply_format: str = FORMAT) -> GeminiAnswer:
    """The answer that a body with status 200 holds. Raises `Trouble`: it is no JSON object (a page
    of something on the way), or has a key twice, but in a call's arguments, see `decoded`."""
    return json_objects.decoded(raw, GeminiAnswer, "args", keeps_twice=bool(reply_format))


def judge(answer: GeminiAnswer, tools: tuple[str, ...] = ()) -> Literal["ok", "empty"]:
    """What to do with an answer, whose words may be a call of tools of these names. ``ok``: use it;
    ``empty``: the model stopped without a word or a call. Raises `Trouble`: there is no answer in
    it, or a call that is written as words."""
    blocked = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
    candidate = answer.first
    if candidate is None and blocked:
        raise faults.final("blocked", f"the prompt was blocked: {one_line(blocked)}")
    if candidate is None:
        told = "the provider sent no answer and no reason"
        raise Trouble(faults.wrong("empty_reply", told), again=True)
    more = f" ({one_line(candidate.finish_message)})" if candidate.finish_message else ""
    return calls.judged(FINISH, reply(b"", answer, NOT_TOLD), tools, more)


def reply(raw: bytes, answer: GeminiAnswer, usage: Usage, reply_format: str = FORMAT) -> Reply:
    """The reply of an answer: thoughts left out, calls in order; `session` sends back no id where
    there was none."""
    words = [part.text for part in answer.parts if part.text and not part.thought]
    wishes = [part.function_call for part in answer.parts if part.function_call]
    is_older = reply_format in OLDER
    made = calls.made(((one.id, one.name, one.args) for one in wishes), is_older=is_older)
    finish = (answer.first.finish_reason if answer.first else None) or ""
    model = answer.model_version or ""
    return Reply(raw, "".join(words), made, usage, model, finish, reply_format)


def parse(raw: bytes, reply_format: str) -> Reply:
    """The reply that recorded bytes stand for; its usage is that of these bytes alone. Raises
    Refused, code ``invalid_input``: they are no answer of Gemini."""
    try:
        answer = read(raw, reply_format)
        judge(answer)
    except Trouble as trouble:
        because = f"a recorded answer of Gemini: {trouble.fault}"
        instead = "give the bytes of an answer that was recorded"
        raise Refused("invalid_input", because=because, instead=instead) from None
    return reply(raw, answer, answer.usage(reply_format), reply_format)


# --------------------------------------------------------------------- what Google says of an error


def trouble_of_status(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for. `body`: the error as Google sends
    it, or the page of something on the way; `headers`: read for `Retry-After` only; names in lower
    case."""
    error = _error(body)
    details = dicts(error.get("details"))
    quotas = [one for detail in details for one in dicts(detail.get("violations"))]
    told = faults.ProviderMessage(
        _told(status, error),
        _delay(details, headers),
        is_bad_key=any(one.get("reason") == "API_KEY_INVALID" for one in details),
        is_quota=any("PerDay" in str(one.get("quotaId", "")) for one in quotas),
    )
    return faults.of_status(status, told)


def _error(body: bytes) -> Mapping[str, Any]:
    """The object ``error`` of a body; empty where it is no such thing."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else {}


def _told(status: int, error: Mapping[str, Any]) -> str:
    name, message = error.get("status"), error.get("message")
    head = f"{status} {name}" if isinstance(name, str) else str(status)
    told = one_line(message) if isinstance(message, str) else "without an explanation"
    return f"{head}, {told}"


def _delay(details: list[Json], headers: Mapping[str, str]) -> float | None:
    """The delay that the provider named, in seconds: `RetryInfo`, else the header."""
    for detail in details:
        named = str(detail.get("retryDelay", ""))
        if named.endswith("s") and (delay := faults.bounded(named[:-1])) is not None:
            return delay
    return faults.retry_after(headers)


# ----------------------------------------------------------------------- an answer that is streamed

STATUSES = range(300, 600)


def words(piece: Json) -> Iterator[str]:
    """What a piece says, thoughts left out."""
    for part in _parts(_candidate(piece)):
        if isinstance(text := part.get("text"), str) and text and not part.get("thought"):
            yield text


def whole(body: bytes, headers: Mapping[str, str], hidden: str) -> bytes:
    """The answer that a streamed body comes to; one without events is given on as it is. `headers`:
    of the answer; names in lower case; `hidden`: the key: it could be cut by pieces, and whole
    again here. Raises `Trouble`: the stream holds an error, or what cannot be read."""
    sent = sse.split(body)
    if not sent.data:
        return body
    pieces = [*map(_read, sent.data), object_of(sent.rest)]
    for piece in pieces:
        if isinstance(error := piece.get("error"), dict):
            raise _trouble(error, headers)
    merged = _merged(pieces)
    if (last := _candidate(merged)) and not (sent.is_done or last.get("finishReason")):
        raise faults.broke_off()
    return sse.written(merged, hidden)


def _read(data: bytes) -> Json:
    """A piece. Raises `Trouble`: it is none, or not of the form that pieces have."""
    read(data)
    return object_of(data)


def _trouble(error: Json, headers: Mapping[str, str]) -> Trouble:
    """What an error in the stream stands for: what it would have been as a status."""
    code = error.get("code")
    status = code if isinstance(code, int) and code in STATUSES else 500
    return trouble_of_status(status, json.dumps({"error": error}).encode(), headers)


def _merged(pieces: list[Json]) -> Json:
    """All pieces as one answer."""
    merged = last_said(pieces)
    spoken = [found for piece in pieces if (found := _candidate(piece))]
    if not spoken:
        return merged
    candidate = last_said(spoken)
    contents = [content for one in spoken if isinstance(content := one.get("content"), dict)]
    if contents:
        parts = _joined(part for one in spoken for part in _parts(one))
        others = {name: value for one in contents for name, value in one.items()}
        others.pop("parts", None)
        candidate["content"] = {"parts": parts, **others} if parts else others
    merged["candidates"] = [candidate]
    return merged


def _joined(parts: Iterable[Json]) -> list[Json]:
    """Parts in their order; a text that goes on is joined to what it goes on from."""
    found: list[tuple[Json, list[str]]] = []  # a part, and the texts that go on from it
    for part in parts:
        last = found[-1][0] if found else {}
        if _is_plain(part) and part["text"] == "" and found:  # the end of a stream, often
            continue
        if _is_plain(last) and _is_plain(part) and last.get("thought") == part.get("thought"):
            found[-1][1].append(part["text"])
        else:
            found.append((part, []))
    return [
        {**part, "text": part["text"] + "".join(more)} if more else part for part, more in found
    ]


def _is_plain(part: Json) -> bool:
    """Whether a part is words and nothing else, no signature above all."""
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _candidate(piece: Json) -> Json:
    """The one candidate that is asked for; empty where a piece has none."""
    return first_dict(piece.get("candidates"))


def _parts(candidate: Json) -> list[Json]:
    content = candidate.get("content")
    return dicts(content.get("parts") if isinstance(content, dict) else None)
