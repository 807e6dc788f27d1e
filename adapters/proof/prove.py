"""Proves both logs of a home: today's code, yesterday's causes (SPEC 9, `prove`).

The kept bytes of a reply are read again by its `reply_format`. Replies of 0.1.0 have none: what
reads them goes by their model. No decoder is loaded before it is needed, least of all a provider's
SDK."""

import difflib
import gc
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice, takewhile
from time import perf_counter

from msgspec import Struct
from msgspec.structs import astuple, replace

from adapters.documents.proof import (
    DivergenceDetails,
    ErasedProof,
    ErasedUnit,
    ProofDetails,
    ProofHead,
    ReplicaProof,
)
from adapters.home.log_pairing import given_up
from adapters.store.log import Log, LogProgress
from adapters.timetravel.logs_at import LogHistory
from adapters.wiring import Home
from domain.append.causes import GivenUp
from domain.append.envelope import Row
from domain.errors import WakelogError
from domain.log.keys import log_digest, shared_digest
from domain.log.rules import RULES
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import PayloadId
from domain.ports import Reply
from replay.appends import Append, appends
from replay.cross_log_check import CrossLogCheck
from replay.divergence import Divergence
from replay.log_pair import PairedLog, PairPosition
from replay.prove import LogProof, ProofOptions
from replay.replies import Decoder, Decoders
from replay.streams import LIMITS, WalkLimits


def _parse(module: str, *reply_format: str) -> Callable[[bytes], Reply]:
    """`parse` of a module of `adapters.models`, which is loaded when it is asked."""
    return lambda raw: import_module(f"adapters.models.{module}").parse(raw, *reply_format)


DECODERS: Decoders = {
    "gemini:": Decoder(_parse("gemini.decoding", ""), is_whole=False),
    "gemini.2": Decoder(_parse("gemini.decoding", "gemini.2"), is_whole=False),
    "gemini.3": Decoder(_parse("gemini.decoding", "gemini.3"), is_whole=False),
    "gemini.4": Decoder(_parse("gemini.decoding", "gemini.4"), is_whole=False),
    "mcp.1": Decoder(_parse("replies")),
    "openai.1": Decoder(_parse("openai.decoding", "openai.1"), is_whole=False),
    "openai.2": Decoder(_parse("openai.decoding", "openai.2"), is_whole=False),
    "rules:": Decoder(_parse("rules.model")),
    "rules.1": Decoder(_parse("rules.model")),
    "tape:": Decoder(_parse("tape"), is_whole=False),
    "tape.1": Decoder(_parse("tape")),
    "demo:": Decoder(_parse("demo")),
}
"""The format of Gemini's first version was never written down; `gemini.1` is none."""


# --------------------------------------------------------------------------- the proof of both logs

STEP_ROWS = 1_000
FOUND_MAX = 1_000  # divergences that are told; the others are counted
DIFF_LINES_MAX = 200
CONTEXT_LINES = 1
KEPT_MAX = 128  # payloads of a log
KEPT_MAX_BYTES = 65_536  # of one of them
COLLECTED_EVERY = 50_000  # objects that are new; Python's own number is 700

SinceAppend = dict[str, int]
"""By log: appends up to this `n` are folded, and not executed again."""
ResumeWalk = Callable[[CrossLogCheck], None]
Anchors = dict[str, dict[int, str]]
"""By ``log:replica`` and n: digests that are known from outside."""


class Proved(Struct, frozen=True):
    """What a proof of a whole home has found. `seconds` is wall time; `heads` the newest append
    of each log and replica, as n and digest; `prompts` those that were rendered again; `left`
    counts the divergences beyond the first `FOUND_MAX`; `folded` the causes that were not executed
    again, as they are of older rules, or came before what was asked for; `undecoded` the replies
    of models whose kept bytes nobody here can read; `walked` the rows of both logs that were
    walked now. Of the causes so many are `remembered`, from a proof at `remembered_at`; this one
    is remembered in `file`, or is not (`unkept`); `why` all was executed, where a remembered proof
    was asked for; `end`: for who goes on from here. `newer`: by scaffold, the wakes that a newer
    wakelog made: nobody here can judge them. `dropped_replies`: of which only text, calls and
    tokens are there; `of_extensions`: of the undecoded those that models of others gave, by
    name."""

    rows: int
    causes: int
    wakes: int
    digest: str
    seconds: float
    divergences: tuple[Divergence, ...] = ()
    prompts: int = 0
    heads: dict[str, tuple[int, str]] = {}
    left: int = 0
    folded: int = 0
    undecoded: int = 0
    walked: tuple[int, ...] = ()
    remembered: int = 0
    remembered_at: str = ""
    file: str = ""
    unkept: str = ""
    why: str = ""
    end: PairPosition = PairPosition()
    replicas: dict[str, ReplicaProof] | None = None
    shared: str = ""
    newer: dict[int, int] = {}
    erased: ErasedProof | None = None
    dropped_replies: int = 0
    of_extensions: dict[str, int] = {}

    @property
    def ok(self) -> bool:
        return not (self.divergences or self.newer)

    @property
    def told(self) -> str:
        """How many causes were executed now, and how many are remembered from where."""
        now = self.causes - self.folded - self.remembered
        file = self.file or "none"
        when = f"{self.remembered:,} remembered from {self.remembered_at or 'nothing'}"
        return f"({now:,} executed now, {when}, file {file})"

    def document(self) -> ProofDetails:
        """The document of `prove`."""
        return ProofDetails(
            ok=self.ok, rows=self.rows, causes=self.causes, wakes=self.wakes, digest=self.digest,
            seconds=self.seconds, divergences=[_document(one) for one in self.divergences],
            prompts=self.prompts,
            heads={name: ProofHead(n, digest) for name, (n, digest) in self.heads.items()},
            more=self.left, folded=self.folded, undecoded=self.undecoded,
            executed=self.causes - self.folded - self.remembered, remembered=self.remembered,
            remembered_at=self.remembered_at or None, memory_file=self.file or None,
            memory_unused=self.why or None, replicas=self.replicas, shared=self.shared or None,
            newer=self.newer or None, erased=self.erased, dropped_replies=self.dropped_replies,
            of_extensions=self.of_extensions or None,
        )  # fmt: skip


def _document(one: Divergence) -> DivergenceDetails:
    return DivergenceDetails(
        log=one.log, position=one.position, stream=one.stream, version=one.version,
        kind=one.kind_of, path=one.path, expected=one.expected, actual=one.actual,
        wake=one.wake or None, step=one.step or None, cause=one.cause or None,
        upstream=one.upstream or None, diff=diff(one),
    )  # fmt: skip


def prove_home(
    home: Home, progress: LogProgress | None = None, *, since: SinceAppend | None = None,
    anchors: Anchors | None = None, is_every_epoch: bool = False, decoders: Decoders = DECODERS,
) -> Proved:  # fmt: skip
    """Re-execute both logs; nothing is written."""
    logs = home.services.journal, home.services.agents
    return prove_logs(
        *logs, progress, since=since, anchors=anchors, is_every_epoch=is_every_epoch,
        decoders=decoders,
    )  # fmt: skip


def with_decoders(names: Sequence[str]) -> Decoders:
    """Our own decoders, and those of installed extensions. Raises Refused: one is not there."""
    from adapters.models.extensions import decoders_of

    more = {
        one: Decoder(parse, is_whole=False)
        for name in names
        for one, parse in decoders_of(name).items()
    }
    return {**DECODERS, **more}


def prove_logs(  # noqa: PLR0913  one for each that a proof may be told
    journal: Log, agents: Log, progress: LogProgress | None = None, *,
    since: SinceAppend | None = None, anchors: Anchors | None = None, is_every_epoch: bool = False,
    limits: WalkLimits = LIMITS, decoders: Decoders = DECODERS,
) -> Proved:  # fmt: skip
    """Re-execute two logs together; for what is given, see `ProofOptions`."""
    begun = perf_counter()
    options = ProofOptions(RULES, 0, is_every_epoch, anchors or {}, limits)
    sides: list[PairedLog] = []
    lost = given_up(journal)
    for log in (journal, agents):
        own = replace(options, since=(since or {}).get(log.name, 0))
        sides.append(paired_log(log, own, lost, progress))
    with rarely_collected():
        return prove_sides(*sides, begun=begun, decoders=decoders)


def paired_log(
    log: Log, options: ProofOptions, lost: tuple[GivenUp, ...], progress: LogProgress | None = None,
    *, rows: Iterable[Row] | None = None,
) -> PairedLog:  # fmt: skip
    """One log to be walked, or these rows of it alone."""
    anew: dict[PayloadId, bytes] = {}
    payload, listed = _cached_payloads(log, anew), log.erasures()
    proof = LogProof(log.name, payload, options, again=again_from(log), listed=listed, anew=anew)

    def read(n: int, replica: str) -> Append | None:
        return next(appends(log.append_at(n, replica)), None)

    def between(replica: str, above: int, last: int) -> Iterator[Append]:
        chain = (one for rows in log.appends_of(replica, above) for one in appends(rows))
        return takewhile(lambda one: one.n <= last, chain)

    told = _with_progress(log, progress, log.rows() if rows is None else rows)

    def long_ago(n: int, replica: str) -> LogState:
        return LogHistory(log).world(n, replica)  # each anew, so that nothing of them is kept

    return PairedLog(proof, told, long_ago, payload, lost, read, between)


def prove_sides(
    journal: PairedLog, agents: PairedLog, *, begun: float | None = None,
    resume: ResumeWalk | None = None, decoders: Decoders = DECODERS,
) -> Proved:  # fmt: skip
    """Walk both logs together. `begun`: when it began, as `perf_counter` says it; `resume`: tells
    the walk where it begins, if not at the beginning."""
    begun = perf_counter() if begun is None else begun
    crossing = CrossLogCheck(journal, agents, decoders)
    if resume is not None:
        resume(crossing)
    walk = crossing.walk()
    found = sorted(islice(walk, FOUND_MAX), key=_place)
    left = sum(1 for _ in walk)
    proofs = (journal.proof, agents.proof)
    shared = [proof for proof in proofs if proof.is_shared]
    heads = {name: digest for proof in proofs for name, digest in proof.heads.items()}
    last = {
        name: (proof.last[name.partition(":")[2]], digest)
        for proof in proofs
        for name, digest in sorted(proof.heads.items())
    }
    return Proved(
        sum(proof.rows for proof in proofs), sum(proof.causes for proof in proofs),
        sum(proof.wakes for proof in proofs), log_digest(heads), round(perf_counter() - begun, 3),
        tuple(found), crossing.prompts, last, left, sum(proof.folded for proof in proofs),
        crossing.replies.undecoded, tuple(proof.rows for proof in proofs), end=crossing.left,
        replicas=_of_each(shared),
        shared=shared_digest({head: one for log in shared for head, one in log.telling.items()}),
        newer=dict(sorted(Counter(agents.proof.newer.values()).items())), erased=_erased(proofs),
        dropped_replies=agents.proof.dropped_replies,
        of_extensions=dict(sorted(crossing.replies.of_extensions.items())),
    )  # fmt: skip


def _erased(proofs: Sequence[LogProof]) -> ErasedProof | None:
    """What erasures took of both logs; None where nothing was erased."""
    made = [one for proof in proofs for one in proof.listed.made]
    if not made:
        return None
    units = {fact.unit: ErasedUnit(fact.unit, fact.what, at) for at, fact in made}
    counts = [proof.erased for proof in proofs]
    return ErasedProof(
        rows=sum(one.rows for one in counts),
        payloads=sum(len(proof.listed.payloads) for proof in proofs),
        gone=sum(one.gone for one in counts),
        resting=sum(one.resting for one in counts),
        same=sum(one.same for one in counts),
        units=[*units.values()],
    )


def _of_each(proofs: Sequence[LogProof]) -> dict[str, ReplicaProof] | None:
    """What was proved of each replica of the logs that several share; None where there are none."""
    names = sorted({name for proof in proofs for name in proof.of})
    found: dict[str, ReplicaProof] = {}
    for name in names:
        counts = [astuple(proof.of[name]) for proof in proofs if name in proof.of]
        rows, causes, folded = map(sum, zip(*counts, strict=True))
        found[name] = ReplicaProof(rows, causes, causes - folded, folded)
    return found or None


def _place(one: Divergence) -> tuple[bool, int]:
    """What led somewhere before what came of it: the journal first, then in order."""
    n = one.position.rpartition(":")[2]
    return one.log != "journal", int(n) if n.isdigit() else 0


def again_from(log: Log) -> Callable[[str, int], list[RecordedEvent]]:
    """Reads the rows of a stream above a version; none of one that is damaged."""

    def again(stream: str, after: int) -> list[RecordedEvent]:
        try:
            return [row for row in log.facts(stream) if row.version > after]
        except WakelogError:
            return []  # which row it is, is told where the walk meets it

    return again


def _cached_payloads(
    log: Log, anew: Mapping[PayloadId, bytes]
) -> Callable[[PayloadId], bytes | None]:
    """Reads payloads many at once, as most are named in the order they were kept, and keeps the
    newest: one that was checked is read again by what follows. `anew`:
    see `LogProof`."""
    kept: OrderedDict[PayloadId, bytes] = OrderedDict()
    read = log.onward()

    def payload(wanted: PayloadId) -> bytes | None:
        if (known := anew.get(wanted) or kept.get(wanted)) is not None:
            return known
        found = dict(read(wanted))
        kept.update((name, data) for name, data in found.items() if len(data) <= KEPT_MAX_BYTES)
        while len(kept) > KEPT_MAX:
            kept.popitem(last=False)
        return found.get(wanted)

    return payload


@contextmanager
def rarely_collected() -> Iterator[None]:
    """A proof makes and drops millions of small objects, and hardly a cycle among them."""
    known = gc.get_threshold()
    gc.set_threshold(COLLECTED_EVERY, *known[1:])
    try:
        yield
    finally:
        gc.set_threshold(*known)


def _with_progress(log: Log, progress: LogProgress | None, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a log, as they are read."""
    if progress is None:
        yield from rows
        return
    of = log.count()
    nth = 0
    for nth, row in enumerate(rows, start=1):
        if nth % STEP_ROWS == 0:
            progress(log.name, nth, of)
        yield row
    progress(log.name, nth, of)


# ---------------------------------------------------------------------------------------- telling


def diff(one: Divergence) -> list[str]:
    """What differs, line by line: ``- `` should stand there, ``+ `` does."""
    lines = difflib.unified_diff(
        told_lines(one.expected), told_lines(one.actual), lineterm="", n=CONTEXT_LINES
    )
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))][:DIFF_LINES_MAX]


def told_lines(told: str) -> list[str]:
    """A row with its JSON spread over lines; another text as it is."""
    head, brace, rest = told.partition("{")
    try:
        spread = json.dumps(json.loads(brace + rest), indent=1, ensure_ascii=False).splitlines()
    except ValueError:
        return told.splitlines()
    return ([head.rstrip()] if head else []) + spread


def by_class(found: Iterable[Divergence]) -> dict[str, int]:
    """How many there are of each class, in the order of their coming."""
    return dict(Counter(one.kind_of for one in found))
