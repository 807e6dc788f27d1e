"""What finds each single stored value of a home that was altered, the chain made to fit again.

    .venv/bin/python tests/bench/forgeries.py [--way WAY] [--count N] [--each]

A demo home is proved and anchored. Then one value after another is altered, the digests behind it
are made to fit by code of this file alone (sqlite3, json, hashlib), and the home is proved: by
`prove`, by `prove --since last`, and by `prove` with the anchor. Told is, for each kind of value,
how many were found by whom; those that nobody found stand below it, each (ADR 59).
"""

import argparse
import base64
import copy
import hashlib
import json
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import table
from tests.support.cli import FIXED, run

LOGS = ("journal.db", "agent.db")
COUNT = 420
Path_ = tuple[Any, ...]
"""Where a value stands in a document: names and places."""
Like = list[Any]
"""All that stands at this place in rows of this tag."""
Way = Callable[[Any, Any, Like], None]
"""``way(object, key, like)`` alters what stands there, or nothing."""


class Forgery(NamedTuple):
    """A value: of which kind it is, where, and what alters it."""

    kind: str
    where: str
    do: Callable[[Path], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=WAYS, default="other", help="How values are altered.")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--each", action="store_true", help="Tell of each, as it is tried.")
    asked = parser.parse_args()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    nobody: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wakelog-forged-") as folder:
        tried = Tried(Path(folder))
        for one in chosen(list(forgeries(tried.home, WAYS[asked.way])), asked.count):
            by = tried.found_by(one)
            who = "anchor alone" if by == ["anchor"] else ", ".join(by) or "nobody"
            found[one.kind][who] += 1
            nobody += [f"{one.kind}: {one.where}"] * (not by)
            if asked.each:
                print(f"{one.kind}: {one.where}: {who}", flush=True)
    every = sorted({who for counts in found.values() for who in counts})
    total = sum(found.values(), Counter[str]())
    found[f"all {sum(total.values())}"] = total
    rows = [(kind, *(str(counts[who] or "") for who in every)) for kind, counts in found.items()]
    table(["altered", *every], rows)
    print("\n".join(["Found by nobody:", *nobody]))


class Tried:
    """A home that is forged, proved, and put back as it was, with all that is remembered of it."""

    def __init__(self, folder: Path) -> None:
        self.home, self._kept = folder / "home", folder / "kept"
        self._anchor, self._cache = folder / "anchor", folder / "cache"
        made(self.home)
        assert self.proves("--anchor", str(self._anchor), "--new-anchor")
        for one in (self.home, self._cache):
            shutil.copytree(one, self._kept / one.name)
        shutil.copy(self._anchor, self._kept)

    def found_by(self, one: Forgery) -> list[str]:
        """Who finds a forgery."""
        anchored = ["--anchor", str(self._anchor)]
        ways = {"prove": [], "since last": ["--since", "last"], "anchor": anchored}
        found = []
        for name, args in ways.items():
            for folder in (self.home, self._cache):
                put_back(self._kept / folder.name, folder)
            shutil.copy(self._kept / "anchor", self._anchor)
            one.do(self.home)
            found += [name] * (not self.proves(*args))
        return found

    def proves(self, *args: str) -> bool:
        """Whether a proof says that all is well."""
        env = {**FIXED, "XDG_CACHE_HOME": str(self._cache)}
        return run(["--json", "prove", *args], self.home, env=env).exit_code == 0


def made(home: Path) -> None:
    """A home with a bit of everything."""
    run(["demo", "--no-open"], home)
    file = home.parent / "TODO.md"
    file.write_text("# House\n- [ ] Fix the tap #soon\n  - [ ] Buy a washer\n- [x] Paint\n")
    for args in (
        ["import", str(file)],
        ["agent", "create", "Fix the tap"],
        ["task", "note", "Fix the tap", "Takes about 60 minutes. Due by 2027-02-12. Urgent!"],
        ["wake"],
        ["confirm", "--all", "--yes"],
        ["undo", "--yes"],
        ["task", "timer", "start", "Fix the tap"],
        ["label", "assign", "Fix the tap", "soon"],
        ["policy", "allow", "gemini", "--yes"],
        ["agent", "timer", "Fix the tap", "set", "every day 07:00"],
    ):
        run(args, home)


def put_back(kept: Path, there: Path) -> None:
    """Make a folder what it was; its files stay where they are."""
    for one in [*there.rglob("*")]:
        if one.is_file():
            one.unlink()
    shutil.copytree(kept, there, dirs_exist_ok=True)


def chosen(every: list[Forgery], count: int) -> Iterator[Forgery]:
    """So many, of each kind as many as of any other where it has them, spread over all places."""
    kinds: dict[str, list[Forgery]] = {}
    for one in every:
        kinds.setdefault(one.kind, []).append(one)
    share, left = dict.fromkeys(kinds, 0), count
    while left > 0 and any(share[kind] < len(ones) for kind, ones in kinds.items()):
        for kind, ones in kinds.items():
            if share[kind] < len(ones) and left > 0:
                share[kind], left = share[kind] + 1, left - 1
    for kind, ones in kinds.items():
        for nth in range(share[kind]):
            yield ones[nth * len(ones) // share[kind]]


# ------------------------------------------------------------------------------------- forgeries


def other(place: Any, key: Any, _like: Like) -> None:
    place[key] = altered(place[key])


def like(place: Any, key: Any, like: Like) -> None:
    """What stands at this place of another row."""
    place[key] = next((one for one in like if one != place[key]), place[key])


def left_out(place: Any, key: Any, _like: Like) -> None:
    if isinstance(key, str):
        del place[key]


def later(place: Any, key: Any, _like: Like) -> None:
    """A microsecond later."""
    if isinstance(value := place[key], str) and value[26:] == "Z" and value[4] == "-":
        place[key] = f"{value[:19]}.{(int(value[20:26]) + 1) % 1_000_000:06}Z"


def zero(place: Any, key: Any, _like: Like) -> None:
    if type(place[key]) is int:
        place[key] = 0 if place[key] else 2


def more(place: Any, key: Any, _like: Like) -> None:
    """A field that no version has, once for each object."""
    if isinstance(place, dict) and key == next(iter(place)):
        place["zz"] = 1


WAYS = {one.__name__: one for one in (other, like, left_out, later, zero, more)}


def forgeries(home: Path, way: Way) -> Iterator[Forgery]:
    yield Forgery("nothing at all", "-", lambda _: None)
    for name in LOGS:
        log = name.removesuffix(".db")
        with closing(sqlite3.connect(home / name)) as opened:
            rows = opened.execute("SELECT rowid, topic, state FROM stored_events").fetchall()
            payloads = [one for (one,) in opened.execute("SELECT id FROM payloads")]
        documents = [(rowid, topic, json.loads(state)) for rowid, topic, state in rows]
        stand: dict[Path_, list[Any]] = defaultdict(list)
        for _, topic, document in documents:
            for path in leaves(document):
                stand[alike(topic, path)].append(at(document, path))
        for rowid, topic, document in documents:
            yield from of_row(name, rowid, topic, document, way, stand)
        if way is not other:
            continue
        for one in payloads:
            yield Forgery(f"{log}: payload bytes", one, payload_of(name, one))
            yield Forgery(f"{log}: payload gone", one, no_payload(name, one))
        yield Forgery(f"{log}: row behind all", log, behind(name))
        yield Forgery(f"{log}: last append gone", log, cut(name))
    if way is not other:
        return
    beside = ("settings.toml", "replica", "installation", "views.db", "runtime.db")
    for file in (one for one in beside if (home / one).exists()):
        yield Forgery("file beside", file, partial(other_file, file))
    yield Forgery("both logs: last appends gone", "both", cut_both)


def of_row(
    name: str, rowid: int, topic: str, state: Any, way: Way, stand: dict[Path_, list[Any]]
) -> Iterator[Forgery]:
    log = name.removesuffix(".db")
    where = f"{log} row {rowid} {topic}"
    if way is other:
        for column in ("originator_id", "originator_version", "topic"):
            yield Forgery(f"{log}: column {column}", where, column_of(name, rowid, column))
        yield Forgery(f"{log}: row gone", where, gone(name, rowid))
    for path in leaves(state):
        kind = f"{topic.partition('.')[0]} {'cause' if is_cause(path) else 'fact'}"
        kind = kind if path[0] == "data" else f"envelope {path[0]}"
        change = with_like(way, stand[alike(topic, path)])
        if path[-1] != "kind" and path != ("prev",) and changes(state, path, change):
            named = f"{where} {'.'.join(map(str, path))}"
            yield Forgery(f"{log}: {kind}", named, value_of(name, rowid, path, change))


def with_like(way: Way, like: Like) -> Callable[[Any, Any], None]:
    return lambda place, key: way(place, key, like)


def at(document: Any, path: Path_) -> Any:
    return reduce(lambda place, one: place[one], path, document)


def alike(topic: str, path: Path_) -> Path_:
    """Where a value stands, whatever its number in a list."""
    return (topic, *(one if isinstance(one, str) else 0 for one in path))


def changes(document: Any, path: Path_, change: Callable[[Any, Any], None]) -> bool:
    new = copy.deepcopy(document)
    change(at(new, path[:-1]), path[-1])
    return json.dumps(new) != json.dumps(document)


def is_cause(path: Path_) -> bool:
    return path[1:2] in (("command",), ("fact",), ("result",))


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in items:
        if isinstance(one, dict | list):
            yield from leaves(one, (*path, name))
        else:
            yield (*path, name)


def altered(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if value[:4].isdigit() and value[4:5] == "-":
            return f"{int(value[:4]) - 1:04}{value[4:]}"
        case str():
            return f"{value[:-1]}{'a' if value[-1:] != 'a' else 'b'}"
        case _:
            return "x"


def value_of(
    name: str, rowid: int, path: Path_, change: Callable[[Any, Any], None]
) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            ((state,),) = log.execute("SELECT state FROM stored_events WHERE rowid = ?", (rowid,))
            document = json.loads(state)
            change(at(document, path[:-1]), path[-1])
            write(log, rowid, document)

    return do


def column_of(name: str, rowid: int, column: str) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            sql = f"SELECT {column} FROM stored_events WHERE rowid = ?"
            ((value,),) = log.execute(sql, (rowid,))
            if column == "originator_id":  # of the same machine
                kind, _, replica = value.rpartition("@")
                new: Any = f"{altered(kind)}@{replica}"
            else:
                new = value + 100 if column == "originator_version" else altered(value)
            log.execute(f"UPDATE stored_events SET {column} = ? WHERE rowid = ?", (new, rowid))

    return do


def gone(name: str, rowid: int) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            log.execute("DELETE FROM stored_events WHERE rowid = ?", (rowid,))

    return do


def payload_of(name: str, one: str) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            ((data,),) = log.execute("SELECT bytes FROM payloads WHERE id = ?", (one,))
            new = bytes(data)[:-1] + (b"x" if bytes(data)[-1:] != b"x" else b"y")
            log.execute("UPDATE payloads SET bytes = ? WHERE id = ?", (new, one))

    return do


def no_payload(name: str, one: str) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            log.execute("DELETE FROM payloads WHERE id = ?", (one,))

    return do


def behind(name: str) -> Callable[[Path], None]:
    """One more row in the numbers of the second append, behind all others."""

    def do(home: Path) -> None:
        state = json.dumps({"n": 2, "row": 9, "data": {"kind": "task.retitled.1", "by": "person"}})
        with log_of(home, name) as log:
            sql = "INSERT INTO stored_events VALUES (?, 1, ?, ?)"
            log.execute(sql, ("task:forged@r1", "task.retitled.1", state.encode()))

    return do


def cut(name: str) -> Callable[[Path], None]:
    def do(home: Path) -> None:
        with log_of(home, name) as log:
            ((last,),) = log.execute("SELECT max(rowid) FROM stored_events")
            ((state,),) = log.execute("SELECT state FROM stored_events WHERE rowid = ?", (last,))
            first = last - json.loads(state).get("row", 0)
            log.execute("DELETE FROM stored_events WHERE rowid >= ?", (first,))

    return do


def cut_both(home: Path) -> None:
    for name in LOGS:
        cut(name)(home)


def other_file(name: str, home: Path) -> None:
    path = home / name
    data = path.read_bytes()
    path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])


# ------------------------------------------------------------------------------- the chain, anew


class log_of:  # noqa: N801  used as a function
    """A log that is written, and whose chain fits again when that is done."""

    def __init__(self, home: Path, name: str) -> None:
        self._log = sqlite3.connect(home / name)

    def __enter__(self) -> sqlite3.Connection:
        return self._log

    def __exit__(self, *error: object) -> None:
        fit(self._log)
        self._log.commit()
        self._log.close()


def write(log: sqlite3.Connection, rowid: int, document: Any) -> None:
    state = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    log.execute("UPDATE stored_events SET state = ? WHERE rowid = ?", (state, rowid))


def fit(log: sqlite3.Connection) -> None:
    """Give each append the digest of the one before it, and what an epoch says of it."""
    sql = "SELECT rowid, originator_id, originator_version, state FROM stored_events ORDER BY rowid"
    appends: list[list[Any]] = []
    for row in log.execute(sql).fetchall():
        if b'"at":"' in row[3][:8] or not appends:
            appends.append([])
        appends[-1].append(row)
    heads: dict[str, str] = {}
    for rows in appends:
        rowid, stream, version, state = rows[0]
        replica = stream.rpartition("@")[2]
        document = json.loads(state)
        if document.get("prev", "") != heads.get(replica, ""):
            document["prev"] = heads.get(replica, "")
            write(log, rowid, document)
            ((state,),) = log.execute("SELECT state FROM stored_events WHERE rowid = ?", (rowid,))
        heads[replica] = digest([(stream, version, state), *(one[1:] for one in rows[1:])])


def digest(rows: list[Any]) -> str:
    whole = hashlib.sha256()
    parts: list[bytes] = [b"append"]
    for stream, version, state in rows:
        parts += [stream.encode(), str(version).encode()]
        parts.append(hashlib.sha256(state).hexdigest().encode())
    for part in parts:
        whole.update(b"%d:" % len(part) + part)
    return base64.b32encode(whole.digest()[:20]).decode().lower()


if __name__ == "__main__":
    main()
