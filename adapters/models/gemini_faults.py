"""What goes wrong on the way to Gemini and back, as faults of the model port.

    2xx, not 200   again, then the provider's        404        the model is not known
    3xx            the provider's, at once           408, 5xx   again, then the provider's
    400            bad_request; bad_key if it        429        again after a short delay; a long
                   says so                                      or daily one defers the wake
    401, 403       bad_key                           other 4xx  bad_request

A provider's fault defers the wake and is not counted, any other one fails it (SPEC 3). Nothing
here repeats a header, an address's path or the text of an exception: a key could be in it.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from domain.ports import ModelFault

WAIT_MAX_SECONDS = 10.0
"""A longer delay is not slept through: the wake is deferred by it."""
DAILY_SECONDS = 3_600
"""How long a wake waits at least when a daily quota is used up: it comes back at an hour that
the reply does not name."""
DELAY_MAX_SECONDS = 7 * 86_400
MESSAGE_MAX = 300  # characters of the provider's own words

_DELAY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
_SECONDS = re.compile(r"[0-9]{1,9}")


class Trouble(Exception):
    """A try that brought no answer.

    Args:
        fault: What is raised if it is not made again, or was made often enough.
        again: Whether the same request may be answered next time.
        wait_seconds: The delay that the provider named, if it is short; None: it named none.
    """

    def __init__(
        self, fault: ModelFault, *, again: bool, wait_seconds: float | None = None
    ) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.again = again
        self.wait_seconds = wait_seconds


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


def of_status(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for.

    Args:
        status: As sent.
        body: The error as Google sends it, or the page of something on the way.
        headers: Read for `Retry-After` only; names in lower case.
    """
    error = _error(body)
    told = _told(status, error)
    match status:
        case 400 if "API_KEY_INVALID" in _reasons(error):
            return Trouble(wrong("bad_key", f"the key was refused: {told}"), again=False)
        case 401 | 403:
            return Trouble(wrong("bad_key", f"the key was refused: {told}"), again=False)
        case 404:
            fault = wrong("unknown_model", f"there is no such model at this endpoint: {told}")
            return Trouble(fault, again=False)
        case 429:
            return _limited(error, told, _delay(error, headers))
        case 408:
            return Trouble(provider("unavailable", f"no answer: {told}"), again=True)
        case _ if status >= 500:
            return _delayed("unavailable", f"no answer: {told}", _delay(error, headers))
        case _ if status >= 400:
            fault = wrong("bad_request", f"the request was refused: {told}")
            return Trouble(fault, again=False)
        case _ if status >= 300:  # followed, it would take the key along
            told = f"the endpoint sent us elsewhere, which is not followed: {told}"
            return Trouble(provider("bad_reply", told), again=False)
        case _:
            return Trouble(provider("bad_reply", f"no answer: {told}"), again=True)


def _limited(error: Mapping[str, Any], told: str, delay: float | None) -> Trouble:
    if any("PerDay" in quota for quota in _quotas(error)):
        seconds = max(DAILY_SECONDS, math.ceil(delay or 0))
        fault = provider("rate_limited", f"the daily quota is used up: {told}", seconds)
        return Trouble(fault, again=False)
    return _delayed("rate_limited", f"too many requests: {told}", delay)


def _delayed(code: str, message: str, delay: float | None) -> Trouble:
    """Made again after the delay where that is short; else the wake is deferred by it."""
    if delay is None:
        return Trouble(provider(code, message), again=True)
    fault = provider(code, message, max(1, math.ceil(delay)))
    if delay > WAIT_MAX_SECONDS:
        return Trouble(fault, again=False)
    return Trouble(fault, again=True, wait_seconds=delay)


# ---------------------------------------------------------------------------- Google's error body


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
    if not isinstance(message, str):
        return f"{head}, without an explanation"
    return f"{head}, {line(message)}"


def line(text: str) -> str:
    """The provider's words in one line of bounded length."""
    kept = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return kept if len(kept) <= MESSAGE_MAX else f"{kept[:MESSAGE_MAX]}..."


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            yield detail


def _reasons(error: Mapping[str, Any]) -> list[str]:
    return [str(detail.get("reason", "")) for detail in _details(error)]


def _quotas(error: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for detail in _details(error):
        violations = detail.get("violations")
        entries = violations if isinstance(violations, list) else ()
        found += [str(one.get("quotaId", "")) for one in entries if isinstance(one, dict)]
    return found


def _delay(error: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """The delay that the provider named, in seconds: `RetryInfo`, else the header."""
    for detail in _details(error):
        named = _DELAY.fullmatch(str(detail.get("retryDelay", "")))
        if named is not None:
            return min(float(named[1]), DELAY_MAX_SECONDS)
    after = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(after) is not None:
        return min(float(after), DELAY_MAX_SECONDS)
    return None
