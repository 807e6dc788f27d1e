"""What a person, the watcher or the scheduler can ask of the agent log (SPEC 2, 3).

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`. What a decision needs from outside
(a setting, a zone-dependent instant, the journal's state) travels in the command."""

from typing import ClassVar

from domain.agent.agent import Mode
from domain.agent.deciders import AgentSettings
from domain.agent.subscriptions import Batch
from domain.agent.wake_queue import Reason, Trigger
from domain.log.wire import Imported, PayloadId, Stored


class CreateAgent(Stored, frozen=True, tag="command.create_agent.1"):
    """`category`: the task's, at the journal's `position`; `name`: empty takes `title`; `first`:
    of a home that machines share, who leads where nobody was named, see `machines.leads`.
    `agent_kind` (empty: a task's), `subject`, `categories`: of one without a task, which has no
    `category` either."""

    said: ClassVar = ("task", "mode", "name", "model", "turn_max")
    task: str
    title: str
    category: str
    position: int
    mode: Mode
    name: str = ""
    model: str = ""
    turn_max: int = 0
    is_enabled: bool = False  # the master switch, as set now
    template: str = ""  # that it shall live on; empty: the built-in directives
    seen: tuple[Imported, ...] = ()  # of a shared journal: what `position` knows of each machine
    first: str = ""
    agent_kind: str = ""
    subject: str = ""
    categories: tuple[str, ...] = ()


class ConfigureAgent(Stored, frozen=True, tag="command.configure_agent.1"):
    agent: str
    wanted: AgentSettings


class WatchTokens(Stored, frozen=True, tag="command.watch_tokens.1"):
    agent: str
    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class UnwatchTokens(Stored, frozen=True, tag="command.unwatch_tokens.1"):
    agent: str
    subscription: str


class SetTimer(Stored, frozen=True, tag="command.set_timer.1"):
    said: ClassVar = ("agent", "schedule", "zone")
    agent: str
    schedule: str
    zone: str
    next_at: str
    heeds_moves: bool = False  # it asks only where something moved since the last wake


class RemoveTimer(Stored, frozen=True, tag="command.remove_timer.1"):
    agent: str
    timer: str


class PauseAgent(Stored, frozen=True, tag="command.pause_agent.1"):
    agent: str


class ResumeAgent(Stored, frozen=True, tag="command.resume_agent.1"):
    said: ClassVar = ("agent",)
    agent: str
    is_enabled: bool = False


class DestroyAgent(Stored, frozen=True, tag="command.destroy_agent.1"):
    agent: str


class DeleteAgent(Stored, frozen=True, tag="command.delete_agent.1"):
    agent: str


class TakeJournal(Stored, frozen=True, tag="command.take_journal.1"):
    """Journal appends `first`..`last` of `replica` as notification batches; appends that
    concern nobody are in the range, not in `batches`. `propagated_due`: when a match only
    through a link is due, resolved in the person's zone. `journal_digest`: of append `last`;
    empty where older code took it. `covered`: what machines that led before had taken, by whose
    append; it is in the range, and not in `batches`."""

    replica: str
    first: int
    last: int
    batches: tuple[Batch, ...]
    propagated_due: str
    is_enabled: bool = False
    throttle_seconds: int = 0  # 0: the default
    journal_digest: str = ""
    covered: tuple[Imported, ...] = ()


class TickTimer(Stored, frozen=True, tag="command.tick_timer.1"):
    """One catch-up for all `ticks`; `next_at` is empty where the schedule has ended."""

    agent: str
    timer: str
    ticks: tuple[str, ...]
    next_at: str = ""
    is_enabled: bool = False


class RequestWake(Stored, frozen=True, tag="command.request_wake.1"):
    """`reason`: ``manual``, ``user`` or ``recovery``; of a user wake `session` (empty: this
    command's key), `turn` and the words' payload. `keeps_all`: the wake inherits every trigger of
    the one that it supersedes, however many; as of 0.1.0, those that its attention kept. `of` and
    `of_n`: of a creation on a machine that does not lead, its append."""

    said: ClassVar = ("agent", "reason", "words")
    agent: str
    reason: Reason
    session: str = ""
    turn: int = 0
    words: PayloadId = ""
    is_enabled: bool = False
    keeps_all: bool = False
    of: str = ""
    of_n: int = 0


class InheritWake(Stored, frozen=True, tag="command.inherit_wake.1"):
    """Take over what waits for an agent, or was left, on the replica `of` that led before; persons'
    wakes stay with it, unless it is retired. `triggers`: with their places in this replica's
    journal. `version`: of the row of its stream that told the last of them."""

    said: ClassVar = ("agent", "of", "version")
    agent: str
    of: str
    version: int
    triggers: tuple[Trigger, ...]
    is_enabled: bool = False
    throttle_seconds: int = 0  # 0: the default


class SleepAgent(Stored, frozen=True, tag="command.sleep_agent.1"):
    """Let only a person wake an agent before `until`; empty: it sleeps no longer. `is_ordered`: it
    holds on every machine; without it, as of 0.2.0, on the one where it was said."""

    said: ClassVar = ("agent", "until")
    agent: str
    until: str = ""
    is_ordered: bool = False


AgentCommand = (
    CreateAgent | ConfigureAgent | WatchTokens | UnwatchTokens | SetTimer | RemoveTimer | PauseAgent
    | ResumeAgent | DestroyAgent | DeleteAgent | TakeJournal | TickTimer | RequestWake | SleepAgent
    | InheritWake
)  # fmt: skip
