"""Proves a home from where the last proof of it ended, and remembers the new end (ADR 60).

All bytes are read and hashed again; what is new is executed in the world that the old rows make.
Where anything is not as it was remembered, or something new differs, all is executed again: so
what is told is always what a proof from the beginning tells.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from msgspec.structs import replace

from adapters.home.belonging import given_up
from adapters.proof import memory
from adapters.proof.memory import LogProved, Remembered, Void
from adapters.proof.prove import (
    Anchors,
    Proved,
    again_from,
    prove_home,
    prove_sides,
    rarely_collected,
    side,
)
from adapters.store.log import Log, LogProgress
from adapters.wiring import Home
from domain import envelope
from domain.rules import RULES
from replay.chained import Chain
from replay.crossing import DIGESTS_MAX, Crossing
from replay.prove import Options
from replay.sides import Left

CHANGED = "what was proved is not as it was"
DIFFERS = "something new differs"
SHARED = "the home is shared with other machines, and such proofs are not remembered yet"


class Kept(NamedTuple):
    """What a proof remembers with: `why` not, where it does not."""

    path: Path | None = None
    why: str = ""


class Raw:
    """One log's bytes, read from its beginning; `reached`: where the walk is to begin."""

    def __init__(self, log: Log, anchors: Anchors, reached: int = 0) -> None:
        self.chain = Chain(log.name)
        self.heads: dict[str, str] = {}  # where the walk is to begin
        self.last: dict[str, int] = {}
        self.digests: dict[int, tuple[str, str]] = {}
        self.between = 0  # appends from there on that were proved before
        self.rows_between = 0
        self._log, self._anchors, self._reached = log, anchors, reached
        self._rows = log.rows()
        self._payloads = log.kept_payloads()
        self._kept = 0
        self._digest = hashlib.sha256()

    def is_as(self, known: LogProved) -> bool:
        """Whether the log begins with what was proved."""
        is_whole = self.chain.until(self._rows, known.rows, self._seen)
        while self._kept < known.payloads and self._payload():
            pass
        return is_whole and self.proved() == known

    def rest(self, rows: int) -> bool:
        """Read on up to so many rows, and all payloads that are there now."""
        while self._payload():
            pass
        return self.chain.until(self._rows, rows, lambda *_: None)

    def is_all(self) -> bool:
        """Whether nothing stands behind what was read, or only what was appended meanwhile: a row
        that no append counts would be in no walk, and is read with its stream."""
        row = next(self._rows, None)
        return row is None or self.chain.next_place(row) is not None

    def proved(self) -> LogProved:
        """What was read."""
        chain = self.chain
        return LogProved(chain.n, chain.rows, chain.order, self._kept, self._digest.hexdigest())

    def _payload(self) -> bool:
        found = next(self._payloads, None)
        if found is None:
            return False
        name, data = found
        self._kept += 1
        self._digest.update(f"{name} {len(data)} ".encode())
        self._digest.update(data)
        return True

    def _seen(self, replica: str, n: int, digest: str) -> None:
        name = f"{self._log.name}:{replica}"
        if self._anchors.get(name, {}).get(n, digest) != digest:
            raise Void(CHANGED)
        if n > self._reached:
            self.between += 1
            return
        self.rows_between = self.chain.rows
        self.heads[name], self.last[replica] = digest, n
        self.digests[n] = f"{name}:{n}", digest
        self.digests.pop(n - DIGESTS_MAX, None)


Raws = tuple[Raw, ...]


def prove_remembering(
    home: Home,
    environ: Mapping[str, str],
    progress: LogProgress | None = None,
    *,
    is_since_last: bool = True,
    anchors: Anchors | None = None,
) -> Proved:
    """Prove both logs, and remember that they prove.

    Args:
        home: The home.
        environ: Environment variables, which say where the cache folder is.
        progress: Is told how far it has come.
        is_since_last: Execute only what is new, where a proof is remembered.
        anchors: What is known from outside.
    """
    kept = _place(home, environ)
    memory.code()  # before anything else, as what runs here was read long before the end
    begun, why = perf_counter(), ""
    found: tuple[Proved, Raws] | None = None
    if is_since_last:
        try:
            found = _since(home, _known(home, kept), anchors or {}, progress)
        except Void as error:
            why = str(error)
    if found is None:
        proved = replace(prove_home(home, progress, anchors=anchors), why=why)
        found = proved, tuple(Raw(log, {}) for log in _logs(home))
    proved = _remember(home, kept, *found)
    return replace(proved, seconds=round(perf_counter() - begun, 3))


def forget(home: Home, environ: Mapping[str, str]) -> None:
    """Keep no proof of a home: another one has found something."""
    if (path := _place(home, environ).path) is not None:
        memory.forget(path)


def unremembered(home: Home, environ: Mapping[str, str]) -> str:
    """Why no proof of a home counts; empty where one does."""
    try:
        _known(home, _place(home, environ))
    except Void as error:
        return str(error)
    return ""


def _known(home: Home, kept: Kept) -> Remembered:
    if kept.path is None:
        raise Void(kept.why)
    return memory.read(kept.path, home.path)


def _remember(home: Home, kept: Kept, proved: Proved, raws: Raws) -> Proved:
    """Keep that a home proves; of one that does not, nothing."""
    if kept.path is None:
        return replace(proved, unkept=kept.why)
    if not proved.ok:
        memory.forget(kept.path)
        return proved
    counts = proved.walked if not proved.remembered_at else [raw.chain.rows for raw in raws]
    is_same = all(raw.rest(count) for raw, count in zip(raws, counts, strict=True))
    if not proved.rows or not is_same or _heads(raws) != _digests(proved):
        return replace(proved, unkept="nothing was written yet" if not proved.rows else CHANGED)
    proof = Remembered(
        format=memory.FORMAT,
        home="",
        installation="",
        code="",
        rules=RULES,
        at=home.services.clock.now(),
        journal=raws[0].proved(),
        agents=raws[1].proved(),
        left=proved.end,
        digest=proved.digest,
        folded=proved.folded,
        undecoded=proved.undecoded,
    )
    try:
        memory.write(kept.path, memory.made(home.path, proof))
    except Void as error:
        return replace(proved, unkept=str(error))
    return replace(proved, file=str(kept.path))


def _heads(raws: Raws) -> dict[str, str]:
    return {name: digest for raw in raws for name, digest in raw.chain.heads.items()}


def _digests(proved: Proved) -> dict[str, str]:
    return {name: digest for name, (_, digest) in proved.heads.items()}


def _logs(home: Home) -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def _place(home: Home, environ: Mapping[str, str]) -> Kept:
    if home.exists and home.services.journal.is_shared:
        return Kept(None, SHARED)
    try:
        return Kept(memory.path_of(home.path, environ)) if home.exists else Kept()
    except Void as error:
        return Kept(None, str(error))


def _since(
    home: Home, known: Remembered, anchors: Anchors, progress: LogProgress | None
) -> tuple[Proved, Raws]:
    """What a proof from where the last one ended comes to.

    Raises:
        Void: All has to be executed again, and why.
    """
    logs = _logs(home)
    raws = Raw(logs[0], anchors, known.left.reached), Raw(logs[1], anchors, known.agents.n)
    if not (raws[0].is_as(known.journal) and raws[1].is_as(known.agents)):
        raise Void(CHANGED)
    with rarely_collected():
        proved = walk_on(logs, known.left, raws, anchors, progress)
    ends = [raw.rows_between + count for raw, count in zip(raws, proved.walked, strict=True)]
    is_read = all(raw.rest(end) and raw.is_all() for raw, end in zip(raws, ends, strict=True))
    if not proved.ok or not is_read or _heads(raws) != _digests(proved):
        raise Void(DIFFERS)
    chains = [raw.chain for raw in raws]
    causes, between = sum(one.causes for one in chains), raws[0].between
    proved = replace(
        proved,
        rows=sum(one.rows for one in chains),
        causes=causes,
        wakes=sum(one.wakes for one in chains),
        folded=known.folded + proved.folded - between,
        undecoded=known.undecoded + proved.undecoded,
        remembered=causes - (proved.causes - between),
        remembered_at=known.at,
    )
    return proved, raws


def _time(log: Log, n: int) -> str:
    """When append n was made. Raises Void: it is not found, as a row stands in the way."""
    rows = log.append_at(n)
    if not rows:
        raise Void(CHANGED)
    return envelope.read(rows[0]).at


def walk_on(
    logs: Sequence[Log],
    left: Left,
    raws: Raws,
    anchors: Anchors,
    progress: LogProgress | None = None,
) -> Proved:
    """Execute what is new. Of the journal the walk begins where the agent log had come to: what
    was proved of it beyond is folded on the way."""
    lost = given_up(logs[0])
    ends = left.reached, raws[1].chain.n
    own = Options(anchors=anchors)
    sides = []
    for log, raw, end in zip(logs, raws, ends, strict=True):
        since = raws[0].chain.n if log is logs[0] else 0
        made = side(log, replace(own, since=since), lost, progress, after=end)
        times = {name: _time(log, n) for name, n in raw.last.items()}
        made.proof.resume(end, raw.heads, raw.last, again_from(log), log.streams_of, times)
        sides.append(made)

    def resume(crossing: Crossing) -> None:
        crossing.resume(left, raws[0].digests)

    return prove_sides(sides[0], sides[1], resume=resume)
