"""Who is told that something waits in the homes of a worker (ADR 44), as `wakelog run` tells it.

A home is given back once nothing is due in it; a delivery goes on in its own thread, and the home
is looked at again when it should have ended.
"""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from adapters.actions.notifying import notifiers_of
from adapters.notify.notifier import Notifier
from adapters.runtime.options import Tell
from adapters.wiring import Home


class Notices:
    """The receivers of all homes that a worker tends; may be used from any thread."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """`environ`: what commands are given, and where secrets are found."""
        self._environ = environ
        self._lock = Lock()
        self._of: dict[str, list[Notifier]] = {}
        self._not_allowed: set[tuple[str, str]] = set()  # told once
        self._is_stopping = False

    def begin(self, home: Home, name: str, tell: Tell) -> list[Notifier]:
        """What looks while a home is tended; nothing where a delivery is under way still."""

        def tell_once(event: str, **fields: Any) -> None:
            known = name, str(fields.get("by"))
            if event != "not_allowed" or known not in self._not_allowed:
                tell(event, **fields)
            if event == "not_allowed":
                self._not_allowed.add(known)

        with self._lock:
            if self._is_stopping or any(one.is_busy for one in self._of.get(name, ())):
                return []
        made = notifiers_of(home, self._environ, tell_once)
        with self._lock:
            self._of[name] = made
        return made

    def end(self, name: str, begun: Sequence[Notifier]) -> str:
        """When the home is to be looked at again for them; empty: never. Raises Refused.

        Args:
            name: Of the home.
            begun: What `begin` gave: the home of another one is closed.
        """
        for one in begun:
            one.look()
        with self._lock:
            known = self._of.get(name, [])
        times = [one.next_at() for one in known]
        with self._lock:
            if not any(one.is_busy for one in known):
                self._of.pop(name, None)
        return min(filter(None, times), default="")

    def stop(self) -> None:
        """Cut off what is being sent: it is sent again, under the same id."""
        with self._lock:
            self._is_stopping = True
            found = [one for known in self._of.values() for one in known]
        for one in found:
            one.stop()
