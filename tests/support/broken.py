"""Homes that are broken on purpose, for tests of the checker: rows are taken out, doubled or
altered, and numbers, versions and the chain put right again, so that finer checks are reached."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.checking.logs import Append, Doc, Home, Log, Raw, decoded, opened
from tests.support.checking.shape import digest


class Fact(NamedTuple):
    """A row before it is put into its envelope."""

    stream: str
    data: Doc

    @property
    def topic(self) -> str:
        return str(self.data["kind"])


class Written:
    """One append as it will be written."""

    def __init__(self, one: Append) -> None:
        self.n, self.at, self.replica = one.n, one.at, one.replica
        self.facts = [Fact(row.stream, deepcopy(row.data)) for row in one.rows]


Place = tuple[Written, int]


class Broken:
    """A home whose rows can be changed before they are written anew."""

    def __init__(self, path: Path) -> None:
        home = opened(path)
        self.folder = home.folder
        self.logs = {log.name: [Written(one) for one in log.appends] for log in home.logs}
        self.payloads = {**home.journal.payloads, **home.agents.payloads}  # of both, as there

    def find(self, topic: str, **fields: Any) -> Place:
        """The first row with a tag and these fields, and its place in its append."""
        return self.all(topic, **fields)[0]

    def all(self, topic: str, **fields: Any) -> list[Place]:
        """All rows with a tag and these fields."""
        return [
            (one, place)
            for appends in self.logs.values()
            for one in appends
            for place, fact in enumerate(one.facts)
            if fact.topic == topic
            and all(fact.data.get(name) == value for name, value in fields.items())
        ]

    def data(self, topic: str, **fields: Any) -> Doc:
        """The fact of the first such row, to be changed."""
        one, place = self.find(topic, **fields)
        return one.facts[place].data

    def drop(self, topic: str, **fields: Any) -> None:
        """Take the first such row out."""
        one, place = self.find(topic, **fields)
        del one.facts[place]

    def cut(self, log: str, count: int) -> None:
        """Take the last appends away."""
        del self.logs[log][-count:]

    def home(self, spoil: Callable[[list[Raw]], None] | None = None) -> Home:
        """The home, put in order again; then its journal's and agent log's rows are spoiled."""
        logs = [Log(name, _written(one, name), self.payloads) for name, one in self._both()]
        if spoil is not None:
            for place, log in enumerate(logs):
                raw = list(log.raw)
                spoil(raw)
                logs[place] = Log(log.name, raw, log.payloads)
        journal, agents = logs
        return Home(self.folder, journal, agents)

    def _both(self) -> list[tuple[str, list[Written]]]:
        return [(name, self.logs[name]) for name in ("journal", "agent")]


def _written(appends: list[Written], log: str) -> list[Raw]:
    versions: Counter[str] = Counter()
    heads: dict[str, str] = {}
    rows: list[Raw] = []
    for one in appends:
        first = len(rows)
        for place, (stream, data) in enumerate(one.facts):
            versions[stream] += 1
            head = heads.get(one.replica, "")
            doc: Doc = {"n": one.n, "row": place, "data": data}
            if place == 0:
                doc = {"at": one.at, "n": one.n, "rows": len(one.facts), "prev": head, "data": data}
            if not doc.get("prev", "-"):
                del doc["prev"]
            spot = len(rows) + 1, stream, versions[stream], data["kind"]
            rows.append(Raw(*spot, compact(doc)))
        heads.update({one.replica: digest(_append(log, rows[first:]))} if rows[first:] else {})
    return rows


def _append(log: str, rows: list[Raw]) -> Append:
    return Log(log, rows, {}).appends[0]


def compact(doc: Doc) -> bytes:
    """JSON as it is stored."""
    return json.dumps(doc, separators=(",", ":"), ensure_ascii=False).encode()


def altered(raw: Raw, **fields: Any) -> Raw:
    """A row with other data, and nothing else put right."""
    doc = decoded(raw.state) or {}
    return raw._replace(state=compact({**doc, "data": {**doc["data"], **fields}}))
