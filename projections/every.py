"""Every view there is."""

from typing import Any

from projections import (
    agents,
    inbox,
    journal,
    lessons,
    memory,
    messages,
    operations,
    policy,
    ranks,
    reports,
    sources,
    tasks,
    templates,
    wakes,
)
from projections.view import View

VIEWS: tuple[View[Any], ...] = (
    tasks.VIEW,
    agents.VIEW,
    wakes.VIEW,
    reports.VIEW,
    journal.VIEW,
    messages.VIEW,
    inbox.VIEW,
    ranks.VIEW,
    operations.VIEW,
    templates.VIEW,
    policy.VIEW,
    lessons.VIEW,
    memory.VIEW,
    sources.VIEW,
)
