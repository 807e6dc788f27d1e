"""What went wrong is tried again, less and less often, and never in a circle."""

from collections.abc import Callable
from contextlib import suppress

from domain.agent.alertness_rules import backoff_seconds
from domain.errors import WakelogError
from domain.moments import later


class Holds:
    """Until when something is left alone, by name: 1, 2, 4 ... minutes, up to an hour."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, str]] = {}

    def add(self, name: str, now: str) -> str:
        """One more failure; until when it is left alone."""
        count = self._held.get(name, (0, ""))[0] + 1
        until = later(now, seconds=backoff_seconds(count))
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


def say(what: Callable[[], object]) -> None:
    """Do what is good to have done, and no loss where it cannot be: a heartbeat, a note."""
    with suppress(WakelogError):
        what()
