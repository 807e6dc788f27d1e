"""What each writer says of itself, in a file that it alone writes: `have.json` in its place."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.store.log import Log
from adapters.store.recorder import Tail
from adapters.sync.segments import FORMAT, ChainId
from domain.log.keys import sha, shared_digest
from domain.log.rules import RULES
from domain.log.timestamps import instant

MANIFEST_FILE = "have.json"
SIGN_OF_LIFE = timedelta(hours=12)  # so that none who lives is silent for a day
SUM = b',\n  "sum": "'


class ChainHead(Struct, frozen=True):
    """The last append of a chain."""

    n: int
    digest: str


NO_HEAD = ChainHead(0, "")


class AbandonedBranch(Struct, frozen=True):
    """A branch of a chain that was given up: what stands above append `after`, up to `head`, by
    the digests of its appends, in order; the last one is `head` (ADR 74)."""

    log: str
    replica: str
    after: int
    head: str
    digests: tuple[str, ...] = ()
    by: str = ""

    @property
    def place(self) -> ChainId:
        return ChainId(self.log, self.replica)


class Manifest(Struct, frozen=True, omit_defaults=True):
    """What a writer holds: `heads` by log and replica, `told` of appends that say more than the log
    of itself; `digest` is equal where two hold the same; `void`: given up, as far as is known;
    `leads`: who leads, as far as is known; `sum`, the last key of a file: of all bytes before it,
    empty in files of earlier versions, and once it was read."""

    have: int
    replica: str
    label: str
    at: str
    rules: int
    format: int
    heads: Mapping[str, ChainHead]
    told: Mapping[str, ChainHead]
    digest: str
    void: tuple[AbandonedBranch, ...] = ()
    leads: str = ""
    sum: str = ""

    def head(self, log: str, replica: str) -> ChainHead:
        """The last append of a chain that it holds."""
        return self.heads.get(f"{log}:{replica}", NO_HEAD)


def manifest_of(
    logs: Iterable[Log],
    replica: str,
    label: str,
    now: str,
    void: tuple[AbandonedBranch, ...] = (),
    leads: str = "",
) -> Manifest:
    heads, told = dict[str, ChainHead](), dict[str, ChainHead]()
    for log in logs:
        heads |= _chain_heads(log.name, log.heads())
        told |= _chain_heads(log.name, log.telling_heads())
    digest = shared_digest({name: one.digest for name, one in told.items()})
    return Manifest(1, replica, label, now, RULES, FORMAT, heads, told, digest, void, leads)


def read_manifest(data: bytes | None, writer: str) -> Manifest | None:
    """What a file says; None where it is not as it was written, or another's."""
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=Manifest)
        instant(found.at)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return None
    is_whole = found.sum in ("", sha(data.rpartition(SUM)[0]))
    return replace(found, sum="") if is_whole and found.replica == writer else None


def manifest_bytes(have: Manifest) -> bytes:
    """The file's bytes, with their sum."""
    told = msgspec.json.format(msgspec.json.encode(have), indent=2).removesuffix(b"\n}")
    return b"".join([told, SUM, sha(told).encode(), b'"\n}\n'])


def is_news(have: Manifest, known: Manifest | None) -> bool:
    """Whether it says something else than is known, or is a sign of life that is due."""
    if known is None or replace(have, at=known.at) != known:
        return True
    return instant(have.at) - instant(known.at) >= SIGN_OF_LIFE


def _chain_heads(log: str, tails: Mapping[str, Tail]) -> dict[str, ChainHead]:
    return {f"{log}:{name}": ChainHead(one.n, one.digest) for name, one in sorted(tails.items())}
