"""What can go wrong between wakelog and a provider, and how each of it ends, family by family."""

from typing import NamedTuple

from tests.support import gemini_server as g
from tests.support import openai_server as o
from tests.support.scripted_server import Answer, page


class Case(NamedTuple):
    """Answers, and the fault they end in: code, whether it is the provider's, and its delay."""

    name: str
    script: tuple[Answer, ...]
    code: str
    of_provider: bool
    retry_seconds: int | None = None
    slept: tuple[float, ...] = ()


BACKOFF = (1.0, 2.0, 4.0)
DROPPED = Answer(is_dropped=True)

ON_THE_WAY = (
    Case("400 in words", (Answer(b"Bad Request", 400, "text/plain"),), "bad_request", False),
    Case("413", (page(413, "Too large"),), "bad_request", False),
    Case("302", (Answer(status=302, headers=(("location", "/x"),)),), "bad_reply", True),
    Case("204", (Answer(status=204),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("502 as a page", (page(502, "Bad Gateway"),) * 4, "unavailable", True, slept=BACKOFF),
    Case("500 in latin-1", (Answer(b"\xe4", 500),) * 4, "unavailable", True, slept=BACKOFF),
    Case("a page with 200", (page(),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("no JSON", (Answer(b'{"candidates": ['),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("broken UTF-8", (Answer(b'{"a": "\xc3\x28"}'),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("too deep", (Answer(b"[" * 100_000),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("no object", (Answer(b"[]"),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("an empty body", (Answer(),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("dropped", (DROPPED,) * 4, "unavailable", True, slept=BACKOFF),
)
"""Of any family."""


# ---------------------------------------------------------------------------------------- Gemini

_UNAVAILABLE = g.error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
_INTERNAL = g.error(500, "INTERNAL", "An internal error has occurred.")
_DAILY = g.quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
_LEAKY = g.error(401, "UNAUTHENTICATED", f"The key {g.KEY} is revoked.")
_FINE = g.answer(g.text("Fine."))

GEMINI = (
    *ON_THE_WAY,
    Case("400", (g.error(400, "INVALID_ARGUMENT", "Bad schema."),), "bad_request", False),
    Case("401 that repeats the key", (_LEAKY,), "bad_key", False),
    Case("403", (g.error(403, "PERMISSION_DENIED", "Not yours."),), "bad_key", False),
    Case("404", (g.error(404, "NOT_FOUND", "No such model."),), "unknown_model", False),
    Case("500", (_INTERNAL,) * 4, "unavailable", True, slept=BACKOFF),
    Case("503", (_UNAVAILABLE,) * 4, "unavailable", True, slept=BACKOFF),
    Case("another form", (g.document(candidates="x"),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("cut off", (_FINE._replace(cut_bytes=9),) * 4, "unavailable", True, slept=BACKOFF),
    Case("429 without a delay", (g.limited(),) * 4, "rate_limited", True, slept=BACKOFF),
    Case("429, 17.2 s", (g.limited(g.retry_info("17.2s")),), "rate_limited", True, 18),
    Case(
        "429, 9.5 s", (g.limited(g.retry_info("9.5s")),) * 4, "rate_limited", True, 10, (9.5,) * 3
    ),
    Case("429, daily", (g.limited(_DAILY, g.retry_info("2s")),), "rate_limited", True, 3_600),
    Case("429, long", (g.limited(_DAILY, g.retry_info("7200s")),), "rate_limited", True, 7_200),
    Case(
        "503, Retry-After",
        (_UNAVAILABLE._replace(headers=(("Retry-After", "120"),)),),
        "unavailable",
        True,
        120,
    ),
    Case("refused", (g.document(promptFeedback={"blockReason": "SAFETY"}),), "blocked", False),
    Case("blocked", (g.answer(finish="SAFETY"),), "blocked", False),
    Case("cut answer", (g.answer(g.text("It is"), finish="MAX_TOKENS"),), "max_tokens", False),
    Case("new reason", (g.answer(g.text("x"), finish="BORED"),), "unknown_finish", False),
    Case("no signature", (g.answer(finish="MISSING_THOUGHT_SIGNATURE"),), "bad_reply", False),
    Case("once more", (g.answer(finish="OTHER"),) * 4, "bad_reply", False, slept=BACKOFF),
    Case("no answer", (g.document(candidates=[]),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("nothing", (g.document(),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("malformed", (g.answer(finish="MALFORMED_FUNCTION_CALL"),) * 3, "malformed_call", False),
)


# ---------------------------------------------------------------------------------------- OpenAI

_LOADING = o.error(503, "Loading model", "unavailable_error", 503)
_LIMITED = o.error(429, "Rate limit reached.", "requests", "rate_limit_exceeded")
_QUOTA = o.error(
    429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"
)
_OTHER_KEY = o.error(
    401, f"Incorrect API key provided: {o.KEY}.", "invalid_request_error", "invalid_api_key"
)
_UNREAD = "error parsing tool call: raw='{\"a\": ', err=unexpected end of JSON input"
_WORDS = o.answer('<tool_call>\n{"name": "update_report", "arguments": {}}\n</tool_call>')
_SAYS_IT = f"registry.ollama.ai/library/{o.MODEL} does not support tools"
_PARSER = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


def _after(answer: Answer, seconds: str, header: str = "Retry-After") -> Answer:
    return answer._replace(headers=((header, seconds),))


OPENAI = (
    *ON_THE_WAY,
    Case("400", (o.error(400, "Bad schema.", "BadRequestError", 400),), "bad_request", False),
    Case("401 that repeats the key", (_OTHER_KEY,), "bad_key", False),
    Case("403", (o.error(403, "Not yours.", "permission_error"),), "bad_key", False),
    Case("404", (o.error(404, "model 'x' not found", "not_found_error"),), "unknown_model", False),
    Case("500", (o.bare(500, "llama runner is gone"),) * 4, "unavailable", True, slept=BACKOFF),
    Case("503", (_LOADING,) * 4, "unavailable", True, slept=BACKOFF),
    Case("another form", (o.document(choices="x"),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("cut off", (o.answer("x")._replace(cut_bytes=9),) * 4, "unavailable", True, slept=BACKOFF),
    Case("429 without a delay", (_LIMITED,) * 4, "rate_limited", True, slept=BACKOFF),
    Case("429, 17.2 s", (_after(_LIMITED, "17.2"),), "rate_limited", True, 18),
    Case(
        "429, 9.5 s",
        (_after(_LIMITED, "9500", "retry-after-ms"),) * 4,
        "rate_limited",
        True,
        10,
        (9.5,) * 3,
    ),
    Case("429, daily", (_after(_QUOTA, "2"),), "rate_limited", True, 3_600),
    Case("429, long", (_after(_QUOTA, "7200"),), "rate_limited", True, 7_200),
    Case("503, Retry-After", (_after(_LOADING, "120"),), "unavailable", True, 120),
    Case("refused", (o.answer(None, refusal="I cannot help with that."),), "blocked", False),
    Case("blocked", (o.answer("x", finish="content_filter"),), "blocked", False),
    Case("cut answer", (o.answer("It is", finish="length"),), "max_tokens", False),
    Case("new reason", (o.answer("x", finish="bored"),), "unknown_finish", False),
    Case("once more", (o.answer("x", finish="error"),) * 4, "bad_reply", False, slept=BACKOFF),
    Case("no answer", (o.document(choices=[]),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("nothing", (o.document(),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("malformed", (o.bare(500, _UNREAD),) * 3, "malformed_call", False),
    Case("no tools", (o.error(400, _SAYS_IT),), "no_tools", False),
    Case("no parser", (o.error(400, _PARSER, "BadRequestError", 400),), "no_tools", False),
    Case(
        "no form",
        (o.error(500, "tools param requires --jinja flag", "server_error", 500),),
        "no_tools",
        False,
    ),
    Case("a call in words", (_WORDS,) * 3, "call_as_text", False),
    Case("no credit", (o.error(402, "Insufficient Balance"),), "no_credit", True, 3_600),
    Case("no such path", (o.bare(200, "Unexpected endpoint or method."),), "bad_request", False),
    Case(
        "429 with 200",
        (o.document(error={"message": "Slow down.", "code": 429}),) * 4,
        "rate_limited",
        True,
        slept=BACKOFF,
    ),
    Case(
        "too long",
        (o.error(500, "exceeds the available context size", "exceed_context_size_error", 500),),
        "context_full",
        False,
    ),
)
