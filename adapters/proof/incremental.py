"""Proves a home from where the last proof of it ended, and remembers the new end (ADR 60).

All bytes are read and hashed again; what is new is executed in the world that the old rows make.
Where anything is not as it was remembered, or something new differs, all is executed again: so
what is told is always what a proof from the beginning tells.

What is remembered stands in a file in the cache folder of the person. It is a convenience and no
truth: whoever can write it can say anything in it. So it is for its owner alone, and without it
everything is executed again."""

import hashlib
import os
import stat
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from heapq import merge
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import adapters
import domain
import replay
from adapters.documents.proof import ReplicaProof
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
from adapters.store.reader import writer_of
from adapters.store.recorder import by_append, numbered
from adapters.wiring import Home
from domain.append import envelope
from domain.append.envelope import Row
from domain.errors import Refused
from domain.log.keys import key
from domain.log.rules import RULES
from replay.cross_log_check import DIGESTS_MAX, AppendDigest
from replay.hash_chain import ChainEnd, HashChain
from replay.log_pair import PairPosition
from replay.prove import ProofOptions, ProofStart

MEMORY_FORMAT = 2
OTHERS_MAY_WRITE = 0o022
ADAPTERS_PROVED = ("home", "models", "proof", "store", "timetravel")  # what a proof runs


class LogProved(Struct, frozen=True):
    """A log as far as it was proved: where each replica's appends ended, whether machines shared
    it, and the payloads that were kept then, with their digest."""

    ends: dict[str, ChainEnd]
    is_shared: bool
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
    replicas: dict[str, ReplicaProof] | None = None
    check: str = ""
    of_extensions: dict[str, int] = {}


class NotRemembered(Exception):
    """Why nothing is remembered, or what is remembered does not count."""


def remembered_path(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the proof of a home is remembered: a file for each folder and installation. Raises
    NotRemembered: there is no place for it."""
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
    """What was remembered of a home. Raises NotRemembered: nothing, or not of this home or this
    code; with what there is to tell."""
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
        raise NotRemembered(f"{path} is damaged, or of another version") from None
    if known.format != MEMORY_FORMAT or _with_check(known).check != known.check:
        raise NotRemembered(f"{path} is damaged, or of another version")
    if (known.home, known.installation) != _home_identity(home):
        raise NotRemembered(f"{path} is of another home")
    if (known.rules, known.code) != (RULES, code_digest()):
        raise NotRemembered("what is remembered was proved by other code")
    return known


def write_remembered(path: Path, made: RememberedProof) -> None:
    """Keep a proof, whole or not at all. Raises NotRemembered: it cannot be kept."""
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
SHARED = "another machine has begun to write in this home since"


class ProofMemory(NamedTuple):
    """What a proof remembers with: `why` not, where it does not."""

    path: Path | None = None
    why: str = ""


class RawLog:
    """One log's bytes, read once from its beginning to its end. What is appended meanwhile belongs
    to no proof: it is left out of `ends`, where `until` says how far each replica was walked."""

    def __init__(
        self, log: Log, anchors: Anchors, begin: Mapping[str, int] | None = None,
        known: Mapping[str, ChainEnd] | None = None, until: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        """`begin`: the append of each replica right after which a walk goes on; `known`: what was
        proved before."""
        self.log, self.chain = log, HashChain(log.name)
        self.begin, self.known, self._until = begin or {}, known or {}, until
        self.heads: dict[str, str] = {}  # where the walk is to begin
        self.telling: dict[str, str] = {}
        self.last: dict[str, int] = {}
        self.digests: dict[int, dict[str, AppendDigest]] = {}
        self.between: dict[str, int] = {}  # of each replica: appends that a walk meets once more
        self.ends: dict[str, ChainEnd] = {}
        self._then: dict[str, ChainEnd] = {}  # what is there of `known`
        self._anchors = anchors
        self.is_whole = self.chain.read(log.rows(), self._seen)
        self._payloads = log.kept_payloads()
        self._kept = 0
        self._digest = hashlib.sha256()
        if until is None:
            self.ends = {name: self.chain.end(name) for name in self.chain.last}

    def is_as(self, known: LogProved) -> bool:
        """Whether the log holds what was proved, and no row that is in no append: that would be in
        no walk, and is read with its stream."""
        while self._kept < known.payloads and self._payload():
            pass
        is_same = (self._kept, self._digest.hexdigest()) == (known.payloads, known.payloads_digest)
        order = self.log.recorder.order()  # without one a row behind all others is read with them
        is_all = self.is_whole and (order is None or order.every() == self.chain.rows)
        return is_all and is_same and self._then == known.ends

    def proved(self) -> LogProved:
        """What was read, with all payloads that are there now."""
        while self._payload():
            pass
        return LogProved(self.ends, self.log.is_shared, self._kept, self._digest.hexdigest())

    def rows(self) -> Iterator[Row]:
        """The rows behind `begin`, in canonical order."""
        order = self.log.recorder.order()
        if order is None:
            first = max(self.begin.values(), default=0)
            found: Iterator[Sequence[Row]] = by_append(self.log.rows(first))
        else:
            each = (self.log.appends_of(one, self.begin.get(one, 0)) for one in self.ends)
            found = merge(*each, key=_canonical_place)
        for rows in found:
            n, replica = _canonical_place(rows)
            if n <= (self.ends[replica].n if replica in self.ends else 0):
                yield from rows

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
        name = f"{self.log.name}:{replica}"
        if self._anchors.get(name, {}).get(n, digest) != digest:
            raise NotRemembered(CHANGED)
        if replica in self.known and n == self.known[replica].n:
            self._then[replica] = self.chain.end(replica)
        if self._until is not None and n == self._until.get(replica):
            self.ends[replica] = self.chain.end(replica)
        if n > self.begin.get(replica, 0):
            self.between[replica] = self.between.get(replica, 0) + (
                replica in self.known and n <= self.known[replica].n
            )
            return
        self.heads[name], self.last[replica] = digest, n
        if name in self.chain.telling:
            self.telling[name] = self.chain.telling[name]
        self.digests.setdefault(n, {})[replica] = f"{name}:{n}", digest
        if len(self.digests) > DIGESTS_MAX:
            del self.digests[next(iter(self.digests))]


def _canonical_place(rows: Sequence[Row]) -> tuple[int, str]:
    return numbered(rows[0].state).n, writer_of(rows)


RawLogs = tuple[RawLog, ...]


def prove_remembering(
    home: Home, environ: Mapping[str, str], progress: LogProgress | None = None, *,
    is_since_last: bool = True, anchors: Anchors | None = None,
) -> Proved:  # fmt: skip
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
        found = proved, ()
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
    raws = raws or tuple(RawLog(log, {}, until=_ends_of(log, proved)) for log in _both_logs(home))
    if not proved.rows or not _end_alike(raws, proved):
        return replace(proved, unkept="nothing was written yet" if not proved.rows else CHANGED)
    whose, installed = _home_identity(home.path)
    proof = RememberedProof(
        format=MEMORY_FORMAT, home=whose, installation=installed, code=code_digest(), rules=RULES,
        at=home.services.clock.now(), journal=raws[0].proved(), agents=raws[1].proved(),
        left=proved.end, digest=proved.digest, folded=proved.folded, undecoded=proved.undecoded,
        replicas=proved.replicas, of_extensions=proved.of_extensions,
    )  # fmt: skip
    try:
        write_remembered(kept.path, proof)
    except NotRemembered as error:
        return replace(proved, unkept=str(error))
    return replace(proved, file=str(kept.path))


def _ends_of(log: Log, proved: Proved) -> dict[str, int]:
    heads = ((name.partition(":"), n) for name, (n, _) in proved.heads.items())
    return {replica: n for (of, _, replica), n in heads if of == log.name}


def _end_alike(raws: RawLogs, proved: Proved) -> bool:
    """Whether a walk has come to where the bytes were read, and to the same."""
    return all(
        {name: end.n for name, end in raw.ends.items()} == _ends_of(raw.log, proved)
        and raw.is_whole
        for raw in raws
    )


def _both_logs(home: Home) -> tuple[Log, Log]:
    return home.services.journal, home.services.agents


def _memory_of(home: Home, environ: Mapping[str, str]) -> ProofMemory:
    try:
        return ProofMemory(remembered_path(home.path, environ)) if home.exists else ProofMemory()
    except NotRemembered as error:
        return ProofMemory(None, str(error))


def _prove_since(
    home: Home, known: RememberedProof, anchors: Anchors, progress: LogProgress | None
) -> tuple[Proved, RawLogs]:
    """What a proof from where the last one ended comes to. Raises NotRemembered: all has to be
    executed again, and why."""
    both = known.journal, known.agents
    begin = known.left.ends, {name: end.n for name, end in known.agents.ends.items()}
    raws = tuple(
        RawLog(log, anchors, start, one.ends)
        for log, start, one in zip(_both_logs(home), begin, both, strict=True)
    )
    for raw, one in zip(raws, both, strict=True):
        if not raw.is_as(one):
            raise NotRemembered(CHANGED)
        if raw.log.is_shared and (not one.is_shared or raw.ends.keys() != one.ends.keys()):
            raise NotRemembered(SHARED)  # its rows may be numbered before all that was walked
    with rarely_collected():
        proved = walk_on(known.left, raws, anchors, progress)
    if not proved.ok or not _end_alike(raws, proved):
        raise NotRemembered(DIFFERS)
    causes, between = (
        sum(end.causes for raw in raws for end in raw.ends.values()),
        sum(sum(raw.between.values()) for raw in raws),
    )
    proved = replace(
        proved, rows=sum(raw.chain.rows for raw in raws), causes=causes,
        wakes=sum(raw.chain.wakes for raw in raws), folded=known.folded + proved.folded - between,
        undecoded=known.undecoded + proved.undecoded, remembered=causes - (proved.causes - between),
        remembered_at=known.at, replicas=_of_each(known, proved, raws),
        of_extensions=dict(Counter(known.of_extensions) + Counter(proved.of_extensions)),
    )  # fmt: skip
    return proved, raws


def _of_each(
    known: RememberedProof, proved: Proved, raws: RawLogs
) -> dict[str, ReplicaProof] | None:
    """What was proved of each replica, now and before."""
    if proved.replicas is None:
        return None
    found: dict[str, ReplicaProof] = {}
    none = ReplicaProof(0, 0, 0, 0)
    shared = [raw for raw in raws if raw.log.is_shared]
    for name in sorted({name for raw in shared for name in raw.ends}):
        ends = [raw.ends[name] for raw in shared if name in raw.ends]
        rows, causes = sum(end.rows for end in ends), sum(end.causes for end in ends)
        then, now = ((one or {}).get(name, none) for one in (known.replicas, proved.replicas))
        folded = then.folded + now.folded - sum(raw.between.get(name, 0) for raw in shared)
        found[name] = ReplicaProof(rows, causes, causes - folded, folded)
    return found


def walk_on(
    left: PairPosition, raws: RawLogs, anchors: Anchors, progress: LogProgress | None = None
) -> Proved:
    """Execute what is new. Of the journal the walk begins where the agent log had come to: what
    was proved of it beyond is folded on the way."""
    lost = given_up(raws[0].log)
    sides = []
    for raw in raws:
        log = raw.log
        made = paired_log(log, ProofOptions(anchors=anchors), lost, progress, rows=raw.rows())
        starts = {name: log.append_at(n, name) for name, n in raw.last.items()}
        if raw.last != raw.begin or not all(starts.values()):  # a row stands in the way
            raise NotRemembered(CHANGED)
        made.proof.resume(
            ProofStart(
                raw.heads, raw.telling, raw.last,
                {name: envelope.read(rows[0]).at for name, rows in starts.items()},
                {name: end.n for name, end in raw.known.items()},
            ),
            again_from(log), log.streams_of,
        )  # fmt: skip
        sides.append(made)
    return prove_sides(*sides, resume=lambda crossing: crossing.resume(left, raws[0].digests))
