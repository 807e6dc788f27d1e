"""What was erased (ADR 107): marks are just the rows that lists name, as they were then."""

import json
import re
from collections.abc import Iterator

from tests.support.checking.logs import Append, Finding, Home, Log, Row, key

MARK = "erased.1"
SHA = re.compile(r"[0-9a-f]{64}")


def is_erased(home: Home) -> bool:
    """Whether rows of a home were erased: then the other laws cannot be counted any more."""
    return any(row.topic == MARK for log in home.logs for _, row in log.rows)


def lists(log: Log) -> Iterator[tuple[Append, list[tuple[str, int, int]], list[str]]]:
    """Each erasure of a log, with the rows and the payloads that it lists."""
    for one, row in log.rows:
        if row.topic == "erasure.made.1":
            listed = json.loads(log.payloads[row.data["listed"]])
            rows = [(name, n, nth) for name, n, nths in listed["rows"] for nth in nths]
            yield one, rows, listed["payloads"]


def gone(log: Log) -> set[str]:
    """The payloads that erasures list, and those that retentions cover: prompts and snapshots of
    wakes that began before, and bytes of replies of before."""
    erased = {name for _, _, names in lists(log) for name in names}
    until = {"prompts": "", "replies": ""}
    for _, row in log.rows:
        if row.topic == "retention.made.1":
            until[row.data["what"]] = max(until[row.data["what"]], row.data["until"])
    covered, living = set[str](), set[str]()
    for one, row in log.rows:
        if row.topic == "wake.started.1":
            refs = [ref["payload"] for ref in (*row.data["system"], *row.data["user"])]
            found = covered if one.at < until["prompts"] else living
            found.update([row.data["snapshot"], *refs])
        said = row.data.get("reply") if row.topic == "wake.late_reply.1" else row.data
        if isinstance(said, dict) and isinstance(said.get("reply"), str):
            (covered if one.at < until["replies"] else living).add(said["reply"])
    return erased | (covered - living)


def check(home: Home) -> Iterator[Finding]:
    """Marks and lists of both logs."""
    for log in home.logs:
        found = {
            (one.replica, one.n, nth): (one, row)
            for one in log.appends
            for nth, row in enumerate(one.rows)
            if row.topic == MARK
        }
        every = [place for _, rows, _ in lists(log) for place in rows]
        for place in found.keys() - {*every}:
            yield Finding(6, log.name, f"no erasure lists the mark {place}")
        for place in {*every} - found.keys():
            yield Finding(6, log.name, f"{place} is listed as erased and is no mark")
        for one, rows, _ in lists(log):
            parts = [part for place in rows for part in _parts(*found[place])]
            if one.command["digest"] != key("erasure", *parts):
                yield Finding(6, one.where, "its digest is not that of the marks that it lists")


def _parts(one: Append, row: Row) -> list[str]:
    data = row.data
    assert set(data) == {"kind", "was", "sha256"}
    assert SHA.fullmatch(data["sha256"])
    place = [one.replica, str(one.n), str(row.doc.get("row", 0)), row.stream, str(row.version)]
    return [*place, one.at, data["was"], data["sha256"]]
