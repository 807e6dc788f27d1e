"""Law 9 on what is learnt and remembered: a lesson has its verdict, a rating its wake,
and a digest its notes, each under one, of which it says nothing but the beginnings."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tests.support.checking.logs import Append, Doc, Finding, Home, Log, Row, key

VERDICTS = ("confirming", "confirmed", "rejected", "deferred", "reopened", "undone")
STARS_MAX = 5
DIGEST_BYTES = {1: 752, 2: 952, 3: 1152}
"""Of its words, by depth: 48 bytes of 800, 1,000 and 1,200 are for its heading."""
LINE = re.compile(r"- \[(.{10})\] \((\w+)\) (.*)")
SECRET = "[secret: "
LEFT_OUT = "\nLeft out, among others: "


class _Note(NamedTuple):
    agent: str
    at: str
    priority: str
    text: str


class _Known:
    """What the rows of a log say that others rest on."""

    def __init__(self, log: Log) -> None:
        self.tools: dict[tuple[str, int], str] = {}
        self.given: defaultdict[tuple[str, int, str], list[Append]] = defaultdict(list)
        self.edited: set[tuple[str, int]] = set()
        self.runs: dict[str, str] = {}  # of sets
        self.begun: dict[str, Doc] = {}
        self.improves: dict[str, str] = {}  # template, by agent
        self.notes: dict[str, _Note] = {}
        self.named: dict[tuple[str, int, str], tuple[Append, str]] = {}  # category of the last
        for one, row in log.rows:
            self._take(log, one, row)

    def template_of(self, begun: Doc) -> str:
        """The template that a wake ran on, or that it improves."""
        return begun.get("template") or self.improves.get(begun["agent"], "")

    def _take(self, log: Log, one: Append, row: Row) -> None:
        data, what = row.data, row.topic.removeprefix("changes.item_").removesuffix(".1")
        if row.topic == "wake.started.1":
            self.begun.setdefault(row.entity, data)
        elif row.topic == "agent.created.1":
            kind, _, of = data.get("subject", "").partition(":")
            self.improves[row.entity] = of if kind == "template" else ""
        elif row.topic == "changes.opened.1":
            self.runs[row.entity] = data["runKey"]
        elif row.topic == "agent.observed.1":
            place = f"{one.n}-{row.doc.get('row', 0)}@{one.replica}"
            text = " ".join(log.words(data["words"]).split())
            self.notes[place] = _Note(row.entity, one.at, data["priority"], text)
        elif row.topic == "changes.item_proposed.1":
            self.tools[row.entity, data["item"]] = data["tool"]
        elif what in VERDICTS and not (what == "undone" and data.get("code")):
            self.given[row.entity, data["item"], what].append(one)
            if data.get("arguments"):
                self.edited.add((row.entity, data["item"]))
            said = data if what == "confirming" else one.command
            if what not in (
                "confirmed",
                "reopened",
                "undone",
            ):  # the intent names it; there may be no lesson
                verdict = "confirmed" if what == "confirming" else what
                self.named[row.entity, data["item"], verdict] = one, said.get("category", "")


def check(home: Home) -> Iterator[Finding]:
    """The agent log alone."""
    known, memory = _Known(home.agents), _Memory(home.agents)
    learnt: set[tuple[str, tuple[str, int, str]]] = set()
    for one, row in home.agents.rows:
        found: Iterator[str] = iter(())
        if row.topic == "lessons.decided.1":
            found = _lesson(one, row, known)
            learnt.add((row.entity, (row.data["changes"], row.data["item"], row.data["verdict"])))
        elif row.topic in ("lessons.rated.1", "lessons.ran.1"):
            found = _run(one, row, known)
        elif row.topic == "agent.observed.1":
            found = _resolved(row, known)
        elif row.topic == "memory.folded.1":
            found = memory.take(row, known)
        yield from (Finding(9, one.where, told) for told in found)
    for spot, (one, category) in known.named.items():
        if category and spot in known.given and (f"category:{category}", spot) not in learnt:
            yield Finding(9, one.where, f"nobody learns that item {spot[1]} is {spot[2]}")


def _lesson(one: Append, row: Row, known: _Known) -> Iterator[str]:
    data = row.data
    spot, verdict = (data["changes"], data["item"]), data["verdict"]
    if spot not in known.tools:
        yield f"a lesson on item {spot[1]} of {spot[0]}, which nobody proposed"
        return
    if known.tools[spot] != data["tool"]:
        yield f"a lesson on {data['tool']}, and the item is a {known.tools[spot]}"
    appends = known.given[(*spot, verdict)]
    if at := data.get("at"):
        decided = known.given[(*spot, "confirming" if verdict == "confirmed" else verdict)]
        is_so = bool(appends) and any(given.at == at for given in decided)
    else:
        is_so = one in appends
    if not is_so:
        yield f"a lesson that item {spot[1]} of {spot[0]} is {verdict}, and nobody said so then"
    if data.get("isEdited") and spot not in known.edited:
        yield f"a lesson on an edit of item {spot[1]} of {spot[0]}, which nobody edited"
    begun = known.begun.get(known.runs.get(spot[0], ""), {})
    template = data.get("template", "")
    if begun and template != known.template_of(begun):
        yield f"a lesson of the template {template or 'none'}, and the wake had another"
    if row.entity.startswith("template:") and row.entity != f"template:{template}":
        yield f"a lesson of the template {template or 'none'} stands in {row.entity}"


def _run(one: Append, row: Row, known: _Known) -> Iterator[str]:
    """A wake that is rated, or ended, ran on the template."""
    data, what = row.data, "rating" if row.topic == "lessons.rated.1" else "end"
    begun = known.begun.get(data["runKey"])
    if begun is None:
        yield f"a {what} of {data['runKey']}, which never began"
    elif row.entity != f"template:{known.template_of(begun)}":
        yield f"a {what} of {data['runKey']}, which ran on another template"
    if what == "rating" and not 1 <= data["stars"] <= STARS_MAX:
        yield f"a rating of {data['stars']} stars"
    ends = {end.entity: end.data["outcome"] for end in one.of("wake.finished.1")}
    if what == "end" and ends.get(data["runKey"]) != data["outcome"]:
        yield f"{data['runKey']} is told to be {data['outcome']} and did not end so here"


def _resolved(row: Row, known: _Known) -> Iterator[str]:
    for place in row.data.get("resolves", ()):
        note = known.notes.get(place)
        if note is None or (note.agent, note.priority) != (row.entity, "critical"):
            yield f"it settles {place}, which is no critical observation of the agent"


class _Memory:
    """Digests, in the order in which they were made."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.made: dict[tuple[str, str], Doc] = {}
        self.owner: dict[tuple[str, str, str], str] = {}  # replica, agent, source

    def take(self, row: Row, known: _Known) -> Iterator[str]:
        """What is wrong with one more digest."""
        data, agent = row.data, row.entity
        parts = (str(data["depth"]), data["first"], data["last"], str(data["contract"]))
        if data["id"] != key("memory", agent, *parts):
            yield f"the id of the digest {data['id']} is drawn"
        for source in data["sources"]:
            other = self.owner.setdefault((row.replica, agent, source), data["id"])
            if other != data["id"]:
                yield f"{source} is covered by the digests {other} and {data['id']}"
        self.made[agent, data["id"]] = data
        missing = [one for one in data["sources"] if not self._is_there(one, agent, data, known)]
        if missing:
            yield f"the digest {data['id']} names {missing[0]}, which the agent has not"
            return
        under = sorted(self._under(agent, data), key=_place)
        if [data["first"], data["last"], data["count"]] != [under[0], under[-1], len(under)]:
            yield f"the digest {data['id']} is of {len(under)} notes and says otherwise"
        yield from self._words(data, [known.notes[one] for one in under])

    def _is_there(self, source: str, agent: str, data: Doc, known: _Known) -> bool:
        if data["depth"] > 1:
            return source != data["id"] and (agent, source) in self.made
        return source in known.notes and known.notes[source].agent == agent

    def _under(self, agent: str, data: Doc) -> list[str]:
        """The places of the notes under a digest, through all that it took in."""
        if data["depth"] == 1:
            return list(data["sources"])
        inner = (self.made[agent, one] for one in data["sources"])
        return [place for one in inner for place in self._under(agent, one)]

    def _words(self, data: Doc, notes: list[_Note]) -> Iterator[str]:
        """Lines are beginnings of notes, at the end are words of them, if the text is there."""
        text = self.log.words(data["words"])
        if len(text.encode()) > DIGEST_BYTES[data["depth"]]:
            yield f"the digest {data['id']} has {len(text.encode())} bytes"
        told, _, rare = text.partition(LEFT_OUT)
        known = " ".join(note.text for note in notes).casefold()
        for word in rare.split(", "):
            if word not in known or (word and data["contract"] == 1):
                yield f"the digest {data['id']} invents the word {word!r}"
        *lines, last = told.split("\n")
        if LINE.fullmatch(last):
            lines.append(last)
        for line in lines:
            if not _begins(line, notes):
                yield f"the digest {data['id']} invents {line!r}"
        left = 0 if LINE.fullmatch(last) else sum(map(int, re.findall(r"(\d+) more", last)))
        if text and len(lines) + left != data["count"]:
            yield f"the digest {data['id']} tells of {len(lines) + left} of {data['count']} notes"


def _begins(line: str, notes: list[_Note]) -> bool:
    """Whether a line is the beginning of a note; behind a secret nothing is compared."""
    found = LINE.fullmatch(line)
    if found is None:
        return False
    day, priority, said = found.groups()
    said = said.partition(SECRET)[0]
    known = (one for one in notes if (one.at[:10], one.priority) == (day, priority))
    return any(one.text.startswith(said) for one in known)


def _place(place: str) -> tuple[int, str, int]:
    spot, _, replica = place.partition("@")
    n, _, row = spot.partition("-")
    return int(n), replica, int(row)
