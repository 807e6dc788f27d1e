"""The numbers that a person calls change sets by, on this machine and on others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from adapters.home.files import machine_names
from projections import inbox

if TYPE_CHECKING:
    from adapters.wiring import Home

NOBODY: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({})
SET_SHOWN = 8  # characters of a set's id
RANK_LENGTH = 9  # digits of no set's number


class Ranks(dict[str, int]):
    """What a person calls this machine's change sets by: their ranks, by id. `others`: those of
    other machines, as ``desk/12``. `typed`: the sets of each machine, this one too, in the order of
    their ranks, by each word that it may be called by, in small letters."""

    def __init__(
        self, own: Sequence[str], others: Mapping[str, str],
        typed: Mapping[str, Sequence[Sequence[str]]] = NOBODY,
    ) -> None:  # fmt: skip
        super().__init__({one: nth for nth, one in enumerate(own, start=1)})
        self.others = others
        self.typed = typed

    @cached_property
    def by_beginning(self) -> dict[str, str]:
        """The ids of all sets by their first letters, as the core names them."""
        return {one[:SET_SHOWN]: one for one in reversed([*self, *self.others])}

    def meant(self, wanted: str) -> list[str]:
        """The sets that a word means: ``12``, or ``desk/12`` by a machine's label or name, so that
        what one machine prints can be typed on the other."""
        machine, slash, rank = wanted.lower().rpartition("/")
        if not slash:
            return [one for one, nth in self.items() if str(nth) == rank]
        nth = int(rank) if rank.isascii() and rank.isdigit() and len(rank) < RANK_LENGTH else 0
        return [sets[nth - 1] for sets in self.typed.get(machine, ()) if 0 < nth <= len(sets)]


def ranks_of(home: "Home") -> Ranks:
    """The ranks of all change sets. A machine is called by its label, unless another one has it."""
    agents = home.services.agents
    known = home.views.get(inbox.RANKS, agents.replica)
    own = known.sets if known else ()
    if not agents.is_shared:
        return Ranks(own, {})
    labels = machine_names(home.path, agents.replica)
    count = Counter(one.lower() for one in labels.values())
    others, typed = dict[str, str](), dict[str, list[Sequence[str]]]()
    for name in agents.heads():
        theirs = home.views.get(inbox.RANKS, name)
        if theirs is None:
            continue
        label = labels.get(name, name)
        for word in {label.lower(), name}:
            typed.setdefault(word, []).append(theirs.sets)
        if name != agents.replica:
            called = label if count[label.lower()] < 2 else name
            others |= {one: f"{called}/{nth}" for nth, one in enumerate(theirs.sets, start=1)}
    return Ranks(own, others, typed)
