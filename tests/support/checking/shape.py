"""Laws 1, 2 and 6 on the rows: their form, their numbers, their causes, and the chain."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator

from tests.support.checking.logs import Append, Doc, Finding, Home, Log, Raw, Row, decoded, key

AT = re.compile(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z")
STREAM = re.compile(r"([a-z]+):(.+)@([0-9A-Za-z_-]+)", re.DOTALL)
KINDS = {
    "journal": {"task", "links", "catalog", "timer", "day", "receipt", "log"},
    "agent": {
        "agent",
        "alert",
        "subs",
        "wake",
        "changes",
        "template",
        "policy",
        "lessons",
        "memory",
        "watch",
        "receipt",
        "log",
    },
}
MAIN = {"catalog", "timer", "policy", "watch", "log"}
REPLIES = {
    "wake.model_answered.1",
    "wake.model_failed.1",
    "wake.tool_returned.1",
    "wake.late_reply.1",
    "changes.item_confirmed.1",
    "changes.item_failed.1",
    "changes.suppression_done.1",
    "changes.lift_done.1",
    "changes.item_undone.1",
}
MARKER = "log.imported.1"
MARK, MADE = "erased.1", ("erasure.made.1", "retention.made.1")
ANYWHERE = ("erased", "erasure", "retention")


def check(home: Home) -> Iterator[Finding]:
    """Everything about rows that needs no knowledge of what they say."""
    for log in home.logs:
        yield from _file(log)
        for raw in log.raw:
            yield from _row(log, raw)
        yield from _versions(log)
        yield from _numbers(log)
        yield from _chain(log)
        for one in log.appends:
            yield from _cause(log, one)
        yield from _receipts(log)


def heads(log: Log) -> dict[str, str]:
    """The digest of each replica's newest append."""
    return {f"{log.name}:{one.replica}": digest(one) for one in log.appends}


def log_digest(home: Home) -> str:
    """One digest for both logs, as `wakelog prove` prints it."""
    known = {name: head for log in home.logs for name, head in heads(log).items()}
    return key("log", *(f"{name}={head}" for name, head in sorted(known.items())))


def digest(one: Append) -> str:
    """What the next append of the same replica carries as `prev`."""
    parts = [part for row in one.rows for part in (row.stream, str(row.version), _sha(row))]
    return key("append", *parts)


def _sha(row: Row) -> str:
    """The digest of a row; that of one that was erased stands in its mark."""
    known: str = row.data.get("sha256", "") if row.topic == MARK else ""
    return known or hashlib.sha256(row.state).hexdigest()


def _file(log: Log) -> Iterator[Finding]:
    for told in log.of_file:
        yield Finding(0, log.name, told)
    for expected, raw in enumerate(log.raw, 1):
        if raw.rowid != expected:
            yield Finding(1, log.name, f"row {expected} of the file is gone")
            return


def _row(log: Log, raw: Raw) -> Iterator[Finding]:
    """A row's stream, and the form of its envelope, byte by byte."""
    where = f"{log.name}: {raw.stream} {raw.version}"
    doc = decoded(raw.state)
    if doc is None:
        yield Finding(0, where, f"its state is no envelope: {raw.state[:60]!r}")
        return
    compact = json.dumps(doc, separators=(",", ":"), ensure_ascii=False).encode()
    if compact != raw.state:
        yield Finding(0, where, "its state is not compact JSON")
    if doc["data"].get("kind") != raw.topic:
        yield Finding(0, where, f"its topic is {raw.topic}, its fact {doc['data'].get('kind')}")
    yield from (Finding(0, where, told) for told in _envelope(doc))
    named = STREAM.fullmatch(raw.stream)
    if named is None or named[1] not in KINDS[log.name]:
        yield Finding(7, where, f"the {log.name} log has no such stream")
        return
    if named[1] in MAIN and named[2] != "main":
        yield Finding(0, where, "the one stream of its kind is called main")
    if raw.topic.partition(".")[0] not in (named[1], *ANYWHERE):
        yield Finding(0, where, f"{raw.topic} does not belong there")


def _envelope(doc: Doc) -> Iterator[str]:
    names = list(doc)
    if "row" in doc:
        if names != ["n", "row", "data"]:
            yield f"it has the fields {names}"
        return
    if names not in (["at", "n", "rows", "prev", "data"], ["at", "n", "rows", "data"]):
        yield f"it has the fields {names}"
    if not AT.fullmatch(str(doc.get("at"))):
        yield f"its time is {doc.get('at')!r}"


def _versions(log: Log) -> Iterator[Finding]:
    """The versions of each stream count from 1, in the order of the rows."""
    last: Counter[str] = Counter()
    for raw in log.raw:
        if raw.version != last[raw.stream] + 1:
            told = f"version {raw.version} follows version {last[raw.stream]}"
            yield Finding(1, f"{log.name}: {raw.stream}", told)
        last[raw.stream] = raw.version


def _numbers(log: Log) -> Iterator[Finding]:
    """Appends are numbered without a gap, their rows counted, and time does not go back."""
    last: dict[str, Append] = {}
    greatest = 0
    for one in log.appends:
        before = last.get(one.replica)
        marks = one.first.topic == MARKER
        lost = one.first.data.get("givenUp", ()) if marks else ()
        greatest = max([greatest, *(known["until"] for known in lost)])
        expected = greatest + 1 if marks or before is None else before.n + 1
        if one.n != expected:
            yield Finding(1, one.where, f"append {expected} is missing or out of order")
        if before is not None and one.at < before.at:
            yield Finding(1, one.where, f"time goes back from {before.at} to {one.at}")
        if before is None and greatest and not marks:
            yield Finding(1, one.where, "a second replica begins without a marker")
        if [row.doc.get("row", 0) for row in one.rows] != list(range(len(one.rows))):
            yield Finding(1, one.where, "its rows are not counted from 0")
        if len(one.rows) != one.first.doc.get("rows"):
            told = f"it has {len(one.rows)} rows of {one.first.doc.get('rows')}"
            yield Finding(1, one.where, told)
        if len({row.replica for row in one.rows}) > 1:
            yield Finding(1, one.where, "it writes to streams of two replicas")
        last[one.replica] = one
        greatest = max(greatest, one.n)


def _chain(log: Log) -> Iterator[Finding]:
    last: dict[str, str] = {}
    for one in log.appends:
        if one.first.doc.get("prev", "") != last.get(one.replica, ""):
            yield Finding(6, one.where, "it carries another digest than that of the append before")
        last[one.replica] = digest(one)


def _cause(log: Log, one: Append) -> Iterator[Finding]:
    """The first row is a receipt, a recorded reply, or a log fact that stands alone."""
    first = one.first
    if first.topic == MARK:
        return
    is_cause = first.kind in ("receipt", "log") or first.topic in REPLIES
    if not is_cause:
        yield Finding(2, one.where, f"it begins with {first.topic}, which is no cause")
    for row in one.rows[1:]:
        if row.kind in ("receipt", "log") and row.topic not in MADE:
            yield Finding(2, one.where, f"{row.topic} does not begin its append")
    if first.kind == "log" and len(one.rows) > 1:
        yield Finding(2, one.where, "a log fact does not stand alone")
    if first.kind != "receipt":
        return
    if set(first.data) - {"kind", "command", "result"} or not one.does:
        yield Finding(2, one.where, "its receipt does not hold a command and a result")
    if len(one.rows) == 1 and first.entity == key("command", log.name, one.replica, str(one.n)):
        yield Finding(2, one.where, "a command that nobody brought a key for decided nothing")


def _receipts(log: Log) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for one in log.appends:
        if one.first.kind != "receipt":
            continue
        entity = one.first.entity
        if entity in seen:
            yield Finding(2, one.where, f"the key {entity} was used by {seen[entity]}")
        seen[entity] = one.where
