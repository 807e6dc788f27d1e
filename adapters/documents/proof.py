"""The JSON documents of `prove`."""

from msgspec import Struct


class DivergenceDetails(Struct, frozen=True, rename={"kind": "class"}):
    """A place where today's code and the log part: `path` within the row at `position`, what was
    `expected` there and what is, and both sides line by line (`diff`). `wake` and its `step`,
    `cause` (a key) and `upstream` (the position that led there) are null where there is none."""

    log: str
    position: str
    stream: str
    version: int
    kind: str
    path: str
    expected: str
    actual: str
    wake: str | None
    step: int | None
    cause: str | None
    upstream: str | None
    diff: list[str]


class ProofHead(Struct, frozen=True):
    """The newest append of a log and replica, and the digest up to there."""

    n: int
    digest: str


class ReplicaProof(Struct, frozen=True):
    """What was proved of one replica: rows, causes, and of these how many were executed again."""

    rows: int
    causes: int
    executed: int
    folded: int


class ErasedUnit(Struct, frozen=True):
    """What was erased, ``task:<id>`` or ``agent:<id>``, and when."""

    unit: str
    what: str
    at: str


class ErasedProof(Struct, frozen=True):
    """What was erased: `rows` that are marks and `payloads` that went. Of the causes walked now so
    many are `gone`; of those that read something erased so many came out the `same`, and so many
    did not and are `resting` on the chain of digests alone."""

    rows: int
    payloads: int
    gone: int
    resting: int
    same: int
    units: list[ErasedUnit]


class ProofDetails(Struct, frozen=True):
    """What `prove` prints. `seconds` is wall time; `heads` are by ``log:replica``; `more` counts
    the divergences that are left out; `folded` the causes that were not executed again;
    `undecoded` the replies of models whose kept bytes nobody here can read. Of the causes so many
    were `executed` now, and so many `remembered` from a proof at `remembered_at`; `memory_file`
    is where this one is remembered, `memory_unused` why an older one did not count, where one
    was asked for. Of a home that several machines share: `replicas` by name, and `shared`, which
    is equal where two machines hold the same; else null. `newer`: by scaffold, how many wakes were
    made by a newer wakelog and not executed; then it is not `ok`, whatever else differs. `erased`:
    what a person had erased; null where nothing was. `dropped_replies`: so many of which `retain`
    dropped the bytes; their text, calls and tokens are there. `of_extensions`: of the undecoded
    those that models of installed packages gave, by the names of these; see --decoder."""

    ok: bool
    rows: int
    causes: int
    wakes: int
    digest: str
    seconds: float
    divergences: list[DivergenceDetails]
    prompts: int
    heads: dict[str, ProofHead]
    more: int
    folded: int
    undecoded: int
    executed: int
    remembered: int
    remembered_at: str | None
    memory_file: str | None
    memory_unused: str | None
    replicas: dict[str, ReplicaProof] | None = None
    shared: str | None = None
    newer: dict[int, int] | None = None
    erased: ErasedProof | None = None
    dropped_replies: int = 0
    of_extensions: dict[str, int] | None = None
