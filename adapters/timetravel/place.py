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
        """Who ran the wake; else who writes in the home."""
        return self.wake.replica if self.wake else self.home.services.agents.replica


def past_of(home: "Home") -> "Past":
    from adapters.timetravel.logs_at import Past

    return Past(home.services.journal, home.services.agents)
