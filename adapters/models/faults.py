"""What goes wrong on the way to a provider and back, as faults of the model port.

    2xx, not 200   again, then the provider's        404        the model is not known
    3xx            the provider's, at once           408, 5xx   again, then the provider's
    400            bad_request; bad_key or           429        again after a short delay; a long
                   context_full if it says so                   or daily one defers the wake
    401, 403       bad_key                           other 4xx  bad_request

A provider's fault defers the wake and is not counted, any other one fails it (SPEC 3). Nothing
here repeats a header, an address's path or the text of an exception: a key could be in it."""

import json
import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from domain.policy.scrub import scrub
from domain.ports import NOT_TOLD, ModelFault, Reply, Usage

WAIT_MAX_SECONDS = 10.0
"""A longer delay is not slept through: the wake is deferred by it."""
DAILY_SECONDS = 3_600
"""How long a wake waits at least when a daily quota is used up: it comes back at an hour that
the reply does not name."""
DELAY_MAX_SECONDS = 7 * 86_400
MESSAGE_MAX = 300  # characters of the provider's own words

_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window|limit)|context the overflows"  # the last: LM Studio
    r"|(?:model|prompt) length|token count|too many tokens|inputs` tokens"  # vLLM, xAI, Google, TGI
    r"|(?:prompt|input) is too long|exceed_context_size",  # Anthropic, AWS, llama.cpp
    re.IGNORECASE,
)
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class Trouble(Exception):
    """A try that brought no answer. `fault`: what is raised if it is not made again, or was made
    often enough; `again`: whether the same request may be answered next time; `wait_seconds`: the
    delay that the provider named, if it is short; `is_hinted`: the model did not call as it should,
    and is asked again with a hint."""

    def __init__(
        self, fault: ModelFault, *, again: bool, wait_seconds: float | None = None,
        is_hinted: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(str(fault))
        self.fault, self.again = fault, again
        self.wait_seconds, self.is_hinted = wait_seconds, is_hinted


Verdict = Literal["ok", "retry", "nudge", "blocked", "cut", "failed"]
"""What the reason leads to for which a model stopped. ok: an answer. retry: the same request again,
then ``bad_reply``. nudge: again with a hint, then ``malformed_call``. blocked: ``blocked``, never
asked again. cut: ``max_tokens``; a cut answer may lack calls, so it is none. failed: ``bad_reply``.
"""


def by_reason(reasons: Mapping[Verdict, tuple[str, ...]]) -> dict[str, Verdict]:
    """A provider's table of verdicts by reasons, as it is read, of one of reasons by verdicts."""
    return {reason: verdict for verdict, every in reasons.items() for reason in every}


class ProviderMessage(NamedTuple):
    """What a provider says of an error: its words in one line, and what they mean here."""

    text: str
    delay: float | None = None  # seconds, as it named them
    is_bad_key: bool = False
    is_quota: bool = False  # one that a short wait does not bring back


def provider(code: str, message: str, retry_seconds: int | None = None) -> ModelFault:
    """The provider did not do its part: the wake is deferred."""
    return ModelFault(code, message, of_provider=True, retry_seconds=retry_seconds)


def wrong(code: str, message: str) -> ModelFault:
    """This wake cannot be answered: it fails."""
    return ModelFault(code, message, of_provider=False)


def unreachable(host: str, what: str) -> Trouble:
    """No connection, or one that broke off; `what` names the kind of error, not its text."""
    return Trouble(provider("unavailable", f"no answer from {host} ({what})"), again=True)


def timed_out(seconds: float) -> Trouble:
    """A try that took too long."""
    return Trouble(provider("timeout", f"no answer within {seconds:g} seconds"), again=True)


def malformed(what: str, code: str = "malformed_call") -> Trouble:
    """A call that nobody can read, for which the model is asked again with a hint."""
    return Trouble(wrong(code, what), again=False, is_hinted=True)


def broke_off() -> Trouble:
    """A stream that ended without a reason, and without saying that it is whole."""
    return Trouble(wrong("bad_reply", "the answer broke off before its end"), again=True)


def final(code: str, message: str) -> Trouble:
    """What fails the wake at once."""
    return Trouble(wrong(code, message), again=False)


def check_finish(table: Mapping[str, Verdict], said: Reply, more: str = "") -> None:
    """See what a model stopped for, whatever its case; without a reason, what can be read is an
    answer. Raises `Trouble`, but for ``ok``."""
    reason = said.finish.strip()
    told = f"the model stopped with {one_line(reason) or 'no reason'}{more}"
    match {name.lower(): verdict for name, verdict in table.items()}.get(reason.lower()):
        case "ok":
            pass
        case _ if not reason and _is_readable(said):
            pass
        case "nudge":
            raise malformed("the model's function calls could not be read")
        case "retry":
            raise Trouble(wrong("bad_reply", told), again=True)
        case "blocked":
            raise final("blocked", told)
        case "cut":
            raise final("max_tokens", f"{told}; its answer is cut short")
        case "failed":
            raise final("bad_reply", told)
        case None:
            raise final("unknown_finish", f"{told}, which this version does not know")


def _is_readable(said: Reply) -> bool:
    """Whether there are words, or calls of which none may have been cut."""
    try:
        return bool(said.text or [json.loads(one.arguments) for one in said.calls])
    except (ValueError, RecursionError):
        return False


def of_status(status: int, told: ProviderMessage) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for."""
    match status:
        case 400 | 401 | 403 if status != 400 or told.is_bad_key:
            return final("bad_key", f"the key was refused: {told.text}")
        case 400 | 413 | 422 if _TOO_LONG.search(told.text):
            remedy = "lower max_bytes below [prompt] in settings.toml"
            return final("context_full", f"the prompt is too long; {remedy}: {told.text}")
        case 404:
            return final("unknown_model", f"there is no such model at this endpoint: {told.text}")
        case 429 if told.is_quota:
            seconds = max(DAILY_SECONDS, math.ceil(told.delay or 0))
            fault = provider("rate_limited", f"the daily quota is used up: {told.text}", seconds)
            return Trouble(fault, again=False)
        case 429:
            return _delayed("rate_limited", f"too many requests: {told.text}", told.delay)
        case 408:
            return Trouble(provider("unavailable", f"no answer: {told.text}"), again=True)
        case _ if status >= 500:
            return _delayed("unavailable", f"no answer: {told.text}", told.delay)
        case _ if status >= 400:
            return final("bad_request", f"the request was refused: {told.text}")
        case _ if status >= 300:  # followed, it would take the key along
            text = f"the endpoint sent us elsewhere, which is not followed: {told.text}"
            return Trouble(provider("bad_reply", text), again=False)
        case _:
            return Trouble(provider("bad_reply", f"no answer: {told.text}"), again=True)


def _delayed(code: str, message: str, delay: float | None) -> Trouble:
    """Made again after the delay where that is short; else the wake is deferred by it."""
    if delay is None:
        return Trouble(provider(code, message), again=True)
    fault = provider(code, message, max(1, math.ceil(delay)))
    is_short = delay <= WAIT_MAX_SECONDS
    return Trouble(fault, again=is_short, wait_seconds=delay if is_short else None)


def one_line(text: str) -> str:
    """The provider's words in one line of bounded length; it may repeat a key, its own perhaps."""
    kept = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    kept = scrub(kept).text
    return kept if len(kept) <= MESSAGE_MAX else f"{kept[:MESSAGE_MAX]}..."


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The delay that the header `Retry-After` names in seconds; names in lower case."""
    return bounded(headers.get("retry-after", "").strip())


def bounded(seconds: str) -> float | None:
    """A delay written as a number of seconds; None where it is none."""
    return min(float(seconds), DELAY_MAX_SECONDS) if _SECONDS.fullmatch(seconds) else None


# ------------------------------------------------------------------------- how large a reply may be
# How large a model's reply may be. One beyond these bounds is malformed as a whole.
#
# The wake fails with the code ``malformed``, in the extra turn for a report it completes without
# one; it is not asked again, and nothing of the reply is recorded but how large it was. Of fewer
# calls than `CALLS_MAX`, those that are too many for a turn are refused one by one, see
# `domain.wake.tool_call`.

MALFORMED = "malformed"
CALLS_MAX = 1_024
SENT_MAX_BYTES = 4 * 1024 * 1024
"""As it is sent: over the wire, or as a line of a tape."""
UNPACKED_MAX_BYTES = 32 * 1024 * 1024
"""What packed bytes may come to."""


def too_large(what: str, usage: Usage = NOT_TOLD) -> ModelFault:
    """The fault of a reply that has more than `what`."""
    return ModelFault(MALFORMED, f"the reply has more than {what}", of_provider=False, usage=usage)


def check_reply_size(reply: Reply) -> Reply:
    """A reply as it was given. Raises `ModelFault` if it is beyond the bounds."""
    if len(reply.calls) > CALLS_MAX:
        told = f"the reply has {len(reply.calls)} calls; at most {CALLS_MAX} are read"
        raise ModelFault(MALFORMED, told, of_provider=False, usage=reply.usage)
    if len(reply.raw) > UNPACKED_MAX_BYTES:
        raise too_large(f"{UNPACKED_MAX_BYTES} bytes", reply.usage)
    return reply
