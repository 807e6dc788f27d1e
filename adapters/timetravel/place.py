"""A moment of a home that somebody named."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from adapters.timetravel.logs_at import Past, Spot
    from adapters.wiring import Home
    from projections.wakes import WakeDocument


class Place(NamedTuple):
    """What somebody named: a moment of a home, a wake, or, `is_home`, all of it; `is_own`: of the
    home that the command is about."""

    home: "Home"
    past: "Past"
    spot: "Spot"
    given: str
    wake: "WakeDocument | None" = None
    is_home: bool = False
    is_own: bool = True

    @property
    def replica(self) -> str:
        """Who ran the wake; else whose position was named; else who writes in the home."""
        if self.wake:
            return self.wake.replica
        return self.spot.replica or self.home.services.agents.replica

    @property
    def heads(self) -> tuple[str, str]:
        """Where the journal and the agent log stood, ``journal:r1:42`` for example."""
        where = self.spot.where
        of = self.replica if self.past.agents.log.is_shared else ""
        journal, agents = self.past.journal, self.past.agents
        return journal.position(where.journal, of), agents.position(where.agent, of)


def past_of(home: "Home") -> "Past":
    from adapters.timetravel.logs_at import Past

    return Past(home.services.journal, home.services.agents)
