"""The JSON document of `fork`."""

from msgspec import Struct

from replay.diff import WakesCompared
from replay.fork import Answer


class ForkTemplate(Struct, frozen=True):
    """The template that the agent of a fork lives on; null: the built-in one, the active one."""

    id: str | None
    name: str
    version: int | None


class ForkNote(Struct, frozen=True):
    """A note that says something else; without a number it is one more."""

    task: str
    number: int | None


class ForkVerdict(Struct, frozen=True):
    """An item, by the id of its set, that was decided so."""

    set: str
    item: int
    verdict: str


class ForkDetails(Struct, frozen=True):
    """What `fork` prints: the folder `home` of the fork, what it is `of`, the `step` where it
    parts, and what is other in its world. `stopped` says why it ended early; `left_out` counts
    recorded causes that its world refuses; `tokens` is what paid answers took."""

    home: str
    of: str
    run_key: str
    forked_run_key: str
    step: int | None
    journal: str
    agent: str
    model: str | None
    template: ForkTemplate | None
    notes: list[ForkNote]
    verdicts: list[ForkVerdict]
    answers: list[Answer]
    stopped: str | None
    left_out: int
    diff: WakesCompared
    agent_id: str
    made_at: str
    tokens: int


class KeptFork(Struct, frozen=True, kw_only=True):
    """What is kept beside a fork of what it is of, see `ForkDetails`; `name` is its folder's."""

    name: str = ""
    run_key: str
    forked_run_key: str
    step: int | None = None
    model: str | None = None
    template: ForkTemplate | None = None
    notes: list[ForkNote] = []
    verdicts: list[ForkVerdict] = []
    answers: list[Answer] = []
    stopped: str | None = None
    left_out: int = 0
    agent_id: str = ""  # of those that were made before 0.7 it is not told, nor when
    made_at: str = ""
    tokens: int = 0

    @property
    def number(self) -> int:
        """The how manieth of its wake it is."""
        return int(self.name.rpartition("-")[2] or 0)
