"""Every view there is."""

from typing import Any

from projections import (
    agents,
    import_sources,
    inbox,
    lessons,
    messages,
    observations,
    operations,
    policy,
    rehearsals,
    reports,
    tasks,
    templates,
    wakes,
)
from projections.view import View

VIEWS: tuple[View[Any], ...] = (
    tasks.VIEW, agents.VIEW, wakes.VIEW, reports.VIEW, observations.VIEW, messages.VIEW, inbox.VIEW,
    inbox.RANKS, operations.VIEW, templates.VIEW, rehearsals.VIEW, policy.VIEW, lessons.VIEW,
    observations.DIGESTS, import_sources.VIEW,
)  # fmt: skip
