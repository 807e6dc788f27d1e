"""Homes that machines share, and the folder where they meet (ADR 70, 72), as a stranger to the code
sees them: with sqlite3, json, gzip and hashlib alone.

    python -m tests.support.checking.sharing FOLDER HOME...

Each finding is one line. Exit status 1 if there is any.
"""

import gzip
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.checking.erasing import gone
from tests.support.checking.logs import Append, Log, Raw, connected, decoded, entries, opened
from tests.support.checking.shape import MARKER, digest

NOT_YET = (".part", ".tmp")
SHARED = "log.shared.1"
Chains = Mapping[tuple[str, str], Mapping[int, str]]
"""By log and replica: the digest of each append."""


class Kept(NamedTuple):
    """What lies in a folder: chains that whole files offer, and names of files that are broken."""

    chains: Chains
    broken: Sequence[str]
    unfinished: Sequence[str]
    files: int


def chains(home: Path) -> Chains:
    """What a home holds."""
    found: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for log in _logs(home):
        for one in log.appends:
            found[log.name, one.replica][one.n] = digest(one)
    return found


def check(home: Path) -> Iterator[str]:
    """What is lost, doubled or half taken in a home."""
    for log in _logs(home):
        for told in log.of_file:
            if not told.startswith(("its format", "it has the tables")):
                yield f"{log.name}: {told}"
        if any(decoded(raw.state) is None for raw in log.raw):
            yield f"{log.name}: a state is no envelope"
        yield from _chain(log)
        yield from _versions(log)
        if any(raw.topic == SHARED for raw in log.raw):
            yield from _order(home, log)
            yield from _known(log)
        named = {
            value
            for _, row in log.rows
            for name, value in entries(row.doc)
            if name == "payload" and isinstance(value, str) and value
        }
        yield from (
            f"{log.name}: payload {one} is gone"
            for one in sorted(named - set(log.payloads) - gone(log))
        )


def kept(folder: Path) -> Kept:
    """What lies in a folder; each file is looked at whole."""
    found: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    broken, unfinished, count = list[str](), list[str](), 0
    for path in sorted(folder.glob("*/*")):
        name = f"{path.parent.name}/{path.name}"
        if path.name.endswith(NOT_YET) or path.name.startswith("."):
            unfinished.append(name)
            continue
        if path.name == "have.json":
            told, _, end = path.read_bytes().rpartition(b',\n  "sum": "')
            is_summed = end == f'{hashlib.sha256(told).hexdigest()}"\n}}\n'.encode()
            broken += [] if is_summed or not told else [f"{name}: its sum"]
            continue
        count += 1
        try:
            header, offered = _segment(path.read_bytes())
        except (OSError, EOFError, ValueError, KeyError, AssertionError) as error:
            broken.append(f"{name}: {error!r}")
            continue
        held = found[header["log"], header["replica"]]
        more = {one.n: digest(one) for one in offered}
        other = [n for n in more if held.get(n, more[n]) != more[n]]
        broken += [f"{name}: another append {n}" for n in other]
        held.update(more)
    return Kept(found, broken, unfinished, count)


def _segment(data: bytes) -> tuple[dict[str, Any], list[Append]]:
    lines = gzip.decompress(data).split(b"\n")
    assert lines.pop() == b"", "it does not end"
    end, header = json.loads(lines[-1]), json.loads(lines[0])
    body = b"\n".join([*lines[:-1], b""])
    assert end == {"end": len(lines) - 2, "sha256": hashlib.sha256(body).hexdigest()}, "its sum"
    rows = list[Raw]()
    for text in lines[1:-1]:
        if not text.startswith(b'{"payload"'):
            doc = json.loads(text)
            state = text[text.index(b'"state":') + len(b'"state":') : -1]
            rows.append(Raw(len(rows) + 1, doc["stream"], doc["version"], doc["tag"], state))
    log = Log(header["log"], rows, {})
    wrong = list(_chain(log, header["after"], header["prev"]))
    assert not wrong, wrong
    first, last = log.appends[0], log.appends[-1]
    assert (first.n, last.n, digest(last)) == (header["first"], header["last"], header["head"])
    assert {one.replica for one in log.appends} == {header["replica"]}
    return header, log.appends


def _logs(home: Path) -> tuple[Log, Log]:
    return opened(home).logs


def _chain(log: Log, after: int = 0, prev: str = "") -> Iterator[str]:
    """The appends of each replica are whole, in order, once, and linked."""
    last: dict[str, tuple[int, str]] = {}
    for one in log.appends:
        n, head = last.get(one.replica, (after, prev))
        if one.n <= n:
            yield f"{one.where} comes after append {n}"
        if one.first.doc.get("prev", "") != head:
            yield f"{one.where} does not follow append {n}"
        counted = [row.doc.get("row", 0) for row in one.rows]
        if counted != list(range(one.first.doc.get("rows", 0))):
            yield f"{one.where} is not whole: {counted}"
        last[one.replica] = one.n, digest(one)


def _versions(log: Log) -> Iterator[str]:
    last: Counter[str] = Counter()
    for raw in log.raw:
        if raw.version != last[raw.stream] + 1:
            yield f"{log.name}: {raw.stream} goes from {last[raw.stream]} to {raw.version}"
        last[raw.stream] = raw.version


def _order(home: Path, log: Log) -> Iterator[str]:
    """The table of appends says what stands in the file."""
    with closing(connected(home / f"{log.name}.db")) as file:
        told = set(file.execute("SELECT n, replica, first, rows, digest FROM appends"))
    first, counted = 1, set()
    for one in log.appends:
        counted.add((one.n, one.replica, first, len(one.rows), digest(one)))
        first += len(one.rows)
    if told != counted:
        yield f"{log.name}: the table of appends differs in {sorted(told ^ counted)[:3]}"


def _known(log: Log) -> Iterator[str]:
    """Of what came in, markers name all that tells something, and nothing that is not there."""
    own = next(one.replica for one in log.appends if one.first.topic == SHARED)
    held: dict[str, int] = {}
    named: dict[str, int] = {}
    tells: dict[str, int] = {}
    for one in log.appends:
        held[one.replica] = one.n
        if one.first.kind != "log":
            tells[one.replica] = one.n
        is_marker = one.first.topic == MARKER and one.replica == own
        for each in one.first.data["replicas"] if is_marker else ():
            name, n = each["replica"], each["n"]
            named[name] = max(named.get(name, 0), n)
            if n > held.get(name, 0):
                yield f"{one.where} names append {n} of {name}, which is not here"
    for name, n in tells.items():
        if name != own and n > named.get(name, 0):
            yield f"{log.name}: append {n} of {name} is here, and no marker names it"


def main(folder: Path, homes: Sequence[Path]) -> int:
    found = kept(folder)
    told = [*found.broken, *(f"{one.name}: {each}" for one in homes for each in check(one))]
    for one in told:
        sys.stdout.write(f"{one}\n")
    count = sum(len(chain) for chain in found.chains.values())
    sys.stdout.write(f"{found.files} files offer {count} appends; {len(told)} findings\n")
    return int(bool(told))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]]))
