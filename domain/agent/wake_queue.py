"""An agent's attention: what happens to it, the streams ``alert:<agent>`` and ``watch:main``, and
what waits, what runs and what held it off, as that makes it (SPEC 3).

STORAGE FORMAT, see `domain.log.wire`. Every trigger ends in one `WakeQueued`, `TriggerMerged` or
`TriggerSuppressed` (DESIGN 2, law 9); a queued wake ends in `WakeBegun` or `WakeDropped`. A wake
that supersedes another one has its triggers: the newest of them recorded once more, the others
counted in `WakeDropped.left_out`.

At most one wake is begun, and at most one is queued behind it. A begun wake either runs or, once
it was backed off, waits for a provider or a budget; then its agent counts as queued. The rules
that make the facts are in `domain.agent.wake_queue_rules`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from domain.agent.agent import Agent
from domain.log.keys import key
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Imported, Part, Stored

Reason = Literal[
    "subscription",
    "timer",
    "user",
    "creation",
    "manual",
    "recovery",
    "request",
    "client",  # proposed without being asked, and never queued
]
Rule = Literal[
    "dormant",
    "sleeping",  # reserved (ADR 38)
    "destroyed",
    "switched_off",
    "automation_off",
    "mode",
    "own_write",
    "agent_write",
    "hops",
    "predicate",  # reserved, too
    "led_elsewhere",  # another machine wakes by itself, this one does not
    "seen_elsewhere",  # a wake of another machine saw it
]


class Trigger(Part, frozen=True):
    """What may wake an agent: a journal append, a timer's ticks, a person's request, or what
    another agent asks, reason ``request``.

    `reason_id`: subscription, timer or session id, the run key of the wake that asked, or the `n`
    of a person's request as text. `replica`
    and `position`: of the journal append, for changes. `change`: its logicalChangeKey.
    `tokens`: those that matched. `ticks`: the times a timer trigger stands for. `words`: the
    person's, as a payload id; they go with the trigger when another wake inherits it. `of` and
    `of_n`: the append of another machine that it was, see `Batch`. `about`: what another
    agent asks."""

    reason: Reason
    reason_id: str
    replica: str = ""
    position: int = 0
    change: str = ""
    tokens: tuple[str, ...] = ()
    is_propagated: bool = False  # matched only through a link
    hop: int = 0  # how many agents' writes led here
    ticks: tuple[str, ...] = ()
    turn: int = 0  # of a user's session
    words: str = ""
    of: str = ""
    of_n: int = 0
    about: str = ""


class WakeQueued(Stored, frozen=True, tag="alert.wake_queued.1"):
    run_key: str
    trigger: Trigger
    due_at: str
    thread: str


class TriggerMerged(Stored, frozen=True, tag="alert.trigger_merged.1"):
    """`due_at`: empty where the wake's own stands."""

    run_key: str
    trigger: Trigger
    due_at: str = ""


class TriggerSuppressed(Stored, frozen=True, tag="alert.trigger_suppressed.1"):
    trigger: Trigger
    rule: Rule


class WakeBegun(Stored, frozen=True, tag="alert.wake_begun.1"):
    """A queued wake runs, or one that was backed off after its start runs again."""

    run_key: str


class WakeDropped(Stored, frozen=True, tag="alert.wake_dropped.1"):
    """A queued wake ends without a start. `code`: ``superseded`` (then `by` is the run key that
    inherits its triggers) or the rule that skipped it. `left_out`: so many more of its triggers
    go to `by`, all of those that were not recorded again as merged into it."""

    run_key: str
    code: str
    by: str = ""
    left_out: int = 0  # as of 0.1.0: those were lost


class WakeBackedOff(Stored, frozen=True, tag="alert.wake_backed_off.1"):
    """A begun or queued wake waits: its run key, rows and open intent stay."""

    run_key: str
    until: str
    reason: str  # "provider", "budget", "consent", "secret"; "requested": a person ends the wait


class WakeSettled(Stored, frozen=True, tag="alert.settled.1"):
    """The running wake ended. `not_before`: backoff after a failure or the armed throttle."""

    run_key: str
    outcome: Literal["completed", "failed", "skipped", "superseded"]
    failures: int = 0  # in a row, this one included
    not_before: str = ""


class AgentSlept(Stored, frozen=True, tag="alert.slept.1"):
    """As of 0.2.0: what `agent.SleepOrdered` says, on one machine."""

    until: str = ""


WakeQueueFact = (
    WakeQueued | TriggerMerged | TriggerSuppressed | WakeBegun | WakeDropped | WakeBackedOff
    | WakeSettled | AgentSlept
)  # fmt: skip


class JournalTaken(Stored, frozen=True, tag="watch.journal_taken.1"):
    """Journal appends `first`..`last` of `replica` have been turned into notices."""

    replica: str
    first: int
    last: int


WatchFact = JournalTaken


# ---------------------------------------------------------------------------------------- the queue

RUN_KEYS_KEPT = 256  # a trigger's is asked for when it is decided on and when it is folded
SEEN_KEPT = 256  # newest triggers whose repeat is recognised
TRIGGERS_KEPT = 500  # of one wake, and recorded again by a wake that supersedes it
AT_ONCE: frozenset[Reason] = frozenset({"manual", "user", "creation", "recovery"})
"""Reasons that neither throttle nor backoff holds off."""

ASKED: frozenset[Reason] = frozenset({"manual", "user", "recovery"})
"""Reasons by which a person wakes an agent that sleeps."""

HELD = frozenset({"consent", "secret"})
"""What a wake waits for until a person gives it, however long that takes; see `HELD_UNTIL`."""
HELD_UNTIL = "9999-01-01T00:00:00.000000Z"
"""No clock ends that wait."""
GIVEN = "requested"
"""Why such a wake is due again: a person ended the wait."""

RunStatus = Literal["idle", "queued", "running", "failed"]
LED_ELSEWHERE = "led_elsewhere"
"""What was left to the machine that leads may come back, if this one leads again."""
DEFERRED: frozenset[Reason] = frozenset({"subscription", "request"})
"""Reasons that wait for the throttle, and move no wake forward."""
NO_RECEIPT = "no_receipt"
"""Why a wake is dropped that only other agents asked for: nobody agreed to what it would be sent,
and for their sake none waits."""
UNCHANGED = "unchanged"
"""Why a wake of timers is skipped where nothing moved since the one before."""
TOO_FEW_FACTS = "too_few_facts"
"""The same, where hardly anything is new of the template that its agent improves."""
QUIET = (UNCHANGED, TOO_FEW_FACTS)
"""Why a wake of timers asks nobody."""
ELSEWHERE = frozenset({"own_write", "agent_write", "hops", "seen_elsewhere"})
"""Rules of a suppressed change that leaves the agent's report as fresh as it was."""


class Queued(Struct, frozen=True):
    """A wake: queued, or begun.

    `triggers`: its own first, then the merged ones in order; of more than `TRIGGERS_KEPT` the
    oldest merged changes are left out, and counted. `hop`: the greatest of all its triggers.
    `until`: where it was backed off, not before then, because of `waits_for`; `backoffs` counts
    the provider's."""

    run_key: str
    reason: Reason
    thread: str
    queued_at: str
    due_at: str
    triggers: tuple[Trigger, ...]
    hop: int = 0
    is_propagated_only: bool = False
    is_urgent: bool = False  # a trigger has a reason that is at once
    begun_at: str = ""  # the last time
    until: str = ""
    waits_for: str = ""
    backoffs: int = 0
    left_out: int = 0  # of its triggers; the log has them all

    @property
    def trigger_count(self) -> int:
        """How many triggers it stands for, those left out included."""
        return len(self.triggers) + self.left_out

    @property
    def words(self) -> tuple[str, ...]:
        """Payload ids of all that the person said to it, in order."""
        return tuple(trigger.words for trigger in self.triggers if trigger.words)


class WakeQueue(Struct, frozen=True):
    """The attention of one agent on one replica.

    `not_before`: the armed throttle or backoff; nothing queued is due earlier unless it is at
    once. `seen`: the newest triggers, by `run_key_of`. `changed`: the newest journal `n` that
    concerned the agent; its report is stale where that is beyond `Agent.fresh_position`.
    `changed_of`: the same by the replica that wrote it, in that one's own numbers.
    `sleeps_until`: see `AgentSlept`; it is left out where nothing of the kind was said here, and so
    is `slept`, the append that said it last."""

    id: str
    begun: Queued | None = None
    queued: Queued | None = None
    not_before: str = ""
    failures: int = 0  # in a row
    last_outcome: str = ""
    seen: tuple[str, ...] = ()
    changed: int = 0
    sleeps_until: str | UnsetType = UNSET
    changed_of: dict[str, int] | UnsetType = UNSET
    slept: Imported | UnsetType = UNSET

    @property
    def running(self) -> str:
        """Run key of the wake that runs now; empty if none does."""
        return self.begun.run_key if self.begun and not self.begun.until else ""

    @property
    def running_since(self) -> str:
        return self.begun.begun_at if self.begun and not self.begun.until else ""

    @property
    def waiting(self) -> Queued | None:
        """The begun wake that was backed off and waits."""
        return self.begun if self.begun and self.begun.until else None


_run_key = lru_cache(RUN_KEYS_KEPT)(key)


def run_key_of(agent: str, trigger: Trigger) -> str:
    """The key of the wake that a trigger makes, if it is the first of it (DESIGN 6)."""
    match trigger.reason:
        case "subscription":
            return _run_key("run/subscription", agent, trigger.reason_id, trigger.change)
        case "timer":  # a catch-up is its first tick, however late it is noticed
            first = trigger.ticks[0] if trigger.ticks else ""
            return _run_key("run/timer", agent, trigger.reason_id, first)
        case "user":
            return _run_key("run/user", agent, trigger.reason_id, str(trigger.turn))
        case "request":
            return _run_key("run/request", agent, trigger.reason_id)
        case "client":
            return _run_key("run/client", agent, trigger.reason_id, "1")
        case "manual" | "creation" | "recovery":  # pragma: no branch  # these are all reasons
            return _run_key(f"run/{trigger.reason}", agent, trigger.replica, trigger.reason_id)


def due_of(wake: Queued, wake_queue: WakeQueue) -> str:
    """When a wake may begin: its own due time, its wait, and the agent's throttle or backoff.

    One that has begun minds its wait alone."""
    if wake.begun_at:
        return wake.until
    held = "" if wake.is_urgent else wake_queue.not_before
    return max(wake.due_at, wake.until, held, asleep_until(wake, wake_queue))


def is_asked_by_agents(wake: Queued) -> bool:
    """Whether nothing but what other agents ask made a wake."""
    return not wake.left_out and all(one.reason == "request" for one in wake.triggers)


def heeds_moves(agent: Agent, queued: Queued) -> bool:
    """Whether a queued wake need not ask where nothing moved: timers alone made it, each of them
    set so. One that rang for the last time is gone, and asks."""
    heeding = {one.id for one in agent.timers if one.heeds_moves}
    are_timers = all(one.reason == "timer" and one.reason_id in heeding for one in queued.triggers)
    return are_timers and not queued.left_out


def asleep_until(wake: Queued, wake_queue: WakeQueue) -> str:
    """Until when the agent's sleep holds a wake off; empty for one that has begun or that a person
    asked for. The time may be over."""
    until = wake_queue.sleeps_until or ""
    is_held = until and not wake.begun_at
    return until if is_held and all(one.reason not in ASKED for one in wake.triggers) else ""


def is_over(wake_queue: WakeQueue, agent: Agent) -> bool:
    """Whether what was said of its sleep on one machine alone, if anything, counts no longer."""
    slept = wake_queue.slept
    return not slept or slept.n <= (agent.sleeps_over or {}).get(slept.replica, 0)


def heeding(wake_queue: WakeQueue, agent: Agent) -> WakeQueue:
    """The attention of an agent that sleeps as a person ordered it: until the later of what holds
    everywhere and of what was said here alone."""
    if agent.sleeps_until is UNSET:
        return wake_queue
    here = "" if is_over(wake_queue, agent) else wake_queue.sleeps_until or ""
    return replace(wake_queue, sleeps_until=max(agent.sleeps_until, here))


def next_wake(wake_queue: WakeQueue) -> Queued | None:
    """The wake that begins next: a begun one that waits goes first; none while one runs."""
    return wake_queue.queued if wake_queue.begun is None else wake_queue.waiting


def next_due(wake_queue: WakeQueue) -> str:
    """When the next wake may begin; empty where nothing is to begin, or no clock says when."""
    wake = next_wake(wake_queue)
    return "" if wake is None or wake.waits_for in HELD else due_of(wake, wake_queue)


def run_status(wake_queue: WakeQueue) -> RunStatus:
    """What a person is told of it."""
    if wake_queue.running:
        return "running"
    if wake_queue.waiting or wake_queue.queued:
        return "queued"
    return "failed" if wake_queue.last_outcome == "failed" else "idle"


def evolve(wake_queue: WakeQueue, recorded: RecordedEvent) -> WakeQueue:
    """The attention after one more fact."""
    match recorded.fact:
        case WakeQueued() as fact:
            return _queued(_noticed(wake_queue, fact.trigger), fact, recorded.at)
        case TriggerMerged(run_key=run_key, trigger=trigger, due_at=due_at):
            wake_queue = _noticed(wake_queue, trigger)
            if wake_queue.queued is None or wake_queue.queued.run_key != run_key:
                return wake_queue
            return replace(wake_queue, queued=_merged(wake_queue.queued, trigger, due_at))
        case TriggerSuppressed(rule="led_elsewhere"):
            return wake_queue
        case TriggerSuppressed(trigger=trigger, rule=rule):
            return _noticed(wake_queue, trigger, concerns=rule not in ELSEWHERE)
        case WakeBegun(run_key=run_key):
            return _begun(wake_queue, run_key, recorded.at)
        case WakeDropped() as fact:
            return _dropped(wake_queue, fact)
        case WakeBackedOff() as fact:
            return _backed_off(wake_queue, fact)
        case WakeSettled() as fact:
            return _settled(wake_queue, fact)
        case AgentSlept(until=until):
            slept = Imported(recorded.replica, recorded.n)
            return replace(wake_queue, sleeps_until=until, slept=slept)
        case _:
            return wake_queue


WAKE_QUEUE: StreamType[WakeQueue] = StreamType("alert", WakeQueue, evolve, is_merged=False)


def _noticed(wake_queue: WakeQueue, trigger: Trigger, *, concerns: bool = True) -> WakeQueue:
    """Remember a trigger; a resumed agent begins anew, and a person clears what holds it off."""
    named = run_key_of(wake_queue.id, trigger)
    if named not in wake_queue.seen:
        wake_queue = replace(wake_queue, seen=(*wake_queue.seen, named)[-SEEN_KEPT:])
    match trigger.reason:
        case "subscription" if concerns:
            return _with_change(wake_queue, trigger)
        case "recovery":
            return replace(wake_queue, failures=0, not_before="", last_outcome="")
        case "manual" | "user":
            return replace(wake_queue, not_before="")
        case _:
            return wake_queue


def _with_change(wake_queue: WakeQueue, trigger: Trigger) -> WakeQueue:
    """A change concerned the agent: by the number that it has here, and by its writer's."""
    known = wake_queue.changed_of or {}
    writer, n = trigger.of or trigger.replica, trigger.of_n or trigger.position
    return replace(
        wake_queue,
        changed=max(trigger.position, wake_queue.changed),
        changed_of={**known, writer: max(n, known.get(writer, 0))},
    )


def _queued(wake_queue: WakeQueue, fact: WakeQueued, at: str) -> WakeQueue:
    trigger = fact.trigger
    made = Queued(
        fact.run_key, trigger.reason, fact.thread, at, fact.due_at, (trigger,), hop=trigger.hop,
        is_propagated_only=trigger.is_propagated, is_urgent=trigger.reason in AT_ONCE,
    )  # fmt: skip
    return replace(wake_queue, queued=made)


def _merged(wake: Queued, trigger: Trigger, due_at: str) -> Queued:
    triggers = (*wake.triggers, trigger)
    if len(triggers) > TRIGGERS_KEPT:
        changes = (nth for nth, one in enumerate(triggers) if nth and one.reason == "subscription")
        out = next(changes, 1)
        triggers = (*triggers[:out], *triggers[out + 1 :])
    return replace(
        wake,
        triggers=triggers,
        left_out=wake.trigger_count + 1 - len(triggers),
        due_at=due_at or wake.due_at,
        hop=max(wake.hop, trigger.hop),
        is_propagated_only=wake.is_propagated_only and trigger.is_propagated,
        is_urgent=wake.is_urgent or trigger.reason in AT_ONCE,
    )


def _begun(wake_queue: WakeQueue, run_key: str, at: str) -> WakeQueue:
    if wake_queue.begun is not None and wake_queue.begun.run_key == run_key:
        wake = replace(wake_queue.begun, begun_at=at, until="", waits_for="")
        return replace(wake_queue, begun=wake)
    if wake_queue.queued is not None and wake_queue.queued.run_key == run_key:
        wake = replace(wake_queue.queued, begun_at=at, until="", waits_for="")
        return replace(wake_queue, begun=wake, queued=None)
    return wake_queue


def _dropped(wake_queue: WakeQueue, fact: WakeDropped) -> WakeQueue:
    """The queued wake is gone; or the one before it was, and leaves it what has no row there."""
    wake = wake_queue.queued
    if wake is None or wake.run_key not in (fact.run_key, fact.by):
        return wake_queue
    if wake.run_key == fact.run_key:
        if fact.code == LED_ELSEWHERE:
            left = {run_key_of(wake_queue.id, trigger) for trigger in wake.triggers}
            seen = tuple(one for one in wake_queue.seen if one not in left)
            wake_queue = replace(wake_queue, seen=seen)
        return replace(wake_queue, queued=None)
    return replace(wake_queue, queued=replace(wake, left_out=wake.left_out + fact.left_out))


def _backed_off(wake_queue: WakeQueue, fact: WakeBackedOff) -> WakeQueue:
    for wake in (wake_queue.begun, wake_queue.queued):
        if wake is None or wake.run_key != fact.run_key:
            continue
        count = wake.backoffs + (fact.reason == "provider")
        held = replace(wake, until=fact.until, waits_for=fact.reason, backoffs=count)
        place = "begun" if wake is wake_queue.begun else "queued"
        return replace(wake_queue, **{place: held})
    return wake_queue


def _settled(wake_queue: WakeQueue, fact: WakeSettled) -> WakeQueue:
    if wake_queue.begun is None or wake_queue.begun.run_key != fact.run_key:
        return wake_queue
    return replace(
        wake_queue,
        begun=None,
        failures=fact.failures,
        not_before=fact.not_before,
        last_outcome=fact.outcome,
    )


def is_news(
    wake_queue: WakeQueue, position: int, seen: Mapping[str, int] | UnsetType = UNSET
) -> bool:
    """Whether a change concerned an agent that is not among what a report speaks of.

    `wake_queue`: the agent's, with what all machines noticed in `changed_of`. `position`: of the
    journal, up to which the report speaks of it. `seen`: in its place, where machines share the
    journal: up to which `n` of each replica."""
    changed = (wake_queue.changed_of or {}).items()
    return any(n > (seen.get(replica, 0) if seen else position) for replica, n in changed)
