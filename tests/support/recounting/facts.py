"""The rows of both logs, each with its place, and what is asked of them everywhere."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from tests.support.checking.logs import Doc, Home

Rows = list[Doc]
T = TypeVar("T")
TEXTS_OF = ("wake", "agent", "changes", "template", "task", "memory")
Prices = Mapping[str, Sequence[tuple[int, int, int | None, str]]]
"""By model: of input, of output, of cached input, and since which day; in millionths."""
TRIGGERS = ("alert.wake_queued", "alert.trigger_merged", "alert.trigger_suppressed")


class Fact(NamedTuple):
    """A row of a log; `tag` is without its version."""

    log: str
    replica: str
    n: int
    row_n: int
    rows: int
    at: datetime
    stream: str
    version: int
    topic: str
    data: Doc

    @property
    def kind(self) -> str:
        return self.stream.partition(":")[0]

    @property
    def entity(self) -> str:
        return self.stream.partition(":")[2].rpartition("@")[0]

    @property
    def tag(self) -> str:
        return self.topic.rpartition(".")[0]

    @property
    def what(self) -> str:
        return self.tag.partition(".")[2]

    @property
    def place(self) -> Doc:
        """Where it stands in its log, as columns."""
        return {"replica": self.replica, "n": self.n, "row_n": self.row_n}

    @property
    def spot(self) -> tuple[str, str, int, int]:
        return self.log, self.replica, self.n, self.row_n


def when(text: str | None) -> datetime | None:
    """A stored time as the tables have it: UTC, without saying so."""
    return datetime.fromisoformat(text).replace(tzinfo=None) if text else None


class Past:
    """All that both logs of a home hold."""

    def __init__(self, home: Home, prices: Prices) -> None:
        self.prices = prices
        self.rows = list(_facts(home))
        self.facts = [one for one in self.rows if one.topic != "erased.1"]
        self.payloads = {**home.journal.payloads, **home.agents.payloads}
        self.ends = {log.name: log.last() for log in home.logs}

    def of(self, *tags: str) -> Iterator[Fact]:
        """The rows with one of these tags, in order."""
        return (one for one in self.facts if one.tag in tags)

    def said(self, words: Doc | None) -> str | None:
        """A text that stands in a row or among the payloads; None: it is gone from there."""
        if words and words.get("payload"):
            data = self.payloads.get(words["payload"])
            return None if data is None else data.decode("utf-8", "replace")
        return str((words or {}).get("text", ""))

    def size(self, payload: str) -> int | None:
        data = self.payloads.get(payload)
        return None if data is None else len(data)


def _facts(home: Home) -> Iterator[Fact]:
    for log in home.logs:
        for append in log.appends:
            at = when(append.at)
            assert at is not None
            for row in append.rows:
                place = append.replica, append.n, row.doc.get("row", 0), row.doc.get("rows", 0)
                yield Fact(log.name, *place, at, row.stream, row.version, row.topic, row.data)


def grouped(rows: Iterable[T], by: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Rows by what they have in common, in the order in which that is first met."""
    found: dict[Any, list[T]] = {}
    for row in rows:
        found.setdefault(by(row), []).append(row)
    return found


def last(facts: Iterable[Fact], name: str, default: Any = None) -> Any:
    """The value that the last of the facts has which has one."""
    found = [one.data[name] for one in facts if name in one.data]
    return found[-1] if found else default


def known_sum(values: Iterable[Any]) -> Any:
    """The sum; None as soon as one is not known, or where there is none at all."""
    found = list(values)
    known = [one for one in found if one is not None]
    return sum(known) if found and len(known) == len(found) else None


def known_cost(values: Iterable[float | None]) -> float | None:
    """The same of amounts of money."""
    found = known_sum(values)
    return None if found is None else round(found, 12)


def indexed(rows: Iterable[Mapping[str, Any]], *names: str) -> dict[Any, Doc]:
    """Rows by the one or more columns that name them; of several the last one."""
    if len(names) == 1:
        return {row[names[0]]: dict(row) for row in rows}
    return {tuple(row[name] for name in names): dict(row) for row in rows}
