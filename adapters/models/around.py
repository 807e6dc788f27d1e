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
_TOLD = ("- fp=", "- confirmed: ", "- rejected: ", "- deferred: ")


class Named(Struct, frozen=True):
    """Another task. `relation`: as it is seen from the own task, if it is linked."""

    id: str
    title: str
    relation: str = ""


class Around(Struct, frozen=True):
    """`now` and the spans of `spent` are what the person's clock shows, YYYY-MM-DDTHH:MM.

    `told`: the lines about proposals, open ones and decided ones; `noted`: when something was
    written into the agent's journal, and what.
    """

    now: str = ""
    offset: str = ""
    spent: tuple[tuple[str, str], ...] = ()
    linked: tuple[Named, ...] = ()
    told: tuple[str, ...] = ()
    noted: tuple[tuple[str, str], ...] = ()

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
    return Around(
        now=f"{clock[1]}T{clock[2]}" if clock else "",
        offset=clock[3] if clock else "",
        spent=tuple(_span(one) for one in map(_SPENT.match, _lines(sections, "time")) if one),
        linked=tuple(one for line in _lines(sections, "linked") for one in named(line)),
        told=tuple(fold(one) for one in _lines(sections, "proposals") if one.startswith(_TOLD)),
        noted=tuple((one[1], fold(one[2])) for one in map(_NOTED.match, journal) if one),
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
        Named(str(one["id"]), str(one["title"]), str(one.get("relation", "")))
        for one in tasks
        if isinstance(one, dict) and one.get("id") and one.get("title")
    ]


def _lines(sections: Mapping[str, str], name: str) -> list[str]:
    return sections.get(name, "").splitlines()[:LINES_MAX]


def _span(found: re.Match[str]) -> tuple[str, str]:
    day = found["day"]
    return day + found["start"], (found["last"] or day) + found["end"]
