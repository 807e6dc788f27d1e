"""A person's days in memory: see `tests.support.lone`."""

from adapters.store.log import Log
from domain.agent.deciders import DAY_AGENT
from domain.journal import day as d
from domain.journal.day import DAY, Day
from tests.support.lone import (
    HEALTH,
    HOME,
    MORNING,
    TODAY,
    WORK,
    ZONE,
    Lone,
    lone_agent,
    with_tasks,
)
from tests.support.scripted_wakes import call

NOW = "08:00"
"""What the clock shows there, that morning."""


class Planner(Lone):
    """One that plans days."""

    def day(self, date: str = TODAY) -> Day:
        with self.at.journal.reading() as world:
            return world.load(DAY, date)

    def spans(self, date: str = TODAY) -> list[str]:
        return [f"{one.start}-{one.end} {one.by[:5]}" for one in self.day(date).blocks]

    def put(self, start: str, end: str, **given: str) -> str:
        """A block of the person's own."""
        command = d.PutBlock(TODAY, start, end, **({"title": "Mine"} | given))
        return self.at.append_journal(command).result.ids[0]

    def proposes(self, *blocks: str, words: str = "") -> list[str]:
        """A wake that proposes blocks, "Title 09:00-10:00"; what it is told of them."""
        wake = self.wakes(self.blocks(*blocks), words=words)
        return self.told(wake)[0].split("\n")

    def blocks(self, *blocks: str) -> tuple[str, str]:
        """The call that proposes blocks."""
        parts = [one.rsplit(" ", 1) for one in blocks]
        asked = [
            {"taskId": self.tasks.get(title, title), "start": span[:5], "end": span[6:]}
            for title, span in parts
        ]
        return call("propose_blocks", blocks=asked)


def planner(
    *titles: str, categories: tuple[str, ...] = (HOME, WORK), journal: Log | None = None
) -> Planner:
    """An agent that may read two categories; a task of each title, "Title @Category"."""
    at, tasks = with_tasks(*titles, journal=journal)
    return Planner(at, lone_agent(at, DAY_AGENT, "home", categories, "Day"), tasks)


__all__ = [
    "HEALTH",
    "HOME",
    "MORNING",
    "NOW",
    "TODAY",
    "WORK",
    "ZONE",
    "Planner",
    "planner",
]
