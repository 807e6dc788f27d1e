"""What forks of a home have spent: a file beside its forks, which outlives them.

A fork only reads the logs of its home, so what it spends stands in neither of them; budgets count
this file besides. It only grows, a line an answer.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from domain.errors import Refused

NAME = "spent.jsonl"


class Spent(Struct, frozen=True):
    """What one answer took. `fork`: the name of its folder; `cost`: millionths of the person's
    currency."""

    fork: str
    agent: str
    model: str
    at: str = ""
    tokens: int = 0
    cost: int = 0


class ForkLedger:
    """The ledger of a home's forks.

    Args:
        path: The file; None: there is none, and no fork.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write(self, spent: Spent) -> None:
        """Add a line.

        Raises:
            Refused: Code ``read_only``.
        """
        assert self._path is not None  # only a home with a folder has forks that are paid
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(spent) + b"\n")
        except OSError as error:
            because = f"{self._path} cannot be written: {error.strerror}"
            instead = "give yourself permission to it, and free space"
            raise Refused("read_only", because=because, instead=instead) from None

    @property
    def size(self) -> int:
        """How long it is: where that is the same, nothing was added."""
        try:
            return self._path.stat().st_size if self._path is not None else 0
        except OSError:
            return 0

    def between(self, start: str, end: str) -> list[Spent]:
        """The lines of a time; one that was cut off, or is none, is left out."""
        if self._path is None or not self.size:
            return []
        found = list[Spent]()
        for line in self._path.read_bytes().splitlines():
            try:
                one = msgspec.json.decode(line, type=Spent)
            except msgspec.DecodeError:
                continue
            if start <= one.at < end:
                found.append(one)
        return found
