"""The JSON documents of `sync` and `replicas`."""

from typing import Literal

from msgspec import Struct, field

WaitsFor = Literal["gap", "cut short", "newer", "held", "fork"]
"""`gap`: rows between are not here yet; `cut short`: a file is not whole yet; `newer`: this version
cannot read it; `held`: the settings hold it back; `fork`: it has two branches."""


class Waiting(Struct, frozen=True):
    """What is offered of a replica and not taken: from which append on, and what it waits for."""

    replica: str
    log: str
    for_: WaitsFor = field(name="for")
    n: int

    @property
    def is_trouble(self) -> bool:
        """Whether time alone does not settle it."""
        return self.for_ in ("newer", "fork")


class Behind(Struct, frozen=True):
    """A replica that lacked `appends` of these when it was last seen."""

    replica: str
    label: str
    appends: int
    seen_at: str
    clock_minutes: int  # that its clock is ahead


class SyncReport(Struct, frozen=True):
    """What a sync did: rows taken, by replica, and given; `new`: replicas seen for the first time;
    `equal`: who holds the same."""

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


class ReplicaLine(Struct, frozen=True):
    """A writer of this home: what it last wrote as far as is known here, and when it was seen."""

    replica: str
    label: str
    own: bool
    last_append: int
    last_seen: str
    state: Literal["equal", "behind", "waits"]
    for_: WaitsFor | None = field(name="for", default=None)


class NamedReplica(Struct, frozen=True):
    """What this machine is called now."""

    replica: str
    label: str
