"""What a person can say of the machines of a home, and of what they said of its agents.

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`. `first`: the replica that leads where
nobody was named, see `machines.leads`; the journal tells who that is."""

from typing import ClassVar

from domain.journal.commands import SideSeen
from domain.log.wire import Stored


class LabelReplica(Stored, frozen=True, tag="command.label_replica.1"):
    """Call a machine something."""

    replica: str
    label: str


class Lead(Stored, frozen=True, tag="command.lead.1"):
    """Let a machine lead: it alone watches the journal, ticks timers and wakes by itself."""

    said: ClassVar = ("replica",)
    replica: str
    first: str = ""


class RetireReplica(Stored, frozen=True, tag="command.retire_replica.1"):
    """Say that a machine never comes back; what it led, the machine leads that this is said on."""

    said: ClassVar = ("replica",)
    replica: str
    first: str = ""


class SettleAgentsConflict(Stored, frozen=True, tag="command.settle_agents_conflict.1"):
    """What `SettleConflict` is in the journal. `of`, `entity`: the kind and id of the agent, set,
    template, scope of lessons or policy that a conflict is of."""

    said: ClassVar = ("of", "entity", "field", "keep", "seen")
    of: str
    entity: str
    field: str
    keep: str
    seen: tuple[SideSeen, ...] = ()
    is_enabled: bool = False  # the master switch, as set now: what is resumed wakes


MachinesCommand = LabelReplica | Lead | RetireReplica | SettleAgentsConflict
