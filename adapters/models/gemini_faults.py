"""What Google says of an error, see `adapters.models.faults`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.models import faults
from adapters.models.faults import Told, Trouble


def of_status(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble:
    """The trouble that an HTTP status other than 200 stands for.

    Args:
        status: As sent.
        body: The error as Google sends it, or the page of something on the way.
        headers: Read for `Retry-After` only; names in lower case.
    """
    error = _error(body)
    told = Told(
        _told(status, error),
        _delay(error, headers),
        is_bad_key="API_KEY_INVALID" in _reasons(error),
        is_quota=any("PerDay" in quota for quota in _quotas(error)),
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
    if not isinstance(message, str):
        return f"{head}, without an explanation"
    return f"{head}, {faults.line(message)}"


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
        named = str(detail.get("retryDelay", ""))
        if named.endswith("s") and (delay := faults.bounded(named[:-1])) is not None:
            return delay
    return faults.retry_after(headers)
