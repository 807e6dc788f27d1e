"""Agents as `agent list` and the scheduler see them: the domain's own two folds (SPEC 2, 10)."""

from itertools import product
from operator import attrgetter

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from domain.agent import wake_queue as a
from domain.agent.agent import AGENT, Agent, Mode
from domain.log.state import RecordedEvent, joined
from projections.view import View, of_kinds, position

LIFECYCLES = ("active", "dormant", "destroyed")
_WORDS = (LIFECYCLES[:2], ("", "running"), ("", "failing"), ("", "timed"))
LIVING = tuple(" ".join(filter(None, words)) for words in product(*_WORDS))
"""The marks of the agents that were not destroyed."""


def marks(word: str) -> tuple[str, ...]:
    """The marks of the agents of a lifecycle, or of living ones that are ``running``, ``failing``
    or ``timed``: what comes may be a tick of their timers.

    >>> marks("destroyed"), marks("failing")[:2]
    (('destroyed',), ('active failing', 'active failing timed'))
    """
    return (word,) if word == "destroyed" else tuple(one for one in LIVING if word in one.split())


ALL = (*LIVING, "destroyed")
"""The marks of all agents that were not deleted."""


class AgentDocument(Struct, frozen=True, rename={"wake_queue": "alert"}):  # its stored name
    """An agent and its attention; what is shown is derived from them.

    `place` is that of its first row. A view has no clock: a time it names may be over.
    `changed_elsewhere`: `WakeQueue.changed_of` of other machines, joined."""

    agent: Agent
    wake_queue: a.WakeQueue
    place: str
    changed_elsewhere: dict[str, int] | UnsetType = UNSET

    @property
    def id(self) -> str:
        return self.agent.id

    @property
    def exists(self) -> bool:
        """Whether it was made and not deleted."""
        return self.agent.lifecycle != "" and not self.agent.is_deleted

    @property
    def is_living(self) -> bool:
        """Whether it is its task's agent: a destroyed one is not any more."""
        return self.exists and self.agent.lifecycle != "destroyed"

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def task_id(self) -> str:
        return self.agent.task

    @property
    def agent_kind(self) -> str:
        return self.agent.agent_kind

    @property
    def mode(self) -> Mode:
        return self.agent.mode

    @property
    def lifecycle(self) -> str:
        return self.agent.lifecycle

    @property
    def generation(self) -> int:
        return self.agent.generation

    @property
    def is_deleted(self) -> bool:
        return self.agent.is_deleted

    @property
    def run_status(self) -> a.RunStatus:
        return a.run_status(self.wake_queue)

    @property
    def template_id(self) -> str:
        """The template that it lives on; empty: the built-in directives."""
        return self.agent.template

    @property
    def next_due(self) -> str:
        """When the wake that begins next may begin; empty where none waits, or one runs."""
        return a.next_due(a.heeding(self.wake_queue, self.agent))

    @property
    def next_tick(self) -> str:
        """When the first of its timers ticks, where the agent heeds them; else empty."""
        agent = self.agent
        heeds = agent.lifecycle == "active" and agent.mode != "interactive" and agent.is_automatic
        return min([timer.next_at for timer in agent.timers], default="") if heeds else ""

    @property
    def next_wake_at(self) -> str:
        """The earlier of `next_due` and `next_tick`."""
        return min((at for at in (self.next_due, self.next_tick) if at), default="")

    @property
    def next_run_key(self) -> str:
        """Which wake `next_due` is about."""
        return self.waiting_run_key or ("" if self.running_run_key else self.queued_run_key)

    @property
    def last_wake_at(self) -> str:
        return self.agent.last_wake_at

    @property
    def sleep_until(self) -> str:
        """Until when a wait, the throttle, a backoff or its sleep holds it off; empty where none
        does, or no clock says when."""
        waiting = self.wake_queue.waiting
        is_timed = waiting is not None and waiting.waits_for not in a.HELD
        held = waiting.until if waiting and is_timed else self.wake_queue.not_before
        return max(held, self.asleep_until)

    @property
    def asleep_until(self) -> str:
        """Until when only a person wakes it; empty where it never slept. It may be over."""
        return a.heeding(self.wake_queue, self.agent).sleeps_until or ""

    @property
    def failures(self) -> int:
        """Failed wakes in a row."""
        return self.agent.failures

    @property
    def is_failing(self) -> bool:
        """Whether its last wake failed, or it gave up after some."""
        return self.failures > 0 or self.agent.pause_reason == "failures"

    @property
    def wakes(self) -> int:
        return self.agent.wakes

    @property
    def last_outcome(self) -> str:
        return self.agent.last_outcome

    @property
    def last_code(self) -> str:
        return self.agent.last_code

    @property
    def is_stale(self) -> bool:
        """Whether a change concerned it that its report does not speak of, and its next may."""
        if not self.is_living:
            return False
        changed = joined(self.wake_queue.changed_of or {}, self.changed_elsewhere or {})
        noticed = replace(self.wake_queue, changed_of=changed)
        return a.is_news(noticed, self.agent.fresh_position, self.agent.fresh_seen)

    @property
    def queued_run_key(self) -> str:
        """The wake that was not begun yet."""
        return self.wake_queue.queued.run_key if self.wake_queue.queued else ""

    @property
    def running_run_key(self) -> str:
        return self.wake_queue.running

    @property
    def waiting_run_key(self) -> str:
        """The begun wake that waits for its provider or a budget."""
        return self.wake_queue.waiting.run_key if self.wake_queue.waiting else ""


UNKEPT = ("categories_ever", "newest", "seen", "born_seen")
"""What a view has no use for."""


def apply(document: AgentDocument | None, row: RecordedEvent) -> AgentDocument | None:
    """The agent after this row, whichever of its two streams it is of."""
    known = document or AgentDocument(
        AGENT.initial(row.entity), a.WAKE_QUEUE.initial(row.entity), position(row)
    )
    if row.of_kind == "agent":
        agent = AGENT.evolve(known.agent, row)
        return replace(known, agent=replace(agent, **dict.fromkeys(UNKEPT, UNSET)))
    return replace(known, wake_queue=a.WAKE_QUEUE.evolve(known.wake_queue, row))


def _mark(document: AgentDocument) -> str:
    """``deleted``, ``destroyed``, or the words that are true of a living one, see `marks`."""
    if not document.is_living:
        return "destroyed" if document.exists else "deleted"
    words = {
        document.lifecycle: True, "running": document.wake_queue.running_since,
        "failing": document.is_failing, "timed": document.next_tick,
    }  # fmt: skip
    return " ".join(word for word, is_true in words.items() if is_true)


def _due(document: AgentDocument) -> str:
    """The next tick of its timers; a dormant agent's are noted, too."""
    ticks = [timer.next_at for timer in document.agent.timers]
    return min(ticks, default="") if document.is_living else ""


def apply_others(document: AgentDocument | None, row: RecordedEvent) -> AgentDocument | None:
    """What another machine's attention tells this one: that something concerned the agent."""
    if document is None:
        return None
    known = document.changed_elsewhere
    changed = a.WAKE_QUEUE.evolve(a.WakeQueue(row.entity, changed_of=known), row).changed_of
    return document if changed == known else replace(document, changed_elsewhere=changed)


VIEW: View[AgentDocument] = View(
    "agents", "agent", 7, AgentDocument, of_kinds("agent", "alert"), apply,
    shelf=attrgetter("task_id"), mark=_mark, due=_due,
    turn=lambda document: document.next_due if document.is_living else "", title="$.agent.name",
    own=("alert",), apply_others=apply_others, entities=("agent", "alert"),
)  # fmt: skip
