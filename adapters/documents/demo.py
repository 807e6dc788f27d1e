"""The JSON documents of `demo` and `demo-data`."""

from typing import Literal

from msgspec import Struct

from adapters.documents.inbox import InboxSet
from adapters.documents.proof import ProofDetails


class DemoDetails(Struct, frozen=True):
    """What `demo` prints: how many tasks, agents and reports there are, and what is proposed."""

    home: str
    tasks: int
    agents: int
    reports: int
    inbox: list[InboxSet]
    proof: ProofDetails


class DemoData(Struct, frozen=True):
    """What `demo-data` prints when it has made a home."""

    home: str
    seed: str
    days: int
    agents: int
    wakes: int
    proof: ProofDetails


class DemoDataThere(Struct, frozen=True):
    """What `demo-data` prints where the home is there already."""

    home: str
    is_there: Literal[True] = True
