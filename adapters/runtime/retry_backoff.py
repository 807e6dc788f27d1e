"""What went wrong is tried again, less and less often, and never in a circle."""

from collections.abc import Callable
from contextlib import suppress

from domain.agent.wake_queue_rules import backoff_seconds
from domain.errors import WakelogError
from domain.log.timestamps import later

OUTSIDE = ("read_only",)
"""Codes of what a person puts right, a full disk for example; to look again costs little."""
OUTSIDE_SECONDS = (2, 4, 8, 16, 30)
REPEATED_SECONDS = 3600  # until the same trouble is told again
TOLD_MAX = 100  # different troubles that are remembered as told


class RetryBackoff:
    """Until when something is left alone, by name: 1, 2, 4 ... minutes, up to an hour; what
    comes from outside 2, 4, 8 ... seconds, up to 30."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, str]] = {}
        self._told: dict[str, str] = {}

    def add(self, name: str, now: str, code: str = "") -> str:
        """One more failure, with its code; until when it is left alone."""
        count = self._held.get(name, (0, ""))[0] + 1
        seconds = backoff_seconds(count)
        if code in OUTSIDE:
            seconds = OUTSIDE_SECONDS[min(count, len(OUTSIDE_SECONDS)) - 1]
        until = later(now, seconds=seconds)
        self._held[name] = count, until
        return until

    def clear(self, name: str) -> None:
        """It went well."""
        self._held.pop(name, None)

    def until(self, name: str, now: str) -> str:
        """Until when it is left alone; empty where it is not."""
        until = self._held.get(name, (0, ""))[1]
        return until if until > now else ""

    def next_at(self, now: str) -> str:
        """When the next one is tried again; empty if none is held."""
        return min((until for _, until in self._held.values() if until > now), default="")

    def is_news(self, message: str, now: str) -> bool:
        """Whether a trouble is to be told: it was not within the last hour."""
        if self._told.get(message, "") > now:
            return False
        if len(self._told) >= TOLD_MAX:
            self._told.clear()
        self._told[message] = later(now, seconds=REPEATED_SECONDS)
        return True

    def is_over(self) -> bool:
        """Whether something had been told of that came from outside, and now goes well; once."""
        was_told, self._told = bool(self._told), {}
        return was_told


def say(what: Callable[[], object]) -> bool:
    """Do what is good to have done, and no loss where it cannot be, a heartbeat for example;
    whether it was."""
    with suppress(WakelogError):
        what()
        return True
    return False
