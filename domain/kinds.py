"""Every kind of stream that folds, by the name that its streams begin with."""

from typing import Any

from domain.agent.agent import AGENT
from domain.agent.memory import MEMORY
from domain.agent.subs import SUBS
from domain.agent.wake_queue import WAKE_QUEUE
from domain.agent.watch import WATCH
from domain.changes.change_set import CHANGES
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.links import LINKS
from domain.journal.timer import TIMER
from domain.lessons.lessons import LESSONS
from domain.machines.machines import HOME
from domain.policy.policy import POLICY
from domain.templates.template import TEMPLATE
from domain.wake.state import WAKE
from domain.world import Kind

_ALL: tuple[Kind[Any], ...] = (
    TASK,
    LINKS,
    CATALOG,
    TIMER,
    AGENT,
    WAKE_QUEUE,
    SUBS,
    WATCH,
    WAKE,
    CHANGES,
    TEMPLATE,
    POLICY,
    LESSONS,
    MEMORY,
    HOME,
)
KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in _ALL}
