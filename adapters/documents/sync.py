"""The JSON documents of `sync` and `replicas`."""

from typing import Literal

from msgspec import Struct, field

WaitsFor = Literal["gap", "cut short", "newer", "held", "fork", "erasure"]
"""`gap`: rows between are not here yet; `cut short`: a file is not whole yet; `newer`: this version
cannot read it; `held`: the settings hold it back; `fork`: it has two branches; `erasure`: it erases
what was written to here since."""


class Waiting(Struct, frozen=True):
    """What is offered of a replica and not taken: from which append on, what it waits for, and the
    scaffold, if it is one that only a newer version knows."""

    replica: str
    log: str
    for_: WaitsFor = field(name="for")
    n: int
    scaffold: int | None = None

    @property
    def is_trouble(self) -> bool:
        """Whether time alone does not settle it."""
        return self.for_ in ("newer", "fork", "erasure")


class NamedReplica(Struct, frozen=True):
    """What this machine is called now."""

    replica: str
    label: str


class Behind(NamedReplica, frozen=True):
    """A replica that lacked `appends` of these when it was last seen."""

    appends: int
    seen_at: str
    clock_minutes: int  # that its clock is ahead


class IgnoredManifest(Struct, frozen=True):
    """A `have.json` that did not count: it is not as its `writer` wrote it (`broken`), or it alone
    tells of another branch of a chain (`alone`): of append `n` of `replica`."""

    writer: str
    why: Literal["broken", "alone"]
    replica: str = ""
    n: int = 0


class LeadAway(NamedReplica, frozen=True):
    """Another machine leads and was last heard of at `heard_at`, so many `days` ago; this one met
    the others `met_days` ago, so that it cannot have heard since."""

    heard_at: str
    days: int
    met_days: int = 0


class SyncReport(Struct, frozen=True):
    """What a sync did: rows taken, by replica, and given; `new`: replicas seen for the first time;
    `equal`: who holds the same; `leads`: who does since then, empty where that is as before;
    `lead_away`: who is silent and leads, or did until this sync."""

    replica: str
    took: dict[str, int]
    gave: int
    digest: str
    equal: list[str]
    behind: list[Behind]
    waiting: list[Waiting]
    new: list[str]
    labels: dict[str, str]  # by replica
    skipped: int  # files that are not whole, or none of ours
    conflicts: int = 0  # that are open
    leads: str = ""
    ignored: list[IgnoredManifest] = []
    lead_away: LeadAway | None = None  # from one day on


class ReplicaLine(NamedReplica, frozen=True):
    """A writer of this home: what it last wrote as far as is known here, and when it was seen."""

    own: bool
    last_append: int
    last_seen: str
    state: Literal["equal", "behind", "waits"]
    for_: WaitsFor | None = field(name="for", default=None)
    leads: bool = False  # it wakes agents by itself
    retired: bool = False  # it never comes back


class RefusedCause(Struct, frozen=True):
    """What was done on a branch that was given up and could not be done again: append `n` of a log
    there. `what`: the command, in words; `about`: the id or title that it names."""

    log: str
    n: int
    at: str
    what: str
    about: str
    code: str
    because: str


class VoidBranch(Struct, frozen=True):
    """What was given up of a chain: `appends` of them, behind append `after`."""

    log: str
    replica: str
    after: int
    appends: int


class RescueReport(Struct, frozen=True):
    """What a rescue did: this machine wrote as `was` and is `replica` now, empty in a dry run.

    `copy`: the home as it was, empty where nothing had to be done again; `void`: what was given up;
    `took`: rows that came instead, by replica; `causes`: what was done on this machine and would
    be, or was, handed in again. Of them `redone` were done again, `answered` were there already,
    `left_out` are not repeated (wakes, and what followed from them), `refused` are not possible any
    more. `synced`: the sync after it; None:
    `sync_refused` says why there is none, or it was a dry run. `leads`: `was`, where that one still
    leads, as another home writes under it.
    """

    replica: str
    was: str
    copy: str
    void: list[VoidBranch]
    took: dict[str, int]
    causes: int
    redone: int
    answered: int
    left_out: int
    refused: list[RefusedCause]
    synced: SyncReport | None = None
    sync_refused: str = ""
    leads: str = ""


class SameTitle(Struct, frozen=True):
    """An open task that came in, and one of that title and category, `there` before."""

    task: str
    title: str
    there: str


class JoinReport(Struct, frozen=True):
    """What `sync --join` did, or in a dry run would do: this machine is `replica` now, empty in a
    dry run, and what it did before stands under the name `was`.

    `copy`: the home as it was; `tasks`: that came in as new ones; `there`: that were there before;
    `agents`: that stayed in the copy; `met`: tasks of both, for they came of one file or were made
    under one key; `refused`: what could not be done again. `synced`: the sync after it; None:
    `sync_refused` says why there is none, or it was a dry run.
    """

    replica: str
    was: str
    copy: str
    tasks: int
    there: int
    agents: int
    same: list[SameTitle] = []
    met: list[str] = []
    refused: list[RefusedCause] = []
    synced: SyncReport | None = None
    sync_refused: str = ""


class LeadReplica(NamedReplica, frozen=True):
    """The machine that leads now; `changed`: it did not before; `returned`: it was gone."""

    changed: bool
    returned: bool = False


class RetiredReplica(NamedReplica, frozen=True):
    """A machine that never comes back: who leads now, and what was taken over of it: how many
    operations in flight, and agents whose wake it had begun."""

    lead: str
    operations: int
    wakes: int
