"""The numbers that a person calls change sets by, on this machine and on others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adapters.home.machines import machine_names
from projections import ranks

if TYPE_CHECKING:
    from adapters.wiring import Home


class Ranks(dict[str, int]):
    """What a person calls this machine's change sets by: their ranks, by id. `others`: those of
    other machines, as ``desk/12``."""

    def __init__(self, own: Sequence[str], others: Mapping[str, str]) -> None:
        super().__init__({one: nth for nth, one in enumerate(own, start=1)})
        self.others = others


def ranks_of(home: "Home") -> Ranks:
    """The ranks of all change sets."""
    agents, others = home.services.agents, dict[str, str]()
    labels = machine_names(home.path, agents.replica) if agents.is_shared else {}
    for name in agents.heads() if agents.is_shared else ():
        if name != agents.replica and (theirs := home.views.get(ranks.VIEW, name)):
            called = labels.get(name, name)
            others |= {one: f"{called}/{nth}" for nth, one in enumerate(theirs.sets, start=1)}
    known = home.views.get(ranks.VIEW, agents.replica)
    return Ranks(known.sets if known else (), others)
