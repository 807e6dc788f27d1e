"""Whether a home may be written, and if not why."""

from typing import NamedTuple

from domain.errors import Refused


class Hold(NamedTuple):
    """`state`: ``open``, ``frozen`` (it is being copied), ``rescued`` (it gets other logs just now)
    or ``moved``; `of`: where to or from."""

    state: str = "open"
    of: str = ""

    def check(self, name: str) -> None:
        """Refuse to write. Raises Refused, with the state as its code."""
        if self.state == "frozen" and not self.of:
            instead = f"whoever runs it says `wakelog --home {name} home thaw`"
            raise Refused("frozen", because=f"the home {name} is frozen", instead=instead)
        if self.state == "frozen":
            because = f"the home {name} is being copied {self.of}, or that was cut off"
            instead = f"repeat the copy, or `wakelog --home {name} home thaw`"
            raise Refused("frozen", because=because, instead=instead)
        if self.state == "rescued":
            because = f"the home {name} is being rescued, or that was cut off"
            raise Refused("frozen", because=because, instead="repeat `wakelog replicas rescue`")
        if self.state == "moved":
            because = f"the home {name} has moved to {self.of}"
            raise Refused("moved", because=because, instead=f"go on there: --home {self.of}")
