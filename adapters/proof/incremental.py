"""Proves a home from where the last proof of it ended, and remembers the new end (ADR 60).

All bytes are read and hashed again; what is new is executed in the world that the old rows make.
Where anything is not as it was remembered, or something new differs, all is executed again: so
what is told is always what a proof from the beginning tells.

What is remembered stands in a file in the cache folder of the person. It is a convenience and no
truth: whoever can write it can say anything in it. So it is for its owner alone, and without it
everything is executed again.
"""

import hashlib
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import adapters
import domain
import replay
from adapters.home import write_guard
from adapters.home.files import cache_folder, replace_file
from adapters.home.log_pairing import given_up
from adapters.proof.prove import (
    Anchors,
    Proved,
    again_from,
    paired_log,
    prove_home,
    prove_sides,
    rarely_collected,
)
from adapters.store.log import Log, LogProgress
from adapters.wiring import Home
from domain.append import envelope
from domain.errors import Refused
from domain.log.keys import key
from domain.log.rules import RULES
from replay.cross_log_check import DIGESTS_MAX
from replay.hash_chain import HashChain
from replay.log_pair import PairPosition
from replay.prove import ProofOptions

MEMORY_FORMAT = 1
OTHERS_MAY_WRITE = 0o022
ADAPTERS_PROVED = ("home", "models", "proof", "store", "timetravel")  # what a proof runs


class LogProved(Struct, frozen=True):
    """A log as far as it was proved: rows and its last append's `n`, the digest of its rows in
    their order, and the payloads that were kept then, with theirs."""

    n: int
    rows: int
    order: str
    payloads: int
    payloads_digest: str


class RememberedProof(Struct, frozen=True):
    """A proof that found nothing. `check` is made of all the rest: a file that was damaged or
    edited by hand is none."""

    format: int
    home: str
    installation: str
    code: str
    rules: int
    at: str
    journal: LogProved
    agents: LogProved
    left: PairPosition
    digest: str
    folded: int
    undecoded: int
    check: str = ""


class NotRemembered(Exception):
    """Why nothing is remembered, or what is remembered does not count."""


def remembered_path(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the proof of a home is remembered: a file for each folder and installation.

    Raises:
        NotRemembered: There is no place for it.
    """
    try:
        folder = cache_folder(environ)
    except Refused as refused:
        raise NotRemembered(refused.because) from None
    name = key("remembered proof", *_home_identity(home))
    return folder / "proofs" / f"{name}.json"


def _home_identity(home: Path) -> tuple[str, str]:
    known = write_guard.kept_installation(home)
    return os.path.realpath(home), known.id if known else ""


def read_remembered(path: Path, home: Path) -> RememberedProof:
    """What was remembered of a home.

    Raises:
        NotRemembered: Nothing, or not of this home or this code; with what there is to tell.
    """
    try:
        found = path.stat()
        is_own = found.st_uid == os.geteuid() and not found.st_mode & OTHERS_MAY_WRITE
        if not stat.S_ISREG(found.st_mode) or not is_own:
            raise NotRemembered(f"{path} is not a file that you alone can write")
        known = msgspec.json.decode(path.read_bytes(), type=RememberedProof)
    except FileNotFoundError:
        raise NotRemembered("nothing is remembered of this home yet") from None
    except OSError as error:
        raise NotRemembered(f"{path} cannot be read ({error.strerror or error})") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotRemembered(f"{path} is damaged") from None
    if known.format != MEMORY_FORMAT or _with_check(known).check != known.check:
        raise NotRemembered(f"{path} is damaged")
    if (known.home, known.installation) != _home_identity(home):
        raise NotRemembered(f"{path} is of another home")
    if (known.rules, known.code) != (RULES, code_digest()):
        raise NotRemembered("what is remembered was proved by other code")
    return known


def write_remembered(path: Path, made: RememberedProof) -> None:
    """Keep a proof, whole or not at all.

    Raises:
        NotRemembered: It cannot be kept.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(_with_check(made)).decode())
    except OSError as error:
        raise NotRemembered(f"{path} cannot be written ({error.strerror or error})") from None


def delete_remembered(path: Path) -> None:
    """Keep nothing of a home that did not prove."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _with_check(known: RememberedProof) -> RememberedProof:
    bare = msgspec.json.encode(replace(known, check=""))
    return replace(known, check=hashlib.sha256(bare).hexdigest())


@cache
def code_digest() -> str:
    """A digest of the code that a proof runs, and of what it runs on: as it was when this process
    asked first, for files may be replaced under it."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version} {msgspec.__version__} {unicodedata.unidata_version}".encode())
    for path in _code_files():
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _code_files() -> Iterator[Path]:
    roots = [Path(str(one.__file__)).parent for one in (domain, replay)]
    roots += [Path(str(adapters.__file__)).parent / name for name in ADAPTERS_PROVED]
    for root in roots:
        files = (one for one in root.rglob("*") if one.is_file())
        yield from sorted(one for one in files if "__pycache__" not in one.parts)


# -------------------------------------------------------------------------- the proof from there on

CHANGED = "what was proved is not as it was"
DIFFERS = "something new differs"
SHARED = "the home is shared with other machines, and such proofs are not remembered yet"


class ProofMemory(NamedTuple):
    """What a proof remembers with: `why` not, where it does not."""

    path: Path | None = None
    why: str = ""


class RawLog:
    """One log's bytes, read from its beginning; `reached`: where the walk is to begin."""

    def __init__(self, log: Log, anchors: Anchors, reached: int = 0) -> None:
        self.chain = HashChain(log.name)
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
            raise NotRemembered(CHANGED)
        if n > self._reached:
            self.between += 1
            return
        self.rows_between = self.chain.rows
        self.heads[name], self.last[replica] = digest, n
        self.digests[n] = f"{name}:{n}", digest
        self.digests.pop(n - DIGESTS_MAX, None)


RawLogs = tuple[RawLog, ...]


def prove_remembering(
    home: Home,
    environ: Mapping[str, str],
    progress: LogProgress | None = None,
    *,
    is_since_last: bool = True,
    anchors: Anchors | None = None,
) -> Proved:
    """Prove both logs, and remember that they prove. `environ` says where the cache folder is;
    `is_since_last`: execute only what is new, where a proof is remembered."""
    kept = _memory_of(home, environ)
    code_digest()  # before anything else, as what runs here was read long before the end
    begun, why = perf_counter(), ""
    found: tuple[Proved, RawLogs] | None = None
    if is_since_last:
        try:
            found = _prove_since(home, _read_memory(home, kept), anchors or {}, progress)
        except NotRemembered as error:
            why = str(error)
    if found is None:
        proved = replace(prove_home(home, progress, anchors=anchors), why=why)
        found = proved, tuple(RawLog(log, {}) for log in _both_logs(home))
    proved = _remember(home, kept, *found)
    return replace(proved, seconds=round(perf_counter() - begun, 3))


def forget(home: Home, environ: Mapping[str, str]) -> None:
    """Keep no proof of a home: another one has found something."""
    if (path := _memory_of(home, environ).path) is not None:
        delete_remembered(path)


def unremembered(home: Home, environ: Mapping[str, str]) -> str:
    """Why no proof of a home counts; empty where one does."""
    try:
        _read_memory(home, _memory_of(home, environ))
    except NotRemembered as error:
        return str(error)
    return ""


def _read_memory(home: Home, kept: ProofMemory) -> RememberedProof:
    if kept.path is None:
        raise NotRemembered(kept.why)
    return read_remembered(kept.path, home.path)


def _remember(home: Home, kept: ProofMemory, proved: Proved, raws: RawLogs) -> Proved:
    """Keep that a home proves; of one that does not, nothing."""
    if kept.path is None:
        return replace(proved, unkept=kept.why)
    if not proved.ok:
        delete_remembered(kept.path)
        return proved
    counts = proved.walked if not proved.remembered_at else [raw.chain.rows for raw in raws]
    is_same = all(raw.rest(count) for raw, count in zip(raws, counts, strict=True))
    if not proved.rows or not is_same or not _end_alike(raws, proved):
        return replace(proved, unkept="nothing was written yet" if not proved.rows else CHANGED)
    whose, installed = _home_identity(home.path)
    proof = RememberedProof(
        format=MEMORY_FORMAT,
        home=whose,
        installation=installed,
        code=code_digest(),
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
        write_remembered(kept.path, proof)
    except NotRemembered as error:
        return replace(proved, unkept=str(error))
    return replace(proved, file=str(kept.path))


def _end_alike(raws: RawLogs, proved: Proved) -> bool:
    heads = {name: digest for raw in raws for name, digest in raw.chain.heads.items()}
    return heads == {name: digest for name, (_, digest) in proved.heads.items()}


def _both_logs(home: Home) -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def _memory_of(home: Home, environ: Mapping[str, str]) -> ProofMemory:
    if home.exists and home.services.journal.is_shared:
        return ProofMemory(None, SHARED)
    try:
        return ProofMemory(remembered_path(home.path, environ)) if home.exists else ProofMemory()
    except NotRemembered as error:
        return ProofMemory(None, str(error))


def _prove_since(
    home: Home, known: RememberedProof, anchors: Anchors, progress: LogProgress | None
) -> tuple[Proved, RawLogs]:
    """What a proof from where the last one ended comes to.

    Raises:
        NotRemembered: All has to be executed again, and why.
    """
    logs = _both_logs(home)
    raws = RawLog(logs[0], anchors, known.left.reached), RawLog(logs[1], anchors, known.agents.n)
    if not (raws[0].is_as(known.journal) and raws[1].is_as(known.agents)):
        raise NotRemembered(CHANGED)
    with rarely_collected():
        proved = walk_on(logs, known.left, raws, anchors, progress)
    ends = [raw.rows_between + count for raw, count in zip(raws, proved.walked, strict=True)]
    is_read = all(raw.rest(end) and raw.is_all() for raw, end in zip(raws, ends, strict=True))
    if not proved.ok or not is_read or not _end_alike(raws, proved):
        raise NotRemembered(DIFFERS)
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


def walk_on(
    logs: Sequence[Log],
    left: PairPosition,
    raws: RawLogs,
    anchors: Anchors,
    progress: LogProgress | None = None,
) -> Proved:
    """Execute what is new. Of the journal the walk begins where the agent log had come to: what
    was proved of it beyond is folded on the way."""
    lost = given_up(logs[0])
    ends = left.reached, raws[1].chain.n
    own = ProofOptions(anchors=anchors)
    sides = []
    for log, raw, end in zip(logs, raws, ends, strict=True):
        since = raws[0].chain.n if log is logs[0] else 0
        made = paired_log(log, replace(own, since=since), lost, progress, after=end)
        starts = {name: log.append_at(n) for name, n in raw.last.items()}
        if not all(starts.values()):  # a row stands in the way
            raise NotRemembered(CHANGED)
        times = {name: envelope.read(rows[0]).at for name, rows in starts.items()}
        made.proof.resume(end, raw.heads, raw.last, again_from(log), log.streams_of, times)
        sides.append(made)

    return prove_sides(*sides, resume=lambda crossing: crossing.resume(left, raws[0].digests))
