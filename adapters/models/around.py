"""What the rules model reads around the task: the person's clock, time spent, linked tasks.

Of prompts since scaffold 2; tolerant and bounded like `adapters.models.reading`.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from domain import canonical
from domain.errors import Refused
from domain.local_times import wall
from domain.text import fold

LINES_MAX = 1_000

_NOW = re.compile(r"\w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d), \S{1,80} \(UTC([+-]\d\d:\d\d)\)")
_SPENT = re.compile(
    r"- \S{1,80} (?P<day>\d{4}-\d\d-\d\dT)(?P<start>\d\d:\d\d) to "
    r"(?P<last>\d{4}-\d\d-\d\dT)?(?P<end>\d\d:\d\d), \d"
)
_NOTED = re.compile(r"- (?:[0-9]+-[0-9]+\S* )?\[([^\]]{1,40})\] \(\w{1,20}\) (.*)")
_REPORTED = re.compile(r"^Written at (\d{4}-\d\d-\d\dT\S{1,20})\.$", re.MULTILINE)
_LOOPS = re.compile(r"^Open loops:\n((?:- .*\n?)+)", re.MULTILINE)
_TOLD = ("- fp=", "- confirmed: ", "- rejected: ", "- deferred: ")


class Named(Struct, frozen=True):
    """Another task. `relation`: as it is seen from the own task, if it is linked."""

    id: str
    title: str
    relation: str = ""
    status: str = ""


class Around(Struct, frozen=True):
    """`now` and the spans of `spent` are what the person's clock shows, YYYY-MM-DDTHH:MM.

    `told`: the lines about proposals, open ones and decided ones; `noted`: when something was
    written into the agent's journal, and what. `loops`: what the person keeps open;
    `reported_at`: when the agent's report was written, empty before its first one.
    """

    now: str = ""
    offset: str = ""
    spent: tuple[tuple[str, str], ...] = ()
    linked: tuple[Named, ...] = ()
    told: tuple[str, ...] = ()
    noted: tuple[tuple[str, str], ...] = ()
    loops: tuple[str, ...] = ()
    reported_at: str = ""

    def local(self, at: str) -> str:
        """What the person's clock showed then; empty without a clock."""
        return wall(at, self.offset) if self.offset and at else ""

    def remembers(self, what: str, at: str) -> bool:
        """Whether the journal holds these words since a text was written."""
        return bool(at) and any(at <= then and fold(what) in text for then, text in self.noted)

    def tells(self, *parts: str) -> bool:
        """Whether a line about proposals holds all of these."""
        return any(all(fold(part) in line for part in parts) for line in self.told)


def read(sections: Mapping[str, str]) -> Around:
    """Read it from the texts of sections, by their names."""
    clock = _NOW.search(sections.get("now", ""))
    journal = _lines(sections, "journal")
    reported = _REPORTED.search(sections.get("report", ""))
    loops = _LOOPS.search(sections.get("goal", ""))
    return Around(
        now=f"{clock[1]}T{clock[2]}" if clock else "",
        offset=clock[3] if clock else "",
        spent=tuple(_span(one) for one in map(_SPENT.match, _lines(sections, "time")) if one),
        linked=tuple(one for line in _lines(sections, "linked") for one in named(line)),
        told=tuple(fold(one) for one in _lines(sections, "proposals") if one.startswith(_TOLD)),
        noted=tuple((one[1], fold(one[2])) for one in map(_NOTED.match, journal) if one),
        loops=tuple(one[2:] for one in loops[1].splitlines()[:LINES_MAX]) if loops else (),
        reported_at=reported[1] if reported else "",
    )


def named(text: str) -> list[Named]:
    """The tasks of a JSON text: one of its own, or those of the answer to a read."""
    try:
        given = canonical.read(text)
    except Refused:
        return []
    if not isinstance(given, dict):
        return []
    tasks = given["tasks"] if isinstance(given.get("tasks"), list) else [given]
    return [
        Named(*(str(one.get(name, "")) for name in ("id", "title", "relation", "status")))
        for one in tasks
        if isinstance(one, dict) and one.get("id") and one.get("title")
    ]


def _lines(sections: Mapping[str, str], name: str) -> list[str]:
    return sections.get(name, "").splitlines()[:LINES_MAX]


def _span(found: re.Match[str]) -> tuple[str, str]:
    day = found["day"]
    return day + found["start"], (found["last"] or day) + found["end"]
