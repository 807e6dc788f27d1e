"""The worlds after an agent's wakes, and the first of them since which something holds."""

from collections.abc import Callable, Mapping

from adapters.timetravel.logs_at import Past
from projections.wakes import WakeDocument
from replay import at, bisect
from replay.world import WorldThen


def world_after(past: Past, wake: WakeDocument, names: Mapping[str, str]) -> WorldThen:
    """The world of a wake's task right after the wake; `names` are those of `at`."""
    last = past.agents.rows_of(f"wake:{wake.key}@{wake.replica}")[-1].n
    where = past.run(wake.key, wake.replica, 0, last).where
    return at.document(*past.worlds(where, wake.replica), [wake.task_id], names)


def first_since(count: int, holds: Callable[[int], bool]) -> int:
    """The first of so many wakes since which it holds; 0: not after the last one."""
    return bisect.bisect(count, holds).since
