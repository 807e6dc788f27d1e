"""What every part of the runtime works on: both logs, a clock, the settings and the models."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from adapters.home.endpoints import full_name
from adapters.home.settings import Settings
from adapters.store.command_history import KEPT, DoneCommand
from adapters.store.leader import first_of
from adapters.store.log import Appended, Log
from adapters.store.recorder import numbered
from adapters.telemetry.spans import NoSpans, Spans
from domain.agent.agent import AGENT, Agent
from domain.agent.commands import AgentCommand, RequestWake
from domain.agent.wake_queue import Reason
from domain.append.causes import Cause
from domain.changes.commands import ChangesCommand
from domain.errors import Refused, WakelogError
from domain.journal.commands import JournalCommand
from domain.lessons.commands import LessonsCommand
from domain.log.state import MAIN, LogState
from domain.log.wire import Payload, PayloadId
from domain.machines.commands import MachinesCommand
from domain.machines.machines import HOME, leads
from domain.policy.commands import PolicyCommand
from domain.ports import Clock, Listener, Model
from domain.scaffold import SCAFFOLD
from domain.templates import template as templates
from domain.templates.commands import TemplateCommand
from domain.wake.commands import WakeCommand
from domain.wake.task_search import TaskSearchIndex
from domain.wake.wake import WAKE, Wake

if TYPE_CHECKING:
    from adapters.runtime.budgets import Budgets, ForkLedger
    from adapters.runtime.journal_cursor import JournalCursor
    from adapters.store.leases import Leases

PART_TRIES, PART_SECONDS = 10, 0.05
ModelFor = Callable[[str], Model]
AgentLogCommand = (
    AgentCommand | WakeCommand | ChangesCommand | TemplateCommand | PolicyCommand
    | LessonsCommand | MachinesCommand
)  # fmt: skip


class OpenLeases(Protocol):
    """Opens a home's leases, to be closed by whoever asked. `is_looking`: nothing is made; where
    nothing is kept yet, they are empty."""

    def __call__(self, *, is_looking: bool = False) -> "Leases": ...


def alone(*, is_looking: bool = False) -> "Leases":
    """The leases of one process that knows of no other."""
    from adapters.store.leases import SqliteLeases  # only who runs wakes needs it

    return SqliteLeases(None)


class Settled(NamedTuple):
    """Who led, and where the agents' ``log:main`` stood."""

    lead: str
    n: int
    at: str


class Allowance:
    """Whether a model may be asked now, by what homes share; here: always."""

    def take(self) -> int:
        """For how many seconds no model may be asked; 0: one may, once, and that counts."""
        return 0

    def give_back(self, count: int) -> None:
        """So many that were taken were not needed."""


class Services:
    """Two logs that never share a file, and what is needed to work on them. `model_for` gives the
    model of a name, ``rules`` for example, and refuses one it cannot; `spans_for` makes what
    effects are traced by, once the first one is performed; `listeners` are told a model's words as
    they come, by the run key of the wake that a person waits for."""

    def __init__(
        self, journal: Log, agents: Log, clock: Clock, settings: Settings, model_for: ModelFor,
        spans_for: Callable[[], Spans] = NoSpans,
    ) -> None:  # fmt: skip
        self.journal = journal
        self.agents = agents
        self.clock = clock
        self.settings = settings
        self.model_for = model_for
        self.spans_for = spans_for
        self.listeners: dict[str, Listener] = {}
        self.scaffold = SCAFFOLD  # of wakes that begin
        self.past: JournalCursor | None = None  # where the watcher stands
        self.task_lines = TaskSearchIndex()  # of the journal, for reads
        self.forks_at: Path | None = None  # where forks are kept; None: there are none
        self.leases: OpenLeases = alone  # where processes say what they run
        self.allowance = Allowance()
        self.settled: Settled | None = None  # when `leadership.settle` looked last
        self._first: tuple[int, str] = (-1, "")  # and as of which marker, see `first`
        self.done: dict[str, deque[DoneCommand]] = {}  # what was appended here, by log: "j" or "a"

    @property
    def ledger(self) -> "ForkLedger":
        """What forks of the home took."""
        from adapters.runtime.budgets import LEDGER_FILE, ForkLedger

        return ForkLedger(self.forks_at / LEDGER_FILE if self.forks_at is not None else None)

    @cached_property
    def spans(self) -> Spans:
        """What effects are traced by; nothing is loaded for it before the first one."""
        return self.spans_for()

    @cached_property
    def budgets(self) -> "Budgets":
        """What may still be spent; it is loaded by who asks."""
        from adapters.runtime.budgets import Budgets

        return Budgets(self.agents, self.settings, self.ledger)

    @property
    def is_enabled(self) -> bool:
        """The master switch."""
        return self.settings.agents.enabled

    @property
    def lead(self) -> str:
        """Which machine watches the journal, ticks timers and wakes by itself: this one in a home
        that is alone, or whose agents stay where they are."""
        with self.agents.reading() as world:
            return self.lead_in(world)

    @property
    def leads(self) -> bool:
        """Whether it is this machine."""
        return self.lead == self.agents.replica

    def lead_in(self, world: LogState) -> str:
        """The same, of the agents' log as it is read already."""
        if not world.is_shared or self.settings.sync.agents == "local":
            return world.replica
        machines = world.load(HOME, MAIN)
        return machines.leader or leads(machines, self.first) or world.replica

    @property
    def first(self) -> str:
        """Who leads where nobody was named, see `first_of`; empty where no machines share the
        agents' log."""
        if not self.agents.is_shared or self.settings.sync.agents == "local":
            return ""
        came = self.journal.recorder.last_version(f"log:{MAIN}@{self.journal.replica}")
        if came != self._first[0] or not self._first[1]:
            self._first = came, first_of(self.journal)
        return self._first[1]

    def check_standing(self) -> None:
        """Look whether both logs are those that were opened. Raises Refused, code ``replaced``."""
        try:
            self.journal.check_standing()
            self.agents.check_standing()
        except Refused:  # they are put back together, though one may look as it was
            both = self.journal, self.agents
            tries = PART_TRIES if self.journal.part() | self.agents.part() else 0
            while tries and not min(one.part(is_other_sure=True) for one in both):
                tries -= 1  # of two files one is put back a moment after the other
                time.sleep(PART_SECONDS)
            raise

    def append_journal(
        self, command: JournalCommand, *, key: str = "", payloads: Sequence[Payload] = ()
    ) -> Appended:
        """Append a command to the journal."""
        appended = self.journal.append(command, self.clock.now(), key=key, payloads=payloads)
        return self._noted(appended, "j")

    def append_agent(
        self, command: AgentLogCommand, *, key: str = "", payloads: Sequence[Payload] = ()
    ) -> Appended:
        """Append a command to the agent log."""
        appended = self.agents.append(command, self.clock.now(), key=key, payloads=payloads)
        return self._noted(appended, "a")

    def _noted(self, appended: Appended, log: str) -> Appended:
        """Note that it was done here: an undo asks where something was done elsewhere."""
        if not appended.rows:
            return appended
        n, at = appended.n, numbered(appended.rows[0].state).at
        last = self.done.get(log)
        if last and last[-1].last == n - 1:
            last[-1] = last[-1]._replace(last=n, ended=at)
        else:
            self.done.setdefault(log, deque(maxlen=KEPT)).append(DoneCommand(log, n, n, at, at, ""))
        return appended

    def request(
        self, agent_id: str, reason: Reason = "manual", session: str = "", turn: int = 0,
        words: PayloadId = "",
    ) -> RequestWake:  # fmt: skip
        """The command by which a person asks for a wake, see `RequestWake`."""
        return RequestWake(
            agent_id, reason, session, turn, words, is_enabled=self.is_enabled, keeps_all=True
        )

    def append_reply(self, cause: Cause, payloads: Sequence[Payload] = ()) -> Appended:
        """Append a reply from outside to the agent log."""
        return self._noted(self.agents.append(cause, self.clock.now(), payloads=payloads), "a")

    def model_name(self, agent: Agent) -> str:
        """Which model an agent asks: its template's active version's, else its template's, else
        its own, else the setting's (SPEC 8); with its address, where it has one."""
        model = agent.model or self.settings.model
        if agent.template:
            with self.agents.reading() as world:
                model = templates.load(world, agent.template).model_in_force or model
        return full_name(model, self.settings)

    def agent(self, agent_id: str) -> Agent:
        """An agent as it is now."""
        with self.agents.reading() as world:
            return world.load(AGENT, agent_id)

    def wake(self, run_key: str) -> Wake:
        """A wake as it is now."""
        with self.agents.reading() as world:
            return world.load(WAKE, run_key)

    def close(self) -> None:
        if "spans" in vars(self):  # it was needed
            self.spans.close()
        with suppress(WakelogError):  # what was to be told was told
            self.check_standing()
        self.journal.close()
        self.agents.close()
