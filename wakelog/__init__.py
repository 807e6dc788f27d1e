"""wakelog for programs and notebooks: a home in hand.

>>> from tempfile import TemporaryDirectory
>>> from pathlib import Path
>>> with TemporaryDirectory() as folder:
...     file = Path(folder, "TODO.md")
...     _ = file.write_text("- [ ] Fix the tap\\n\\n  It takes about 2 hours.\\n")
...     with open_home(Path(folder, "home"), may_be_new=True, environ={}) as home:
...         _ = home.import_file(file)
...         _ = home.create_agent("Fix the tap")
...         _ = home.wake("Fix the tap")
...         [item.summary for one in home.inbox() for item in one.items]
...         home.confirm("1.1").status
['Set estimate to 120 minutes']
'confirmed'

Tasks, agents and wakes are named as on the command line: by id, the beginning of one, or title; an
item is SET.ITEM. Answers are the records that `wakelog --json` prints. Every mistake raises a
`WakelogError` with a `code`: `Refused` (bad input, or what the rules forbid), `KeyReused` (one key
for two deeds) or `Damaged`.
"""

import os
import warnings
from collections.abc import Mapping
from importlib.metadata import version

from adapters import wiring
from adapters.documents.agents import AgentDetails, AgentLine
from adapters.documents.inbox import InboxItem, InboxSet
from adapters.documents.policy import Allowed
from adapters.documents.tasks import ImportReport
from adapters.documents.timetravel import ForkDetails, MomentDetails
from adapters.documents.wakes import WakeAnswer, WakeLine
from adapters.home.home_location import MEMORY, MemoryLocation, location_of
from adapters.proof.prove import Proved
from domain.errors import Damaged, KeyReused, Refused, WakelogError
from domain.journal.document import TaskDetails, TaskLine
from domain.ports import Call, Model, ModelFault, Reply, Request
from wakelog._agents import Agents
from wakelog._tasks import Tasks
from wakelog._upkeep import Difference, Replay, Rows, Upkeep

__all__ = [
    "open_home", "Home", "TaskLine", "TaskDetails", "AgentLine", "AgentDetails", "InboxSet",
    "InboxItem", "WakeLine", "WakeAnswer", "ImportReport", "Allowed", "Proved", "MomentDetails",
    "Replay", "Difference", "ForkDetails", "Rows", "Model", "Request", "Reply", "Call",
    "ModelFault", "WakelogError", "Refused", "KeyReused", "Damaged", "__version__",
]  # fmt: skip
__version__ = version("wakelog")


def open_home(
    path: str | os.PathLike[str] | None = None,
    *,
    model: str | Model = "",
    may_be_new: bool = False,
    environ: Mapping[str, str] | None = None,
) -> "Home":
    """Open a home.

    Args:
        path: Its folder, ``pg:NAME``, or ``:memory:`` for one that is over with the program; None:
            `WAKELOG_HOME`, else ``~/.wakelog``.
        model: Who answers: a name, or an object that answers to its own; empty: as the home's
            settings say. Only ``rules``, ``demo`` and ``tape:...`` answer here: to any other name
            nothing is sent before `allow_sending`. `raw` of a reply may be empty for ``tape:...``;
            else it is what that provider sends, or `prove` cannot read it again.
        may_be_new: A home that is not there reads as an empty one, and is made by the first deed
            that writes.
        environ: Environment variables; None: those of this process.

    Raises:
        Refused: There is no home, it cannot be used, or a setting is bad.
        Damaged: A log that cannot be read.
    """
    environ = os.environ if environ is None else environ
    if path == MEMORY:
        return Home(wiring.open_home(MemoryLocation(), environ, model=model), model, environ)
    place = location_of(None if path is None else os.fspath(path), environ)
    if not place.exists() and not may_be_new:
        instead = "name another folder, or begin one with may_be_new=True"
        raise Refused("not_a_log", because=f"there is no home at {place.name}", instead=instead)
    opened = wiring.open_home(place, environ, model=model)
    if (other := opened.other) is not None:
        warnings.warn(f"{other.because}; {other.instead}", stacklevel=2)
    return Home(opened, model, environ)


class Home(Tasks, Agents, Upkeep):
    """An open home, from `open_home`. Close it, or use it in a ``with`` block. A deed that writes
    takes a `key`: the same deed under the same key is done once, however often it is asked for."""

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wakelog home {self._name}{'' if self._opened else ', closed'}>"

    def close(self) -> None:
        """Close its files; twice is harmless."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
