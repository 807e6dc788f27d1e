"""What happens to an agent's attention: the streams ``alert:<agent>`` and ``watch:main``.

STORAGE FORMAT, see `domain.wire`. Every trigger ends in one `WakeQueued`, `TriggerMerged` or
`TriggerSuppressed` (DESIGN 2, law 9); a queued wake ends in `WakeBegun` or `WakeDropped`. A wake
that supersedes another one has its triggers: the newest of them recorded once more, the others
counted in `WakeDropped.left_out`.
"""

from typing import Literal

from domain.wire import Part, Stored

Reason = Literal["subscription", "timer", "user", "creation", "manual", "recovery"]
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
    "seen_elsewhere",  # a wake of another machine saw it
]


class Trigger(Part, frozen=True):
    """What may wake an agent: a journal append, a timer's ticks, or a person's request.

    `reason_id`: subscription, timer or session id, or the `n` of a request as text. `replica`
    and `position`: of the journal append, for changes. `change`: its logicalChangeKey.
    `tokens`: those that matched. `ticks`: the times a timer trigger stands for. `words`: the
    person's, as a payload id; they go with the trigger when another wake inherits it. `of` and
    `of_n`: the append of another machine that it was, see `Batch`.
    """

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


class AlertSettled(Stored, frozen=True, tag="alert.settled.1"):
    """The running wake ended. `not_before`: backoff after a failure or the armed throttle."""

    run_key: str
    outcome: Literal["completed", "failed", "skipped", "superseded"]
    failures: int = 0  # in a row, this one included
    not_before: str = ""


class AgentSlept(Stored, frozen=True, tag="alert.slept.1"):
    """Only a person wakes the agent before `until`; empty: it sleeps no longer. Its triggers are
    queued as ever."""

    until: str = ""


WakeQueueFact = (
    WakeQueued
    | TriggerMerged
    | TriggerSuppressed
    | WakeBegun
    | WakeDropped
    | WakeBackedOff
    | AlertSettled
    | AgentSlept
)


class JournalTaken(Stored, frozen=True, tag="watch.journal_taken.1"):
    """Journal appends `first`..`last` of `replica` have been turned into notices."""

    replica: str
    first: int
    last: int


WatchFact = JournalTaken
