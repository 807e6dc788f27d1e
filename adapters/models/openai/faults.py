"""What endpoints say of an error, see `adapters.models.faults`.

{"error": {"message", "type", "code"}}   OpenAI, vLLM, llama.cpp, OpenRouter, LM Studio
{"error": "..."}                          Ollama, LM Studio, also with status 200
{"object": "error", "message", "code"}    older vLLM
{"detail": "..."}, {"detail": [{"msg"}]}  what FastAPI says before a server is asked
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from adapters.models import faults, objects
from adapters.models.faults import DAILY_SECONDS, Told, Trouble, provider, wrong

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
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "unavailable_error": 503,
    "overloaded_error": 503,
}
"""Of errors that come with status 200, or in a stream, and name no number."""
_NO_CREDIT = 402
_ERRORS = range(400, 600)


class Error(NamedTuple):
    """An error as far as it was told."""

    message: str = ""
    kind: str = ""
    code: str = ""


def of_status(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for.

    Args:
        status: As sent.
        body: The error as the endpoint sends it, or the page of something on the way.
        headers: Read for the delay only; names in lower case.
    """
    return _of(status, error_in(objects.loads(_one(body)) or {}) or Error(), headers)


def of_answer(document: Mapping[str, Any], headers: Mapping[str, str]) -> Trouble | None:
    """The trouble that a piece or an answer tells of, though its status was 200."""
    if not document.get("error"):
        return None
    error = error_in(document) or Error()
    number = int(error.code) if error.code.isdecimal() else 0
    status = number if number in _ERRORS else _STATUSES.get(error.code)
    status = status or _STATUSES.get(error.kind)
    if status is None:  # words alone: LM Studio says so that it knows no such path
        status = 400 if isinstance(document["error"], str) else 500
    return _of(status, error, headers)


def error_in(document: Mapping[str, Any]) -> Error | None:
    """What a document says of an error; None where it says nothing."""
    found = document.get("error", document.get("detail"))
    if isinstance(found, list):
        told = [str(one.get("msg", "")) for one in found if isinstance(one, dict)]
        return Error("; ".join(told))
    if isinstance(found, str):
        return Error(found)
    error = found if isinstance(found, dict) else document
    if not isinstance(message := error.get("message"), str):
        return None
    kind, code = (str(error.get(name) or "") for name in ("type", "code"))
    return Error(message, kind, code)


def _of(status: int, error: Error, headers: Mapping[str, str]) -> Trouble:
    text = _told(status, error)
    said = f"{error.code} {error.message}"
    if status in _ERRORS and _NO_TOOLS.search(error.message):
        told = f"the model is not given tools at this endpoint, and agents work by them: {text}"
        return Trouble(wrong("no_tools", told), again=False)
    if status in _ERRORS and _UNREADABLE.search(said):
        return faults.malformed(f"the model's calls could not be read by its server: {text}")
    if status == _NO_CREDIT:
        fault = provider("no_credit", f"the account has no credit left: {text}", DAILY_SECONDS)
        return Trouble(fault, again=False)
    if error.kind == "exceed_context_size_error":
        status = _STATUSES[error.kind]
    is_bad_key = error.code == "invalid_api_key" or "api key" in error.message.lower()
    is_quota = "insufficient_quota" in (error.code, error.kind)
    return faults.of_status(status, Told(text, _delay(headers), is_bad_key, is_quota))


def _told(status: int, error: Error) -> str:
    named = next((one for one in (error.code, error.kind) if one and not one.isdecimal()), "")
    head = f"{status} {faults.line(named)}" if named else str(status)
    if not error.message:
        return f"{head}, without an explanation"
    return f"{head}, {faults.line(error.message)}"


def _delay(headers: Mapping[str, str]) -> float | None:
    millis = faults.bounded(headers.get("retry-after-ms", "").strip())
    return faults.retry_after(headers) if millis is None else millis / 1000


def _one(body: bytes) -> bytes:
    """A body without the brackets around its one object, with which Google's endpoint sends it."""
    bare = body.strip()
    return bare[1:-1] if bare[:1] == b"[" and bare[-1:] == b"]" else bare
