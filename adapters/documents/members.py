"""Who of several people did something, as the logs of a home in a database say (ADR 119).

Only an id stands in a log; the name is the database's, and is forgotten with the membership. In a
home whose people are not known apart, nothing is asked for it."""

from collections.abc import Mapping
from functools import cached_property

from adapters.store.log import Log
from adapters.wiring import Home
from domain.append import envelope
from domain.changes.change_set import CHANGES, ChangeItem
from domain.log.state import RecordedEvent
from projections.inbox import SetDocument
from projections.wakes import WakeDocument

NO_MEMBER = "Somebody who is no member any more"
ASKED = ("creation", "manual", "user")  # reasons of wakes that a person asks for


class Members:
    """The people of a home, by what they did."""

    def __init__(self, home: Home) -> None:
        self._home, self._services = home, home.services

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return self._home.place.names()

    def named(self, first: RecordedEvent) -> str:
        """Whose deed the append of a first row is; empty: it does not say."""
        known = envelope.who_of(first)
        return self._names.get(known, NO_MEMBER) if known else ""

    def _of_append(self, log: Log, n: int, replica: str) -> str:
        rows = log.append_at(n, replica)
        if not rows:
            return ""
        first = envelope.read(rows[0])
        return self.named(envelope.recorded(rows[0], first.at, first))

    def asked_for(self, wake: WakeDocument) -> str:
        """Who asked for a wake, or made the change that it was queued for; empty: it is not
        known, or nobody."""
        if not (self._names and wake.causes):
            return ""
        if wake.reason in ASKED:
            return self._of_append(self._services.agents, wake.queued_n, wake.replica)
        first = wake.causes[0].trigger
        n, replica = first.of_n or first.position, first.of or first.replica
        replica = replica or self._services.journal.replica
        return self._of_append(self._services.journal, n, replica) if n else ""

    def decided(self, one: SetDocument, item: ChangeItem) -> str:
        """Who decided of an item as it stands; empty: it is not known, or nobody did."""
        if not (item.decided_by == "person" and self._names):
            return ""
        with self._services.agents.reading() as world:
            rows = world.rows(CHANGES, one.id)
        verdicts = (
            row
            for row in rows
            if getattr(row.fact, "item", 0) == item.number and row.at == item.decided_at
        )
        found = next(verdicts, None)
        return self._of_append(self._services.agents, found.n, found.replica) if found else ""
