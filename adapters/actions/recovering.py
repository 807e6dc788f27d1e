"""What a crash left undone is finished."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adapters.documents.agents import all_agents
from adapters.documents.inbox import expiring_sets
from adapters.runtime.recovery import Step, recover
from adapters.runtime.run_leases import living
from projections.operations import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

__all__ = ["Step", "failed_sets", "in_flight_sets", "recover_home"]


def recover_home(home: "Home", told: Callable[[Step], None]) -> Sequence[Step]:
    """Go on with wakes that began and did not end, drive changes that were being applied to their
    end, and expire proposals whose time has come; what a living process works at is left alone.

    Args:
        home: Open to write.
        told: Is told of each step as it is done.
    """
    expiring = expiring_sets(home)
    busy = {lease.agent for lease in living(home.services)}
    ids = [one.id for one in all_agents(home) if one.id not in busy]
    sets = [*in_flight_sets(home), *failed_sets(home)]
    return recover(home.services, ids, sets, expiring, told)


def in_flight_sets(home: "Home") -> list[str]:
    """The change sets with an effect that was asked for and not answered."""
    owners = home.views.page(VIEW, shelf="in_flight")
    return [one.owner for one in owners if one.owner != one.run_key]


def failed_sets(home: "Home") -> list[str]:
    """Of machines that share a home: the change sets in which something was asked for and failed.
    Another one may have done it."""
    if not home.services.agents.is_shared:
        return []
    owners = home.views.page(VIEW, shelf="settled")
    return [
        one.owner
        for one in owners
        if one.owner != one.run_key and any(done.outcome == "error" for done in one.operations)
    ]
