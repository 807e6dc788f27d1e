"""What is open of a task between machines: its own, its timers, and the circle of `blocks` links
that it stands in (ADR 71)."""

from collections.abc import Mapping, Sequence
from typing import Any

from domain.agent.agent import AGENT
from domain.changes.change_set import CHANGES
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.links import CYCLE_SEARCH_MAX
from domain.journal.timer import TIMER
from domain.lessons.lessons import LESSONS
from domain.merging import Conflict, Side, open_cycles
from domain.policy.policy import POLICY
from domain.templates.template import TEMPLATE
from domain.world import MAIN, Kind, Recorded, World

OF_AGENTS: Mapping[str, Kind[Any]] = {
    one.name: one for one in (AGENT, CHANGES, TEMPLATE, POLICY, LESSONS)
}
"""What machines can differ on in the agent log, by the names of the kinds."""


def circle_of(world: World, task: str) -> Conflict | None:
    """The circle that a task stands in, each side's value the task that blocks and the blocked.

    Follows the links from the task on, to `CYCLE_SEARCH_MAX` tasks: of one that blocks nothing, no
    other is read. None in a world of one replica, which refuses circles.
    """
    if not world.is_merged:
        return None
    found: dict[str, Sequence[Recorded]] = {}
    ahead = [task]
    while ahead and len(found) < CYCLE_SEARCH_MAX:
        one = ahead.pop()
        blocked = blocked_by(world, one)
        found[one] = world.rows(TASK, one) if blocked else ()
        ahead += [to for to in blocked if to not in found]
    circles = open_cycles(found)
    return next((one for one in circles if any(task in ends(side) for side in one.sides)), None)


def blocked_by(world: World, task: str) -> list[str]:
    """What a task blocks; one that is deleted blocks nothing."""
    here = world.load(TASK, task)
    if here.is_deleted:
        return []
    return [to.target for to in here.links if to.relation == "blocks"]


def ends(side: Side) -> tuple[str, str]:
    """The task that blocks and the one that is blocked, of a side of a circle; of a side of a
    conflict of timers the task and its entry."""
    return side.value  # type: ignore[return-value]  # the merging put both there


def disputes_in(world: World, task: str) -> list[Conflict]:
    """All that is open of a task: what was said of its fields and parts, the timers where one of
    them is its own, and the circle of links that it stands in."""
    found = [one for one in world.disputes(TASK, task) if one.of_kind == TASK.name]
    for timers in world.disputes(TIMER, MAIN):
        found += [timers] if any(task == ends(one)[0] for one in timers.sides) else []
    circle = circle_of(world, task)
    return [*found, circle] if circle else found


def is_of_namesakes(world: World, conflict: Conflict) -> bool:
    """Whether things of one name differ, each side's value the id of one, and not a thing's
    name."""
    known = world.load(CATALOG, MAIN).categories
    return conflict.of_kind == CATALOG.name and all(one.value in known for one in conflict.sides)
