"""What a person can say of the machines of a home.

STORAGE FORMAT: receipts keep commands, see `domain.wire`. `first`: the replica that leads where
nobody was named, see `machines.leads`; the journal tells who that is.
"""

from typing import ClassVar

from domain.wire import Stored


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


MachinesCommand = LabelReplica | Lead | RetireReplica
