"""Effects of change sets that were asked for and have no outcome, for this machine to finish."""

from collections.abc import Iterator

from adapters.wiring import Home
from projections.operations import VIEW, Operation, OwnerOperations


def effects_in_flight(home: Home) -> Iterator[tuple[OwnerOperations, Operation]]:
    """Each with its set. Of a home that machines share those alone that this one asked for, or,
    where it leads, one that is gone; what met another's verdict waits for nobody."""
    is_shared = home.services.agents.is_shared
    for owner in home.views.page(VIEW, shelf="in_flight"):
        if owner.owner != owner.run_key:
            own = _own(home, owner.owner) if is_shared else None
            left = (one for one in owner.in_flight if own is None or one.operation in own)
            yield from ((owner, one) for one in left)


def _own(home: Home, set_id: str) -> set[str]:
    from adapters.runtime.finishing import own_effects
    from adapters.runtime.review import changes_of

    changes = changes_of(home.services, set_id)
    return {one.operation for one in own_effects(home.services, changes)}
