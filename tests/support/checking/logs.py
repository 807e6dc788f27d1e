"""Both logs of a home as they stand in their files (DESIGN 4), and how things are named there."""

import base64
import gzip
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

Doc = dict[str, Any]
SHARED = "shared"
NAMES = ("journal", "agent")
FORMAT = 1
ERASED_FORMAT = 3  # of a file in which rows were erased
TABLES = ["payloads", "stored_events"]
_ROWS = "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"


class Finding(NamedTuple):
    """Something in a home that a law forbids; `law` 0: the files are not what DESIGN 4 says."""

    law: int
    where: str
    what: str

    def __str__(self) -> str:
        return f"law {self.law}: {self.where}: {self.what}"


def key(what: str, *parts: str | bytes) -> str:
    """`H`: SHA-256 over length-prefixed parts, its first 160 bits in lower-case base32."""
    digest = hashlib.sha256()
    for part in (what, *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data) + data)
    return base64.b32encode(digest.digest()[:20]).decode().lower()


def canonical(value: Any) -> str:
    """Canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def folded(text: str) -> str:
    """A text as ids are made of it: without case, its white space as single spaces."""
    return " ".join(text.split()).casefold()


class Row(NamedTuple):
    """A row that can be read. `doc` is its whole envelope, `data` the fact."""

    stream: str
    version: int
    topic: str
    state: bytes
    doc: Doc

    @property
    def kind(self) -> str:
        return self.stream.partition(":")[0]

    @property
    def entity(self) -> str:
        return self.stream.partition(":")[2].rpartition("@")[0]

    @property
    def replica(self) -> str:
        return self.stream.rpartition("@")[2]

    @property
    def data(self) -> Doc:
        found: Doc = self.doc["data"]
        return found


class Append:
    """The rows of one append, in order."""

    def __init__(self, log: str, first: Row) -> None:
        self.rows = [first]
        self.replica = first.replica
        self.n: int = first.doc["n"]
        self.at: str = first.doc.get("at", "")
        self.where = f"{log}:{self.replica}:{self.n}"

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def command(self) -> Doc:
        """The command that caused it; empty where it was caused by a reply or a log fact."""
        found: Doc = self.first.data.get("command", {})
        return found

    @property
    def does(self) -> str:
        """The name of the command, ``begin_wake`` for example; empty for none."""
        tag: str = self.command.get("kind", "")
        return tag.removeprefix("command.").removesuffix(".1")

    def of(self, *topics: str) -> Iterator[Row]:
        """The rows with one of these tags."""
        return (row for row in self.rows if row.topic in topics)


class Raw(NamedTuple):
    """A row as the file has it."""

    rowid: int
    stream: str
    version: int
    topic: str
    state: bytes


class Log:
    """One of the two logs: all of its rows, as they are and, where they can be read, as facts."""

    def __init__(self, name: str, raw: list[Raw], payloads: dict[str, bytes]) -> None:
        self.name = name
        self.raw = raw
        self.payloads = payloads
        self.appends = list(_appends(name, raw))
        self.of_file: list[str] = []  # what is wrong with the file itself

    @property
    def rows(self) -> Iterator[tuple[Append, Row]]:
        """All rows that can be read, with their appends."""
        return ((one, row) for one in self.appends for row in one.rows)

    def last(self, replica: str = "") -> int:
        """The greatest `n`, of one replica or of all."""
        known = (one.n for one in self.appends if replica in ("", one.replica))
        return max(known, default=0)

    def words(self, value: Doc | None) -> str:
        """A text that stands in a row or, where it is long, among the payloads."""
        if not value:
            return ""
        if named := value.get("payload"):
            return self.payloads.get(named, b"").decode("utf-8", "replace")
        text: str = value.get("text", "")
        return text


class Home(NamedTuple):
    """A home. `is_settled`: nothing is under way any more, so nothing may be left undone.
    `is_backup`: the agent log was copied first, so the journal may know more."""

    folder: Path
    journal: Log
    agents: Log
    is_settled: bool = False
    is_backup: bool = False

    @property
    def logs(self) -> tuple[Log, Log]:
        return self.journal, self.agents


def opened(folder: Path, *, is_settled: bool = False, is_backup: bool = False) -> Home:
    """Read a home, which is left as it is, or a history, both logs as one JSON Lines file."""
    if folder.is_file():
        return Home(folder, *_history(folder), is_settled, is_backup)
    agents = _log("agent", folder / "agent.db")  # first, as a backup does
    journal = _log("journal", folder / "journal.db")
    return Home(folder, journal, agents, is_settled, is_backup)


def _log(name: str, path: Path) -> Log:
    """A log as its file has it, in one transaction."""
    try:
        with closing(connected(path)) as file:
            file.execute("BEGIN")
            return _read(name, file)
    except sqlite3.DatabaseError as error:
        log = Log(name, [], {})
        log.of_file.append(f"SQLite cannot read it: {error}")
        return log


def connected(path: Path) -> sqlite3.Connection:
    """A file to be read by SQL. One that nobody has open is left without a trace."""
    is_open = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if is_open else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{path}?{how}", uri=True)


def _read(name: str, file: sqlite3.Connection) -> Log:
    tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    found = sorted(table for (table,) in tables)
    said = file.execute("PRAGMA integrity_check").fetchone()[0]
    form = file.execute("PRAGMA user_version").fetchone()[0]
    rows = file.execute(f"{_ROWS} ORDER BY rowid")
    payloads = dict(file.execute("SELECT id, bytes FROM payloads ORDER BY rowid"))
    log = Log(name, [Raw(*row) for row in rows], payloads)
    log.of_file += [] if said == "ok" else [f"SQLite says {said}"]
    log.of_file += [] if found == TABLES else [f"it has the tables {found}"]
    is_erased = any(raw.topic in ("erased.1", "retention.made.1") for raw in log.raw)
    expected = ERASED_FORMAT if is_erased else FORMAT
    log.of_file += [] if form == expected else [f"its format is {form}"]
    return log


def _history(path: Path) -> tuple[Log, Log]:
    """Both logs of a history. It keeps their payloads together."""
    raw: dict[str, list[Raw]] = {name: [] for name in NAMES}
    payloads: dict[str, bytes] = {}
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            if "payload" in line:
                is_text = "text" in line
                data = line["text"].encode() if is_text else base64.b64decode(line["base64"])
                payloads[line["payload"]] = data
            elif "log" in line:
                rows = raw[line["log"]]
                spot = line["stream"], line["version"], line["topic"]
                rows.append(Raw(len(rows) + 1, *spot, line["state"].encode()))
    journal, agents = (Log(name, raw[name], payloads) for name in NAMES)
    return journal, agents


def decoded(state: bytes) -> Doc | None:
    """A row's envelope; None where it is none."""
    try:
        doc = json.loads(state, object_pairs_hook=_once)
    except ValueError:
        return None
    is_one = isinstance(doc, dict) and isinstance(doc.get("n"), int)
    return doc if is_one and isinstance(doc.get("data"), dict) else None


def _once(pairs: list[tuple[str, Any]]) -> Doc:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _appends(log: str, rows: Iterable[Raw]) -> Iterator[Append]:
    """Rows, append by append: one begins where `n` or the replica changes, or a row is the 0th."""
    found: Append | None = None
    for raw in rows:
        doc = decoded(raw.state)
        if doc is None:
            continue  # told by `checking.shape`
        row = Row(raw.stream, raw.version, raw.topic, raw.state, doc)
        goes_on = found and (doc["n"], row.replica) == (found.n, found.replica) and doc.get("row")
        if found and goes_on:
            found.rows.append(row)
            continue
        if found:
            yield found
        found = Append(log, row)
    if found:
        yield found


def entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every named value within a document, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from entries(inner)
