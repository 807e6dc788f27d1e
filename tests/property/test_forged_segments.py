"""Who alters a file of a machine, even with a sum, links and a name that fit, is found out: it is
not taken, the chain is told as forked, its writer refuses, or a proof finds it."""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.proof.prove import prove_logs
from adapters.store.log import Log
from adapters.store.log_copy import with_payloads
from adapters.store.recorder import numbered
from adapters.store.remote_appends import RemoteAppend
from adapters.sync.segments import SegmentHeader, _file, decode_segment, encode_segments
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.append import envelope
from domain.append.envelope import Row
from domain.errors import WakelogError
from domain.journal import commands as do
from domain.log.wire import Words, payload
from tests.property.test_shared_laws import Machines
from tests.support.sharing import Machine

pytestmark = pytest.mark.slow

NOW = "2027-03-01T12:00:00.000000Z"
LINES = "drop", "double", "swap", "state", "tag", "stream", "version", "payload", "header"
CHAINS = "chain of altered", "chain of dropped", "chain of swapped"


def lived(seed: int) -> Machines:
    machines = Machines(seed)
    machines.live(70)
    for one in machines.logs:
        task = machines.chance.choice(machines.tasks)
        kept = payload(task, b"long words of " + one.replica.encode())
        one.append(do.AddNote(task, "note", Words(payload=kept.id)), NOW, payloads=[kept])
    machines.rounds()
    return machines


class Forger:
    """Alters one file of a folder."""

    def __init__(self, shelf: MemorySyncFolder, chance: Random, *, has_payloads: bool) -> None:
        self.chance = chance
        self.held = dict(shelf.held)
        files = sorted(one for one in self.held if one.endswith(".gz"))
        if has_payloads:
            files = [one for one in files if b'{"payload"' in gzip.decompress(self.held[one])]
        self.name = chance.choice(files)
        self.data = self.held[self.name]
        self.header = decode_segment(self.data, self.name).header

    def forge(self, what: str) -> bool:
        """Whether that can be done to this file."""
        if what == "bytes":
            altered = bytearray(self.data)
            for _ in range(self.chance.randrange(1, 4)):
                altered[self.chance.randrange(len(altered))] ^= 1 << self.chance.randrange(8)
            self.held[self.name] = bytes(altered)
            return bytes(altered) != self.data
        made = self._chained(what) if what in CHAINS else self._lines(what)
        if made is None:
            return False
        header, data = made
        del self.held[self.name]
        writer = self.name.partition("/")[0]
        kept = self.name if self.chance.random() < 0.5 and what not in CHAINS else ""
        self.held[kept or f"{writer}/{header.name}"] = data
        return data != self.data

    def _lines(self, what: str) -> tuple[SegmentHeader, bytes] | None:
        """Lines that are other ones, and a sum that fits."""
        lines = gzip.decompress(self.data).split(b"\n")[1:-2]
        rows = [nth for nth, one in enumerate(lines) if b'{"payload"' not in one[:12]]
        header, at = self.header, self.chance.choice(rows)
        if what == "header":
            field = self.chance.choice(["after", "prev", "first", "last", "head"])
            was = getattr(header, field)
            other = was + 1 if isinstance(was, int) else was[::-1] + "a" * (not was)
            return _file(replace(header, **{field: other}), lines)
        if what == "payload":
            named = [nth for nth in range(len(lines)) if nth not in rows]
            if not named:
                return None
            at = self.chance.choice(named)
            line = json.loads(lines[at])
            line["text"] = line["text"] + "!"
            if self.chance.random() < 0.5:
                del line["unit"]
                line = {"payload": line.pop("payload"), "unit": "", **line}
            lines[at] = json.dumps(line, separators=(",", ":")).encode()
        elif what == "drop":
            del lines[at]
        elif what == "double":
            lines.insert(self.chance.randrange(len(lines) + 1), lines[at])
        elif what == "swap":
            other = self.chance.choice(rows)
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = self._row(what, json.loads(lines[at]), lines[at])
        return _file(header, lines)

    def _row(self, what: str, line: dict[str, Any], text: bytes) -> bytes:
        if what == "state":
            state = json.dumps(line["state"], separators=(",", ":"), ensure_ascii=False)
            at = self.chance.randrange(len(state))
            forged = state[:at] + self.chance.choice("a1 ,}x") + state[at + 1 :]
            return text.replace(state.encode(), forged.encode())
        if what == "version":
            return text.replace(b'"version":%d' % line["version"], b'"version":%d' % 77)
        value = str(line[what])
        return text.replace(value.encode(), value.replace("a", "e", 1).encode(), 1)

    def _chained(self, what: str) -> tuple[SegmentHeader, bytes] | None:
        """Appends that are other ones, linked anew, with the head and the name that fit."""
        appends = list(decode_segment(self.data).appends)
        at = self.chance.randrange(len(appends))
        if what == "chain of dropped" and len(appends) > 1:
            del appends[at]
        elif what == "chain of swapped" and len(appends) > 1:
            other = (at + 1) % len(appends)
            appends[at], appends[other] = appends[other], appends[at]
        else:
            row = self.chance.randrange(len(appends[at].rows))
            rows = list(appends[at].rows)
            state = rows[row].state.replace(b"2027-01", b"2026-02").replace(b"one", b"two")
            rows[row] = rows[row]._replace(state=state)
            appends[at] = RemoteAppend(tuple(rows), appends[at].payloads)
        linked = _linked(appends, self.header.prev)
        try:
            ((header, data),) = encode_segments(self.header.place, self.header.after, linked)
        except ValueError:  # nothing is left of it
            return None
        return header, data


def _linked(appends: Sequence[RemoteAppend], prev: str) -> list[RemoteAppend]:
    made = list[RemoteAppend]()
    for one in appends:
        first, *more = one.rows
        doc = json.loads(first.state)
        was = doc.get("prev", "")
        state = first.state.replace(was.encode(), prev.encode(), 1) if was else first.state
        rows = (Row(first.stream, first.version, first.topic, state), *more)
        made.append(RemoteAppend(rows, one.payloads))
        prev = envelope.digest(rows)
    return made


def judged(forger: Forger, whole: dict[tuple[str, int], RemoteAppend], origin: Log) -> str:
    """How a machine that joins finds out, or its writer's next sync; empty: nobody does."""
    shelf, joins = MemorySyncFolder(), Machine("new")
    shelf.held = forger.held
    try:
        report = sync_logs([joins], shelf, NOW, SyncState()).report
    except WakelogError as error:
        return error.code
    if any(one.for_ == "fork" for one in report.waiting):
        return "fork"
    if report.skipped or report.waiting:
        return "not whole"
    proved = prove_logs(joins, Log.in_memory("agent", "new"))
    if proved.divergences:
        return "prove"
    try:
        sync_logs([origin], shelf, NOW, SyncState())
    except WakelogError as error:
        return error.code
    return "harmless" if rows(joins).items() >= whole.items() else ""


def rows(log: Log) -> dict[tuple[str, int], RemoteAppend]:
    """All that a log holds, by place."""
    return {
        (name, numbered(append[0].state).n): RemoteAppend(tuple(append), tuple(kept))
        for name in log.heads()
        for append, kept in with_payloads(log.payloads, log.appends_of(name, 0))
    }


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_altered_in_a_file_is_refused_or_named(seed: int) -> None:
    machines = lived(seed)
    chance = Random(seed)
    found: Counter[tuple[str, str]] = Counter()
    whole = rows(machines.logs[0])
    count = 0
    while count < 100:
        what = chance.choice(("bytes", *LINES, *CHAINS))
        forger = Forger(machines.shelf, chance, has_payloads=what == "payload")
        if not forger.forge(what):
            continue
        count += 1
        origin = next(one for one in machines.logs if one.replica == forger.header.replica)
        how = judged(forger, whole, origin)
        found[what, how] += 1
        assert how, (what, forger.name)
    assert {what for what, _ in found} == {"bytes", *LINES, *CHAINS}
    assert sum(number for (_, how), number in found.items() if how == "harmless") < 5
