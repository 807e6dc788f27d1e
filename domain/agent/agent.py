"""An agent: what happens to it, the streams ``agent:<id>`` and ``subs:<token>`` (SPEC 2), and what
that makes of its identity, lifecycle, slots, subscriptions, timers, journal and report head.

STORAGE FORMAT, see `domain.log.wire`. Slots carry a version, one above the slot's last."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from domain.log.state import RecordedEvent, StreamType, joined
from domain.log.wire import Imported, Stored, Words

Mode = Literal["autonomous", "interactive", "hybrid"]
Lifecycle = Literal["created", "active", "dormant", "destroyed"]
Outcome = Literal["completed", "failed", "skipped", "superseded"]
Priority = Literal["routine", "notable", "critical"]
Category = Literal["grievance", "excellence", "template_improvement", "operational"]


class AgentCreated(Stored, frozen=True, tag="agent.created.1"):
    agent_kind: str  # "task_agent", "day_agent", "category_agent", "template_improver"
    task: str  # empty: it has none of its own
    generation: int  # 1-based among the agents of its task, or of its kind and subject
    name: str
    mode: Mode
    categories: tuple[str, ...] = ()
    position: int = 0  # the journal's n then; what came before is no news
    seen: tuple[Imported, ...] = ()  # of a journal that machines share: what was known of each
    subject: str = ""  # of one without a task: what it is about, ``home``, ``category:<id>``


class AgentNamed(Stored, frozen=True, tag="agent.named.1"):
    name: str


class ModeSet(Stored, frozen=True, tag="agent.mode_set.1"):
    mode: Mode


class CategoriesAllowed(Stored, frozen=True, tag="agent.categories_allowed.1"):
    categories: tuple[str, ...]


class ModelChosen(Stored, frozen=True, tag="agent.model_chosen.1"):
    model: str = ""  # "rules", "gemini:MODEL"; empty: the home's setting


class TurnMaxSet(Stored, frozen=True, tag="agent.turn_max_set.1"):
    turn_max: int


class AutomationSet(Stored, frozen=True, tag="agent.automation_set.1"):
    is_on: bool


class GoalSet(Stored, frozen=True, tag="agent.goal_set.1"):
    version: int
    goal: str


class LoopOpened(Stored, frozen=True, tag="agent.loop_opened.1"):
    version: int
    loop: str
    by: str = ""  # empty: the person; else ``agent:<id>``


class LoopClosed(Stored, frozen=True, tag="agent.loop_closed.1"):
    version: int
    loop: str
    by: str = ""  # as in `LoopOpened`


class PreferenceSet(Stored, frozen=True, tag="agent.preference_set.1"):
    version: int
    name: str
    value: str = ""  # empty: forgotten


class AgentActivated(Stored, frozen=True, tag="agent.activated.1"):
    """From created to active, or resumed."""


class AgentPaused(Stored, frozen=True, tag="agent.paused.1"):
    reason: str = ""  # empty: the person; "failures", "task_deleted"


class AgentDestroyed(Stored, frozen=True, tag="agent.destroyed.1"):
    pass


class AgentDeleted(Stored, frozen=True, tag="agent.deleted.1"):
    pass


class Subscribed(Stored, frozen=True, tag="agent.subscribed.1"):
    """`tokens`: at least one must be in a batch; `category`, `status`: the predicate;
    `hears_agents`: other agents' writes count too, up to 3 hops; `defers_propagated`: matches
    only through a link wait until 06:00."""

    subscription: str
    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class Unsubscribed(Stored, frozen=True, tag="agent.unsubscribed.1"):
    subscription: str


class TimerSet(Stored, frozen=True, tag="agent.timer_set.1"):
    timer: str
    schedule: str  # "every day 07:00", a cron line, or "once 2027-01-01 07:00"
    zone: str  # IANA name; its wall clock is meant
    next_at: str
    heeds_moves: bool = False  # it asks only where something moved since the last wake


class TimerRemoved(Stored, frozen=True, tag="agent.timer_removed.1"):
    timer: str


class TimerTicked(Stored, frozen=True, tag="agent.timer_ticked.1"):
    """One wake for all ticks it stands for; `next_at` is empty after a last one."""

    timer: str
    ticks: tuple[str, ...]
    next_at: str = ""


class AgentReported(Stored, frozen=True, tag="agent.reported.1"):
    """The head of the agent's report moves to the one drafted in that wake."""

    run_key: str


class AgentObserved(Stored, frozen=True, tag="agent.observed.1"):
    run_key: str
    words: Words
    priority: Priority
    category: Category
    target: str = ""
    resolves: tuple[str, ...] = ()  # positions of critical ones that are settled by it


class AgentProposed(Stored, frozen=True, tag="agent.proposed.1"):
    """The wake opened a change set."""

    changes: str
    run_key: str


class AgentSettled(Stored, frozen=True, tag="agent.settled.1"):
    """A wake of the agent ended. `code`: why, where it failed or was skipped. `position`: up
    to which journal `n` of its replica the agent has seen its task."""

    run_key: str
    outcome: Outcome
    code: str = ""
    position: int = 0
    is_fresh: bool = False  # the wake brought the report up to date with what it saw
    seen: tuple[Imported, ...] = ()  # of a journal that machines share: what it saw of each


class TemplateAssigned(Stored, frozen=True, tag="agent.template_assigned.1"):
    template: str = ""  # empty: the built-in directives


class SleepOrdered(Stored, frozen=True, tag="agent.slept.1"):
    """Only a person wakes the agent before `until`, on whatever machine; empty: it sleeps no
    longer. Its triggers are queued as ever. `over`: of the machines that were told so alone, as of
    0.2.0, up to which append that counts no longer."""

    until: str = ""
    over: tuple[Imported, ...] = ()


AgentFact = (
    AgentCreated | AgentNamed | ModeSet | CategoriesAllowed | ModelChosen | TurnMaxSet
    | AutomationSet | GoalSet | LoopOpened | LoopClosed | PreferenceSet | AgentActivated
    | AgentPaused | AgentDestroyed | AgentDeleted | Subscribed | Unsubscribed | TimerSet
    | TimerRemoved | TimerTicked | AgentReported | AgentObserved | AgentProposed | AgentSettled
    | TemplateAssigned | SleepOrdered
)  # fmt: skip


class SubscriberAdded(Stored, frozen=True, tag="subs.added.1"):
    agent: str
    subscription: str


class SubscriberRemoved(Stored, frozen=True, tag="subs.removed.1"):
    agent: str
    subscription: str


SubsFact = SubscriberAdded | SubscriberRemoved


# ---------------------------------------------------------------------------------------- the agent

Change = dict[str, Any]

OF_CATEGORY = "category:"
"""What stands before its id, where an agent's subject is a category."""


def category_in(subject: str) -> str | None:
    """The category that a subject names; None where it is about something else."""
    return subject.removeprefix(OF_CATEGORY) if subject.startswith(OF_CATEGORY) else None


OF_TEMPLATE = "template:"
"""The same, where it is a template."""


def template_in(subject: str) -> str | None:
    """The template that a subject names; None where it is about something else."""
    return subject.removeprefix(OF_TEMPLATE) if subject.startswith(OF_TEMPLATE) else None


TURN_MAX_DEFAULT = 5
TURN_MAX_LIMIT = 20
JOURNAL_SHOWN = 20  # newest observations in a prompt, besides the critical ones (SPEC 4)
CRITICAL_KEPT = 200  # newest critical observations that an agent keeps in sight
NEWEST_KEPT = 64  # newest observations that a digest may have to cover; the log holds older ones
SETS_KEPT = 200  # newest change sets that hygiene looks at


class AgentObservation(Struct, frozen=True):
    at: str
    run_key: str
    words: Words
    priority: Priority
    category: Category
    target: str = ""
    position: str = ""  # "N-ROW@REPLICA", where it stands in the log


class Subscription(Struct, frozen=True):
    id: str
    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class AgentTimer(Struct, frozen=True):
    """`heeds_moves`: see `TimerSet`; it is left out where it always asks."""

    id: str
    schedule: str
    zone: str
    next_at: str
    heeds_moves: bool | UnsetType = UNSET


class Slot(Struct, frozen=True):
    """A slot's value and its version, 0 where it was never set."""

    version: int = 0
    value: str = ""


class Agent(Struct, frozen=True):
    """An agent as its facts make it. `lifecycle` is empty where there is none.

    `observations`: the newest `JOURNAL_SHOWN`, oldest first; `critical`: the newest
    `CRITICAL_KEPT` that nothing resolved, oldest first. `position`: the journal's `n` it saw
    last; `fresh_position`: the one its report speaks of. `sets`: the newest `SETS_KEPT` change
    sets, oldest first. `wakes`: those that completed or failed. A preference whose value is empty
    was forgotten; a timer that never fires again is gone. `categories_ever`: all that it was ever
    allowed, sorted: what it wrote may speak of any of them. `newest`: the newest `NEWEST_KEPT`
    observations, and `noted` how many there are in all. `seen`: what it saw of the journal, by
    replica, up to which `n`, and `born_seen` when it was made. Views keep none of
    `categories_ever`, `newest`, `seen` and `born_seen`. `fresh_seen`: as `fresh_position`, of a
    journal that machines share. `sleeps_until` and `sleeps_over`: see `SleepOrdered`; they are
    left out where nobody said so."""

    id: str
    lifecycle: Lifecycle | str = ""
    agent_kind: str = ""
    task: str = ""
    generation: int = 0
    name: str = ""
    mode: Mode = "autonomous"
    categories: tuple[str, ...] = ()
    model: str = ""
    template: str = ""  # empty: it lives on the built-in directives
    turn_max: int = TURN_MAX_DEFAULT
    is_automatic: bool = True
    pause_reason: str = ""
    is_deleted: bool = False
    created_at: str = ""
    born: int = 0  # the journal's n when it was made
    goal: Slot = Slot()
    loops: tuple[str, ...] = ()
    loops_version: int = 0
    preferences: dict[str, Slot] = {}
    subscriptions: tuple[Subscription, ...] = ()
    timers: tuple[AgentTimer, ...] = ()
    observations: tuple[AgentObservation, ...] = ()
    critical: tuple[AgentObservation, ...] = ()
    report: str = ""  # run key of the wake that drafted the current one
    sets: tuple[str, ...] = ()
    wakes: int = 0
    failures: int = 0  # in a row
    last_run: str = ""
    last_outcome: Outcome | str = ""
    last_code: str = ""
    last_wake_at: str = ""
    position: int = 0
    fresh_position: int = 0
    categories_ever: tuple[str, ...] | UnsetType = UNSET
    own_loops: tuple[str, ...] = ()  # those of `loops` that it opened itself
    newest: tuple[AgentObservation, ...] | UnsetType = UNSET
    noted: int = 0
    seen: dict[str, int] | UnsetType = UNSET
    born_seen: dict[str, int] | UnsetType = UNSET
    fresh_seen: dict[str, int] | UnsetType = UNSET
    sleeps_until: str | UnsetType = UNSET
    sleeps_over: dict[str, int] | UnsetType = UNSET
    subject: str | UnsetType = UNSET  # see `AgentCreated`; left out where it has a task

    @property
    def about(self) -> str:
        """Its task, or what it is about without one."""
        return self.task or self.subject or ""

    @property
    def unit(self) -> str:
        """What the texts of its wakes belong to."""
        return self.task or f"agent:{self.id}"


Apply = Callable[[Agent, Any, RecordedEvent], Change]
T = TypeVar("T", Subscription, AgentTimer)


def evolve(agent: Agent, recorded: RecordedEvent) -> Agent:
    """The agent after one more fact. A second creation is ignored, and destroyed is final."""
    apply = _APPLY.get(type(recorded.fact))
    return agent if apply is None else replace(agent, **apply(agent, recorded.fact, recorded))


AGENT: StreamType[Agent] = StreamType(
    "agent",
    Agent,
    evolve,  # its number stays taken: the next agent of its task is another one
    gone=("agent.created.1", lambda one: replace(one, lifecycle="destroyed", is_deleted=True)),
)


def _sets(field: str, of: str = "") -> Apply:
    """One field becomes what the fact says."""
    return lambda _, fact, __: {field: getattr(fact, of or field)}


def _created(agent: Agent, fact: AgentCreated, row: RecordedEvent) -> Change:
    if agent.created_at:  # another replica made the same agent
        return {"categories_ever": _ever(agent, fact.categories)}
    return {
        "lifecycle": (agent.generation and agent.lifecycle) or "created",
        "is_deleted": bool(agent.generation and agent.is_deleted),
        "agent_kind": fact.agent_kind,
        "task": fact.task,
        "generation": fact.generation,
        "name": fact.name,
        "mode": fact.mode,
        "categories": fact.categories,
        "categories_ever": _ever(agent, fact.categories),
        "created_at": row.at,
        "born": fact.position,
        "position": fact.position,
        "born_seen": _seen(fact, row),
        "seen": _seen(fact, row),
        **({"subject": fact.subject} if fact.subject else {}),
    }


def _seen(fact: AgentCreated | AgentSettled, row: RecordedEvent) -> dict[str, int]:
    """What was known of the journal of each replica."""
    return {one.replica: one.n for one in fact.seen} or {row.replica: fact.position}


def _categories(agent: Agent, fact: CategoriesAllowed, row: RecordedEvent) -> Change:
    return {"categories": fact.categories, "categories_ever": _ever(agent, fact.categories)}


def _ever(agent: Agent, categories: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*(agent.categories_ever or ()), *categories}))


def _activated(agent: Agent, fact: AgentActivated, row: RecordedEvent) -> Change:
    if agent.lifecycle == "destroyed":
        return {}
    return {"lifecycle": "active", "pause_reason": "", "failures": 0}


def _paused(agent: Agent, fact: AgentPaused, row: RecordedEvent) -> Change:
    if agent.lifecycle == "destroyed":
        return {}
    return {"lifecycle": "dormant", "pause_reason": fact.reason}


def _goal(agent: Agent, fact: GoalSet, row: RecordedEvent) -> Change:
    if fact.version < agent.goal.version:
        return {}  # set by a replica that had not seen the newer one
    return {"goal": Slot(fact.version, fact.goal)}


def _loop(agent: Agent, fact: LoopOpened | LoopClosed, row: RecordedEvent) -> Change:
    others = tuple(loop for loop in agent.loops if loop != fact.loop)
    own = tuple(loop for loop in agent.own_loops if loop != fact.loop)
    if isinstance(fact, LoopOpened):
        others, own = (*others, fact.loop), (*own, fact.loop) if fact.by else own
    version = max(agent.loops_version, fact.version)
    return {"loops": others, "loops_version": version, "own_loops": own}


def _preference(agent: Agent, fact: PreferenceSet, row: RecordedEvent) -> Change:
    if fact.version < agent.preferences.get(fact.name, Slot()).version:
        return {}
    return {"preferences": {**agent.preferences, fact.name: Slot(fact.version, fact.value)}}


def _subscribed(agent: Agent, fact: Subscribed, row: RecordedEvent) -> Change:
    where = fact.category, fact.status, fact.hears_agents, fact.defers_propagated
    made = Subscription(fact.subscription, fact.tokens, *where)
    return {"subscriptions": (*_but(agent.subscriptions, made.id), made)}


def _timer_set(agent: Agent, fact: TimerSet, row: RecordedEvent) -> Change:
    heeds_moves = fact.heeds_moves or UNSET
    made = AgentTimer(fact.timer, fact.schedule, fact.zone, fact.next_at, heeds_moves)
    return {"timers": (*_but(agent.timers, fact.timer), made)}


def _timer_ticked(agent: Agent, fact: TimerTicked, row: RecordedEvent) -> Change:
    if not fact.next_at:
        return {"timers": _but(agent.timers, fact.timer)}
    moved = (
        replace(timer, next_at=fact.next_at) if timer.id == fact.timer else timer
        for timer in agent.timers
    )
    return {"timers": tuple(moved)}


def _but(among: tuple[T, ...], gone: str) -> tuple[T, ...]:
    return tuple(known for known in among if known.id != gone)


def _slept(agent: Agent, fact: SleepOrdered, row: RecordedEvent) -> Change:
    if not fact.over:
        return {"sleeps_until": fact.until}
    over = {one.replica: one.n for one in fact.over}
    return {"sleeps_until": fact.until, "sleeps_over": joined(agent.sleeps_over or {}, over)}


def _observed(agent: Agent, fact: AgentObserved, row: RecordedEvent) -> Change:
    made = observation(fact, row)
    critical = agent.critical
    if fact.resolves:
        critical = tuple(one for one in critical if one.position not in fact.resolves)
    if fact.priority == "critical":
        critical = (*critical, made)[-CRITICAL_KEPT:]
    return {
        "observations": (*agent.observations, made)[-JOURNAL_SHOWN:],
        "critical": critical,
        "newest": (*(agent.newest or ()), made)[-NEWEST_KEPT:],
        "noted": agent.noted + 1,
    }


def observation(fact: AgentObserved, row: RecordedEvent) -> AgentObservation:
    """A fact as the agent remembers it."""
    about = (fact.words, fact.priority, fact.category, fact.target)
    return AgentObservation(row.at, fact.run_key, *about, f"{row.n}-{row.row}@{row.replica}")


def _proposed(agent: Agent, fact: AgentProposed, row: RecordedEvent) -> Change:
    others = (known for known in agent.sets if known != fact.changes)
    return {"sets": (*others, fact.changes)[-SETS_KEPT:]}


def _settled(agent: Agent, fact: AgentSettled, row: RecordedEvent) -> Change:
    if fact.outcome == "superseded":
        return {}
    change: Change = {
        "last_run": fact.run_key,
        "last_outcome": fact.outcome,
        "last_code": fact.code,
        "position": max(agent.position, fact.position),
        "seen": joined(agent.seen or {}, _seen(fact, row)),
    }
    if fact.is_fresh:
        change["fresh_position"] = max(agent.fresh_position, fact.position)
        if fact.seen:
            change["fresh_seen"] = joined(agent.fresh_seen or {}, _seen(fact, row))
    if fact.outcome == "skipped":
        return change
    failures = agent.failures + 1 if fact.outcome == "failed" else 0
    return {**change, "wakes": agent.wakes + 1, "failures": failures, "last_wake_at": row.at}


_APPLY: dict[type, Apply] = {
    AgentCreated: _created,
    AgentNamed: _sets("name"),
    ModeSet: _sets("mode"),
    CategoriesAllowed: _categories,
    ModelChosen: _sets("model"),
    TemplateAssigned: _sets("template"),
    TurnMaxSet: _sets("turn_max"),
    AutomationSet: _sets("is_automatic", "is_on"),
    AgentActivated: _activated,
    AgentPaused: _paused,
    AgentDestroyed: lambda *_: {"lifecycle": "destroyed", "pause_reason": ""},
    AgentDeleted: lambda *_: {"lifecycle": "destroyed", "is_deleted": True},
    GoalSet: _goal,
    LoopOpened: _loop,
    LoopClosed: _loop,
    PreferenceSet: _preference,
    Subscribed: _subscribed,
    Unsubscribed: lambda agent, fact, _: {
        "subscriptions": _but(agent.subscriptions, fact.subscription)
    },
    TimerSet: _timer_set,
    TimerRemoved: lambda agent, fact, _: {"timers": _but(agent.timers, fact.timer)},
    TimerTicked: _timer_ticked,
    AgentReported: _sets("report", "run_key"),
    AgentObserved: _observed,
    AgentProposed: _proposed,
    AgentSettled: _settled,
    SleepOrdered: _slept,
}
